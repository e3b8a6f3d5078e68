//! One step, stage by stage: rollout, reflect, aggregate, select, update, evaluate. Nothing here makes a call
//! itself; it strings the stages together, tells the journal, and keeps what the next step needs.

use super::TrainState;
use super::stages::Stages;
use crate::aggregate::{MergeOrder, aggregate};
use crate::artifacts::{Artifacts, News, StateView};
use crate::batches::{Batch, RunShape};
use crate::buffer::BufferEntry;
use crate::evaluate::{MeasureOrder, measure as measure_skill, measured};
use crate::gate::{GateInput, gate};
use crate::reflect::{ReflectOrder, ScoredBatch, reflect};
use crate::rollout::{RolloutOrder, Rollouts, WhenBroken, roll_out};
use crate::run::{Run, TrainError};
use crate::schedule::edit_budget;
use crate::select::{SelectOrder, select};
use crate::update::{Updated, update};
use skillopt_domain::event::{EventKind, Measured, StageCost, StepSummary};
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose, RolloutSet};
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::{SkillDoc, estimate_tokens};
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::{Action, Verdict};

/// Everything that one step finds out, stage by stage.
#[derive(Debug)]
pub(crate) struct StepFacts {
    pub(crate) step: u32,
    pub(crate) epoch: u32,
    pub(crate) budget: u32,
    pub(crate) rollout: Option<MeanScore>,
    pub(crate) counts: OutcomeCounts,
    pub(crate) batches: Vec<(Batch, Option<MeanScore>, usize)>,
    pub(crate) reflection: skillopt_domain::event::ReflectionSummary,
    pub(crate) n_merged: usize,
    pub(crate) updated: Option<Updated>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) stages: Vec<StageCost>,
    pub(crate) n_attempts: u32,
    pub(crate) n_errors: u32,
}

impl StepFacts {
    /// Adds the attempts of an evaluation that was made in this step.
    fn count(&mut self, counts: OutcomeCounts, reused: bool) {
        if !reused {
            self.n_attempts += counts.total();
            self.n_errors += counts.errors;
        }
    }
}

pub(super) async fn step(
    run: &Run<'_>,
    shape: RunShape,
    state: &mut TrainState,
    epoch: u32,
    batches: &[Batch],
) -> Result<(), TrainError> {
    let budget = edit_budget(&run.input.config.optimizer, state.step, shape.total_steps);
    let mut stages = Stages::new(run, state.step);

    stages.begin(Stage::Rollout).await?;
    let scored = rollout_batches(run, state, epoch, batches).await?;
    let mut facts = facts_of(state.step, epoch, budget, batches, &scored);
    emit_rollout(run, &facts, &scored).await?;

    stages.begin(Stage::Reflect).await?;
    let scored = scored_batches(batches, scored, state.step);
    let previous_steps = state.buffer.render();
    let sample = run.sample(epoch, 0);
    let order = ReflectOrder {
        step: state.step,
        skill: &state.current,
        batches: &scored,
        max_edits: budget,
        previous_steps: &previous_steps,
        sample: sample.clone(),
    };
    let reflection = reflect(run, &order).await?;
    facts.reflection = reflection.summary.clone();
    let event = EventKind::Reflected { step: state.step, reflection: reflection.summary.clone() };
    run.emit(&key(state.step, "reflected"), event).await?;
    if reflection.failure.is_empty() && reflection.success.is_empty() {
        return finish(run, state, facts, stages, Action::SkipNoPatches).await;
    }

    stages.begin(Stage::Aggregate).await?;
    let order = MergeOrder { step: state.step, skill: &state.current, sample: sample.clone() };
    let merged = aggregate(run, &order, reflection).await?;
    facts.n_merged = merged.patch.edits.len();
    run.write_json(&file(state.step, "merged_patch.json"), &merged.patch).await?;
    let event = EventKind::Aggregated {
        step: state.step,
        n_edits_in: facts.reflection.n_edits,
        levels: merged.levels,
        n_fallbacks: merged.n_fallbacks,
        edits: merged.patch.edits.clone(),
    };
    run.emit(&key(state.step, "aggregated"), event).await?;

    stages.begin(Stage::Select).await?;
    let edits = merged.patch.edits;
    let order = SelectOrder { step: state.step, skill: &state.current, edits, budget, sample };
    let selection = select(run, order).await?;
    state.artifacts.write_selection(run, state.step, &selection).await?;
    let event = EventKind::Selected {
        step: state.step,
        budget,
        ranking: selection.ranking,
        edits: selection.ordered.clone(),
    };
    run.emit(&key(state.step, "selected"), event).await?;

    stages.begin(Stage::Update).await?;
    let updated = update(&state.current, selection, budget, &state.buffer);
    emit_update(run, state.step, &updated).await?;
    let candidate = updated.candidate.clone();
    facts.updated = Some(updated);
    if candidate.text() == state.current.text() {
        return finish(run, state, facts, stages, Action::SkipNoChange).await;
    }

    stages.begin(Stage::Evaluate).await?;
    let (verdict, set) = evaluate(run, state, &mut facts, &candidate).await?;
    let action = verdict.action;
    facts.verdict = Some(verdict.clone());
    let event = EventKind::Gated { step: state.step, verdict, set };
    run.emit(&key(state.step, "gated"), event).await?;
    finish(run, state, facts, stages, action).await
}

pub(super) fn key(step: u32, what: &str) -> String {
    format!("step/{step:04}/{what}")
}

fn file(step: u32, name: &str) -> String {
    format!("steps/step_{step:04}/{name}")
}

/// Directory of batch `at` of a step, as the Python system names it.
fn batch_dir(step: u32, at: usize, n_batches: usize) -> String {
    if n_batches > 1 { file(step, &format!("batch_{at}")) } else { format!("steps/step_{step:04}") }
}

async fn rollout_batches(
    run: &Run<'_>,
    state: &TrainState,
    epoch: u32,
    batches: &[Batch],
) -> Result<Vec<Rollouts>, TrainError> {
    let train = run.input.splits.train();
    let mut all = Vec::with_capacity(batches.len());
    for (at, batch) in batches.iter().enumerate() {
        let dir = batch_dir(state.step, at, batches.len());
        let order = RolloutOrder {
            key: key(state.step, &format!("batch/{at}")),
            dir: format!("{dir}/rollout"),
            purpose: RolloutPurpose::Train,
            phase: Phase::Step { step: state.step, stage: Stage::Rollout },
            step: state.step,
            skill: &state.current,
            tasks: batch.tasks.iter().map(|at| &train[*at]).collect(),
            sample: run.sample(epoch, 0),
            when_broken: WhenBroken::FailRun,
        };
        all.push(roll_out(run, order).await?);
    }
    Ok(all)
}

fn facts_of(
    step: u32,
    epoch: u32,
    budget: u32,
    batches: &[Batch],
    scored: &[Rollouts],
) -> StepFacts {
    let outcomes = || scored.iter().flat_map(|rollouts| &rollouts.set.outcomes);
    let mut counts = OutcomeCounts::default();
    for rollouts in scored {
        counts += rollouts.counts();
    }
    StepFacts {
        step,
        epoch,
        budget,
        rollout: MeanScore::of(outcomes().filter_map(|outcome| outcome.outcome.score())),
        counts,
        batches: batches
            .iter()
            .zip(scored)
            .map(|(batch, rollouts)| (batch.clone(), rollouts.mean(), rollouts.records.len()))
            .collect(),
        reflection: skillopt_domain::event::ReflectionSummary::default(),
        n_merged: 0,
        updated: None,
        verdict: None,
        stages: Vec::new(),
        n_attempts: counts.total(),
        n_errors: counts.errors,
    }
}

async fn emit_rollout(
    run: &Run<'_>,
    facts: &StepFacts,
    scored: &[Rollouts],
) -> Result<(), TrainError> {
    let event = EventKind::RolledOut {
        step: facts.step,
        score: facts.rollout,
        counts: facts.counts,
        sets: scored.iter().map(|rollouts| rollouts.set.key.clone()).collect(),
    };
    run.emit(&key(facts.step, "rolled_out"), event).await
}

fn scored_batches(batches: &[Batch], scored: Vec<Rollouts>, step: u32) -> Vec<ScoredBatch> {
    let n = batches.len();
    batches
        .iter()
        .zip(scored)
        .enumerate()
        .map(|(at, (batch, rollouts))| ScoredBatch {
            seed: batch.seed,
            dir: batch_dir(step, at, n),
            records: rollouts.records,
        })
        .collect()
}

async fn emit_update(run: &Run<'_>, step: u32, updated: &Updated) -> Result<(), TrainError> {
    let candidate = &updated.candidate;
    run.ports.journal.keep_skill(candidate.text()).await?;
    run.write(&file(step, "candidate_skill.md"), candidate.text().to_owned()).await?;
    run.write_json(&file(step, "edit_apply_report.json"), &Artifacts::apply_report(updated))
        .await?;
    let event = EventKind::Updated {
        step,
        edits: updated.reports.clone(),
        candidate: candidate.sha(),
        candidate_chars: u32::try_from(candidate.text().chars().count()).unwrap_or(u32::MAX),
        candidate_tokens: candidate.estimated_tokens(),
    };
    run.emit(&key(step, "updated"), event).await
}

/// Measures the candidate, unless this run knows its text already, and gates it. A verdict that an earlier
/// attempt of the run gave stands.
async fn evaluate(
    run: &Run<'_>,
    state: &mut TrainState,
    facts: &mut StepFacts,
    candidate: &SkillDoc,
) -> Result<(Verdict, String), TrainError> {
    if let Some(EventKind::Gated { verdict, set, .. }) =
        run.ports.journal.find(&key(state.step, "gated")).await?
    {
        if let Some(kept) = run.ports.journal.find_outcomes(&set).await? {
            facts.count(OutcomeCounts::of(&kept.outcomes), verdict.reused);
            state.remember(kept);
        }
        return Ok((verdict, set));
    }
    let known = state.measured.get(&candidate.sha()).cloned();
    let reused = known.is_some();
    let set = match known {
        Some(set) => set,
        None => measure_candidate(run, state, candidate).await?,
    };
    let counts = OutcomeCounts::of(&set.outcomes);
    facts.count(counts, reused);
    let verdict = gate(&GateInput {
        current: state.outcomes(&state.current),
        best: state.outcomes(&state.best),
        candidate: &set.outcomes,
        evaluation: &run.input.config.evaluation,
        error_share: run.input.config.limits.error_share,
        reused,
    });
    if verdict.action == Action::Inconclusive && state.last_was_inconclusive {
        let (errors, attempts) = (counts.errors, counts.total());
        return Err(TrainError::Inconclusive { errors, attempts });
    }
    let name = set.key.clone();
    if !reused && verdict.action != Action::Inconclusive {
        state.remember(set);
    }
    Ok((verdict, name))
}

async fn measure_candidate(
    run: &Run<'_>,
    state: &TrainState,
    candidate: &SkillDoc,
) -> Result<RolloutSet, TrainError> {
    let order = MeasureOrder {
        skill: candidate,
        tasks: run.input.splits.selection(),
        purpose: RolloutPurpose::Selection,
        phase: Phase::Step { step: state.step, stage: Stage::Evaluate },
        step: state.step,
        dir: file(state.step, "selection_eval"),
        repeat: 0,
        when_broken: WhenBroken::Keep,
    };
    Ok(measure_skill(run, order).await?.set)
}

async fn finish(
    run: &Run<'_>,
    state: &mut TrainState,
    mut facts: StepFacts,
    stages: Stages<'_, '_>,
    action: Action,
) -> Result<(), TrainError> {
    facts.stages = stages.end();
    decide(state, &facts, action);
    let known = match run.ports.journal.find(&key(facts.step, "finished")).await? {
        Some(EventKind::StepFinished(summary)) => Some(summary),
        _ => None,
    };
    let is_known = known.is_some();
    let summary = known.unwrap_or_else(|| summary_of(run, state, &facts, action));
    // What an earlier attempt took and paid for the step is what counts.
    facts.stages.clone_from(&summary.stages);
    let view = StateView {
        current: &state.current,
        current_origin: &state.current_origin,
        best: &state.best,
        best_step: state.best_step,
    };
    let news = if is_known { News::Known } else { News::New };
    state.artifacts.write_step(run, &facts, &summary, &view, news).await?;
    state.buffer.push(BufferEntry {
        step: facts.step,
        action,
        n_scored: facts.counts.passed + facts.counts.failed,
        n_failed: facts.counts.failed,
        patterns: facts.reflection.patterns.clone(),
        edits: facts.updated.map(|updated| updated.reports).unwrap_or_default(),
        verdict: facts.verdict,
    });
    state.last_was_inconclusive = action == Action::Inconclusive;
    run.emit(&key(facts.step, "finished"), EventKind::StepFinished(summary)).await
}

/// What a verdict does to current and best.
fn decide(state: &mut TrainState, facts: &StepFacts, action: Action) {
    let Some(updated) = facts.updated.as_ref().filter(|_| action.is_accepted()) else { return };
    state.current = updated.candidate.clone();
    state.current_origin = format!("step_{:04}", facts.step);
    state.version += 1;
    if action == Action::AcceptNewBest {
        state.best = updated.candidate.clone();
        state.best_step = facts.step;
    }
}

fn summary_of(run: &Run<'_>, state: &TrainState, facts: &StepFacts, action: Action) -> StepSummary {
    let verdict = facts.verdict.as_ref();
    let changes =
        |count: fn(&Verdict) -> usize| u32::try_from(verdict.map_or(0, count)).unwrap_or(u32::MAX);
    let own = |skill: &SkillDoc| state.measured.get(&skill.sha()).map(|set| measured(run, set));
    let (current, best) = (own(&state.current), own(&state.best));
    let n = |measured: Option<&Measured>| measured.and_then(|m| m.score).map(|score| score.n);
    let mut spend = SpendByRole::default();
    for stage in &facts.stages {
        spend += stage.spend;
    }
    StepSummary {
        step: facts.step,
        epoch: facts.epoch,
        action,
        rollout: facts.rollout,
        candidate_score: verdict.and_then(|verdict| verdict.candidate_score),
        current_score: current.as_ref().and_then(|measured| measured.gate_score),
        current_n: n(current.as_ref()),
        best_score: best.as_ref().and_then(|measured| measured.gate_score),
        best_n: n(best.as_ref()),
        n_selection: verdict.and_then(|verdict| verdict.candidate).map(|mean| mean.n),
        n_fixed: changes(Verdict::n_fixed),
        n_broke: changes(Verdict::n_broke),
        edit_budget: facts.budget,
        n_applied: facts.updated.as_ref().map_or(0, Updated::n_applied),
        n_not_applied: facts.updated.as_ref().map_or(0, Updated::n_not_applied),
        skill: state.current.sha(),
        candidate: facts.updated.as_ref().map(|updated| updated.candidate.sha()),
        version: state.version,
        skill_tokens: estimate_tokens(state.current.text()),
        n_errors: facts.n_errors,
        n_attempts: facts.n_attempts,
        spend,
        stages: facts.stages.clone(),
        reason: reason(facts, action),
    }
}

fn reason(facts: &StepFacts, action: Action) -> String {
    match (&facts.verdict, action) {
        (Some(verdict), _) => verdict.reason.clone(),
        (None, Action::SkipNoPatches) => match facts.reflection.lost.first() {
            Some(lost) => format!("no edit was proposed; a reply could not be used: {lost}"),
            None => "no edit was proposed".to_owned(),
        },
        (None, _) => "no edit could be applied, so that the text did not change".to_owned(),
    }
}
