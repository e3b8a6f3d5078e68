//! Rejection, edits one by one, revert, and what is told about them.

use super::*;
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};

fn edit(content: &str) -> EditRecord {
    EditRecord {
        target: Target::Memory,
        op: EditOp::Add,
        content: content.to_owned(),
        anchor: String::new(),
        rationale: String::new(),
    }
}

fn state(dir: &Path, role: &Role) -> RowState {
    review(dir).unwrap().into_iter().find(|review| review.row.role == *role).unwrap().state
}

#[test]
fn c68_a_rejection_needs_a_reason_and_stands_until_it_is_opened_again() {
    let world = World::new();
    let dir = world.pair();
    let err = reject(&dir, &[Role::Memory], " ", "anna", AT).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::NoReason)), "{err}");
    reject(&dir, &[Role::Memory], "too vague", "anna", AT).unwrap();
    let RowState::Rejected(decision) = state(&dir, &Role::Memory) else { panic!() };
    let told = (decision.actor.as_str(), decision.reason.as_str(), decision.at.as_str());
    assert_eq!(told, ("anna", "too vague", "2026-05-28T20:26:40Z"));
    assert_eq!(state(&dir, &Role::ManagedSkill), RowState::Pending);

    let err = world.adopt(&dir, Selection::Managed).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Rejected(Role::Memory))), "{err}");
    assert!(!world.managed().exists());
    world.adopt(&dir, Selection::ManagedSkill).unwrap();
    assert_eq!(
        reject(&dir, &[Role::Memory], "again", "anna", AT).unwrap(),
        [],
        "it is rejected already"
    );
    reopen(&dir, &[Role::Memory], "", "bob", AT).unwrap();
    assert_eq!(state(&dir, &Role::Memory), RowState::Pending);
    world.adopt(&dir, Selection::Memory).unwrap();
}

#[test]
fn c68_what_is_adopted_cannot_be_rejected_and_the_rest_of_the_night_can() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Memory).unwrap();
    let both = [Role::ManagedSkill, Role::Memory];
    let err = reject(&dir, &both, "no", "anna", AT).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::AlreadyAdopted(Role::Memory))), "{err}");
    assert_eq!(state(&dir, &Role::ManagedSkill), RowState::Pending, "none of them is");
    assert_eq!(reject(&dir, &[], "no", "anna", AT).unwrap().len(), 1);
    assert!(matches!(state(&dir, &Role::ManagedSkill), RowState::Rejected(_)));
    assert!(matches!(state(&dir, &Role::Memory), RowState::Adopted { .. }));
    assert!(matches!(
        reject(&dir, &[own("x")], "no", "anna", AT),
        Err(AdoptError::InvalidSelection(_))
    ));
}

#[test]
fn some_of_the_edits_are_adopted_with_their_own_hash_and_the_chosen_edits_are_noted() {
    let world = World::new();
    let dir = world.pair();
    let derived =
        Derived { role: Role::Memory, text: "one edit\n".to_owned(), edits: vec![edit("one")] };
    let some = Adoption { derived: vec![derived], ..adoption(Selection::Memory) };
    let receipts = adopt(&dir, &some, &world.places()).unwrap();
    assert_eq!(read(&world.memory()), "one edit\n");
    assert_eq!(receipts[0].after, Sha256Hex::of("one edit\n"));
    let RowState::Adopted { receipt, decision } = state(&dir, &Role::Memory) else { panic!() };
    let decision = decision.unwrap();
    assert_eq!((receipt, &decision.edits), (receipts[0].clone(), &vec![edit("one")]));
    assert_eq!(decision.sha256_before, Some(Sha256Hex::of(OLD)));
    revert(&dir, &[Role::Memory], "bob", AT, &world.places()).unwrap();
    assert_eq!(read(&world.memory()), OLD);
    assert!(
        matches!(state(&dir, &Role::Memory), RowState::Reverted { decision, .. } if decision.actor == "bob")
    );
}

fn actions(dir: &Path) -> Vec<Action> {
    decisions(dir).unwrap().into_iter().map(|decision| decision.action).collect()
}

#[test]
fn what_was_put_back_is_adopted_again_with_one_receipt_and_put_back_again() {
    let world = World::new();
    let dir = world.pair();
    let list =
        || -> Value { serde_json::from_str(&read(&dir.join("adopted_legacy.json"))).unwrap() };
    world.adopt(&dir, Selection::Managed).unwrap();
    revert(&dir, &[Role::Memory], "bob", AT, &world.places()).unwrap();
    world.adopt(&dir, Selection::Memory).unwrap();
    assert_eq!((read(&world.memory()).as_str(), list().as_array().unwrap().len()), (NEW, 2));
    assert!(matches!(state(&dir, &Role::Memory), RowState::Adopted { decision: Some(_), .. }));
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::AlreadyAdopted(Role::Memory))), "{err}");
    let reverted = revert(&dir, &[Role::Memory], "bob", AT, &world.places()).unwrap();
    assert!(reverted[0].is_new && read(&world.memory()) == OLD);
    let told = [Action::Adopted, Action::Adopted, Action::Reverted, Action::Reopened];
    assert_eq!(actions(&dir), [&told[..], &[Action::Adopted, Action::Reverted]].concat());
}

#[test]
fn what_was_put_back_and_edited_since_is_not_adopted_and_stays_put_back() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Memory).unwrap();
    revert(&dir, &[], "bob", AT, &world.places()).unwrap();
    fs::write(world.memory(), "typed\n").unwrap();
    assert!(is_changed(&world.adopt(&dir, Selection::Memory).unwrap_err()));
    assert!(matches!(state(&dir, &Role::Memory), RowState::Reverted { .. }));
}

#[test]
fn c65_a_crash_while_it_is_adopted_again_leaves_a_proposal_that_waits() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Memory).unwrap();
    revert(&dir, &[], "bob", AT, &world.places()).unwrap();
    let stop = |step| if step == Step::Commit { Err(Stop::Crash) } else { Ok(()) };
    adopt_watched(&dir, &adoption(Selection::Memory), &world.places(), &stop).unwrap_err();
    recover(&dir, &world.places()).unwrap();
    assert_eq!(
        (state(&dir, &Role::Memory), read(&world.memory()).as_str()),
        (RowState::Pending, OLD)
    );
    assert_eq!(actions(&dir), [Action::Adopted, Action::Reverted, Action::Reopened]);
    world.adopt(&dir, Selection::Memory).unwrap();
    assert_eq!(read(&world.memory()), NEW);
}

#[test]
fn c68_what_was_put_back_can_be_rejected_or_opened_again() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Managed).unwrap();
    revert(&dir, &[], "bob", AT, &world.places()).unwrap();
    reject(&dir, &[Role::Memory], "it misled", "anna", AT).unwrap();
    assert!(matches!(state(&dir, &Role::Memory), RowState::Rejected(_)));
    assert!(matches!(state(&dir, &Role::ManagedSkill), RowState::Reverted { .. }));
    assert_eq!(reopen(&dir, &[], "", "anna", AT).unwrap().len(), 2);
    assert_eq!(state(&dir, &Role::Memory), RowState::Pending);
    assert_eq!(state(&dir, &Role::ManagedSkill), RowState::Pending);
    assert!(!dir.join("adopted_legacy.json").exists(), "no receipt is left");
    world.adopt(&dir, Selection::Managed).unwrap();
}

#[test]
fn a_secret_in_the_reason_of_a_rejection_is_masked() {
    let world = World::new();
    let dir = world.pair();
    let made = reject(&dir, &[], "it quotes password=hunter2-hunter2", "anna", AT).unwrap();
    assert!(made[0].reason.starts_with("it quotes"), "{}", made[0].reason);
    assert!(!read(&dir.join("decision.json")).contains("hunter2"));
}

#[test]
fn a_document_made_of_no_edits_or_for_nothing_chosen_is_refused() {
    let world = World::new();
    let dir = world.pair();
    let with = |role: Role, text: &str| Adoption {
        derived: vec![Derived { role, text: text.to_owned(), edits: Vec::new() }],
        ..adoption(Selection::Memory)
    };
    let err = adopt(&dir, &with(Role::Memory, " \n"), &world.places()).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Empty(Role::Memory))), "{err}");
    let err = adopt(&dir, &with(Role::ManagedSkill, "x"), &world.places()).unwrap_err();
    assert!(matches!(err, AdoptError::InvalidSelection(_)), "{err}");
    assert_eq!(read(&world.memory()), OLD);
}

#[test]
fn c63_revert_leaves_a_document_that_was_edited_since_and_its_neighbours() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Managed).unwrap();
    fs::write(world.memory(), "typed\n").unwrap();
    let err = revert(&dir, &[], "anna", AT, &world.places()).unwrap_err();
    assert!(is_changed(&err), "{err}");
    assert_eq!((read(&world.memory()).as_str(), read(&world.managed()).as_str()), ("typed\n", NEW));
    revert(&dir, &[Role::ManagedSkill], "anna", AT, &world.places()).unwrap();
    assert!(!world.managed().exists());
    assert!(matches!(state(&dir, &Role::Memory), RowState::Adopted { .. }));
}

#[test]
fn a_revert_without_adoption_or_with_a_changed_backup_is_refused() {
    let world = World::new();
    let dir = world.pair();
    let err = revert(&dir, &[Role::Memory], "anna", AT, &world.places()).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::NotAdopted(Role::Memory))), "{err}");
    assert_eq!(revert(&dir, &[], "anna", AT, &world.places()).unwrap(), []);
    world.adopt(&dir, Selection::Memory).unwrap();
    fs::write(dir.join("backup/CLAUDE.md"), "other").unwrap();
    let err = revert(&dir, &[Role::Memory], "anna", AT, &world.places()).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::NoBackup(_))), "{err}");
    assert_eq!(read(&world.memory()), NEW);
}

#[test]
fn receipts_of_the_reference_system_are_read_and_damaged_ones_refused() {
    let world = World::new();
    let dir = world.pair();
    let row = json!([{"target": "memory", "live_path": world.memory(), "sha256_before": "",
        "sha256_after": Sha256Hex::of(NEW), "backup_path": ""}]);
    fs::write(dir.join("adopted_legacy.json"), row.to_string()).unwrap();
    assert!(matches!(state(&dir, &Role::Memory), RowState::Adopted { decision: None, .. }));
    fs::write(dir.join("adopted_legacy.json"), "[{\"target\": \"memory\"}]").unwrap();
    assert_eq!(review(&dir).unwrap_err().kind(), ErrorKind::InvalidStaging);
}

#[test]
fn a_receipt_of_strangers_can_neither_remove_nor_replace_another_file() {
    let world = World::new();
    let dir = world.pair();
    let settings = world.root().join("home/settings.json");
    fs::write(&settings, NEW).unwrap();
    let notes = world.root().join("project/NOTES.md");
    fs::write(&notes, NEW).unwrap();
    for (target, live) in [("memory", &settings), ("memory", &notes), ("skill", &notes)] {
        let row = json!([{"target": target, "live_path": live, "sha256_before": "",
            "sha256_after": Sha256Hex::of(NEW), "backup_path": ""}]);
        fs::write(dir.join("adopted_legacy.json"), row.to_string()).unwrap();
        let err = revert(&dir, &[], "anna", AT, &world.places()).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidStaging, "{err}");
        assert_eq!(read(live), NEW);
    }
    let elsewhere = dir.join("backup/../../secret.md");
    let row = json!([{"target": "memory", "live_path": world.memory(), "sha256_before": Sha256Hex::of(OLD),
        "sha256_after": Sha256Hex::of(NEW), "backup_path": elsewhere}]);
    fs::write(dir.join("adopted_legacy.json"), row.to_string()).unwrap();
    let err = revert(&dir, &[], "anna", AT, &world.places()).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidStaging, "{err}");
}

#[test]
fn c68_decisions_tell_who_and_when_and_leave_out_what_never_happened() {
    let world = World::new();
    let dir = world.pair();
    let stop = |step| if step == Step::Commit { Err(Stop::Crash) } else { Ok(()) };
    adopt_watched(&dir, &adoption(Selection::Memory), &world.places(), &stop).unwrap_err();
    recover(&dir, &world.places()).unwrap();
    assert_eq!(decisions(&dir).unwrap(), []);
    reject(&dir, &[Role::ManagedSkill], "no", "anna", AT).unwrap();
    world.adopt(&dir, Selection::Memory).unwrap();
    revert(&dir, &[], "bob", AT, &world.places()).unwrap();
    let told: Vec<(Action, String)> = decisions(&dir)
        .unwrap()
        .into_iter()
        .map(|decision| (decision.action, decision.actor))
        .collect();
    let expect =
        [(Action::Rejected, "anna"), (Action::Adopted, "local"), (Action::Reverted, "bob")];
    assert_eq!(told, expect.map(|(action, actor)| (action, actor.to_owned())));
}

#[test]
fn c63_the_three_texts_of_a_stale_proposal_can_be_compared() {
    let world = World::new();
    let dir = world.pair();
    let row = review(&dir)
        .unwrap()
        .into_iter()
        .find(|review| review.row.role == Role::Memory)
        .unwrap()
        .row;
    fs::write(world.memory(), "typed\n").unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts(&dir, &row),
        Texts { baseline: text(OLD), proposed: text(NEW), live: text("typed\n") }
    );
    fs::write(dir.join("proposed_CLAUDE.md"), "evil\n").unwrap();
    fs::remove_file(dir.join("baseline_CLAUDE.md")).unwrap();
    fs::write(world.memory(), OLD).unwrap();
    assert_eq!(texts(&dir, &row), Texts { baseline: text(OLD), proposed: None, live: text(OLD) });
}
