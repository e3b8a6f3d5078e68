//! Times and prices the stages of a step.

use super::step::key;
use crate::run::{Run, TrainError};
use skillopt_domain::event::{EventKind, StageCost};
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::spend::SpendByRole;

/// The stages of one step so far.
#[derive(Debug)]
pub(super) struct Stages<'a, 'b> {
    run: &'a Run<'b>,
    step: u32,
    open: Option<(Stage, std::time::Duration, SpendByRole)>,
    done: Vec<StageCost>,
}

impl<'a, 'b> Stages<'a, 'b> {
    pub(super) fn new(run: &'a Run<'b>, step: u32) -> Self {
        Self { run, step, open: None, done: Vec::new() }
    }

    pub(super) async fn begin(&mut self, stage: Stage) -> Result<(), TrainError> {
        self.close();
        self.open = Some((stage, self.run.ports.clock.monotonic(), self.run.calls.meter.spend()));
        let phase = Phase::Step { step: self.step, stage };
        let key = key(self.step, &format!("phase/{}", stage.as_str()));
        self.run.emit(&key, EventKind::PhaseStarted(phase)).await
    }

    fn close(&mut self) {
        if let Some((stage, since, before)) = self.open.take() {
            let wall = self.run.ports.clock.monotonic().saturating_sub(since);
            self.done.push(StageCost {
                stage,
                wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
                spend: self.run.calls.meter.spend().since(&before),
            });
        }
    }

    pub(super) fn end(mut self) -> Vec<StageCost> {
        self.close();
        self.done
    }
}
