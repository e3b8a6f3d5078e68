//! `decision.json` in the staging folder: who decided what, when and why. Rows are only ever added.

use super::error::AdoptError;
use super::live_file::{self, LiveFile, Mode};
use crate::instant;
use crate::stage::{Role, SkillName};
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::edit::EditRecord;
use std::path::Path;

const FILE: &str = "decision.json";

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The document became live. Written before it does: it counts with its receipt only.
    Adopted,
    /// The proposal will not become live.
    Rejected,
    /// A rejection was taken back, or what was put back waits again.
    Reopened,
    /// The document from before came back.
    Reverted,
}

/// One decision about one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was decided.
    pub action: Action,
    /// `skill`, `memory`, or `skill:<name>`.
    pub target: String,
    /// Who.
    pub actor: String,
    /// When: RFC 3339 in UTC.
    pub at: String,
    /// Why; empty where nobody asked.
    #[serde(default)]
    pub reason: String,
    /// Hash of the live document before; `None` when there was none, or nothing was written.
    #[serde(default)]
    pub sha256_before: Option<Sha256Hex>,
    /// Hash of the live document after; `None` when there is none, or nothing was written.
    #[serde(default)]
    pub sha256_after: Option<Sha256Hex>,
    /// The chosen edits, when not all were; the document was made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditRecord>,
}

/// All decisions of a night, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    version: u32,
    /// The decisions.
    pub decisions: Vec<Decision>,
}

impl Default for Decisions {
    fn default() -> Self {
        Self { version: 1, decisions: Vec::new() }
    }
}

impl Decision {
    /// A decision with nothing but its words.
    #[must_use]
    pub fn new(action: Action, role: &Role, actor: &str, at_ms: u64) -> Self {
        Self {
            action,
            target: word_of(role),
            actor: actor.to_owned(),
            at: instant::utc_text(at_ms),
            reason: String::new(),
            sha256_before: None,
            sha256_after: None,
            edits: Vec::new(),
        }
    }

    /// The document; `None` for words of another program.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match self.target.as_str() {
            "skill" => Some(Role::ManagedSkill),
            "memory" => Some(Role::Memory),
            other => Some(Role::Skill(SkillName::parse(other.strip_prefix("skill:")?).ok()?)),
        }
    }
}

fn word_of(role: &Role) -> String {
    match role {
        Role::ManagedSkill => "skill".to_owned(),
        Role::Memory => "memory".to_owned(),
        Role::Skill(name) => format!("skill:{}", name.as_str()),
    }
}

impl Decisions {
    /// Reads the decisions of a staging folder; there need not be any.
    ///
    /// # Errors
    /// [`AdoptError`] when the file cannot be read or understood.
    pub fn read(dir: &Path) -> Result<Self, AdoptError> {
        let path = dir.join(FILE);
        let file = LiveFile::read(&path).map_err(AdoptError::io("read", &path))?;
        let Some(file) = file else { return Ok(Self::default()) };
        serde_json::from_slice(&file.bytes).map_err(|err| {
            AdoptError::InvalidStaging(format!("{} cannot be understood: {err}", path.display()))
        })
    }

    /// The last rejection or reopening of a document, when it is a rejection.
    #[must_use]
    pub fn rejection(&self, role: &Role) -> Option<&Decision> {
        let of_role = |decision: &&Decision| {
            matches!(decision.action, Action::Rejected | Action::Reopened)
                && decision.role().as_ref() == Some(role)
        };
        self.decisions.iter().rfind(of_role).filter(|decision| decision.action == Action::Rejected)
    }

    /// The last time that a document was put back, unless it was opened again since.
    #[must_use]
    pub fn put_back(&self, role: &Role) -> Option<&Decision> {
        let of_role = |decision: &&Decision| {
            matches!(decision.action, Action::Reverted | Action::Reopened)
                && decision.role().as_ref() == Some(role)
        };
        self.decisions.iter().rfind(of_role).filter(|decision| decision.action == Action::Reverted)
    }

    /// The last decision of a kind about a document.
    #[must_use]
    pub fn last(&self, action: Action, role: &Role) -> Option<&Decision> {
        let wanted = |decision: &&Decision| {
            decision.action == action && decision.role().as_ref() == Some(role)
        };
        self.decisions.iter().rfind(wanted)
    }
}

/// Adds decisions. The caller holds the lock of the folder.
pub(super) fn append(
    dir: &Path,
    more: impl IntoIterator<Item = Decision>,
) -> Result<(), AdoptError> {
    let mut all = Decisions::read(dir)?;
    all.decisions.extend(more);
    let path = dir.join(FILE);
    let written = serde_json::to_vec_pretty(&all)
        .map_err(std::io::Error::other)
        .and_then(|bytes| live_file::replace(&path, &bytes, Mode::Private));
    written.map_err(AdoptError::io("write", &path))
}
