//! Names and paths of a night: which are allowed, and when two are the same on some file system.
//! Looks at the file system where it must; writes nothing.

use std::io;
use std::path::{Component, Path, PathBuf};
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The name of a skill: one segment of a path on every system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// The name cannot be a file's on every system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be the name of a skill: {reason}")]
pub struct BadSkillName {
    /// The name.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl SkillName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`BadSkillName`] that says what is wrong with it.
    pub fn parse(name: &str) -> Result<Self, BadSkillName> {
        match fault_of(name) {
            None => Ok(Self(name.to_owned())),
            Some(reason) => Err(BadSkillName { name: name.escape_debug().to_string(), reason }),
        }
    }

    /// The name of a skill that may stand after its plugin's, as in `plugin:skill`: its folder has the last part.
    ///
    /// # Errors
    /// [`BadSkillName`] that says what is wrong with it.
    pub fn parse_qualified(name: &str) -> Result<Self, BadSkillName> {
        match name.split_once(':') {
            Some((plugin, skill)) if fault_of(plugin).is_none() => Self::parse(skill),
            _ => Self::parse(name),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file of its proposal in a staging folder.
    #[must_use]
    pub fn proposal_file(&self) -> String {
        format!("proposed_SKILL.{}.md", self.0)
    }
}

fn fault_of(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().trim().to_ascii_lowercase();
    if name.trim().is_empty() {
        Some("it is empty")
    } else if name.trim() != name || name.ends_with('.') {
        Some("it begins or ends with a blank or ends with a dot")
    } else if matches!(name, "." | "..") || name.starts_with('~') {
        Some("it is a place and no name")
    } else if name.chars().any(char::is_control) {
        Some("it has control characters in it")
    } else if name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']) {
        Some("it has characters in it that paths do not allow")
    } else if RESERVED.contains(&stem.as_str()) {
        Some("the name is a device on Windows")
    } else if name.len() > 200 {
        Some("it is longer than 200 bytes")
    } else {
        None
    }
}

/// Two texts with one key can be one file on some file system: case and composition of characters do not count.
#[must_use]
pub fn folded(text: &str) -> String {
    let composed: String = text.nfc().collect();
    UniCase::unicode(composed).to_folded_case()
}

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
    #[case("a:b")]
    #[case("con")]
    #[case("LPT1.x")]
    #[case("x.")]
    #[case("..")]
    #[case("x ")]
    #[case("")]
    #[case("~me")]
    #[case("a/b")]
    #[case("a\\b")]
    #[case("a\nb")]
    fn c108_names_that_some_system_cannot_store_are_refused_by_name(#[case] name: &str) {
        let err = SkillName::parse(name).unwrap_err();
        assert!(err.to_string().starts_with(&format!("`{}`", name.escape_debug())), "{err}");
    }

    #[test]
    fn f47_a_skill_of_a_plugin_has_the_name_of_its_folder() {
        assert_eq!(SkillName::parse_qualified("tools:research").unwrap().as_str(), "research");
        assert_eq!(SkillName::parse_qualified("research").unwrap().as_str(), "research");
        for bad in ["a:b:c", "../x:research", "tools:", ":research", "tools:../x"] {
            assert!(SkillName::parse_qualified(bad).is_err(), "{bad}");
        }
    }

    #[rstest]
    #[case("Research", "research")]
    #[case("caf\u{e9}", "cafe\u{301}")]
    #[case("stra\u{df}e", "STRASSE")]
    fn c108_twins_have_one_key(#[case] one: &str, #[case] other: &str) {
        assert_eq!(folded(one), folded(other));
    }

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
