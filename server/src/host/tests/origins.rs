//! Runs from runs: resume with other settings, re-run, fork.

use super::*;
use crate::config::changed;
use skillopt_domain::config::{ChangeEffect, DATA, SKILL, Setting};
use skillopt_domain::origin::OriginKind;
use std::fs;

impl Scene {
    /// A copy of the sample data that a test may change.
    fn own_data(&self) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/searchqa_sample");
        let to = self.dir.path().join("data");
        for name in ["SKILL.md", "train/items.json", "val/items.json", "test/items.json"] {
            fs::create_dir_all(to.join(name).parent().expect("a parent")).expect("made");
            fs::copy(from.join(name), to.join(name)).expect("copied");
        }
        to
    }

    fn config_of(&self, data: &Path, options: &[&str]) -> Resolved {
        let words = [
            format!("env.split_dir={}", data.display()),
            format!("env.skill_init={}", data.join("SKILL.md").display()),
        ];
        let words: Vec<&str> =
            words.iter().map(String::as_str).chain(options.iter().copied()).collect();
        self.config(&words)
    }

    async fn derived(&self, from: &RunId, version: Option<u32>, options: &[&str]) -> Derived {
        let request = DeriveRequest { from: from.clone(), version, changes: changes(options) };
        self.hosting.derive(&request).await.expect("derived")
    }

    async fn start(&self, derived: Derived) -> RunId {
        let request = NewRunRequest {
            name: String::new(),
            resolved: derived.resolved,
            fresh: false,
            out_root: None,
            actor: "tester".into(),
            lease: LeaseWish::Now,
            lineage: Some(derived.lineage),
        };
        self.hosting.create(request).await.expect("created")
    }

    async fn paths_of(&self, run: &RunId, wanted: &Resolved) -> (Vec<String>, bool) {
        let row = self.hosting.store().run_row(run).await.expect("row");
        let plan = self.hosting.plan_resume(&row, wanted).await.expect("a plan");
        (plan.differences.iter().map(|one| one.path.clone()).collect(), plan.needs_fork())
    }
}

fn changes(options: &[&str]) -> Vec<Setting> {
    let words: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
    cfg_options(&words).expect("options")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capped_run_goes_on_with_what_is_safe_and_with_nothing_else() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&["limits.max_calls=10"]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    let bold = scene.config(&["limits.max_calls=0", "train.seed=5"]);
    let plan = scene.hosting.plan_resume(&row, &bold).await.expect("a plan");
    let refused = scene.hosting.prepare_resume(&row, &plan, "tester").await.expect_err("refused");
    let words = refused.to_string();
    assert!(words.contains("skillopt runs fork") && words.contains("train.seed=5"), "{words}");
    assert_eq!(scene.hosting.store().run_row(&run).await.expect("row").config, row.config);

    let safe = scene.config(&["limits.max_calls=0", "env.workers=3"]);
    let plan = scene.hosting.plan_resume(&row, &safe).await.expect("a plan");
    scene.hosting.prepare_resume(&row, &plan, "tester").await.expect("taken");
    let config = scene.hosting.store().run_row(&run).await.expect("row").config;
    assert_eq!(config.get("env.workers").to_string(), "3");
    let audit = scene.hosting.store().audit_log(1).await.expect("audit").remove(0);
    assert_eq!((audit.action.as_str(), audit.actor.as_str()), ("resume", "tester"));
    assert!(audit.detail.contains("limits.max_calls: 10 → 0 (safe"), "{}", audit.detail);
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_counts_by_its_tasks_and_not_by_its_path() {
    let scene = Scene::new().await;
    let data = scene.own_data();
    let config = scene.config_of(&data, &["limits.max_calls=10"]);
    let run = scene.create(config.clone(), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    let moved = scene.dir.path().join("moved");
    fs::rename(&data, &moved).expect("moved");
    let wanted = scene.config_of(&moved, &[]);
    let expect = ["env.skill_init", "env.split_dir", "limits.max_calls"].map(str::to_owned);
    let (mut paths, needs_fork) = scene.paths_of(&run, &wanted).await;
    paths.sort();
    assert_eq!((paths, needs_fork), (expect.to_vec(), false));

    let items = moved.join("val/items.json");
    let text = fs::read_to_string(&items).expect("read");
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("rows");
    rows.pop();
    fs::write(&items, serde_json::to_string(&rows).expect("JSON")).expect("written");
    let (paths, needs_fork) = scene.paths_of(&run, &wanted).await;
    assert!(needs_fork && paths.contains(&DATA.to_owned()), "{paths:?}");
    fs::write(&items, text).expect("written");
    fs::write(moved.join("SKILL.md"), "another\n").expect("written");
    let (_, needs_fork) = scene.paths_of(&run, &wanted).await;
    assert!(needs_fork, "the file that the wanted config names holds another text");

    // The run itself keeps the text that it began with, also when its file is gone.
    let split = format!("env.split_dir={}", moved.display());
    let wanted = scene.config_of(&data, &[&split, "limits.max_calls=0"]);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    let plan = scene.hosting.plan_resume(&row, &wanted).await.expect("a plan");
    scene.hosting.prepare_resume(&row, &plan, "tester").await.expect("taken");
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rerun_starts_from_the_same_text_and_recorded_answers_repeat_it() {
    let scene = Scene::new().await;
    let data = scene.own_data();
    let run = scene.create(scene.config_of(&data, &[]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    // Adopting what the run found is what changes the file most often.
    fs::write(data.join("SKILL.md"), "adopted meanwhile\n").expect("written");
    let derived = scene.hosting.derive_rerun(&run).await.expect("derived");
    assert_eq!(derived.lineage.origin.differences, []);
    let again = scene.start(derived).await;
    assert_eq!(scene.drive(&again).await, RunStatus::Done);
    let store = scene.hosting.store();
    let [first, second] =
        [store.view(&run).await.expect("view"), store.view(&again).await.expect("view")];
    assert_eq!(first.best.map(|best| best.skill), second.best.map(|best| best.skill));
    assert_eq!(second.spend.total().calls, 0);
    let detail = store.run_detail(&again).await.expect("detail");
    let origin = detail.origin.expect("an origin");
    assert_eq!((origin.kind, &origin.run), (OriginKind::Rerun, &run));
    assert!(detail.summary.name.ends_with(" again"), "{}", detail.summary.name);
    assert_eq!(store.run_detail(&run).await.expect("detail").origin, None);
    let row = store.run_row(&again).await.expect("row");
    let skill = row.config.get("env.skill_init").to_string();
    assert!(skill.ends_with("skill_init.md") && Path::new(&skill).is_file(), "{skill}");
    let audit = store.audit_log(10).await.expect("audit");
    assert!(audit.iter().any(|row| row.action == "rerun" && row.subject == again.to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rerun_on_other_data_is_refused_and_a_fork_says_so() {
    let scene = Scene::new().await;
    let data = scene.own_data();
    let run = scene.create(scene.config_of(&data, &[]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    fs::copy(data.join("val/items.json"), data.join("swap.json")).expect("copied");
    fs::copy(data.join("test/items.json"), data.join("val/items.json")).expect("copied");
    fs::rename(data.join("swap.json"), data.join("test/items.json")).expect("moved");
    let refused = scene.hosting.derive_rerun(&run).await.expect_err("refused");
    assert!(matches!(refused, HostError::NeedsFork { .. }), "{refused}");
    let derived = scene.derived(&run, None, &[]).await;
    let paths: Vec<&str> = derived.check.differences.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, [DATA]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_from_a_version_starts_with_its_text_and_keeps_what_differs() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&[]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    let store = scene.hosting.store();
    let version = store.versions(&run).await.expect("versions").pop().expect("a version");
    assert!(version.version > 0, "the sample improves");
    let options = ["optimizer.learning_rate=8", "limits.max_calls=20"];
    let derived = scene.derived(&run, Some(version.version), &options).await;
    let told: Vec<(String, ChangeEffect)> =
        derived.check.differences.iter().map(|one| (one.path.clone(), one.effect)).collect();
    let expect = [
        ("optimizer.learning_rate".to_owned(), ChangeEffect::Results),
        ("limits.max_calls".to_owned(), ChangeEffect::Safe),
        (SKILL.to_owned(), ChangeEffect::Results),
    ];
    assert_eq!(told, expect);
    let fork = scene.start(derived).await;
    scene.drive(&fork).await;
    let plan = store.view(&fork).await.expect("view").plan.expect("a plan");
    assert_eq!(plan.initial_skill, version.skill);
    let origin = store.run_detail(&fork).await.expect("detail").origin.expect("an origin");
    assert_eq!((origin.version, origin.differences.len()), (Some(version.version), 3));
    assert!(origin.words().ends_with(&format!("at v{}", version.version)), "{}", origin.words());

    let missing = DeriveRequest { from: run.clone(), version: Some(99), changes: Vec::new() };
    let refused = scene.hosting.derive(&missing).await.expect_err("no such version");
    assert!(refused.to_string().contains("the run has no v99; it has v0"), "{refused}");
    let both = changes(&["env.skill_init=other.md"]);
    let both = DeriveRequest { from: run.clone(), version: Some(0), changes: both };
    let refused = scene.hosting.derive(&both).await.expect_err("two texts");
    assert!(refused.to_string().contains("either a version"), "{refused}");
}

#[tokio::test]
async fn a_key_of_a_fork_goes_back_to_its_default_when_its_value_is_empty() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&["env.limit=5", "limits.max_calls=9"]), None).await;
    let derived = scene.derived(&run, None, &["env.limit=", "env.workers=2"]).await;
    assert_eq!(derived.resolved.get("env.limit").to_string(), "0");
    assert_eq!(derived.resolved.get("limits.max_calls").to_string(), "9");
    let place = derived.resolved.place("train.batch_size").expect("a place");
    assert_eq!(place.name, "--cfg-options train.batch_size", "what is kept keeps its place");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_never_writes_over_a_skill_that_its_folder_holds() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&[]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    let folder = scene.dir.path().join("mine");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("skill_init.md"), "my own\n").expect("written");
    let derived = scene.derived(&run, Some(1), &[]).await;
    assert!(derived.lineage.skill.is_some(), "v1 is in no file");
    let request = NewRunRequest {
        name: String::new(),
        resolved: derived.resolved,
        fresh: false,
        out_root: Some(folder.clone()),
        actor: "tester".into(),
        lease: LeaseWish::Now,
        lineage: Some(derived.lineage),
    };
    let refused = scene.hosting.create(request).await.expect_err("refused");
    assert!(refused.to_string().contains("choose an empty folder"), "{refused}");
    let kept = fs::read_to_string(folder.join("skill_init.md")).expect("read");
    assert_eq!(kept, "my own\n");
    assert!(!folder.join("config.json").exists(), "nothing else was written");
}

#[tokio::test]
async fn a_resume_with_a_config_that_cannot_run_is_refused_before_anything_is_written() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&[]), None).await;
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    let wanted =
        changed(&row.config, &changes(&["model.target_api_key_env=no name"])).expect("resolved");
    let refused = scene.hosting.plan_resume(&row, &wanted).await.expect_err("refused");
    assert!(matches!(refused, HostError::BadConfig(_)), "{refused}");
    assert!(
        refused.to_string().contains("expected the name of an environment variable"),
        "{refused}"
    );
}
