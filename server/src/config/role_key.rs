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
    let candidates = sources(role).into_iter().find_map(|source| {
        let found = env.find(&source.variable)?;
        let beside = |name: &String| env.beside(&found.place, name);
        let home = env
            .bound_to(&source.variable, &found.place)
            .or_else(|| source.addresses.iter().find_map(beside));
        let is_home = |home: &str| origin_of(home) == origin_of(base_url);
        let goes = match home {
            Some(home) => is_home(home),
            None => source.homes.iter().any(|home| is_home(home)),
        };
        goes.then_some(RoleKey { variable: source.variable, place: found.place })
    });
    Ok(candidates)
}

/// Why a key that nobody named may be missing: a file that was refused, or a keyring that gave no answer.
#[must_use]
pub(crate) fn withheld_key(env: &Environment, role: Role) -> Option<String> {
    sources(role).into_iter().find_map(|KeySource { variable, .. }| {
        let reason = env.withheld(&variable).filter(|_| env.find(&variable).is_none())?;
        Some(format!("{variable}: {reason}"))
    })
}

/// The variables that are looked at for a key when a config names none.
pub(crate) fn key_variables() -> Vec<String> {
    let own = Role::ALL.into_iter().flat_map(sources).map(|source| source.variable);
    let mut all: Vec<String> = own.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A variable that may hold a key, and where such a key belongs.
struct KeySource {
    variable: String,
    /// Variables that name the address that it is for; the first that is set counts.
    addresses: Vec<String>,
    /// Where it belongs when none of them is set.
    homes: &'static [&'static str],
}

/// Where keys are looked for. Which backend a role has does not matter: a key goes to its own host and to no other.
fn sources(role: Role) -> Vec<KeySource> {
    const QWEN: &[&str] = &["http://localhost:8000"];
    const MINIMAX: &[&str] = &["https://api.minimax.io", "https://api.minimaxi.com"];
    let own = prefix(role);
    let source = |family: &str, common: &str, address: &str, homes| KeySource {
        variable: format!("{family}_API_KEY"),
        addresses: vec![format!("{family}_{address}"), format!("{common}_{address}")],
        homes,
    };
    let of_role = |family: &str, address: &str, homes| {
        [
            source(&format!("{own}_{family}"), family, address, homes),
            source(family, family, address, homes),
        ]
    };
    let of_azure = source(&format!("AZURE_OPENAI_{own}"), "AZURE_OPENAI", "ENDPOINT", &[]);
    let one = |family: &str, homes| source(family, family, "BASE_URL", homes);
    of_role("OPENAI_COMPATIBLE", "BASE_URL", &[])
        .into_iter()
        .chain([of_azure])
        .chain(of_role("AZURE_OPENAI", "ENDPOINT", &[]))
        .chain([one("OPENAI", &["https://api.openai.com"])])
        .chain(of_role("QWEN_CHAT", "BASE_URL", QWEN))
        .chain([one("MINIMAX", MINIMAX), one("ANTHROPIC", &["https://api.anthropic.com"])])
        .collect()
}

fn named_key(env: &Environment, named: &str, base_url: &str) -> Result<RoleKey, String> {
    let Some(found) = env.find(named) else {
        let more = env.withheld(named).map_or_else(String::new, |reason| format!("; {reason}"));
        return Err(format!(
            "{named} is set neither in the environment, nor in a .env file, nor in the keyring{more}"
        ));
    };
    let is_there = |address: &str| origin_of(address) == origin_of(base_url);
    let in_same_file =
        |file: &str| matches!(&found.place, KeyPlace::File { path, .. } if path == file);
    if let Some(file) = env.file_that_leads_to(is_there).filter(|file| !in_same_file(file)) {
        return Err(format!(
            "the address {base_url} stands in {file}, and an address in a file draws no key out of {}; set the \
             address in the environment, or put the key beside it",
            found.place
        ));
    }
    match env.bound_to(named, &found.place) {
        Some(home) if origin_of(home) != origin_of(base_url) => Err(format!(
            "the key {named} in the keyring is for {home} and goes to no other host; put one there for this \
             address with `skillopt keys set`, under a name of its own"
        )),
        _ => Ok(RoleKey { variable: named.to_owned(), place: found.place }),
    }
}

/// Scheme, host and port of an address.
pub(crate) fn origin_of(url: &str) -> String {
    let origin = url.trim().splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let origin = origin.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).map_or_else(|| origin.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
