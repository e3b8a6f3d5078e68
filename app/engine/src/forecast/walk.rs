//! Goes through a planned run in one scenario, in the order of `train.rs`.

use super::known::{RoleModel, count};
use super::planned::{Planned, Reading, Tasks};
use super::scenario::Scenario;
use super::tally::{Calls, Tally};
use crate::aggregate::calls_of;
use crate::batches::tested_skills;
use crate::ports::Purpose;
use crate::prompts::Prompt;
use skillopt_domain::config::{LrControl, PairPolicy, SlowUpdateMode, UpdateMode};
use skillopt_domain::cost::CostPart;
use skillopt_domain::spend::Role;

/// Steps that are gone through one by one; each stands for several in longer runs.
const MOST_STEPS: u32 = 400;
/// Tokens that an edit adds to a skill.
const EDIT_TOKENS: f64 = 28.0;
/// Tokens that the optimizer is told about an earlier step, and of how many at most.
const STEP_TOKENS: f64 = 90.0;
const STEPS_TOLD: f64 = 12.0;
/// Tokens of guidance between epochs, and of the optimizer's memory.
const GUIDANCE_TOKENS: f64 = 150.0;

struct Walk<'a> {
    planned: &'a Planned<'a>,
    scenario: Scenario,
    tally: Tally,
    /// Tokens by which the skill has grown.
    growth: f64,
    /// Tokens of the optimizer's memory.
    memory: f64,
    /// Steps that the walk stands for with each that it goes through.
    times: f64,
}

/// What a run comes to in a scenario.
pub(super) fn walk(planned: &Planned<'_>, scenario: &Scenario) -> Tally {
    let total = planned.shape.total_steps;
    let n = total.clamp(1, MOST_STEPS);
    let times = f64::from(total) / f64::from(n);
    let tally = Tally::default();
    let mut walk = Walk { planned, scenario: *scenario, tally, growth: 0.0, memory: 0.0, times };
    walk.preflight();
    walk.measure(CostPart::Baseline, planned.selection, 1.0);
    let readings = planned.readings(scenario.failed, planned.target.reply(Purpose::Qa, 0.0));
    for k in 0..n {
        // The middle of the steps that this one stands for.
        let position = (f64::from(k) + 0.5) * times;
        let step: u32 = format!("{:.0}", position.ceil()).parse().unwrap_or(1);
        let has_memory = planned.ends.memories > 0 && step > 2 * planned.shape.steps_per_epoch;
        walk.memory = if has_memory { GUIDANCE_TOKENS } else { 0.0 };
        let at = usize::try_from(k).unwrap_or(0) % readings.len().max(1);
        walk.step(step, &readings.get(at).cloned().unwrap_or_default());
    }
    walk.times = 1.0;
    walk.epoch_ends();
    walk.finale();
    walk.tally
}

impl Walk<'_> {
    fn preflight(&mut self) {
        for role in Role::ALL {
            let model = self.model(role);
            let calls = Calls { n: 1.0, read: 20.0, written: model.reply(Purpose::Preflight, 0.0) };
            let ms = self.scenario.end.pick(model.latency_ms(Purpose::Preflight));
            self.tally.add(CostPart::Other, role, calls, ms);
        }
    }

    fn step(&mut self, step: u32, reading: &Reading) {
        let optimizer = &self.planned.input.config.optimizer;
        let is_python = self.planned.input.config.is_python();
        let items = (self.planned.most_items(step) * self.scenario.items).max(1.0);
        self.measure(CostPart::Rollout, self.planned.step, 1.0);
        let patches = self.reflect(step, reading, items);
        self.merge(patches, items);
        let proposed = if patches.iter().sum::<usize>() > 0 { 1.0 } else { 0.0 };
        let skill = self.skill();
        if optimizer.budget_control() == LrControl::Autonomous {
            self.ask(
                CostPart::Select,
                Purpose::LrControl,
                Prompt::LrControl,
                proposed,
                (skill + items * 60.0, items),
            );
        }
        if optimizer.budget_control() != LrControl::None || is_python {
            let n = proposed * self.scenario.needed;
            self.ask(
                CostPart::Select,
                Purpose::Ranking,
                Prompt::Ranking,
                n,
                (skill + items * 120.0, items),
            );
        }
        if optimizer.update_mode == UpdateMode::RewriteFromSuggestions {
            self.ask(
                CostPart::Update,
                Purpose::Rewrite,
                Prompt::Rewrite,
                proposed,
                (skill + items * 80.0, items),
            );
        }
        if optimizer.skill_aware().is_some_and(|aware| aware.consolidate_above.is_some()) {
            let n = self.scenario.needed;
            self.ask(
                CostPart::Update,
                Purpose::AppendixConsolidate,
                Prompt::Appendix,
                n,
                (300.0, items),
            );
        }
        let added = items * EDIT_TOKENS;
        self.growth += added;
        self.measure(CostPart::Evaluate, self.planned.selection, self.scenario.measured);
        self.growth += added * (self.scenario.accepted * self.times - 1.0);
    }

    /// The analysts; returns the patches from failures and from successes.
    fn reflect(&mut self, step: u32, reading: &Reading, items: f64) -> [usize; 2] {
        let told = f64::from(step - 1).min(STEPS_TOLD) * STEP_TOKENS + self.growth + self.memory;
        let purposes = [Purpose::AnalystFailure, Purpose::AnalystSuccess];
        for (at, purpose) in purposes.into_iter().enumerate() {
            let n = count(reading.calls[at]);
            let read = told.mul_add(n, reading.tokens[at]);
            self.calls(CostPart::Reflect, purpose, n, (read, items));
        }
        reading.calls.map(|calls| {
            let patches = (count(calls) * self.scenario.proposes).round();
            format!("{patches:.0}").parse().unwrap_or(0)
        })
    }

    fn merge(&mut self, [failure, success]: [usize; 2], items: f64) {
        let group = usize::try_from(self.planned.input.config.gradient.merge_batch_size)
            .unwrap_or(2)
            .max(2);
        let sides = [
            (failure, Purpose::MergeFailure, Prompt::MergeFailure),
            (success, Purpose::MergeSuccess, Prompt::MergeSuccess),
        ];
        let patch = self.planned.optimizer.reply(Purpose::AnalystFailure, items) * 1.3;
        for (patches, purpose, prompt) in sides {
            let n = count(calls_of(patches, group));
            let read = self.skill() + self.memory + count(patches.min(group)) * patch;
            self.ask(CostPart::Aggregate, purpose, prompt, n, (read, items));
        }
        if failure > 0 && success > 0 {
            let read = self.skill() + self.memory + 2.0 * patch;
            self.ask(
                CostPart::Aggregate,
                Purpose::MergeFinal,
                Prompt::MergeFinal,
                1.0,
                (read, items),
            );
        }
    }

    /// Tasks with the skill as it is, as a share of all of them.
    fn measure(&mut self, part: CostPart, tasks: Tasks, share: f64) {
        let model = &self.planned.target;
        let n = tasks.n * share * self.times;
        let end = self.scenario.end;
        let calls = Calls {
            n,
            read: self.growth.mul_add(tasks.n, tasks.read)
                * share
                * self.times
                * end.scale(model.prompt_doubt()),
            written: n * model.reply(Purpose::Qa, 0.0) * end.scale(model.reply_doubt()),
        };
        let rounds = (tasks.n / model.workers).ceil() * share * self.times;
        self.tally.add(part, Role::Target, calls, rounds * end.pick(model.latency_ms(Purpose::Qa)));
    }

    /// Optimizer calls that read their system message, and so many tokens each besides.
    fn ask(
        &mut self,
        part: CostPart,
        purpose: Purpose,
        prompt: Prompt,
        n: f64,
        (read, items): (f64, f64),
    ) {
        let read = (self.planned.system(prompt) + read) * n;
        self.calls(part, purpose, n, (read, items));
    }

    /// Optimizer calls that read so many tokens together.
    fn calls(&mut self, part: CostPart, purpose: Purpose, n: f64, (read, items): (f64, f64)) {
        let (model, end) = (&self.planned.optimizer, self.scenario.end);
        let times = (1.0 + self.scenario.reasked) * self.times;
        let writes_skill = match purpose {
            Purpose::Rewrite => true,
            Purpose::AnalystFailure
            | Purpose::AnalystSuccess
            | Purpose::MergeFailure
            | Purpose::MergeSuccess
            | Purpose::MergeFinal => {
                self.planned.input.config.optimizer.update_mode == UpdateMode::FullRewriteMinibatch
            }
            _ => false,
        };
        let whole = if writes_skill { self.skill() + items * EDIT_TOKENS } else { 0.0 };
        let written = model.reply(purpose, items).max(whole * 1.1);
        let calls = Calls {
            n: n * times,
            read: read * times * end.scale(model.prompt_doubt()),
            written: n * written * times * end.scale(model.reply_doubt()),
        };
        let rounds = (n / model.workers).ceil().min(n) * times;
        self.tally.add(part, Role::Optimizer, calls, rounds * end.pick(model.latency_ms(purpose)));
    }

    fn epoch_ends(&mut self) {
        let config = &self.planned.input.config;
        let ends = &self.planned.ends;
        let slow_part = |slow: bool| if slow { CostPart::SlowUpdate } else { CostPart::MetaSkill };
        let slow = ends.slow_updates > 0;
        // Once for both, in the part of the one that comes first.
        let tasks = self.compared_tasks();
        for _ in 0..ends.comparisons.min(u64::from(config.train.num_epochs)) {
            let read = self.planned.train_task * tasks;
            self.measure(slow_part(slow), Tasks { n: tasks, read }, 1.0);
        }
        let shown = f64::from(config.optimizer.longitudinal.samples);
        // Pairs that pass with both skills are only listed.
        let attempt = (self.planned.train_task - self.planned.skill).max(0.0);
        let read = 2.0 * self.skill() + shown * attempt.mul_add(0.6, 30.0);
        let forced = config.is_python() && config.optimizer.slow_update == SlowUpdateMode::Forced;
        for _ in 0..ends.slow_updates {
            self.ask(
                CostPart::SlowUpdate,
                Purpose::SlowUpdate,
                Prompt::SlowUpdate,
                1.0,
                (read, 1.0),
            );
            let share = if forced {
                0.0
            } else {
                self.scenario.measured * self.scenario.end.pick([0.0, 0.75, 1.0])
            };
            self.measure(CostPart::SlowUpdate, self.planned.selection, share);
        }
        for _ in 0..ends.memories {
            self.ask(
                CostPart::MetaSkill,
                Purpose::MetaSkill,
                Prompt::MetaSkill,
                1.0,
                (read + self.memory, 1.0),
            );
        }
    }

    /// Attempts of one comparison: each task with both skills, those that changed once more. Policies that top up may go
    /// through the whole split. Attempts that the first steps of the epoch made already are in the ledger.
    fn compared_tasks(&self) -> f64 {
        let config = &self.planned.input.config;
        let n_train = count(self.planned.input.splits.train().len());
        let samples = f64::from(config.optimizer.longitudinal.samples).min(n_train);
        let tasks = match config.optimizer.longitudinal.policy {
            PairPolicy::Mixed => samples,
            PairPolicy::Changed | PairPolicy::Unchanged => {
                (n_train - samples).mul_add(self.scenario.needed, samples)
            }
        };
        let again = if config.is_python() { 0.0 } else { self.scenario.changed };
        let fresh = self.scenario.end.pick([0.3, 0.7, 1.0]);
        2.0 * tasks * fresh * (1.0 + again)
    }

    fn finale(&mut self) {
        let config = &self.planned.input.config;
        if !config.evaluation.eval_test {
            return;
        }
        if config.is_python() {
            self.measure(CostPart::FinalTest, self.planned.selection, self.scenario.needed);
        }
        let most = f64::from(u32::try_from(tested_skills(config)).unwrap_or(u32::MAX));
        // The initial skill is always measured, the best one when it is another.
        let skills = self.scenario.end.pick([1.0, 2.0, most]);
        let grown = self.growth;
        self.growth = grown / 2.0;
        self.measure(CostPart::FinalTest, self.planned.test, skills);
    }

    /// The skill in tokens of the optimizer.
    fn skill(&self) -> f64 {
        self.planned.skill + self.growth
    }

    fn model(&self, role: Role) -> &RoleModel<'_> {
        match role {
            Role::Target => &self.planned.target,
            Role::Optimizer => &self.planned.optimizer,
        }
    }
}
