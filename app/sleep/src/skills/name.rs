//! Names of skills: one path component that every file system takes.

use std::collections::BTreeMap;
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// Longest name, in characters.
const MAX_CHARS: usize = 100;

/// Names that some systems keep for devices, with and without an extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name of a skill, in the Unicode form NFC. Invariant: a single path component without separators, drive letters,
/// control characters and names of devices; it does not end with a dot.
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
    /// More than 100 characters.
    TooLong,
    /// `.`, `..`, or it ends with a dot.
    Dots,
    /// It starts with `~`.
    Home,
    /// It holds `/`, `\` or `:`.
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
            Self::TooLong => "it is longer than 100 characters",
            Self::Dots => "it is made of dots or ends with one",
            Self::Home => "it starts with `~`",
            Self::Separator => "it holds `/`, `\\` or `:`",
            Self::Control => "it holds a character that cannot be seen",
            Self::Device => "some systems keep it for a device",
        })
    }
}

impl SkillName {
    /// Checks a name. Blanks around it do not count.
    ///
    /// # Errors
    /// [`BadSkillName`] with what is wrong.
    pub fn parse(text: &str) -> Result<Self, BadSkillName> {
        let name: String = text.trim().nfc().collect();
        match flaw(&name) {
            Some(flaw) => Err(BadSkillName { name: text.to_owned(), flaw }),
            None => Ok(Self(name)),
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
}

impl FoldedName {
    /// Folds any text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let folded = text.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
        Self(folded.nfc().collect())
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
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
    if name.is_empty() {
        Some(NameFlaw::Empty)
    } else if name.chars().count() > MAX_CHARS {
        Some(NameFlaw::TooLong)
    } else if name.contains(['/', '\\', ':']) {
        Some(NameFlaw::Separator)
    } else if name.contains(is_hidden) {
        Some(NameFlaw::Control)
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
    #[case("research", "research")]
    #[case("research ", "research")]
    #[case("Größe 2.0", "Größe 2.0")]
    #[case("cafe\u{301}", "caf\u{e9}")]
    #[case("com10", "com10")]
    #[case("console", "console")]
    fn legal_names_have_one_form(#[case] text: &str, #[case] name: &str) {
        assert_eq!(SkillName::parse(text).expect("a name").as_str(), name);
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
