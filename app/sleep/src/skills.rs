//! Finds skills by name, and only inside of their roots. Names are compared without case and in one Unicode form,
//! because file systems do; what a name leads to has to stay under the root that it was found in, links and all.

mod name;
mod roots;
mod version;

pub use name::{BadSkillName, FoldedName, NameFlaw, SkillName, collisions, folded};
pub use roots::{RootPlaces, skill_roots};
pub use version::PluginVersion;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The file that a skill is.
const SKILL_FILE: &str = "SKILL.md";

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundSkill {
    /// The file, without links.
    pub path: PathBuf,
    /// The root that it was found in, without links.
    pub root: PathBuf,
    /// The folder's name as it stands there.
    pub name: String,
}

/// What looking for a name came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// There is one.
    Found(FoundSkill),
    /// There is none in these roots.
    Missing {
        /// The roots.
        roots: Vec<PathBuf>,
    },
    /// There are several different ones, and no way to know which was meant.
    Ambiguous(Vec<FoundSkill>),
    /// The name is no name of a skill, or what it leads to is outside of its root.
    Rejected(Rejection),
}

/// Why a name was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The name cannot be one.
    #[error(transparent)]
    Name(#[from] BadSkillName),
    /// A link leads out.
    #[error("skill `{name}`: {} leads out of its root {}", path.display(), root.display())]
    OutsideRoot {
        /// The name.
        name: String,
        /// The file as it stands in the root.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(found) => write!(f, "{}", found.path.display()),
            Self::Missing { roots } => {
                write!(f, "there is no such skill in {}", list(roots.iter().map(PathBuf::as_path)))
            }
            Self::Ambiguous(found) => {
                let paths = list(found.iter().map(|one| one.path.as_path()));
                write!(f, "several skills have this name: {paths}")
            }
            Self::Rejected(rejection) => rejection.fmt(f),
        }
    }
}

fn list<'a>(paths: impl Iterator<Item = &'a Path>) -> String {
    paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Looks for a skill in roots, in their order. Folders whose names differ in case or Unicode form only are the same
/// name; two different files with it are ambiguous. Reads folders, changes nothing.
#[must_use]
pub fn resolve_skill(name: &str, roots: &[PathBuf]) -> Resolution {
    let name = match SkillName::parse(name.trim()) {
        Ok(name) => name,
        Err(err) => return Resolution::Rejected(err.into()),
    };
    let mut found: BTreeMap<PathBuf, FoundSkill> = BTreeMap::new();
    let mut order: Vec<PathBuf> = Vec::new();
    let mut refused: Option<Rejection> = None;
    for root in roots {
        for hit in find_in(root, &name) {
            match hit {
                Ok(skill) if found.contains_key(&skill.path) => {}
                Ok(skill) => {
                    order.push(skill.path.clone());
                    found.insert(skill.path.clone(), skill);
                }
                Err(rejection) => refused = refused.or(Some(rejection)),
            }
        }
    }
    let mut skills: Vec<FoundSkill> = order.iter().filter_map(|path| found.remove(path)).collect();
    match (skills.pop(), refused) {
        // A link that leads out is told even when another root has the name: someone put it there.
        (_, Some(rejection)) => Resolution::Rejected(rejection),
        (None, None) => Resolution::Missing { roots: roots.to_vec() },
        (Some(only), None) if skills.is_empty() => Resolution::Found(only),
        (Some(last), None) => {
            skills.push(last);
            Resolution::Ambiguous(skills)
        }
    }
}

/// As [`resolve_skill`], for a name that may stand after its plugin's, as in `plugin:skill`: it is looked for in the
/// roots of that plugin, and in all of them when there is no such plugin.
#[must_use]
pub fn resolve_qualified(name: &str, roots: &[PathBuf]) -> Resolution {
    let name = name.trim();
    let skill = match SkillName::parse_qualified(name) {
        Ok(skill) => skill,
        Err(err) => return Resolution::Rejected(err.into()),
    };
    let Some((plugin, _)) = name.split_once(':') else {
        return resolve_skill(skill.as_str(), roots);
    };
    // `<plugin>/skills`, or `<plugin>/<version>/skills`.
    let folded = FoldedName::of(plugin);
    let is_of_plugin = |root: &&PathBuf| {
        root.components()
            .rev()
            .skip(1)
            .take(2)
            .any(|part| FoldedName::of(&part.as_os_str().to_string_lossy()) == folded)
    };
    let own: Vec<PathBuf> = roots.iter().filter(is_of_plugin).cloned().collect();
    resolve_skill(skill.as_str(), if own.is_empty() { roots } else { &own })
}

fn find_in(root: &Path, name: &SkillName) -> Vec<Result<FoundSkill, Rejection>> {
    let Ok(real_root) = root.canonicalize() else { return Vec::new() };
    let Ok(folders) = std::fs::read_dir(&real_root) else { return Vec::new() };
    let mut folders: Vec<String> = folders
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|folder| FoldedName::of(folder) == name.folded())
        .collect();
    folders.sort();
    let skill = |folder: String| {
        let path = real_root.join(&folder).join(SKILL_FILE);
        let real = path.canonicalize().ok().filter(|real| real.is_file())?;
        Some(if real.starts_with(&real_root) {
            Ok(FoundSkill { path: real, root: real_root.clone(), name: folder })
        } else {
            Err(Rejection::OutsideRoot {
                name: name.as_str().to_owned(),
                path,
                root: real_root.clone(),
            })
        })
    };
    folders.into_iter().filter_map(skill).collect()
}

#[cfg(test)]
mod tests;
