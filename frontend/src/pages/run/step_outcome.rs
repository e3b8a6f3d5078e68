//! The second half of a step's story: the candidate's text, the gate with the tasks that changed, time and cost.

use super::state::RunState;
use super::step_story::StepFacts;
use super::step_words as words;
use super::story_parts::part;
use super::update_words::Item;
use crate::api;
use crate::components::diff_view::DiffView;
use crate::components::dynamic::CollectAny;
use crate::components::loaded::{Frame, loaded};
use crate::components::look::{Look, stage_look};
use crate::components::states::SkeletonRows;
use crate::components::status::Status;
use crate::fmt;
use crate::state::load::Load;
use leptos::prelude::*;
use skillopt_domain::api::SkillText;
use skillopt_domain::diff::diff;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::{EventKind, StageCost};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::run::Stage;
use skillopt_domain::verdict::{TaskChange, Verdict};

pub(super) fn candidate(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    let (sha, tokens, applied) = facts.find(|kind| match kind {
        EventKind::Updated { candidate, candidate_tokens, edits, .. } => {
            let applied = edits.iter().filter(|edit| edit.status == EditStatus::Applied).count();
            Some((candidate.clone(), *candidate_tokens, applied))
        }
        _ => None,
    })?;
    let before = facts.before.clone().filter(|before| *before != sha)?;
    let made_of = match Item::of(&facts.events) {
        Item::Edit => Item::Edit.count(applied),
        _ => "a new text".to_owned(),
    };
    let tokens = fmt::count(u64::from(tokens));
    let note = format!("{} + {made_of}, {tokens} tokens", facts.before_name());
    Some(part(
        "pencil",
        "Candidate",
        note,
        None,
        view! { <CandidateDiff run before after=sha/> }.into_any(),
    ))
}

#[component]
pub(super) fn CandidateDiff(run: RunState, before: Sha256Hex, after: Sha256Hex) -> impl IntoView {
    let texts = Load::new(move || {
        let (id, before, after) = (run.id(), before.clone(), after.clone());
        async move {
            let old = api::skill(&id, &before).await?;
            Ok::<_, api::ApiError>((old, api::skill(&id, &after).await?))
        }
    });
    let frame = Frame::new("The texts could not be loaded.")
        .loading(|| view! { <SkeletonRows rows=4/> }.into_any());
    loaded(texts, frame, |(old, new): &(SkillText, SkillText)| {
        view! {
            <div class="panel scroll-x" data-clip>
                <DiffView diff=diff(&old.text, &new.text) label="Change from the current skill to the candidate"/>
            </div>
        }
        .into_any()
    })
}

pub(super) fn gate(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    facts.verdict().map(|verdict| gate_part(run, verdict, Look::from(verdict.action)))
}

/// The gate's arithmetic and the tasks that changed.
pub(super) fn gate_part(run: RunState, verdict: &Verdict, look: Look) -> AnyView {
    let changes = if verdict.changes.is_empty() {
        view! { <p class="muted">"No task changed."</p> }.into_any()
    } else {
        changes_table(run, &verdict.changes)
    };
    let means = words::means_words(verdict);
    let inner = view! { <p class="second story__means">{means}</p> {changes} };
    part("gate", "Gate", words::gate_words(verdict), Some(look.status), inner.into_any())
}

fn changes_table(run: RunState, changes: &[TaskChange]) -> AnyView {
    let rows = changes.iter().map(|change| change_row(run, change)).collect_any();
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Tasks that changed">
            <table class="table" data-variant="plain">
                <thead><tr>
                    <th scope="col">"Changed task"</th>
                    <th scope="col">"Change"</th>
                    <th scope="col" data-num>"Before → after"</th>
                    <th scope="col">"Evidence"</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn change_row(run: RunState, change: &TaskChange) -> impl IntoView + use<> {
    let href = super::trajectories::task_href(run, change.task.as_str());
    view! {
        <tr>
            <td class="table__wrap"><span class="mono muted">{change.task.to_string()}</span>" "{change.title.clone()}</td>
            <td><Status look=change.change/></td>
            <td data-num>{format!("{:.2} → {:.2}", change.before, change.after)}</td>
            <td><a class="link" href=href>"all runs of it"</a></td>
        </tr>
    }
}

pub(super) fn time_and_cost(facts: &StepFacts) -> Option<AnyView> {
    let summary = facts.summary()?;
    let total: u64 = summary.stages.iter().map(|stage| stage.wall_ms).sum();
    let longest = summary.stages.iter().map(|stage| stage.wall_ms).max().unwrap_or(0);
    let bars = summary.stages.iter().map(|stage| stage_bar(stage, longest)).collect_any();
    let note = format!("{}, {}", fmt::duration(total), words::cost_words(&summary.spend));
    Some(part(
        "clock",
        "Time and cost",
        note,
        None,
        view! { <div class="bars story__bars">{bars}</div> }.into_any(),
    ))
}

fn stage_bar(cost: &StageCost, longest: u64) -> impl IntoView + use<> {
    let shorten = |ms: u64| u32::try_from(ms / 10).unwrap_or(u32::MAX);
    // The target works in the first and the last stage, the optimizer in between.
    let series = match cost.stage {
        Stage::Rollout | Stage::Evaluate => "1",
        Stage::Update => "8",
        Stage::Reflect | Stage::Aggregate | Stage::Select => "2",
    };
    view! {
        <span>{stage_look(cost.stage).0}</span>
        <span class="bars__track"><i data-series=series style:width=fmt::share(shorten(cost.wall_ms), shorten(longest))></i></span>
        <span class="bars__n">{fmt::duration(cost.wall_ms)}" "<span class="muted">{words::cost_words(&cost.spend)}</span></span>
    }
}
