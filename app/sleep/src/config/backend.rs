//! Names of backends: the reference system's with their aliases, and those that runs have.

use serde::{Deserialize, Deserializer, Serialize};
use skillopt_domain::config::BACKENDS;
use std::fmt;

/// Names of the reference system, each with its aliases.
const OWN: &[(&str, &[&str])] = &[
    ("mock", &[]),
    ("claude", &["anthropic", "claude_cli", "claude_code"]),
    ("codex", &["codex_cli", "openai_codex"]),
    ("copilot", &["github_copilot", "copilot_cli", "gh_copilot"]),
    ("cursor", &["cursor_agent", "cursor_cli"]),
    ("pi", &["pi_cli", "pi_coding_agent", "pi-coding-agent"]),
    ("opencode", &["opencode_cli", "opencode-cli"]),
    ("handoff", &["session", "file"]),
    ("azure_openai", &["azure", "aoai"]),
    ("azure_responses", &["azure-responses", "aoai-responses", "responses"]),
];

/// The name of a backend that exists, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
// Invariant: empty, or a name of `OWN` or `BACKENDS`.
pub struct BackendName(&'static str);

/// There is no such backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend `{name}`{}", suggestion_text(*.suggestion))]
pub struct UnknownBackend {
    /// The name.
    pub name: String,
    /// The name that is most like it.
    pub suggestion: Option<&'static str>,
}

fn suggestion_text(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; do you mean `{name}`?"))
}

impl BackendName {
    /// The backend that spends nothing.
    pub const MOCK: Self = Self("mock");
    /// No backend: the half of a pair that inherits.
    pub const NONE: Self = Self("");

    /// Finds a backend by a name or an alias; an empty text is [`BackendName::NONE`].
    ///
    /// # Errors
    /// [`UnknownBackend`], never another backend.
    pub fn parse(text: &str) -> Result<Self, UnknownBackend> {
        let name = text.trim().to_ascii_lowercase();
        let own =
            OWN.iter().find(|(own, aliases)| *own == name || aliases.contains(&name.as_str()));
        if let Some((own, _)) = own {
            return Ok(Self(own));
        }
        if name.is_empty() {
            return Ok(Self::NONE);
        }
        let other = BACKENDS.iter().find(|spec| spec.name == name);
        let unknown = || UnknownBackend { suggestion: like(&name), name: text.trim().to_owned() };
        other.map(|spec| Self(spec.name)).ok_or_else(unknown)
    }

    /// All names.
    pub fn all() -> impl Iterator<Item = &'static str> {
        let own = OWN.iter().map(|(name, _)| *name);
        let is_own = |name: &&str| OWN.iter().any(|(own, _)| own == name);
        own.chain(BACKENDS.iter().map(|spec| spec.name).filter(move |name| !is_own(name)))
    }

    /// The name; empty for none.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// No backend is named.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0.is_empty()
    }
}

fn like(name: &str) -> Option<&'static str> {
    super::schema::most_like(name, BackendName::all())
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

// By hand: a derived one would only read texts that live for good.
impl<'de> Deserialize<'de> for BackendName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
