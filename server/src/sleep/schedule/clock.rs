//! The clock of the server: looks which nights are due, takes them on so that no other server does, and begins them.

use super::super::beside;
use super::super::run::{NightRunError, Nights};
use super::daily_of;
use super::kept::KeptNight;
use crate::adopt::{AdoptError, Adopter};
use crate::config::BadConfig;
use futures::FutureExt;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::ScheduleOutcomeKind;
use skillopt_sleep::redact::redact;
use skillopt_sleep::schedule::{At, Daily, Due, Plan, SkipReason, Skipped};
use skillopt_store::{
    BeginNightError, OldClaims, OutcomeRow, ScheduleClaim, ScheduleRow, StoreFailure,
};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Who begins scheduled nights.
pub(crate) const ACTOR: &str = "schedule";
/// It looks at least so often: clocks jump, machines sleep, and the command line changes schedules too.
const LONGEST: Duration = Duration::from_secs(30);
/// A night that was taken on begins within seconds. After so long nobody begins it any more.
const OLD_CLAIM_MS: u64 = 120_000;
const ENDED: &str = "the server ended before the night began";
const CATCHES_UP: &str = "late: one night runs for all that were missed";

/// Runs the schedules of a store. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct NightClock {
    nights: Nights,
    adopter: Adopter,
    wake: Arc<Notify>,
}

/// Why a scheduled night did not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginScheduledError {
    /// The options in the store.
    #[error("its options cannot be read: {0}")]
    Options(#[from] serde_json::Error),
    /// The keys of models in them.
    #[error("{0}")]
    Models(#[from] BadConfig),
    /// The project or the skill.
    #[error(transparent)]
    Folder(#[from] AdoptError),
    /// The night itself.
    #[error(transparent)]
    Night(#[from] NightRunError),
}

impl BeginScheduledError {
    fn kind(&self) -> ScheduleOutcomeKind {
        match self {
            Self::Night(NightRunError::Begin(BeginNightError::Running(_))) => {
                ScheduleOutcomeKind::Busy
            }
            Self::Options(_) | Self::Models(_) | Self::Folder(_) | Self::Night(_) => {
                ScheduleOutcomeKind::Failed
            }
        }
    }
}

impl NightClock {
    /// Starts nothing.
    pub(crate) fn new(nights: Nights, adopter: Adopter) -> Self {
        Self { nights, adopter, wake: Arc::new(Notify::new()) }
    }

    /// A schedule of this process's store was changed: look now.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Runs schedules until the stop.
    pub(crate) async fn run(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.look(stop).await {
                Ok(next_ms) => {
                    let wait = next_ms.map(|next| next.saturating_sub(self.now_ms()));
                    wait.map_or(LONGEST, Duration::from_millis).min(LONGEST)
                }
                Err(err) => {
                    tracing::warn!("the schedules of nights cannot be looked at: {err}");
                    LONGEST
                }
            };
            // Nothing is lost with the branches that are dropped: each look reads the store anew.
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.wake.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Begins what is due. Gives the moment at which the next night is, if there is one.
    pub(super) async fn look(&self, stop: &CancellationToken) -> Result<Option<u64>, StoreFailure> {
        self.settle_old_claims().await;
        let mut next_ms: Option<u64> = None;
        for row in self.nights.hosting().store().schedules().await? {
            if !row.terms.is_enabled {
                continue;
            }
            if stop.is_cancelled() {
                break;
            }
            match self.serve(&row).await {
                Ok(plan) => {
                    next_ms = Some(next_ms.map_or(plan.next_ms, |next| next.min(plan.next_ms)));
                }
                // The others have their nights all the same.
                Err(err) => {
                    tracing::warn!(schedule.id = %row.id, "a schedule cannot be looked at: {err}");
                }
            }
        }
        Ok(next_ms)
    }

    /// Does what is to be done about one schedule now.
    async fn serve(&self, row: &ScheduleRow) -> Result<Plan, StoreFailure> {
        let now_ms = self.now_ms();
        let (daily, fault) = match daily_of(row) {
            Ok(daily) => (daily, None),
            // It is told each day, at its time in UTC.
            Err(err) => (fallback(row), Some(err.to_string())),
        };
        let plan = daily.plan(Some(&row.served), now_ms);
        if plan.served == row.served {
            return Ok(plan);
        }
        let skipped = plan.skipped.iter().map(|skipped| outcome_of(skipped, now_ms));
        let due = plan.run.map(|due| outcome(ScheduleOutcomeKind::Claimed, due, now_ms));
        let claim = ScheduleClaim {
            id: row.id.clone(),
            revision: row.revision,
            before: row.served.clone(),
            after: plan.served.clone(),
            outcomes: skipped.chain(due).collect(),
        };
        let store = self.nights.hosting().store();
        if store.claim_schedule(&claim).await?
            && let Some(due) = plan.run
        {
            let done = match fault {
                None => self.begin_due(row, due).await,
                Some(words) => {
                    OutcomeRow { words, ..outcome(ScheduleOutcomeKind::Failed, due, self.now_ms()) }
                }
            };
            if let Err(err) = store.settle_schedule(&row.id, &done).await {
                tracing::warn!(schedule.id = %row.id, "what became of a night cannot be noted: {err}");
            }
        }
        Ok(plan)
    }

    /// A server that ends between the claim and the night, or cannot note what became of it, leaves a claim behind. It
    /// is told; nothing is begun anew.
    async fn settle_old_claims(&self) {
        let at_ms = self.now_ms();
        let before_ms = at_ms.saturating_sub(OLD_CLAIM_MS);
        let old = OldClaims { before_ms, actor: ACTOR, words: ENDED, at_ms };
        match self.nights.hosting().store().settle_old_claims(&old).await {
            Ok(0) => {}
            Ok(n) => tracing::warn!("{n} scheduled nights were taken on by a server that ended"),
            Err(err) => tracing::warn!("nights that were taken on cannot be looked at: {err}"),
        }
    }

    /// Begins a night that is due, and says what became of it, whatever happens.
    async fn begin_due(&self, row: &ScheduleRow, due: Due) -> OutcomeRow {
        let begun = AssertUnwindSafe(self.begin(row, ACTOR)).catch_unwind().await;
        let at_ms = self.now_ms();
        match begun {
            Ok(Ok(night)) => {
                tracing::info!(schedule.id = %row.id, night.id = %night, "a scheduled night begins");
                let words = if due.is_catch_up { CATCHES_UP } else { "" };
                OutcomeRow {
                    night: Some(night),
                    words: words.to_owned(),
                    ..outcome(ScheduleOutcomeKind::Begun, due, at_ms)
                }
            }
            Ok(Err(err)) => {
                tracing::warn!(schedule.id = %row.id, "a scheduled night did not begin: {err}");
                // A message may quote what somebody wrote.
                let words = redact(&err.to_string()).text;
                OutcomeRow { words, ..outcome(err.kind(), due, at_ms) }
            }
            Err(_) => {
                tracing::error!(schedule.id = %row.id, "the begin of a scheduled night panicked");
                let words = "a fault in SkillOpt; the log of the server has it".to_owned();
                OutcomeRow { words, ..outcome(ScheduleOutcomeKind::Failed, due, at_ms) }
            }
        }
    }

    /// Begins a night of a schedule now, with paths held to the folders of this server.
    pub(crate) async fn begin(
        &self,
        row: &ScheduleRow,
        actor: &str,
    ) -> Result<NightId, BeginScheduledError> {
        let kept = KeptNight::parse(&row.terms.options_json)?;
        let (adopter, typed, actor) = (self.adopter.clone(), row.project.clone(), actor.to_owned());
        let command = beside(move || {
            let project = adopter.readable_folder(&typed)?;
            let target = kept.target().map(|typed| adopter.night_target(&project, typed));
            let target = target.transpose()?;
            Ok::<_, BeginScheduledError>(kept.command(project, target.as_deref(), &actor)?)
        });
        let night = self.nights.begin(&command.await?).await?;
        let id = night.id.clone();
        self.nights.spawn(night);
        Ok(id)
    }

    fn now_ms(&self) -> u64 {
        self.nights.hosting().clock().now_ms()
    }
}

/// The time of a schedule whose zone is not known on this machine, as if it were in UTC.
fn fallback(row: &ScheduleRow) -> Daily {
    let time = &row.terms.time;
    let at = At::new(time.hour.into(), time.minute.into()).unwrap_or(At::USUAL);
    Daily::in_utc(at)
}

fn outcome(kind: ScheduleOutcomeKind, due: Due, at_ms: u64) -> OutcomeRow {
    OutcomeRow { kind, due_ms: due.due_ms, at_ms, night: None, words: String::new() }
}

fn outcome_of(skipped: &Skipped, at_ms: u64) -> OutcomeRow {
    let kind = match skipped.reason {
        SkipReason::Missed => ScheduleOutcomeKind::Missed,
        SkipReason::ClockSetBack => ScheduleOutcomeKind::ClockSetBack,
    };
    let words = skipped.reason.text().to_owned();
    OutcomeRow { kind, due_ms: skipped.due_ms, at_ms, night: None, words }
}
