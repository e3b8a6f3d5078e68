//! Documents that a night may propose changes to: what they must be like, and their bytes as they were read.
//! Everything that an adoption would refuse is refused here, before a model is called. Reads only.

use super::names::{folded_path, real_path, safe_live_path};
use crate::adopt::live_file::LiveFile;
use crate::skills::{SkillName, folded};
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Which file is the project's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryFile {
    /// What Claude Code reads.
    #[default]
    #[serde(rename = "CLAUDE.md")]
    Claude,
    /// What Codex and others read.
    #[serde(rename = "AGENTS.md")]
    Agents,
}

impl MemoryFile {
    /// Both, in the order of forms.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Agents];

    /// The name of the file.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Agents => "AGENTS.md",
        }
    }
}

/// What a document is to a night.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The one skill that learns from everything.
    ManagedSkill,
    /// The project's memory.
    Memory,
    /// A skill of its own.
    Skill(SkillName),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManagedSkill => f.write_str("the managed skill"),
            Self::Memory => f.write_str("the memory"),
            Self::Skill(name) => write!(f, "the skill {}", name.as_str()),
        }
    }
}

/// A document that a night wants to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// What it is.
    pub role: Role,
    /// Where it is, from the root.
    pub path: PathBuf,
}

/// A document as it was read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// What it is.
    pub role: Role,
    /// Its real place, symlinked folders followed.
    pub path: PathBuf,
    /// Hash of its bytes; `None` when there was no file.
    pub sha: Option<Sha256Hex>,
    /// Its text; empty when there was no file.
    pub text: String,
}

impl Pinned {
    /// The hash as manifests have it: empty for a file that was not there.
    #[must_use]
    pub fn pin(&self) -> &str {
        self.sha.as_ref().map_or("", Sha256Hex::as_str)
    }
}

/// A document that no adoption could write.
#[derive(Debug, thiserror::Error)]
#[error("{role} at {} cannot be changed: {fault}", .path.display())]
pub struct TargetError {
    /// What it is.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong.
    pub fault: TargetFault,
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
pub enum TargetFault {
    /// The path breaks a rule.
    #[error("the path is refused, because {0}")]
    Path(&'static str),
    /// The file has another name than its role asks for.
    #[error("the file must be named {expected}{hint}")]
    Name {
        /// The name.
        expected: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// The folder of a skill is not named after it.
    #[error("its folder must be named {0}")]
    Folder(String),
    /// A symlink.
    #[error("it is a symlink; name the file that it leads to")]
    Symlink,
    /// Several names for one file.
    #[error("it has several hard links")]
    HardLinks,
    /// A folder, a device or the like.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// Bytes that are no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The folder is missing.
    #[error("its folder does not exist")]
    NoFolder,
    /// The folder cannot be written.
    #[error("its folder may not be written")]
    ReadOnly,
    /// Not below an allowed folder.
    #[error("it is outside of the folders for skills ({0})")]
    Outside(String),
    /// Another document has the same name or place.
    #[error("it is the same file as {0}, or would be on some systems")]
    Collides(Role),
    /// The file system does not answer.
    #[error("{0}")]
    Unreadable(io::Error),
}

/// Reads all documents of a night once, and refuses what could not be adopted. `roots` are the folders below which
/// skills of their own must lie.
///
/// # Errors
/// [`TargetError`] for the first document with a fault.
pub fn check_targets(specs: &[TargetSpec], roots: &[PathBuf]) -> Result<Vec<Pinned>, TargetError> {
    let mut pinned: Vec<Pinned> = Vec::new();
    for spec in specs {
        let failed =
            |fault| TargetError { role: spec.role.clone(), path: spec.path.clone(), fault };
        let read = pin(spec).map_err(failed)?;
        if matches!(spec.role, Role::Skill(_)) && !is_inside(&read.path, roots) {
            let shown: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
            return Err(failed(TargetFault::Outside(shown.join(", "))));
        }
        if let Some(other) = pinned.iter().find(|other| collide(other, &read)) {
            return Err(failed(TargetFault::Collides(other.role.clone())));
        }
        pinned.push(read);
    }
    Ok(pinned)
}

fn pin(spec: &TargetSpec) -> Result<Pinned, TargetFault> {
    let path = safe_live_path(&spec.path.to_string_lossy()).map_err(TargetFault::Path)?;
    check_name(&spec.role, &path)?;
    check_file(&path)?;
    let real = real_path(&path).map_err(TargetFault::Unreadable)?;
    check_name(&spec.role, &real)?;
    check_folder(&spec.role, &real)?;
    let live = LiveFile::read(&real).map_err(TargetFault::Unreadable)?;
    let (bytes, sha) = live.map_or((Vec::new(), None), |live| (live.bytes, Some(live.sha)));
    let text = String::from_utf8(bytes).map_err(|_| TargetFault::NotUtf8)?;
    Ok(Pinned { role: spec.role.clone(), path: real, sha, text })
}

pub(crate) fn check_name(role: &Role, path: &Path) -> Result<(), TargetFault> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_memory_file = MemoryFile::ALL.iter().any(|file| file.file_name() == name);
    match role {
        Role::Memory if is_memory_file => Ok(()),
        Role::Memory => Err(TargetFault::Name { expected: "CLAUDE.md or AGENTS.md", hint: "" }),
        Role::ManagedSkill | Role::Skill(_) if name != "SKILL.md" => Err(TargetFault::Name {
            expected: "SKILL.md",
            hint: if is_memory_file { "; for this file set `memory_target`" } else { "" },
        }),
        Role::ManagedSkill => Ok(()),
        Role::Skill(skill) => {
            let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
            if folded(&folder.to_string_lossy()) == folded(skill.as_str()) {
                Ok(())
            } else {
                Err(TargetFault::Folder(skill.as_str().to_owned()))
            }
        }
    }
}

/// What is there may be replaced: nothing, or an ordinary file with one name.
pub(crate) fn check_file(path: &Path) -> Result<(), TargetFault> {
    let meta = match path.symlink_metadata() {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(TargetFault::Unreadable)?,
    };
    if meta.is_symlink() {
        return Err(TargetFault::Symlink);
    }
    if !meta.is_file() {
        return Err(TargetFault::NotAFile);
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&meta) != 1 {
        return Err(TargetFault::HardLinks);
    }
    Ok(())
}

/// The folder can take the file. That of the managed pair may still have to be made.
fn check_folder(role: &Role, path: &Path) -> Result<(), TargetFault> {
    let mut folder = path.parent().ok_or(TargetFault::NoFolder)?;
    if matches!(role, Role::Skill(_)) && !folder.is_dir() {
        return Err(TargetFault::NoFolder);
    }
    while !folder.exists() {
        folder = folder.parent().ok_or(TargetFault::NoFolder)?;
    }
    if !folder.is_dir() {
        return Err(TargetFault::NoFolder);
    }
    #[cfg(unix)]
    if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(TargetFault::ReadOnly);
    }
    Ok(())
}

pub(crate) fn is_inside(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().filter_map(|root| real_path(root).ok()).any(|root| path.starts_with(root))
}

fn collide(one: &Pinned, other: &Pinned) -> bool {
    let same_name = match (&one.role, &other.role) {
        (Role::Skill(one), Role::Skill(other)) => folded(one.as_str()) == folded(other.as_str()),
        (one, other) => one == other,
    };
    same_name || folded_path(&one.path) == folded_path(&other.path)
}
