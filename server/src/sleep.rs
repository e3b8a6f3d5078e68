//! Nights as this machine runs them: the config with its places, the models behind it, the row in the store, and what
//! people decide. What a night does is the business of `skillopt_sleep`.

mod choice;
mod curate;
mod decide;
mod find;
mod folder;
mod foresee;
mod homes;
mod inbox;
mod lab;
mod models;
mod order;
mod plain;
mod queue;
mod run;
mod schedule;
mod view;

pub(crate) use choice::{Taking, derived_of, told_edits};
pub(crate) use curate::{curated_file, curated_view, lib_change, tried};
pub(crate) use decide::{
    AdoptionOrder, DecisionError, Rejection, adopt_keys, adopt_selection, note, preview_keys,
    reject_night, reopen_night, revert_night,
};
pub(crate) use find::{LookBack, find_sessions, split_choice, tasks_file_of, tasks_of};
pub(crate) use folder::{Wanted, staging_of, staging_of_row};
pub(crate) use foresee::foresee;
pub(crate) use inbox::{Shown, inbox_page, kind_shown, waiting};
pub(crate) use lab::{Lab, LabError};
pub(crate) use models::handoff;
pub(crate) use order::{NightOrder, NightSetup, OrderError, home_of, key, places};
pub(crate) use plain::read_plain_text;
pub(crate) use queue::{LiveFiles, keep, seen};
pub(crate) use run::{BegunNight, NightCommand, NightRunError, Nights};
pub(crate) use schedule::{
    BeginScheduledError, KeptNight, NightClock, ScheduleProblem, daily, daily_of, new_schedule_id,
    runs_twice, schedule_item, system_clocks, time_of,
};
pub(crate) use view::{night_detail, night_head, read_tasks, source_item};

/// Work on files beside the requests. What is begun comes to its end, also when the one who asked has hung up.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(err) => std::panic::resume_unwind(err.into_panic()),
    }
}
