//! One trajectory: outcome in words, facts, the messages turn by turn, the evaluation last. All text is untrusted
//! and shown as text.

use super::icon::Icon;
use super::status::{Status, StatusForm};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{Trajectory, TrajectoryMessage, TrajectoryStep};
use skillopt_domain::outcome::Outcome;

/// A longer message starts folded.
const LONG: usize = 900;

#[component]
pub(crate) fn TrajectoryView(
    trajectory: Trajectory,
    /// `v3`, or `candidate of step 7`.
    skill: String,
    /// Numbers of the neighbours in the list.
    previous: Memo<Option<u64>>,
    next: Memo<Option<u64>>,
    on_go: Callback<u64>,
) -> impl IntoView {
    let outcome = trajectory.row.outcome.outcome.clone();
    let turn = |message: &TrajectoryMessage| {
        let who = speaker(&message.role);
        view! { <Turn message=message.clone() who/> }
    };
    // What an agent did comes before its answer.
    let (before, answer) =
        trajectory.messages.split_at(trajectory.messages.len().saturating_sub(1));
    let (before, answer) =
        (before.iter().map(turn).collect_any(), answer.iter().map(turn).collect_any());
    let steps = steps(&trajectory.steps);
    let is_silent = trajectory.messages.is_empty();
    let facts = facts(&trajectory, skill);
    let task = trajectory.row.outcome.task.to_string();
    let title = trajectory.row.outcome.title;
    let hover = title.clone();
    view! {
        <article class="panel trajectory" aria-labelledby="trajectory-title">
            <div class="panel__head">
                <h3 id="trajectory-title">{task}</h3>
                <span class="truncate hide-narrow" title=hover>{title}</span>
                <Status look=outcome.kind() form=StatusForm::Pill/>
                <div class="section__end">
                    <Neighbour label="Previous (k)" icon="up" number=previous on_go/>
                    <Neighbour label="Next (j)" icon="down" number=next on_go/>
                </div>
            </div>
            <div class="panel__body">
                <p>{outcome_words(&outcome)}</p>
                {facts}
            </div>
            <div class="trajectory__turns">
                {before}
                {steps}
                {answer}
                {is_silent.then(|| view! {
                    <div class="turn"><span class="turn__who">"Target"</span><p class="muted">"No call was answered, so there is nothing to read."</p></div>
                }.into_any())}
                {outcome.score().map(|_| view! {
                    <div class="turn" data-role="evaluation"><span class="turn__who">"Evaluation"</span>{evaluation(outcome)}</div>
                }.into_any())}
            </div>
        </article>
    }
}

/// More steps than this start folded.
const MANY_STEPS: usize = 6;

/// What an agent did, step by step; nothing for models that are no agents.
fn steps(steps: &[TrajectoryStep]) -> Option<AnyView> {
    if steps.is_empty() {
        return None;
    }
    let count = fmt::plural(u64::try_from(steps.len()).unwrap_or(0), "step", "steps");
    let rows = steps.iter().map(|step| {
        let content = match step.result.as_str() {
            "" => step.text.clone(),
            result => format!("{}\n→ {result}", step.text),
        };
        let message = TrajectoryMessage { role: step.kind.clone(), content };
        view! { <Turn message who=fmt::capital(&step.kind)/> }
    });
    Some(
        view! {
            <details class="trajectory__steps" open=steps.len() <= MANY_STEPS>
                <summary><span class="link">{format!("What the target did: {count}")}</span></summary>
                {rows.collect_any()}
            </details>
        }
        .into_any(),
    )
}

#[component]
fn Neighbour(
    label: &'static str,
    icon: &'static str,
    number: Memo<Option<u64>>,
    on_go: Callback<u64>,
) -> impl IntoView {
    let go = move |_| {
        if let Some(number) = number.get_untracked() {
            on_go.run(number);
        }
    };
    view! {
        <button class="icon-button" type="button" aria-label=label title=label disabled=move || number.get().is_none() on:click=handler(go)>
            <Icon name=icon/>
        </button>
    }
}

/// The outcome in one sentence.
fn outcome_words(outcome: &Outcome) -> AnyView {
    match outcome {
        Outcome::Scored { score, fail_reason, truncated, .. } => {
            let scores = format!("Hard {}, soft {:.2}.", score.hard.get(), score.soft.get());
            let cut = truncated.then_some(" The reply hit the token limit and was scored as it stands.");
            view! { <b class="medium">{scores}</b>" "<span class="second">{fail_reason.clone()}{cut}</span> }.into_any()
        }
        Outcome::Refused { reason } => {
            view! { <b class="medium">"The target refused; not scored."</b>" "<span class="second">{reason.clone()}</span> }.into_any()
        }
        Outcome::InfraError { code, message } => view! {
            <b class="medium">"A system failed; not scored."</b>" "<span class="second">{message.clone()}</span>" "<code>{code.clone()}</code>
        }
        .into_any(),
        Outcome::JudgeError { message } => {
            view! { <b class="medium">"The judge failed; not scored."</b>" "<span class="second">{message.clone()}</span> }.into_any()
        }
    }
}

fn facts(trajectory: &Trajectory, skill: String) -> impl IntoView + use<> {
    let row = &trajectory.row;
    let tokens = match (trajectory.prompt_tokens, trajectory.completion_tokens) {
        (Some(read), Some(written)) => {
            format!("{} in, {} out", fmt::count(read), fmt::count(written))
        }
        _ => fmt::MISSING.to_owned(),
    };
    let latency = trajectory.latency_ms.map_or_else(|| fmt::MISSING.to_owned(), fmt::duration);
    let attempts = trajectory.attempts.map_or_else(String::new, |n| {
        format!(", {}", fmt::plural(u64::from(n), "attempt", "attempts"))
    });
    let ledger = match (&row.outcome.call, row.outcome.cached) {
        (Some(_), true) => "reused, nothing was spent",
        (Some(_), false) => "called and recorded",
        (None, _) => "no recorded call",
    };
    let key = row.outcome.call.as_ref().map(|call| (call.short().to_owned(), call.to_string()));
    let step =
        if row.step == 0 { "before step 1".to_owned() } else { format!("step {}", row.step) };
    view! {
        <dl class="facts-row">
            <div><dt>"Skill"</dt><dd>{skill}</dd></div>
            <div><dt>"Split"</dt><dd>{row.purpose.as_str()}", "{step}</dd></div>
            <div><dt>"Tokens"</dt><dd>{tokens}</dd></div>
            <div><dt>"Latency"</dt><dd>{latency}{attempts}</dd></div>
            <div><dt>"Ledger"</dt><dd>{ledger}</dd></div>
            {key.map(|(short, full)| view! { <div><dt>"Ledger key"</dt><dd class="mono" title=full>{short}</dd></div> }.into_any())}
        </dl>
    }
}

/// A message with who said it; a long one is folded.
#[component]
pub(crate) fn Turn(message: TrajectoryMessage, who: String) -> impl IntoView {
    let is_long = message.content.chars().count() > LONG;
    let is_folded =
        RwSignal::new(is_long || message.role == "system" && message.content.lines().count() > 12);
    let can_fold = is_folded.get_untracked();
    let words = move || if is_folded.get() { "Show all" } else { "Show less" };
    view! {
        <div class="turn">
            <span class="turn__who">{who}</span>
            <div class="stack" data-gap="tight">
                <div class="turn__text" data-clamp=move || is_folded.get().then_some("")>{message.content}</div>
                {can_fold.then(|| view! {
                    <p><button class="link small" type="button" aria-expanded=move || (!is_folded.get()).to_string()
                        on:click=handler(move |_| is_folded.update(|folded| *folded = !*folded))>{move || words()}</button></p>
                }.into_any())}
            </div>
        </div>
    }
}

/// Who speaks in a role.
pub(crate) fn speaker(role: &str) -> String {
    match role {
        "system" => "System".to_owned(),
        "user" => "Task".to_owned(),
        "assistant" => "Target".to_owned(),
        other => fmt::capital(other),
    }
}

/// What the scorer said; for an attempt without a score, why it has none.
pub(crate) fn evaluation(outcome: Outcome) -> AnyView {
    let Outcome::Scored { score, predicted, fail_reason, .. } = outcome else {
        return view! { <p>{outcome_words(&outcome)}</p> }.into_any();
    };
    let passed = score.hard.get() >= 1.0;
    let (status, icon) = if passed { ("done", "check") } else { ("rejected", "x") };
    let note = (!fail_reason.is_empty())
        .then(|| view! { <p class="checks__note">{fail_reason}</p> }.into_any());
    let answer =
        if predicted.is_empty() { "no answer could be read".to_owned() } else { predicted };
    view! {
        <div class="checks">
            <div class="checks__item" data-status=status>
                <Icon name=icon/>
                <span>"Answer: "<b class="medium">{answer}</b></span>
                <span>{format!("hard {}, soft {:.2}", score.hard.get(), score.soft.get())}</span>
                {note}
            </div>
        </div>
    }
    .into_any()
}
