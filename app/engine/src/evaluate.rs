//! Stage 6 and every other measurement: a skill on a split, once. A text that was measured is never
//! measured again in the same run, so that no candidate gets a second throw of the dice.

use crate::gate::bonus_of;
use crate::ports::Task;
use crate::rollout::{RolloutOrder, Rollouts, WhenBroken, roll_out};
use crate::run::{Run, TrainError};
use skillopt_domain::event::Measured;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose, RolloutSet};
use skillopt_domain::run::Phase;
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use std::collections::VecDeque;

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
    pub(crate) when_broken: WhenBroken,
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
            when_broken: order.when_broken,
        },
    )
    .await
}

/// A measurement in the words of the journal.
pub(crate) fn measured(run: &Run<'_>, skill: &SkillDoc, set: &RolloutSet) -> Measured {
    let evaluation = &run.input.config.evaluation;
    let score = MeanScore::of(set.outcomes.iter().filter_map(|outcome| outcome.outcome.score()));
    Measured {
        skill: set.skill.clone(),
        score,
        gate_score: score
            .map(|mean| evaluation.project(mean.hard, mean.soft) + bonus_of(evaluation, skill)),
        counts: OutcomeCounts::of(&set.outcomes),
        set: set.key.clone(),
        cost: None,
    }
}

/// Candidates whose measurements are kept in memory. An older one is read from the journal again.
const MAX_CACHED: usize = 256;

/// Measurements on the selection split by text. Only sound ones: what broke is measured again.
#[derive(Debug, Default)]
pub(crate) struct SelectionCache {
    sets: VecDeque<RolloutSet>,
}

impl SelectionCache {
    pub(crate) fn get(&self, skill: &Sha256Hex) -> Option<&RolloutSet> {
        self.sets.iter().find(|set| set.skill == *skill)
    }

    /// Keeps a set; the oldest that is not in `needed` goes when there are too many.
    pub(crate) fn insert(&mut self, set: RolloutSet, needed: [&Sha256Hex; 2]) {
        if self.sets.len() >= MAX_CACHED {
            let oldest = self.sets.iter().position(|set| !needed.contains(&&set.skill));
            self.sets.remove(oldest.unwrap_or_default());
        }
        self.sets.push_back(set);
    }
}
