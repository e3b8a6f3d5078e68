//! Some of the edits of a proposal: what each builds on, and the document that chosen ones make. Writes nothing: what
//! it makes is adopted like any proposal.

use super::error::AdoptError;
use super::live_file::LiveFile;
use super::review::texts;
use super::select::Derived;
use crate::block::{AppliedEdits, EditStatus, apply_edits, entries, outside, slow_update};
use crate::stage::{Role, Row, check_file};
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord, Target};
use skillopt_domain::night::report::SleepReport;
use std::path::Path;

/// A proposal whose edits can be taken one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    role: Role,
    /// What the edits are made to.
    base: String,
    /// What all of them make.
    // Invariant: applying all edits to the base gives this text, and each of them changes something.
    proposed: String,
    edits: Vec<EditRecord>,
}

/// Why the edits of a proposal cannot be taken one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Whole {
    /// The night keeps no list of them.
    #[error("the night does not tell which edits make this document up")]
    NotTold,
    /// The proposal or what it was made from is gone, or was changed.
    #[error("the texts that the night laid aside are gone or were changed")]
    NoTexts,
    /// A slow update won as well.
    #[error(
        "the night also added guidance that is no edit, so its edits cannot be taken one by one"
    )]
    Guidance,
    /// A secret was masked in them, or they were made by other rules.
    #[error("the edits as the night tells them do not make up the document that it proposes")]
    OtherText,
}

impl Choice {
    /// The edits of a proposal, as its folder tells them.
    ///
    /// # Errors
    /// [`Whole`] when the proposal can only be taken as it is.
    pub fn of(dir: &Path, row: &Row) -> Result<Self, Whole> {
        let edits = report_edits(&report(dir).ok_or(Whole::NotTold)?, &row.role);
        let texts = texts(dir, row);
        let proposed = texts.proposed.ok_or(Whole::NoTexts)?;
        let base = match (&row.live_sha256, texts.baseline) {
            (Some(_), None) => return Err(Whole::NoTexts),
            (_, base) => base.unwrap_or_default(),
        };
        Self::new(row.role.clone(), &base, &proposed, edits)
    }

    /// Edits that make one text of another.
    ///
    /// # Errors
    /// [`Whole`] when they do not.
    pub fn new(
        role: Role,
        base: &str,
        proposed: &str,
        edits: Vec<EditRecord>,
    ) -> Result<Self, Whole> {
        if edits.is_empty() {
            return Err(Whole::NotTold);
        }
        let makes = |base: &String| {
            apply_edits(base, &edits).is_ok_and(|done| {
                done.text == proposed && done.statuses.iter().all(|one| *one == EditStatus::Applied)
            })
        };
        let found = bases(base, proposed).into_iter().find(makes);
        let base = found.ok_or_else(|| why_other(base, proposed))?;
        Ok(Self { role, base, proposed: proposed.to_owned(), edits })
    }

    /// The document.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// The edits, in the order in which they are made.
    #[must_use]
    pub fn edits(&self) -> &[EditRecord] {
        &self.edits
    }

    /// What all of them make.
    #[must_use]
    pub fn proposed(&self) -> &str {
        &self.proposed
    }

    /// For each edit the numbers, from 1, of those that it builds on: without one of them it changes nothing.
    #[must_use]
    pub fn needs(&self) -> Vec<Vec<u32>> {
        let mut needs = vec![Vec::new(); self.edits.len()];
        for left_out in 0..self.edits.len() {
            let taken: Vec<usize> = (0..self.edits.len()).filter(|at| *at != left_out).collect();
            let Ok(made) = apply_edits(&self.base, &self.at(&taken)) else { continue };
            for at in idle(&taken, &made) {
                needs[at].push(number(left_out));
            }
        }
        needs
    }

    /// The document that the edits with these numbers, from 1, make. `None` when they are all of them: that is the
    /// proposal itself.
    ///
    /// # Errors
    /// [`AdoptError::InvalidSelection`] when there are none, when a number names no edit or comes twice, when an edit
    /// builds on one that is left out, or when nothing would change.
    pub fn derive(&self, numbers: &[u32]) -> Result<Option<Derived>, AdoptError> {
        let taken = self.places(numbers)?;
        if taken.len() == self.edits.len() {
            return Ok(None);
        }
        let edits = self.at(&taken);
        let made = apply_edits(&self.base, &edits)
            .map_err(|damage| invalid(format!("{}: {damage}", self.role)))?;
        if let Some(at) = idle(&taken, &made).first() {
            return Err(invalid(self.idle_words(*at, &taken)));
        }
        if entries(&made.text) == entries(&self.base) {
            return Err(invalid(format!("the chosen edits leave {} as it is", self.role)));
        }
        Ok(Some(Derived { role: self.role.clone(), text: made.text, edits }))
    }

    /// The numbers of edits that a decision names; `None` when it names others than these.
    #[must_use]
    pub fn numbers_of(&self, edits: &[EditRecord]) -> Option<Vec<u32>> {
        let mut places = 0..self.edits.len();
        edits.iter().map(|edit| places.find(|at| self.edits[*at] == *edit).map(number)).collect()
    }

    /// All edits but those with these numbers.
    ///
    /// # Errors
    /// [`AdoptError::InvalidSelection`] when a number names no edit or comes twice.
    pub fn without(&self, numbers: &[u32]) -> Result<Vec<u32>, AdoptError> {
        let left_out = self.places(numbers)?;
        Ok((0..self.edits.len()).filter(|at| !left_out.contains(at)).map(number).collect())
    }

    /// Places from 0, in order.
    fn places(&self, numbers: &[u32]) -> Result<Vec<usize>, AdoptError> {
        if numbers.is_empty() {
            let text = format!("no edit of {} is chosen; reject it if none is wanted", self.role);
            return Err(invalid(text));
        }
        let mut places = Vec::new();
        for wanted in numbers {
            let place =
                (0..self.edits.len()).find(|at| number(*at) == *wanted).ok_or_else(|| {
                    invalid(format!(
                        "{} has no edit {wanted}; its edits have the numbers 1 to {}",
                        self.role,
                        self.edits.len()
                    ))
                })?;
            if places.contains(&place) {
                return Err(invalid(format!("edit {wanted} of {} is named twice", self.role)));
            }
            places.push(place);
        }
        places.sort_unstable();
        Ok(places)
    }

    fn at(&self, places: &[usize]) -> Vec<EditRecord> {
        places.iter().map(|at| self.edits[*at].clone()).collect()
    }

    fn idle_words(&self, at: usize, taken: &[usize]) -> String {
        let missing: Vec<String> = self.needs()[at]
            .iter()
            .filter(|needed| taken.iter().all(|at| number(*at) != **needed))
            .map(ToString::to_string)
            .collect();
        let (role, edit) = (&self.role, number(at));
        match missing.as_slice() {
            [] => format!("edit {edit} of {role} changes nothing beside the other chosen ones"),
            [one] => {
                format!("edit {edit} of {role} builds on edit {one}: take both, or leave both out")
            }
            several => format!(
                "edit {edit} of {role} builds on the edits {}: take them, too, or leave it out",
                several.join(" and ")
            ),
        }
    }
}

/// Of the edits that were made those that changed nothing.
fn idle(taken: &[usize], made: &AppliedEdits) -> Vec<usize> {
    let statuses = taken.iter().zip(&made.statuses);
    statuses.filter(|(_, status)| **status != EditStatus::Applied).map(|(at, _)| *at).collect()
}

fn invalid(text: String) -> AdoptError {
    AdoptError::InvalidSelection(text)
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Why edits do not make one text of the other.
fn why_other(base: &str, proposed: &str) -> Whole {
    let guidance = |text: &str| slow_update(text).ok().flatten();
    match guidance(proposed) {
        Some(new) if guidance(base).as_ref() != Some(&new) => Whole::Guidance,
        _ => Whole::OtherText,
    }
}

/// A live text that was empty or not there was begun by the night with a few lines of its own, which stand above the
/// block of the proposal.
fn bases(base: &str, proposed: &str) -> Vec<String> {
    let mut bases = vec![base.to_owned()];
    if base.is_empty()
        && let Ok(mut text) = outside(proposed)
    {
        for _ in 0..4 {
            bases.push(text.clone());
            match text.strip_suffix('\n') {
                Some(shorter) => text.truncate(shorter.len()),
                None => break,
            }
        }
    }
    bases
}

fn report(dir: &Path) -> Option<SleepReport> {
    let path = dir.join("report.json");
    check_file(&path).ok()?;
    serde_json::from_slice(&LiveFile::read(&path).ok()??.bytes).ok()
}

/// The edits that a report tells for a document.
#[must_use]
pub fn report_edits(report: &SleepReport, role: &Role) -> Vec<EditRecord> {
    let of = |target: Target| -> Vec<EditRecord> {
        report.edits.iter().filter(|edit| edit.target == target).cloned().collect()
    };
    match role {
        Role::ManagedSkill => of(Target::Skill),
        Role::Memory => of(Target::Memory),
        Role::Skill(name) => {
            let mut groups = report.skill_groups.iter();
            let group = groups.find(|group| group.skill_name == name.as_str());
            group.map_or_else(Vec::new, |group| group.edits.clone())
        }
    }
}

/// The guidance of a report that is part of what is proposed for a document.
#[must_use]
pub fn report_guidance(report: &SleepReport, role: &Role) -> Option<GuidanceRecord> {
    let guidance = match role {
        Role::ManagedSkill => report.guidance.as_ref(),
        Role::Memory => None,
        Role::Skill(name) => {
            let mut groups = report.skill_groups.iter();
            groups.find(|group| group.skill_name == name.as_str())?.guidance.as_ref()
        }
    };
    guidance.filter(|guidance| guidance.accepted).cloned()
}
