use super::*;
use proptest::prelude::*;
use rstest::rstest;
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};

fn edit(op: EditOp, content: &str, anchor: &str) -> EditRecord {
    EditRecord {
        target: Target::Skill,
        op,
        content: content.into(),
        anchor: anchor.into(),
        rationale: String::new(),
    }
}

fn add(content: &str) -> EditRecord {
    edit(EditOp::Add, content, "")
}

/// Applies one edit: its status, the entries and the text after it.
fn one(text: &str, edit: EditRecord) -> (EditStatus, Vec<String>, String) {
    let after = apply_edits(text, &[edit]).expect("no damage");
    (after.statuses[0], entries(&after.text).expect("no damage"), after.text)
}

fn with_entries(contents: &[&str]) -> String {
    let edits: Vec<EditRecord> = contents.iter().map(|content| add(content)).collect();
    apply_edits("# Notes\n", &edits).expect("no damage").text
}

#[test]
fn a_new_block_stands_at_the_end() {
    let (status, _, text) = one("# Notes\n\nBe kind.\n", add("Be brief."));
    assert_eq!(status, EditStatus::Applied);
    let (before, block) = text.split_once(START).expect("a block");
    assert_eq!(before, "# Notes\n\nBe kind.\n\n");
    assert!(block.ends_with(&format!("\n\n- Be brief.\n{END}\n")), "{block}");
}

#[test]
fn the_block_of_the_reference_system_is_read_and_kept() {
    let text = format!(
        "top\n\n{START}\n## Learned preferences & procedures\n_banner_\n\n- One\n- Two\n{END}\n\nbelow  \n\n\n\nmore"
    );
    let (_, entries, after) = one(&text, add("Three"));
    assert_eq!(entries, ["One", "Two", "Three"]);
    assert_eq!(after, text.replace("- Two\n", "- Two\n- Three\n"));
}

#[rstest]
#[case::lf("# A\n\ntext\n")]
#[case::crlf("# A\r\n\r\ntext\r\n")]
#[case::cr("# A\r\rtext\r")]
#[case::bom_crlf("\u{feff}---\r\nname: a\r\n---\r\n\r\ntext\r\n")]
#[case::no_final_line_end("# A\n\ntext")]
#[case::blanks("# A  \n\n\n\n\ntext  \n\n\n\n")]
#[case::mixed("a\r\nb\nc\r\n")]
#[case::empty("")]
#[case::bom_only("\u{feff}")]
fn c12_text_outside_keeps_its_bytes_and_the_block_its_convention(#[case] text: &str) {
    let (status, entries, after) = one(text, add("One\nand more"));
    assert_eq!((status, entries), (EditStatus::Applied, vec!["One\nand more".to_owned()]));
    assert!(after.starts_with(text), "{after:?}");
    let eol = skillopt_domain::skill::Eol::dominant(text).as_str();
    assert!(after[text.len()..].contains(&format!("- One{eol}  and more{eol}{END}")), "{after:?}");
    assert_eq!(
        after.ends_with(['\n', '\r']),
        text.trim_start_matches('\u{feff}').is_empty() || text.ends_with(['\n', '\r'])
    );
    let (_, _, again) = one(&after, add("Two"));
    assert_eq!(outside(&again), outside(&after));
}

#[test]
fn c12_an_anchor_with_other_line_ends_is_found() {
    let text = with_entries(&["First line\nsecond line"]).replace('\n', "\r\n");
    let (status, entries, _) = one(&text, edit(EditOp::Delete, "", "first line\nSECOND"));
    assert_eq!((status, entries.len()), (EditStatus::Applied, 0));
}

#[test]
fn f10_entries_of_several_lines_survive_later_edits() {
    let rule =
        "Before a commit:\n\n1. run the tests\n2. read the diff\n\n```sh\n- not a bullet\n```";
    let text = with_entries(&[rule]);
    let (_, _, text) = one(&text, add("Another"));
    let (_, entries, _) = one(&text, edit(EditOp::Replace, "A third", "another"));
    assert_eq!(entries, [rule, "A third"]);
}

#[rstest]
#[case(END)]
#[case(START)]
#[case("x\n<!-- skillopt-sleep:learned  end -->\ny")]
#[case("<!-- SLOW_UPDATE_END -->")]
#[case("a <!-- SLOW_UPDATE_START --> b")]
#[case("<!-- SKILLOPT-SLEEP:LEARN\u{200b}ED END -->")]
fn f11_an_edit_that_holds_a_marker_is_refused(#[case] content: &str) {
    let text = with_entries(&["One"]);
    for op in [EditOp::Add, EditOp::Replace] {
        let (status, _, after) = one(&text, edit(op, content, "One"));
        assert_eq!((status, after.as_str()), (EditStatus::ContainsMarker, text.as_str()));
    }
}

#[rstest]
#[case::blank(add("  \n"), EditStatus::Blank)]
#[case::duplicate(add("be   BRIEF"), EditStatus::Duplicate)]
#[case::duplicate_bullet(add("- Be brief"), EditStatus::Duplicate)]
#[case::too_long(add(&"x".repeat(2001)), EditStatus::TooLong)]
#[case::open_fence(add("Do:\n```sh\nls"), EditStatus::BrokenMarkdown)]
#[case::open_comment(add("Do this <!-- and"), EditStatus::BrokenMarkdown)]
#[case::delete_without_anchor(edit(EditOp::Delete, " ", " "), EditStatus::Blank)]
#[case::delete_nothing(edit(EditOp::Delete, "", "absent"), EditStatus::NotFound)]
#[case::replace_nothing(edit(EditOp::Replace, "x", "absent"), EditStatus::NotFound)]
#[case::replace_without_anchor(edit(EditOp::Replace, "x", ""), EditStatus::Blank)]
#[case::replace_by_blank(edit(EditOp::Replace, "", "brief"), EditStatus::Blank)]
#[case::replace_by_itself(edit(EditOp::Replace, "Be brief", "brief"), EditStatus::Unchanged)]
fn an_edit_that_changes_nothing_says_why(#[case] edit: EditRecord, #[case] expect: EditStatus) {
    let text = with_entries(&["Be brief", "Be kind"]);
    let after = apply_edits(&text, std::slice::from_ref(&edit)).expect("no damage");
    assert_eq!((after.statuses[0], after.text.as_str()), (expect, text.as_str()));
    assert_eq!(after.unmatched(&[edit]).len(), 1);
}

#[test]
fn delete_removes_all_entries_with_the_anchor() {
    let text = with_entries(&["Use tabs here", "Be kind", "use  TABS there"]);
    let (status, entries, _) = one(&text, edit(EditOp::Delete, "", "- use tabs"));
    assert_eq!((status, entries), (EditStatus::Applied, vec!["Be kind".to_owned()]));
}

#[test]
fn delete_may_name_its_entry_by_content() {
    let (status, entries, _) = one(&with_entries(&["One", "Two"]), edit(EditOp::Delete, "two", ""));
    assert_eq!((status, entries), (EditStatus::Applied, vec!["One".to_owned()]));
}

#[test]
fn replace_puts_the_content_once_where_the_first_match_stood() {
    let text = with_entries(&["One", "Tabs a", "Two", "Tabs b"]);
    let (status, entries, _) = one(&text, edit(EditOp::Replace, "Spaces", "tabs"));
    assert_eq!(status, EditStatus::Applied);
    assert_eq!(entries, ["One", "Spaces", "Two"]);
}

#[test]
fn several_bullets_are_several_entries() {
    let (_, entries, _) = one("", add("- One\n- Two\n  more\n"));
    assert_eq!(entries, ["One", "Two\nmore"]);
}

#[test]
fn edits_apply_one_after_another() {
    let edits = [add("One"), add("one"), edit(EditOp::Replace, "Two", "one"), add("One")];
    let after = apply_edits("", &edits).expect("no damage");
    use EditStatus::{Applied, Duplicate};
    assert_eq!(after.statuses, [Applied, Duplicate, Applied, Applied]);
    assert_eq!(entries(&after.text).expect("no damage"), ["Two", "One"]);
    assert_eq!((after.applied(&edits).len(), after.unmatched(&edits).len()), (3, 1));
}

#[rstest]
#[case::no_end(format!("a\n{START}\n- x\n"), "line 2", "add the end marker")]
#[case::no_start(format!("- x\n{END}\n"), "line 2", "add the start marker")]
#[case::two_starts(format!("{START}\n{START}\n{END}\n"), "line 1", "no end marker")]
#[case::two_blocks(format!("{START}\n{END}\n{START}\n{END}\n"), "line 3", "join both")]
#[case::nested(format!("{START}\n<!-- SLOW_UPDATE_START -->\n{END}\n"), "line 2", "move it out")]
#[case::crossed(format!("<!-- SLOW_UPDATE_START -->\n{END}\n"), "line 2", "move it out")]
fn a_damaged_block_is_an_error_that_says_what_to_do(
    #[case] text: String,
    #[case] line: &str,
    #[case] advice: &str,
) {
    let err = apply_edits(&text, &[add("x")]).expect_err("damage").to_string();
    assert!(err.contains(line) && err.contains(advice), "{err}");
}

#[test]
fn c107_markers_in_code_and_in_sentences_are_text() {
    let text = format!(
        "The block starts with `{START}`.\n\n````md\n```\n{START}\n```\n{END}\n{START}\n````\n"
    );
    let (status, entries, after) = one(&text, add("One"));
    assert_eq!((status, entries), (EditStatus::Applied, vec!["One".to_owned()]));
    assert!(after.starts_with(&text));
}

#[test]
fn c107_a_block_that_an_open_fence_would_swallow_is_not_written() {
    let text = "# A\n\n```\nnever closed\n";
    let plain = apply_edits(text, &[add("One")]).expect("can be found again");
    let err = apply_edits(&plain.text, &[add("Do:\n```sh\nls\n```")]).expect_err("swallowed");
    assert_eq!(err, BlockDamage::OpenFence { line: 3 });
}

#[test]
fn f10_lines_that_the_reference_system_left_without_indent_stay_in_their_entry() {
    let text = format!("{START}\n- One\nand more\n\n- Two\n{END}\n");
    let (_, entries, after) = one(&text, add("Three"));
    assert_eq!(entries, ["One\nand more", "Two", "Three"]);
    assert!(after.contains("- One\nand more\n\n- Two\n- Three\n"));
}

#[test]
fn the_slow_update_region_is_apart_from_the_block() {
    let text = with_entries(&["One"]);
    let text = with_slow_update(&text, "Look twice.").expect("written");
    let (_, entries, text) = one(&text, add("Two"));
    assert_eq!(entries, ["One", "Two"]);
    assert_eq!(slow_update(&text), Ok(Some("Look twice.".into())));
    assert!(matches!(with_slow_update(&text, END), Err(SlowUpdateRefusal::Region(_))));
    assert!(matches!(with_slow_update(START, "x"), Err(SlowUpdateRefusal::Damage(_))));
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c#> *-]{0,6}",
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n\n".to_owned()),
        Just("  ".to_owned()),
        Just("- a".to_owned()),
        Just("```".to_owned()),
        Just("é\u{feff}中".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_edit() -> impl Strategy<Value = EditRecord> {
    let op = prop_oneof![Just(EditOp::Add), Just(EditOp::Delete), Just(EditOp::Replace)];
    (op, any_text(), "[a-c ]{0,3}").prop_map(|(op, content, anchor)| edit(op, &content, &anchor))
}

proptest! {
    #[test]
    fn bytes_outside_never_change(
        head in any_text(),
        tail in any_text(),
        edits in proptest::collection::vec(any_edit(), 1..6),
    ) {
        let text = format!("{head}\n{START}\n- kept\n{END}\n{tail}");
        // Fences of the text around may hide a marker; that is damage or no block, and its own test.
        let span = layout::find_learned(&text).ok().flatten();
        if let (Some(span), Ok(after)) = (span, apply_edits(&text, &edits)) {
            prop_assert!(after.text.starts_with(&text[..span.inner.start]));
            prop_assert!(after.text.ends_with(&text[span.inner.end..]));
        }
    }

    #[test]
    fn a_new_block_leaves_the_text_before_it_and_is_found_again(
        text in any_text(),
        edits in proptest::collection::vec(any_edit(), 1..4),
    ) {
        if let Ok(after) = apply_edits(&text, &edits) {
            prop_assert!(after.text.starts_with(&text));
            prop_assert_eq!(Block::of(&after.text).expect("no damage").is_some(), after.has_changes());
        }
    }

    #[test]
    fn what_was_added_is_read_again(edits in proptest::collection::vec(any_edit(), 1..6)) {
        let after = apply_edits("", &edits).expect("no damage");
        let once = entries(&after.text).expect("no damage");
        let (_, twice, _) = one(&after.text, add("something that is new"));
        let mut expected = once;
        expected.push("something that is new".into());
        prop_assert_eq!(twice, expected);
    }

    #[test]
    fn the_same_edits_twice_add_nothing_the_second_time(contents in proptest::collection::vec(any_text(), 1..6)) {
        let edits: Vec<EditRecord> = contents.iter().map(|content| add(content)).collect();
        let first = apply_edits("", &edits).expect("no damage");
        let second = apply_edits(&first.text, &edits).expect("no damage");
        prop_assert!(!second.has_changes());
        prop_assert_eq!(second.text, first.text);
    }
}
