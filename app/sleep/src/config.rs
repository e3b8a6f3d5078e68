//! The config of nights: keys, defaults and files of the reference system, and our own keys beside them. Files are read
//! where they are named; the environment is passed in. A key that nobody knows, a value that cannot be meant and a
//! backend that does not exist are errors, all told at once.

mod backend;
mod environment;
mod load;
mod schema;
#[cfg(test)]
mod tests;
mod typed;

pub use crate::consolidate::GateMode;
pub use backend::{BackendName, UnknownBackend};
pub use environment::{EnvError, Environment};
pub use load::{ConfigError, ConfigErrors, Override, Problem, Sources, find_file, load};
pub use schema::{KEYS, Key, Kind};
pub use typed::{Config, Projects, RoleBackend, SplitRule};
