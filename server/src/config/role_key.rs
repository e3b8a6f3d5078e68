//! Which key a role uses, and where it was found. A key goes only to the host that it is meant for.

use super::environment::{Environment, prefix};
use skillopt_domain::spend::Role;
use std::fmt;

/// Where a key was found. Tells the place, never the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The environment of the process.
    Environment,
    /// A `.env` file.
    File {
        /// Its path.
        path: String,
        /// The line, from 1.
        line: u32,
    },
    /// The system's keyring.
    Keyring,
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("the environment"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Keyring => f.write_str("the system keyring"),
        }
    }
}

/// The key of a role, by reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleKey {
    /// The name of the variable.
    pub variable: String,
    /// Where it was found.
    pub place: KeyPlace,
}

/// The key of a role: the variable that the config names, else the role's own, else the common one. `None` when none
/// of them is set, as local servers allow.
///
/// A key that nobody named goes only to the host that stands beside it: an address from a file or a form never
/// receives a key that was meant for another host. One that was put into the keyring for an address goes nowhere else,
/// whoever names it.
///
/// # Errors
/// Why the key that the config names cannot be used.
pub fn role_key(
    env: &Environment,
    role: Role,
    named: &str,
    base_url: &str,
) -> Result<Option<RoleKey>, String> {
    if !named.is_empty() {
        return named_key(env, named, base_url).map(Some);
    }
    let candidates = prefixes(role).into_iter().find_map(|prefix| {
        let variable = format!("{prefix}_API_KEY");
        let found = env.find(&variable)?;
        let home = env
            .bound_to(&variable, &found.place)
            .or_else(|| env.beside(&found.place, &format!("{prefix}_BASE_URL")))
            .or_else(|| env.beside(&found.place, "OPENAI_COMPATIBLE_BASE_URL"))?;
        (origin_of(home) == origin_of(base_url)).then_some(RoleKey { variable, place: found.place })
    });
    Ok(candidates)
}

/// Why a key that nobody named may be missing: a file that was refused, or a keyring that gave no answer.
#[must_use]
pub(crate) fn withheld_key(env: &Environment, role: Role) -> Option<String> {
    prefixes(role).into_iter().find_map(|prefix| {
        let variable = format!("{prefix}_API_KEY");
        let reason = env.withheld(&variable).filter(|_| env.find(&variable).is_none())?;
        Some(format!("{variable}: {reason}"))
    })
}

/// The variables that are looked at for a key when a config names none.
pub(crate) fn key_variables() -> Vec<String> {
    let own = Role::ALL.into_iter().flat_map(prefixes).map(|prefix| format!("{prefix}_API_KEY"));
    let mut all: Vec<String> = own.collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn prefixes(role: Role) -> [String; 2] {
    [format!("{}_OPENAI_COMPATIBLE", prefix(role)), "OPENAI_COMPATIBLE".to_owned()]
}

fn named_key(env: &Environment, named: &str, base_url: &str) -> Result<RoleKey, String> {
    let Some(found) = env.find(named) else {
        let more = env.withheld(named).map_or_else(String::new, |reason| format!("; {reason}"));
        return Err(format!(
            "{named} is set neither in the environment, nor in a .env file, nor in the keyring{more}"
        ));
    };
    match env.bound_to(named, &found.place) {
        Some(home) if origin_of(home) != origin_of(base_url) => Err(format!(
            "the key {named} in the keyring is for {home} and goes to no other host; put one there for this \
             address with `skillopt keys set`, under a name of its own"
        )),
        _ => Ok(RoleKey { variable: named.to_owned(), place: found.place }),
    }
}

/// Scheme, host and port of an address.
fn origin_of(url: &str) -> String {
    let origin = url.trim().splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let origin = origin.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).map_or_else(|| origin.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
