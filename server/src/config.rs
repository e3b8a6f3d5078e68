//! Configuration from files, environment and flags: text becomes settings with their places, and the
//! domain's schema checks them. No key is known here by name that the schema does not know.

mod environment;
mod export;
mod file;
mod flags;
mod flat;
mod json_schema;
mod load;
mod secret;
mod tree;

pub use environment::{Environment, api_key_variable};
pub(crate) use export::to_python_yaml;
pub use export::to_yaml;
pub use flags::{cfg_options, flag, form_changes, form_fields};
pub use flat::{flat_json, flat_name, path_of_flat};
pub use json_schema::json_schema;
pub use load::{
    BadConfig, Sources, changed, check_but_prices, from_yaml_text, load, run_config,
    without_foreign,
};

pub(crate) use secret::{holds_secret, secret_in_address};

#[cfg(test)]
mod doc_table;
#[cfg(test)]
mod tests;
