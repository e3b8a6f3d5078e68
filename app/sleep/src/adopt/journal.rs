//! `.adopt-transaction.json`, version 2: what an adoption is about to do, with everything that is needed to take it
//! back. It is written before the first change and removed as the last: while it is there, nothing is adopted.

use super::error::AdoptError;
use super::live_file::{self, LiveFile, Mode};
use crate::stage::{Role, Row, safe_live_path};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::{Path, PathBuf};

const FILE: &str = ".adopt-transaction.json";
const VERSION: u32 = 2;

/// Which list of receipts an adoption writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Skills of their own.
    Skills,
    /// The managed pair.
    Legacy,
}

impl Kind {
    pub(super) fn receipt_file(self) -> &'static str {
        match self {
            Self::Skills => "adopted_skills.json",
            Self::Legacy => "adopted_legacy.json",
        }
    }
}

/// Number of a device and of a file on it.
pub(super) type FileId = [u64; 2];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    version: u32,
    pub(super) kind: Kind,
    pub(super) targets: Vec<JournalTarget>,
    pub(super) receipt: JournalReceipt,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalTarget {
    pub(super) key: String,
    pub(super) live_path: PathBuf,
    expected_realpath: PathBuf,
    expected_basename: String,
    pub(super) proposed_sha256: Sha256Hex,
    original_b64: Option<String>,
    pub(super) original_mode: Option<u32>,
    original_file_id: Option<FileId>,
    baseline_sha256: String,
    backup_path: String,
    pub(super) created_dirs: Vec<PathBuf>,
    #[serde(default)]
    pub(super) created_dir_ids: Vec<Option<FileId>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalReceipt {
    pub(super) path: PathBuf,
    original_b64: Option<String>,
    pub(super) original_mode: Option<u32>,
    original_file_id: Option<FileId>,
    baseline_sha256: String,
    pub(super) proposed_sha256: Sha256Hex,
}

impl Journal {
    pub(super) fn new(kind: Kind, targets: Vec<JournalTarget>, receipt: JournalReceipt) -> Self {
        Self { version: VERSION, kind, targets, receipt }
    }

    /// Something lies in its place, readable or not.
    pub(super) fn is_there(dir: &Path) -> bool {
        dir.join(FILE).symlink_metadata().is_ok()
    }

    /// The journal of an adoption that did not come to its end.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, AdoptError> {
        let path = dir.join(FILE);
        let Ok(meta) = path.symlink_metadata() else { return Ok(None) };
        let invalid = |why: String| {
            AdoptError::InvalidStaging(format!("the journal {} {why}", path.display()))
        };
        if !meta.is_file() {
            return Err(invalid("is not an ordinary file".to_owned()));
        }
        let bytes = fs::read(&path).map_err(AdoptError::io("read", &path))?;
        let journal: Self = serde_json::from_slice(&bytes)
            .map_err(|err| invalid(format!("cannot be understood: {err}")))?;
        journal.check(dir).map_err(|why| invalid(format!("is damaged: {why}")))?;
        Ok(Some(journal))
    }

    pub(super) fn write(&self, dir: &Path) -> Result<(), AdoptError> {
        let path = dir.join(FILE);
        let failed = AdoptError::io("write", &path);
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::other)
            .and_then(|bytes| live_file::replace(&path, &bytes, Mode::Private));
        written.map_err(failed)
    }

    pub(super) fn remove(dir: &Path) -> Result<(), AdoptError> {
        let path = dir.join(FILE);
        live_file::remove(&path).map_err(AdoptError::io("remove", &path))
    }

    fn check(&self, dir: &Path) -> Result<(), String> {
        if !matches!(self.version, 1 | VERSION) {
            return Err(format!("version {} is unknown", self.version));
        }
        if self.receipt.path != dir.join(self.kind.receipt_file()) {
            return Err("its receipt is elsewhere".to_owned());
        }
        original(self.receipt.original_b64.as_ref(), &self.receipt.baseline_sha256)?;
        if self.targets.is_empty() {
            return Err("it has no targets".to_owned());
        }
        self.targets.iter().try_for_each(|target| target.check(dir, self.kind))
    }
}

impl JournalTarget {
    /// What an adoption will do with one document.
    pub(super) fn new(
        row: &Row,
        proposed: Sha256Hex,
        live: Option<&LiveFile>,
        backup: Option<&Path>,
        created_dirs: Vec<PathBuf>,
    ) -> Self {
        Self {
            key: key_of(&row.role),
            live_path: row.live_path.clone(),
            expected_realpath: row.live_path.clone(),
            expected_basename: base_name(&row.live_path),
            proposed_sha256: proposed,
            original_b64: live.map(|live| STANDARD.encode(&live.bytes)),
            original_mode: live.map(|live| live.mode_bits().unwrap_or(0o644)),
            original_file_id: live.and_then(|_| file_id(&row.live_path)),
            baseline_sha256: live.map(|live| live.sha.to_string()).unwrap_or_default(),
            backup_path: backup.map(|path| path.display().to_string()).unwrap_or_default(),
            created_dir_ids: vec![None; created_dirs.len()],
            created_dirs,
        }
    }

    /// The bytes from before; `None` when there was no file.
    pub(super) fn original(&self) -> Option<Vec<u8>> {
        original(self.original_b64.as_ref(), &self.baseline_sha256).ok().flatten()
    }

    /// The hash from before; `None` when there was no file.
    pub(super) fn baseline(&self) -> Option<Sha256Hex> {
        Sha256Hex::parse(&self.baseline_sha256).ok()
    }

    /// Where the bytes from before are kept.
    pub(super) fn backup(&self) -> Option<&Path> {
        Some(self.backup_path.as_str()).filter(|path| !path.is_empty()).map(Path::new)
    }

    fn check(&self, dir: &Path, kind: Kind) -> Result<(), String> {
        let live = safe_live_path(&self.live_path.to_string_lossy())?;
        if live != self.expected_realpath || base_name(&live) != self.expected_basename {
            return Err(format!("the place of {} is not what it says", self.key));
        }
        let names: &[&str] = match kind {
            Kind::Skills => &["SKILL.md"],
            Kind::Legacy => &["SKILL.md", "CLAUDE.md", "AGENTS.md"],
        };
        if !names.contains(&self.expected_basename.as_str()) {
            return Err(format!("{} is no document of nights", live.display()));
        }
        let original = original(self.original_b64.as_ref(), &self.baseline_sha256)?;
        let derived = original.map(|_| match kind {
            Kind::Skills => skill_backup(dir, &live),
            Kind::Legacy => managed_backup(dir, &live),
        });
        if self.backup() != derived.as_deref() {
            return Err(format!("the backup of {} is elsewhere", self.key));
        }
        let holds_live = |folder: &PathBuf| live.starts_with(folder);
        if !self.created_dirs.iter().all(holds_live) {
            return Err("it made folders elsewhere".to_owned());
        }
        Ok(())
    }
}

impl JournalReceipt {
    pub(super) fn new(path: PathBuf, before: Option<&LiveFile>, after: &[u8]) -> Self {
        Self {
            original_b64: before.map(|live| STANDARD.encode(&live.bytes)),
            original_mode: before.map(|live| live.mode_bits().unwrap_or(0o600)),
            original_file_id: before.and_then(|_| file_id(&path)),
            baseline_sha256: before.map(|live| live.sha.to_string()).unwrap_or_default(),
            proposed_sha256: Sha256Hex::of(after),
            path,
        }
    }

    /// The bytes from before; `None` when there was no file.
    pub(super) fn original(&self) -> Option<Vec<u8>> {
        original(self.original_b64.as_ref(), &self.baseline_sha256).ok().flatten()
    }

    /// The hash from before; `None` when there was no file.
    pub(super) fn baseline(&self) -> Option<Sha256Hex> {
        Sha256Hex::parse(&self.baseline_sha256).ok()
    }
}

/// The bytes that stand in a journal, if they have the hash that it names.
fn original(b64: Option<&String>, sha: &str) -> Result<Option<Vec<u8>>, String> {
    let Some(b64) = b64 else {
        return if sha.is_empty() { Ok(None) } else { Err("bytes are missing".to_owned()) };
    };
    let bytes = STANDARD.decode(b64).map_err(|err| err.to_string())?;
    if Sha256Hex::of(&bytes).as_str() == sha {
        Ok(Some(bytes))
    } else {
        Err("bytes and hash do not agree".to_owned())
    }
}

/// Where the bytes of a document from before an adoption are kept.
pub(super) fn backup_at(dir: &Path, role: &Role, live: &Path) -> PathBuf {
    match role {
        Role::Skill(_) => skill_backup(dir, live),
        Role::ManagedSkill | Role::Memory => managed_backup(dir, live),
    }
}

fn skill_backup(dir: &Path, live: &Path) -> PathBuf {
    let folder = live.parent().and_then(Path::file_name).unwrap_or_default();
    dir.join("backup").join("skills").join(folder).join("SKILL.md")
}

fn managed_backup(dir: &Path, live: &Path) -> PathBuf {
    dir.join("backup").join(base_name(live))
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The word of the reference system: a name stands as its language quotes it.
fn key_of(role: &Role) -> String {
    match role {
        Role::ManagedSkill => "legacy skill".to_owned(),
        Role::Memory => "legacy memory".to_owned(),
        Role::Skill(name) if name.as_str().contains('\'') => format!("skill \"{}\"", name.as_str()),
        Role::Skill(name) => format!("skill '{}'", name.as_str()),
    }
}

#[cfg(unix)]
pub(super) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    path.symlink_metadata().ok().map(|meta| [meta.dev(), meta.ino()])
}

#[cfg(not(unix))]
pub(super) fn file_id(path: &Path) -> Option<FileId> {
    path.symlink_metadata().ok().map(|_| [0, 0])
}
