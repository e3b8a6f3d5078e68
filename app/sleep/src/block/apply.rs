//! Edits on the block: what each of them does, and why not.

use super::entry::{Entry, likeness, split_content};
use super::layout::{START, holds_marker};
use super::{Block, BlockDamage, fence, write};
use serde::{Deserialize, Serialize};
use skillopt_domain::night::edit::{EditOp, EditRecord};
use skillopt_domain::skill::Eol;

/// Longest entry, in characters. A rule that needs more is no rule.
pub const MAX_ENTRY_CHARS: usize = 2000;

/// What became of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditStatus {
    /// The block changed by it.
    Applied,
    /// The block says so already.
    Duplicate,
    /// It has no content, or nothing to look for.
    Blank,
    /// No entry contains the anchor.
    NotFound,
    /// The entries say so already.
    Unchanged,
    /// It holds the marker of a region.
    ContainsMarker,
    /// An entry would be longer than [`MAX_ENTRY_CHARS`].
    TooLong,
    /// It opens a code fence or a comment that it does not close.
    BrokenMarkdown,
}

/// The document after edits, and what became of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedEdits {
    /// The whole document.
    pub text: String,
    /// One for each edit, in order.
    pub statuses: Vec<EditStatus>,
}

impl AppliedEdits {
    /// Something was applied.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.statuses.contains(&EditStatus::Applied)
    }

    /// The edits that were applied, out of those that were given.
    pub fn applied<'a>(&self, edits: &'a [EditRecord]) -> Vec<&'a EditRecord> {
        self.chosen(edits, |status| status == EditStatus::Applied)
    }

    /// The edits that changed nothing: the report's `unmatched_edits`.
    pub fn unmatched<'a>(&self, edits: &'a [EditRecord]) -> Vec<&'a EditRecord> {
        self.chosen(edits, |status| status != EditStatus::Applied)
    }

    fn chosen<'a>(
        &self,
        edits: &'a [EditRecord],
        is_chosen: impl Fn(EditStatus) -> bool,
    ) -> Vec<&'a EditRecord> {
        edits
            .iter()
            .zip(&self.statuses)
            .filter(|(_, status)| is_chosen(**status))
            .map(|(edit, _)| edit)
            .collect()
    }
}

/// Applies edits to the learned block, in order, each on what the ones before left. The block is made at the end of the
/// document when there is none, in the document's own line ends. A document that no edit changes is returned as it was.
///
/// # Errors
/// [`BlockDamage`] when the document's markers do not pair up, or the block could not be found again; nothing is applied
/// then.
pub fn apply_edits(text: &str, edits: &[EditRecord]) -> Result<AppliedEdits, BlockDamage> {
    let block = Block::of(text)?;
    let eol = Eol::dominant(text);
    let mut entries = block.as_ref().map(|block| block.entries.clone()).unwrap_or_default();
    let statuses: Vec<EditStatus> =
        edits.iter().map(|edit| apply(&mut entries, edit, eol)).collect();
    let text = match block {
        _ if !statuses.contains(&EditStatus::Applied) => text.to_owned(),
        Some(block) => write::into_block(text, &block, &entries, eol),
        None => write::new_block(text, &entries, eol),
    };
    let written = AppliedEdits { text, statuses };
    if written.has_changes() {
        check_is_found_again(&written.text, &entries)?;
    }
    Ok(written)
}

/// A code fence that the document leaves open can swallow the markers together with a fence in an entry.
fn check_is_found_again(text: &str, entries: &[Entry]) -> Result<(), BlockDamage> {
    let is_found = matches!(Block::of(text), Ok(Some(block)) if block.entries == entries);
    if is_found {
        Ok(())
    } else {
        Err(BlockDamage::OpenFence { line: fence::line_over(text, START) })
    }
}

fn apply(entries: &mut Vec<Entry>, edit: &EditRecord, eol: Eol) -> EditStatus {
    if holds_marker(&edit.content) {
        return EditStatus::ContainsMarker;
    }
    let contents = split_content(&edit.content);
    if edit.op != EditOp::Delete {
        let refused = contents.iter().find_map(|content| refusal(content));
        match refused {
            _ if contents.is_empty() => return EditStatus::Blank,
            Some(status) => return status,
            None => {}
        }
    }
    match edit.op {
        EditOp::Add => add(entries, &contents, eol),
        EditOp::Delete if edit.anchor.trim().is_empty() => delete(entries, &edit.content),
        EditOp::Delete => delete(entries, &edit.anchor),
        EditOp::Replace => replace(entries, &edit.anchor, &contents, eol),
    }
}

fn refusal(content: &str) -> Option<EditStatus> {
    if content.chars().count() > MAX_ENTRY_CHARS {
        Some(EditStatus::TooLong)
    } else if fence::has_open(content)
        || content.matches("<!--").count() > content.matches("-->").count()
    {
        Some(EditStatus::BrokenMarkdown)
    } else {
        None
    }
}

fn add(entries: &mut Vec<Entry>, contents: &[String], eol: Eol) -> EditStatus {
    let before = entries.len();
    for content in contents {
        if !entries.iter().any(|entry| entry.is_like(content)) {
            entries.push(Entry::new(content, eol));
        }
    }
    if entries.len() > before { EditStatus::Applied } else { EditStatus::Duplicate }
}

fn delete(entries: &mut Vec<Entry>, anchor: &str) -> EditStatus {
    let anchor = unbulleted(anchor);
    if anchor.is_empty() {
        return EditStatus::Blank;
    }
    let before = entries.len();
    entries.retain(|entry| !entry.contains(anchor));
    if entries.len() < before { EditStatus::Applied } else { EditStatus::NotFound }
}

/// All entries with the anchor give way to the content, which stands where the first of them stood, once.
fn replace(entries: &mut Vec<Entry>, anchor: &str, contents: &[String], eol: Eol) -> EditStatus {
    let anchor = unbulleted(anchor);
    if anchor.is_empty() {
        return EditStatus::Blank;
    }
    let Some(first) = entries.iter().position(|entry| entry.contains(anchor)) else {
        return EditStatus::NotFound;
    };
    let rest: Vec<Entry> =
        entries.iter().filter(|entry| !entry.contains(anchor)).cloned().collect();
    let mut new: Vec<Entry> = Vec::new();
    for content in contents {
        if !rest.iter().chain(&new).any(|entry| entry.is_like(content)) {
            new.push(Entry::new(content, eol));
        }
    }
    // Entries before the first match stay before it.
    let mut after = rest;
    after.splice(first..first, new);
    let texts =
        |entries: &[Entry]| entries.iter().map(|entry| entry.text.clone()).collect::<Vec<_>>();
    if texts(&after) == texts(entries) {
        return EditStatus::Unchanged;
    }
    *entries = after;
    EditStatus::Applied
}

/// Models quote a bullet with its dash.
fn unbulleted(anchor: &str) -> &str {
    let anchor = anchor.trim();
    let anchor = anchor.strip_prefix("- ").unwrap_or(anchor).trim();
    if likeness(anchor) == "-" { "" } else { anchor }
}
