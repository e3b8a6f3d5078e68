//! What the server says of the texts as they are typed, and how they score a reply. Only the newest question counts.

use super::detail::Form;
use crate::api::{self, ApiResult};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::fmt;
use crate::state::effect::on_change;
use crate::state::signal::RwSignal;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{TaskCheck, TaskTrial, TaskTried, TrialScore};

/// Milliseconds without a key after which what is typed is checked.
const PAUSE_MS: u32 = 250;

/// Asks about the texts whenever they have changed.
pub(super) fn follow_findings(form: Form) {
    let newest = StoredValue::new(0_u32);
    on_change(
        move || form.text.get(),
        move |text| {
            let number = newest.get_value() + 1;
            newest.set_value(number);
            let trial = TaskTrial { text: text.clone(), reply: None };
            spawn_local(async move {
                TimeoutFuture::new(PAUSE_MS).await;
                if newest.try_get_value() != Some(number) {
                    return;
                }
                // Without an answer the old findings stay; saving is checked again.
                if let Ok(tried) = api::try_task(&trial).await
                    && newest.try_get_value() == Some(number)
                {
                    form.findings.set(tried.findings);
                }
            });
        },
    );
}

#[component]
pub(super) fn Trial(form: Form) -> impl IntoView {
    let reply = RwSignal::new(String::new());
    let tried = RwSignal::new(None::<(Vec<TaskCheck>, ApiResult<TaskTried>)>);
    let is_trying = RwSignal::new(false);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = form.text.get_untracked();
        let checks = text.checks.clone();
        let trial = TaskTrial { text, reply: Some(reply.get_untracked()) };
        is_trying.set(true);
        spawn_local(async move {
            let answer = api::try_task(&trial).await;
            tried.set(Some((checks, answer)));
            is_trying.set(false);
        });
    };
    let typed = move |event| reply.set(event_target_value(&event));
    let shown = move || match tried.get() {
        None => nothing(),
        Some((_, Err(error))) => {
            view! { <ErrorCallout what="The answer could not be scored." error/> }.into_any()
        }
        Some((checks, Ok(tried))) => outcome(&checks, tried),
    };
    view! {
        <form class="curation-trial stack" data-gap="tight" on:submit=handler(submit)>
            <div class="field">
                <label class="field__label" for="task-reply">"Try it: an answer to score"</label>
                <textarea class="input" id="task-reply" rows="3" prop:value=move || reply.get() on:input=handler(typed)></textarea>
            </div>
            <div class="row">
                <button class="button" type="submit" id="task-try" disabled=move || is_trying.get()><Icon name="play"/>"Try"</button>
            </div>
            <div role="status">{dynamic(shown)}</div>
        </form>
    }
}

fn outcome(checks: &[TaskCheck], tried: TaskTried) -> AnyView {
    let Some(score) = tried.score else {
        return view! { <p class="muted">"No score: "{tried.unscored}"."</p> }.into_any();
    };
    let TrialScore { hard, soft, rationale, passed } = score;
    let is_pass = hard >= 1.0;
    let (status, icon, word) = if is_pass {
        ("accepted", "accepted", "Passes")
    } else {
        ("rejected", "rejected", "Does not pass")
    };
    let lines =
        checks.iter().zip(&passed).map(|(check, passed)| line(check, *passed)).collect_any();
    let why = passed
        .is_empty()
        .then(|| view! { <p class="muted">{fmt::capital(&rationale)}</p> }.into_any());
    view! {
        <p class="row" data-gap="tight">
            <span class="status" data-status=status><Icon name=icon/>{word}</span>
            <span>"Score "<b>{fmt::score(Some(soft))}</b></span>
        </p>
        <ul class="curation-outcome">{lines}</ul>
        {why}
    }
    .into_any()
}

fn line(check: &TaskCheck, passed: bool) -> AnyView {
    let (status, icon, word) =
        if passed { ("accepted", "check", "passed") } else { ("rejected", "x", "failed") };
    view! {
        <li>
            <span class="status" data-status=status><Icon name=icon/>{word}</span>
            <code>{check.op.clone()}" "{check.arg.clone()}</code>
        </li>
    }
    .into_any()
}
