//! Applying edits to a skill. An anchor must occur exactly once; protected text stays byte for byte; and
//! whatever an edit does not name stays as it is.

use super::normalise::normalised_words;
use super::{Edit, EditOp, EditReport, EditStatus};
use crate::skill::{Normalised, SkillDoc, contains_region_marker, from_lf, lines, to_lf};
use std::ops::Range;

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
    let content = edit.content.as_deref().map(|text| to_lf(text).trim().to_owned());
    let content = content.filter(|text| !text.is_empty());
    if content.as_deref().is_some_and(contains_region_marker) {
        return refuse(EditStatus::Protected, "its content holds the marker of a protected region");
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

fn refuse<T>(status: EditStatus, detail: impl Into<String>) -> Result<T, EditRefusal> {
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
    let wanted = target.lines().next().unwrap_or_default();
    let nearest = lines(doc.text())
        .map(|line| (&doc.text()[line.content.clone()], line))
        .filter(|(text, _)| !text.trim().is_empty() && text.len() < 2000)
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
    let kept_end = before.trim_end_matches([' ', '\t', '\n', '\r']).len().max(doc.body_start());
    let kept = &before[..kept_end];
    let body = &kept[doc.body_start().min(kept.len())..];
    let content = from_lf(content, doc.eol());
    let mut out = String::with_capacity(text.len() + content.len() + 8);
    out.push_str(kept);
    if body.trim().is_empty() {
        if doc.front_matter().is_some() {
            out.push_str(eol);
        }
    } else {
        out.push_str(eol);
        if !(is_list_item(last_line(body)) && is_list_item(&content)) {
            out.push_str(eol);
        }
    }
    out.push_str(&content);
    if rest.is_empty() {
        let had_end = before.is_empty() || before.ends_with(['\n', '\r']);
        out.push_str(if had_end { eol } else { "" });
    } else {
        out.push_str(eol);
        out.push_str(eol);
        out.push_str(rest);
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
    let present: Vec<(u32, String)> = (1..)
        .zip(lines(doc.text()))
        .map(|(number, line)| (number, normalised_words(&doc.text()[line.content])))
        .collect();
    let line_of =
        |words: &String| present.iter().find(|(_, have)| have == words).map(|(at, _)| *at);
    let Some(first) = wanted.first().and_then(line_of) else { return Ok(()) };
    if wanted.iter().all(|words| line_of(words).is_some()) {
        return refuse(EditStatus::Duplicate, format!("line {first} says this already"));
    }
    Ok(())
}

fn check_structure(before: &SkillDoc, after: SkillDoc) -> Result<SkillDoc, EditRefusal> {
    if !after.protects_the_same_as(before) {
        return refuse(EditStatus::Protected, "it would change front matter or a protected region");
    }
    if has_open_fence(after.body()) && !has_open_fence(before.body()) {
        return refuse(EditStatus::BrokenMarkdown, "it would leave a code block open");
    }
    if after.text() == before.text() {
        return refuse(EditStatus::Duplicate, "the text would not change");
    }
    Ok(after)
}

/// A fenced code block is opened and never closed (CommonMark: the closing fence has the same character
/// and at least the same length).
fn has_open_fence(text: &str) -> bool {
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
