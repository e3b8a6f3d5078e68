//! The training loop. It reads like the paper: for each epoch and batch, rollout, reflect, aggregate,
//! select, update, evaluate.
//!
//! Resume is to call [`train`] again with the same input: the ledger answers what was paid for, and the
//! journal ignores what it knows.

use crate::aggregate::{MergeOrder, aggregate};
use crate::artifacts::{Artifacts, News, StateView};
use crate::batches::{Batch, RunShape, epoch_batches, plan};
use crate::buffer::{BufferEntry, StepBuffer};
use crate::calls::Flights;
use crate::ctx::RunCtx;
use crate::evaluate::{MeasureOrder, SelectionCache, measure as measure_skill, measured};
use crate::gate::{GateInput, gate};
use crate::meter::Prior;
use crate::ports::{
    Benchmark, ChatRequest, Clock, Journal, Ledger, Message, Model, ModelErrorKind, Purpose,
    RunFolder, Task,
};
use crate::reflect::{ReflectOrder, ScoredBatch, reflect};
use crate::rollout::{RolloutOrder, Rollouts, WhenBroken, roll_out};
use crate::run::{Run, TrainError};
use crate::schedule::edit_budget;
use crate::select::{SelectOrder, select};
use crate::splits::Splits;
use crate::update::{Updated, update};
use skillopt_domain::config::RunConfig;
use skillopt_domain::event::{EventKind, Measured, RunPlan, StageCost, StepSummary, TestedSkill};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose, RolloutSet, TaskOutcome};
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::{SkillDoc, estimate_tokens};
use skillopt_domain::spend::{Role, SpendByRole};
use skillopt_domain::verdict::{Action, Verdict};
use std::sync::Arc;

/// The world of a run.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Performs tasks.
    pub target: Arc<dyn Model>,
    /// Proposes edits.
    pub optimizer: Arc<dyn Model>,
    /// Remembers paid calls.
    pub ledger: Arc<dyn Ledger>,
    /// Remembers what happened.
    pub journal: Arc<dyn Journal>,
    /// The Python-compatible folder.
    pub folder: Arc<dyn RunFolder>,
    /// Puts tasks and scores answers.
    pub benchmark: Arc<dyn Benchmark>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Identical calls in flight, shared by all runs of the process.
    pub flights: Arc<Flights>,
}

/// What is trained, on what, and how.
#[derive(Clone, Debug)]
pub struct TrainInput {
    /// The config.
    pub config: RunConfig,
    /// The data.
    pub splits: Splits,
    /// The initial skill.
    pub skill: SkillDoc,
    /// With `--fresh`: a word that no other run has used.
    pub fresh: Option<String>,
    /// What earlier attempts of this run spent.
    pub prior: Prior,
}

/// A finished run. Everything else is in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainReport {
    /// The best skill.
    pub best_skill: String,
    /// Spend of this attempt.
    pub spend: SpendByRole,
    /// Working time of this attempt in milliseconds.
    pub active_ms: u64,
}

/// A run that stopped early. What was paid for is kept.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct TrainFailure {
    /// Why.
    pub error: TrainError,
    /// Spend of this attempt.
    pub spend: SpendByRole,
    /// Working time of this attempt in milliseconds.
    pub active_ms: u64,
}

/// Trains a skill.
///
/// # Errors
/// [`TrainFailure`] when the run is cancelled, capped, or cannot go on.
pub async fn train(
    ctx: &RunCtx,
    input: &TrainInput,
    ports: &Ports,
) -> Result<TrainReport, TrainFailure> {
    let run = Run::new(ctx, input, ports);
    let result = tokio::select! {
        result = train_run(&run) => result,
        never = ctx.abort_after_grace() => match never {},
    };
    let (spend, active_ms) = (run.calls.meter.spend(), run.calls.meter.active_ms());
    match result {
        Ok(best) => Ok(TrainReport { best_skill: best.text().to_owned(), spend, active_ms }),
        Err(error) => Err(TrainFailure { error, spend, active_ms }),
    }
}

async fn train_run(run: &Run<'_>) -> Result<SkillDoc, TrainError> {
    let shape = shape_of(run)?;
    announce(run, shape).await?;
    preflight(run).await?;
    let mut state = baseline(run).await?;
    let n_train = run.input.splits.train().len();
    for epoch in 1..=run.input.config.train.num_epochs {
        let batches = epoch_batches(&run.input.config.train, epoch, n_train);
        let accumulation = usize::try_from(run.input.config.train.accumulation).unwrap_or(1).max(1);
        for batches in batches.chunks(accumulation) {
            state.step += 1;
            step(run, shape, &mut state, epoch, batches).await?;
        }
    }
    final_test(run, &mut state).await?;
    state.artifacts.finish(run, &state.best).await?;
    Ok(state.best)
}

fn shape_of(run: &Run<'_>) -> Result<RunShape, TrainError> {
    let splits = &run.input.splits;
    let n = |tasks: &[Task]| u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    Ok(plan(&run.input.config, n(splits.train()), n(splits.selection()), n(splits.test()))?)
}

/// What the loop carries from step to step.
#[derive(Debug)]
struct TrainState {
    step: u32,
    version: u32,
    current: SkillDoc,
    current_origin: String,
    best: SkillDoc,
    best_step: u32,
    buffer: StepBuffer,
    measured: SelectionCache,
    last_was_inconclusive: bool,
    artifacts: Artifacts,
}

impl TrainState {
    fn outcomes(&self, skill: &SkillDoc) -> &[TaskOutcome] {
        self.measured.get(&skill.sha()).map_or(&[], |set| &set.outcomes)
    }

    /// Remembers a measurement; those of the current and the best skill always stay.
    fn remember(&mut self, set: RolloutSet) {
        let needed = [&self.current.sha(), &self.best.sha()];
        self.measured.insert(set, needed);
    }
}

async fn announce(run: &Run<'_>, shape: RunShape) -> Result<(), TrainError> {
    let (config, splits) = (&run.input.config, &run.input.splits);
    let n = |tasks: &[Task]| u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    run.ports.journal.keep_skill(run.input.skill.text()).await?;
    let plan = RunPlan {
        benchmark: run.ports.benchmark.name().to_owned(),
        n_train: n(splits.train()),
        n_selection: n(splits.selection()),
        n_test: n(splits.test()),
        epochs: config.train.num_epochs,
        steps_per_epoch: shape.steps_per_epoch,
        total_steps: shape.total_steps,
        data: data_hash(splits),
        initial_skill: run.input.skill.sha(),
        initial_tokens: run.input.skill.estimated_tokens(),
        target_model: run.ports.target.name().to_owned(),
        optimizer_model: run.ports.optimizer.name().to_owned(),
        target_simulated: run.ports.target.is_simulated(),
        optimizer_simulated: run.ports.optimizer.is_simulated(),
        seed: config.train.seed,
    };
    if let Some(EventKind::Planned(earlier)) = run.ports.journal.find("planned").await? {
        if earlier.initial_skill != plan.initial_skill {
            return Err(TrainError::InputChanged { what: "the initial skill" });
        }
        if earlier.data != plan.data {
            return Err(TrainError::InputChanged { what: "the data" });
        }
    }
    run.emit("planned", EventKind::Planned(plan)).await?;
    for warning in run.input.skill.lint() {
        let message = format!("skill, line {}: {}", warning.line, warning.message);
        let key = format!("warning/skill/{}", Sha256Hex::of(&message).short());
        run.emit(&key, EventKind::Warning { code: "skill".into(), message }).await?;
    }
    run.write("skills/skill_v0000.md", run.input.skill.text().to_owned()).await
}

/// Hash of all tasks of all splits, in order.
fn data_hash(splits: &Splits) -> Sha256Hex {
    let mut text = String::new();
    for tasks in [splits.train(), splits.selection(), splits.test()] {
        for task in tasks {
            text.push_str(&format!("{}:{}{}", task.id.as_str().len(), task.id, task.content));
        }
        text.push('/');
    }
    Sha256Hex::of(text)
}

/// One cheap call a role before anything is spent. Any answer will do: it proves that address, key and
/// model fit.
async fn preflight(run: &Run<'_>) -> Result<(), TrainError> {
    run.emit("phase/preflight", EventKind::PhaseStarted(Phase::Preflight)).await?;
    for role in Role::ALL {
        let latency_ms = preflight_role(run, role).await?;
        run.emit(&format!("preflight/{role}"), EventKind::PreflightPassed { role, latency_ms })
            .await?;
    }
    Ok(())
}

/// The preflight request: tiny, the same for every role.
#[must_use]
pub fn preflight_request() -> ChatRequest {
    ChatRequest {
        messages: vec![
            Message::system("You are asked whether you can be reached."),
            Message::user("Reply with the single word OK."),
        ],
        max_tokens: Some(64),
        purpose: Purpose::Preflight,
        phase: "preflight".to_owned(),
    }
}

async fn preflight_role(run: &Run<'_>, role: Role) -> Result<u64, TrainError> {
    match run.calls.ask(role, &preflight_request(), &run.sample(0, 0)).await {
        Ok(answer) if answer.cached => Ok(0),
        Ok(answer) => Ok(answer.reply.latency_ms),
        Err(error) => {
            let error = TrainError::of_call(error)?;
            // The model was reached and thought until the small limit: that is an answer here.
            match error.kind {
                ModelErrorKind::Empty | ModelErrorKind::ReasoningOnly => Ok(0),
                _ => Err(TrainError::Model { role, error }),
            }
        }
    }
}

async fn baseline(run: &Run<'_>) -> Result<TrainState, TrainError> {
    run.emit("phase/baseline", EventKind::PhaseStarted(Phase::Baseline)).await?;
    let skill = run.input.skill.clone();
    let rollouts = measure_skill(
        run,
        MeasureOrder {
            skill: &skill,
            tasks: run.input.splits.selection(),
            purpose: RolloutPurpose::Selection,
            phase: Phase::Baseline,
            step: 0,
            dir: "selection_eval_baseline".to_owned(),
            repeat: 0,
            when_broken: WhenBroken::FailRun,
        },
    )
    .await?;
    let baseline = measured(run, &rollouts.set);
    run.emit("baseline", EventKind::Baseline(baseline.clone())).await?;
    let mut cache = SelectionCache::default();
    cache.insert(rollouts.set, [&skill.sha(); 2]);
    Ok(TrainState {
        step: 0,
        version: 0,
        current: skill.clone(),
        current_origin: "initial_skill".to_owned(),
        best: skill,
        best_step: 0,
        buffer: StepBuffer::default(),
        measured: cache,
        last_was_inconclusive: false,
        artifacts: Artifacts::new(baseline),
    })
}

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

async fn step(
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

fn key(step: u32, what: &str) -> String {
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
    let counts = OutcomeCounts::of(&outcomes().cloned().collect::<Vec<_>>());
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

/// Initial and best skill on the test split, once, never fed back.
async fn final_test(run: &Run<'_>, state: &mut TrainState) -> Result<(), TrainError> {
    let tasks = run.input.splits.test();
    if !run.input.config.evaluation.eval_test || tasks.is_empty() {
        return Ok(());
    }
    run.emit("phase/final_test", EventKind::PhaseStarted(Phase::FinalTest)).await?;
    let skills = [
        (TestedSkill::Initial, &run.input.skill, "test_eval_baseline", "tested/initial"),
        (TestedSkill::Best, &state.best.clone(), "test_eval", "tested/best"),
    ];
    for (which, skill, dir, key) in skills {
        let rollouts = measure_skill(
            run,
            MeasureOrder {
                skill,
                tasks,
                purpose: RolloutPurpose::Test,
                phase: Phase::FinalTest,
                step: state.step,
                dir: dir.to_owned(),
                repeat: 0,
                when_broken: WhenBroken::FailRun,
            },
        )
        .await?;
        let measured = measured(run, &rollouts.set);
        state.artifacts.write_test_summary(run, dir, &rollouts).await?;
        state.artifacts.remember_test(which, measured.score);
        run.emit(key, EventKind::Tested { which, measured }).await?;
    }
    Ok(())
}

/// Times and prices the stages of a step.
#[derive(Debug)]
struct Stages<'a, 'b> {
    run: &'a Run<'b>,
    step: u32,
    open: Option<(Stage, std::time::Duration, SpendByRole)>,
    done: Vec<StageCost>,
}

impl<'a, 'b> Stages<'a, 'b> {
    fn new(run: &'a Run<'b>, step: u32) -> Self {
        Self { run, step, open: None, done: Vec::new() }
    }

    async fn begin(&mut self, stage: Stage) -> Result<(), TrainError> {
        self.close();
        self.open = Some((stage, self.run.ports.clock.monotonic(), self.run.calls.meter.spend()));
        let phase = Phase::Step { step: self.step, stage };
        let key = key(self.step, &format!("phase/{}", stage.as_str()));
        self.run.emit(&key, EventKind::PhaseStarted(phase)).await
    }

    fn close(&mut self) {
        if let Some((stage, since, before)) = self.open.take() {
            let wall = self.run.ports.clock.monotonic().saturating_sub(since);
            self.done.push(StageCost {
                stage,
                wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
                spend: self.run.calls.meter.spend().since(&before),
            });
        }
    }

    fn end(mut self) -> Vec<StageCost> {
        self.close();
        self.done
    }
}

/// A skill to measure outside a training run.
#[derive(Debug)]
pub struct MeasureInput {
    /// Config, data and skill; the skill is what is measured.
    pub train: TrainInput,
    /// The split.
    pub split: crate::splits::SplitName,
    /// 0 for the first measurement; further ones draw anew.
    pub repeat: u32,
}

/// A finished measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// All outcomes.
    pub set: RolloutSet,
    /// Means; `None` when nothing was scored.
    pub score: Option<MeanScore>,
    /// How the attempts ended.
    pub counts: OutcomeCounts,
    /// Spend.
    pub spend: SpendByRole,
}

/// Measures a skill on a split, after one preflight call of the target.
///
/// # Errors
/// As [`train`].
pub async fn measure(
    ctx: &RunCtx,
    input: &MeasureInput,
    ports: &Ports,
) -> Result<Measurement, TrainFailure> {
    let run = Run::new(ctx, &input.train, ports);
    let purpose = match input.split {
        crate::splits::SplitName::Train => RolloutPurpose::Train,
        crate::splits::SplitName::Selection => RolloutPurpose::Selection,
        crate::splits::SplitName::Test => RolloutPurpose::Test,
    };
    let order = MeasureOrder {
        skill: &input.train.skill,
        tasks: input.train.splits.of(input.split),
        purpose,
        phase: Phase::Baseline,
        step: 0,
        dir: if input.repeat == 0 { ".".to_owned() } else { format!("repeat_{:03}", input.repeat) },
        repeat: input.repeat,
        when_broken: WhenBroken::FailRun,
    };
    let result = async {
        preflight_role(&run, Role::Target).await?;
        measure_skill(&run, order).await
    };
    let result = tokio::select! {
        result = result => result,
        never = ctx.abort_after_grace() => match never {},
    };
    let (spend, active_ms) = (run.calls.meter.spend(), run.calls.meter.active_ms());
    match result {
        Ok(rollouts) => Ok(Measurement {
            score: rollouts.mean(),
            counts: rollouts.counts(),
            set: rollouts.set,
            spend,
        }),
        Err(error) => Err(TrainFailure { error, spend, active_ms }),
    }
}

#[cfg(test)]
mod tests;
