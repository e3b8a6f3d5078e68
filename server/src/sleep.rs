//! Nights as this machine runs them: the config with its places, the models behind it, the row in the store, and what
//! people decide. What a night does is the business of `skillopt_sleep`.

mod decide;
mod folder;
mod homes;
mod models;
mod order;
mod plain;
mod run;
mod view;

pub(crate) use decide::{
    DecisionError, Rejection, adopt_keys, adopt_selection, reject_night, reopen_night, revert_night,
};
pub(crate) use folder::{Wanted, staging_of, staging_of_row};
pub(crate) use models::handoff;
pub(crate) use order::{NightOrder, NightSetup, OrderError, harvest_options, key, places};
pub(crate) use plain::{open_plain, read_plain_text};
pub(crate) use run::{BegunNight, NightCommand, NightRunError, Nights};
pub(crate) use view::{night_detail, night_head, night_item, source_item};

/// Work on files beside the requests. What is begun comes to its end, also when the one who asked has hung up.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(err) => std::panic::resume_unwind(err.into_panic()),
    }
}
