//! What a skill document must survive.

use super::*;
use crate::edit::{Edit, EditOp, EditStatus, apply_one};
use proptest::prelude::*;
use rstest::rstest;

fn append(content: &str) -> Edit {
    Edit::new(EditOp::Append, None, Some(content))
}

#[test]
fn c11_colon_in_description_warns_with_line_and_column_and_keeps_bytes() {
    let text = "---\nname: reports\ndescription: Writes reports: weekly, monthly\nallowed-tools: Read\n---\n# R\n";
    let doc = SkillDoc::parse(text);
    let matter = doc.front_matter().expect("front matter");
    assert_eq!(matter.entries.len(), 3, "no field is dropped");
    assert_eq!(matter.entries[1].value, "Writes reports: weekly, monthly");
    let warning = &matter.warnings[0];
    assert_eq!((warning.line, warning.column), (3, 28));
    assert!(warning.message.contains("quote this value"));
    let after = apply_one(&doc, &append("- Be brief.")).expect("the body is trainable");
    assert!(after.text().starts_with(&text[..text.find("# R").expect("body")]));
}

#[rstest]
#[case::lf("---\nname: x\n---\n# T\n\n- a\n", "---\nname: x\n---\n# T\n\n- a\n- b\n")]
#[case::crlf(
    "---\r\nname: x\r\n---\r\n# T\r\n\r\n- a\r\n",
    "---\r\nname: x\r\n---\r\n# T\r\n\r\n- a\r\n- b\r\n"
)]
#[case::cr("# T\r\r- a\r", "# T\r\r- a\r- b\r")]
#[case::mixed("# T\r\n\n- a\r\n", "# T\r\n\n- a\r\n- b\r\n")]
#[case::bom_crlf(
    "\u{feff}---\r\nname: x\r\n---\r\n- a\r\n",
    "\u{feff}---\r\nname: x\r\n---\r\n- a\r\n- b\r\n"
)]
#[case::no_final_newline("# T\n\n- a", "# T\n\n- a\n- b")]
fn c12_line_ends_bom_and_final_newline_are_kept(#[case] before: &str, #[case] after: &str) {
    let doc = SkillDoc::parse(before);
    assert_eq!(doc.front_matter().is_some(), before.contains("name: x"));
    assert_eq!(apply_one(&doc, &append("- b")).expect("applies").text(), after);
}

#[test]
fn c12_an_anchor_with_lf_matches_crlf_text() {
    let doc = SkillDoc::parse("# T\r\n\r\n- one\r\n- two\r\n");
    let edit = Edit::new(EditOp::Replace, Some("- one\n- two"), Some("- three\n- four"));
    assert_eq!(apply_one(&doc, &edit).expect("applies").text(), "# T\r\n\r\n- three\r\n- four\r\n");
}

#[test]
fn c14_odd_front_matter_keeps_its_bytes_and_its_spelling() {
    let text = "---\nname: no\nversion: 1.10 # pinned\ndescription: >-\n  folded\n  text\nquote: 'it''s'\n\
                metadata:\n  a: 1\nallowed-tools:\n  - Read\n  - Bash\nname: twice\n\tbad: tab\n---\nBody\n";
    let doc = SkillDoc::parse(text);
    assert_eq!(doc.text(), text);
    let matter = doc.front_matter().expect("front matter");
    assert_eq!(matter.entries[0].value, "no");
    assert!(matter.entries[1].value.starts_with("1.10"));
    assert_eq!(matter.entries[2].value, "folded text");
    let messages: Vec<_> = matter.warnings.iter().map(|w| w.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("set again")), "{messages:?}");
    assert!(messages.iter().any(|m| m.contains("tabs")), "{messages:?}");
}

#[rstest]
#[case::empty("", "- b\n")]
#[case::only_newlines("\n\n", "\n\n- b\n")]
#[case::header_only("---\nname: x\n---\n", "---\nname: x\n---\n\n- b\n")]
#[case::header_without_final_newline("---\nname: x\n---", "---\nname: x\n---\n\n- b")]
#[case::no_header("# T\n", "# T\n\n- b\n")]
fn c15_training_can_start_from_nothing(#[case] before: &str, #[case] after: &str) {
    let doc = SkillDoc::parse(before);
    assert_eq!(apply_one(&doc, &append("- b")).expect("applies").text(), after);
}

#[test]
fn c16_huge_skills_and_long_descriptions_warn_in_characters() {
    let long = "ä".repeat(1025);
    let doc = SkillDoc::parse(format!("---\ndescription: {long}\n---\n{}", "line\n".repeat(501)));
    let messages: Vec<_> = doc.lint().into_iter().map(|w| w.message).collect();
    assert!(messages.iter().any(|m| m.contains("1025 characters")), "{messages:?}");
    assert!(messages.iter().any(|m| m.contains("501 lines")), "{messages:?}");
    let fits = SkillDoc::parse(format!("---\ndescription: {}\n---\n", "ä".repeat(1024)));
    assert!(fits.lint().is_empty());
    let huge = SkillDoc::parse("x".repeat(5_000_000));
    assert!(huge.lint()[0].message.contains("1250000 tokens"));
}

#[test]
fn bytes_that_are_no_text_name_their_offset() {
    assert_eq!(SkillDoc::from_bytes(vec![b'a', 0xff]), Err(NotUtf8 { offset: 1 }));
}

#[test]
fn an_append_goes_before_a_marked_region() {
    let doc = SkillDoc::parse("# T\n\n<!-- APPENDIX_START -->\nx\n<!-- APPENDIX_END -->\n");
    let after = apply_one(&doc, &append("- b")).expect("applies");
    assert_eq!(after.text(), "# T\n\n- b\n\n<!-- APPENDIX_START -->\nx\n<!-- APPENDIX_END -->\n");
}

proptest! {
    #[test]
    fn parsing_keeps_every_byte(text in "(---\r?\n)?(\\PC|[\r\n]){0,200}") {
        let doc = SkillDoc::parse(text.clone());
        prop_assert_eq!(doc.text(), text);
    }

    #[test]
    fn lines_joined_are_the_text(text in "([a-c]|\r|\n){0,60}") {
        let joined: String = lines(&text).map(|line| &text[line.full]).collect();
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn no_edit_ever_changes_protected_text(
        target in "[a-d#<!-]{1,8}",
        content in "([a-d# -]|\n){0,12}",
        op in 0usize..4,
    ) {
        let doc = SkillDoc::parse("---\nname: abc\n---\n# ab\ncd\n\n<!-- APPENDIX_START -->\nab\n<!-- APPENDIX_END -->\nda\n");
        let op = [EditOp::Append, EditOp::InsertAfter, EditOp::Replace, EditOp::Delete][op].clone();
        match apply_one(&doc, &Edit::new(op, Some(&target), Some(&content))) {
            Ok(after) => prop_assert!(after.protects_the_same_as(&doc)),
            Err(refusal) => prop_assert_ne!(refusal.status, EditStatus::Applied),
        }
    }
}
