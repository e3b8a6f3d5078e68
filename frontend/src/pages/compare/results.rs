//! Results of the runs as a table, each against the base; and what the pairs show, in sentences.

use super::Chosen;
use crate::charts::overlay::stroke;
use crate::charts::overlay_chart::stroke_key;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::numbers::{Delta, Score};
use crate::components::run_cells::{RunState, is_simulated, run_href, spend_words};
use crate::components::status::SimulatedBadge;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::compare::{ComparedPair, ComparedRun, Paired};
use skillopt_domain::ids::RunId;
use skillopt_domain::noise::{ALPHA, p_words};

/// Sentences that are shown at once.
const FEW: usize = 4;

pub(super) fn results(
    runs: StoredValue<Vec<ComparedRun>>,
    names: StoredValue<Vec<String>>,
    pairs: &[ComparedPair],
    base: Option<&RunId>,
    chosen: Chosen,
) -> AnyView {
    let rows = runs.with_value(|runs| {
        let names = names.get_value();
        let row = |(at, run): (usize, &ComparedRun)| {
            let pair = pairs.iter().find(|pair| pair.run == run.summary.id);
            let is_base = base == Some(&run.summary.id);
            result_row((at, names[at].clone()), run, pair, is_base, chosen)
        };
        runs.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    view! {
        <section class="section" aria-label="Results">
            <div class="panel scroll-x" tabindex="0" role="region" aria-label="Compared runs">
                <table class="table compare">
                    <thead><tr>
                        <th scope="col">"Run"</th>
                        <th scope="col">"Status"</th>
                        <th scope="col" data-num title="Initial skill on the selection split">"Start"</th>
                        <th scope="col" data-num title="Best skill on the selection split, on which it was chosen">"Best"</th>
                        <th scope="col" data-num>"Change"</th>
                        <th scope="col" data-num title="Selection tasks behind the best score">"n"</th>
                        <th scope="col" data-num title="Test split, hard score, initial to best skill">"Test"</th>
                        <th scope="col" data-num title="Test tasks behind it">"n"</th>
                        <th scope="col" data-num title="Of the best skill on the test split">"95 % interval"</th>
                        <th scope="col" data-num title="Test tasks that only this run passes : only the base passes">"Fixed : broke"</th>
                        <th scope="col" data-num title="Exact two-sided sign test, corrected for the number of runs">"p"</th>
                        <th scope="col" data-num title="Calls, those answered by the ledger included">"Calls"</th>
                        <th scope="col" data-num>"Tokens"</th>
                        <th scope="col" data-num>"Spend"</th>
                        <th scope="col" data-num>"Time"</th>
                        <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn result_row(
    (at, name): (usize, String),
    run: &ComparedRun,
    pair: Option<&ComparedPair>,
    is_base: bool,
    chosen: Chosen,
) -> AnyView {
    let row = &run.summary;
    let (tone, dash) = stroke(at);
    let total = row.spend.total();
    let id = row.id.to_string();
    let (for_base, for_removal) = (id.clone(), id);
    let make_base = move |_| chosen.base.set(Some(for_base.clone()));
    let remove = move |_| chosen.runs.set(Some(chosen.without(&for_removal)));
    let base = if is_base {
        view! { <span class="badge" title="The others are held against it">"base"</span> }
            .into_any()
    } else {
        view! {
            <button class="icon-button" type="button" aria-label=format!("Hold the others against {name}") title="Hold the others against it" on:click=handler(make_base)>
                <Icon name="pin"/>
            </button>
        }
        .into_any()
    };
    let test = pair.and_then(|pair| pair.test);
    view! {
        <tr>
            <td>
                <span class="row" data-nowrap>
                    <span class="key">{stroke_key(tone, dash)}</span>
                    <a class="table__main" href=run_href(row)>{name.clone()}</a>
                    {is_simulated(row).then(|| view! { <SimulatedBadge/> }.into_any())}
                </span>
            </td>
            <td><RunState run=row/></td>
            <td data-num><Score value=row.baseline_score/></td>
            <td data-num class="medium"><Score value=row.best_score/></td>
            <td data-num><Delta before=row.baseline_score after=row.best_score/></td>
            <td data-num class="second">{count(row.n_selection)}</td>
            <td data-num>{test_words(run)}</td>
            <td data-num class="second">{count(row.test_best.map(|mean| mean.n))}</td>
            <td data-num class="second">{interval(run.test_interval)}</td>
            <td data-num>{if is_base { String::new() } else { fixed_words(test) }}</td>
            <td data-num class=p_class(test)>{if is_base { String::new() } else { p_cell(test) }}</td>
            <td data-num class="second">{fmt::short(total.calls + total.cached)}</td>
            <td data-num class="second">{fmt::short(total.tokens())}</td>
            <td data-num>{spend_words(row)}</td>
            <td data-num class="second">{if run.active_ms == 0 { fmt::MISSING.to_owned() } else { fmt::duration(run.active_ms) }}</td>
            <td>
                <span class="row" data-gap="tight" data-nowrap>
                    {base}
                    <button class="icon-button" type="button" aria-label=format!("Leave {name} out") title="Leave out" on:click=handler(remove)>
                        <Icon name="x"/>
                    </button>
                </span>
            </td>
        </tr>
    }
    .into_any()
}

fn count(n: Option<u32>) -> String {
    n.map_or_else(|| fmt::MISSING.to_owned(), |n| fmt::count(n.into()))
}

fn test_words(run: &ComparedRun) -> String {
    let hard = |mean: Option<skillopt_domain::score::MeanScore>| mean.map(|mean| mean.hard);
    match (hard(run.summary.test_initial), hard(run.summary.test_best)) {
        (_, None) => fmt::MISSING.to_owned(),
        (None, best) => fmt::score(best),
        (initial, best) => format!("{} → {}", fmt::score(initial), fmt::score(best)),
    }
}

fn interval(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(|| fmt::MISSING.to_owned(), |[low, high]| format!("{low:.2} to {high:.2}"))
}

fn fixed_words(pair: Option<Paired>) -> String {
    pair.map_or_else(
        || fmt::MISSING.to_owned(),
        |pair| format!("{} : {}", pair.n_fixed, pair.n_broke),
    )
}

fn p_cell(pair: Option<Paired>) -> String {
    pair.map_or_else(
        || fmt::MISSING.to_owned(),
        |pair| {
            p_words(pair.p_adjusted).trim_start_matches("p = ").trim_start_matches("p ").to_owned()
        },
    )
}

fn p_class(pair: Option<Paired>) -> &'static str {
    match pair {
        Some(pair) if pair.p_adjusted < ALPHA => "medium",
        _ => "second",
    }
}

/// What each pair shows.
pub(super) fn pairs_in_words(
    runs: StoredValue<Vec<ComparedRun>>,
    names: StoredValue<Vec<String>>,
    pairs: Vec<ComparedPair>,
    base: Option<&RunId>,
) -> AnyView {
    let place =
        |id: &RunId| runs.with_value(|runs| runs.iter().position(|run| run.summary.id == *id));
    let name = |id: &RunId| {
        place(id)
            .and_then(|at| names.with_value(|names| names.get(at).cloned()))
            .unwrap_or_default()
    };
    let base = base.map(name).unwrap_or_default();
    let items: Vec<AnyView> = pairs
        .into_iter()
        .map(|pair| view! { <li><b class="medium">{name(&pair.run)}</b>": "{pair.statement}</li> })
        .collect_any();
    let is_long = items.len() > FEW;
    let list = view! { <ul class="stack second" data-gap="sm">{items}</ul> };
    let body = if is_long {
        view! { <details><summary class="link">"All pairs in words"</summary>{list}</details> }
            .into_any()
    } else {
        list.into_any()
    };
    view! {
        <section class="section" aria-labelledby="pairs-title">
            <div class="section__head"><h2 id="pairs-title">"Against the base"</h2><span>{base}</span></div>
            {body}
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_is_written_without_its_letter_in_its_column() {
        let pair = |p| {
            Some(Paired { n: 40, n_fixed: 6, n_broke: 2, hard_difference: 0.1, p, p_adjusted: p })
        };
        assert_eq!(p_cell(pair(0.289)), "0.29");
        assert_eq!(p_cell(pair(0.0001)), "< 0.001");
        assert_eq!((p_cell(None), fixed_words(pair(0.5))), ("—".to_owned(), "6 : 2".to_owned()));
        assert_eq!((p_class(pair(0.01)), p_class(pair(0.5))), ("medium", "second"));
    }
}
