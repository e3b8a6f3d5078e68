use super::*;
use crate::edit::{Edit, EditOp, apply_in_order};
use proptest::prelude::*;

const SKILL: &str = "---\nname: s\n---\n# Skill\n\n- Read the question.\n- Answer in one word.\n";

fn edit(op: EditOp, target: Option<&str>, content: Option<&str>) -> Edit {
    Edit::new(op, target, content)
}

/// The version that a step makes with these edits, and its text.
fn by_edits(before: &str, step: u32, edits: &[Edit]) -> (NextVersion, String) {
    let (doc, edits) = apply_in_order(&SkillDoc::parse(before), edits, u32::MAX);
    let made_by = MadeBy::Step { step, edits, is_rewrite: false };
    (NextVersion { text: Some(doc.text().to_owned()), made_by }, doc.text().to_owned())
}

fn origin_of(blame: &Blame, line: &str) -> LineOrigin {
    let at = lines_of(blame.text()).iter().position(|text| text == line);
    blame.origins()[at.unwrap_or_else(|| panic!("no line {line:?} in {}", blame.text()))]
}

#[test]
fn each_line_names_the_edit_that_wrote_it_and_what_stood_there_before() {
    let (first, text) = by_edits(
        SKILL,
        3,
        &[
            edit(EditOp::Replace, Some("no such text"), Some("- x")),
            edit(EditOp::Append, None, Some("- Give dates as YYYY.")),
        ],
    );
    let replace = edit(EditOp::Replace, Some("in one word."), Some("with the shortest phrase."));
    let (second, _) = by_edits(&text, 7, &[replace]);
    let replace = edit(EditOp::Replace, Some("as YYYY"), Some("as YYYY-MM-DD"));
    let (third, _) = by_edits(second.text.as_deref().expect("a text"), 9, &[replace]);
    let blame = Blame::of(Some(SKILL), &[first, second, third]).expect("known");
    let added = Origin::Edit { step: 3, number: 2 };
    assert_eq!(
        origin_of(&blame, "- Give dates as YYYY-MM-DD."),
        LineOrigin { origin: Origin::Edit { step: 9, number: 1 }, before: Some(added) }
    );
    assert_eq!(
        origin_of(&blame, "- Answer with the shortest phrase."),
        LineOrigin { origin: Origin::Edit { step: 7, number: 1 }, before: Some(Origin::Initial) }
    );
    assert_eq!(origin_of(&blame, "- Read the question.").origin, Origin::Initial);
}

#[test]
fn guidance_notes_and_rewrites_are_told_apart() {
    let guided = SkillDoc::parse(SKILL).with_region(Region::SlowUpdate, "Look twice.").expect("ok");
    let slow = NextVersion {
        text: Some(guided.text().to_owned()),
        made_by: MadeBy::SlowUpdate { epoch: 2 },
    };
    let noted = guided.with_region(Region::Appendix, "- Check names.").expect("ok");
    let noted = NextVersion {
        text: Some(noted.text().to_owned()),
        made_by: MadeBy::Step { step: 5, edits: Vec::new(), is_rewrite: false },
    };
    let text = noted.text.clone().expect("a text").replace("# Skill", "# A skill");
    let rewritten = NextVersion {
        text: Some(text),
        made_by: MadeBy::Step { step: 6, edits: Vec::new(), is_rewrite: true },
    };
    let blame = Blame::of(Some(SKILL), &[slow, noted, rewritten]).expect("known");
    for (line, origin) in [
        ("Look twice.", Origin::SlowUpdate { epoch: 2 }),
        ("<!-- SLOW_UPDATE_END -->", Origin::SlowUpdate { epoch: 2 }),
        ("- Check names.", Origin::Notes { step: 5 }),
        ("<!-- APPENDIX_START -->", Origin::Notes { step: 5 }),
        ("# A skill", Origin::Rewrite { step: 6 }),
        ("name: s", Origin::Initial),
    ] {
        assert_eq!(origin_of(&blame, line).origin, origin, "{line}");
    }
    assert!(blame.origins().iter().all(|line| !matches!(line.origin, Origin::Step { .. })));
}

#[test]
fn edits_that_were_applied_by_the_rules_of_the_python_system_are_found_again() {
    // The target occurs twice, which our own rules refuse; the Python system takes the first one.
    let before = "- Rule.\n- Rule.\n";
    let first = edit(EditOp::Replace, Some("- Rule."), Some("- First."));
    let (doc, edits) = crate::python::apply_edits(&SkillDoc::parse(before), &[first]);
    let made_by = MadeBy::Step { step: 4, edits, is_rewrite: false };
    let version = NextVersion { text: Some(doc.text().to_owned()), made_by };
    let blame = Blame::of(Some(before), &[version]).expect("known");
    assert_eq!(origin_of(&blame, "- First.").origin, Origin::Edit { step: 4, number: 1 });
    assert_eq!(origin_of(&blame, "- Rule.").origin, Origin::Initial);
}

#[test]
fn what_the_edits_do_not_explain_has_no_edit_and_a_missing_text_makes_it_unknown() {
    let version = |text: Option<&str>, step| NextVersion {
        text: text.map(str::to_owned),
        made_by: MadeBy::Step { step, edits: Vec::new(), is_rewrite: false },
    };
    let versions = [version(Some("a\nb\n"), 1), version(None, 2), version(Some("a\nb\nc\n"), 3)];
    let blame = Blame::of(Some("a\n"), &versions).expect("known");
    let origins: Vec<Origin> = blame.origins().iter().map(|line| line.origin).collect();
    assert_eq!(origins, [Origin::Initial, Origin::Step { step: 1 }, Origin::Unknown]);
    assert_eq!(Blame::of(Some("a\n"), &versions[..2]), None);
    let foreign = NextVersion { text: Some("a\nx\n".to_owned()), made_by: MadeBy::Unknown };
    let blame = Blame::of(Some("a\n"), &[foreign]).expect("known");
    assert_eq!(blame.origins()[1].origin, Origin::Unknown);
    let from_nothing = Blame::of(None, &versions[..1]).expect("known");
    assert!(from_nothing.origins().iter().all(|line| line.origin == Origin::Unknown));
}

#[test]
fn origins_are_read_as_they_are_written() {
    for origin in [
        Origin::Initial,
        Origin::Edit { step: 3, number: 2 },
        Origin::Rewrite { step: 1 },
        Origin::Notes { step: 1 },
        Origin::Step { step: 1 },
        Origin::SlowUpdate { epoch: 2 },
        Origin::Unknown,
    ] {
        let text = serde_json::to_string(&origin).expect("JSON");
        assert_eq!(crate::json::from_str::<Origin>(&text), Ok(origin), "{text}");
    }
}

/// Any edit, aimed at lines that often exist.
fn any_edit() -> impl Strategy<Value = Edit> {
    let line = (0u32..12).prop_map(|n| format!("- rule {n:02}"));
    let op = prop_oneof![
        Just(EditOp::Append),
        Just(EditOp::InsertAfter),
        Just(EditOp::Replace),
        Just(EditOp::Delete)
    ];
    (op, line.clone(), line)
        .prop_map(|(op, target, content)| edit(op, Some(&target), Some(&content)))
}

proptest! {
    #[test]
    fn each_line_of_the_last_version_has_one_origin_that_happened(
        initial in prop::collection::vec(0u32..12, 0..8),
        steps in prop::collection::vec(prop::collection::vec(any_edit(), 0..4), 0..8),
        eol in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let mut text = initial.iter().map(|n| format!("- rule {n:02}{eol}")).collect::<String>();
        let start = text.clone();
        let mut versions = Vec::new();
        for (step, edits) in (1u32..).zip(&steps) {
            let (version, next) = by_edits(&text, step, edits);
            versions.push(version);
            text = next;
        }
        let blame = Blame::of(Some(&start), &versions).expect("known");
        prop_assert_eq!(blame.text(), &text);
        prop_assert_eq!(blame.origins().len(), lines_of(&text).len());
        for (line, at) in lines_of(&text).iter().zip(blame.origins()) {
            match at.origin {
                Origin::Initial => {
                    let known = initial.iter().any(|n| *line == format!("- rule {n:02}"));
                    prop_assert!(known || line.trim().is_empty(), "{}", line);
                }
                Origin::Edit { step, number } => {
                    let MadeBy::Step { edits, .. } = &versions[step as usize - 1].made_by else {
                        return Err(TestCaseError::fail("no step"));
                    };
                    let report = &edits[number as usize - 1];
                    prop_assert_eq!(report.status, EditStatus::Applied);
                    // An edit brings its own words, or the blank line around them.
                    let content = report.edit.content.as_deref().unwrap_or_default();
                    prop_assert!(line.is_empty() || line.contains(content) || content.contains(line.as_str()), "{} {}", line, content);
                }
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
    }

    #[test]
    fn lines_that_both_texts_share_keep_their_origin(
        old in prop::collection::vec(0u32..6, 0..12),
        new in prop::collection::vec(0u32..6, 0..12),
    ) {
        let text = |lines: &[u32]| lines.iter().map(|n| format!("{n}\n")).collect::<String>();
        let (old, new) = (text(&old), text(&new));
        let blame = Blame::start(&old).then(&new, |_| Origin::Step { step: 9 });
        let kept = blame.origins().iter().filter(|line| line.origin == Origin::Initial).count();
        let same: usize =
            same_lines(&old, &new).iter().filter(|block| block.is_same).map(|b| b.new.len()).sum();
        prop_assert_eq!(kept, same);
        prop_assert_eq!(blame.then(&new, |_| Origin::Unknown), blame);
    }
}
