//! The memory of SkillOpt in SQLite: runs and their journal, the ledger of model calls, texts by hash,
//! rollouts, adoptions, audit. The only crate that knows SQL; rows never leave it, domain values do.
//!
//! Several processes may share one data directory: every write is one transaction that begins with the
//! write lock, and nothing is remembered in memory that another process could change.

mod adoptions;
mod audit;
mod blame;
mod blobs;
mod compare;
mod curves;
mod error;
mod fold;
mod imports;
mod journal;
mod lease;
mod ledger;
mod lifecycle;
mod live;
mod matrix;
mod nights;
mod open;
mod origins;
mod outcomes;
mod prices;
mod prompts;
mod reading;
mod rejected;
mod run_list;
mod runs;
mod schedules;
mod script;
mod sql;
mod steps;
mod trajectories;
mod versions;

pub use adoptions::{Adoption, AdoptionState, Begun, NewAdoption};
pub use audit::AuditRow;
pub use compare::ComparedParts;
pub use error::{AdoptionError, LeaseError, OpenError, StoreFailure, TransitionError};
pub use imports::{Imported, ImportedEvent, ImportedRun, ImportedSet};
pub use journal::RunJournal;
pub use lease::{Beat, Lease, LeaseTerm};
pub use ledger::RunLedger;
pub use lifecycle::{Author, Change, Command};
pub use live::{Changes, Signal};
pub use nights::{
    BeginNightError, NewNight, NightCall, NightChanges, NightDocuments, NightEnd, NightRow,
    NightScores, OpenNights, ReviewKept,
};
pub use open::Store;
pub use reading::Counts;
pub use runs::{NewRun, RunRow};
pub use schedules::{
    AddScheduleError, NewSchedule, OldClaims, OutcomeRow, ScheduleClaim, ScheduleEdit, ScheduleRow,
    ScheduleTerms, ScheduleTime,
};
