//! Each journal event as a sentence, with its icon and colour. Pure, tested.

use super::epoch_words::memory_words;
use super::outage_words::outage_row;
use super::step_words::{counts_words, ranking_words};
use super::update_words::{Item, budget_words, lr_words, rewrite_words};
use crate::components::look::Look;
use crate::fmt;
use crate::time;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::epoch::PairCategory;
use skillopt_domain::event::{EventKind, Measured, RunPlan, StepSummary, TestedSkill};
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use skillopt_domain::run::Phase;

/// The words for filters, in the order of a run; also the `type` of the JSON.
pub(crate) const TYPES: [&str; 24] = [
    "status",
    "planned",
    "prompts_chosen",
    "preflight_passed",
    "phase_started",
    "baseline",
    "rolled_out",
    "reflected",
    "aggregated",
    "lr_decided",
    "selected",
    "rewritten",
    "noted",
    "updated",
    "gated",
    "step_finished",
    "compared",
    "slow_updated",
    "meta_skill_written",
    "final_selected",
    "tested",
    "adapted",
    "endpoint_down",
    "endpoint_up",
];

/// The stable word of a kind.
pub(crate) fn type_word(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Status { .. } => "status",
        EventKind::Planned(_) => "planned",
        EventKind::PromptsChosen { .. } => "prompts_chosen",
        EventKind::PreflightPassed { .. } => "preflight_passed",
        EventKind::PhaseStarted(_) => "phase_started",
        EventKind::Baseline(_) => "baseline",
        EventKind::RolledOut { .. } => "rolled_out",
        EventKind::Reflected { .. } => "reflected",
        EventKind::Aggregated { .. } => "aggregated",
        EventKind::LrDecided { .. } => "lr_decided",
        EventKind::Selected { .. } => "selected",
        EventKind::Rewritten { .. } => "rewritten",
        EventKind::Noted { .. } => "noted",
        EventKind::Compared(_) => "compared",
        EventKind::SlowUpdated(_) => "slow_updated",
        EventKind::MetaSkillWritten(_) => "meta_skill_written",
        EventKind::FinalSelected(_) => "final_selected",
        EventKind::Updated { .. } => "updated",
        EventKind::Gated { .. } => "gated",
        EventKind::StepFinished(_) => "step_finished",
        EventKind::Tested { .. } => "tested",
        EventKind::Adapted { .. } => "adapted",
        EventKind::EndpointDown(_) => "endpoint_down",
        EventKind::EndpointUp { .. } => "endpoint_up",
        EventKind::Warning { .. } => "warning",
    }
}

/// Colour and icon.
pub(crate) fn event_look(kind: &EventKind) -> (&'static str, &'static str) {
    match kind {
        EventKind::Status { status, .. } => {
            let look = Look::from(*status);
            (look.status, look.icon)
        }
        EventKind::Gated { verdict, .. } => {
            let look = Look::from(verdict.action);
            (look.status, look.icon)
        }
        EventKind::StepFinished(step) => (Look::from(step.action).status, "check"),
        EventKind::Warning { .. } | EventKind::EndpointDown(_) => ("warning", "warning"),
        EventKind::EndpointUp { .. } => ("done", "check"),
        EventKind::Adapted { .. } => ("idle", "sliders"),
        EventKind::Planned(_) => ("idle", "launch"),
        EventKind::PromptsChosen { .. } => ("idle", "file"),
        EventKind::PreflightPassed { .. } => ("done", "check"),
        EventKind::PhaseStarted(_) => ("idle", "right"),
        EventKind::Baseline(_) | EventKind::Tested { .. } => ("idle", "gate"),
        EventKind::RolledOut { .. } => ("idle", "batch"),
        EventKind::Reflected { .. } => ("idle", "search"),
        EventKind::Aggregated { .. } => ("idle", "merge"),
        EventKind::Selected { .. } => ("idle", "filter"),
        EventKind::LrDecided { .. } => ("idle", "filter"),
        EventKind::Updated { .. } | EventKind::Rewritten { .. } | EventKind::Noted { .. } => {
            ("idle", "pencil")
        }
        EventKind::Compared(_) | EventKind::FinalSelected(_) => ("idle", "gate"),
        EventKind::SlowUpdated(update) => {
            let look = Look::from(update.action);
            (look.status, look.icon)
        }
        EventKind::MetaSkillWritten(_) => ("idle", "history"),
    }
}

fn prompts_words(prompts: &[PromptUse]) -> String {
    let own: Vec<&str> = prompts
        .iter()
        .filter(|prompt| prompt.origin == PromptOrigin::User)
        .map(|prompt| prompt.name.as_str())
        .collect();
    let n = fmt::plural(u64::try_from(prompts.len()).unwrap_or(0), "prompt", "prompts");
    if own.is_empty() {
        format!("{n}, none of your own.")
    } else {
        format!("{n}, of your own: {}.", own.join(", "))
    }
}

/// What happened, in one sentence.
#[expect(clippy::too_many_lines, reason = "one sentence for each kind of event")]
pub(crate) fn event_words(kind: &EventKind) -> String {
    match kind {
        EventKind::Status { status, detail } => {
            let end = detail.as_ref().map_or_else(|| ".".to_owned(), |why| format!(": {why}"));
            format!("The run is {}{end}", Look::from(*status).word)
        }
        EventKind::Planned(plan) => planned_words(plan),
        EventKind::PromptsChosen { prompts } => prompts_words(prompts),
        EventKind::PreflightPassed { role, latency_ms: 0 } => {
            format!("The {role} has answered its test call before.")
        }
        EventKind::PreflightPassed { role, latency_ms } => {
            format!("The {role} answered its test call in {}.", fmt::duration(*latency_ms))
        }
        EventKind::PhaseStarted(phase) => phase_words(*phase),
        EventKind::Baseline(measured) => {
            format!("Initial skill on the selection split: {}.", measured_words(measured))
        }
        EventKind::RolledOut { step, counts, .. } => {
            let (bold, rest) = counts_words(counts);
            format!("Step {step}, batch: {bold}{rest}")
        }
        EventKind::Reflected { step, reflection } => {
            let proposals = fmt::plural(u64::from(reflection.n_edits), "proposal", "proposals");
            let patterns = u64::try_from(reflection.patterns.len()).unwrap_or(0);
            let patterns = fmt::plural(patterns, "failure pattern", "failure patterns");
            format!("Step {step}: {proposals}, {patterns} named.")
        }
        EventKind::Aggregated { .. } | EventKind::Selected { .. } => chosen_words(kind),
        EventKind::Updated { step, edits, candidate_tokens, .. } if edits.is_empty() => {
            format!("Step {step}: the candidate has {candidate_tokens} tokens.")
        }
        EventKind::Updated { step, edits, candidate_tokens, .. } => {
            let applied = edits.iter().filter(|edit| edit.status == EditStatus::Applied).count();
            format!(
                "Step {step}: {applied} of {} edits applied, {candidate_tokens} tokens.",
                edits.len()
            )
        }
        EventKind::Gated { step, verdict, .. } => format!("Step {step}, gate: {}", verdict.reason),
        EventKind::StepFinished(step) => finished_words(step),
        EventKind::Tested { which, measured } => {
            let which = match which {
                TestedSkill::Initial => "Initial",
                TestedSkill::Best => "Best",
                TestedSkill::Last => "Last",
            };
            format!("{which} skill on the test split: {}.", measured_words(measured))
        }
        EventKind::Warning { message, .. } => message.clone(),
        EventKind::Adapted { role, change } => {
            format!("The {role}'s provider did not take a request as it was; now it {change}.")
        }
        EventKind::EndpointDown(outage) => outage_row(outage),
        EventKind::EndpointUp { endpoint, model, since_ms } => {
            let since = time::clock_seconds(*since_ms);
            format!("{model} at {endpoint} answers again. It had not since {since}.")
        }
        EventKind::LrDecided { step, decision } => {
            let said = lr_words(decision, Item::Proposal);
            format!("Step {step}, budget: {}{}", said.bold, said.rest)
        }
        EventKind::Rewritten { step, report } => {
            let said = rewrite_words(report);
            format!("Step {step}: {}{}", said.bold, said.rest)
        }
        EventKind::Noted { step, appendix } => {
            let added = fmt::plural(u64::from(appendix.n_added), "note", "notes");
            format!("Step {step}: {added} added to the appendix, {} in all.", appendix.notes.len())
        }
        EventKind::Compared(comparison) => format!(
            "Epoch {}: {} tried with the skills of two epochs, {} improved, {} regressed.",
            comparison.epoch,
            fmt::plural(u64::from(comparison.n_tried), "task", "tasks"),
            comparison.count(PairCategory::Improved),
            comparison.count(PairCategory::Regressed)
        ),
        EventKind::SlowUpdated(update) => {
            format!("Slow update after epoch {}: {}", update.epoch, update.reason)
        }
        EventKind::MetaSkillWritten(memory) => {
            let said = memory_words(memory);
            format!("Epoch {}, optimizer: {}{}", memory.epoch, said.bold, said.rest)
        }
        EventKind::FinalSelected(selection) => format!("Last skill: {}", selection.reason),
    }
}

/// What was merged and what was ranked; empty for other events.
fn chosen_words(kind: &EventKind) -> String {
    match kind {
        EventKind::Aggregated { step, n_edits_in, edits, proposals, .. } => {
            let item = Item::of_notes(proposals).unwrap_or(Item::Edit);
            let before = item.count(usize::try_from(*n_edits_in).unwrap_or(usize::MAX));
            format!("Step {step}: {before} merged into {}.", edits.len() + proposals.len())
        }
        EventKind::Selected { step, budget, ranking, edits, proposals, control } => {
            let item = Item::of_notes(proposals).unwrap_or(Item::Edit);
            let items = item.count(edits.len() + proposals.len());
            let budget = budget_words(*control, *budget);
            format!("Step {step}: {items}, {budget}; {}.", ranking_words(*ranking))
        }
        _ => String::new(),
    }
}

fn planned_words(plan: &RunPlan) -> String {
    format!(
        "{} steps planned: {} epochs of {} on {} ({} train, {} selection, {} test).",
        plan.total_steps,
        plan.epochs,
        plan.steps_per_epoch,
        plan.benchmark,
        plan.n_train,
        plan.n_selection,
        plan.n_test
    )
}

fn phase_words(phase: Phase) -> String {
    match phase {
        Phase::Preflight => "Preflight began.".to_owned(),
        Phase::Baseline => "The initial skill is being measured.".to_owned(),
        Phase::Step { step, stage } => format!("Step {step}: {} began.", stage.as_str()),
        Phase::SlowUpdate { epoch } => format!("The slow update after epoch {epoch} began."),
        Phase::MetaSkill { epoch } => {
            format!("The optimizer's memory is renewed after epoch {epoch}.")
        }
        Phase::FinalTest => "The final test began.".to_owned(),
    }
}

fn measured_words(measured: &Measured) -> String {
    match measured.score {
        Some(score) => format!("{}, {}", fmt::score(measured.gate_score), fmt::n(Some(score.n))),
        None => "no task was scored".to_owned(),
    }
}

fn finished_words(step: &StepSummary) -> String {
    format!(
        "Step {} is over: {}; best is {}.",
        step.step,
        Look::from(step.action).word,
        fmt::score(step.best_score)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::run::{RunStatus, Stage};
    use skillopt_domain::spend::Role;

    #[test]
    fn events_are_told_in_sentences() {
        let status =
            EventKind::Status { status: RunStatus::Failed, detail: Some("no tasks".into()) };
        assert_eq!(event_words(&status), "The run is failed: no tasks");
        let phase = EventKind::PhaseStarted(Phase::Step { step: 3, stage: Stage::Reflect });
        assert_eq!(event_words(&phase), "Step 3: reflect began.");
        let known = EventKind::PreflightPassed { role: Role::Target, latency_ms: 0 };
        assert_eq!(event_words(&known), "The target has answered its test call before.");
    }

    #[test]
    fn prompts_of_ones_own_are_named() {
        let prompt = |name: &str, origin| PromptUse {
            name: name.to_owned(),
            origin,
            hash: skillopt_domain::hash::Sha256Hex::of(name),
        };
        let mut prompts = vec![prompt("ranking", PromptOrigin::Default)];
        let words = |prompts: &Vec<PromptUse>| {
            event_words(&EventKind::PromptsChosen { prompts: prompts.clone() })
        };
        assert_eq!(words(&prompts), "1 prompt, none of your own.");
        prompts.push(prompt("rewrite", PromptOrigin::User));
        assert_eq!(words(&prompts), "2 prompts, of your own: rewrite.");
    }

    #[test]
    fn the_words_are_those_of_the_json() {
        let warning = EventKind::Warning { code: "x".into(), message: "y".into() };
        let json = serde_json::to_value(&warning).expect("an event serialises");
        assert_eq!(json["type"], type_word(&warning));
    }
}
