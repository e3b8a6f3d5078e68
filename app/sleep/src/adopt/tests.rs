//! Adoption against real files: refusals, crashes at every step, twenty at once.

mod choose;
mod crash;
mod review;

use super::*;
use crate::stage::{
    Pinned, Proposal, ProposedDoc, Role, SkillName, TargetSpec, check_targets, publish, reserve,
};
use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::report::SleepReport;
use std::fs;
use std::path::{Path, PathBuf};

const AT: u64 = 1_780_000_000_000;
const OLD: &str = "# Old\r\n";
const NEW: &str = "# New\r\n";

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["project", "temp", "home/skills"] {
            fs::create_dir_all(world.root().join(folder)).unwrap();
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn places(&self) -> Places {
        Places {
            temp_dir: self.root().join("temp"),
            allowed: vec![self.root().join("project"), self.root().join("home")],
        }
    }

    fn memory(&self) -> PathBuf {
        self.root().join("project/CLAUDE.md")
    }

    fn managed(&self) -> PathBuf {
        self.root().join("home/skills/learned/SKILL.md")
    }

    fn skill(&self, name: &str) -> PathBuf {
        let path = self.root().join("home/skills").join(name).join("SKILL.md");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, OLD).unwrap();
        path
    }

    fn pin(&self, role: Role, path: &Path) -> Pinned {
        let specs = [TargetSpec { role, path: path.to_owned() }];
        check_targets(&specs, &[self.root().join("home/skills")]).unwrap().remove(0)
    }

    fn stage(&self, docs: &[(Role, &Path)]) -> PathBuf {
        let docs = docs.iter().map(|(role, path)| ProposedDoc {
            pinned: self.pin(role.clone(), path),
            text: NEW.to_owned(),
        });
        let report = SleepReport { accepted: true, ..SleepReport::default() };
        let proposal = Proposal {
            report: &report,
            report_md: String::new(),
            diagnostics: Value::Null,
            docs: docs.collect(),
            skill_roots: vec![self.root().join("home/skills")],
            live_skill_path: self.managed(),
            live_memory_path: self.memory(),
        };
        let reserved = reserve(&self.root().join("project"), AT).unwrap();
        publish(&reserved, &proposal, &Value::clone).unwrap().dir
    }

    /// A night with a memory that was there and a managed skill that was not, folder and all.
    fn pair(&self) -> PathBuf {
        fs::write(self.memory(), OLD).unwrap();
        self.stage(&[(Role::ManagedSkill, &self.managed()), (Role::Memory, &self.memory())])
    }

    fn adopt(&self, dir: &Path, selection: Selection) -> Result<Vec<Receipt>, AdoptError> {
        adopt(dir, &adoption(selection), &self.places())
    }
}

fn adoption(selection: Selection) -> Adoption {
    Adoption { selection, derived: Vec::new(), actor: "local".to_owned(), at_ms: AT }
}

fn own(name: &str) -> Role {
    Role::Skill(SkillName::parse(name).unwrap())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn is_changed(err: &AdoptError) -> bool {
    matches!(err, AdoptError::Refused(Refusal::Changed { .. }))
}

#[test]
fn the_managed_pair_is_adopted_with_backup_and_receipt_and_comes_back() {
    let world = World::new();
    let dir = world.pair();
    let receipts = world.adopt(&dir, Selection::Bare).unwrap();
    assert_eq!((read(&world.memory()).as_str(), read(&world.managed()).as_str()), (NEW, NEW));
    let backup = dir.join("backup/CLAUDE.md");
    assert_eq!(read(&backup), OLD);
    let written: Value = serde_json::from_str(&read(&dir.join("adopted_legacy.json"))).unwrap();
    assert_eq!(
        written,
        json!([
            {"target": "skill", "live_path": world.managed(), "sha256_before": "",
             "sha256_after": Sha256Hex::of(NEW), "backup_path": ""},
            {"target": "memory", "live_path": world.memory(), "sha256_before": Sha256Hex::of(OLD),
             "sha256_after": Sha256Hex::of(NEW), "backup_path": backup},
        ])
    );
    assert_eq!(written[1], receipts[1].to_json());
    assert!(
        names(&dir).iter().all(|name| !name.starts_with('.')),
        "no lock and no journal is left"
    );
    assert!(names(&world.root().join("project")).iter().all(|name| !name.ends_with(".tmp")));

    let reverted = revert(&dir, &[], "anna", AT, &world.places()).unwrap();
    assert_eq!(read(&world.memory()), OLD);
    assert!(!world.managed().exists());
    let again = revert(&dir, &[], "anna", AT + 1, &world.places()).unwrap();
    let told = |list: &[Reverted]| -> Vec<(Receipt, Decision)> {
        list.iter().map(|one| (one.receipt.clone(), one.decision.clone())).collect()
    };
    assert_eq!(told(&again), told(&reverted));
    assert!(reverted.iter().all(|one| one.is_new) && again.iter().all(|one| !one.is_new));
}

#[cfg(unix)]
#[test]
fn f22_modes_are_kept_and_new_files_get_that_of_the_process() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let dir = world.pair();
    fs::set_permissions(world.memory(), fs::Permissions::from_mode(0o640)).unwrap();
    let usual = world.root().join("usual");
    fs::write(&usual, "").unwrap();
    world.adopt(&dir, Selection::Managed).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&world.memory()), 0o640);
    assert_eq!(mode(&world.managed()), mode(&usual));
}

#[test]
fn f59_the_skill_or_the_memory_is_adopted_alone_and_the_other_later() {
    let world = World::new();
    let dir = world.pair();
    let receipts = world.adopt(&dir, Selection::Memory).unwrap();
    assert_eq!((receipts.len(), &receipts[0].role), (1, &Role::Memory));
    assert!(!world.managed().exists());
    let err = world.adopt(&dir, Selection::Managed).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::AlreadyAdopted(Role::Memory))), "{err}");
    assert!(!world.managed().exists());
    world.adopt(&dir, Selection::ManagedSkill).unwrap();
    assert_eq!(read(&world.managed()), NEW);
}

#[test]
fn c63_a_live_document_that_changed_is_never_overwritten_and_its_neighbour_stays_too() {
    let world = World::new();
    let dir = world.pair();
    fs::write(world.memory(), "typed\n").unwrap();
    let err = world.adopt(&dir, Selection::Managed).unwrap_err();
    assert!(is_changed(&err), "{err}");
    assert_eq!((err.kind().as_str(), err.kind().exit_code()), ("adoption_refused", 2));
    assert_eq!(read(&world.memory()), "typed\n");
    assert!(
        !world.managed().exists()
            && !dir.join("backup").exists()
            && !dir.join("adopted_legacy.json").exists()
    );
}

#[test]
fn c63_a_live_document_that_changes_during_the_adoption_is_not_overwritten() {
    for at in [Step::Journal, Step::Backup(1), Step::Stage(1), Step::Replace(1)] {
        let world = World::new();
        let dir = world.pair();
        let type_into = |step| {
            if step == at {
                fs::write(world.memory(), "typed\n").unwrap();
            }
            Ok(())
        };
        let err = adopt_watched(&dir, &adoption(Selection::Managed), &world.places(), &type_into)
            .unwrap_err();
        assert!(is_changed(&err), "{at:?}: {err}");
        assert_eq!(read(&world.memory()), "typed\n", "{at:?}");
        assert!(!world.managed().exists(), "{at:?}: the neighbour is taken back");
        assert!(
            !dir.join(".adopt-transaction.json").exists()
                && !dir.join("adopted_legacy.json").exists()
        );
    }
}

#[test]
fn c64_twenty_adopters_at_once_give_one_write_and_one_receipt() {
    let world = World::new();
    let dir = world.pair();
    let barrier = std::sync::Barrier::new(20);
    let done: Vec<Result<Vec<Receipt>, AdoptError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    world.adopt(&dir, Selection::Managed)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1);
    for err in done.into_iter().filter_map(Result::err) {
        let expected =
            matches!(&err, AdoptError::Refused(Refusal::Busy(_) | Refusal::AlreadyAdopted(_)));
        assert!(expected, "{err}");
    }
    let rows: Value = serde_json::from_str(&read(&dir.join("adopted_legacy.json"))).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 2);
}

#[test]
fn c64_of_two_nights_for_one_document_the_second_is_refused() {
    let world = World::new();
    let (one, two) = (world.pair(), world.pair());
    world.adopt(&one, Selection::Memory).unwrap();
    let err = world.adopt(&two, Selection::Memory).unwrap_err();
    assert!(is_changed(&err), "{err}");
    let stale =
        review(&two).unwrap().into_iter().find(|review| review.row.role == Role::Memory).unwrap();
    assert_eq!(stale.state, RowState::Stale { live: Some(Sha256Hex::of(NEW)) });
}

#[cfg(unix)]
#[test]
fn links_put_in_place_of_a_live_document_are_refused() {
    let world = World::new();
    let dir = world.pair();
    let other = world.root().join("other.md");
    fs::rename(world.memory(), &other).unwrap();
    std::os::unix::fs::symlink(&other, world.memory()).unwrap();
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Target { .. })), "{err}");
    fs::remove_file(world.memory()).unwrap();
    fs::hard_link(&other, world.memory()).unwrap();
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Target { .. })), "{err}");
    assert_eq!(read(&other), OLD);
}

#[test]
fn a_staging_folder_cannot_send_an_adoption_elsewhere() {
    let world = World::new();
    let dir = world.pair();
    let elsewhere = world.root().join("elsewhere/CLAUDE.md");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::write(&elsewhere, OLD).unwrap();
    let manifest = read(&dir.join("manifest.json"));
    let moved =
        manifest.replace(&world.memory().display().to_string(), &elsewhere.display().to_string());
    fs::write(dir.join("manifest.json"), moved).unwrap();
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Outside(_))), "{err}");
    assert_eq!(read(&elsewhere), OLD);
}

#[test]
fn a_proposal_that_was_changed_after_the_night_is_refused() {
    let world = World::new();
    let dir = world.pair();
    fs::write(dir.join("proposed_CLAUDE.md"), "evil\n").unwrap();
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::ProposalChanged(_))), "{err}");
    assert_eq!(read(&world.memory()), OLD);
}

#[test]
fn a_selection_that_the_night_does_not_have_gets_the_reference_systems_words() {
    let world = World::new();
    let (a, b) = (world.skill("a"), world.skill("b"));
    let dir = world.stage(&[(own("a"), &a), (own("b"), &b)]);
    let kind = |selection| world.adopt(&dir, selection).unwrap_err().kind();
    assert_eq!(kind(Selection::Bare), ErrorKind::SelectionRequired);
    assert_eq!(kind(Selection::Skills(vec!["c".into()])), ErrorKind::InvalidSelection);
    assert_eq!(kind(Selection::Skills(vec!["a".into(), "a".into()])), ErrorKind::InvalidSelection);
    assert_eq!(kind(Selection::Memory), ErrorKind::InvalidSelection);
    assert_eq!(world.adopt(&dir, Selection::Managed).unwrap(), []);
    assert_eq!(world.adopt(&dir, Selection::Skills(Vec::new())).unwrap(), []);
    let pair = world.pair();
    assert_eq!(
        world.adopt(&pair, Selection::AllSkills).unwrap_err().kind(),
        ErrorKind::NoStagedSkills
    );
    assert_eq!(
        world.adopt(&dir.join("none"), Selection::Bare).unwrap_err().kind(),
        ErrorKind::NoStaging
    );
    fs::remove_file(pair.join("manifest.json")).unwrap();
    assert_eq!(world.adopt(&pair, Selection::Bare).unwrap_err().kind(), ErrorKind::InvalidStaging);

    let receipts = world.adopt(&dir, Selection::Skills(vec!["b".into()])).unwrap();
    assert_eq!((receipts.len(), read(&a).as_str(), read(&b).as_str()), (1, OLD, NEW));
    assert_eq!(receipts[0].backup, Some(dir.join("backup/skills/b/SKILL.md")));
    assert_eq!(world.adopt(&dir, Selection::Skills(vec!["a".into()])).unwrap().len(), 1);
    let rows: Value = serde_json::from_str(&read(&dir.join("adopted_skills.json"))).unwrap();
    assert_eq!(
        (rows[0]["skill_name"].as_str(), rows[1]["skill_name"].as_str()),
        (Some("b"), Some("a"))
    );
}

#[test]
fn a_lock_of_the_reference_system_that_is_alive_is_honoured() {
    let world = World::new();
    let dir = world.pair();
    fs::write(dir.join(".adopt-skills.lock"), "pid=1\n").unwrap();
    let err = world.adopt(&dir, Selection::Managed).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Busy(_))), "{err}");
    assert_eq!(read(&world.memory()), OLD);
}

#[cfg(unix)]
#[test]
fn a_lock_of_a_document_is_honoured_where_the_reference_system_puts_it() {
    use std::os::unix::fs::DirBuilderExt;
    let world = World::new();
    let dir = world.pair();
    let user = rustix::process::getuid().as_raw();
    let locks = world.root().join(format!("temp/skillopt-sleep-adopt-{user}"));
    fs::DirBuilder::new().mode(0o700).create(&locks).unwrap();
    let name = Sha256Hex::of(crate::stage::folded_path(&world.memory()));
    fs::write(locks.join(format!("{name}.lock")), "pid=1\n").unwrap();
    let err = world.adopt(&dir, Selection::Memory).unwrap_err();
    assert!(matches!(err, AdoptError::Refused(Refusal::Busy(_))), "{err}");
    assert_eq!(read(&world.memory()), OLD);
    assert_eq!(world.adopt(&dir, Selection::ManagedSkill).unwrap().len(), 1, "it has its own lock");
}

#[test]
fn f58_a_night_without_proposals_gives_no_receipt_and_notes_nothing() {
    let world = World::new();
    let dir = world.stage(&[]);
    assert_eq!(world.adopt(&dir, Selection::Bare).unwrap(), []);
    assert!(!dir.join("decision.json").exists() && !dir.join("adopted_legacy.json").exists());
    assert_eq!(review(&dir).unwrap(), []);
}
