//! The configuration: one table of keys, from which parsing, checks, the launch form and the docs all come.
//!
//! Text formats (YAML) are read elsewhere; here a value arrives with the place that it came from.

mod backend;
mod difference;
mod modes;
mod priced;
mod resolve;
mod schema;
mod secret_name;
mod typed;
mod value;

pub use backend::{BACKENDS, BackendFamily, BackendKind, BackendSpec, Capability, Effort};
pub use difference::{
    ChangeEffect, ConfigDifference, Contents, DATA, SKILL, Sameness, differences, fork_command,
    needs_fork,
};
pub use modes::{
    AppendixSource, Compat, Density, LEADING_WORDS, Longitudinal, LrControl, PairPolicy,
    SkillAware, SlowUpdateMode, UpdateMode,
};
pub use resolve::{ConfigProblem, Resolved, ResolvedValue, Setting, resolve};
pub use schema::{Availability, Group, KEYS, KeyKind, KeySpec, find_key, suggest_key};
pub use secret_name::{is_secret_name, is_secret_parameter, secret_field};
pub use typed::{
    Agents, AzureAuth, Claude, Codex, Copilot, Cursor, Evaluation, Gradient, Limits, LrScheduler,
    ModelRole, OpenaiApi, Optimizer, Provider, RunConfig, SearchQaEnv, SplitMode, Thinking,
    TokenLimitParam, Train, is_azure_host,
};
pub use value::{Origin, Place, Value};
