//! The training loop. It reads like the paper: for each epoch and batch, rollout, reflect, aggregate,
//! select, update, evaluate; then the slow update and the optimizer's memory.
//!
//! Resume is to call [`train`] again with the same input: the ledger answers what was paid for, and the
//! journal ignores what it knows.

mod candidate;
mod epoch_end;
mod finale;
mod judge;
mod longitudinal;
mod measure;
mod memory;
mod prompts;
mod python;
mod slow_update;
mod stages;
mod standing;
mod start;
mod step;
mod summary;

pub(crate) use candidate::{most_proposed, scheduled};
pub use measure::{MeasureInput, Measurement, measure};
pub(crate) use standing::Standing;
pub use start::{data_hash, preflight_request};
pub(crate) use step::StepFacts;

use crate::artifacts::{Artifacts, FinalScores};
use crate::batches::{RunShape, epoch_batches, plan};
use crate::buffer::StepBuffer;
use crate::calls::Flights;
use crate::ctx::RunCtx;
use crate::evaluate::{SelectionCache, measured};
use crate::forecast::Known;
use crate::meter::Prior;
use crate::outage::tell_outages;
use crate::ports::{Benchmark, Clock, Journal, Ledger, Model, RunFolder, Task};
use crate::prompts::PromptSet;
use crate::run::{Run, TrainError};
use crate::splits::Splits;
use epoch_end::end_epoch;
use finale::{final_test, select_finally};
use futures::future::BoxFuture;
use python::PythonState;
use skillopt_domain::config::RunConfig;
use skillopt_domain::event::Measured;
use skillopt_domain::outcome::{RolloutSet, TaskOutcome};
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::SpendByRole;
use start::{announce, baseline, preflight};
use std::sync::Arc;
use step::step;

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
    /// The prompts: the program's, the benchmark's and the user's.
    pub prompts: PromptSet,
    /// With `--fresh`: a word that no other run has used.
    pub fresh: Option<String>,
    /// What earlier attempts of this run spent.
    pub prior: Prior,
    /// What earlier calls of the models showed, for the forecast. Nothing of the result depends on it.
    pub known: Known,
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
/// The future is a boxed one, so that it can be a task of its own on any runtime.
///
/// # Errors
/// [`TrainFailure`] when the run is cancelled, capped, or cannot go on.
pub fn train<'a>(
    ctx: &'a RunCtx,
    input: &'a TrainInput,
    ports: &'a Ports,
) -> BoxFuture<'a, Result<TrainReport, TrainFailure>> {
    Box::pin(async move {
        let run = Run::new(ctx, input, ports);
        let result = tokio::select! {
            result = train_run(&run) => result,
            never = ctx.abort_after_grace() => match never {},
            error = tell_outages(ports) => Err(TrainError::Store(error)),
        };
        let (spend, active_ms) = (run.calls.meter.spend(), run.calls.meter.active_ms());
        match result {
            Ok(best) => Ok(TrainReport { best_skill: best.text().to_owned(), spend, active_ms }),
            Err(error) => Err(TrainFailure { error, spend, active_ms }),
        }
    })
}

async fn train_run(run: &Run<'_>) -> Result<SkillDoc, TrainError> {
    let shape = shape_of(run)?;
    announce(run, shape).await?;
    preflight(run).await?;
    let mut state = baseline(run, shape).await?;
    let n_train = run.input.splits.train().len();
    for epoch in 1..=run.input.config.train.num_epochs {
        state.buffer.begin_epoch();
        let batches = epoch_batches(&run.input.config.train, epoch, n_train);
        let accumulation = usize::try_from(run.input.config.train.accumulation).unwrap_or(1).max(1);
        for batches in batches.chunks(accumulation) {
            state.step += 1;
            step(run, shape, &mut state, epoch, batches).await?;
        }
        end_epoch(run, &mut state, epoch).await?;
    }
    select_finally(run, &mut state).await?;
    final_test(run, &mut state).await?;
    let (last, best) = (state.current_measurement(run), state.best_measurement(run));
    let scores = FinalScores { last: last.as_ref(), best: best.as_ref() };
    state.artifacts.finish(run, &state.skills, &scores).await?;
    Ok(state.skills.best)
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
    skills: Standing,
    /// The skill at the end of the epoch before.
    epoch_skill: SkillDoc,
    /// What the optimizer remembers of earlier epochs; empty for nothing.
    memory: String,
    buffer: StepBuffer,
    measured: SelectionCache,
    last_was_inconclusive: bool,
    artifacts: Artifacts,
    /// In runs that follow the rules of the Python system.
    python: Option<PythonState>,
}

impl TrainState {
    fn outcomes(&self, skill: &SkillDoc) -> &[TaskOutcome] {
        self.measured.get(&skill.sha()).map_or(&[], |set| &set.outcomes)
    }

    /// The score of the current skill; `None` when this run has not measured it.
    fn current_measurement(&self, run: &Run<'_>) -> Option<Measured> {
        match &self.python {
            Some(python) => Some(python.current().clone()),
            None => self.measurement(run, &self.skills.current),
        }
    }

    /// The score of the best skill.
    fn best_measurement(&self, run: &Run<'_>) -> Option<Measured> {
        match &self.python {
            Some(python) => Some(python.best().clone()),
            None => self.measurement(run, &self.skills.best),
        }
    }

    /// A skill on the selection split; `None` when this run has not measured it.
    fn measurement(&self, run: &Run<'_>, skill: &SkillDoc) -> Option<Measured> {
        self.measured.get(&skill.sha()).map(|set| measured(run, skill, set))
    }

    /// Remembers a measurement; those of the current and the best skill always stay.
    fn remember(&mut self, set: RolloutSet) {
        let needed = match &self.python {
            Some(python) => [python.current().skill.clone(), python.best().skill.clone()],
            None => [self.skills.current.sha(), self.skills.best.sha()],
        };
        self.measured.insert(set, [&needed[0], &needed[1]]);
    }
}

#[cfg(test)]
mod tests;
