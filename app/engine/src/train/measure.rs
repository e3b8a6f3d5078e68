//! Measuring a skill outside a training run.

use super::start::preflight_role;
use super::{Ports, TrainFailure, TrainInput};
use crate::ctx::RunCtx;
use crate::evaluate::{MeasureOrder, measure as measure_skill};
use crate::outage::tell_outages;
use crate::rollout::WhenBroken;
use crate::run::{Run, TrainError};
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose, RolloutSet};
use skillopt_domain::run::Phase;
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::{Role, SpendByRole};

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
    /// Working time in milliseconds.
    pub active_ms: u64,
}

/// Measures a skill on a split, after one preflight call of the target.
///
/// # Errors
/// As [`super::train`].
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
        tasks: match input.split {
            crate::splits::SplitName::Train => input.train.splits.train(),
            crate::splits::SplitName::Selection => run.selection(),
            crate::splits::SplitName::Test => run.test(),
        },
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
        error = tell_outages(ports) => Err(TrainError::Store(error)),
    };
    let (spend, active_ms) = (run.calls.meter.spend(), run.calls.meter.active_ms());
    match result {
        Ok(rollouts) => Ok(Measurement {
            score: rollouts.mean(),
            counts: rollouts.counts(),
            set: rollouts.set,
            spend,
            active_ms,
        }),
        Err(error) => Err(TrainFailure { error, spend, active_ms }),
    }
}
