//! The versions of a skill: two choices a row, the older and the newer side of the comparison.

use super::query::QueryValue;
use crate::components::dynamic::{CollectAny, Item, each, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::Receipt;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::view::SkillVersion;

/// Versions that are listed at once; older ones come when asked for.
const WINDOW: usize = 100;

/// Which two versions are asked for, in the URL.
#[derive(Clone, Copy)]
pub(super) struct VersionChoice {
    pub(super) old: QueryValue<u32>,
    pub(super) new: QueryValue<u32>,
}

type Receipts = Load<Vec<Receipt>>;

#[component]
pub(super) fn VersionsList(
    versions: Memo<Vec<SkillVersion>>,
    best: Memo<u32>,
    slow: Memo<Vec<(u32, u32)>>,
    choice: VersionChoice,
    old: Memo<Option<SkillVersion>>,
    new: Memo<Option<SkillVersion>>,
    receipts: Receipts,
) -> impl IntoView {
    let shown = RwSignal::new(WINDOW);
    let newest_first = move || {
        let item = |version: SkillVersion| {
            let version_of = version.clone();
            Item::new(format!("{} {:?}", version.version, version.n), move || {
                view! { <VersionRow version origin=origin_words(&version_of, &slow.get_untracked()) best choice old new receipts/> }.into_any()
            })
        };
        let all = versions.get();
        let first = all.len().saturating_sub(shown.get());
        all.into_iter().skip(first).rev().map(item).collect()
    };
    let more = move || {
        let left = versions.with(Vec::len).saturating_sub(shown.get());
        if left == 0 {
            return nothing();
        }
        view! {
            <button class="button" data-size="sm" data-variant="quiet" type="button" on:click=handler(move |_| shown.update(|n| *n += WINDOW))>
                {format!("{} older versions", left.min(WINDOW))}
            </button>
        }
        .into_any()
    };
    view! {
        <aside class="split__side hide-narrow" aria-label="Versions">
            <div class="version version__head small muted" aria-hidden="true">
                <span title="Older side of the comparison">"Old"</span>
                <span title="Newer side">"New"</span>
                <span>"Version"</span>
                <span>"Score"</span>
            </div>
            {each(newest_first)}
            {move || more()}
        </aside>
    }
}

#[component]
fn VersionRow(
    version: SkillVersion,
    origin: String,
    best: Memo<u32>,
    choice: VersionChoice,
    old: Memo<Option<SkillVersion>>,
    new: Memo<Option<SkillVersion>>,
    receipts: Receipts,
) -> impl IntoView {
    let number = version.version;
    let is_old = move || old.with(|old| old.as_ref().is_some_and(|old| old.version == number));
    let is_new = move || new.with(|new| new.as_ref().is_some_and(|new| new.version == number));
    let (status, icon) = if number == 0 { ("start", "noimp") } else { ("accepted", "accepted") };
    let note = format!("{origin} · {} tokens", fmt::count(u64::from(version.tokens)));
    let skill = version.skill.clone();
    let is_adopted = move || {
        receipts.get().is_some_and(|all| all.is_ok_and(|all| is_live_somewhere(&all, &skill)))
    };
    view! {
        <div class="version" data-status=status data-picked=move || (is_old() || is_new()).then_some("")>
            <input
                class="check" type="radio" name="old" aria-label=format!("Compare from v{number}")
                prop:checked=move || is_old() on:change=handler(move |_| choice.old.set(Some(number)))
            />
            <input
                class="check" type="radio" name="new" aria-label=format!("Compare to v{number}")
                prop:checked=move || is_new() on:change=handler(move |_| choice.new.set(Some(number)))
            />
            <span class="version__main">
                <b class="medium">{format!("v{number}")}</b>" "
                {move || (best.get() == number).then(|| view! { <span class="badge" data-tone="accent">"best"</span> }.into_any())}
                " "
                {move || is_adopted().then(|| view! { <span class="badge" data-tone="accept">"adopted"</span> }.into_any())}
                <br/>
                <span class="small muted">{note}</span>
            </span>
            <span class="version__score" title=fmt::n(version.n)><Icon name=icon/>{fmt::score(version.score)}</span>
        </div>
    }
}

/// What made a version: a step, or the slow update after an epoch. `slow` holds the versions of slow updates with their epochs.
fn origin_words(version: &SkillVersion, slow: &[(u32, u32)]) -> String {
    let epoch = slow.iter().find(|(number, _)| *number == version.version);
    match (epoch, version.step) {
        (Some((_, epoch)), _) => format!("epoch {epoch}"),
        (None, 0) => "start".to_owned(),
        (None, step) => format!("step {step}"),
    }
}

/// The newest receipt of some file that was not reverted wrote this text.
fn is_live_somewhere(receipts: &[Receipt], skill: &Sha256Hex) -> bool {
    let newest = |path: &str| {
        receipts
            .iter()
            .filter(|one| one.reverted_at_ms.is_none() && one.real_path == path)
            .max_by_key(|one| one.at_ms)
    };
    receipts.iter().any(|one| newest(&one.real_path).is_some_and(|newest| newest.after == *skill))
}

/// On a phone: two menus instead of the list.
#[component]
pub(super) fn VersionPickers(
    versions: Memo<Vec<SkillVersion>>,
    choice: VersionChoice,
    old: Memo<Option<SkillVersion>>,
    new: Memo<Option<SkillVersion>>,
) -> impl IntoView {
    view! {
        <div class="row only-narrow" data-nowrap>
            <Picker label="Compare from" versions chosen=old value=choice.old/>
            <Icon name="arrow"/>
            <Picker label="Compare to" versions chosen=new value=choice.new/>
        </div>
    }
}

#[component]
fn Picker(
    label: &'static str,
    versions: Memo<Vec<SkillVersion>>,
    chosen: Memo<Option<SkillVersion>>,
    value: QueryValue<u32>,
) -> impl IntoView {
    let options = move || {
        let option = |version: SkillVersion| {
            let number = version.version;
            let is_chosen = move || {
                chosen.with(|chosen| chosen.as_ref().is_some_and(|chosen| chosen.version == number))
            };
            let words = format!("v{number}, {}", fmt::score(version.score));
            view! { <option value=number.to_string() prop:selected=move || is_chosen()>{words}</option> }
        };
        let (all, chosen) = (versions.get(), chosen.get().map(|chosen| chosen.version));
        let newest = all.len().saturating_sub(WINDOW);
        let is_listed = |(at, version): &(usize, SkillVersion)| {
            *at >= newest || *at == 0 || Some(version.version) == chosen
        };
        let listed = all.into_iter().enumerate().filter(is_listed).collect::<Vec<_>>();
        listed.into_iter().rev().map(|(_, version)| option(version)).collect_any()
    };
    view! {
        <div class="input">
            <select aria-label=label on:change=handler(move |event| value.set(event_target_value(&event).parse().ok()))>{move || options()}</select>
            <Icon name="down"/>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::ids::{AdoptionId, RunId};

    fn receipt(at_ms: u64, after: &str, reverted_at_ms: Option<u64>) -> Receipt {
        Receipt {
            id: AdoptionId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").expect("an id"),
            run: RunId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").expect("an id"),
            path: "~/a.md".into(),
            real_path: "/home/u/a.md".into(),
            before: None,
            after: Sha256Hex::of(after),
            backup: None,
            actor: "u".into(),
            at_ms,
            reverted_at_ms,
        }
    }

    #[test]
    fn a_version_of_a_slow_update_names_its_epoch() {
        let version = |version, step| SkillVersion {
            version,
            step,
            skill: Sha256Hex::of("x"),
            score: None,
            n: None,
            tokens: 1,
        };
        let words = |number, step| origin_words(&version(number, step), &[(3, 2)]);
        assert_eq!([words(0, 0), words(2, 4), words(3, 4)], ["start", "step 4", "epoch 2"]);
    }

    #[test]
    fn only_the_newest_write_of_a_file_counts_as_adopted() {
        let all = [receipt(1, "a", None), receipt(2, "b", None)];
        assert!(!is_live_somewhere(&all, &Sha256Hex::of("a")));
        assert!(is_live_somewhere(&all, &Sha256Hex::of("b")));
        let reverted = [receipt(1, "a", None), receipt(2, "b", Some(3))];
        assert!(is_live_somewhere(&reverted, &Sha256Hex::of("a")));
    }
}
