//! Names of skills: one path component that every file system takes.

use std::collections::BTreeMap;
use std::fmt;
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

/// Longest name, in bytes: with what stands around it, it has to be the name of a file.
const MAX_BYTES: usize = 200;

/// Names that some systems keep for devices, with and without an extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name of a skill. Invariant: a single path component without separators, drive letters, wildcards, control
/// characters and names of devices; no blank stands around it, and it does not end with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// A name without case and Unicode form: two names with the same one are the same file on some systems.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldedName(String);

/// A name that no skill can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be the name of a skill: {flaw}")]
pub struct BadSkillName {
    /// The name.
    pub name: String,
    /// What is wrong.
    pub flaw: NameFlaw,
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFlaw {
    /// There is nothing.
    Empty,
    /// A blank stands around it.
    Blanks,
    /// More than 200 bytes.
    TooLong,
    /// `.`, `..`, or it ends with a dot.
    Dots,
    /// It starts with `~`.
    Home,
    /// It holds a character that some system's paths do not allow in a name.
    Separator,
    /// It holds a control character or one that cannot be seen.
    Control,
    /// Some systems keep it for a device.
    Device,
}

impl fmt::Display for NameFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Blanks => "it begins or ends with a blank",
            Self::TooLong => "it is longer than 200 bytes",
            Self::Dots => "it is made of dots or ends with one",
            Self::Home => "it starts with `~`",
            Self::Separator => "it holds one of `/`, `\\`, `:`, `*`, `?`, `\"`, `<`, `>` and `|`",
            Self::Control => "it holds a character that cannot be seen",
            Self::Device => "some systems keep it for a device",
        })
    }
}

impl SkillName {
    /// Checks a name, and keeps its bytes.
    ///
    /// # Errors
    /// [`BadSkillName`] with what is wrong.
    pub fn parse(name: &str) -> Result<Self, BadSkillName> {
        match flaw(name) {
            Some(flaw) => Err(BadSkillName { name: name.to_owned(), flaw }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// The name of a skill that may stand after its plugin's, as in `plugin:skill`: its folder has the last part.
    ///
    /// # Errors
    /// [`BadSkillName`] with what is wrong.
    pub fn parse_qualified(name: &str) -> Result<Self, BadSkillName> {
        match name.split_once(':') {
            Some((plugin, skill)) if flaw(plugin).is_none() => Self::parse(skill),
            _ => Self::parse(name),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as file systems compare it.
    #[must_use]
    pub fn folded(&self) -> FoldedName {
        FoldedName::of(&self.0)
    }

    /// The file of its proposal in a staging folder.
    #[must_use]
    pub fn proposal_file(&self) -> String {
        format!("proposed_SKILL.{}.md", self.0)
    }
}

impl FoldedName {
    /// Folds any text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(folded(text))
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Two texts with one key can be one file on some file system: case and composition of characters do not count.
#[must_use]
pub fn folded(text: &str) -> String {
    let composed: String = text.nfc().collect();
    UniCase::unicode(composed).to_folded_case()
}

/// Groups of two and more names that are one file on some systems.
#[must_use]
pub fn collisions<'a>(names: impl IntoIterator<Item = &'a SkillName>) -> Vec<Vec<&'a SkillName>> {
    let mut by_fold: BTreeMap<FoldedName, Vec<&SkillName>> = BTreeMap::new();
    for name in names {
        by_fold.entry(name.folded()).or_default().push(name);
    }
    by_fold.into_values().filter(|names| names.len() > 1).collect()
}

fn flaw(name: &str) -> Option<NameFlaw> {
    let stem = name.split('.').next().unwrap_or_default().trim().to_lowercase();
    let is_port = ["com", "lpt"].iter().any(|port| {
        stem.strip_prefix(port).is_some_and(|rest| {
            rest.chars().count() == 1
                && rest.contains(|c: char| matches!(c, '0'..='9' | '¹' | '²' | '³'))
        })
    });
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if name.trim().is_empty() {
        Some(NameFlaw::Empty)
    } else if name.len() > MAX_BYTES {
        Some(NameFlaw::TooLong)
    } else if name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']) {
        Some(NameFlaw::Separator)
    } else if name.contains(is_hidden) {
        Some(NameFlaw::Control)
    } else if name.trim() != name {
        Some(NameFlaw::Blanks)
    } else if name.ends_with('.') {
        Some(NameFlaw::Dots)
    } else if name.starts_with('~') {
        Some(NameFlaw::Home)
    } else if is_port || DEVICES.contains(&stem.as_str()) {
        Some(NameFlaw::Device)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", NameFlaw::Empty)]
    #[case("  ", NameFlaw::Empty)]
    #[case("a:b", NameFlaw::Separator)]
    #[case("a/b", NameFlaw::Separator)]
    #[case("/etc", NameFlaw::Separator)]
    #[case("C:\\x", NameFlaw::Separator)]
    #[case("what?", NameFlaw::Separator)]
    #[case("x ", NameFlaw::Blanks)]
    #[case("LPT1.x", NameFlaw::Device)]
    #[case("a\\b", NameFlaw::Separator)]
    #[case("con", NameFlaw::Device)]
    #[case("NUL.md", NameFlaw::Device)]
    #[case("Com1", NameFlaw::Device)]
    #[case("x.", NameFlaw::Dots)]
    #[case(".", NameFlaw::Dots)]
    #[case("..", NameFlaw::Dots)]
    #[case("~root", NameFlaw::Home)]
    #[case("a\u{202e}b", NameFlaw::Control)]
    #[case("a\nb", NameFlaw::Control)]
    fn c108_illegal_names_are_typed_errors_that_name_the_skill(
        #[case] name: &str,
        #[case] flaw: NameFlaw,
    ) {
        let err = SkillName::parse(name).expect_err("refused");
        assert_eq!(err.flaw, flaw);
        assert!(err.to_string().contains(&format!("{name:?}")), "{err}");
    }

    #[rstest]
    #[case("research")]
    #[case("Größe 2.0")]
    #[case("cafe\u{301}")]
    #[case("com10")]
    #[case("console")]
    fn legal_names_keep_their_bytes(#[case] name: &str) {
        assert_eq!(SkillName::parse(name).expect("a name").as_str(), name);
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

    #[test]
    fn c108_names_that_differ_by_case_or_form_collide() {
        let names: Vec<SkillName> = ["Research", "other", "research", "Café", "cafe\u{301}"]
            .iter()
            .map(|name| SkillName::parse(name).expect("a name"))
            .collect();
        let found = collisions(&names);
        assert_eq!(found, [vec![&names[3], &names[4]], vec![&names[0], &names[2]]]);
    }
}
