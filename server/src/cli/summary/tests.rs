//! The keys of `train --json` are part of the interface, and so is `null` for what was not measured.

use super::*;
use crate::config::{Environment, Sources, cfg_options, load};
use crate::host::{Hosting, LeaseWish, NewRunRequest};
use serde_json::{Value, json};
use skillopt_engine::ctx::RunControl;
use std::path::Path;
use tokio_util::sync::CancellationToken;

async fn summary_of(options: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("folder");
    let env = Environment::default();
    let hosting = Hosting::open(dir.path(), env.clone()).await.expect("opened");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/searchqa_sample");
    let mut words = vec![
        "model.backend=mock".to_owned(),
        format!("env.split_dir={}", data.display()),
        "train.num_epochs=1".to_owned(),
        "train.batch_size=28".to_owned(),
    ];
    words.extend(options.iter().map(|word| (*word).to_owned()));
    let flags = cfg_options(&words).expect("options");
    let request = NewRunRequest {
        name: String::new(),
        resolved: load(Sources { file: None, env: &env, flags: &flags }).expect("a config"),
        fresh: false,
        out_root: None,
        actor: "tester".into(),
        lease: LeaseWish::Now,
        lineage: None,
    };
    let run = hosting.create(request).await.expect("created");
    hosting.drive(&run, RunControl::new(), CancellationToken::new()).await.expect("driven");
    let detail = hosting.store().run_detail(&run).await.expect("detail");
    let summary = TrainSummary::read(hosting.store(), &detail).await.expect("summary");
    serde_json::to_value(summary).expect("JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_done_run_has_all_keys_and_no_others() {
    let summary = summary_of(&[]).await;
    let keys: Vec<&String> = summary.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "run_id",
            "status",
            "detail",
            "out_root",
            "baseline",
            "best",
            "steps",
            "accepted",
            "rejected",
            "skipped",
            "calls",
            "tokens",
            "cost_usd",
            "wall_s",
            "by_fate",
            "cost_per_accepted_usd",
            "forecast",
        ]
    );
    assert_eq!((&summary["status"], &summary["detail"]), (&json!("done"), &json!(null)));
    for score in
        [&summary["baseline"]["selection"], &summary["best"]["selection"], &summary["best"]["test"]]
    {
        assert_eq!(score["n"], 56, "{summary}");
        assert!(score["hard"].is_number() && score["soft"].is_number(), "{summary}");
    }
    let count = |key: &str| summary[key].as_u64().unwrap_or_default();
    assert_eq!(count("steps"), count("accepted") + count("rejected") + count("skipped"));
    assert!(summary["calls"]["target"].as_u64() > Some(0), "{summary}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_measured_is_null() {
    let summary = summary_of(&["evaluation.eval_test=false"]).await;
    assert_eq!(
        (&summary["baseline"]["test"], &summary["best"]["test"]),
        (&json!(null), &json!(null))
    );
    let failed = summary_of(&["env.split_dir=/no/such/folder"]).await;
    assert_eq!(
        (&failed["status"], &failed["baseline"]["selection"]),
        (&json!("failed"), &json!(null))
    );
    let why = failed["detail"].as_str().unwrap_or_default();
    assert!(why.contains("/no/such/folder"), "{failed}");
}

#[test]
fn millionths_become_dollars_without_loss() {
    assert!((in_units(1_234_567, 6) - 1.234_567).abs() < f64::EPSILON);
}
