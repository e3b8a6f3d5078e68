//! What a harvest is asked to do. No environment is read here: the caller says where the homes are.

use super::Instant;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// An agent whose transcripts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Copilot Chat in VS Code.
    Copilot,
    /// Copilot CLI.
    CopilotCli,
    /// Cursor.
    Cursor,
    /// Pi.
    Pi,
    /// OpenCode.
    Opencode,
    /// Devin.
    Devin,
}

/// A name of a source that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "unknown source {0:?}: use claude, codex, copilot, copilot_cli, cursor, pi, opencode, devin or auto"
)]
pub struct UnknownSource(String);

impl Source {
    /// Every source; what `auto` stands for.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::CopilotCli,
        Self::Cursor,
        Self::Pi,
        Self::Opencode,
        Self::Devin,
    ];

    /// Reads the name of a source, or `auto` for all.
    ///
    /// # Errors
    /// When the name is not known.
    pub fn parse(name: &str) -> Result<Vec<Self>, UnknownSource> {
        if name == "auto" {
            return Ok(Self::ALL.to_vec());
        }
        let found = Self::ALL.into_iter().find(|source| source.name() == name);
        found.map(|source| vec![source]).ok_or_else(|| UnknownSource(name.to_owned()))
    }

    /// The name in configs and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::CopilotCli => "copilot_cli",
            Self::Cursor => "cursor",
            Self::Pi => "pi",
            Self::Opencode => "opencode",
            Self::Devin => "devin",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which projects' sessions are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The project itself, folders below it and above it.
    #[default]
    Invoked,
    /// All.
    All,
    /// Exactly these folders.
    List(Vec<String>),
}

/// Where the agents keep their transcripts. None: that source is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    /// `~/.claude`.
    pub claude: Option<PathBuf>,
    /// `~/.codex`.
    pub codex: Option<PathBuf>,
    /// Folders `User/workspaceStorage` of VS Code and its variants.
    pub vscode_storage: Vec<PathBuf>,
    /// `~/.copilot/session-store.db`.
    pub copilot_cli: Option<PathBuf>,
    /// `~/.cursor`.
    pub cursor: Option<PathBuf>,
    /// `~/.pi`.
    pub pi: Option<PathBuf>,
    /// `~/.local/share/opencode/opencode.db`.
    pub opencode: Option<PathBuf>,
    /// `~/.local/share/devin/cli/transcripts`.
    pub devin_transcripts: Option<PathBuf>,
    /// `~/.agentmemory/standalone.json`.
    pub agent_memory: Option<PathBuf>,
    /// Projects that Devin worked in: its records name none.
    pub devin_workspaces: Vec<String>,
}

/// How much is read and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions that are handed out, newest first; the others wait. None: all.
    pub max_sessions: Option<usize>,
    /// The longest record that is read, in bytes.
    pub record_bytes: usize,
    /// The longest document (a file or a database cell that is one JSON value), in bytes.
    pub document_bytes: u64,
    /// The longest prompt or answer that is kept, in characters, after redaction.
    pub text_chars: usize,
    /// Prompts of a session that are kept; more are counted only.
    pub prompts: usize,
    /// Threads that read files.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_sessions: None,
            record_bytes: 8 << 20,
            document_bytes: 32 << 20,
            text_chars: 8_000,
            prompts: 200,
            threads: 2,
        }
    }
}

/// One harvest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarvestOptions {
    /// What is looked at, in this order.
    pub sources: Vec<Source>,
    /// Where.
    pub homes: Homes,
    /// The project that the night is for: an absolute path; empty: any.
    pub project: String,
    /// Which projects count.
    pub scope: Scope,
    /// The time of the harvest.
    pub now: Instant,
    /// Sessions that ended before are left out. Goes before `lookback_hours`.
    pub since: Option<Instant>,
    /// How far back to look, in hours; 0: as far as there is.
    pub lookback_hours: u32,
    /// How much.
    pub limits: Limits,
    /// Phrases of blame besides the known ones.
    pub negative_phrases: Vec<String>,
    /// Phrases of praise besides the known ones.
    pub positive_phrases: Vec<String>,
    /// Texts in the first prompt of sessions that other plugins run.
    pub agent_markers: Vec<String>,
}

impl HarvestOptions {
    /// All sources, all projects, the last 72 hours, nothing configured.
    pub fn new(now: Instant) -> Self {
        Self {
            sources: Source::ALL.to_vec(),
            homes: Homes::default(),
            project: String::new(),
            scope: Scope::Invoked,
            now,
            since: None,
            lookback_hours: 72,
            limits: Limits::default(),
            negative_phrases: Vec::new(),
            positive_phrases: Vec::new(),
            agent_markers: Vec::new(),
        }
    }

    /// The instant before which a session is too old; none: none is.
    pub fn window_start(&self) -> Option<Instant> {
        self.since.or_else(|| {
            (self.lookback_hours > 0).then(|| self.now.hours_before(self.lookback_hours))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn auto_is_every_source_and_a_typo_is_an_error() {
        assert_eq!(Source::parse("auto").unwrap().len(), 8);
        assert_eq!(Source::parse("copilot_cli").unwrap(), [Source::CopilotCli]);
        assert!(Source::parse("claud").is_err());
    }
}
