//! Schedules of nights on the wire: those that the server runs, and the jobs of the system's own schedulers.

use super::NightRequest;
use crate::ids::{NightId, ScheduleId};
use crate::json::from_fields;
use crate::night::ScheduleOutcomeKind;
use serde::{Deserialize, Serialize};

/// `GET /sleep/schedules`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePage {
    /// What this server runs, by project.
    pub schedules: Vec<ScheduleItem>,
    /// What the schedulers of this system run.
    pub jobs: Vec<SystemJob>,
    /// Schedulers of which nobody knows what they run, and why.
    pub unread: Vec<String>,
    /// A warning for each project whose nights more than one of all these begins.
    pub twice: Vec<String>,
}

from_fields! { SchedulePage { schedules, jobs, unread, twice } }

/// A night every day, run while the server runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleItem {
    /// Its id.
    pub id: ScheduleId,
    /// Absolute path of the project.
    pub project: String,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// The time zone by its IANA name, such as `Europe/Berlin`.
    pub zone: String,
    /// It runs.
    pub enabled: bool,
    /// When the next night is due, in milliseconds since 1970-01-01 UTC; `None` when it does not run.
    pub next_ms: Option<u64>,
    /// Why its nights cannot begin as things are; empty when they can.
    pub problem: String,
    /// What its nights are to do, as far as the form has fields for it.
    pub night: NightRequest,
    /// Further options, as `key=value`, which an edit of `night` leaves alone.
    pub more: Vec<String>,
    /// In milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// Who made it.
    pub created_by: String,
    /// In milliseconds since 1970-01-01 UTC.
    pub changed_at_ms: u64,
    /// Who changed it last.
    pub changed_by: String,
    /// Counts the changes by people.
    pub revision: u64,
    /// What became of the latest nights, newest first.
    pub outcomes: Vec<ScheduleOutcome>,
}

from_fields! { ScheduleItem {
    id, project, hour, minute, zone, enabled, next_ms, problem, night, more, created_at_ms, created_by,
    changed_at_ms, changed_by, revision, outcomes
} }

/// What became of a night that was due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleOutcome {
    /// What.
    pub kind: ScheduleOutcomeKind,
    /// When it was due, in milliseconds since 1970-01-01 UTC.
    pub due_ms: u64,
    /// When this was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The night that began.
    pub night: Option<NightId>,
    /// Why, for people; may be empty.
    pub words: String,
}

from_fields! { ScheduleOutcome { kind, due_ms, at_ms, night, words } }

/// A job of ours in a scheduler of the system. It is only shown: what removes it is a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SystemJob {
    /// `cron`, `systemd`, `launchd` or `windows`.
    pub scheduler: String,
    /// Absolute path of the project; empty when the job does not tell.
    pub project: String,
    /// When it runs by the clock of the machine, such as `03:17`; empty when the job does not tell.
    pub at: String,
    /// The line or the name of the job.
    pub name: String,
    /// The command that takes it away.
    pub remove: String,
}

from_fields! { SystemJob { scheduler, project, at, name, remove } }

/// `POST /sleep/schedules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleRequest {
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// The time zone by its IANA name, such as `Europe/Berlin`.
    pub zone: String,
    /// It runs; what is left out does.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// What its nights are to do.
    pub night: NightRequest,
}

fn yes() -> bool {
    true
}

/// `PATCH /sleep/schedules/{id}`: what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleChange {
    /// The schedule's revision as it was seen: one that was changed since is left alone. Left out: it is changed anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// 0 to 23.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hour: Option<u32>,
    /// 0 to 59.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minute: Option<u32>,
    /// The time zone by its IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// It runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What its nights are to do, in place of all that the form has fields for. The project stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub night: Option<NightRequest>,
}
