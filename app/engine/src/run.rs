//! What every stage of one attempt needs: input, ports, calls, and the way to say where the run is.

use crate::calls::{CallError, Calls};
use crate::ctx::RunCtx;
use crate::meter::{CapReached, Meter};
use crate::ports::{ModelError, StoreError, Task};
use crate::prompts::{Prompt, PromptError, PromptVars};
use crate::train::{Ports, TrainInput};
use crate::trajectory::{Feedback, weight};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use skillopt_domain::config::Optimizer;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::outcome::{OutcomeCounts, Sample};
use skillopt_domain::run::{Phase, RunTransition};
use skillopt_domain::spend::Role;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a second question adds, in quarters of a token.
const REASK_WEIGHT: usize = 8400;

/// Live counts are sent at most this often, in milliseconds.
const PROGRESS_EVERY_MS: u64 = 100;

/// One attempt of a run.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) input: &'a TrainInput,
    pub(crate) ports: &'a Ports,
    pub(crate) calls: Calls,
    ctx: RunCtx,
    totals: Mutex<OutcomeCounts>,
    last_progress_ms: AtomicU64,
}

/// Why a run stops early.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TrainError {
    /// A person asked for it.
    #[error("cancelled; everything that was paid for is kept, and resume goes on from here")]
    Cancelled,
    /// A cap was reached.
    #[error("stopped by a cap: {0} and resume")]
    CapReached(CapReached),
    /// The provider's quota is used up.
    #[error("the {role}'s quota is used up, resume when it is filled again: {error}")]
    QuotaExhausted {
        /// Whose.
        role: Role,
        /// The provider's words.
        error: ModelError,
    },
    /// No call of a role can succeed.
    #[error("the {role} cannot be called: {error}")]
    Model {
        /// Whose.
        role: Role,
        /// The provider's words.
        error: ModelError,
    },
    /// Too many attempts failed for a score to mean anything.
    #[error(
        "{errors} of {attempts} attempts ended in errors, more than limits.error_share allows; this is no result about the skill; the last one: {sample}"
    )]
    TooManyErrors {
        /// Failed attempts.
        errors: u32,
        /// All attempts.
        attempts: u32,
        /// One of the errors.
        sample: String,
    },
    /// Two candidates in a row could not be compared.
    #[error(
        "two candidates in a row could not be compared, because {errors} of {attempts} attempts ended in errors; resume when the model answers again"
    )]
    Inconclusive {
        /// Failed attempts of the last step.
        errors: u32,
        /// All attempts of the last step.
        attempts: u32,
    },
    /// The run was started on something else.
    #[error("{what} changed since this run was started; start a new run, or put back what it was")]
    InputChanged {
        /// What changed.
        what: &'static str,
    },
    /// The prompts are not those that the run was started with.
    #[error(
        "the prompts changed since this run was started: {changes}; put them back as they were (the run shows the texts that it started with), or start a new run"
    )]
    PromptsChanged {
        /// Each prompt that changed, and how.
        changes: String,
    },
    /// A prompt of the user's cannot be put together.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Config and data do not fit.
    #[error(transparent)]
    Plan(#[from] crate::batches::PlanError),
    /// The store or the run folder failed.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
}

impl TrainError {
    /// What it does to the state of the run.
    #[must_use]
    pub fn transition(&self) -> RunTransition {
        match self {
            Self::Cancelled => RunTransition::ConfirmCancel,
            Self::CapReached(_) | Self::QuotaExhausted { .. } => RunTransition::Cap,
            Self::Model { .. }
            | Self::TooManyErrors { .. }
            | Self::Inconclusive { .. }
            | Self::InputChanged { .. }
            | Self::PromptsChanged { .. }
            | Self::Prompt(_)
            | Self::Plan(_)
            | Self::Store(_) => RunTransition::Fail,
        }
    }

    /// Sorts an error of a call that ends the run; `None` for one that only ends the call.
    pub(crate) fn of_call(error: CallError) -> Result<ModelError, Self> {
        match error {
            CallError::Cancelled => Err(Self::Cancelled),
            CallError::Cap(reached) => Err(Self::CapReached(reached)),
            CallError::Fatal(role, error)
                if error.kind == crate::ports::ModelErrorKind::QuotaExhausted =>
            {
                Err(Self::QuotaExhausted { role, error })
            }
            CallError::Fatal(role, error) => Err(Self::Model { role, error }),
            CallError::Store(error) => Err(Self::Store(error)),
            CallError::Failed(error) => Ok(error),
        }
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(ctx: &RunCtx, input: &'a TrainInput, ports: &'a Ports) -> Self {
        let meter = Meter::new(input.config.limits.clone(), input.prior, Arc::clone(&ports.clock));
        let models = (Arc::clone(&ports.target), Arc::clone(&ports.optimizer));
        let memory = (Arc::clone(&ports.ledger), Arc::clone(&ports.journal));
        let flights = Arc::clone(&ports.flights);
        Self {
            input,
            ports,
            calls: Calls::new(ctx, models, memory, flights, meter),
            ctx: ctx.clone(),
            totals: Mutex::default(),
            last_progress_ms: AtomicU64::new(0),
        }
    }

    /// The run follows the rules of the Python system.
    pub(crate) fn is_python(&self) -> bool {
        self.input.config.is_python()
    }

    /// The tasks of the gate: the first of the selection split, as many as the config says.
    pub(crate) fn selection(&self) -> &'a [Task] {
        first(self.input.splits.selection(), self.input.config.evaluation.sel_env_num)
    }

    /// The tasks of the final measurement: the first of the test split, as many as the config says.
    pub(crate) fn test(&self) -> &'a [Task] {
        first(self.input.splits.test(), self.input.config.evaluation.test_env_num)
    }

    /// A draw of this run: the seed, the epoch (0 for evaluations) and the run's own word with `--fresh`.
    pub(crate) fn sample(&self, epoch: u32, repeat: u32) -> Sample {
        let seed = self.input.config.train.seed;
        Sample { seed, epoch, repeat, fresh: self.input.fresh.clone() }
    }

    /// What one optimizer call may read beside these texts, as [`weight`] counts. A second question with the first
    /// reply in it has to fit as well.
    pub(crate) fn room_beside(&self, texts: &[&str]) -> usize {
        room_beside(&self.input.config.optimizer, texts)
    }

    /// The system message of a prompt, in the words of this run.
    pub(crate) fn system_message(
        &self,
        prompt: Prompt,
        vars: PromptVars,
    ) -> Result<String, TrainError> {
        Ok(self.input.prompts.system_message(prompt, vars)?)
    }

    /// Whether the optimizer may read what the grader said.
    pub(crate) fn feedback(&self) -> Feedback {
        Feedback::of(&self.input.config.gradient)
    }

    pub(crate) async fn emit(&self, key: &str, kind: EventKind) -> Result<(), TrainError> {
        Ok(self.ports.journal.append(key, kind).await?)
    }

    pub(crate) async fn write(&self, path: &str, text: String) -> Result<(), TrainError> {
        Ok(self.ports.folder.write(path, text).await?)
    }

    pub(crate) async fn write_json(
        &self,
        path: &str,
        value: &impl serde::Serialize,
    ) -> Result<(), TrainError> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|err| StoreError { message: format!("{path}: {err}") })?;
        self.write(path, text + "\n").await
    }

    /// Stops between calls too, so that a run that only reads its ledger can be cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), TrainError> {
        if self.ctx.is_cancelled() { Err(TrainError::Cancelled) } else { Ok(()) }
    }

    /// More of these attempts failed than `limits.error_share` allows.
    pub(crate) fn is_broken(&self, counts: OutcomeCounts) -> bool {
        let share = self.input.config.limits.error_share;
        f64::from(counts.errors) > share * f64::from(counts.total())
    }

    /// Adds finished attempts to the run's totals and stops it when too many of all failed.
    pub(crate) fn count_attempts(
        &self,
        counts: OutcomeCounts,
        sample: &str,
    ) -> Result<(), TrainError> {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        *totals += counts;
        if self.is_broken(*totals) {
            let (errors, attempts) = (totals.errors, totals.total());
            return Err(TrainError::TooManyErrors { errors, attempts, sample: sample.to_owned() });
        }
        Ok(())
    }

    /// A counter of a phase that reports as it grows.
    pub(crate) fn tick(&self, phase: Phase, total: usize) -> Ticker<'_> {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let ticker =
            Ticker { run: self, phase, total, done: AtomicU32::new(0), errors: AtomicU32::new(0) };
        ticker.report();
        ticker
    }
}

/// See [`Run::room_beside`].
pub(crate) fn room_beside(optimizer: &Optimizer, texts: &[&str]) -> usize {
    let all = optimizer.max_context_weight();
    let taken: usize = texts.iter().map(|text| weight(text)).sum();
    all.saturating_sub(taken + (all / 8).min(REASK_WEIGHT))
}

/// The first `n` tasks; all of them for 0.
pub(crate) fn first(tasks: &[Task], n: u32) -> &[Task] {
    match usize::try_from(n).unwrap_or(usize::MAX) {
        0 => tasks,
        n => &tasks[..tasks.len().min(n)],
    }
}

/// Does all pieces of work, `workers` at once, and gives the results in the order of the work, or the first
/// error. Everything is polled to its end, so that no paid answer is dropped.
pub(crate) fn in_order<'a, T: Send + 'a>(
    workers: u32,
    work: impl Iterator<Item = Work<'a, T>> + Send + 'a,
) -> Work<'a, Vec<T>> {
    let workers = usize::try_from(workers).unwrap_or(1).max(1);
    Box::pin(async move {
        let (mut waiting, mut going) = (work.enumerate(), FuturesUnordered::new());
        let (mut values, mut first_error) = (Vec::new(), None);
        loop {
            for (at, work) in waiting.by_ref().take(workers - going.len()) {
                going.push(numbered(at, work));
            }
            match going.next().await {
                Some((at, Ok(value))) => values.push((at, value)),
                Some((_, Err(error))) => first_error = first_error.or(Some(error)),
                None => break,
            }
        }
        values.sort_by_key(|(at, _)| *at);
        let values = values.into_iter().map(|(_, value)| value).collect();
        first_error.map_or(Ok(values), Err)
    })
}

async fn numbered<T>(at: usize, work: Work<'_, T>) -> (usize, Result<T, TrainError>) {
    (at, work.await)
}

/// A piece of work of a stage. Boxed: the compiler cannot see that a stream of plain ones may move between
/// threads.
pub(crate) type Work<'a, T> = BoxFuture<'a, Result<T, TrainError>>;

/// Counts units of a phase.
#[derive(Debug)]
pub(crate) struct Ticker<'a> {
    run: &'a Run<'a>,
    phase: Phase,
    total: u32,
    done: AtomicU32,
    errors: AtomicU32,
}

impl Ticker<'_> {
    /// One more unit is finished.
    pub(crate) fn done(&self, is_error: bool) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.errors.fetch_add(u32::from(is_error), Ordering::Relaxed);
        let now = self.run.ports.clock.now_ms();
        let last = self.run.last_progress_ms.load(Ordering::Relaxed);
        if done >= self.total || now.saturating_sub(last) >= PROGRESS_EVERY_MS {
            self.report();
        }
    }

    fn report(&self) {
        let at_ms = self.run.ports.clock.now_ms();
        self.run.last_progress_ms.store(at_ms, Ordering::Relaxed);
        self.run.ports.journal.progress(Progress {
            phase: self.phase,
            done: self.done.load(Ordering::Relaxed),
            total: self.total,
            errors: self.errors.load(Ordering::Relaxed),
            spend: self.run.calls.meter.total_spend(),
            at_ms,
        });
    }
}
