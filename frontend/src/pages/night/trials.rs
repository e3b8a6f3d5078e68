//! Every comparison of the gate, task by task.

use super::state::NightState;
use super::words::{fate, tally, trial_look, trial_name};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::icon::Icon;
use crate::components::numbers::{Delta, Score};
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::NightTask;
use skillopt_domain::night::report::{GateTrial, TaskDelta};

#[component]
pub(super) fn Trials(night: NightState) -> impl IntoView {
    let trials = night.memo(|detail| {
        detail.report.as_ref().map_or_else(Vec::new, |report| report.gate_trials.clone())
    });
    let intents = night.memo(|detail| {
        let named = |task: &NightTask| (task.id.clone(), task.intent.clone());
        detail.tasks.iter().map(named).collect::<Vec<_>>()
    });
    dynamic(move || {
        let all = trials.get();
        if all.is_empty() {
            return nothing();
        }
        let last = all.len() - 1;
        let intents = intents.get();
        let rows =
            all.iter().enumerate().map(|(at, one)| trial(one, at == last, &intents)).collect_any();
        view! {
            <section class="section" aria-labelledby="trials-title">
                <div class="section__head">
                    <h2 id="trials-title">"Gate"</h2>
                    <span>"each candidate against the live documents, on the validation tasks"</span>
                </div>
                {rows}
            </section>
        }
        .into_any()
    })
}

/// What is asked in a task, by its id.
type Intents = [(String, String)];

fn trial(trial: &GateTrial, is_open: bool, intents: &Intents) -> AnyView {
    let counted = tally(&trial.task_deltas);
    let (before, after) = (trial.baseline_score, trial.candidate_score);
    let rows = trial.task_deltas.iter().map(|delta| row(delta, intents)).collect_any();
    view! {
        <details class="disclosure" open=is_open>
            <summary class="disclosure__head night-trial">
                <Icon name="right"/>
                <span>{trial_name(&trial.target)}</span>
                <Status look=trial_look(trial)/>
                <span class="night-trial__scores second">
                    {fmt::score(before)}" → "{fmt::score(after)}", "{fmt::n(Some(counted.n))}", "{counted.words()}
                </span>
            </summary>
            <div class="disclosure__body">
                <div class="panel scroll-x" tabindex="0" role="region" aria-label="Tasks of this comparison">
                    <table class="table">
                        <thead><tr>
                            <th scope="col">"Task"</th>
                            <th scope="col">"What was asked"</th>
                            <th scope="col" data-num>"Before"</th>
                            <th scope="col" data-num>"After"</th>
                            <th scope="col" data-num>"Change"</th>
                            <th scope="col">"Result"</th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </div>
        </details>
    }
    .into_any()
}

fn row(delta: &TaskDelta, intents: &Intents) -> AnyView {
    let (before, after) = (delta.baseline_score, delta.candidate_score);
    let intent = intents.iter().find(|(id, _)| *id == delta.task_id).map(|(_, words)| words);
    let result = fate(delta).look().map_or_else(
        || view! { <span class="table__dim">"the same"</span> }.into_any(),
        |look| view! { <Status look/> }.into_any(),
    );
    view! {
        <tr>
            <td class="mono muted">{delta.task_id.clone()}</td>
            <td class="table__wrap">{intent.cloned().unwrap_or_else(|| fmt::MISSING.to_owned())}</td>
            <td data-num><Score value=before/></td>
            <td data-num class="medium"><Score value=after/></td>
            <td data-num><Delta before after/></td>
            <td>{result}</td>
        </tr>
    }
    .into_any()
}
