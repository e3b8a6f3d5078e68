//! `manifest.json` of a staging folder, version 2: what is proposed for which file, with the hashes of both.
//! Older and newer versions are refused, because nothing in them says which bytes were seen.

use super::names::safe_live_path;
use super::target::{Pinned, Role, check_name};
use crate::skills::{SkillName, folded};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillopt_domain::hash::Sha256Hex;
use std::io;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "skillopt-sleep-staging";
const VERSION: u64 = 2;

/// A manifest that was understood and is consistent in itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The night's edits may be adopted by the gate's word.
    pub accepted: bool,
    /// What is proposed, in the order of the manifest; the managed pair last.
    // Invariant: no role, file or live path twice; every path is safe.
    pub rows: Vec<Row>,
    /// Folders below which skills of their own lie.
    pub skill_roots: Vec<PathBuf>,
}

/// One proposed document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub role: Role,
    /// Its file in the staging folder.
    pub proposed_file: String,
    /// The live document's real place.
    pub live_path: PathBuf,
    /// Hash of the proposed bytes.
    pub sha256: Sha256Hex,
    /// Hash of the live bytes that the night saw; `None` when there was no file.
    pub live_sha256: Option<Sha256Hex>,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// There is none: the night was never published.
    #[error("{} has no manifest: the night did not come to its end", .0.display())]
    Missing(PathBuf),
    /// The file system refused, or the file is a symlink.
    #[error("cannot read the manifest in {}: {reason}", .dir.display())]
    Unreadable {
        /// The staging folder.
        dir: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
    /// Another program's, an older or a newer one.
    #[error("the manifest has a version that this program does not adopt; run the night again")]
    Version,
    /// A field is missing or says something impossible.
    #[error("the manifest is damaged: {0}; run the night again")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct Wire {
    schema: String,
    schema_version: u64,
    #[serde(default)]
    live_skill_path: String,
    #[serde(default)]
    live_memory_path: String,
    // Always false: an old release must take the night for one without proposal.
    has_skill: bool,
    has_memory: bool,
    #[serde(default)]
    has_managed_skill: bool,
    #[serde(default)]
    has_managed_memory: bool,
    #[serde(default)]
    accepted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skills: Option<Vec<WireSkill>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skill_roots: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    legacy: Option<Map<String, Value>>,
}

#[derive(Serialize, Deserialize)]
struct WireSkill {
    skill_name: String,
    proposed_file: String,
    live_skill_path: String,
    sha256: String,
    live_sha256: String,
    live_realpath: String,
}

#[derive(Serialize, Deserialize)]
struct WireManaged {
    proposed_file: String,
    live_path: String,
    sha256: String,
    live_sha256: String,
    live_realpath: String,
}

/// Paths of the managed pair, whether anything is proposed for them or not.
#[derive(Clone, Debug, Default)]
pub(super) struct ManagedPaths {
    pub(super) skill: PathBuf,
    pub(super) memory: PathBuf,
}

impl Manifest {
    /// Reads the manifest of a staging folder.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn read(dir: &Path) -> Result<Self, ManifestError> {
        let path = dir.join("manifest.json");
        let unreadable = |reason| ManifestError::Unreadable { dir: dir.to_owned(), reason };
        match path.symlink_metadata() {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::Missing(dir.to_owned()));
            }
            Err(err) => return Err(unreadable(err)),
            Ok(meta) if !meta.is_file() => {
                return Err(unreadable(io::Error::other("it is not an ordinary file")));
            }
            Ok(_) => {}
        }
        Self::parse(&std::fs::read(&path).map_err(unreadable)?)
    }

    /// Understands the bytes of a manifest.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let damaged = |err: serde_json::Error| ManifestError::Damaged(err.to_string());
        let value: Value = serde_json::from_slice(bytes).map_err(damaged)?;
        if value["schema"] != SCHEMA || value["schema_version"] != VERSION {
            return Err(ManifestError::Version);
        }
        let wire: Wire = serde_json::from_value(value).map_err(damaged)?;
        let mut rows = Vec::new();
        for skill in wire.skills.unwrap_or_default() {
            rows.push(skill.into_row()?);
        }
        for (word, row) in wire.legacy.unwrap_or_default() {
            let role = match word.as_str() {
                "skill" => Role::ManagedSkill,
                "memory" => Role::Memory,
                _ => return Err(ManifestError::Damaged(format!("`legacy.{word}` is unknown"))),
            };
            let row: WireManaged = serde_json::from_value(row).map_err(damaged)?;
            rows.push(row.into_row(&role)?);
        }
        let skill_roots = roots(wire.skill_roots.unwrap_or_default())?;
        let manifest = Self { accepted: wire.accepted, rows, skill_roots };
        manifest.check()?;
        Ok(manifest)
    }

    /// The row of a role.
    #[must_use]
    pub fn row(&self, role: &Role) -> Option<&Row> {
        self.rows.iter().find(|row| row.role == *role)
    }

    /// No role, file or live path stands in it twice.
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        let mut seen: Vec<[String; 3]> = Vec::new();
        for row in &self.rows {
            let keys = [
                format!("role {}", folded(&row.role.to_string())),
                format!("file {}", folded(&row.proposed_file)),
                format!("path {}", folded(&row.live_path.to_string_lossy())),
            ];
            let twice = seen.iter().flatten().find(|key| keys.contains(key));
            if let Some(key) = twice {
                return Err(ManifestError::Damaged(format!("`{key}` stands in it twice")));
            }
            seen.push(keys);
        }
        Ok(())
    }

    /// The bytes of the file.
    pub(super) fn to_bytes(&self, managed: &ManagedPaths) -> Result<Vec<u8>, serde_json::Error> {
        let shown = |path: &Path| path.display().to_string();
        let mut skills = Vec::new();
        let mut legacy = Map::new();
        for row in &self.rows {
            let live_sha256 = row.live_sha256.as_ref().map(ToString::to_string).unwrap_or_default();
            let wire = WireManaged {
                proposed_file: row.proposed_file.clone(),
                live_path: shown(&row.live_path),
                sha256: row.sha256.to_string(),
                live_sha256,
                live_realpath: shown(&row.live_path),
            };
            match &row.role {
                Role::ManagedSkill => {
                    legacy.insert("skill".into(), serde_json::to_value(wire)?);
                }
                Role::Memory => {
                    legacy.insert("memory".into(), serde_json::to_value(wire)?);
                }
                Role::Skill(name) => skills.push(wire.of_skill(name)),
            }
        }
        let has = |word: &str| legacy.contains_key(word);
        let roots: Vec<String> = self.skill_roots.iter().map(|root| shown(root)).collect();
        let wire = Wire {
            schema: SCHEMA.to_owned(),
            schema_version: VERSION,
            live_skill_path: shown(&managed.skill),
            live_memory_path: shown(&managed.memory),
            has_skill: false,
            has_memory: false,
            has_managed_skill: has("skill"),
            has_managed_memory: has("memory"),
            accepted: self.accepted,
            skill_roots: (!skills.is_empty() && !roots.is_empty()).then_some(roots),
            skills: (!skills.is_empty()).then_some(skills),
            legacy: (!legacy.is_empty()).then_some(legacy),
        };
        serde_json::to_vec_pretty(&wire)
    }
}

impl Row {
    /// The file in the staging folder with the live document as the night saw it; absent when there was none, and in
    /// folders of the reference system.
    #[must_use]
    pub fn baseline_file(&self) -> String {
        let name = self.proposed_file.strip_prefix("proposed_").unwrap_or(&self.proposed_file);
        format!("baseline_{name}")
    }

    /// The file in the staging folder with the difference between the two: `proposed_SKILL.diff`.
    #[must_use]
    pub fn diff_file(&self) -> String {
        format!("{}.diff", self.proposed_file.strip_suffix(".md").unwrap_or(&self.proposed_file))
    }

    pub(super) fn of(pinned: &Pinned, text: &str) -> Self {
        let memory = || pinned.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            proposed_file: match &pinned.role {
                Role::ManagedSkill => "proposed_SKILL.md".to_owned(),
                Role::Memory => format!("proposed_{}", memory()),
                Role::Skill(name) => name.proposal_file(),
            },
            role: pinned.role.clone(),
            live_path: pinned.path.clone(),
            sha256: Sha256Hex::of(text),
            live_sha256: pinned.sha.clone(),
        }
    }
}

impl WireSkill {
    fn into_row(self) -> Result<Row, ManifestError> {
        let name = SkillName::parse(&self.skill_name)
            .map_err(|err| ManifestError::Damaged(err.to_string()))?;
        let file = name.proposal_file();
        let managed = WireManaged {
            proposed_file: self.proposed_file,
            live_path: self.live_skill_path,
            sha256: self.sha256,
            live_sha256: self.live_sha256,
            live_realpath: self.live_realpath,
        };
        let row = managed.into_row(&Role::Skill(name))?;
        if row.proposed_file != file {
            return Err(ManifestError::Damaged(format!("the proposal must be in {file}")));
        }
        Ok(row)
    }
}

impl WireManaged {
    fn into_row(self, role: &Role) -> Result<Row, ManifestError> {
        let damaged = |what: String| ManifestError::Damaged(format!("{role}: {what}"));
        let live_path = safe_live_path(&self.live_path).map_err(|why| damaged(why.to_owned()))?;
        let real = safe_live_path(&self.live_realpath).map_err(|why| damaged(why.to_owned()))?;
        if real != live_path {
            return Err(damaged("its path leads through a symlink".to_owned()));
        }
        check_name(role, &live_path).map_err(|fault| damaged(fault.to_string()))?;
        let is_plain = !self.proposed_file.contains(['/', '\\', '\0'])
            && self.proposed_file.starts_with("proposed_");
        if !is_plain {
            return Err(damaged("its proposal is not in the staging folder".to_owned()));
        }
        let hash = |text: &str| {
            Sha256Hex::parse(text).map_err(|err| damaged(format!("a hash is missing: {err}")))
        };
        Ok(Row {
            sha256: hash(&self.sha256)?,
            live_sha256: match self.live_sha256.as_str() {
                "" => None,
                text => Some(hash(text)?),
            },
            role: role.clone(),
            proposed_file: self.proposed_file,
            live_path,
        })
    }

    fn of_skill(self, name: &SkillName) -> WireSkill {
        WireSkill {
            skill_name: name.as_str().to_owned(),
            proposed_file: self.proposed_file,
            live_skill_path: self.live_path,
            sha256: self.sha256,
            live_sha256: self.live_sha256,
            live_realpath: self.live_realpath,
        }
    }
}

fn roots(texts: Vec<String>) -> Result<Vec<PathBuf>, ManifestError> {
    let paths = texts.into_iter().map(PathBuf::from);
    paths
        .map(|path| match path.is_absolute() {
            true => Ok(path),
            false => Err(ManifestError::Damaged("`skill_roots` must begin at the root".to_owned())),
        })
        .collect()
}
