//! Edits as the Python system applies them: the first occurrence of an anchor counts, an `insert_after` without its
//! anchor becomes an append, and all edits that were chosen are applied, one after the other.

use crate::edit::{Edit, EditOp, EditReport, EditStatus};
use crate::skill::{REGIONS, SkillDoc};
use std::ops::Range;

/// Applies all edits in order. Each sees the result of those before. The detail of a row is the Python system's word
/// for what became of the edit, such as `applied_insert_after_fallback_append`.
#[must_use]
pub fn apply_edits(doc: &SkillDoc, edits: &[Edit]) -> (SkillDoc, Vec<EditReport>) {
    let mut text = doc.text().to_owned();
    let mut reports = Vec::with_capacity(edits.len());
    for edit in edits {
        let (status, word) = match apply(&text, edit) {
            Ok((next, word)) => {
                text = next;
                (EditStatus::Applied, word)
            }
            Err(refusal) => refusal,
        };
        reports.push(EditReport {
            edit: edit.clone(),
            status,
            detail: word.to_owned(),
            resembles_rejected_step: None,
        });
    }
    (SkillDoc::parse(text), reports)
}

type Applied = (String, &'static str);
type Refused = (EditStatus, &'static str);

fn apply(text: &str, edit: &Edit) -> Result<Applied, Refused> {
    let target = edit.target.as_deref().unwrap_or_default();
    let content = without_markers(edit.content.as_deref().unwrap_or_default().trim());
    let found = if target.is_empty() { None } else { text.find(target) };
    if found.is_some_and(|at| regions(text).any(|region| region.contains(&at))) {
        return Err((EditStatus::Protected, "skipped_protected_region"));
    }
    match (&edit.op, found) {
        (EditOp::Append, _) => Ok(match appended(text, &content) {
            (text, Place::End) => (text, "applied_append"),
            (text, Place::BeforeRegion) => (text, "applied_append_before_protected_region"),
        }),
        (EditOp::InsertAfter, None) => Ok(match appended(text, &content) {
            (text, Place::End) => (text, "applied_insert_after_fallback_append"),
            (text, Place::BeforeRegion) => {
                (text, "applied_insert_after_fallback_before_protected_region")
            }
        }),
        (EditOp::InsertAfter, Some(at)) => {
            let (before, after) = text.split_at(end_of_line(text, at + target.len()));
            Ok((format!("{before}\n{content}\n{after}"), "applied_insert_after"))
        }
        (EditOp::Replace, Some(at)) => {
            Ok((spliced(text, at, target.len(), &content), "applied_replace"))
        }
        (EditOp::Delete, Some(at)) => Ok((spliced(text, at, target.len(), ""), "applied_delete")),
        (EditOp::Replace, None) if target.is_empty() => {
            Err((EditStatus::Empty, "skipped_replace_missing_target"))
        }
        (EditOp::Replace, None) => Err((EditStatus::NotFound, "skipped_replace_target_not_found")),
        (EditOp::Delete, None) if target.is_empty() => {
            Err((EditStatus::Empty, "skipped_delete_missing_target"))
        }
        (EditOp::Delete, None) => Err((EditStatus::NotFound, "skipped_delete_target_not_found")),
        (EditOp::Unknown(_), _) => Err((EditStatus::UnknownOp, "skipped_unknown_op")),
    }
}

/// Where an appended text went.
enum Place {
    End,
    BeforeRegion,
}

/// Before the first region, else at the end; the white space before it goes, a blank line comes.
fn appended(text: &str, content: &str) -> (String, Place) {
    match regions(text).map(|region| region.start).min() {
        Some(start) => {
            let before = text[..start].trim_end();
            (format!("{before}\n\n{content}\n\n{}", &text[start..]), Place::BeforeRegion)
        }
        None => (format!("{}\n\n{content}\n", text.trim_end()), Place::End),
    }
}

/// The first region of each kind, markers included. One that is never closed protects nothing.
fn regions(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    REGIONS.into_iter().filter_map(|(start, end)| {
        let (from, to) = (text.find(start)?, text.find(end)?);
        Some(from..to + end.len())
    })
}

fn without_markers(content: &str) -> String {
    REGIONS
        .iter()
        .fold(content.to_owned(), |text, (start, end)| text.replace(start, "").replace(end, ""))
}

/// The place after the line end at or after `from`; the end of the text on the last line.
fn end_of_line(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

fn spliced(text: &str, at: usize, len: usize, content: &str) -> String {
    format!("{}{content}{}", &text[..at], &text[at + len..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const BODY: &str = "# Skill\n\n- One.\n- Two.\n- One.\n";
    const GUARDED: &str = "# Skill\n\n- One.\n\n\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n";

    fn edit(op: &str, target: &str, content: &str) -> Edit {
        Edit::new(EditOp::from(op.to_owned()), Some(target), Some(content))
    }

    fn applied(text: &str, edit: Edit) -> (String, String) {
        let (doc, reports) = apply_edits(&SkillDoc::parse(text), &[edit]);
        (doc.text().to_owned(), reports[0].detail.clone())
    }

    // Expectations follow from the rules of the Python system, section 2.2 of the notes on it.
    #[rstest]
    #[case::append(
        BODY,
        edit("append", "", "\n - Three.  \n"),
        "# Skill\n\n- One.\n- Two.\n- One.\n\n- Three.\n",
        "applied_append"
    )]
    #[case::append_of_nothing(
        BODY,
        edit("append", "", " "),
        "# Skill\n\n- One.\n- Two.\n- One.\n\n\n",
        "applied_append"
    )]
    #[case::append_before_a_region(
        GUARDED,
        edit("append", "", "- Two."),
        "# Skill\n\n- One.\n\n- Two.\n\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n",
        "applied_append_before_protected_region"
    )]
    #[case::first_occurrence(
        BODY,
        edit("replace", "- One.", "- 1."),
        "# Skill\n\n- 1.\n- Two.\n- One.\n",
        "applied_replace"
    )]
    #[case::delete_leaves_the_line_end(
        BODY,
        edit("delete", "- Two.", ""),
        "# Skill\n\n- One.\n\n- One.\n",
        "applied_delete"
    )]
    #[case::insert(
        BODY,
        edit("insert_after", "Two", "- Three."),
        "# Skill\n\n- One.\n- Two.\n\n- Three.\n- One.\n",
        "applied_insert_after"
    )]
    #[case::insert_at_the_end(
        "# Skill",
        edit("insert_after", "Skill", "- One."),
        "# Skill\n- One.\n",
        "applied_insert_after"
    )]
    #[case::insert_without_anchor(
        BODY,
        edit("insert_after", "Nine", "- Three."),
        "# Skill\n\n- One.\n- Two.\n- One.\n\n- Three.\n",
        "applied_insert_after_fallback_append"
    )]
    #[case::insert_without_target(
        GUARDED,
        edit("insert_after", "", "- Two."),
        "# Skill\n\n- One.\n\n- Two.\n\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n",
        "applied_insert_after_fallback_before_protected_region"
    )]
    #[case::protected(
        GUARDED,
        edit("replace", "Look twice.", "Look away."),
        GUARDED,
        "skipped_protected_region"
    )]
    #[case::append_with_a_protected_target(
        GUARDED,
        edit("append", "twice", "- Two."),
        GUARDED,
        "skipped_protected_region"
    )]
    #[case::no_anchor(BODY, edit("replace", "Nine", "x"), BODY, "skipped_replace_target_not_found")]
    #[case::no_target(BODY, edit("replace", "", "x"), BODY, "skipped_replace_missing_target")]
    #[case::nothing_to_delete(
        BODY,
        edit("delete", "Nine", ""),
        BODY,
        "skipped_delete_target_not_found"
    )]
    #[case::delete_what(BODY, edit("delete", "", ""), BODY, "skipped_delete_missing_target")]
    #[case::unknown(BODY, edit("swap", "One", "x"), BODY, "skipped_unknown_op")]
    #[case::markers_in_content(
        BODY,
        edit("append", "", "a<!-- APPENDIX_START -->b"),
        "# Skill\n\n- One.\n- Two.\n- One.\n\nab\n",
        "applied_append"
    )]
    fn an_edit_becomes_what_the_rules_of_python_make_of_it(
        #[case] text: &str,
        #[case] edit: Edit,
        #[case] expect: &str,
        #[case] word: &str,
    ) {
        assert_eq!(applied(text, edit), (expect.to_owned(), word.to_owned()));
    }

    #[test]
    fn an_edit_sees_the_result_of_the_one_before() {
        let edits = [edit("append", "", "- Three."), edit("insert_after", "Three", "- Four.")];
        let (doc, reports) = apply_edits(&SkillDoc::parse("# Skill\n"), &edits);
        assert_eq!(doc.text(), "# Skill\n\n- Three.\n\n- Four.\n");
        assert!(reports.iter().all(|report| report.status == EditStatus::Applied));
    }
}
