//! Staging against real folders: what is refused, what is written, what is read back.

use super::*;
use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::report::{GateAction, SleepReport};
use std::fs;
use std::path::{Path, PathBuf};

const AT: u64 = 1_780_000_000_000;

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project")).unwrap();
        Self { dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn publish(&self, docs: Vec<ProposedDoc>) -> Result<Published, PublishError> {
        self.publish_in(&reserve(&self.project(), AT).unwrap(), docs)
    }

    fn publish_in(
        &self,
        reserved: &Reserved,
        docs: Vec<ProposedDoc>,
    ) -> Result<Published, PublishError> {
        let report = SleepReport {
            accepted: !docs.is_empty(),
            gate_action: GateAction::AcceptNewBest,
            ..SleepReport::default()
        };
        let proposal = Proposal {
            report: &report,
            report_md: "# Night\n".to_owned(),
            diagnostics: json!({"reflect_raw_head": "sk-secret"}),
            docs,
            skill_roots: vec![self.root().join("skills")],
            live_skill_path: self.root().join("skills/learned/SKILL.md"),
            live_memory_path: self.project().join("CLAUDE.md"),
        };
        publish(reserved, &proposal, &|_| json!({"reflect_raw_head": "[REDACTED]"}))
    }
}

fn skill(name: &str) -> Role {
    Role::Skill(SkillName::parse(name).unwrap())
}

fn pin(role: Role, path: &Path) -> Pinned {
    let spec = TargetSpec { role, path: path.to_owned() };
    let roots = [path.parent().unwrap().parent().unwrap().to_owned()];
    check_targets(&[spec], &roots).unwrap().remove(0)
}

fn fault(role: Role, path: &Path, roots: &[PathBuf]) -> TargetFault {
    check_targets(&[TargetSpec { role, path: path.to_owned() }], roots).unwrap_err().fault
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn f18_a_skill_that_is_not_named_skill_md_is_refused_before_anything_is_spent() {
    let world = World::new();
    let path = world.file("project/AGENTS.md", "x");
    let err = fault(Role::ManagedSkill, &path, &[]);
    assert!(matches!(err, TargetFault::Name { expected: "SKILL.md", .. }));
    assert!(err.to_string().contains("memory_target"), "{err}");
    assert_eq!(pin(Role::Memory, &path).text, "x");
}

#[cfg(unix)]
#[test]
fn f18_links_folders_and_bytes_that_are_no_text_are_refused() {
    let world = World::new();
    let path = world.file("project/CLAUDE.md", "x");
    let hard = world.root().join("project/other");
    fs::hard_link(&path, &hard).unwrap();
    assert!(matches!(fault(Role::Memory, &path, &[]), TargetFault::HardLinks));
    fs::remove_file(&hard).unwrap();
    let link = world.root().join("project/AGENTS.md");
    std::os::unix::fs::symlink("CLAUDE.md", &link).unwrap();
    assert!(matches!(fault(Role::Memory, &link, &[]), TargetFault::Symlink));
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(fault(Role::Memory, &path, &[]), TargetFault::NotUtf8));
    let folder = world.root().join("a/CLAUDE.md");
    fs::create_dir_all(&folder).unwrap();
    assert!(matches!(fault(Role::Memory, &folder, &[]), TargetFault::NotAFile));
}

#[cfg(unix)]
#[test]
fn a_symlinked_folder_is_followed_once_and_the_real_place_is_pinned() {
    let world = World::new();
    let real = world.file("real/CLAUDE.md", "x");
    std::os::unix::fs::symlink(world.root().join("real"), world.root().join("link")).unwrap();
    assert_eq!(pin(Role::Memory, &world.root().join("link/CLAUDE.md")).path, real);
}

#[test]
fn a_skill_must_lie_in_a_folder_of_its_name_below_the_roots() {
    let world = World::new();
    let path = world.file("skills/research/SKILL.md", "x");
    let roots = [world.root().join("skills")];
    assert!(matches!(fault(skill("other"), &path, &roots), TargetFault::Folder(_)));
    assert!(matches!(fault(skill("research"), &path, &[]), TargetFault::Outside(_)));
    let missing = world.root().join("skills/new/SKILL.md");
    assert!(matches!(fault(skill("new"), &missing, &roots), TargetFault::NoFolder));
}

#[test]
fn c108_two_skills_that_differ_by_case_are_refused() {
    let world = World::new();
    let one = world.file("skills/Research/SKILL.md", "x");
    let two = world.file("more/research/SKILL.md", "x");
    let specs = [
        TargetSpec { role: skill("Research"), path: one },
        TargetSpec { role: skill("research"), path: two },
    ];
    let err = check_targets(&specs, &[world.root()]).unwrap_err();
    assert!(matches!(&err.fault, TargetFault::Collides(other) if *other == skill("Research")));
    assert!(err.to_string().contains("the skill research"), "{err}");
}

#[test]
fn a_night_is_published_with_its_differences_and_read_back() {
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "a\n");
    let own = world.file("skills/research/SKILL.md", "b\n");
    let docs = vec![
        ProposedDoc { pinned: pin(Role::Memory, &memory), text: "a\nc\n".to_owned() },
        ProposedDoc { pinned: pin(skill("research"), &own), text: "d\n".to_owned() },
    ];
    let published = world.publish(docs).unwrap();
    assert_eq!(
        names(&published.dir),
        [
            "baseline_CLAUDE.md",
            "baseline_SKILL.research.md",
            "diagnostics.json",
            "manifest.json",
            "proposed_CLAUDE.diff",
            "proposed_CLAUDE.md",
            "proposed_SKILL.research.diff",
            "proposed_SKILL.research.md",
            "report.json",
            "report.md",
        ]
    );
    let diff = fs::read_to_string(published.dir.join("proposed_CLAUDE.diff")).unwrap();
    let files: Vec<String> = published.manifest.rows.iter().map(Row::diff_file).collect();
    assert!(files.iter().all(|file| published.dir.join(file).is_file()), "{files:?}");
    assert!(diff.contains("--- a/CLAUDE.md") && diff.contains("\n+c\n"), "{diff}");
    let diagnostics = fs::read_to_string(published.dir.join("diagnostics.json")).unwrap();
    assert!(!diagnostics.contains("sk-secret"));

    let night = latest(&world.project()).unwrap().unwrap();
    assert_eq!(night.id, "20260528-202640");
    let manifest = night.manifest.unwrap();
    assert_eq!(manifest.row(&Role::Memory), published.manifest.row(&Role::Memory));
    assert_eq!(manifest.row(&skill("research")).unwrap().live_sha256, Some(Sha256Hex::of("b\n")));
    assert!(night.report.unwrap().accepted);
}

#[test]
fn the_manifest_has_the_fields_of_the_reference_system() {
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "a\n");
    let doc = ProposedDoc { pinned: pin(Role::Memory, &memory), text: "b\n".to_owned() };
    let dir = world.publish(vec![doc]).unwrap().dir;
    let manifest: Value =
        serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(
        manifest,
        json!({
            "schema": "skillopt-sleep-staging", "schema_version": 2,
            "live_skill_path": world.root().join("skills/learned/SKILL.md"),
            "live_memory_path": memory,
            "has_skill": false, "has_memory": false,
            "has_managed_skill": false, "has_managed_memory": true, "accepted": true,
            "legacy": {"memory": {
                "proposed_file": "proposed_CLAUDE.md", "live_path": memory,
                "sha256": Sha256Hex::of("b\n"), "live_sha256": Sha256Hex::of("a\n"), "live_realpath": memory,
            }},
        })
    );
}

#[test]
fn f22_unchanged_and_empty_documents_are_not_staged() {
    let world = World::new();
    let kept = world.file("project/CLAUDE.md", "same\n");
    let absent = world.root().join("project/sub/AGENTS.md");
    let docs = vec![
        ProposedDoc { pinned: pin(Role::Memory, &kept), text: "same\n".to_owned() },
        ProposedDoc { pinned: pin(Role::Memory, &absent), text: "  \n".to_owned() },
    ];
    let published = world.publish(docs).unwrap();
    assert!(published.manifest.rows.is_empty());
    assert!(names(&published.dir).iter().all(|name| !name.starts_with("proposed_")));
}

#[test]
fn a_document_that_changed_during_the_night_stops_the_publication() {
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "a\n");
    let doc = ProposedDoc { pinned: pin(Role::Memory, &memory), text: "b\n".to_owned() };
    fs::write(&memory, "typed\n").unwrap();
    assert!(matches!(world.publish(vec![doc]), Err(PublishError::Changed { .. })));
    let night = nights(&world.project()).unwrap().remove(0);
    assert!(
        matches!(night.manifest, Err(ManifestError::Missing(_))) && names(&night.dir).is_empty()
    );
}

#[test]
fn two_proposals_for_one_place_are_not_published() {
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "a\n");
    let doc = ProposedDoc { pinned: pin(Role::Memory, &memory), text: "b\n".to_owned() };
    assert!(matches!(world.publish(vec![doc.clone(), doc]), Err(PublishError::Collision(_))));
}

#[test]
fn a_batch_of_which_a_file_cannot_be_written_is_taken_back_and_evidence_stays() {
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "a\n");
    let reserved = reserve(&world.project(), AT).unwrap();
    fs::write(reserved.dir().join("evidence.jsonl"), "{}\n").unwrap();
    // Its name is taken, and it is one of the last.
    fs::create_dir(reserved.dir().join("diagnostics.json")).unwrap();
    let doc = ProposedDoc { pinned: pin(Role::Memory, &memory), text: "b\n".to_owned() };
    let err = world.publish_in(&reserved, vec![doc]).unwrap_err();
    assert!(matches!(&err, PublishError::Io { path, .. } if path.ends_with("diagnostics.json")));
    assert_eq!(names(reserved.dir()), ["diagnostics.json", "evidence.jsonl"]);
    assert!(!staging_root(&world.project()).join(".latest").exists(), "nothing points to it");
}

#[test]
fn f55_what_nights_leave_in_a_project_is_out_of_git() {
    let world = World::new();
    let one = reserve(&world.project(), AT).unwrap();
    let two = reserve(&world.project(), AT).unwrap();
    assert_eq!(
        fs::read_to_string(world.project().join(".skillopt-sleep/.gitignore")).unwrap(),
        "*\n"
    );
    assert!(one.dir().ends_with("20260528-202640") && two.dir().ends_with("20260528-202640-2"));
    let dir = one.dir().to_owned();
    one.give_up().unwrap();
    assert!(!dir.exists());
}

#[cfg(unix)]
#[test]
fn a_staging_folder_behind_a_symlink_is_refused() {
    let world = World::new();
    fs::create_dir(world.root().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(
        world.root().join("elsewhere"),
        world.project().join(".skillopt-sleep"),
    )
    .unwrap();
    assert!(reserve(&world.project(), AT).is_err());
}

#[test]
fn manifests_that_say_something_impossible_are_refused() {
    let row = |path: &str, file: &str| {
        json!({"proposed_file": file, "live_path": path, "live_realpath": path,
            "sha256": "a".repeat(64), "live_sha256": ""})
    };
    let whole = |legacy: Value| {
        json!({"schema": "skillopt-sleep-staging", "schema_version": 2, "has_skill": false, "has_memory": false,
            "legacy": legacy})
    };
    let parse = |value: Value| Manifest::parse(&serde_json::to_vec(&value).unwrap());
    assert!(parse(whole(json!({"memory": row("/p/CLAUDE.md", "proposed_CLAUDE.md")}))).is_ok());
    for bad in [
        json!({"memory": row("/p/../CLAUDE.md", "proposed_CLAUDE.md")}),
        json!({"memory": row("/p/CLAUDE.md", "../proposed_CLAUDE.md")}),
        json!({"skill": row("/p/CLAUDE.md", "proposed_CLAUDE.md")}),
        json!({"other": row("/p/CLAUDE.md", "proposed_CLAUDE.md")}),
        json!({"memory": {"proposed_file": "proposed_CLAUDE.md", "live_path": "/p/CLAUDE.md"}}),
    ] {
        assert!(matches!(parse(whole(bad.clone())), Err(ManifestError::Damaged(_))), "{bad}");
    }
    assert!(matches!(parse(json!({"has_skill": true})), Err(ManifestError::Version)));
}

#[test]
fn the_newest_manifest_counts_when_the_pointer_leads_nowhere() {
    let world = World::new();
    world.publish(Vec::new()).unwrap();
    world.publish(Vec::new()).unwrap();
    let pointer = staging_root(&world.project()).join(".latest");
    assert_eq!(fs::read_to_string(&pointer).unwrap(), "20260528-202640-2");
    fs::write(&pointer, "../../etc").unwrap();
    assert_eq!(latest(&world.project()).unwrap().unwrap().id, "20260528-202640-2");
    let ids: Vec<String> =
        nights(&world.project()).unwrap().into_iter().map(|night| night.id).collect();
    assert_eq!(ids, ["20260528-202640-2", "20260528-202640"]);
    assert!(night(&world.project(), "../staging/20260528-202640").is_err());
}

#[test]
fn f44_old_nights_go_and_adopted_ones_keep_what_revert_needs() {
    let world = World::new();
    let dirs: Vec<PathBuf> = (0..4).map(|_| world.publish(Vec::new()).unwrap().dir).collect();
    fs::write(dirs[0].join("adopted_legacy.json"), "[]").unwrap();
    fs::write(dirs[0].join("evidence.jsonl"), "{}").unwrap();
    let retention = Retention { keep_nights: 1, keep_days: 1 };
    let now = u64::MAX / 2;
    assert_eq!(purge(&world.project(), retention, AT).unwrap(), Purged::default(), "all are young");
    let purged = purge(&world.project(), retention, now).unwrap();
    assert_eq!(purged.removed, [dirs[2].clone(), dirs[1].clone()]);
    assert_eq!(purged.thinned, [dirs[0].clone()]);
    assert!(
        dirs[0].join("adopted_legacy.json").exists() && !dirs[0].join("evidence.jsonl").exists()
    );
    assert!(dirs[3].exists());
}

#[test]
fn f44_old_handoffs_and_dry_runs_go_and_nothing_else() {
    let world = World::new();
    let kept = [
        world.file("project/.skillopt-sleep-handoff/pending.json", ""),
        world.file("project/.skillopt-sleep-handoff.dry/pending.json", ""),
        world.file("state/evidence/notes.jsonl", ""),
        world.file("state/state.json", ""),
    ];
    let handoff = world.file("project/.skillopt-sleep-handoff.night3.done/tasks.json", "");
    let dry = world.file("project/.skillopt-sleep-handoff.dry.night3.done/tasks.json", "");
    let dry_run = world.file("state/evidence/dryrun-20260528-202640.jsonl", "");
    let (project, state_dir, shared) =
        (world.project(), world.root().join("state"), world.root().join("shared"));
    let name = skillopt_domain::file_name::safe_file_name(&project.to_string_lossy());
    let aside = world.file(&format!("shared/{name}.night3.done/tasks.json"), "");
    let of_others = world.file("shared/_other-0123456789abcdef.night3.done/tasks.json", "");
    let left_in = LeftIn {
        project: &project,
        state_dir: &state_dir,
        shared_handoffs: Some(shared.as_path()),
    };
    let purge = |now_ms| purge_leftovers(left_in, 1, now_ms).unwrap();
    assert_eq!(purge(AT), Vec::<PathBuf>::new(), "all are young");
    assert_eq!(purge(u64::MAX / 2).len(), 4);
    assert!(!aside.exists() && of_others.exists(), "other projects look after their own");
    assert!(
        !handoff.exists()
            && !dry.exists()
            && !dry_run.exists()
            && kept.iter().all(|path| path.exists())
    );
}

#[test]
fn f16_a_night_that_goes_on_later_leaves_no_folder() {
    let world = World::new();
    for _ in 0..3 {
        let reserved = reserve(&world.project(), AT).unwrap();
        fs::write(reserved.dir().join("evidence.jsonl"), "{}").unwrap();
        reserved.give_up().unwrap();
    }
    assert!(nights(&world.project()).unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn f37_two_nights_of_a_project_do_not_run_at_once() {
    let world = World::new();
    let lock = lock_project(&world.project()).unwrap();
    assert!(lock_project(&world.project()).is_err());
    drop(lock);
    lock_project(&world.project()).unwrap();
}

#[test]
fn nights_of_older_releases_are_listed_and_say_why_they_cannot_be_adopted() {
    let world = World::new();
    world.file(
        "project/.skillopt-sleep/staging/20260101-000000/manifest.json",
        "{\"has_skill\": true}",
    );
    world.file(
        "project/.skillopt-sleep/staging/20260101-000000/report.json",
        "{\"night\": 4, \"n_tasks\": 2}",
    );
    world.file("project/.skillopt-sleep/staging/notes/manifest.json", "{}");
    let nights = nights(&world.project()).unwrap();
    assert_eq!(nights.len(), 1);
    assert!(matches!(nights[0].manifest, Err(ManifestError::Version)));
    assert_eq!(nights[0].report.as_ref().unwrap().night, 4);
}

#[test]
fn the_report_has_the_fields_of_the_reference_system_and_reads_one_of_it() {
    let edit =
        json!({"target": "skill", "op": "add", "content": "x", "anchor": "", "rationale": "y"});
    let group = json!({
        "skill_name": "s", "status": "consolidated", "accepted": true, "gate_action": "accept",
        "baseline_score": 0.25, "candidate_score": 0.5, "n_tasks": 2, "n_applied_edits": 1,
        "n_rejected_edits": 0, "reason": "",
    });
    let theirs = json!({
        "night": 4, "project": "/p", "started_at": "2026-01-01T03:00:00",
        "ended_at": "2026-01-01T03:05:00", "n_sessions": 3, "n_tasks": 2, "n_replayed": 2,
        "baseline_score": 0.25, "candidate_score": 0.5, "accepted": true, "gate_action": "accept",
        "holdout_leaked": false, "no_edits_reason": "", "edits": [edit.clone()],
        "rejected_edits": [edit.clone()], "unmatched_edits": [], "skill_groups": [group],
        "tokens_used": 12, "notes": ["a note"], "gate_no_regression": false, "gate_trials": [],
    });
    let read: SleepReport = serde_json::from_value(theirs.clone()).unwrap();
    assert_eq!((read.gate_action, read.edits.len()), (GateAction::Accept, 1));
    assert_eq!(read.skill_groups[0].gate_action, Some(GateAction::Accept));
    let written = serde_json::to_value(&read).unwrap();
    for (name, value) in theirs.as_object().unwrap() {
        match name.as_str() {
            // With further fields.
            "skill_groups" => {
                for (name, value) in value[0].as_object().unwrap() {
                    assert_eq!(&written["skill_groups"][0][name], value, "{name}");
                }
            }
            name => assert_eq!(&written[name], value, "{name}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn what_a_night_lays_aside_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let memory = world.file("project/CLAUDE.md", "# M\n");
    let doc = ProposedDoc { pinned: pin(Role::Memory, &memory), text: "# M\n\nx\n".to_owned() };
    let dir = world.publish(vec![doc]).unwrap().dir;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let names = names(&dir);
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        assert_eq!(mode(&dir.join(&name)), 0o600, "{name}");
    }
}
