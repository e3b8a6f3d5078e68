//! Whole runs over the simulated models: end states, commands, resume, folders.

use super::*;
use crate::config::{Sources, cfg_options, load};
use skillopt_domain::api::CheckState;
use skillopt_domain::config::Resolved;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_engine::ctx::RunControl;
use skillopt_store::Command;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

struct Scene {
    hosting: Hosting,
    dir: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("folder");
        let env = Environment::from_pairs([("OPENAI_COMPATIBLE_API_KEY", "sk-hidden")]);
        let hosting = Hosting::open(dir.path(), env).await.expect("opened");
        Self { hosting, dir }
    }

    fn config(&self, options: &[&str]) -> Resolved {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let data = root.join("data/searchqa_sample");
        let words = [
            "model.backend=mock".to_owned(),
            format!("env.split_dir={}", data.display()),
            format!("env.skill_init={}", data.join("SKILL.md").display()),
            "train.num_epochs=1".to_owned(),
            "train.batch_size=28".to_owned(),
        ];
        let words: Vec<String> =
            words.into_iter().chain(options.iter().map(|word| (*word).to_owned())).collect();
        let flags = cfg_options(&words).expect("options");
        let env = self.hosting.environment();
        load(Sources { file: None, env, flags: &flags }).expect("a config")
    }

    async fn create(&self, resolved: Resolved, out_root: Option<PathBuf>) -> RunId {
        let request = NewRunRequest {
            name: String::new(),
            resolved,
            fresh: false,
            out_root,
            actor: "tester".into(),
            lease: LeaseWish::Now,
            lineage: None,
        };
        self.hosting.create(request).await.expect("created")
    }

    async fn drive(&self, run: &RunId) -> RunStatus {
        self.hosting.drive(run, RunControl::new(), CancellationToken::new()).await.expect("driven")
    }

    async fn wait_for(&self, run: &RunId, status: RunStatus) {
        let mut signals = self.hosting.store().subscribe();
        let reached = async {
            while self.hosting.store().run_row(run).await.expect("row").status != status {
                // Any signal will do: the state is read again.
                let _ = tokio::time::timeout(Duration::from_millis(100), signals.recv()).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached).await.expect("the state in time");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_done_and_the_same_run_again_makes_no_call() {
    let scene = Scene::new().await;
    let first = scene.create(scene.config(&[]), None).await;
    assert_eq!(scene.drive(&first).await, RunStatus::Done);
    let out_root = scene.dir.path().join("again");
    let second = scene.create(scene.config(&[]), Some(out_root.clone())).await;
    assert_eq!(scene.drive(&second).await, RunStatus::Done);
    let row = scene.hosting.store().run_row(&second).await.expect("row");
    assert_eq!(row.spend.total().calls, 0);
    assert!(row.lease.is_none());
    let first_folder = scene.dir.path().join("runs").join(first.as_str());
    for name in ["best_skill.md", "history.json"] {
        assert!(first_folder.join(name).is_file(), "{name}");
    }
    let best = |folder: &Path| std::fs::read(folder.join("best_skill.md")).expect("a skill");
    assert_eq!(best(&first_folder), best(&out_root));
    let config = std::fs::read_to_string(first_folder.join("config.json")).expect("config.json");
    assert!(config.contains("\"edit_budget\": 4") && !config.contains("sk-hidden"), "{config}");
    let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    assert_eq!(config["out_root"], first.as_str());
    assert_eq!(
        (&config["target_model"], &config["target_backend"]),
        (&"sim-target".into(), &"mock".into())
    );
    assert_eq!((&config["train_size"], &config["steps_per_epoch"]), (&56.into(), &2.into()));
}

#[tokio::test]
async fn few_selection_tasks_are_warned_of_before_a_run() {
    let scene = Scene::new().await;
    for (limit, state) in [("env.limit=19", CheckState::Warning), ("env.limit=20", CheckState::Ok)]
    {
        let check = scene.hosting.check(&scene.config(&[limit])).await;
        let data = check.checks.iter().find(|check| check.label == "Data").expect("data");
        assert_eq!(data.state, state, "{limit}: {}", data.detail);
    }
}

#[tokio::test]
async fn prompts_of_ones_own_are_part_of_the_check() {
    let scene = Scene::new().await;
    let own = scene.dir.path().join("own");
    std::fs::create_dir(&own).expect("a folder");
    let option = format!("optimizer.prompts_dir={}", own.display());
    let prompts = async |scene: &Scene| {
        let check = scene.hosting.check(&scene.config(&[&option])).await;
        assert!(check.problems.is_empty(), "{:?}", check.problems);
        check.checks.into_iter().find(|check| check.label == "Prompts").expect("a row")
    };
    assert_eq!(prompts(&scene).await.state, CheckState::Warning, "an empty folder is a mistake");
    std::fs::write(own.join("parts.md"), "x").expect("written");
    let check = scene.hosting.check(&scene.config(&[&option])).await;
    let problem = check.problems.first().expect("a problem").to_string();
    assert!(
        problem.contains("parts.md: optimizer.prompts_dir: there is no prompt parts"),
        "{problem}"
    );
    std::fs::rename(own.join("parts.md"), own.join("ranking.md")).expect("renamed");
    let text = "First {{ max_items }}, as JSON {\"selected_indices\": []}";
    std::fs::write(own.join("ranking.md"), text).expect("written");
    let row = prompts(&scene).await;
    assert_eq!((row.state, row.detail.as_str()), (CheckState::Ok, "ranking"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_was_changed_after_the_start_is_refused_on_resume_with_both_versions() {
    let scene = Scene::new().await;
    let own = scene.dir.path().join("own");
    std::fs::create_dir(&own).expect("a folder");
    let file = own.join("analyst_failure.md");
    let ours = skillopt_engine::prompts::find_prompt("analyst_failure").expect("ours").text;
    std::fs::write(&file, format!("First words.\n{ours}")).expect("written");
    let option = format!("optimizer.prompts_dir={}", own.display());
    let capped = scene.config(&[&option, "limits.max_calls=40"]);
    let run = scene.create(capped, None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    let kept = scene.hosting.store().prompts(&run).await.expect("read");
    let first = kept.iter().find(|prompt| prompt.name == "analyst_failure").expect("on record");

    let more = scene.config(&[&option, "limits.max_calls=0"]);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    let plan = scene.hosting.plan_resume(&row, &more).await.expect("a plan");
    scene.hosting.prepare_resume(&row, &plan, "tester").await.expect("caps are safe");
    std::fs::write(&file, format!("Second words.\n{ours}")).expect("written");
    let plan = scene.hosting.plan_resume(&row, &row.config).await.expect("a plan");
    let [one] = plan.differences.as_slice() else { panic!("{:?}", plan.differences) };
    assert_eq!((one.path.as_str(), plan.needs_fork()), ("prompts", true));
    let before = format!("analyst_failure {}", first.hash.short());
    assert_eq!(one.before.as_ref(), Some(&before));
    // Also when it changes after the look.
    assert_eq!(scene.drive(&run).await, RunStatus::Failed);
    let detail = scene.hosting.store().view(&run).await.expect("view").detail.expect("a reason");
    assert!(detail.contains(&format!("analyst_failure was {}", first.hash.short())), "{detail}");
    let text = scene.hosting.store().prompt_text(&run, &first.hash).await.expect("read");
    assert!(text.expect("the text").starts_with("First words."));

    std::fs::write(&file, format!("First words.\n{ours}")).expect("written");
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    let again = scene.hosting.derive_rerun(&run).await.expect("all is the same");
    assert_eq!(again.lineage.origin.differences, []);
    std::fs::write(&file, format!("Third words.\n{ours}")).expect("written");
    let refused = scene.hosting.derive_rerun(&run).await.expect_err("other words");
    let HostError::NeedsFork { differences, .. } = refused else { panic!("{refused}") };
    assert_eq!(differences.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["prompts"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_pauses_goes_on_and_is_cancelled_by_commands_in_the_store() {
    let scene = Scene::new().await;
    let config =
        scene.config(&["model.mock_latency_ms=40", "env.workers=2", "gradient.analyst_workers=1"]);
    let run = scene.create(config, None).await;
    let store = scene.hosting.store();
    let people = async {
        scene.wait_for(&run, RunStatus::Running).await;
        store.request(&run, Command::Pause, "tester", 1).await.expect("asked");
        scene.wait_for(&run, RunStatus::Paused).await;
        store.request(&run, Command::Unpause, "tester", 2).await.expect("asked");
        scene.wait_for(&run, RunStatus::Running).await;
        store.request(&run, Command::Cancel, "tester", 3).await.expect("asked");
    };
    let (status, ()) = tokio::join!(scene.drive(&run), people);
    assert_eq!(status, RunStatus::Cancelled);
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_run_says_so_and_its_resume_pays_nothing_twice() {
    let scene = Scene::new().await;
    let whole = scene.create(scene.config(&[]), None).await;
    assert_eq!(scene.drive(&whole).await, RunStatus::Done);
    let whole_calls = scene.hosting.store().run_row(&whole).await.expect("row").spend.total().calls;

    let scene = Scene::new().await;
    let slow = scene.config(&["model.mock_latency_ms=30", "env.workers=4"]);
    let run = scene.create(slow, None).await;
    let interrupt = CancellationToken::new();
    let stop = async {
        scene.wait_for(&run, RunStatus::Running).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        interrupt.cancel();
    };
    let driven = scene.hosting.drive(&run, RunControl::new(), interrupt.clone());
    let (status, ()) = tokio::join!(driven, stop);
    assert_eq!(status.expect("driven"), RunStatus::Interrupted);
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    assert_eq!(row.spend.total().calls, whole_calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_stops_the_run_and_says_what_to_raise() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&["limits.max_calls=10"]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    assert!(row.spend.total().calls <= 10);
    assert!(row.detail.unwrap_or_default().contains("limits.max_calls"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_data_is_gone_fails_with_its_path() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&["env.split_dir=/no/such/folder"]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Failed);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    assert!(row.detail.unwrap_or_default().contains("/no/such/folder"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn splits_that_cannot_be_written_are_a_matter_of_their_folder() {
    let scene = Scene::new().await;
    let file = scene.dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/searchqa_sample/train/items.json");
    let (data, folder) = (
        format!("env.data_path={}", data.display()),
        format!("env.split_output_dir={}", file.display()),
    );
    let config = scene.config(&["env.split_mode=ratio", &data, &folder]);
    let run = scene.create(config, None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Failed);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    let detail = row.detail.unwrap_or_default();
    assert!(detail.starts_with("env.split_output_dir: "), "{detail}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_is_recognised_by_its_run_and_caps_may_differ() {
    let scene = Scene::new().await;
    let folder = scene.dir.path().join("mine");
    let find = async || scene.hosting.existing(&folder).await.expect("read");
    assert!(matches!(find().await, Existing::None));
    scene.create(scene.config(&[]), Some(folder.clone())).await;
    let request = NewRunRequest {
        name: String::new(),
        resolved: scene.config(&[]),
        fresh: false,
        out_root: Some(folder.clone()),
        actor: "tester".into(),
        lease: LeaseWish::Later,
        lineage: None,
    };
    let refused = scene.hosting.create(request).await.expect_err("taken");
    assert!(refused.to_string().contains("holds a run already"), "{refused}");
    let Existing::Known(row) = find().await else { panic!("a known run") };
    let plan = async |options: &[&str]| {
        scene.hosting.plan_resume(&row, &scene.config(options)).await.expect("a plan")
    };
    assert_eq!(plan(&[]).await.differences, []);
    assert!(!plan(&["limits.max_calls=5", "env.workers=3"]).await.needs_fork());
    let other = plan(&["train.seed=1"]).await;
    assert!(other.needs_fork());
    assert_eq!(other.differences[0].path, "train.seed");
    let foreign = scene.dir.path().join("foreign");
    std::fs::create_dir(&foreign).expect("folder");
    std::fs::write(foreign.join("history.json"), "[]").expect("file");
    let found = scene.hosting.existing(&foreign).await.expect("read");
    assert!(matches!(found, Existing::Foreign));
}

#[rstest::rstest]
#[case::of_another_program("config.json", r#"{"name": "mine"}"#, true)]
#[case::no_json("config.json", "mine", true)]
#[case::a_skill("best_skill.md", "# Mine", true)]
#[case::of_a_process_that_died_early("config.json", r#"{"out_root": "out"}"#, false)]
#[case::what_no_run_writes("notes.txt", "mine", false)]
#[tokio::test]
async fn files_that_a_run_would_write_over_are_left_alone(
    #[case] name: &str,
    #[case] text: &str,
    #[case] is_refused: bool,
) {
    let scene = Scene::new().await;
    let folder = scene.dir.path().join("mine");
    std::fs::create_dir(&folder).expect("folder");
    std::fs::write(folder.join(name), text).expect("file");
    let found = scene.hosting.existing(&folder).await.expect("read");
    assert_eq!(matches!(found, Existing::Foreign), is_refused, "{found:?}");
}

#[tokio::test]
async fn a_check_counts_tasks_and_calls_and_names_what_is_wrong() {
    let scene = Scene::new().await;
    let check = scene.hosting.check(&scene.config(&[])).await;
    assert_eq!(check.problems, []);
    let forecast = check.forecast.expect("a forecast");
    assert_eq!((forecast.n_train, forecast.total_steps), (56, 2));
    assert!(check.checks.iter().any(|line| line.figure.contains("simulated")));

    let wrong = scene.config(&["train.train_size=9", "env.skill_init=/no/such.md"]);
    let check = scene.hosting.check(&wrong).await;
    assert!(check.forecast.is_none());
    assert_eq!(check.problems[0].path, "env.skill_init");

    let unset = [
        "model.target_backend=openai_compatible",
        "model.target=m",
        "model.openai_compatible_base_url=http://127.0.0.1:9/v1",
        "model.target_api_key_env=NOT_SET",
    ];
    let check = scene.hosting.check(&scene.config(&unset)).await;
    assert!(check.problems[0].message.contains("NOT_SET"), "{:?}", check.problems);
}

#[tokio::test]
async fn a_program_that_is_missing_stops_a_run_and_rights_beyond_need_are_told() {
    let scene = Scene::new().await;
    let wide = [
        "model.target_backend=codex_exec",
        "model.codex_exec_path=/nowhere/codex",
        "model.codex_exec_sandbox=danger-full-access",
    ];
    let (config, cancel) = (scene.config(&wide), CancellationToken::new());
    let check = scene.hosting.check(&config).await;
    assert_eq!(check.problems[0].path, "model.codex_exec_path", "{:?}", check.problems);
    assert!(check.problems[0].message.contains("/nowhere/codex is no program"));
    let warned = |path: &str| check.warnings.iter().any(|warning| warning.path == path);
    assert!(warned("model.codex_exec_sandbox"), "{:?}", check.warnings);
    let checks = scene.hosting.preflight(&config, None, &cancel).await.checks;
    let told = checks.iter().find(|check| check.label == "model.codex_exec_sandbox");
    assert!(told.is_some_and(|check| check.detail.contains("without a sandbox")), "{checks:?}");
}

#[tokio::test]
async fn a_preflight_calls_each_role_and_shows_what_failed() {
    let scene = Scene::new().await;
    let cancel = CancellationToken::new();
    let checks = scene.hosting.preflight(&scene.config(&[]), None, &cancel).await.checks;
    assert!(checks.iter().all(|check| check.state == skillopt_domain::api::CheckState::Ok));
    assert!(checks.iter().any(|check| check.label == "Call to the optimizer"));
    assert_eq!(scene.hosting.wire(&scene.config(&[])).len(), 2);
}

#[tokio::test]
async fn a_run_of_a_dead_process_is_taken_at_once_and_that_of_a_living_one_is_not() {
    let scene = Scene::new().await;
    let store = scene.hosting.store();
    let held_by = async |owner: &str| {
        let run = scene.create(scene.config(&[]), None).await;
        store.release_lease(&run, scene.hosting.owner()).await.expect("released");
        let term = LeaseTerm { owner: owner.to_owned(), ttl_ms: LEASE_MS };
        store.acquire_lease(&run, &term, scene.hosting.now_ms()).await.expect("leased");
        run
    };
    // No process has this number.
    let run = held_by("4294967295:gone").await;
    scene.hosting.wait_until_free(&run).await.expect("free");
    assert_eq!(store.run_row(&run).await.expect("row").status, RunStatus::Interrupted);

    let run = held_by("4294967295:gone").await;
    scene.hosting.take_if_dead(&run).await.expect("taken");
    assert_eq!(store.run_row(&run).await.expect("row").status, RunStatus::Interrupted);

    // Its folder is on another machine, where its process may well be.
    let run = held_by("4294967295:elsewhere").await;
    let folder = store.run_row(&run).await.expect("row").out_root;
    std::fs::remove_dir_all(&folder).expect("removed");
    scene.hosting.take_if_dead(&run).await.expect("left alone");
    assert_eq!(store.run_row(&run).await.expect("row").status, RunStatus::Queued);
    assert!(!Path::new(&folder).exists(), "to look makes none");

    let run = held_by("1:alive").await;
    scene.hosting.take_if_dead(&run).await.expect("left alone");
    assert_eq!(store.run_row(&run).await.expect("row").status, RunStatus::Queued);
    let renew = async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let term = LeaseTerm { owner: "1:alive".to_owned(), ttl_ms: LEASE_MS };
            store.acquire_lease(&run, &term, scene.hosting.now_ms()).await.expect("renewed");
        }
    };
    let refused = tokio::select! {
        freed = scene.hosting.wait_until_free(&run) => freed.expect_err("held"),
        () = renew => unreachable!("it renews for ever"),
    };
    assert!(refused.to_string().starts_with("process 1 works on run"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_cancelled_between_its_turn_and_its_start_does_not_start() {
    use crate::supervisor::Driver;
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&[]), None).await;
    let store = scene.hosting.store();
    store.release_lease(&run, scene.hosting.owner()).await.expect("released");
    store.request(&run, Command::Cancel, "tester", 1).await.expect("asked");
    let (leash, stop) = (RunControl::new(), CancellationToken::new());
    Driver::drive(&scene.hosting, &run, RunStatus::Queued, leash, stop).await;
    let row = store.run_row(&run).await.expect("row");
    assert_eq!((row.status, row.spend.total().calls), (RunStatus::Cancelled, 0));
    assert!(row.lease.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_a_finished_run_left_behind_is_not_waited_for() {
    let scene = Scene::new().await;
    let run = scene.create(scene.config(&["limits.max_calls=10"]), None).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    // Process 1 lives, but it has not renewed this lease for long.
    let term = LeaseTerm { owner: "1:alive".to_owned(), ttl_ms: 1 };
    let (store, long_ago) = (scene.hosting.store(), scene.hosting.now_ms() - 60_000);
    store.acquire_lease(&run, &term, long_ago).await.expect("leased");
    let freed = scene.hosting.wait_until_free(&run);
    tokio::time::timeout(Duration::from_secs(20), freed).await.expect("in time").expect("free");
    assert!(store.run_row(&run).await.expect("row").lease.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cap_on_time_holds_for_all_repeats_of_a_measurement_together() {
    let scene = Scene::new().await;
    // One repeat takes a fifth of a second, and the cap is less than half a second.
    let options = ["model.mock_latency_ms=200", "env.workers=64", "limits.max_minutes=0.0075"];
    let request = MeasureRequest {
        resolved: scene.config(&options),
        skill: scene.config(&[]).get("env.skill_init").to_string(),
        split: skillopt_engine::splits::SplitName::Selection,
        repeats: 4,
        fresh: false,
        out_root: None,
    };
    let (state, _) = tokio::sync::watch::channel(super::MeasureState::default());
    let (_control, ctx) = RunControl::new();
    let measured = scene.hosting.measure(&request, &ctx, &state).await.expect("measured");
    let failure = measured.failure.expect("the cap is reached").to_string();
    assert!(failure.contains("limits.max_minutes"), "{failure}");
}

mod folders;
mod models;
mod origins;
