//! The newest runs that are over, as a short table.

use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::numbers::{Delta, Score};
use crate::components::run_cells::{RunName, RunState, best_so_far, spend_words};
use crate::components::spark::Spark;
use crate::components::when::When;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::RunSummary;

#[component]
pub(super) fn RecentRuns(
    runs: Memo<Vec<RunSummary>>,
    total: Memo<u64>,
    /// Nothing stands above.
    is_first: Memo<bool>,
) -> impl IntoView {
    let rows = move || runs.get().into_iter().map(|run| view! { <Row run=run/> }).collect_any();
    let has_runs = move || runs.with(|runs| !runs.is_empty());
    let table = move || {
        view! {
            <section class="section" data-space=move || is_first.get().then_some("none") aria-labelledby="recent-title">
                <div class="section__head">
                    <h2 id="recent-title">"Recent runs"</h2>
                    <div class="section__end">
                        <a class="link" href="/runs">{move || format!("All {}", fmt::plural(total.get(), "run", "runs"))}</a>
                    </div>
                </div>
                <div class="panel scroll-x" tabindex="0" role="region" aria-label="Table of recent runs">
                    <table class="table">
                        <thead>
                            <tr>
                                <th scope="col">"Run"</th>
                                <th scope="col">"Status"</th>
                                <th scope="col" data-num>"Start"</th>
                                <th scope="col" data-num>"Best"</th>
                                <th scope="col" data-num>"Change"</th>
                                <th scope="col" data-num>"n"</th>
                                <th scope="col">"Best so far"</th>
                                <th scope="col" data-num>"Spend"</th>
                                <th scope="col" data-num>"Created"</th>
                            </tr>
                        </thead>
                        <tbody>{move || rows()}</tbody>
                    </table>
                </div>
            </section>
        }
        .into_any()
    };
    when(has_runs, table, nothing)
}

#[component]
fn Row(run: RunSummary) -> impl IntoView {
    let curve = best_so_far(&run);
    view! {
        <tr>
            <td><RunName run=&run/></td>
            <td><RunState run=&run/></td>
            <td data-num><Score value=run.baseline_score/></td>
            <td data-num class="medium"><Score value=run.best_score/></td>
            <td data-num><Delta before=run.baseline_score after=run.best_score/></td>
            <td data-num class="second">{run.n_selection.map_or(fmt::MISSING.to_owned(), |n| fmt::count(n.into()))}</td>
            <td><Spark values=&curve/></td>
            <td data-num>{spend_words(&run)}</td>
            <td data-num class="table__dim"><When at_ms=run.created_at_ms/></td>
        </tr>
    }
}
