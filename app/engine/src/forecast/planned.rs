//! The run as it is planned: steps, batches, the sizes of its prompts, and what its analysts would read.

use super::ForecastInput;
use super::known::{RoleModel, count};
use crate::batches::{Batch, EpochEnds, PlanError, RunShape, epoch_batches, plan};
use crate::minibatch::Minibatches;
use crate::ports::{Benchmark, RolloutRecord, Task};
use crate::prompts::{Prompt, PromptVars};
use crate::reflect::{Briefing, Frame, ScoredBatch, grouping};
use crate::run::first;
use crate::train::{most_proposed, scheduled};
use crate::trajectory::weight;
use skillopt_domain::cost::CostPart;
use skillopt_domain::edit::SourceType;
use skillopt_domain::outcome::{Outcome, TaskOutcome};
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::spend::Role;

/// Steps of an epoch whose minibatches are made for the forecast. They stand for the others.
const MOST_STEPS_READ: usize = 16;

/// Tasks with the tokens of their prompts, under the initial skill.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tasks {
    pub(super) n: f64,
    pub(super) read: f64,
}

/// What the analysts of a step read of trajectories.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// Calls over failures and over successes.
    pub(super) calls: [usize; 2],
    /// Tokens that they read, prompts and the initial skill included.
    pub(super) tokens: [f64; 2],
}

/// See the module.
#[derive(Debug)]
pub(super) struct Planned<'a> {
    pub(super) input: ForecastInput<'a>,
    pub(super) shape: RunShape,
    pub(super) target: RoleModel<'a>,
    pub(super) optimizer: RoleModel<'a>,
    /// One step in the mean.
    pub(super) step: Tasks,
    /// One task of a comparison between epochs in the mean.
    pub(super) train_task: f64,
    pub(super) selection: Tasks,
    pub(super) test: Tasks,
    pub(super) ends: EpochEnds,
    /// The initial skill in tokens of the optimizer.
    pub(super) skill: f64,
    benchmark: &'a dyn Benchmark,
    batches: Vec<Batch>,
}

impl<'a> Planned<'a> {
    pub(super) fn of(
        input: ForecastInput<'a>,
        benchmark: &'a dyn Benchmark,
    ) -> Result<Self, PlanError> {
        let (config, splits) = (input.config, input.splits);
        let n = |tasks: &[Task]| u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let shape = plan(config, n(splits.train()), n(splits.selection()), n(splits.test()))?;
        let at_once = |workers: u32| workers.min(config.max_concurrency);
        let target = RoleModel::new(
            Role::Target,
            &config.target,
            &input.known.target,
            at_once(config.env.workers),
        );
        let optimizer = RoleModel::new(
            Role::Optimizer,
            &config.optimizer_model,
            &input.known.optimizer,
            at_once(config.gradient.analyst_workers),
        );
        let size = |task: &Task| -> f64 {
            let prompt = benchmark.prompt(task, input.skill.text());
            prompt.iter().map(|message| target.tokens(&message.content)).sum()
        };
        let all =
            |tasks: &[Task]| Tasks { n: count(tasks.len()), read: tasks.iter().map(size).sum() };
        let train: Vec<f64> = splits.train().iter().map(size).collect();
        let batches = epoch_batches(&config.train, 1, train.len());
        let drawn = || batches.iter().flat_map(|batch| &batch.tasks);
        let steps = f64::from(shape.steps_per_epoch.max(1));
        let step = Tasks {
            n: count(drawn().count()) / steps,
            read: drawn().map(|at| train[*at]).sum::<f64>() / steps,
        };
        Ok(Self {
            shape,
            step,
            train_task: train.iter().sum::<f64>() / count(train.len()).max(1.0),
            selection: all(first(splits.selection(), config.evaluation.sel_env_num)),
            test: all(first(splits.test(), config.evaluation.test_env_num)),
            ends: EpochEnds::of(config),
            skill: optimizer.tokens(input.skill.text()),
            input,
            target,
            optimizer,
            benchmark,
            batches,
        })
    }

    /// How often a part comes.
    pub(super) fn units(&self, part: CostPart) -> u32 {
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        match part {
            CostPart::Baseline | CostPart::FinalTest | CostPart::Other => 1,
            CostPart::SlowUpdate => small(self.ends.slow_updates),
            CostPart::MetaSkill => small(self.ends.memories),
            CostPart::Rollout
            | CostPart::Reflect
            | CostPart::Aggregate
            | CostPart::Select
            | CostPart::Update
            | CostPart::Evaluate => self.shape.total_steps,
        }
    }

    pub(super) fn assumptions(&self) -> Vec<String> {
        let mut all = vec![
            "half of the attempts fail, 9 of 10 steps measure a candidate, 3 of 10 candidates stay; \
             the range goes from few to nearly all of them"
                .to_owned(),
        ];
        all.extend(self.target.assumptions());
        all.extend(self.optimizer.assumptions());
        all
    }

    /// The most items that a reply may hold in a step (from 1); those of the highest budget where nothing limits them.
    pub(super) fn most_items(&self, step: u32) -> f64 {
        let config = &self.input.config;
        let most = most_proposed(config, scheduled(&config.optimizer, step, self.shape));
        f64::from(most.unwrap_or(config.optimizer.learning_rate))
    }

    /// Tokens of a system message; nothing for a prompt that cannot be put together, which the run reports.
    pub(super) fn system(&self, prompt: Prompt) -> f64 {
        let vars =
            PromptVars { mode: self.input.config.optimizer.update_mode, ..PromptVars::default() };
        let text = self.input.prompts.system_message(prompt, vars).unwrap_or_default();
        self.optimizer.tokens(&text)
    }

    /// What analysts read in steps of an epoch when a share of the attempts fails; `reply` is the length of an answer of the
    /// target in tokens. The steps are spread over the epoch.
    pub(super) fn readings(&self, failed: f64, reply: f64) -> Vec<Reading> {
        let accumulation =
            usize::try_from(self.input.config.train.accumulation).unwrap_or(1).max(1);
        let steps: Vec<&[Batch]> = self.batches.chunks(accumulation).collect();
        let every = steps.len().div_ceil(MOST_STEPS_READ).max(1);
        let read = |(at, batches): (usize, &&[Batch])| self.reading(at, batches, failed, reply);
        steps.iter().enumerate().step_by(every).map(read).collect()
    }

    fn reading(&self, at: usize, batches: &[Batch], failed: f64, reply: f64) -> Reading {
        let (config, prompts) = (self.input.config, self.input.prompts);
        let step = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let briefing = Briefing {
            skill: self.input.skill,
            max_items: most_proposed(config, scheduled(&config.optimizer, step, self.shape)),
            previous_steps: "",
            memory: "",
        };
        let frame = |source| Frame::of(config, prompts, &briefing, source);
        let (Ok(failure), Ok(success)) = (frame(SourceType::Failure), frame(SourceType::Success))
        else {
            return Reading::default();
        };
        let grouping = grouping(config, [&failure, &success]);
        let scored: Vec<ScoredBatch> =
            batches.iter().map(|batch| self.scored(batch, failed, reply)).collect();
        let mut minibatches = Minibatches::default();
        for batch in &scored {
            minibatches.add(batch, &grouping);
        }
        let mut reading = Reading::default();
        for minibatch in &minibatches.all {
            let (at, frame) = match minibatch.source {
                SourceType::Failure => (0, &failure),
                SourceType::Success => (1, &success),
            };
            let size = weight(&frame.system) + weight(&frame.head) + weight(&minibatch.text);
            reading.calls[at] += 1;
            reading.tokens[at] += self.optimizer.tokens_of_weight(size);
        }
        reading
    }

    /// A batch of which the first tasks failed.
    fn scored(&self, batch: &Batch, failed: f64, reply: f64) -> ScoredBatch {
        let n_failed = (count(batch.tasks.len()) * failed).round();
        let record = |(at, task): (usize, &usize)| self.record(*task, count(at) >= n_failed, reply);
        let records = batch.tasks.iter().enumerate().map(record).collect();
        ScoredBatch { seed: batch.seed, dir: String::new(), records }
    }

    /// An attempt that nobody made: all but the reply is as it would be.
    fn record(&self, at: usize, passed: bool, reply: f64) -> RolloutRecord {
        let task = &self.input.splits.train()[at];
        let text = "x".repeat(format!("{:.0}", reply * 4.0).parse().unwrap_or(0));
        let graded = self.benchmark.grade(task, &text, false);
        let score = Score::from_bool(passed);
        RolloutRecord {
            outcome: TaskOutcome {
                task: task.id.clone(),
                title: task.title.clone(),
                task_type: task.task_type.clone(),
                outcome: Outcome::Scored {
                    score: TaskScore { hard: score, soft: score },
                    predicted: String::new(),
                    fail_reason: if passed { String::new() } else { "x".repeat(60) },
                    truncated: false,
                },
                cached: false,
                call: None,
            },
            messages: self.benchmark.prompt(task, ""),
            steps: Vec::new(),
            reply: text,
            evaluation_note: graded.evaluation_note,
        }
    }
}
