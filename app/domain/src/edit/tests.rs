//! What becomes of edits, table by table.

use super::*;
use crate::skill::SkillDoc;
use proptest::prelude::*;
use rstest::rstest;

const SKILL: &str =
    "# Guide\n\n## A\n\n### Rules\n\n- Answer briefly.\n\n## B\n\n### Rules\n\n- Quote the page.\n";

fn edit(op: &str, target: Option<&str>, content: Option<&str>) -> Edit {
    Edit::new(EditOp::from(op.to_owned()), target, content)
}

fn status(edit: &Edit) -> EditStatus {
    apply_one(&SkillDoc::parse(SKILL), edit)
        .map_or_else(|refusal| refusal.status, |_| EditStatus::Applied)
}

#[test]
fn c18_an_anchor_that_occurs_twice_is_ambiguous_with_both_places() {
    let refusal =
        apply_one(&SkillDoc::parse(SKILL), &edit("replace", Some("### Rules"), Some("x")))
            .expect_err("ambiguous");
    assert_eq!(refusal.status, EditStatus::Ambiguous);
    assert!(refusal.detail.contains("lines 5, 11"), "{}", refusal.detail);
}

#[rstest]
#[case("insert_after", "-  Answer briefly.")]
#[case("replace", "- Answer briefly!")]
fn c19_a_missing_anchor_is_not_found_and_shows_the_nearest_line(
    #[case] op: &str,
    #[case] target: &str,
) {
    let refusal = apply_one(&SkillDoc::parse(SKILL), &edit(op, Some(target), Some("new")))
        .expect_err("not found");
    assert_eq!(refusal.status, EditStatus::NotFound);
    assert!(refusal.detail.contains("line 7: `- Answer briefly.`"), "{}", refusal.detail);
}

#[rstest]
#[case("delete", Some(""), None, EditStatus::Empty)]
#[case("append", None, Some("  "), EditStatus::Empty)]
#[case("append", None, None, EditStatus::Empty)]
#[case("replace", Some("- Answer briefly."), None, EditStatus::Empty)]
#[case("rewrite_all", None, Some("x"), EditStatus::UnknownOp)]
#[case("APPEND", None, Some("- New."), EditStatus::Applied)]
fn c21_empty_and_unknown_edits_are_skipped_with_a_reason(
    #[case] op: &str,
    #[case] target: Option<&str>,
    #[case] content: Option<&str>,
    #[case] expect: EditStatus,
) {
    assert_eq!(status(&edit(op, target, content)), expect);
}

#[test]
fn c21_one_bad_edit_does_not_stop_the_others() {
    let edits = [edit("delete", Some(""), None), edit("append", None, Some("- New."))];
    let (doc, reports) = apply_in_order(&SkillDoc::parse(SKILL), &edits, 4);
    assert!(doc.text().ends_with("- Quote the page.\n- New.\n"));
    assert_eq!(reports[0].status, EditStatus::Empty);
    assert_eq!(reports[1].status, EditStatus::Applied);
}

#[rstest]
#[case("- answer  briefly")]
#[case("* Answer briefly!")]
#[case("- Answer briefly.\n- Quote the page.")]
fn c23_text_that_is_there_already_is_a_duplicate(#[case] content: &str) {
    assert_eq!(status(&edit("append", None, Some(content))), EditStatus::Duplicate);
}

#[test]
fn c23_other_word_order_is_similar_not_equal() {
    assert!(similarity("Quote the page always.", "always quote the page") > 0.99);
    assert!(similarity("Quote the page.", "Answer in one word.") < 0.2);
}

#[rstest]
#[case::inside_front_matter(edit("replace", Some("name: x"), Some("name: y")))]
#[case::across_a_marker(edit("delete", Some("tail\n<!-- APPENDIX_START -->\nnote"), None))]
#[case::inside_a_region(edit("insert_after", Some("note"), Some("more")))]
#[case::marker_in_content(edit("append", None, Some("x <!-- APPENDIX_END --> y")))]
fn c24_protected_text_cannot_be_touched(#[case] edit: Edit) {
    let doc = SkillDoc::parse(
        "---\nname: x\n---\nhead\n\ntail\n<!-- APPENDIX_START -->\nnote\n<!-- APPENDIX_END -->\n",
    );
    assert_eq!(apply_one(&doc, &edit).expect_err("protected").status, EditStatus::Protected);
}

#[test]
fn c24_content_cannot_become_front_matter() {
    let refusal =
        apply_one(&SkillDoc::parse(""), &edit("append", None, Some("---\nname: evil\n---\nx")))
            .expect_err("protected");
    assert_eq!(refusal.status, EditStatus::Protected);
}

#[test]
fn an_edit_that_opens_a_code_block_and_leaves_it_open_is_refused() {
    assert_eq!(status(&edit("append", None, Some("```sh\nls"))), EditStatus::BrokenMarkdown);
    assert_eq!(status(&edit("append", None, Some("```sh\nls\n```"))), EditStatus::Applied);
}

#[test]
fn the_budget_counts_edits_that_applied() {
    let edits = [
        edit("replace", Some("missing text here"), Some("x")),
        edit("append", None, Some("- One.")),
        edit("append", None, Some("- Two.")),
        edit("append", None, Some("- Three.")),
    ];
    let (doc, reports) = apply_in_order(&SkillDoc::parse(SKILL), &edits, 2);
    let statuses: Vec<_> = reports.iter().map(|report| report.status).collect();
    use EditStatus::{Applied, NotFound, OverBudget};
    assert_eq!(statuses, [NotFound, Applied, Applied, OverBudget]);
    assert!(doc.text().contains("- Two.") && !doc.text().contains("- Three."));
}

#[test]
fn an_anchor_taken_away_by_an_earlier_edit_is_a_conflict() {
    let edits = [
        edit("delete", Some("- Answer briefly."), None),
        edit("replace", Some("Answer briefly"), Some("Answer in one word")),
    ];
    let (_, reports) = apply_in_order(&SkillDoc::parse(SKILL), &edits, 4);
    assert_eq!(reports[1].status, EditStatus::Conflict);
}

#[rstest]
#[case(
    edit("insert_after", Some("- Answer briefly."), Some("- Be sure.")),
    "- Answer briefly.\n- Be sure.\n\n## B"
)]
#[case(edit("insert_after", Some("# Guide"), Some("- Be sure.")), "# Guide\n\n- Be sure.\n\n## A")]
#[case(edit("replace", Some("briefly"), Some("in one word")), "- Answer in one word.\n")]
#[case(edit("delete", Some("- Answer briefly."), None), "### Rules\n\n\n## B")]
fn edits_change_what_they_name_and_nothing_else(#[case] edit: Edit, #[case] expect: &str) {
    let text = apply_one(&SkillDoc::parse(SKILL), &edit).expect("applies").text().to_owned();
    assert!(text.contains(expect), "{text}");
}

#[rstest]
#[case("- Answer briefly.\n… (rest unchanged)")]
#[case("- One.\n[remaining rules unchanged]")]
#[case("- One.\n... the rest of the skill stays as before")]
fn c25_text_that_is_left_out_is_refused(#[case] content: &str) {
    let edit = edit("replace", Some("- Answer briefly."), Some(content));
    assert_eq!(status(&edit), EditStatus::LeftOut);
    assert_eq!(status(&edit_ok()), EditStatus::Applied);
}

fn edit_ok() -> Edit {
    edit("append", None, Some("- Leave what is unchanged in the table as it is, and say so."))
}

#[test]
fn c25_an_edit_that_takes_most_of_the_skill_away_needs_a_person() {
    let text: String = (0..40).map(|n| format!("- Rule {n}.\n")).collect();
    let target: String = (0..30).map(|n| format!("- Rule {n}.\n")).collect();
    let refusal =
        apply_one(&SkillDoc::parse(text), &edit("replace", Some(&target), Some("- All.")))
            .expect_err("refused");
    assert_eq!(refusal.status, EditStatus::LeftOut);
    assert!(refusal.detail.contains("from 40 to 11 lines"), "{}", refusal.detail);
}

#[test]
fn an_item_of_a_nested_list_keeps_its_indentation() {
    let doc = SkillDoc::parse("- parent\n- next\n");
    let after = apply_one(&doc, &edit("insert_after", Some("- parent"), Some("  - child")))
        .expect("applies");
    assert_eq!(after.text(), "- parent\n  - child\n- next\n");
}

#[test]
fn an_append_keeps_the_bytes_before_it() {
    let doc = SkillDoc::parse("- a  \n\n");
    assert_eq!(
        apply_one(&doc, &edit("append", None, Some("- b"))).expect("applies").text(),
        "- a  \n\n- b\n"
    );
}

#[test]
fn hostile_edits_are_judged_quickly() {
    let text: String = (0..500).map(|n| format!("- Rule {n}.\n")).collect();
    let doc = SkillDoc::parse(text);
    let long = "x".repeat(3_000_000);
    assert!(apply_one(&doc, &edit("delete", Some(&long), None)).is_err());
    let copies = "- Rule 499.\n".repeat(100_000);
    assert!(apply_one(&doc, &edit("append", None, Some(&copies))).is_err());
}

proptest! {
    #[test]
    fn edits_never_exceed_the_budget(n in 0usize..8, budget in 0u32..5) {
        let edits: Vec<Edit> =
            (0..n).map(|i| edit("append", None, Some(&format!("- Rule number {i}.")))).collect();
        let (_, reports) = apply_in_order(&SkillDoc::parse(SKILL), &edits, budget);
        let applied = reports.iter().filter(|r| r.status == EditStatus::Applied).count();
        prop_assert!(applied <= budget as usize);
    }
}
