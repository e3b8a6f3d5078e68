//! One page per route: loads its data and puts components together.

pub(crate) mod compare;
pub(crate) mod curation;
pub(crate) mod handoff;
pub(crate) mod launch;
pub(crate) mod models;
pub(crate) mod night;
pub(crate) mod not_found;
pub(crate) mod overview;
pub(crate) mod prices;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sleep;
