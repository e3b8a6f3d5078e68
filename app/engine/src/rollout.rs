//! Stage 1 and every evaluation: tasks are performed with a skill and scored. Results stand in task order,
//! never in order of arrival.

use crate::calls::Answer;
use crate::ports::{
    ChatReply, ChatRequest, Finish, Graded, Purpose, RolloutRecord, Task, Workspace,
};
use crate::run::{Run, Ticker, TrainError, Work, in_order};
use skillopt_domain::outcome::{
    Outcome, OutcomeCounts, RolloutPurpose, RolloutSet, Sample, TaskOutcome,
};
use skillopt_domain::run::Phase;
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::Role;

/// What to roll out.
#[derive(Debug)]
pub(crate) struct RolloutOrder<'a> {
    pub(crate) key: String,
    pub(crate) dir: String,
    pub(crate) purpose: RolloutPurpose,
    pub(crate) phase: Phase,
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    pub(crate) tasks: Vec<&'a Task>,
    pub(crate) sample: Sample,
    /// What happens when too many attempts fail.
    pub(crate) when_broken: WhenBroken,
}

/// What happens when more attempts fail than `limits.error_share` allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenBroken {
    /// The run ends, and nothing is kept, so that a resumed run tries again.
    FailRun,
    /// The set is kept beside the place of a good one, and the gate decides nothing.
    Keep,
}

/// A finished set with its evidence.
#[derive(Clone, Debug)]
pub(crate) struct Rollouts {
    pub(crate) set: RolloutSet,
    pub(crate) records: Vec<RolloutRecord>,
}

impl Rollouts {
    pub(crate) fn counts(&self) -> OutcomeCounts {
        OutcomeCounts::of(&self.set.outcomes)
    }

    pub(crate) fn mean(&self) -> Option<MeanScore> {
        MeanScore::of(self.set.outcomes.iter().filter_map(|outcome| outcome.outcome.score()))
    }
}

/// Rolls out all tasks, `env.workers` at once. Attempts that broke are tried once more at the end, when a
/// short outage may be over. A set that an earlier attempt of the run finished is taken as it was.
pub(crate) async fn roll_out(
    run: &Run<'_>,
    order: RolloutOrder<'_>,
) -> Result<Rollouts, TrainError> {
    run.check_cancelled()?;
    if let Some(set) = run.ports.journal.find_outcomes(&order.key).await? {
        return remembered(run, &order, set).await;
    }
    let all: Vec<usize> = (0..order.tasks.len()).collect();
    let mut records: Vec<Option<RolloutRecord>> = vec![None; order.tasks.len()];
    attempt_all(run, &order, &all, &mut records).await?;
    let broken: Vec<usize> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| {
            record.as_ref().is_some_and(|record| record.outcome.outcome.is_error())
        })
        .map(|(at, _)| at)
        .collect();
    if !broken.is_empty() {
        attempt_all(run, &order, &broken, &mut records).await?;
    }
    keep(run, order, records.into_iter().flatten().collect()).await
}

/// A kept set with its evidence: prompts are made again, replies come from the ledger.
async fn remembered(
    run: &Run<'_>,
    order: &RolloutOrder<'_>,
    set: RolloutSet,
) -> Result<Rollouts, TrainError> {
    let mut records = Vec::new();
    // Only what the optimizer reads is read again.
    let read_again = matches!(order.purpose, RolloutPurpose::Train | RolloutPurpose::Longitudinal);
    for (task, outcome) in order.tasks.iter().zip(&set.outcomes).filter(|_| read_again) {
        let reply = match &outcome.call {
            Some(key) => run.calls.recall(Role::Target, key).await?,
            None => None,
        };
        let ChatReply { text: reply, steps, .. } = reply.unwrap_or_default();
        let evaluation_note = match &outcome.outcome {
            Outcome::Scored { truncated, .. } => {
                run.ports.benchmark.grade(task, &reply, *truncated).evaluation_note
            }
            _ => String::new(),
        };
        records.push(RolloutRecord {
            outcome: outcome.clone(),
            messages: run.ports.benchmark.prompt(task, order.skill.text()),
            steps,
            reply,
            evaluation_note,
        });
    }
    let records = for_optimizer(run, records);
    let rollouts = Rollouts { set, records };
    run.count_attempts(rollouts.counts(), "")?;
    Ok(rollouts)
}

async fn attempt_all(
    run: &Run<'_>,
    order: &RolloutOrder<'_>,
    indices: &[usize],
    records: &mut [Option<RolloutRecord>],
) -> Result<(), TrainError> {
    let ticker = run.tick(order.phase, indices.len());
    let ticker = &ticker;
    let attempts = indices.iter().map(|at| -> Work<'_, RolloutRecord> {
        Box::pin(attempt(run, order, order.tasks[*at], ticker))
    });
    let done = in_order(run.input.config.env.workers, attempts).await?;
    for (at, record) in indices.iter().zip(done) {
        records[*at] = Some(record);
    }
    Ok(())
}

async fn attempt(
    run: &Run<'_>,
    order: &RolloutOrder<'_>,
    task: &Task,
    ticker: &Ticker<'_>,
) -> Result<RolloutRecord, TrainError> {
    let messages = run.ports.benchmark.prompt(task, order.skill.text());
    let mut request = ChatRequest::new(Purpose::Qa, order.dir.clone(), messages);
    if run.calls.model(Role::Target).works_in_folder() {
        request.workspace = Some(Workspace {
            skill: order.skill.text().to_owned(),
            task: run.ports.benchmark.task_text(task),
            instructions: run.ports.benchmark.task_instructions(task),
        });
    }
    let (answer, graded) = match run.calls.ask(Role::Target, &request, &order.sample).await {
        Ok(answer) => {
            let graded = grade(run, task, &answer);
            (Some(answer), graded)
        }
        Err(error) => {
            let error = TrainError::of_call(error)?;
            let outcome = Outcome::InfraError {
                code: error.kind.as_str().to_owned(),
                message: error.message,
            };
            (None, Graded { outcome, evaluation_note: String::new() })
        }
    };
    ticker.done(graded.outcome.is_error());
    let cached = answer.as_ref().is_some_and(|answer| answer.cached);
    let call = answer.as_ref().map(|answer| answer.key.clone());
    let ChatReply { text: reply, steps, .. } =
        answer.map(|answer| answer.reply).unwrap_or_default();
    Ok(RolloutRecord {
        outcome: TaskOutcome {
            task: task.id.clone(),
            title: task.title.clone(),
            task_type: task.task_type.clone(),
            outcome: graded.outcome,
            cached,
            call,
        },
        messages: request.messages,
        steps,
        reply,
        evaluation_note: graded.evaluation_note,
    })
}

fn grade(run: &Run<'_>, task: &Task, answer: &Answer) -> Graded {
    let reply = &answer.reply;
    match reply.finish {
        // For the Python system words of refusal are an answer like others.
        Finish::Refused if !run.is_python() => Graded {
            outcome: Outcome::Refused { reason: reply.text.clone() },
            evaluation_note: String::new(),
        },
        Finish::Refused | Finish::Stop | Finish::Length => {
            run.ports.benchmark.grade(task, &reply.text, reply.finish == Finish::Length)
        }
    }
}

async fn keep(
    run: &Run<'_>,
    order: RolloutOrder<'_>,
    records: Vec<RolloutRecord>,
) -> Result<Rollouts, TrainError> {
    let mut set = RolloutSet {
        key: order.key,
        purpose: order.purpose,
        step: order.step,
        skill: order.skill.sha(),
        sample: order.sample,
        outcomes: records.iter().map(|record| record.outcome.clone()).collect(),
    };
    let counts = OutcomeCounts::of(&set.outcomes);
    let sample = an_error(&set);
    if run.is_broken(counts) {
        if order.when_broken == WhenBroken::FailRun {
            let (errors, attempts) = (counts.errors, counts.total());
            return Err(TrainError::TooManyErrors { errors, attempts, sample });
        }
        set.key = format!("{}/broken/{}", set.key, set.step);
    }
    run.ports.folder.write_rollouts(&order.dir, records.clone()).await?;
    run.ports.journal.keep_outcomes(&set).await?;
    run.count_attempts(counts, &sample)?;
    Ok(Rollouts { set, records: for_optimizer(run, records) })
}

/// The optimizer reads what an agent did only where the config says so; the run folder has it anyway.
fn for_optimizer(run: &Run<'_>, mut records: Vec<RolloutRecord>) -> Vec<RolloutRecord> {
    if !run.input.config.agents.trace_to_optimizer {
        for record in &mut records {
            record.steps.clear();
        }
    }
    records
}

fn an_error(set: &RolloutSet) -> String {
    let sample = set.outcomes.iter().find_map(|outcome| match &outcome.outcome {
        Outcome::InfraError { code, message } => Some(format!("{code}: {message}")),
        Outcome::JudgeError { message } => Some(message.clone()),
        Outcome::Scored { .. } | Outcome::Refused { .. } => None,
    });
    sample.unwrap_or_default()
}
