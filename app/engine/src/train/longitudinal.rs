//! Between epochs: the same train tasks are tried with the skill of the epoch before and with the current one, and
//! the pairs are sorted by what became of them. A change must show again in a second draw, else it is noise.

use super::TrainState;
use crate::ports::{RolloutRecord, Task};
use crate::prompts::one_line;
use crate::python::is_failure;
use crate::rng::PythonRandom;
use crate::rollout::{RolloutOrder, Rollouts, WhenBroken, roll_out};
use crate::run::{Run, TrainError};
use crate::trajectory::{Room, write_trajectory};
use serde_json::{Value, json};
use skillopt_domain::config::PairPolicy;
use skillopt_domain::epoch::{Comparison, PairCategory, PairGroup};
use skillopt_domain::outcome::{Outcome, RolloutPurpose, TaskOutcome};
use skillopt_domain::run::Phase;
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// All trajectories of a comparison together, in characters: more does not fit beside two skills.
const MAX_CHARS: usize = 160_000;

/// What is compared, and where it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompareOrder<'a> {
    pub(super) epoch: u32,
    pub(super) phase: Phase,
    /// Directory in the run folder.
    pub(super) dir: &'a str,
}

/// One task tried with both skills.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    category: PairCategory,
    previous: RolloutRecord,
    current: RolloutRecord,
}

/// Pairs that the optimizer may see, and what the journal says of them.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    pub(super) pairs: Vec<Pair>,
    pub(super) comparison: Comparison,
}

/// Tries tasks until there are enough pairs of the kind that the config asks for, or no tasks are left.
pub(super) async fn compare(
    run: &Run<'_>,
    state: &TrainState,
    order: CompareOrder<'_>,
) -> Result<Pairs, TrainError> {
    let config = run.input.config.optimizer.longitudinal;
    let wanted = usize::try_from(config.samples).unwrap_or(usize::MAX);
    let mut tasks = drawn(run, order.epoch);
    let mut work =
        Work { run, state, order, pairs: Vec::new(), comparison: blank(run, state, order) };
    let rest = tasks.split_off(tasks.len().min(wanted));
    work.try_tasks(&tasks, "").await?;
    work.keep_wanted(config.policy);
    // Two equal texts differ in nothing: trying more tasks would only find noise.
    let differ = state.epoch_skill.text() != state.skills.current.text();
    // The Python system looks for changes only, one task at a time, whatever the texts are.
    let is_python = run.is_python();
    let tops_up = match config.policy {
        PairPolicy::Mixed => false,
        PairPolicy::Changed => differ || is_python,
        PairPolicy::Unchanged => differ && !is_python,
    };
    let (mut rest, mut round) = (rest.as_slice(), 0);
    while tops_up && !rest.is_empty() {
        let missing = wanted.saturating_sub(work.pairs.len());
        if missing == 0 {
            break;
        }
        let workers = usize::try_from(run.input.config.env.workers).unwrap_or(1);
        let size = if is_python { 1 } else { missing.max(workers) };
        let (next, later) = rest.split_at(rest.len().min(size));
        round += 1;
        work.try_tasks(next, &format!("topup_{round}/")).await?;
        work.comparison.n_topped_up += count(next.len());
        work.keep_wanted(config.policy);
        rest = later;
    }
    work.pairs.truncate(wanted);
    Ok(work.finish())
}

/// The train tasks in the order in which they are tried: shuffled with `seed + epoch * 2000`.
fn drawn<'a>(run: &Run<'a>, epoch: u32) -> Vec<&'a Task> {
    let mut tasks: Vec<&Task> = run.input.splits.train().iter().collect();
    let seed = run.input.config.train.seed.wrapping_add(u64::from(epoch) * 2000);
    PythonRandom::new(seed).shuffle(&mut tasks);
    tasks
}

fn blank(run: &Run<'_>, state: &TrainState, order: CompareOrder<'_>) -> Comparison {
    Comparison {
        epoch: order.epoch,
        previous: state.epoch_skill.sha(),
        current: state.skills.current.sha(),
        policy: run.input.config.optimizer.longitudinal.policy,
        groups: Vec::new(),
        n_tried: 0,
        n_topped_up: 0,
        n_unsteady: 0,
        n_unscored: 0,
        sets: Vec::new(),
    }
}

struct Work<'a, 'b> {
    run: &'a Run<'b>,
    state: &'a TrainState,
    order: CompareOrder<'a>,
    pairs: Vec<Pair>,
    comparison: Comparison,
}

impl Work<'_, '_> {
    /// Tries tasks with both skills, and those that changed once more.
    async fn try_tasks(&mut self, tasks: &[&Task], part: &str) -> Result<(), TrainError> {
        self.comparison.n_tried += count(tasks.len());
        let mut fresh = self.pairs_of(tasks, part, 0).await?;
        self.comparison.n_unscored += count(tasks.len() - fresh.len());
        let is_changed =
            |task: &&&Task| fresh.iter().any(|pair| pair.category.is_change() && pair.is_of(task));
        let changed: Vec<&Task> = tasks.iter().filter(is_changed).copied().collect();
        if !changed.is_empty() && !self.run.is_python() {
            let again = self.pairs_of(&changed, part, 1).await?;
            let is_steady = |pair: &Pair| {
                !pair.category.is_change()
                    || again.iter().any(|other| {
                        other.category == pair.category
                            && other.previous.outcome.task == pair.previous.outcome.task
                    })
            };
            let before = fresh.len();
            fresh.retain(is_steady);
            self.comparison.n_unsteady += count(before - fresh.len());
        }
        self.pairs.extend(fresh);
        Ok(())
    }

    /// Pairs of the tasks that were scored with both skills, in task order.
    async fn pairs_of(
        &mut self,
        tasks: &[&Task],
        part: &str,
        repeat: u32,
    ) -> Result<Vec<Pair>, TrainError> {
        let (run, state) = (self.run, self.state);
        let draw = if repeat == 0 { String::new() } else { format!("again_{repeat}/") };
        let previous = self
            .roll_out(run, &state.epoch_skill, tasks, &format!("{part}{draw}rollout_prev"), repeat)
            .await?;
        let current = self
            .roll_out(
                run,
                &state.skills.current,
                tasks,
                &format!("{part}{draw}rollout_curr"),
                repeat,
            )
            .await?;
        let both = previous.records.into_iter().zip(current.records);
        let is_python = run.is_python();
        Ok(both.filter_map(|(previous, current)| Pair::of(previous, current, is_python)).collect())
    }

    async fn roll_out(
        &mut self,
        run: &Run<'_>,
        skill: &SkillDoc,
        tasks: &[&Task],
        part: &str,
        repeat: u32,
    ) -> Result<Rollouts, TrainError> {
        let key = format!("epoch/{:04}/{part}", self.order.epoch);
        self.comparison.sets.push(key.clone());
        let order = RolloutOrder {
            key,
            dir: format!("{}/{part}", self.order.dir),
            purpose: RolloutPurpose::Longitudinal,
            phase: self.order.phase,
            step: self.state.step,
            skill,
            tasks: tasks.to_vec(),
            sample: run.sample(self.order.epoch, repeat),
            when_broken: WhenBroken::FailRun,
        };
        roll_out(run, order).await
    }

    fn keep_wanted(&mut self, policy: PairPolicy) {
        self.pairs.retain(|pair| match policy {
            PairPolicy::Mixed => true,
            PairPolicy::Changed => pair.category.is_change(),
            PairPolicy::Unchanged => !pair.category.is_change(),
        });
    }

    fn finish(self) -> Pairs {
        let Self { pairs, mut comparison, .. } = self;
        comparison.groups = PairCategory::ALL
            .into_iter()
            .map(|category| PairGroup {
                category,
                tasks: pairs
                    .iter()
                    .filter(|pair| pair.category == category)
                    .map(|pair| pair.current.outcome.task.clone())
                    .collect(),
            })
            .collect();
        Pairs { pairs, comparison }
    }
}

impl Pair {
    /// `None` when one of the attempts has no score: nothing about a skill follows from it.
    fn of(previous: RolloutRecord, current: RolloutRecord, is_python: bool) -> Option<Self> {
        let passed = |record: &RolloutRecord| match is_python {
            true => is_failure(&record.outcome).map(|failed| !failed),
            false => record.outcome.outcome.score().map(|score| score.hard.get() >= 1.0),
        };
        let category = PairCategory::of(passed(&previous)?, passed(&current)?);
        Some(Self { category, previous, current })
    }

    fn is_of(&self, task: &Task) -> bool {
        self.current.outcome.task == task.id
    }

    fn write(&self, out: &mut String, room: Room) {
        // Writing to a String cannot fail.
        for (word, record) in [("previous", &self.previous), ("current", &self.current)] {
            let _ = writeln!(out, "With the {word} skill:");
            write_trajectory(out, record, room);
        }
    }

    fn row(&self) -> Value {
        json!({
            "id": self.current.outcome.task,
            "task": self.current.outcome.title,
            "category": self.category.as_str(),
            "prev": side(&self.previous.outcome),
            "curr": side(&self.current.outcome),
        })
    }
}

fn side(outcome: &TaskOutcome) -> Value {
    match &outcome.outcome {
        Outcome::Scored { score, predicted, fail_reason, .. } => json!({
            "hard": score.hard.get(),
            "soft": score.soft.get(),
            "predicted_answer": predicted,
            "fail_reason": fail_reason,
        }),
        _ => Value::Null,
    }
}

impl Pairs {
    /// All pairs as text for the optimizer, the most urgent first. Stable successes are only listed.
    pub(super) fn text(&self) -> String {
        let is_shown = |pair: &&Pair| pair.category != PairCategory::StableSuccess;
        let n_shown = self.pairs.iter().filter(is_shown).count();
        let room = Room::shared(MAX_CHARS, n_shown * 2);
        let mut out = String::new();
        for category in PairCategory::ALL {
            let pairs: Vec<&Pair> =
                self.pairs.iter().filter(|pair| pair.category == category).collect();
            let _ = writeln!(out, "## {} ({})", heading(category), pairs.len());
            for pair in pairs {
                let outcome = &pair.current.outcome;
                let (id, title) = (one_line(outcome.task.as_str()), one_line(&outcome.title));
                let _ = writeln!(out, "### Task id {id}\nTask: {title}");
                if category != PairCategory::StableSuccess {
                    pair.write(&mut out, room);
                }
            }
            out.push('\n');
        }
        out
    }

    /// `comparison_pairs.json`.
    pub(super) fn rows(&self) -> Vec<Value> {
        self.pairs.iter().map(Pair::row).collect()
    }

    /// Means with the previous and with the current skill; `None` without any pair.
    pub(super) fn means(&self) -> Option<(MeanScore, MeanScore)> {
        let mean = |pick: fn(&Pair) -> &RolloutRecord| {
            MeanScore::of(self.pairs.iter().filter_map(|pair| pick(pair).outcome.outcome.score()))
        };
        mean(|pair| &pair.previous).zip(mean(|pair| &pair.current))
    }

    /// Tasks that are shown.
    pub(super) fn len(&self) -> u32 {
        count(self.pairs.len())
    }
}

fn heading(category: PairCategory) -> &'static str {
    match category {
        PairCategory::Regressed => "Regressed: passed with the previous skill, fail now",
        PairCategory::PersistentFail => "Persistent failures: fail with both",
        PairCategory::Improved => "Improved: failed with the previous skill, pass now",
        PairCategory::StableSuccess => "Stable successes: pass with both",
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
