//! Which documents of a night are adopted. Pure.

use super::error::AdoptError;
use super::journal::Kind;
use crate::stage::{Manifest, Role, Row};
use skillopt_domain::night::edit::EditRecord;

/// What a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Nothing: the managed pair, unless the night has skills of their own.
    Bare,
    /// The managed pair (`--legacy`).
    Managed,
    /// Of the managed pair, the skill alone.
    ManagedSkill,
    /// Of the managed pair, the memory alone.
    Memory,
    /// Skills of their own, by name (`--skill NAME`).
    Skills(Vec<String>),
    /// All skills of their own (`--all-skills`).
    AllSkills,
}

/// A document that was made of some of the night's edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// What it is.
    pub role: Role,
    /// Its text.
    pub text: String,
    /// The edits that it was made of.
    pub edits: Vec<EditRecord>,
}

impl Selection {
    /// The document that is meant, for choices that are made in one of them.
    ///
    /// # Errors
    /// [`AdoptError`] when it is none or several.
    pub fn only<'a>(&self, manifest: &'a Manifest) -> Result<&'a Row, AdoptError> {
        // Edits have numbers within their document: a night with one document needs no choice of it.
        let rows = match (self, manifest.rows.as_slice()) {
            (Self::Bare, [one]) => vec![one],
            _ => self.choose(manifest)?.1,
        };
        match rows.as_slice() {
            [one] => Ok(one),
            [] => Err(AdoptError::InvalidSelection("the night proposes no such document".into())),
            several => {
                let names: Vec<String> = several.iter().map(|row| row.role.to_string()).collect();
                Err(AdoptError::InvalidSelection(format!(
                    "edits are chosen in one document at a time; choose the document, too: {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// The rows that are meant, and the list of receipts that they go to.
    pub(super) fn choose<'a>(
        &self,
        manifest: &'a Manifest,
    ) -> Result<(Kind, Vec<&'a Row>), AdoptError> {
        let of = |wanted: fn(&Role) -> bool| -> Vec<&'a Row> {
            manifest.rows.iter().filter(|row| wanted(&row.role)).collect()
        };
        let skills = of(|role| matches!(role, Role::Skill(_)));
        match self {
            Self::Bare if !skills.is_empty() => {
                Err(AdoptError::SelectionRequired { available: names(&skills) })
            }
            Self::Bare | Self::Managed => {
                Ok((Kind::Legacy, of(|role| matches!(role, Role::ManagedSkill | Role::Memory))))
            }
            Self::ManagedSkill => {
                Ok((Kind::Legacy, must(of(|role| *role == Role::ManagedSkill), "skill")?))
            }
            Self::Memory => Ok((Kind::Legacy, must(of(|role| *role == Role::Memory), "memory")?)),
            Self::AllSkills | Self::Skills(_) if skills.is_empty() => {
                Err(AdoptError::NoStagedSkills)
            }
            Self::AllSkills => Ok((Kind::Skills, skills)),
            Self::Skills(wanted) => Ok((Kind::Skills, named(&skills, wanted)?)),
        }
    }
}

fn names(rows: &[&Row]) -> Vec<String> {
    rows.iter().filter_map(|row| name(row).map(str::to_owned)).collect()
}

fn name(row: &Row) -> Option<&str> {
    match &row.role {
        Role::Skill(name) => Some(name.as_str()),
        Role::ManagedSkill | Role::Memory => None,
    }
}

fn must<'a>(rows: Vec<&'a Row>, word: &str) -> Result<Vec<&'a Row>, AdoptError> {
    if rows.is_empty() {
        return Err(AdoptError::InvalidSelection(format!(
            "the night proposes nothing for the {word}"
        )));
    }
    Ok(rows)
}

fn named<'a>(skills: &[&'a Row], wanted: &[String]) -> Result<Vec<&'a Row>, AdoptError> {
    let wanted: Vec<&str> = wanted.iter().map(|name| name.trim()).collect();
    for (at, name_wanted) in wanted.iter().enumerate() {
        if !skills.iter().any(|row| name(row) == Some(name_wanted)) {
            let available = names(skills).join(", ");
            return Err(AdoptError::InvalidSelection(format!(
                "the night proposes nothing for the skill {name_wanted:?}; it has: {available}"
            )));
        }
        if wanted[..at].contains(name_wanted) {
            return Err(AdoptError::InvalidSelection(format!(
                "the skill {name_wanted:?} is chosen twice"
            )));
        }
    }
    Ok(skills
        .iter()
        .copied()
        .filter(|row| name(row).is_some_and(|name| wanted.contains(&name)))
        .collect())
}
