//! Which key a role uses, and where it was found. A key goes only to the host that it is meant for.

use super::environment::{Environment, prefix};
use skillopt_domain::config::BackendKind;
use skillopt_domain::spend::Role;
use std::collections::BTreeSet;
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
    let candidates = sources(role).find_map(|source| {
        let found = env.find(&source.variable)?;
        let beside = |name: &String| env.beside(&found.place, name);
        let home = env
            .bound_to(&source.variable, &found.place)
            .or_else(|| source.addresses.iter().find_map(beside));
        // Azure may have several addresses, with commas between them.
        let is_home =
            |home: &str| home.split(',').any(|one| origin_of(one.trim()) == origin_of(base_url));
        let goes = match home {
            Some(home) => is_home(home),
            None => source.kind.homes.iter().any(|home| is_home(home)),
        };
        goes.then_some(RoleKey { variable: source.variable, place: found.place })
    });
    Ok(candidates)
}

/// Why a key that nobody named may be missing: a file that was refused, or a keyring that gave no answer.
#[must_use]
pub(crate) fn withheld_key(env: &Environment, role: Role) -> Option<String> {
    sources(role).find_map(|KeySource { variable, .. }| {
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

/// Whose keys a variable holds: how the names of its variables begin, and where its keys belong when no address stands
/// beside them.
#[derive(Debug)]
struct KeyKind {
    /// The backend that calls that service.
    backend: BackendKind,
    /// How the names begin, after the role's.
    family: &'static str,
    /// How the name of the variable ends that holds the address.
    address: &'static str,
    /// A role may have a key of its own: `<ROLE>_<family>_API_KEY`.
    by_role: bool,
    /// It may also stand as `<family>_<ROLE>_API_KEY`, which is looked at first.
    role_behind: bool,
    /// The service's own addresses.
    homes: &'static [&'static str],
}

/// All kinds, in the order in which a role looks for a key; of a backend's the first is its usual one.
static KINDS: [KeyKind; 6] = [
    of_any("OPENAI_COMPATIBLE", BackendKind::OpenaiCompatible),
    KeyKind {
        address: "ENDPOINT",
        role_behind: true,
        ..of_any("AZURE_OPENAI", BackendKind::OpenaiChat)
    },
    of_service("OPENAI", BackendKind::OpenaiChat, &["https://api.openai.com"]),
    KeyKind { homes: &["http://localhost:8000"], ..of_any("QWEN_CHAT", BackendKind::QwenChat) },
    of_service(
        "MINIMAX",
        BackendKind::MinimaxChat,
        &["https://api.minimax.io", "https://api.minimaxi.com"],
    ),
    of_service("ANTHROPIC", BackendKind::AnthropicMessages, &["https://api.anthropic.com"]),
];

/// A key for whatever address stands beside it.
const fn of_any(family: &'static str, backend: BackendKind) -> KeyKind {
    KeyKind { backend, family, address: "BASE_URL", by_role: true, role_behind: false, homes: &[] }
}

/// A key of one service, the same for all roles.
const fn of_service(
    family: &'static str,
    backend: BackendKind,
    homes: &'static [&'static str],
) -> KeyKind {
    KeyKind { by_role: false, homes, ..of_any(family, backend) }
}

/// A variable that may hold a key.
struct KeySource {
    kind: &'static KeyKind,
    variable: String,
    /// Variables that name the address that it is for; the first that is set counts.
    addresses: Vec<String>,
}

/// Where keys are looked for. Which backend a role has does not matter: a key goes to its own host and to no other.
fn sources(role: Role) -> impl Iterator<Item = KeySource> {
    KINDS.iter().flat_map(move |kind| sources_of(kind, role))
}

fn sources_of(kind: &'static KeyKind, role: Role) -> Vec<KeySource> {
    let KeyKind { family, address, .. } = kind;
    let own = prefix(role);
    let source = |prefix: String| KeySource {
        kind,
        variable: format!("{prefix}_API_KEY"),
        addresses: vec![format!("{prefix}_{address}"), format!("{family}_{address}")],
    };
    let behind = kind.role_behind.then(|| source(format!("{family}_{own}")));
    let before = kind.by_role.then(|| source(format!("{own}_{family}")));
    behind.into_iter().chain(before).chain([source((*family).to_owned())]).collect()
}

/// The variables that may hold a backend's key, the usual one first; none for backends that need no key.
pub(crate) fn key_variables_of(backend: BackendKind) -> Vec<String> {
    let kinds = || KINDS.iter().filter(|kind| kind.backend == backend);
    let common = kinds().map(|kind| format!("{}_API_KEY", kind.family));
    let of_roles = kinds()
        .flat_map(|kind| Role::ALL.into_iter().flat_map(move |role| sources_of(kind, role)))
        .map(|source| source.variable);
    let mut seen = BTreeSet::new();
    common.chain(of_roles).filter(|name| seen.insert(name.clone())).collect()
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
