//! Finished runs whose best skill beats the one that they began with, and of which nothing is adopted.

use crate::components::dynamic::CollectAny;
use crate::components::numbers::{Delta, Score};
use crate::components::run_cells::RunName;
use crate::components::when::When;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::RunSummary;

#[component]
pub(super) fn BetterRuns<'a>(runs: &'a [RunSummary]) -> impl IntoView + use<> {
    let rows = runs.iter().map(row).collect_any();
    view! {
        <section class="section" aria-labelledby="better-title">
            <div class="section__head">
                <h2 id="better-title">"Runs with a better skill"</h2>
                <span>"finished, and nothing of them is adopted"</span>
                <div class="section__end"><a class="link" href="/runs">"All runs"</a></div>
            </div>
            <div class="panel scroll-x" tabindex="0" role="region" aria-label="Table of runs with a better skill">
                <table class="table">
                    <thead><tr>
                        <th scope="col">"Run"</th>
                        <th scope="col">"Benchmark"</th>
                        <th scope="col" data-num>"Start"</th>
                        <th scope="col" data-num>"Best"</th>
                        <th scope="col" data-num>"Change"</th>
                        <th scope="col" data-num title="Tasks behind the best score">"n"</th>
                        <th scope="col" data-num>"Ended"</th>
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn row(run: &RunSummary) -> AnyView {
    let n = run.n_selection.map_or(fmt::MISSING.to_owned(), |n| fmt::count(n.into()));
    view! {
        <tr>
            <td><RunName run=run/></td>
            <td>{run.benchmark.clone()}</td>
            <td data-num><Score value=run.baseline_score/></td>
            <td data-num class="medium"><Score value=run.best_score/></td>
            <td data-num><Delta before=run.baseline_score after=run.best_score/></td>
            <td data-num class="second">{n}</td>
            <td data-num class="table__dim"><When at_ms=run.ended_at_ms.unwrap_or(run.created_at_ms)/></td>
        </tr>
    }
    .into_any()
}
