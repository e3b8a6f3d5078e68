//! Some of the edits of a night's documents: the documents that they make, for those who look and for those who adopt.

use super::decide::{key_of, role_of, stray};
use super::view::look_closely;
use skillopt_domain::api::{DerivedDocument, EditChoice};
use skillopt_domain::night::edit::EditRecord;
use skillopt_sleep::adopt::{AdoptError, Choice, Derived, Selection, texts};
use skillopt_sleep::stage::{Manifest, Role, Row};
use std::path::Path;

/// Which edits of a document are taken, by number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// These.
    Only(Vec<u32>),
    /// All but these.
    AllBut(Vec<u32>),
}

/// What the chosen edits make of the one document that is selected. Blocks.
///
/// # Errors
/// [`AdoptError`] when it is not one document, or its edits cannot be taken so.
pub(crate) fn derived_of(
    dir: &Path,
    selection: &Selection,
    taking: &Taking,
) -> Result<Option<Derived>, AdoptError> {
    let manifest = Manifest::read(dir)?;
    let choice = choice_of(dir, selection.only(&manifest)?)?;
    match taking {
        Taking::Only(numbers) => choice.derive(numbers),
        Taking::AllBut(numbers) => choice.derive(&choice.without(numbers)?),
    }
}

/// What the chosen edits make of each document that is named; what all its edits make is the proposal itself and not
/// among them. Blocks.
///
/// # Errors
/// [`AdoptError`] when a document is not there or named twice, or its edits cannot be taken so.
pub(crate) fn chosen(dir: &Path, choices: &[EditChoice]) -> Result<Vec<Derived>, AdoptError> {
    let manifest = Manifest::read(dir)?;
    let mut derived = Vec::new();
    for (choice, row) in rows(&manifest, choices)? {
        derived.extend(choice_of(dir, row)?.derive(&choice.edits)?);
    }
    Ok(derived)
}

/// As [`chosen`], to be looked at; with roles, only edits of these can be chosen. Blocks.
///
/// # Errors
/// As [`chosen`], and when a role is of no document of the night.
pub(crate) fn previewed(
    dir: &Path,
    roles: &[Role],
    choices: &[EditChoice],
) -> Result<Vec<DerivedDocument>, AdoptError> {
    let manifest = Manifest::read(dir)?;
    if let Some(role) = roles.iter().find(|role| manifest.row(role).is_none()) {
        return Err(nothing_for(role));
    }
    let closer = look_closely(dir);
    let mut documents = Vec::new();
    for (wanted, row) in rows(&manifest, choices)? {
        if !roles.is_empty() && !roles.contains(&row.role) {
            return Err(stray(&row.role));
        }
        let choice = choice_of(dir, row)?;
        let derived = choice.derive(&wanted.edits)?;
        let after = derived.map_or_else(|| choice.proposed().to_owned(), |derived| derived.text);
        let before = texts(dir, row).baseline.unwrap_or_default();
        documents.push(DerivedDocument {
            key: key_of(&row.role),
            edits: wanted.edits.clone(),
            risks: closer.risks(&before, &after),
            is_measured: after == choice.proposed(),
            after,
        });
    }
    Ok(documents)
}

/// The edits of a document with their numbers and what they build on, for people; empty when they cannot be taken one by
/// one. Blocks.
pub(crate) fn told_edits(dir: &Path, row: &Row) -> Vec<(EditRecord, Vec<u32>)> {
    let Ok(choice) = Choice::of(dir, row) else { return Vec::new() };
    choice.edits().iter().cloned().zip(choice.needs()).collect()
}

fn choice_of(dir: &Path, row: &Row) -> Result<Choice, AdoptError> {
    Choice::of(dir, row).map_err(|whole| {
        let role = &row.role;
        AdoptError::InvalidSelection(format!("the edits of {role} cannot be chosen: {whole}"))
    })
}

fn nothing_for(role: &Role) -> AdoptError {
    AdoptError::InvalidSelection(format!("the night proposes nothing for {role}"))
}

fn rows<'a>(
    manifest: &'a Manifest,
    choices: &'a [EditChoice],
) -> Result<Vec<(&'a EditChoice, &'a Row)>, AdoptError> {
    let mut rows: Vec<(&EditChoice, &Row)> = Vec::new();
    for choice in choices {
        let role = role_of(&choice.key)?;
        let row = manifest.row(&role).ok_or_else(|| nothing_for(&role))?;
        if rows.iter().any(|(_, known)| known.role == role) {
            let text = format!("the edits of {role} are chosen twice");
            return Err(AdoptError::InvalidSelection(text));
        }
        rows.push((choice, row));
    }
    Ok(rows)
}
