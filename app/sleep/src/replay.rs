//! Performing tasks with both documents and scoring what comes. Results stand in task order, each with its kind of
//! outcome: a system that failed is never a zero. Decides nothing.

mod reward;
mod sets;

pub use reward::{RewardWeights, reward};
pub use sets::{Draws, replay_sets};

use crate::backend::{
    AnswerEnd, Attempt, Attempted, Backend, BackendError, Docs, Draw, Judging, Phase,
};
use crate::consolidate::{NightError, NightEvent, NightSink};
use crate::evidence::Evidence;
use crate::judge::Judge;
use crate::task::TaskRecord;
use futures::stream::{self, StreamExt};
use serde_json::json;
use skillopt_domain::outcome::Outcome;
use skillopt_domain::score::{MeanScore, TaskScore};
use std::sync::atomic::{AtomicU32, Ordering};

/// What every stage of a night works with.
#[derive(Clone, Copy, Debug)]
pub struct NightTools<'a> {
    /// Who performs, judges and reflects.
    pub backend: &'a dyn Backend,
    /// The log.
    pub evidence: &'a Evidence,
    /// Who watches.
    pub events: &'a dyn NightSink,
    /// Attempts at the same time, 1 or more.
    pub workers: u32,
    /// Share of attempts that may end in errors, `0..=1`.
    pub error_share: f64,
}

/// One attempt with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The task.
    pub id: String,
    /// What came out.
    pub outcome: Outcome,
    /// The answer.
    pub response: String,
    /// What the judge said.
    pub rationale: String,
    /// Tools that were called.
    pub tools_called: Vec<String>,
    /// Tokens of attempt and judge; `None` when nobody tells.
    pub tokens: Option<u64>,
    /// Time of the attempt, in milliseconds.
    pub latency_ms: u64,
}

impl Replayed {
    /// The score, where there is one.
    #[must_use]
    pub fn score(&self) -> Option<TaskScore> {
        self.outcome.score()
    }

    /// It was scored and did not pass.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.score().is_some_and(|score| score.hard.get() < 1.0)
    }
}

/// An attempt that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOrder<'a> {
    /// The task.
    pub task: &'a TaskRecord,
    /// Which draw.
    pub draw: Draw,
}

/// Means over what was scored; `None` when nothing was.
#[must_use]
pub fn aggregate(replayed: &[Replayed]) -> Option<MeanScore> {
    MeanScore::of(replayed.iter().filter_map(Replayed::score))
}

/// Makes one draw of each task.
///
/// # Errors
/// As [`replay_all`].
pub async fn replay_each(
    tools: &NightTools<'_>,
    tasks: &[TaskRecord],
    docs: Docs<'_>,
    draw: Draw,
) -> Result<Vec<Replayed>, NightError> {
    let orders: Vec<_> = tasks.iter().map(|task| ReplayOrder { task, draw }).collect();
    replay_all(tools, &orders, docs, draw.phase).await
}

/// Makes all attempts, some at a time, and those once more that a broken system spoiled. The results stand in the order
/// of the orders.
///
/// # Errors
/// [`NightError`] when the night cannot go on, and when too many attempts ended in errors for the rest to mean
/// anything. All attempts are finished first, so that what they asked is known.
pub async fn replay_all(
    tools: &NightTools<'_>,
    orders: &[ReplayOrder<'_>],
    docs: Docs<'_>,
    phase: Phase,
) -> Result<Vec<Replayed>, NightError> {
    let total = count(orders.len());
    tools.events.tell(NightEvent::StageBegan { phase, n_tasks: total });
    let done = AtomicU32::new(0);
    let mut replayed = pool(tools, orders, docs, (&done, total)).await?;
    let broken: Vec<usize> =
        (0..replayed.len()).filter(|at| is_broken(&replayed[*at].outcome)).collect();
    if !broken.is_empty() {
        let again: Vec<_> = broken.iter().map(|at| orders[*at]).collect();
        for (at, second) in broken.into_iter().zip(pool(tools, &again, docs, (&done, total)).await?)
        {
            replayed[at] = second;
        }
    }
    for (order, replayed) in orders.iter().zip(&replayed) {
        tools.evidence.record("replay", "result", evidence_of(order, replayed));
    }
    tools.events.tell(NightEvent::StageEnded { phase, n_tasks: total });
    check_errors(&replayed, phase, tools.error_share)?;
    Ok(replayed)
}

/// Worth a second try: the same call may well be answered now. A judge that cannot be read from the task stays so.
fn is_broken(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::InfraError { .. } => true,
        Outcome::JudgeError { message } => !message.starts_with(UNUSABLE_JUDGE),
        Outcome::Scored { .. } | Outcome::Refused { .. } => false,
    }
}

const UNUSABLE_JUDGE: &str = "the task's judge cannot be used";

async fn pool(
    tools: &NightTools<'_>,
    orders: &[ReplayOrder<'_>],
    docs: Docs<'_>,
    (done, total): (&AtomicU32, u32),
) -> Result<Vec<Replayed>, NightError> {
    let workers = usize::try_from(tools.workers).unwrap_or(1).max(1);
    let attempts: Vec<_> = orders
        .iter()
        .map(|order| {
            let attempt = async move {
                let result = replay_one(tools.backend, *order, docs).await;
                if let Ok(replayed) = &result {
                    let n_done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    tools.events.tell(NightEvent::TaskScored {
                        phase: order.draw.phase,
                        task_id: replayed.id.clone(),
                        outcome: replayed.outcome.kind(),
                        score: replayed.score(),
                        n_done: n_done.min(total),
                        n_tasks: total,
                    });
                }
                result
            };
            // Boxed: the compiler cannot see that a stream of plain ones may move between threads.
            Box::pin(attempt) as futures::future::BoxFuture<'_, _>
        })
        .collect();
    let results: Vec<_> = stream::iter(attempts).buffered(workers).collect().await;
    Ok(results.into_iter().collect::<Result<Vec<_>, BackendError>>()?)
}

/// Makes one attempt.
///
/// # Errors
/// [`BackendError`] when the night cannot go on; whatever spoils this attempt alone is its outcome.
pub async fn replay_one(
    backend: &dyn Backend,
    order: ReplayOrder<'_>,
    docs: Docs<'_>,
) -> Result<Replayed, BackendError> {
    let ReplayOrder { task, draw } = order;
    let judge = match Judge::of(task) {
        Ok(judge) => judge,
        Err(error) => {
            let message = format!("{UNUSABLE_JUDGE}: {error}");
            return Ok(without_answer(task, Outcome::JudgeError { message }));
        }
    };
    let tools: Vec<_> = judge.required_tools().into_iter().cloned().collect();
    let attempted = match backend.attempt(&Attempt { task, docs, tools: &tools, draw }).await {
        Ok(attempted) => attempted,
        Err(error) if error.ends_night() => return Err(error),
        Err(error) => {
            let (code, message) = (error.code().to_owned(), error.to_string());
            return Ok(without_answer(task, Outcome::InfraError { code, message }));
        }
    };
    score(backend, order, &judge, attempted).await
}

fn without_answer(task: &TaskRecord, outcome: Outcome) -> Replayed {
    Replayed {
        id: task.id.clone(),
        outcome,
        response: String::new(),
        rationale: String::new(),
        tools_called: Vec::new(),
        tokens: None,
        latency_ms: 0,
    }
}

async fn score(
    backend: &dyn Backend,
    ReplayOrder { task, draw }: ReplayOrder<'_>,
    judge: &Judge,
    attempted: Attempted,
) -> Result<Replayed, BackendError> {
    let mut replayed = Replayed {
        response: attempted.text,
        tools_called: attempted.tools_called,
        tokens: attempted.tokens,
        latency_ms: attempted.latency_ms,
        ..without_answer(task, Outcome::Refused { reason: String::new() })
    };
    if attempted.end == AnswerEnd::Declined {
        replayed.outcome = Outcome::Refused { reason: replayed.response.clone() };
        return Ok(replayed);
    }
    let (score, rationale) = match judge.score(&replayed.response, &replayed.tools_called) {
        Some(judged) => (TaskScore { hard: judged.hard, soft: judged.soft }, judged.rationale),
        None => {
            let judging = Judging { task, response: &replayed.response, draw };
            match backend.judge(&judging).await {
                Ok(judged) => {
                    replayed.tokens = replayed.tokens.zip(judged.tokens).map(|(a, b)| a + b);
                    (judged.score, judged.rationale)
                }
                Err(error) if error.ends_night() => return Err(error),
                Err(error) => {
                    replayed.outcome = Outcome::JudgeError { message: error.to_string() };
                    return Ok(replayed);
                }
            }
        }
    };
    let fail_reason = if score.hard.get() >= 1.0 { String::new() } else { rationale.clone() };
    replayed.outcome = Outcome::Scored {
        score,
        predicted: replayed.response.clone(),
        fail_reason,
        truncated: attempted.end == AnswerEnd::Cut,
    };
    replayed.rationale = rationale;
    Ok(replayed)
}

fn check_errors(replayed: &[Replayed], phase: Phase, share: f64) -> Result<(), NightError> {
    let errors: Vec<&Outcome> =
        replayed.iter().map(|replayed| &replayed.outcome).filter(|o| o.is_error()).collect();
    let (n_errors, n_attempts) = (count(errors.len()), count(replayed.len()));
    if f64::from(n_errors) <= share * f64::from(n_attempts) {
        return Ok(());
    }
    let last = errors.last().map(|outcome| match outcome {
        Outcome::InfraError { message, .. } | Outcome::JudgeError { message } => message.clone(),
        Outcome::Scored { .. } | Outcome::Refused { .. } => String::new(),
    });
    let last = last.unwrap_or_default();
    Err(NightError::TooManyErrors { phase, n_errors, n_attempts, last })
}

fn evidence_of(order: &ReplayOrder<'_>, replayed: &Replayed) -> serde_json::Value {
    let score = replayed.score();
    json!({
        "task_id": replayed.id,
        "task_type": order.task.tags.first().map_or("task", String::as_str),
        "phase": order.draw.phase,
        "draw": order.draw.repeat,
        "outcome": replayed.outcome.kind(),
        "hard": score.map(|score| score.hard.get()),
        "soft": score.map(|score| score.soft.get()),
        "why": match &replayed.outcome {
            Outcome::Scored { fail_reason, .. } => fail_reason,
            Outcome::Refused { reason } => reason,
            Outcome::InfraError { message, .. } | Outcome::JudgeError { message } => message,
        },
        "response_head": replayed.response.chars().take(400).collect::<String>(),
        "tools": replayed.tools_called,
        "tokens": replayed.tokens,
        "latency_ms": replayed.latency_ms,
    })
}

pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
