//! One step, stage by stage: rollout, reflect, aggregate, select, update, evaluate. Nothing here makes a call
//! itself; it strings the stages together, tells the journal, and keeps what the next step needs.

use super::TrainState;
use super::candidate::{
    Hints, choose, emit_update, make_candidate, merge, most_proposed, scheduled, take_in_notes,
};
use super::epoch_end::Stopwatch;
use super::judge::{JudgeOrder, judge};
use super::python::flush_notes;
use super::stages::Stages;
use super::summary::summary_of;
use crate::artifacts::News;
use crate::batches::{Batch, RunShape};
use crate::buffer::BufferEntry;
use crate::reflect::{Briefing, ReflectOrder, ScoredBatch, reflect};
use crate::rollout::{RolloutOrder, Rollouts, WhenBroken, roll_out};
use crate::run::{Run, TrainError};
use crate::update::{Updated, is_without_text};
use skillopt_domain::event::{EventKind, StageCost};
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose};
use skillopt_domain::proposal::{AppendixReport, LrDecision};
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::{SpendByRole, Spent};
use skillopt_domain::verdict::{Action, Verdict};

/// Everything that one step finds out, stage by stage.
#[derive(Debug)]
pub(crate) struct StepFacts {
    pub(crate) step: u32,
    pub(crate) epoch: u32,
    /// How many items may be used; 0 before that is settled.
    pub(crate) budget: u32,
    pub(crate) decision: Option<LrDecision>,
    pub(crate) rollout: Option<MeanScore>,
    pub(crate) counts: OutcomeCounts,
    pub(crate) batches: Vec<(Batch, Option<MeanScore>, usize)>,
    pub(crate) reflection: skillopt_domain::event::ReflectionSummary,
    pub(crate) n_merged: usize,
    pub(crate) updated: Option<Updated>,
    /// What became of notes that are written after the gate, by the rules of the Python system.
    pub(crate) appendix: Option<AppendixReport>,
    pub(crate) verdict: Option<Verdict>,
    /// The candidate is the best skill now.
    pub(crate) is_best: bool,
    pub(crate) total_steps: u32,
    pub(crate) stages: Vec<StageCost>,
    pub(crate) n_attempts: u32,
    pub(crate) n_errors: u32,
}

impl StepFacts {
    /// Failed tasks; for the Python system those that belong to no pattern count as passed.
    pub(crate) fn n_failed(&self, is_python: bool) -> u32 {
        match is_python {
            true => self.reflection.patterns.iter().map(|pattern| pattern.count).sum(),
            false => self.counts.failed,
        }
    }

    /// Adds the attempts of an evaluation that was made in this step.
    fn count(&mut self, counts: OutcomeCounts) {
        self.n_attempts += counts.total();
        self.n_errors += counts.errors;
    }
}

pub(super) async fn step(
    run: &Run<'_>,
    shape: RunShape,
    state: &mut TrainState,
    epoch: u32,
    batches: &[Batch],
) -> Result<(), TrainError> {
    let config = &run.input.config.optimizer;
    let scheduled = scheduled(config, state.step, shape);
    let mut stages = Stages::new(run, state.step);

    stages.begin(Stage::Rollout).await?;
    let scored = rollout_batches(run, state, epoch, batches).await?;
    let mut facts = facts_of((state.step, epoch), (scheduled, shape), batches, &scored);
    emit_rollout(run, &facts, &scored).await?;

    stages.begin(Stage::Reflect).await?;
    let scored = scored_batches(batches, scored, state.step);
    let previous_steps = state.buffer.render();
    let sample = run.sample(epoch, 0);
    let order = ReflectOrder {
        step: state.step,
        briefing: Briefing {
            skill: &state.skills.current,
            max_items: most_proposed(&run.input.config, scheduled),
            previous_steps: &previous_steps,
            memory: &state.memory,
        },
        batches: &scored,
        sample: sample.clone(),
    };
    let reflection = reflect(run, &order).await?;
    facts.reflection = reflection.summary.clone();
    let event = EventKind::Reflected { step: state.step, reflection: reflection.summary.clone() };
    run.emit(&key(state.step, "reflected"), event).await?;

    let has_items = !reflection.failure.is_empty() || !reflection.success.is_empty();
    let is_python = run.is_python();
    if !has_items && (is_python || reflection.summary.lapse_notes.is_empty()) {
        return finish(run, state, facts, stages, Action::SkipNoPatches).await;
    }
    let mut updated = Updated::unchanged(&state.skills.current);
    let hints = Hints { previous_steps: &previous_steps, sample: &sample };
    if has_items {
        stages.begin(Stage::Aggregate).await?;
        let items = merge(run, state, &mut facts, reflection, &hints).await?;
        stages.begin(Stage::Select).await?;
        let selection = choose(run, state, &mut facts, items, &hints).await?;
        stages.begin(Stage::Update).await?;
        updated = make_candidate(run, state, selection, &hints).await?;
    } else {
        stages.begin(Stage::Update).await?;
    }
    if !is_python {
        take_in_notes(run, &facts, &mut updated, &hints).await?;
    }
    emit_update(run, state.step, &updated).await?;
    let candidate = updated.candidate.clone();
    let without_text = is_without_text(&updated, config.update_mode);
    facts.updated = Some(updated);
    // The Python system measures a candidate that changes nothing, too.
    let is_same = candidate.text() == state.skills.current.text();
    if if is_python { without_text } else { is_same } {
        let action = if without_text { Action::SkipNoRewrite } else { Action::SkipNoChange };
        return finish(run, state, facts, stages, action).await;
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

pub(super) fn file(step: u32, name: &str) -> String {
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
            skill: &state.skills.current,
            tasks: batch.tasks.iter().map(|at| &train[*at]).collect(),
            sample: run.sample(epoch, 0),
            when_broken: WhenBroken::FailRun,
        };
        all.push(roll_out(run, order).await?);
    }
    Ok(all)
}

fn facts_of(
    (step, epoch): (u32, u32),
    (scheduled, shape): (Option<u32>, RunShape),
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
        budget: scheduled.unwrap_or_default(),
        decision: None,
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
        appendix: None,
        verdict: None,
        is_best: false,
        total_steps: shape.total_steps,
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

/// Measures and gates the candidate. A verdict that an earlier attempt of the run gave stands.
async fn evaluate(
    run: &Run<'_>,
    state: &mut TrainState,
    facts: &mut StepFacts,
    candidate: &SkillDoc,
) -> Result<(Verdict, String), TrainError> {
    let known = match run.ports.journal.find(&key(state.step, "gated")).await? {
        Some(EventKind::Gated { verdict, set, .. }) => Some((verdict, set)),
        _ => None,
    };
    let order = JudgeOrder {
        known,
        candidate,
        evaluation: &run.input.config.evaluation,
        phase: Phase::Step { step: state.step, stage: Stage::Evaluate },
        dir: file(state.step, "selection_eval"),
    };
    let judged = judge(run, state, order).await?;
    facts.count(judged.counts);
    facts.is_best = judged.is_best;
    Ok((judged.verdict, judged.set))
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
    if run.is_python() {
        let stopwatch = Stopwatch::start(run);
        flush_notes(run, state, &mut facts).await?;
        add_to_update(&mut facts.stages, stopwatch.spent(run));
    }
    let known = match run.ports.journal.find(&key(facts.step, "finished")).await? {
        Some(EventKind::StepFinished(summary)) => Some(summary),
        _ => None,
    };
    let is_known = known.is_some();
    let summary = known.unwrap_or_else(|| summary_of(run, state, &facts, action));
    // What an earlier attempt took and paid for the step is what counts.
    facts.stages.clone_from(&summary.stages);
    let news = if is_known { News::Known } else { News::New };
    state.artifacts.write_step(run, &facts, &summary, &state.skills, news).await?;
    let n_failed = facts.n_failed(run.is_python());
    let (edits, rewrite, notes) = facts.updated.map_or_else(Default::default, |updated| {
        let appendix = updated.appendix.filter(|appendix| appendix.n_added > 0);
        let notes = appendix.map(|appendix| appendix.proposed).unwrap_or_default();
        (updated.reports, updated.rewrite, notes)
    });
    state.buffer.push(BufferEntry {
        step: facts.step,
        action,
        n_scored: facts.counts.passed + facts.counts.failed,
        n_failed,
        patterns: facts.reflection.patterns.clone(),
        edits,
        rewrite,
        notes,
        verdict: facts.verdict,
    });
    state.last_was_inconclusive = action == Action::Inconclusive;
    run.emit(&key(facts.step, "finished"), EventKind::StepFinished(summary)).await
}

/// Notes that are condensed after the gate are part of the update all the same.
fn add_to_update(stages: &mut Vec<StageCost>, spent: Spent) {
    if spent.spend == SpendByRole::default() {
        return;
    }
    match stages.iter_mut().find(|cost| cost.stage == Stage::Update) {
        Some(cost) => {
            cost.wall_ms += spent.wall_ms;
            cost.spend += spent.spend;
        }
        None => {
            let (stage, Spent { wall_ms, spend }) = (Stage::Update, spent);
            stages.push(StageCost { stage, wall_ms, spend });
        }
    }
}

/// What a verdict does to current and best.
fn decide(state: &mut TrainState, facts: &StepFacts, action: Action) {
    let Some(updated) = facts.updated.as_ref().filter(|_| action.is_accepted()) else { return };
    state.skills.accept(updated.candidate.clone(), format!("step_{:04}", facts.step));
    if facts.is_best {
        state.skills.crown(facts.step);
    }
}
