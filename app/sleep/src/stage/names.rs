//! Paths of a night: which are allowed, and when two are the same on some file system.
//! Looks at the file system where it must; writes nothing.

use crate::skills::folded;
use std::io;
use std::path::{Component, Path, PathBuf};

/// [`folded`] for a path.
#[must_use]
pub fn folded_path(path: &Path) -> String {
    folded(&path.to_string_lossy())
}

/// A path that a document may have: from the root, without `..` and control characters, ending in `.md`.
///
/// # Errors
/// What is wrong with it.
pub fn safe_live_path(text: &str) -> Result<PathBuf, &'static str> {
    let raw = text.trim();
    let path = Path::new(raw);
    if raw.chars().any(char::is_control) {
        Err("it has control characters in it")
    } else if raw.starts_with('~') || !path.is_absolute() {
        Err("it does not begin at the root")
    } else if raw.split(['/', '\\']).any(|part| part == "..") {
        Err("it has `..` in it")
    } else if path.extension().is_none_or(|extension| extension != "md") {
        Err("it does not end in .md")
    } else {
        Ok(path.components().filter(|part| *part != Component::CurDir).collect())
    }
}

/// Where a path really is, symlinks followed; what does not exist yet is taken as it stands.
///
/// # Errors
/// What the operating system says.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => Ok(real_path(parent)?.join(name)),
                _ => Err(err),
            }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("/a/../b/SKILL.md")]
    #[case("a/SKILL.md")]
    #[case("~/SKILL.md")]
    #[case("/a/SKILL.txt")]
    #[case("/a\n/SKILL.md")]
    fn paths_that_lead_elsewhere_are_refused(#[case] path: &str) {
        assert!(safe_live_path(path).is_err());
    }
}
