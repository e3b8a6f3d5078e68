//! Stage 6 and every other measurement: a skill on a split, once. A text that was measured is never
//! measured again in the same run, so that no candidate gets a second throw of the dice.

use crate::ports::Task;
use crate::rollout::{RolloutOrder, Rollouts, roll_out};
use crate::run::{Run, TrainError};
use skillopt_domain::event::Measured;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::Phase;
use skillopt_domain::skill::SkillDoc;
use std::collections::HashMap;

/// Where a measurement belongs.
#[derive(Debug)]
pub(crate) struct MeasureOrder<'a> {
    pub(crate) skill: &'a SkillDoc,
    pub(crate) tasks: &'a [Task],
    pub(crate) purpose: RolloutPurpose,
    pub(crate) phase: Phase,
    pub(crate) step: u32,
    pub(crate) dir: String,
    pub(crate) repeat: u32,
}

/// Measures a skill. The draw is that of epoch 0.
pub(crate) async fn measure(
    run: &Run<'_>,
    order: MeasureOrder<'_>,
) -> Result<Rollouts, TrainError> {
    let purpose = order.purpose.as_str();
    let key = match order.repeat {
        0 => format!("{purpose}/{}", order.skill.sha()),
        repeat => format!("{purpose}/{}/{repeat}", order.skill.sha()),
    };
    roll_out(
        run,
        RolloutOrder {
            key,
            dir: order.dir,
            purpose: order.purpose,
            phase: order.phase,
            step: order.step,
            skill: order.skill,
            tasks: order.tasks.iter().collect(),
            sample: run.sample(0, order.repeat),
        },
    )
    .await
}

/// A measurement in the words of the journal.
pub(crate) fn measured(run: &Run<'_>, rollouts: &Rollouts) -> Measured {
    let evaluation = &run.input.config.evaluation;
    let score = rollouts.mean();
    Measured {
        skill: rollouts.set.skill.clone(),
        score,
        gate_score: score.map(|mean| {
            evaluation.gate_metric.project(mean.hard, mean.soft, evaluation.gate_mixed_weight)
        }),
        counts: rollouts.counts(),
        set: rollouts.set.key.clone(),
    }
}

/// Measurements on the selection split by text.
#[derive(Debug, Default)]
pub(crate) struct SelectionCache {
    by_skill: HashMap<Sha256Hex, Rollouts>,
}

impl SelectionCache {
    pub(crate) fn get(&self, skill: &Sha256Hex) -> Option<&Rollouts> {
        self.by_skill.get(skill)
    }

    /// Keeps outcomes only; the conversations are in the store.
    pub(crate) fn insert(&mut self, mut rollouts: Rollouts) {
        rollouts.records.clear();
        self.by_skill.insert(rollouts.set.skill.clone(), rollouts);
    }
}
