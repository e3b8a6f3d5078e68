//! What happens between epochs: skills are compared, guidance is written into the skill and gated, and the
//! optimizer's memory is renewed. The first epoch has nothing to compare with.

use super::TrainState;
use super::longitudinal::{CompareOrder, Pairs, compare};
use super::memory::{MemoryOrder, renew};
use super::python::inject_placeholder;
use super::slow_update::{SlowOrder, update_slowly};
use crate::run::{Run, TrainError};
use serde_json::json;
use skillopt_domain::config::SlowUpdateMode;
use skillopt_domain::event::EventKind;
use skillopt_domain::run::Phase;
use skillopt_domain::spend::{SpendByRole, Spent};
use std::time::Duration;

/// Ends an epoch.
pub(super) async fn end_epoch(
    run: &Run<'_>,
    state: &mut TrainState,
    epoch: u32,
) -> Result<(), TrainError> {
    let config = &run.input.config;
    let slow = config.optimizer.slow_update != SlowUpdateMode::Off;
    // The last epoch's memory would have no reader.
    let memory = config.optimizer.meta_skill && epoch < config.train.num_epochs;
    if epoch < 2 {
        skip_first(run, epoch, slow && !run.is_python(), memory).await?;
        if slow && run.is_python() {
            inject_placeholder(run, state, epoch).await?;
        }
    } else if slow || memory {
        compare_and_write(run, state, epoch, Wanted { slow, memory }).await?;
    }
    state.epoch_skill = state.skills.current.clone();
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    slow: bool,
    memory: bool,
}

async fn compare_and_write(
    run: &Run<'_>,
    state: &mut TrainState,
    epoch: u32,
    wanted: Wanted,
) -> Result<(), TrainError> {
    let before = state.skills.current.clone();
    let stopwatch = Stopwatch::start(run);
    let (phase, folder) = match wanted.slow {
        true => (Phase::SlowUpdate { epoch }, "slow_update"),
        false => (Phase::MetaSkill { epoch }, "meta_skill"),
    };
    run.emit(&key(epoch, &format!("phase/{folder}")), EventKind::PhaseStarted(phase)).await?;
    let dir = format!("{folder}/epoch_{epoch:02}");
    let pairs = compare(run, state, CompareOrder { epoch, phase, dir: &dir }).await?;
    keep_pairs(run, epoch, &dir, &pairs).await?;
    if wanted.slow {
        update_slowly(run, state, SlowOrder { epoch, pairs: &pairs, stopwatch }).await?;
    }
    if wanted.memory {
        let stopwatch = if wanted.slow { Stopwatch::start(run) } else { stopwatch };
        if wanted.slow {
            let phase = EventKind::PhaseStarted(Phase::MetaSkill { epoch });
            run.emit(&key(epoch, "phase/meta_skill"), phase).await?;
        }
        let order = MemoryOrder { epoch, pairs: &pairs, current: &before, stopwatch };
        renew(run, state, order).await?;
    }
    Ok(())
}

async fn keep_pairs(run: &Run<'_>, epoch: u32, dir: &str, pairs: &Pairs) -> Result<(), TrainError> {
    run.write_json(&format!("{dir}/comparison_pairs.json"), &pairs.rows()).await?;
    run.emit(&key(epoch, "compared"), EventKind::Compared(pairs.comparison.clone())).await
}

/// Marks the first epoch as looked at, for readers of the run folder.
async fn skip_first(run: &Run<'_>, epoch: u32, slow: bool, memory: bool) -> Result<(), TrainError> {
    let file = json!({"action": "skip_first_epoch", "epoch": epoch});
    if slow {
        run.write_json(&format!("slow_update/epoch_{epoch:02}/slow_result.json"), &file).await?;
    }
    if memory {
        run.write_json(&format!("meta_skill/epoch_{epoch:02}/meta_skill_result.json"), &file)
            .await?;
    }
    Ok(())
}

pub(super) fn key(epoch: u32, what: &str) -> String {
    format!("epoch/{epoch:04}/{what}")
}

/// Wall time and spend since some moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    since: Duration,
    spent: SpendByRole,
}

impl Stopwatch {
    pub(super) fn start(run: &Run<'_>) -> Self {
        Self { since: run.ports.clock.monotonic(), spent: run.calls.meter.spend() }
    }

    /// Time and spend so far.
    pub(super) fn spent(&self, run: &Run<'_>) -> Spent {
        let (wall_ms, spend) = self.read(run);
        Spent { wall_ms, spend }
    }

    /// Milliseconds and spend so far.
    pub(super) fn read(&self, run: &Run<'_>) -> (u64, SpendByRole) {
        let wall = run.ports.clock.monotonic().saturating_sub(self.since);
        (
            u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            run.calls.meter.spend().since(&self.spent),
        )
    }
}
