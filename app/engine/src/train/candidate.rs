//! From patches to a candidate: they are merged, the budget is settled, and a text is made. Each part tells the
//! journal what it did.

use super::step::{file, key};
use super::{StepFacts, TrainState};
use crate::aggregate::{MergeOrder, aggregate};
use crate::artifacts::{Artifacts, News};
use crate::batches::RunShape;
use crate::lr::Evidence;
use crate::notes::{NotesOrder, take_in};
use crate::proposal::{Proposal, shown};
use crate::reflect::Reflection;
use crate::rewrite::{WriteOrder, work_in};
use crate::run::{Run, TrainError};
use crate::schedule::edit_budget;
use crate::select::{Budget, SelectOrder, Selection, select};
use crate::update::{Updated, apply_edits, take_text, take_text_as_python};
use skillopt_domain::config::{LrControl, Optimizer, RunConfig, UpdateMode};
use skillopt_domain::event::EventKind;
use skillopt_domain::outcome::Sample;

/// What optimizer calls of a step have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints<'a> {
    pub(super) previous_steps: &'a str,
    pub(super) sample: &'a Sample,
}

/// The budget of the schedule; `None` when something else sets it.
pub(crate) fn scheduled(config: &Optimizer, step: u32, shape: RunShape) -> Option<u32> {
    (config.budget_control() == LrControl::Fixed)
        .then(|| edit_budget(config, step, shape.total_steps))
}

/// The number of items that analysts may propose: the budget of the step; for the Python system always the highest.
pub(crate) fn most_proposed(config: &RunConfig, scheduled: Option<u32>) -> Option<u32> {
    if config.is_python() { Some(config.optimizer.learning_rate) } else { scheduled }
}

/// Who settles the budget. The Python system uses its schedule also where nobody should set a budget, and moves on in
/// it with each use.
fn budget_of<'a>(
    run: &Run<'_>,
    state: &mut TrainState,
    facts: &StepFacts,
    evidence: Evidence<'a>,
) -> Budget<'a> {
    let config = &run.input.config.optimizer;
    if let Some(python) = state.python.as_mut()
        && config.update_mode != UpdateMode::FullRewriteMinibatch
        && config.lr_control != LrControl::Autonomous
    {
        let position = python.next_position();
        return Budget::Scheduled(edit_budget(config, position, facts.total_steps));
    }
    match config.budget_control() {
        LrControl::Fixed => Budget::Scheduled(facts.budget),
        LrControl::Autonomous => Budget::ByOptimizer(evidence),
        LrControl::None => Budget::Unlimited,
    }
}

/// Merges all patches of a step into one list.
pub(super) async fn merge(
    run: &Run<'_>,
    state: &TrainState,
    facts: &mut StepFacts,
    reflection: Reflection,
    hints: &Hints<'_>,
) -> Result<Vec<Proposal>, TrainError> {
    let step = state.step;
    let order = MergeOrder {
        step,
        skill: &state.skills.current,
        memory: &state.memory,
        sample: hints.sample.clone(),
    };
    let merged = aggregate(run, &order, reflection).await?;
    facts.n_merged = merged.patch.items.len();
    let json = merged.patch.to_json(run.input.config.optimizer.update_mode);
    run.write_json(&file(step, "merged_patch.json"), &json).await?;
    let (edits, proposals) = shown(&merged.patch.items);
    let event = EventKind::Aggregated {
        step,
        n_edits_in: facts.reflection.n_edits,
        levels: merged.levels,
        n_fallbacks: merged.n_fallbacks,
        edits,
        proposals,
    };
    run.emit(&key(step, "aggregated"), event).await?;
    Ok(merged.patch.items)
}

/// Settles the budget and the order.
pub(super) async fn choose(
    run: &Run<'_>,
    state: &mut TrainState,
    facts: &mut StepFacts,
    items: Vec<Proposal>,
    hints: &Hints<'_>,
) -> Result<Selection, TrainError> {
    let (step, control) = (state.step, run.input.config.optimizer.budget_control());
    let evidence = Evidence { rollout: facts.rollout, previous_steps: hints.previous_steps };
    let budget = budget_of(run, state, facts, evidence);
    let order = SelectOrder {
        step,
        skill: &state.skills.current,
        items,
        budget,
        memory: &state.memory,
        sample: hints.sample.clone(),
    };
    let selection = select(run, order).await?;
    facts.budget = selection.budget;
    facts.decision.clone_from(&selection.decision);
    if let Some(decision) = &selection.decision {
        let key = key(step, "lr_decided");
        let is_known = run.ports.journal.find(&key).await?.is_some();
        let news = if is_known { News::Known } else { News::New };
        state.artifacts.write_decision(run, facts, decision, news).await?;
        let event = EventKind::LrDecided { step, decision: decision.clone() };
        run.emit(&key, event).await?;
    }
    state.artifacts.write_selection(run, step, &selection).await?;
    let (edits, proposals) = shown(&selection.ordered);
    let (budget, ranking) = (selection.budget, selection.ranking);
    let event = EventKind::Selected { step, budget, ranking, edits, proposals, control };
    run.emit(&key(step, "selected"), event).await?;
    Ok(selection)
}

/// Makes a text of what was chosen.
pub(super) async fn make_candidate(
    run: &Run<'_>,
    state: &TrainState,
    selection: Selection,
    hints: &Hints<'_>,
) -> Result<Updated, TrainError> {
    let skill = &state.skills.current;
    match run.input.config.optimizer.update_mode {
        UpdateMode::Patch => Ok(apply_edits(skill, selection, &state.buffer, run.is_python())),
        UpdateMode::RewriteFromSuggestions => {
            let order = WriteOrder {
                step: state.step,
                skill,
                previous_steps: hints.previous_steps,
                sample: hints.sample.clone(),
            };
            work_in(run, order, &selection).await
        }
        UpdateMode::FullRewriteMinibatch if run.is_python() => {
            Ok(take_text_as_python(skill, &selection.ordered))
        }
        UpdateMode::FullRewriteMinibatch => Ok(take_text(skill, &selection.ordered)),
    }
}

/// Lapses become part of the candidate, and are gated with it.
pub(super) async fn take_in_notes(
    run: &Run<'_>,
    facts: &StepFacts,
    updated: &mut Updated,
    hints: &Hints<'_>,
) -> Result<(), TrainError> {
    let Some(settings) = run.input.config.optimizer.skill_aware() else { return Ok(()) };
    let order = NotesOrder {
        step: facts.step,
        candidate: &updated.candidate,
        proposed: &facts.reflection.lapse_notes,
        settings,
        sample: hints.sample.clone(),
    };
    let (candidate, appendix) = take_in(run, order).await?;
    updated.candidate = candidate;
    updated.appendix = Some(appendix);
    Ok(())
}

/// Keeps the candidate and tells what became of everything that was proposed.
pub(super) async fn emit_update(
    run: &Run<'_>,
    step: u32,
    updated: &Updated,
) -> Result<(), TrainError> {
    let candidate = &updated.candidate;
    run.ports.journal.keep_skill(candidate.text()).await?;
    run.write(&file(step, "candidate_skill.md"), candidate.text().to_owned()).await?;
    match &updated.rewrite {
        Some(report) => {
            let mode = run.input.config.optimizer.update_mode;
            let (name, json) = Artifacts::rewrite_result(mode, report, candidate);
            run.write_json(&file(step, name), &json).await?;
            let event = EventKind::Rewritten { step, report: report.clone() };
            run.emit(&key(step, "rewritten"), event).await?;
        }
        None => {
            let report = Artifacts::apply_report(updated);
            run.write_json(&file(step, "edit_apply_report.json"), &report).await?;
        }
    }
    if let Some(appendix) = &updated.appendix {
        run.write_json(&file(step, "appendix_notes.json"), &Artifacts::notes(appendix)).await?;
        let event = EventKind::Noted { step, appendix: appendix.clone() };
        run.emit(&key(step, "noted"), event).await?;
    }
    let event = EventKind::Updated {
        step,
        edits: updated.reports.clone(),
        candidate: candidate.sha(),
        candidate_chars: u32::try_from(candidate.text().chars().count()).unwrap_or(u32::MAX),
        candidate_tokens: candidate.estimated_tokens(),
    };
    run.emit(&key(step, "updated"), event).await
}
