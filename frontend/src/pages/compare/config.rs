//! Config keys of all runs: those that differ, or all of them.

use super::run_heads;
use crate::components::differences::effect_look;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::query::query_value;
use leptos::prelude::*;
use skillopt_domain::compare::ComparedKey;
use skillopt_domain::config::ChangeEffect;

#[component]
pub(super) fn ConfigDifferences(
    keys: Vec<ComparedKey>,
    names: StoredValue<Vec<String>>,
) -> impl IntoView {
    let all = query_value::<bool>("keys");
    let shows_all = Memo::new(move || all.get().unwrap_or(false));
    let words = summary(&keys);
    let keys = StoredValue::new(keys);
    let rows = move || {
        keys.with_value(|keys| {
            let shown = keys.iter().filter(|key| key.differs || shows_all.get());
            shown.map(key_row).collect::<Vec<_>>()
        })
    };
    let none = move || {
        let is_empty = keys.with_value(|keys| keys.iter().all(|key| !key.differs));
        (is_empty && !shows_all.get()).then(|| {
            view! { <p class="second">"Every key has one value in all of these runs."</p> }
                .into_any()
        })
    };
    view! {
        <section class="section" aria-labelledby="config-title">
            <div class="section__head">
                <h2 id="config-title">"Config"</h2>
                <span>{words}</span>
                <div class="section__end">
                    <div class="segmented" role="group" aria-label="Which keys">
                        <button type="button" aria-pressed=move || (!shows_all.get()).to_string() on:click=handler(move |_| all.set(None))>"Differences"</button>
                        <button type="button" aria-pressed=move || shows_all.get().to_string() on:click=handler(move |_| all.set(Some(true)))>"All keys"</button>
                    </div>
                </div>
            </div>
            {move || none()}
            <div class="panel scroll-x" tabindex="0" role="region" aria-label="Config by run">
                <table class="table compare">
                    <thead><tr>
                        <th scope="col">"Key"</th>
                        <th scope="col">"Difference"</th>
                        {names.with_value(|names| run_heads(names))}
                    </tr></thead>
                    <tbody>{move || rows()}</tbody>
                </table>
            </div>
        </section>
    }
}

fn key_row(key: &ComparedKey) -> AnyView {
    let cell = |value: &Option<String>| {
        let text = value.clone().unwrap_or_else(|| fmt::MISSING.to_owned());
        let class = if key.differs { "mono medium" } else { "mono" };
        view! { <td class="compare__value" title=text.clone()><span class=class>{text.clone()}</span></td> }
    };
    let effect = key.differs.then(|| {
        let (status, icon, word) = effect_look(key.effect);
        view! { <span class="status" data-status=status title=key.why.clone()><Icon name=icon/>{word}</span> }.into_any()
    });
    view! {
        <tr>
            <td class="mono second">{key.path.clone()}</td>
            <td>{effect}</td>
            {key.values.iter().map(cell).collect_any()}
        </tr>
    }
    .into_any()
}

fn summary(keys: &[ComparedKey]) -> String {
    let differing = || keys.iter().filter(|key| key.differs);
    let results = differing().filter(|key| key.effect == ChangeEffect::Results).count();
    let words = format!("{} of {} keys differ", differing().count(), keys.len());
    match results {
        0 => words,
        1 => format!("{words}, 1 of them can change results"),
        n => format!("{words}, {n} of them can change results: their effects cannot be told apart"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(differs: bool, effect: ChangeEffect) -> ComparedKey {
        let (path, values) = ("a.b".into(), vec![None, Some("1".into())]);
        ComparedKey { path, values, differs, effect, why: String::new() }
    }

    #[test]
    fn several_keys_that_change_results_cannot_be_told_apart() {
        let safe = key(true, ChangeEffect::Safe);
        let result = key(true, ChangeEffect::Results);
        let same = key(false, ChangeEffect::Safe);
        assert_eq!(summary(&[same.clone(), safe.clone()]), "1 of 2 keys differ");
        assert!(summary(&[safe, result.clone()]).ends_with("1 of them can change results"));
        assert!(summary(&[result.clone(), result, same]).ends_with("cannot be told apart"));
    }
}
