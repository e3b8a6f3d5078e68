//! Some of the edits of a proposal: what they make, what they build on, and what is refused.

use super::*;
use crate::block::{EditStatus, apply_edits, entries, with_slow_update};
use proptest::prelude::*;
use rstest::rstest;
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};

fn edit(op: EditOp, content: &str, anchor: &str) -> EditRecord {
    EditRecord {
        target: Target::Memory,
        op,
        content: content.to_owned(),
        anchor: anchor.to_owned(),
        rationale: String::new(),
    }
}

fn add(content: &str) -> EditRecord {
    edit(EditOp::Add, content, "")
}

/// What a night would do with these edits: only those that change something are part of a proposal.
fn choice(base: &str, edits: &[EditRecord]) -> Option<Choice> {
    let made = apply_edits(base, edits).unwrap();
    let applied: Vec<EditRecord> = made.applied(edits).into_iter().cloned().collect();
    Choice::new(Role::Memory, base, &made.text, applied).ok()
}

fn words(result: Result<Option<Derived>, AdoptError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn one_edit_of_two_makes_the_document_with_that_edit_alone() {
    let choice = choice("# Notes\r\n", &[add("Be brief."), add("Test first.")]).unwrap();
    let derived = choice.derive(&[2]).unwrap().unwrap();
    assert_eq!(derived.text, apply_edits("# Notes\r\n", &[add("Test first.")]).unwrap().text);
    assert_eq!(derived.edits, [add("Test first.")]);
    assert_eq!(choice.derive(&[2, 1]).unwrap(), None, "all of them are the proposal itself");
    assert_eq!(choice.without(&[1]).unwrap(), [2]);
    assert_eq!(choice.numbers_of(&derived.edits), Some(vec![2]));
    assert_eq!(choice.numbers_of(&[add("other")]), None);
}

#[test]
fn an_edit_that_builds_on_another_says_so_and_is_refused_without_it() {
    let edits = [
        add("Run the tests."),
        edit(EditOp::Replace, "Run the unit tests.", "Run the tests"),
        edit(EditOp::Delete, "", "unit tests"),
        add("Be brief."),
    ];
    let choice = choice("", &edits).unwrap();
    assert_eq!(choice.needs(), [vec![], vec![1], vec![1, 2], vec![]]);
    assert_eq!(
        words(choice.derive(&[2])),
        "edit 2 of the memory builds on edit 1: take both, or leave both out"
    );
    assert_eq!(
        words(choice.derive(&[3, 4])),
        "edit 3 of the memory builds on the edits 1 and 2: take them, too, or leave it out"
    );
    assert!(words(choice.derive(&[1, 2, 3])).contains("leave the memory as it is"));
    assert!(choice.derive(&[1, 2, 4]).unwrap().unwrap().text.contains("- Run the unit tests."));
}

#[rstest]
#[case(&[], "no edit of the memory is chosen; reject it if none is wanted")]
#[case(&[0], "the memory has no edit 0; its edits have the numbers 1 to 2")]
#[case(&[3], "the memory has no edit 3; its edits have the numbers 1 to 2")]
#[case(&[1, 1], "edit 1 of the memory is named twice")]
fn numbers_that_name_no_choice_are_refused(#[case] numbers: &[u32], #[case] expect: &str) {
    let choice = choice("", &[add("One"), add("Two")]).unwrap();
    assert_eq!(words(choice.derive(numbers)), expect);
}

#[test]
fn edits_that_do_not_make_up_the_proposal_are_no_choice() {
    let told = |edits: Vec<EditRecord>| Choice::new(Role::Memory, "a\n", "b\n", edits).unwrap_err();
    assert_eq!(told(vec![add("x")]), Whole::OtherText);
    assert_eq!(told(Vec::new()), Whole::NotTold);
}

#[test]
fn guidance_that_won_beside_the_edits_is_told_as_the_reason() {
    let made = apply_edits("a\n", &[add("x")]).unwrap().text;
    let guided = with_slow_update(&made, "Look twice.").unwrap();
    let told = |base: &str, proposed: &str| {
        Choice::new(Role::Memory, base, proposed, vec![add("x")]).unwrap_err()
    };
    assert_eq!(told("a\n", &guided), Whole::Guidance);
    assert_eq!(told(&guided, &format!("{guided}b\n")), Whole::OtherText, "it was there before");
}

#[rstest]
#[case("---\nname: a\n---\n# a\n\nWords.\n")]
#[case("# a")]
#[case("")]
fn a_document_that_the_night_began_keeps_its_first_lines_in_every_choice(#[case] begun: &str) {
    let edits = vec![add("One"), add("Two")];
    let proposed = apply_edits(begun, &edits).unwrap().text;
    let choice = Choice::new(Role::ManagedSkill, "", &proposed, edits).unwrap();
    let derived = choice.derive(&[1]).unwrap().unwrap();
    assert_eq!(derived.text, apply_edits(begun, &[add("One")]).unwrap().text);
}

impl World {
    /// A night that proposes these edits of the memory.
    fn with_edits(&self, old: &str, edits: &[EditRecord]) -> PathBuf {
        fs::write(self.memory(), old).unwrap();
        let text = apply_edits(old, edits).unwrap().text;
        let report =
            SleepReport { accepted: true, edits: edits.to_vec(), ..SleepReport::default() };
        let pinned = self.pin(Role::Memory, &self.memory());
        let proposal = Proposal {
            report: &report,
            report_md: String::new(),
            diagnostics: Value::Null,
            docs: vec![ProposedDoc { pinned, text }],
            skill_roots: Vec::new(),
            live_skill_path: self.managed(),
            live_memory_path: self.memory(),
        };
        let reserved = reserve(&self.root().join("project"), AT).unwrap();
        publish(&reserved, &proposal, &Value::clone).unwrap().dir
    }
}

#[test]
fn a_choice_is_adopted_like_a_proposal_with_receipt_backup_and_way_back() {
    let world = World::new();
    let dir = world.with_edits("# Old\n", &[add("One"), add("Two"), add("Three")]);
    let row = crate::stage::Manifest::read(&dir).unwrap().rows.remove(0);
    let choice = Choice::of(&dir, &row).unwrap();
    let derived = choice.derive(&[1, 3]).unwrap().unwrap();
    let some = Adoption { derived: vec![derived.clone()], ..adoption(Selection::Bare) };
    let receipts = adopt(&dir, &some, &world.places()).unwrap();
    let expect = apply_edits("# Old\n", &[add("One"), add("Three")]).unwrap().text;
    assert_eq!(read(&world.memory()), expect);
    assert!(!expect.contains("Two"));
    assert_eq!(receipts[0].after, Sha256Hex::of(&expect));
    assert_eq!(read(&dir.join("backup/CLAUDE.md")), "# Old\n");
    let written: Value = serde_json::from_str(&read(&dir.join("adopted_legacy.json"))).unwrap();
    let mut fields: Vec<&String> = written[0].as_object().unwrap().keys().collect();
    fields.sort();
    let reference = ["backup_path", "live_path", "sha256_after", "sha256_before", "target"];
    assert_eq!(fields, reference, "the reference system refuses receipts with more");
    let noted = decisions(&dir).unwrap().remove(0);
    assert_eq!(choice.numbers_of(&noted.edits), Some(vec![1, 3]));
    assert_eq!(Choice::of(&dir, &row).unwrap().edits().len(), 3, "the night still tells its edits");
    revert(&dir, &[], "local", AT, &world.places()).unwrap();
    assert_eq!(read(&world.memory()), "# Old\n");
}

#[test]
fn a_choice_of_a_proposal_that_was_changed_is_none() {
    let world = World::new();
    let dir = world.with_edits("# Old\n", &[add("One"), add("Two")]);
    let row = crate::stage::Manifest::read(&dir).unwrap().rows.remove(0);
    fs::write(dir.join(&row.proposed_file), "# Other\n").unwrap();
    assert_eq!(Choice::of(&dir, &row).unwrap_err(), Whole::NoTexts);
    fs::remove_file(dir.join("report.json")).unwrap();
    assert_eq!(Choice::of(&dir, &row).unwrap_err(), Whole::NotTold);
}

#[test]
fn c65_a_choice_whose_adoption_was_interrupted_is_taken_back() {
    let world = World::new();
    let dir = world.with_edits("# Old\n", &[add("One"), add("Two")]);
    let row = crate::stage::Manifest::read(&dir).unwrap().rows.remove(0);
    let derived = Choice::of(&dir, &row).unwrap().derive(&[2]).unwrap();
    let some = Adoption { derived: derived.into_iter().collect(), ..adoption(Selection::Bare) };
    for at in [Step::Journal, Step::Replace(0), Step::Receipt, Step::Commit] {
        let stop = |step: Step| if step == at { Err(Stop::Crash) } else { Ok(()) };
        let err = adopt_watched(&dir, &some, &world.places(), &stop).unwrap_err();
        assert!(matches!(err, AdoptError::Interrupted), "{err}");
        recover(&dir, &world.places()).unwrap();
        assert_eq!(read(&world.memory()), "# Old\n", "{at:?}");
    }
    adopt(&dir, &some, &world.places()).unwrap();
    assert!(read(&world.memory()).contains("- Two\n") && !read(&world.memory()).contains("One"));
}

fn edits() -> impl Strategy<Value = Vec<EditRecord>> {
    let word = || prop::sample::select(vec!["alpha", "beta", "alpha beta", "gamma\ndelta", "eps"]);
    let op = prop::sample::select(vec![EditOp::Add, EditOp::Delete, EditOp::Replace]);
    prop::collection::vec(
        (op, word(), word()).prop_map(|(op, content, anchor)| edit(op, content, anchor)),
        1..7,
    )
}

proptest! {
    #[test]
    fn any_choice_makes_exactly_what_its_edits_make(
        base in prop::sample::select(vec!["", "# A\n", "# A\r\n\r\ntext", "\u{feff}# A\n"]),
        before in edits(),
        after in edits(),
        taken in prop::collection::vec(any::<bool>(), 7),
    ) {
        let base = apply_edits(base, &before).unwrap().text;
        let Some(choice) = choice(&base, &after) else { return Ok(()) };
        let numbers: Vec<u32> =
            (1..).zip(choice.edits()).zip(&taken).filter(|(_, taken)| **taken).map(|((n, _), _)| n).collect();
        let chosen: Vec<EditRecord> = (0..)
            .zip(choice.edits())
            .filter(|(at, _)| taken[*at])
            .map(|(_, edit)| edit.clone())
            .collect();
        let made = apply_edits(&base, &chosen).unwrap();
        match choice.derive(&numbers) {
            Ok(None) => prop_assert_eq!(made.text, choice.proposed()),
            Ok(Some(derived)) => {
                prop_assert_eq!(derived.text, made.text);
                prop_assert_eq!(derived.edits, chosen);
            }
            Err(_) => prop_assert!(
                chosen.is_empty()
                    || entries(&made.text) == entries(&base)
                    || made.statuses.iter().any(|one| *one != EditStatus::Applied)
            ),
        }
        // Whoever builds on nothing can be taken alone.
        for (at, needs) in (1..).zip(choice.needs()) {
            prop_assert!(needs.iter().all(|needed| *needed < at));
        }
    }
}
