//! Receipts of adoptions: two lists in the staging folder, in the reference system's fields and no others, because it
//! refuses lists with more. What it has no field for stands in `decision.json`.

use super::error::AdoptError;
use super::journal::{Kind, backup_at};
use super::live_file::{self, LiveFile, Mode};
use crate::stage::{Role, SkillName, check_name, safe_live_path};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;
use std::path::{Path, PathBuf};

/// What an adoption did to one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What it is.
    pub role: Role,
    /// Where it is.
    pub live_path: PathBuf,
    /// Hash from before; `None` when there was no file.
    pub before: Option<Sha256Hex>,
    /// Hash from after.
    pub after: Sha256Hex,
    /// Where the bytes from before are; `None` when there was no file.
    pub backup: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSkill {
    skill_name: String,
    live_skill_path: PathBuf,
    sha256_before: String,
    sha256_after: Sha256Hex,
    backup_path: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireManaged {
    target: String,
    live_path: PathBuf,
    sha256_before: String,
    sha256_after: Sha256Hex,
    backup_path: String,
}

impl Receipt {
    /// In the fields of the reference system.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let before = self.before.as_ref().map_or("", Sha256Hex::as_str);
        let backup = self.backup.as_deref().unwrap_or(Path::new(""));
        let target = match &self.role {
            Role::Skill(name) => {
                return json!({"skill_name": name.as_str(), "live_skill_path": self.live_path, "sha256_before": before,
                    "sha256_after": self.after, "backup_path": backup});
            }
            Role::ManagedSkill => "skill",
            Role::Memory => "memory",
        };
        json!({"target": target, "live_path": self.live_path, "sha256_before": before,
            "sha256_after": self.after, "backup_path": backup})
    }

    fn parse(kind: Kind, row: Value) -> Result<Self, String> {
        let text = |err: serde_json::Error| err.to_string();
        let wire = match kind {
            Kind::Legacy => serde_json::from_value::<WireManaged>(row).map_err(text)?,
            Kind::Skills => {
                let skill: WireSkill = serde_json::from_value(row).map_err(text)?;
                WireManaged {
                    target: skill.skill_name,
                    live_path: skill.live_skill_path,
                    sha256_before: skill.sha256_before,
                    sha256_after: skill.sha256_after,
                    backup_path: skill.backup_path,
                }
            }
        };
        let role = match (kind, wire.target.as_str()) {
            (Kind::Skills, name) => {
                Role::Skill(SkillName::parse(name).map_err(|err| err.to_string())?)
            }
            (Kind::Legacy, "skill") => Role::ManagedSkill,
            (Kind::Legacy, "memory") => Role::Memory,
            (Kind::Legacy, other) => return Err(format!("the target {other:?} is unknown")),
        };
        // A receipt can come from anywhere: what a manifest may not name, it may not either.
        let live_path = safe_live_path(&wire.live_path.to_string_lossy())?;
        check_name(&role, &live_path).map_err(|fault| fault.to_string())?;
        let before = match wire.sha256_before.as_str() {
            "" => None,
            sha => Some(Sha256Hex::parse(sha).map_err(|err| err.to_string())?),
        };
        let backup =
            Some(PathBuf::from(wire.backup_path)).filter(|path| !path.as_os_str().is_empty());
        if before.is_some() != backup.is_some() {
            return Err("a backup is missing, or is one too many".to_owned());
        }
        Ok(Self { role, live_path, before, after: wire.sha256_after, backup })
    }
}

/// A list of receipts as it is in the folder.
#[derive(Debug)]
pub(super) struct Receipts {
    pub(super) path: PathBuf,
    pub(super) file: Option<LiveFile>,
    pub(super) rows: Vec<Receipt>,
}

impl Receipts {
    pub(super) fn read(dir: &Path, kind: Kind) -> Result<Self, AdoptError> {
        let path = dir.join(kind.receipt_file());
        let invalid = |why: String| {
            AdoptError::InvalidStaging(format!("the receipts {} {why}", path.display()))
        };
        if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
            return Err(invalid("are not an ordinary file".to_owned()));
        }
        let file = LiveFile::read(&path).map_err(AdoptError::io("read", &path))?;
        let rows: Vec<Value> = match &file {
            None => Vec::new(),
            Some(file) => serde_json::from_slice(&file.bytes)
                .map_err(|err| invalid(format!("cannot be understood: {err}")))?,
        };
        let mut read = Vec::new();
        for row in rows {
            let receipt =
                Receipt::parse(kind, row).map_err(|why| invalid(format!("are damaged: {why}")))?;
            let own = backup_at(dir, &receipt.role, &receipt.live_path);
            if receipt.backup.as_ref().is_some_and(|backup| *backup != own) {
                return Err(invalid("name a backup elsewhere".to_owned()));
            }
            read.push(receipt);
        }
        Ok(Self { path, file, rows: read })
    }

    pub(super) fn of(&self, role: &Role) -> Option<&Receipt> {
        self.rows.iter().find(|receipt| receipt.role == *role)
    }

    /// The bytes of the list with more receipts at its end.
    pub(super) fn with(&self, more: &[Receipt]) -> Result<Vec<u8>, AdoptError> {
        let rows: Vec<Value> = self.rows.iter().chain(more).map(Receipt::to_json).collect();
        serde_json::to_vec_pretty(&rows)
            .map_err(|err| AdoptError::io("write", &self.path)(std::io::Error::other(err)))
    }
}

/// All receipts of a folder.
pub(super) fn all(dir: &Path) -> Result<Vec<Receipt>, AdoptError> {
    let mut rows = Receipts::read(dir, Kind::Legacy)?.rows;
    rows.extend(Receipts::read(dir, Kind::Skills)?.rows);
    Ok(rows)
}

/// Takes receipts out of the lists. A list without any is removed, as it was before the first one. The caller holds the
/// lock of the folder.
pub(super) fn put_away(dir: &Path, roles: &[Role]) -> Result<(), AdoptError> {
    for kind in [Kind::Legacy, Kind::Skills] {
        let mut receipts = Receipts::read(dir, kind)?;
        let n_before = receipts.rows.len();
        receipts.rows.retain(|receipt| !roles.contains(&receipt.role));
        if receipts.rows.len() == n_before {
            continue;
        }
        let path = &receipts.path;
        let done = match receipts.rows.is_empty() {
            true => live_file::remove(path),
            false => {
                let mode = receipts.file.as_ref().map_or(Mode::Private, Mode::Like);
                live_file::replace(path, &receipts.with(&[])?, mode)
            }
        };
        done.map_err(AdoptError::io("write", path))?;
    }
    Ok(())
}

/// The backup's bytes, if they are what the receipt says.
pub(super) fn backup_bytes(receipt: &Receipt) -> Option<Vec<u8>> {
    let live = live_file::LiveFile::read(receipt.backup.as_ref()?).ok()??;
    (Some(&live.sha) == receipt.before.as_ref()).then_some(live.bytes)
}
