//! A crash and a refusal of the operating system at every step of an adoption.

use super::*;
use std::cell::{Cell, RefCell};
use std::io;

/// Every step of an adoption of two documents.
fn steps() -> Vec<Step> {
    let world = World::new();
    let dir = world.pair();
    let seen = RefCell::new(Vec::new());
    let watch = |step| {
        seen.borrow_mut().push(step);
        Ok(())
    };
    adopt_watched(&dir, &adoption(Selection::Managed), &world.places(), &watch).unwrap();
    seen.into_inner()
}

fn stop_at(world: &World, dir: &Path, at: Step, stop: fn() -> Stop) -> AdoptError {
    let reached = Cell::new(false);
    let watch = |step| {
        if step == at {
            reached.set(true);
            return Err(stop());
        }
        Ok(())
    };
    let err =
        adopt_watched(dir, &adoption(Selection::Managed), &world.places(), &watch).unwrap_err();
    assert!(reached.get(), "{at:?} was not reached");
    err
}

fn assert_as_before(world: &World, dir: &Path, at: Step) {
    assert_eq!(read(&world.memory()), OLD, "{at:?}");
    assert!(
        !world.managed().parent().unwrap().exists(),
        "{at:?}: the folder that was made goes too"
    );
    assert!(!dir.join("adopted_legacy.json").exists(), "{at:?}");
    assert!(!dir.join("backup/CLAUDE.md").exists(), "{at:?}");
    assert!(!dir.join(".adopt-transaction.json").exists(), "{at:?}");
    let left = names(&world.root().join("project"));
    assert_eq!(left, [".skillopt-sleep", "CLAUDE.md"], "{at:?}");
}

#[test]
fn an_adoption_of_two_documents_has_eleven_steps() {
    assert_eq!(steps().len(), 11, "{:?}", steps());
}

#[test]
fn c65_a_crash_at_any_step_is_taken_back_and_the_adoption_can_be_done_again() {
    for at in steps() {
        let world = World::new();
        let dir = world.pair();
        let err = stop_at(&world, &dir, at, || Stop::Crash);
        assert!(matches!(err, AdoptError::Interrupted), "{err}");
        for path in [world.memory(), world.managed()] {
            let now = fs::read_to_string(path).ok();
            assert!(
                now.is_none() || now.as_deref() == Some(OLD) || now.as_deref() == Some(NEW),
                "never half"
            );
        }
        recover(&dir, &world.places()).unwrap();
        assert_as_before(&world, &dir, at);
        assert_eq!(
            recover(&dir, &world.places()).unwrap(),
            Recovered::default(),
            "twice does nothing more"
        );
        world.adopt(&dir, Selection::Managed).unwrap();
        assert_eq!((read(&world.memory()).as_str(), read(&world.managed()).as_str()), (NEW, NEW));
    }
}

#[test]
fn c65_the_next_adoption_recovers_by_itself() {
    for at in steps() {
        let world = World::new();
        let dir = world.pair();
        stop_at(&world, &dir, at, || Stop::Crash);
        let receipts = world.adopt(&dir, Selection::Managed).unwrap();
        assert_eq!(receipts.len(), 2, "{at:?}");
        assert_eq!(read(&dir.join("backup/CLAUDE.md")), OLD, "{at:?}");
    }
}

#[test]
fn c65_a_full_disk_or_a_read_only_folder_at_any_step_leaves_everything_as_it_was() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied] {
        for at in steps() {
            let world = World::new();
            let dir = world.pair();
            let stop = match kind {
                io::ErrorKind::StorageFull => || Stop::Fails(io::ErrorKind::StorageFull.into()),
                _ => || Stop::Fails(io::ErrorKind::PermissionDenied.into()),
            };
            let err = stop_at(&world, &dir, at, stop);
            assert!(
                matches!(&err, AdoptError::Failed { reason, .. } if reason.kind() == kind),
                "{err}"
            );
            assert_eq!((err.kind().as_str(), err.kind().exit_code()), ("adoption_failed", 1));
            assert_as_before(&world, &dir, at);
        }
    }
}

#[test]
fn c65_recovery_never_overwrites_what_was_written_since_and_loses_no_bytes() {
    for at in steps() {
        let world = World::new();
        let dir = world.pair();
        stop_at(&world, &dir, at, || Stop::Crash);
        let had_journal = dir.join(".adopt-transaction.json").exists();
        fs::write(world.memory(), "typed since\n").unwrap();
        let recovered = recover(&dir, &world.places()).unwrap();
        assert_eq!(read(&world.memory()), "typed since\n", "{at:?}");
        if had_journal {
            assert_eq!(recovered.kept, [world.memory()], "{at:?}");
            assert_eq!(
                read(&dir.join("backup/CLAUDE.md")),
                OLD,
                "{at:?}: the bytes from before are kept"
            );
        }
        let err = world.adopt(&dir, Selection::Memory).unwrap_err();
        assert!(is_changed(&err), "{at:?}: {err}");
        assert_eq!(read(&world.memory()), "typed since\n");
    }
}

#[test]
fn c65_a_crash_in_the_middle_of_a_second_adoption_keeps_the_first_receipt() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Memory).unwrap();
    let before = read(&dir.join("adopted_legacy.json"));
    let watch = |step| if step == Step::Commit { Err(Stop::Crash) } else { Ok(()) };
    let skill = adoption(Selection::ManagedSkill);
    adopt_watched(&dir, &skill, &world.places(), &watch).unwrap_err();
    assert_ne!(read(&dir.join("adopted_legacy.json")), before);
    let recovered = recover(&dir, &world.places()).unwrap();
    assert_eq!(recovered.rolled_back, [world.managed()]);
    assert!(recovered.text().contains("taken back"));
    assert_eq!(read(&dir.join("adopted_legacy.json")), before);
    assert_eq!(read(&world.memory()), NEW, "the first adoption stands");
}

#[test]
fn the_journal_has_the_fields_of_the_reference_system() {
    let world = World::new();
    let dir = world.pair();
    stop_at(&world, &dir, Step::Replace(0), || Stop::Crash);
    let journal: Value = serde_json::from_str(&read(&dir.join(".adopt-transaction.json"))).unwrap();
    assert_eq!((&journal["version"], &journal["kind"]), (&json!(2), &json!("legacy")));
    let memory = &journal["targets"][1];
    let keys: Vec<&str> = memory.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "key",
            "live_path",
            "expected_realpath",
            "expected_basename",
            "proposed_sha256",
            "original_b64",
            "original_mode",
            "original_file_id",
            "baseline_sha256",
            "backup_path",
            "created_dirs",
            "created_dir_ids",
        ]
    );
    assert_eq!(
        (&memory["key"], &memory["original_b64"]),
        (&json!("legacy memory"), &json!("IyBPbGQNCg=="))
    );
    let skill = &journal["targets"][0];
    assert_eq!((&skill["original_b64"], &skill["backup_path"]), (&Value::Null, &json!("")));
    assert_eq!(skill["created_dirs"], json!([world.managed().parent().unwrap()]));
    assert!(skill["created_dir_ids"][0].is_array());
}

#[test]
fn a_journal_that_leads_elsewhere_is_refused_and_writes_nothing() {
    let world = World::new();
    let dir = world.pair();
    stop_at(&world, &dir, Step::Receipt, || Stop::Crash);
    let path = dir.join(".adopt-transaction.json");
    let elsewhere = world.root().join("elsewhere/CLAUDE.md");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::write(&elsewhere, NEW).unwrap();
    let moved = read(&path)
        .replace(&world.memory().display().to_string(), &elsewhere.display().to_string());
    fs::write(&path, moved).unwrap();
    assert!(recover(&dir, &world.places()).is_err());
    assert_eq!(read(&elsewhere), NEW);
}

#[test]
fn c65_a_recovery_that_is_itself_interrupted_is_done_again() {
    // What a recovery may have done before it died, in its order: receipts, memory, skill.
    for n_done in 0..=3 {
        let world = World::new();
        let dir = world.pair();
        stop_at(&world, &dir, Step::Commit, || Stop::Crash);
        if n_done > 0 {
            fs::remove_file(dir.join("adopted_legacy.json")).unwrap();
        }
        if n_done > 1 {
            fs::write(world.memory(), OLD).unwrap();
            fs::remove_file(dir.join("backup/CLAUDE.md")).unwrap();
        }
        if n_done > 2 {
            fs::remove_dir_all(world.managed().parent().unwrap()).unwrap();
        }
        recover(&dir, &world.places()).unwrap();
        assert_as_before(&world, &dir, Step::Commit);
    }
}

#[test]
fn c65_a_crash_between_the_write_of_a_revert_and_its_note_is_noticed() {
    let world = World::new();
    let dir = world.pair();
    world.adopt(&dir, Selection::Memory).unwrap();
    fs::write(world.memory(), OLD).unwrap();
    let reverted = revert(&dir, &[], "anna", AT, &world.places()).unwrap();
    assert_eq!(reverted[0].decision.actor, "anna");
    assert_eq!(read(&world.memory()), OLD);
    assert!(matches!(review(&dir).unwrap()[1].state, RowState::Reverted { .. }));
}

#[test]
fn a_journal_of_an_older_release_is_taken_back_and_a_newer_one_refused() {
    let world = World::new();
    let dir = world.pair();
    stop_at(&world, &dir, Step::Receipt, || Stop::Crash);
    let path = dir.join(".adopt-transaction.json");
    let mut journal: Value = serde_json::from_str(&read(&path)).unwrap();
    journal["version"] = json!(3);
    fs::write(&path, journal.to_string()).unwrap();
    assert_eq!(recover(&dir, &world.places()).unwrap_err().kind(), ErrorKind::InvalidStaging);
    journal["version"] = json!(1);
    for target in journal["targets"].as_array_mut().unwrap() {
        target.as_object_mut().unwrap().remove("created_dir_ids");
    }
    fs::write(&path, journal.to_string()).unwrap();
    recover(&dir, &world.places()).unwrap();
    assert_eq!(read(&world.memory()), OLD);
    assert!(!world.managed().exists());
}
