//! Environment variables that shape a run, as settings. Keys stay out of settings; [`super::role_key`] finds them.

use super::env_file::EnvFile;
use super::keyring::Keyring;
use super::role_key::KeyPlace;
use skillopt_domain::config::{Origin, Place, Setting, Value};
use skillopt_domain::spend::Role;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What this process was given from outside: its environment, `.env` files, and the keys that the system's keyring holds.
/// No code below reads them on its own. The environment wins over files, these over the keyring.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    process: Variables,
    files: Vec<EnvFile>,
    keyring: Option<Keyring>,
}

/// Values may be secrets, so that only their number is shown.
#[derive(Clone, Default)]
struct Variables(BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} variables", self.0.len())
    }
}

/// A value, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) value: &'a str,
    pub(crate) place: KeyPlace,
}

impl Environment {
    /// The environment of this process, the `.env` files of the working directory and of the data directory, and the
    /// keyring. Variables that are no text are left out.
    #[must_use]
    pub fn of_process(data_dir: &Path) -> Self {
        let pairs = std::env::vars_os();
        let process = pairs
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let here = std::env::current_dir().ok();
        let dirs = here.iter().map(PathBuf::as_path).chain([data_dir]);
        let mut files: Vec<EnvFile> =
            dirs.filter_map(|dir| EnvFile::read(&dir.join(".env"))).collect();
        files.dedup_by(|one, other| one.path() == other.path());
        Self { process: Variables(process), files, keyring: Some(Keyring::open(data_dir)) }
    }

    /// An environment from pairs.
    #[must_use]
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        let pairs = pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        Self { process: Variables(pairs.collect()), ..Self::default() }
    }

    #[cfg(test)]
    pub(crate) fn with_files(self, paths: &[&Path]) -> Self {
        Self { files: paths.iter().filter_map(|path| EnvFile::read(path)).collect(), ..self }
    }

    #[cfg(test)]
    pub(crate) fn with_keyring(self, keyring: Keyring) -> Self {
        Self { keyring: Some(keyring), ..self }
    }

    /// The value of a variable; empty counts as not set. A key that only the keyring holds is read from there, which
    /// blocks the first time.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.find(name).map(|found| found.value)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Found<'_>> {
        let of_process = || {
            let value = set(self.process.0.get(name)?)?;
            Some(Found { value, place: KeyPlace::Environment })
        };
        let of_files = || self.files.iter().find_map(|file| in_file(file, name));
        let of_keyring = || {
            let value = self.keyring.as_ref()?.get(name)?;
            Some(Found { value, place: KeyPlace::Keyring })
        };
        of_process().or_else(of_files).or_else(of_keyring)
    }

    /// The address that stands beside a key: in the same place, or in the environment, which the user rules. What a
    /// file says of addresses binds no key that it does not hold.
    pub(super) fn beside(&self, key: &KeyPlace, name: &str) -> Option<&str> {
        let in_process = self.process.0.get(name).and_then(|value| set(value));
        in_process.or_else(|| match key {
            KeyPlace::File { path, .. } => {
                let file =
                    self.files.iter().find(|file| file.path().display().to_string() == *path)?;
                file.get(name).map(|(value, _)| value)
            }
            KeyPlace::Environment | KeyPlace::Keyring => None,
        })
    }

    /// The address that a key in the keyring was put there for.
    pub(crate) fn bound_to(&self, name: &str, place: &KeyPlace) -> Option<&str> {
        match place {
            KeyPlace::Keyring => self.keyring.as_ref()?.bound_to(name),
            KeyPlace::Environment | KeyPlace::File { .. } => None,
        }
    }

    /// Why a key was not taken although some place may hold it; `None` where none does.
    pub(crate) fn withheld(&self, name: &str) -> Option<String> {
        let of_file = |file: &EnvFile| {
            let reason = file.refused().filter(|_| file.withholds(name))?;
            Some(format!("{} was not read: {reason}", file.path().display()))
        };
        self.files.iter().find_map(of_file).or_else(|| self.keyring.as_ref()?.refused(name))
    }

    /// The `.env` files that were found.
    pub(crate) fn files(&self) -> &[EnvFile] {
        &self.files
    }

    /// The keyring, where there is one.
    pub(crate) fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_ref()
    }
}

fn set(value: &str) -> Option<&str> {
    Some(value.trim()).filter(|value| !value.is_empty())
}

fn in_file<'a>(file: &'a EnvFile, name: &str) -> Option<Found<'a>> {
    let (value, line) = file.get(name)?;
    let place = KeyPlace::File { path: file.path().display().to_string(), line };
    Some(Found { value, place })
}

/// Variables that choose backends. They come first: what else counts depends on them.
pub(super) fn backends(env: &Environment) -> Vec<Setting> {
    let of_role = |role: Role| {
        let name = format!("{}_BACKEND", prefix(role));
        first_set(env, format!("model.{role}_backend"), &[&name])
    };
    Role::ALL.into_iter().filter_map(of_role).collect()
}

/// Variables of a role whose backend is `openai_compatible`; the role's own form wins.
pub(super) fn of_role(env: &Environment, role: Role) -> Vec<Setting> {
    let own = prefix(role);
    let max_tokens = match role {
        Role::Target => "env.max_completion_tokens".to_owned(),
        Role::Optimizer => "model.optimizer_max_completion_tokens".to_owned(),
    };
    let model = [
        format!("{own}_OPENAI_COMPATIBLE_MODEL"),
        format!("{own}_DEPLOYMENT"),
        "OPENAI_COMPATIBLE_MODEL".to_owned(),
    ];
    let both_forms = |name: &str| {
        [format!("{own}_OPENAI_COMPATIBLE_{name}"), format!("OPENAI_COMPATIBLE_{name}")]
    };
    let rows: [(String, Vec<String>); 5] = [
        (format!("model.{role}"), model.to_vec()),
        (format!("model.{role}_openai_compatible_base_url"), both_forms("BASE_URL").to_vec()),
        (format!("model.{role}_temperature"), both_forms("TEMPERATURE").to_vec()),
        (max_tokens, both_forms("MAX_TOKENS").to_vec()),
        (format!("model.{role}_timeout_seconds"), both_forms("TIMEOUT_SECONDS").to_vec()),
    ];
    rows.into_iter()
        .filter_map(|(path, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let setting = first_set(env, path, &names)?;
            let asks_for_nothing = setting.path.ends_with("temperature")
                && matches!(
                    setting.value.to_string().to_ascii_lowercase().as_str(),
                    "none" | "off" | "null"
                );
            (!asks_for_nothing).then_some(setting)
        })
        .collect()
}

fn first_set(env: &Environment, path: String, names: &[&str]) -> Option<Setting> {
    let (name, found) = names.iter().find_map(|name| Some((*name, env.find(name)?)))?;
    let (name, line) = match found.place {
        KeyPlace::File { path, line } => (path, Some(line)),
        KeyPlace::Environment | KeyPlace::Keyring => (name.to_owned(), None),
    };
    let place = Place { origin: Origin::Environment, name, line };
    Some(Setting { path, value: Value::Text(found.value.to_owned()), place })
}

/// The beginning of a role's own variables.
pub(super) fn prefix(role: Role) -> &'static str {
    match role {
        Role::Target => "TARGET",
        Role::Optimizer => "OPTIMIZER",
    }
}
