//! Our own run folder, imported in another data directory, tells the same history.

use crate::config::{Environment, Sources, cfg_options, load};
use crate::host::{DeriveRequest, Hosting, LeaseWish, NewRunRequest};
use crate::import::ImportMode;
use skillopt_domain::event::StepSummary;
use skillopt_domain::ids::RunId;
use skillopt_domain::import::ImportChange;
use skillopt_domain::outcome::RolloutSet;
use skillopt_domain::run::RunStatus;
use skillopt_engine::ctx::RunControl;
use std::collections::BTreeMap;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Six decimals are written.
const SAME: f64 = 1e-6;

async fn trained(hosting: &Hosting, out_root: &Path) -> RunId {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = root.join("data/searchqa_sample");
    let words = [
        "model.backend=mock".to_owned(),
        format!("env.split_dir={}", data.display()),
        format!("env.skill_init={}", data.join("SKILL.md").display()),
        "train.num_epochs=2".to_owned(),
        "train.batch_size=14".to_owned(),
        "train.accumulation=2".to_owned(),
    ];
    let flags = cfg_options(&words).expect("options");
    let resolved = load(Sources { file: None, env: hosting.environment(), flags: &flags });
    let request = NewRunRequest {
        name: String::new(),
        resolved: resolved.expect("a config"),
        fresh: false,
        out_root: Some(out_root.to_owned()),
        actor: "tester".into(),
        lease: LeaseWish::Now,
        lineage: None,
    };
    let run = hosting.create(request).await.expect("created");
    let status = hosting.drive(&run, RunControl::new(), CancellationToken::new()).await;
    assert_eq!(status.expect("driven"), RunStatus::Done);
    run
}

fn close(left: Option<f64>, right: Option<f64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => (left - right).abs() <= SAME,
        (left, right) => left == right,
    }
}

fn assert_same_step(own: &StepSummary, imported: &StepSummary) {
    let numbers = |step: &StepSummary| {
        [
            step.candidate_score,
            step.current_score,
            step.best_score,
            step.rollout.map(|mean| mean.hard),
        ]
    };
    for (own, imported) in numbers(own).into_iter().zip(numbers(imported)) {
        assert!(close(own, imported), "{own:?} {imported:?}");
    }
    let rest = |step: &StepSummary| {
        (
            (step.step, step.epoch, step.action, step.version, step.edit_budget),
            (step.n_applied, step.n_not_applied, step.n_fixed, step.n_broke, step.n_selection),
            (step.n_errors, step.n_attempts, step.current_n, step.best_n, step.skill_tokens),
            (step.skill.clone(), step.candidate.clone(), step.reason.clone()),
        )
    };
    assert_eq!(rest(own), rest(imported));
}

/// Sets by key, without what only the ledger knows.
fn by_key(sets: Vec<RolloutSet>) -> BTreeMap<String, RolloutSet> {
    let plain = sets.into_iter().map(|mut set| {
        set.sample.epoch = 0;
        for outcome in &mut set.outcomes {
            outcome.call = None;
            outcome.cached = false;
        }
        (set.key.clone(), set)
    });
    plain.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_folder_tells_the_same_history_in_another_data_directory() {
    let dir = tempfile::tempdir().expect("a folder");
    let here =
        Hosting::open(&dir.path().join("here"), Environment::default()).await.expect("opened");
    let out_root = dir.path().join("out");
    let own = trained(&here, &out_root).await;
    let at_home = here.import(&out_root, "tester", ImportMode::Write).await.expect("looked");
    assert_eq!((at_home.run.clone(), at_home.change), (own.clone(), ImportChange::Own));
    assert_eq!(at_home.findings, []);

    let there =
        Hosting::open(&dir.path().join("there"), Environment::default()).await.expect("opened");
    let report = there.import(&out_root, "tester", ImportMode::Write).await.expect("imported");
    assert_eq!((report.change, report.findings.len()), (ImportChange::New, 0), "{report:?}");
    let (left, right) = (
        here.store().view(&own).await.expect("a view"),
        there.store().view(&report.run).await.expect("a view"),
    );
    assert_eq!(left.steps.len(), right.steps.len());
    for (own, imported) in left.steps.iter().zip(&right.steps) {
        assert_same_step(own, imported);
    }
    assert!(left.n_accepted > 0 && left.n_rejected > 0, "the history has both");
    assert_eq!(
        left.versions.iter().map(|one| (one.step, one.skill.clone(), one.n)).collect::<Vec<_>>(),
        right.versions.iter().map(|one| (one.step, one.skill.clone(), one.n)).collect::<Vec<_>>()
    );
    assert_eq!(left.best.map(|best| best.skill), right.best.map(|best| best.skill));
    let test = |measured: &Option<skillopt_domain::event::Measured>| {
        measured.as_ref().map(|one| (one.skill.clone(), one.counts, one.set.clone()))
    };
    assert_eq!(test(&left.test_initial), test(&right.test_initial));
    assert_eq!(test(&left.test_best), test(&right.test_best));
    let sets = [
        by_key(here.store().rollout_sets(&own).await.expect("sets")),
        by_key(there.store().rollout_sets(&report.run).await.expect("sets")),
    ];
    assert_eq!(sets[0].keys().collect::<Vec<_>>(), sets[1].keys().collect::<Vec<_>>());
    for (own, imported) in sets[0].values().zip(sets[1].values()) {
        assert_eq!(own.skill, imported.skill, "{}", own.key);
        assert_eq!(own.outcomes, imported.outcomes, "{}", own.key);
    }
    let rejected = [
        here.store().rejected_edits(&own).await.expect("rejected"),
        there.store().rejected_edits(&report.run).await.expect("rejected"),
    ];
    let rows = |rows: &[skillopt_domain::api::RejectedEdit]| {
        rows.iter()
            .map(|row| {
                (
                    row.step,
                    row.report.status,
                    row.report.edit.content.clone(),
                    row.n_fixed,
                    row.n_broke,
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&rejected[0]), rows(&rejected[1]));
    assert_eq!(report.n_conversations, report.n_attempts, "all that was said is there");
    let one = there.store().trajectories(&report.run, &Default::default()).await.expect("attempts");
    let one = one.page.items.first().expect("an attempt").id;
    let one = there.store().trajectory(&report.run, one).await.expect("read");
    let roles: Vec<&str> = one.messages.iter().map(|said| said.role.as_str()).collect();
    assert_eq!(roles[..3], ["system", "user", "assistant"], "{roles:?}");
}

/// A folder from elsewhere: its skill has a relative path, and some of its keys have no effect here.
fn make_foreign(out_root: &Path) {
    let path = out_root.join("config.json");
    let text = std::fs::read_to_string(&path).expect("read");
    let mut keys: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    keys["skill_init"] = "no/such/SKILL.md".into();
    keys["qwen_chat_timeout"] = 3.into();
    std::fs::write(&path, keys.to_string()).expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_an_imported_run_starts_from_any_of_its_versions() {
    let dir = tempfile::tempdir().expect("a folder");
    let here =
        Hosting::open(&dir.path().join("here"), Environment::default()).await.expect("opened");
    let out_root = dir.path().join("out");
    trained(&here, &out_root).await;
    make_foreign(&out_root);
    let there =
        Hosting::open(&dir.path().join("there"), Environment::default()).await.expect("opened");
    let run = there.import(&out_root, "tester", ImportMode::Write).await.expect("imported").run;
    let versions = there.store().versions(&run).await.expect("versions");
    assert!(versions.len() > 1, "the sample improves");
    for version in [None, Some(1)] {
        let request = DeriveRequest { from: run.clone(), version, changes: Vec::new() };
        let derived = there.derive(&request).await.expect("derived");
        assert_eq!(derived.check.problems, []);
        let warnings: Vec<String> =
            derived.check.warnings.iter().map(ToString::to_string).collect();
        let told = warnings.iter().find(|text| text.contains("not taken over"));
        let told = told.unwrap_or_else(|| panic!("{warnings:?}"));
        assert!(told.contains("batches_per_epoch") && told.contains("qwen_chat_timeout"), "{told}");
        assert!(!told.contains("seed"), "{told}");
        let new = NewRunRequest {
            name: String::new(),
            resolved: derived.resolved,
            fresh: false,
            out_root: None,
            actor: "tester".into(),
            lease: LeaseWish::Now,
            lineage: Some(derived.lineage),
        };
        let fork = there.create(new).await.expect("created");
        let status = there.drive(&fork, RunControl::new(), CancellationToken::new()).await;
        assert_eq!(status.expect("driven"), RunStatus::Done);
        let plan = there.store().view(&fork).await.expect("a view").plan.expect("a plan");
        let start = version.unwrap_or_default();
        let wanted = versions.iter().find(|one| one.version == start).expect("the version");
        assert_eq!(plan.initial_skill, wanted.skill);
    }
}
