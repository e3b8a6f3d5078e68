//! Nights as this machine runs them: the config with its places, the models behind it, the row in the store, and what
//! people decide. What a night does is the business of `skillopt_sleep`.

mod decide;
mod models;
mod order;
mod run;
mod view;

pub(crate) use decide::{
    DecisionError, adopt_keys, adopt_selection, reject_night, revert_night, staging_of,
};
pub(crate) use models::handoff;
pub(crate) use order::{NightOrder, NightSetup, OrderError, harvest_options, key, places};
pub(crate) use run::{BegunNight, NightCommand, NightRunError, Nights};
pub(crate) use view::{night_detail, night_item, source_item};
