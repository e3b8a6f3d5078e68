//! Configuration from files, environment and flags: text becomes settings with their places, and the
//! domain's schema checks them. No key is known here by name that the schema does not know.

mod env_file;
mod environment;
mod export;
mod file;
mod flags;
mod flat;
mod json_schema;
mod keyring;
mod load;
mod role_key;
mod secret;
mod tree;

pub use env_file::{EnvFile, is_key_name};
pub use environment::Environment;
pub(crate) use export::to_python_yaml;
pub use export::to_yaml;
pub use flags::{cfg_options, flag, form_changes, form_fields};
pub use flat::{flat_json, flat_name, path_of_flat};
pub use json_schema::json_schema;
pub use keyring::Keyring;
pub use load::{
    BadConfig, Sources, changed, check_but_prices, from_yaml_text, load, run_config,
    without_foreign,
};

pub use role_key::{KeyPlace, RoleKey, role_key};

pub(crate) use env_file::{is_variable_name, write_row};
pub(crate) use role_key::{key_variables, key_variables_of, origin_of, withheld_key};
pub(crate) use secret::{holds_secret, secret_in_address};

#[cfg(test)]
mod backend_table;
#[cfg(test)]
mod doc_table;
#[cfg(test)]
mod tests;
