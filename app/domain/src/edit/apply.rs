//! Applying edits to a skill. An anchor must occur exactly once; protected text stays byte for byte; and
//! whatever an edit does not name stays as it is.

use super::normalise::normalised_words;
use super::{Edit, EditOp, EditReport, EditStatus};
use crate::skill::{Normalised, SkillDoc, contains_region_marker, from_lf, lines, to_lf};
use std::collections::HashMap;
use std::ops::Range;

/// Longer lines are not compared to find the nearest one.
const MAX_COMPARED_CHARS: usize = 2000;
/// An edit may not take more than half of a body of this many lines or more: that is a rewrite, which needs
/// a person.
const REWRITE_LINES: usize = 10;

/// Why an edit was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRefusal {
    /// The kind of reason; never `applied`.
    pub status: EditStatus,
    /// One sentence with the place, for people and for the optimizer.
    pub detail: String,
}

/// Applies edits one after the other until `budget` of them applied. Each sees the result of those before.
/// Only applied edits count against the budget. Returns the final text and one row an edit, in order.
#[must_use]
pub fn apply_in_order(doc: &SkillDoc, edits: &[Edit], budget: u32) -> (SkillDoc, Vec<EditReport>) {
    let mut current = doc.clone();
    let mut left = budget;
    let mut reports = Vec::with_capacity(edits.len());
    for edit in edits {
        let (status, detail) = if left == 0 {
            (EditStatus::OverBudget, format!("{budget} edits of this step applied already"))
        } else {
            match apply_one(&current, edit) {
                Ok(next) => {
                    current = next;
                    left -= 1;
                    (EditStatus::Applied, String::new())
                }
                Err(refusal) => explain_conflict(doc, edit, refusal),
            }
        };
        reports.push(EditReport {
            edit: edit.clone(),
            status,
            detail,
            resembles_rejected_step: None,
        });
    }
    (current, reports)
}

/// An anchor that was fine in the original text was taken away by an earlier edit.
fn explain_conflict(
    original: &SkillDoc,
    edit: &Edit,
    refusal: EditRefusal,
) -> (EditStatus, String) {
    let anchor_gone = matches!(refusal.status, EditStatus::NotFound | EditStatus::Ambiguous);
    if anchor_gone && apply_one(original, edit).is_ok() {
        (EditStatus::Conflict, "an earlier edit of this step changed its anchor".to_owned())
    } else {
        (refusal.status, refusal.detail)
    }
}

/// Applies one edit.
///
/// # Errors
/// [`EditRefusal`] with the reason; the document is not changed.
pub fn apply_one(doc: &SkillDoc, edit: &Edit) -> Result<SkillDoc, EditRefusal> {
    let content = edit.content.as_deref().map(to_lf);
    // Indentation belongs to the content: it may be an item of a nested list.
    let content = content.map(|text| text.trim_start_matches('\n').trim_end().to_owned());
    let content = content.filter(|text| !text.trim().is_empty());
    if content.as_deref().is_some_and(contains_region_marker) {
        return refuse(EditStatus::Protected, "its content holds the marker of a protected region");
    }
    if content.as_deref().is_some_and(stands_for_left_out_text) {
        return refuse(EditStatus::LeftOut, "its content says \"unchanged\" in place of text");
    }
    let next = match (&edit.op, content) {
        (EditOp::Unknown(word), _) => {
            return refuse(EditStatus::UnknownOp, format!("there is no operation `{word}`"));
        }
        (EditOp::Delete, _) => delete(doc, anchor(doc, edit)?),
        (_, None) => return refuse(EditStatus::Empty, "it has no content"),
        (EditOp::Append, Some(content)) => append(doc, &content)?,
        (EditOp::InsertAfter, Some(content)) => insert_after(doc, anchor(doc, edit)?, &content)?,
        (EditOp::Replace, Some(content)) => replace(doc, anchor(doc, edit)?, &content)?,
    };
    check_structure(doc, SkillDoc::parse(next))
}

pub(super) fn refuse<T>(status: EditStatus, detail: impl Into<String>) -> Result<T, EditRefusal> {
    Err(EditRefusal { status, detail: detail.into() })
}

/// The one place where the anchor occurs.
fn anchor(doc: &SkillDoc, edit: &Edit) -> Result<Range<usize>, EditRefusal> {
    let target = to_lf(edit.target.as_deref().unwrap_or_default());
    let target = target.trim_matches('\n');
    if target.trim().is_empty() {
        return refuse(EditStatus::Empty, format!("`{}` needs a target", edit.op.as_str()));
    }
    let text = Normalised::of(doc.text());
    let found: Vec<Range<usize>> = occurrences(&text.text, target)
        .take(20)
        .map(|start| text.original(start..start + target.len()))
        .collect();
    let range = match found.as_slice() {
        [] => return refuse(EditStatus::NotFound, not_found(doc, target)),
        [one] => one.clone(),
        many => {
            let places: Vec<String> =
                many.iter().map(|range| doc.line_of(range.start).to_string()).collect();
            return refuse(
                EditStatus::Ambiguous,
                format!("the target occurs in lines {}; it must occur once", places.join(", ")),
            );
        }
    };
    if doc.protected().any(|area| area.start < range.end && range.start < area.end) {
        let line = doc.line_of(range.start);
        return refuse(
            EditStatus::Protected,
            format!("line {line} is front matter or a protected region"),
        );
    }
    Ok(range)
}

/// All places, overlapping ones too: `aa` occurs twice in `aaa`.
fn occurrences<'a>(text: &'a str, target: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(target)?;
        from = at + target.chars().next().map_or(1, char::len_utf8);
        Some(at)
    })
}

fn not_found(doc: &SkillDoc, target: &str) -> String {
    let first_line = target.lines().next().unwrap_or_default();
    let wanted: String = first_line.chars().take(MAX_COMPARED_CHARS).collect();
    let wanted = wanted.as_str();
    let nearest = lines(doc.text())
        .map(|line| (&doc.text()[line.content.clone()], line))
        .filter(|(text, _)| !text.trim().is_empty() && text.len() < MAX_COMPARED_CHARS)
        .map(|(text, line)| (strsim::sorensen_dice(text, wanted), text, line))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .filter(|(ratio, ..)| *ratio >= 0.5);
    match nearest {
        Some((_, text, line)) => format!(
            "the target does not occur; nearest is line {}: `{}`",
            doc.line_of(line.full.start),
            text.trim()
        ),
        None => "the target does not occur, and no line is like it".to_owned(),
    }
}

fn append(doc: &SkillDoc, content: &str) -> Result<String, EditRefusal> {
    refuse_duplicate(doc, content)?;
    let text = doc.text();
    let eol = doc.eol().as_str();
    let cut = doc.regions().first().map_or(text.len(), |region| region.start);
    let (before, rest) = text.split_at(cut);
    let body = before.get(doc.body_start()..).unwrap_or_default();
    let has_final_eol = before.is_empty() || before.ends_with(['\n', '\r']);
    let is_list = is_list_item(last_line(body.trim_end())) && is_list_item(content);
    let ends_blank = body.trim().is_empty() && doc.front_matter().is_none()
        || lines(body).last().is_some_and(|line| body[line.content].trim().is_empty());
    let mut out = String::with_capacity(text.len() + content.len() + 8);
    out.push_str(before);
    if !has_final_eol {
        out.push_str(eol);
    }
    if !ends_blank && !is_list {
        out.push_str(eol);
    }
    out.push_str(&from_lf(content, doc.eol()));
    if !rest.is_empty() {
        out.push_str(eol);
        out.push_str(eol);
        out.push_str(rest);
    } else if has_final_eol {
        out.push_str(eol);
    }
    Ok(out)
}

fn insert_after(doc: &SkillDoc, at: Range<usize>, content: &str) -> Result<String, EditRefusal> {
    refuse_duplicate(doc, content)?;
    let text = doc.text();
    let eol = doc.eol().as_str();
    let last = at.end.saturating_sub(1).max(at.start);
    let line = lines(text)
        .find(|line| line.full.end > last)
        .map_or(text.len()..text.len(), |line| line.content.end..line.full.end);
    let content = from_lf(content, doc.eol());
    let mut out = String::with_capacity(text.len() + content.len() + 4);
    out.push_str(&text[..line.start]);
    out.push_str(eol);
    // A heading is followed by a blank line, and a list item goes on a list.
    let anchor_line = last_line(&text[..line.start]);
    if anchor_line.trim_start().starts_with('#') {
        out.push_str(eol);
    }
    out.push_str(&content);
    out.push_str(&text[line.start..]);
    Ok(out)
}

fn replace(doc: &SkillDoc, at: Range<usize>, content: &str) -> Result<String, EditRefusal> {
    let text = doc.text();
    let content = from_lf(content, doc.eol());
    if text[at.clone()].trim() == content.trim() {
        return refuse(EditStatus::Duplicate, "the new text equals the old one");
    }
    Ok(format!("{}{content}{}", &text[..at.start], &text[at.end..]))
}

fn delete(doc: &SkillDoc, at: Range<usize>) -> String {
    let text = doc.text();
    // Whole lines go with their line end, so that no blank line stays behind.
    let line_start = text[..at.start].is_empty() || text[..at.start].ends_with(['\n', '\r']);
    let rest = &text[at.end..];
    let eol_len = match (line_start, rest.as_bytes()) {
        (true, [b'\r', b'\n', ..]) => 2,
        (true, [b'\n' | b'\r', ..]) => 1,
        _ => 0,
    };
    format!("{}{}", &text[..at.start], &rest[eol_len..])
}

/// Every line of the content stands in the skill already, whatever its case and punctuation.
fn refuse_duplicate(doc: &SkillDoc, content: &str) -> Result<(), EditRefusal> {
    let wanted: Vec<String> =
        content.lines().map(normalised_words).filter(|w| !w.is_empty()).collect();
    let mut present: HashMap<String, u32> = HashMap::new();
    for (number, line) in (1..).zip(lines(doc.text())) {
        present.entry(normalised_words(&doc.text()[line.content])).or_insert(number);
    }
    let Some(first) = wanted.first().and_then(|words| present.get(words)) else { return Ok(()) };
    if wanted.iter().all(|words| present.contains_key(words)) {
        return refuse(EditStatus::Duplicate, format!("line {first} says this already"));
    }
    Ok(())
}

/// Phrases with which a model stands in for text that it does not want to repeat.
pub(super) fn stands_for_left_out_text(content: &str) -> bool {
    content.lines().any(|line| {
        let words = normalised_words(line);
        let short = words.split(' ').count() <= 8;
        let elided =
            line.contains("...") || line.contains('…') || line.contains('[') || line.contains('(');
        short
            && elided
            && ["unchanged", "remains the same", "as before", "rest of the"]
                .iter()
                .any(|phrase| words.contains(phrase))
    })
}

fn check_structure(before: &SkillDoc, after: SkillDoc) -> Result<SkillDoc, EditRefusal> {
    if !after.protects_the_same_as(before) {
        return refuse(EditStatus::Protected, "it would change front matter or a protected region");
    }
    if has_open_fence(after.body()) && !has_open_fence(before.body()) {
        return refuse(EditStatus::BrokenMarkdown, "it would leave a code block open");
    }
    let (n_before, n_after) = (lines(before.body()).count(), lines(after.body()).count());
    if n_before >= REWRITE_LINES && n_after * 2 < n_before {
        let detail = format!(
            "it would shrink the body from {n_before} to {n_after} lines; that needs a person"
        );
        return refuse(EditStatus::LeftOut, detail);
    }
    if after.text() == before.text() {
        return refuse(EditStatus::Duplicate, "the text would not change");
    }
    Ok(after)
}

/// A fenced code block is opened and never closed (`CommonMark`: the closing fence has the same character
/// and at least the same length).
pub(super) fn has_open_fence(text: &str) -> bool {
    let mut open: Option<(char, usize)> = None;
    for line in lines(text) {
        let line = text[line.content].trim_start();
        let Some(mark) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let len = line.chars().take_while(|c| *c == mark).count();
        if len < 3 {
            continue;
        }
        let is_bare = line[len..].trim().is_empty();
        open = match open {
            None => Some((mark, len)),
            Some((with, min)) if with == mark && len >= min && is_bare => None,
            still => still,
        };
    }
    open.is_some()
}

fn last_line(text: &str) -> &str {
    lines(text).last().map_or("", |line| &text[line.content])
}

fn is_list_item(text: &str) -> bool {
    let line = text.trim_start();
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    line.starts_with("- ")
        || line.starts_with("* ")
        || (digits > 0 && line[digits..].starts_with(". "))
}
