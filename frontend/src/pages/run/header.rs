//! The head of a run: name, state, facts, and what can be asked of it.

use super::origin::ForkNeeded;
use super::outage_words::{outage_title, outage_words};
use super::parts::{run_needs_fork, run_origin};
use super::rerun::Rerun;
use super::state::RunState;
use super::words::status_words;
use crate::api::{self, ApiError, RunAction};
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::states::ErrorCallout;
use crate::components::status::{SimulatedBadge, Status, StatusForm};
use crate::components::when::When;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::ProblemCode;
use skillopt_domain::run::RunStatus;
use skillopt_domain::view::RunView;

#[component]
pub(super) fn RunHeader(run: RunState) -> impl IntoView {
    let failure = RwSignal::new(None::<(RunAction, ApiError)>);
    let name = run.summary.with_value(|summary| summary.name.clone());
    let is_simulated =
        run.summary.with_value(|summary| summary.target_simulated || summary.optimizer_simulated);
    let pill = Memo::new(move || run.view.with(|view| (view.status, status_words(view))));
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <div class="page-head__title">
                    <h1>{name}</h1>
                    {move || {
                        let (status, text) = pill.get();
                        view! { <Status look=status form=StatusForm::Pill text=text/> }.into_any()
                    }}
                    {is_simulated.then(|| view! { <SimulatedBadge/> }.into_any())}
                </div>
                <Facts run/>
            </div>
            <Actions run failure/>
        </div>
        <Detail run/>
        {move || failure.get().map(|(action, error)| {
            if error.problem.code == ProblemCode::NeedsFork {
                let differences = StoredValue::new(error.problem.differences);
                let needs = run_needs_fork::show(ForkNeeded { run, differences });
                return view! { <div class="run-detail">{needs}</div> }.into_any();
            }
            let retry = Callback::new(move |()| ask(run, action, failure));
            view! {
                <div class="run-detail"><ErrorCallout what=failure_words(action) error on_retry=retry/></div>
            }
            .into_any()
        })}
    }
}

#[component]
fn Facts(run: RunState) -> impl IntoView {
    let data = Memo::new(move || {
        run.view.with(|view| {
            view.plan.as_ref().map(|plan| {
                format!(
                    "{}, {} train / {} selection / {} test",
                    plan.benchmark, plan.n_train, plan.n_selection, plan.n_test
                )
            })
        })
    });
    let seed = Memo::new(move || {
        run.view.with(|view| view.plan.as_ref().map(|plan| format!("seed {}", plan.seed)))
    });
    let times = Memo::new(move || run.view.with(|view| (view.started_at_ms, view.ended_at_ms)));
    let models = run.summary.with_value(|summary| {
        let mark = |is_simulated| if is_simulated { " (simulated)" } else { "" };
        format!(
            "{}{} trained by {}{}",
            summary.target_model,
            mark(summary.target_simulated),
            summary.optimizer_model,
            mark(summary.optimizer_simulated)
        )
    });
    let fallback = run.summary.with_value(|summary| summary.benchmark.clone());
    view! {
        <div class="page-head__meta">
            <span>{move || data.get().unwrap_or_else(|| fallback.clone())}</span>
            <span>{models}</span>
            {move || seed.get().map(|seed| view! { <span>{seed}</span> }.into_any())}
            {move || {
                let (started, ended) = times.get();
                started.map(|at| {
                    let took = ended.map(|end| format!(", took {}", fmt::duration(end.saturating_sub(at))));
                    view! { <span>"started " <When at_ms=at/>{took}</span> }.into_any()
                })
            }}
        </div>
    }
}

/// Why the run is in its state, where there is something to say, endpoints that do not answer, and warnings.
#[component]
fn Detail(run: RunState) -> impl IntoView {
    let told = Memo::new(move || {
        run.view.with(|view| {
            (view.status, view.detail.clone(), view.warnings.clone(), view.outages.clone())
        })
    });
    dynamic(move || {
        let (status, detail, warnings, outages) = told.get();
        let needs_words = matches!(
            status,
            RunStatus::Failed | RunStatus::Capped | RunStatus::Interrupted | RunStatus::Cancelled
        );
        let why = detail.filter(|_| needs_words).map(|detail| {
            let look = Look::from(status);
            callout(look.status, look.icon, status_title(status).to_owned(), fmt::capital(&detail))
        });
        let is_down = !outages.is_empty();
        let outages = outages.iter().map(|outage| {
            callout("warning", "warning", outage_title(outage), outage_words(outage))
        });
        let warnings = (!warnings.is_empty()).then(|| view! { <Warnings warnings/> }.into_any());
        let has_origin =
            run.imported.with_value(Option::is_some) || run.origin.with_value(Option::is_some);
        let origin = has_origin.then(|| run_origin::show(run));
        if why.is_none() && warnings.is_none() && origin.is_none() && !is_down {
            return nothing();
        }
        let outages = outages.collect_any();
        view! { <div class="stack run-detail">{origin}{why}{outages}{warnings}</div> }.into_any()
    })
}

fn callout(status: &'static str, icon: &'static str, title: String, text: String) -> AnyView {
    view! {
        <div class="callout" data-status=status role="status">
            <Icon name=icon/>
            <div>
                <span class="callout__title">{title}</span>
                " "
                <span class="callout__text">{text}</span>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Warnings(warnings: Vec<String>) -> impl IntoView {
    let count = warnings.len();
    let items = warnings.into_iter().map(|text| view! { <li>{text}</li> }).collect_any();
    view! {
        <details class="disclosure">
            <summary class="disclosure__head">
                <Icon name="right"/>
                {fmt::plural(u64::try_from(count).unwrap_or(0), "warning", "warnings")}
            </summary>
            <ul class="disclosure__body">{items}</ul>
        </details>
    }
}

fn status_title(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Failed => "The run failed.",
        RunStatus::Capped => "A cap was reached.",
        RunStatus::Interrupted => "The process that trained is gone.",
        _ => "The run was stopped.",
    }
}

#[component]
fn Actions(run: RunState, failure: RwSignal<Option<(RunAction, ApiError)>>) -> impl IntoView {
    let status = Memo::new(move || run.view.with(|view| view.status));
    let question = RwSignal::new(None::<Question>);
    let stop = move |_| question.set(Some(stop_question(run)));
    let is_imported = run.imported.with_value(Option::is_some);
    view! {
        <div class="page-head__actions">
            {move || can_pause(status.get()).then(|| view! {
                <button class="button" type="button" on:click=handler(move |_| ask(run, RunAction::Pause, failure))>
                    <Icon name="pause"/>"Pause"
                </button>
            }
            .into_any())}
            {move || (can_resume(status.get()) && !is_imported).then(|| view! {
                <button class="button" data-variant="primary" type="button" on:click=handler(move |_| ask(run, RunAction::Resume, failure))>
                    <Icon name="play"/>"Resume"
                </button>
            }
            .into_any())}
            {move || can_stop(status.get()).then(|| view! {
                <button class="button" type="button" on:click=handler(stop)><Icon name="stop"/>"Stop"</button>
            }
            .into_any())}
            {move || (status.get().is_resumable() && !is_imported).then(|| view! {
                <a class="button" href=format!("/launch?resume={}", run.id()) title="Go on with other caps, workers or time-outs">
                    <Icon name="sliders"/>"Resume with…"
                </a>
            }
            .into_any())}
            {(!is_imported).then(|| view! { <Rerun run/> }.into_any())}
            <a class="button" href=format!("/launch?fork={}", run.id()) title="A new run that starts from this one">
                <Icon name="fork"/>"Fork"
            </a>
        </div>
        <Confirm question on_go=Callback::new(move |()| ask(run, RunAction::Cancel, failure))/>
    }
}

fn can_pause(status: RunStatus) -> bool {
    status == RunStatus::Running
}

fn can_resume(status: RunStatus) -> bool {
    matches!(status, RunStatus::Paused | RunStatus::Pausing) || status.is_resumable()
}

fn can_stop(status: RunStatus) -> bool {
    matches!(
        status,
        RunStatus::Queued | RunStatus::Running | RunStatus::Pausing | RunStatus::Paused
    )
}

fn stop_question(run: RunState) -> Question {
    let name = run.summary.with_value(|summary| summary.name.clone());
    Question {
        title: format!("Stop {name}?"),
        text: "Calls in flight are finished first. Everything so far is kept, and the run can be resumed.".to_owned(),
        keep: "Keep running",
        go: "Stop run",
    }
}

fn failure_words(action: RunAction) -> &'static str {
    match action {
        RunAction::Pause => "The run could not be paused.",
        RunAction::Resume => "The run could not be resumed.",
        RunAction::Cancel => "The run could not be stopped.",
    }
}

fn ask(run: RunState, action: RunAction, failure: RwSignal<Option<(RunAction, ApiError)>>) {
    failure.set(None);
    let was_over = run.view.with_untracked(|view| view.status.is_over());
    spawn_local(async move {
        match api::act(&run.id(), action).await {
            // The stream was closed when the run ended: everything is loaded and followed anew.
            Ok(_) if was_over => run.reload.run(()),
            Ok(status) => _ = run.view.try_update(|view: &mut RunView| view.status = status),
            Err(error) => failure.set(Some((action, error))),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_follow_the_state() {
        assert!(
            can_pause(RunStatus::Running)
                && can_stop(RunStatus::Running)
                && !can_resume(RunStatus::Running)
        );
        assert!(can_resume(RunStatus::Paused) && can_stop(RunStatus::Paused));
        assert!(can_resume(RunStatus::Capped) && !can_stop(RunStatus::Capped));
        assert!(
            !can_resume(RunStatus::Done)
                && !can_stop(RunStatus::Done)
                && !can_pause(RunStatus::Done)
        );
        assert!(!can_resume(RunStatus::Queued));
    }
}
