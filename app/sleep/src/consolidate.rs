//! One night's decision: measure, reflect, try edits, keep what the gate lets through, and measure the end anew.
//! Changes no live file: documents come in as texts and go out as texts.

mod events;
mod fan_out;
mod gate;
mod measure;
mod night;
mod options;
mod outcome;
mod partition;
mod trial;

pub use events::{NightEvent, NightSink, Silent};
pub use fan_out::{Group, GroupOutcome, GroupSkill, consolidate_groups, group_tasks};
pub use gate::{Comparison, GateRule, Measured, compare};
pub use measure::measure_sets;
pub use options::{GateMode, NightOptions};
pub use outcome::{HoldoutRow, Measurement, NightError, NightOutcome};
pub use partition::{Parts, partition};

use crate::backend::{Backend, LostEdit};
use crate::evidence::Evidence;
use crate::task::TaskRecord;
use night::Night;
use skillopt_engine::ctx::RunCtx;
use std::sync::Arc;

/// What a night works on.
#[derive(Clone, Debug)]
pub struct NightInput {
    /// Tonight's tasks with their splits.
    pub tasks: Vec<TaskRecord>,
    /// The live skill.
    pub skill: String,
    /// The live memory; empty when there is none.
    pub memory: String,
    /// How the night goes.
    pub options: NightOptions,
    /// Tasks of earlier nights, the oldest first.
    pub archive: Vec<TaskRecord>,
    /// Edits that lost in earlier nights, the oldest first.
    pub rejected_before: Vec<LostEdit>,
    /// Who performs, judges and reflects.
    pub backend: Arc<dyn Backend>,
    /// The log.
    pub evidence: Arc<Evidence>,
    /// Who watches.
    pub events: Arc<dyn NightSink>,
    /// Cancel and pause.
    pub ctx: RunCtx,
}

/// Runs the night on its tasks. A cancelled night stops soon; calls in flight have some time to be answered and kept, so
/// that the same night run again goes on from there.
///
/// # Errors
/// [`NightError`]: nothing was decided then, and nothing follows about the skill.
pub async fn consolidate_night(input: NightInput) -> Result<NightOutcome, NightError> {
    // Dropping the night is safe: it holds nothing but what the ledger knows already.
    tokio::select! {
        outcome = run(&input) => outcome,
        never = input.ctx.abort_after_grace() => match never {},
    }
}

async fn run(input: &NightInput) -> Result<NightOutcome, NightError> {
    let mut night = Night::begin(input)?;
    night.measure_baseline().await?;
    night.train().await?;
    if input.options.evolve_skill {
        night.evolve(skillopt_domain::night::edit::Target::Skill).await?;
    }
    if input.options.evolve_memory {
        night.train_again().await?;
        night.evolve(skillopt_domain::night::edit::Target::Memory).await?;
    }
    night.try_carried().await?;
    night.slow_update().await?;
    night.measure_end().await?;
    night.measure_test().await?;
    Ok(night.finish())
}

#[cfg(test)]
mod tests;
