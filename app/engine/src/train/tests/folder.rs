//! The files of a run folder and their fields, which other tools read.

use super::optimizer::able;
use super::*;
use serde_json::Value;

fn json_of(world: &World, path: &str) -> Value {
    let text = world.folder.file(path).unwrap_or_else(|| panic!("{path} is missing"));
    serde_json::from_str(&text).unwrap_or_else(|err| panic!("{path}: {err}"))
}

fn has(value: &Value, path: &str, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "{path} lacks {field}: {value}");
    }
}

async fn finished() -> World {
    let world = World::with(target_reply, able);
    world.run(&input(&[]), Arc::new(MemoryJournal::default())).await.expect("done");
    world
}

/// The fields of a step that was measured.
const ROW: [&str; 31] = [
    "step",
    "epoch",
    "step_in_epoch",
    "timing",
    "tokens",
    "rollout_hard",
    "rollout_soft",
    "rollout_n",
    "accumulation_batches",
    "n_patches",
    "n_failure_patches",
    "n_success_patches",
    "n_edits_merged",
    "n_edits_ranked",
    "edit_budget",
    "lr_control_mode",
    "support_counts",
    "candidate_hash",
    "candidate_skill_len",
    "edit_apply_summary",
    "selection_hard",
    "selection_soft",
    "gate_metric",
    "candidate_gate_score",
    "action",
    "current_score",
    "best_score",
    "best_step",
    "current_origin",
    "best_origin",
    "skill_len",
];

#[tokio::test]
async fn a_measured_step_has_every_field_and_its_record_is_its_row() {
    let world = finished().await;
    let history = json_of(&world, "history.json");
    let rows = history.as_array().expect("a list");
    assert!(!rows.is_empty());
    for (at, row) in rows.iter().enumerate() {
        let record = json_of(&world, &format!("steps/step_{:04}/step_record.json", at + 1));
        assert_eq!(&record, row, "step {}", at + 1);
        if row["action"].as_str().is_some_and(|action| !action.starts_with("skip")) {
            has(row, "history.json", &ROW);
            has(row, "history.json", &["wall_time_s"]);
        }
    }
    let tokens = rows[0]["tokens"].as_object().expect("by stage");
    for (stage, spent) in tokens {
        has(spent, stage, &["calls", "prompt_tokens", "completion_tokens"]);
    }
    assert!(tokens["rollout"]["calls"].as_u64() > Some(0), "{tokens:?}");
}

#[tokio::test]
async fn the_state_names_the_last_step_and_its_skills_by_paths_in_the_folder() {
    let world = finished().await;
    let state = json_of(&world, "runtime_state.json");
    let history = json_of(&world, "history.json");
    let last = history.as_array().and_then(|rows| rows.last()).expect("a step").clone();
    assert_eq!(state["last_completed_step"], last["step"]);
    for field in ["current_score", "best_score", "best_step", "current_origin", "best_origin"] {
        assert_eq!(state[field], last[field], "{field}");
    }
    for (field, text) in
        [("current_skill_path", &last["skill_len"]), ("best_skill_path", &Value::Null)]
    {
        let path = state[field].as_str().expect("a path");
        let skill = world.folder.file(path).unwrap_or_else(|| panic!("{field} names {path}"));
        let length = u64::try_from(skill.chars().count()).ok();
        assert!(text.is_null() || text.as_u64() == length, "{field}: {text} and {length:?}");
    }
}

#[tokio::test]
async fn the_summary_counts_what_the_history_holds() {
    let world = finished().await;
    let summary = json_of(&world, "summary.json");
    let history = json_of(&world, "history.json");
    let rows = history.as_array().expect("a list");
    let count = |wanted: fn(&str) -> bool| {
        rows.iter().filter(|row| wanted(row["action"].as_str().expect("a word"))).count()
    };
    let three = [
        ("total_accepts", "accepts", count(|action| action.contains("accept"))),
        ("total_rejects", "rejects", count(|action| action == "reject")),
        ("total_skips", "skips", count(|action| action.starts_with("skip"))),
    ];
    assert_eq!(summary["total_steps"], rows.len());
    let epochs = summary["epoch_stats"].as_array().expect("epochs");
    assert_eq!(epochs.len(), 2, "{epochs:?}");
    for (total, of_epoch, n) in three {
        assert_eq!(summary[total], n, "{total}");
        let sum: u64 = epochs.iter().filter_map(|epoch| epoch[of_epoch].as_u64()).sum();
        assert_eq!(Some(sum), summary[total].as_u64(), "{of_epoch} by epoch");
    }
    let steps: Vec<&Value> =
        epochs.iter().flat_map(|epoch| epoch["steps"].as_array()).flatten().collect();
    assert_eq!(steps, rows.iter().map(|row| &row["step"]).collect::<Vec<_>>());
    let last = rows.last().expect("a step");
    assert_eq!(epochs[1]["best_score_at_epoch_end"], last["best_score"]);
    // Scores are means of `hard`, whatever the gate's number is; tests are differences to the initial skill.
    let measured =
        rows.iter().find(|row| row["step"] == summary["best_step"]).expect("the best step");
    assert_eq!(summary["best_selection_hard"], measured["selection_hard"]);
    assert_eq!(summary["best_selection_soft"], measured["selection_soft"]);
    let number =
        |field: &str| summary[field].as_f64().unwrap_or_else(|| panic!("{field}: {summary}"));
    let gain = number("test_hard") - number("baseline_test_hard");
    assert!((number("test_delta_hard") - gain).abs() < 1e-6, "{summary}");
    for role in ["target", "optimizer", "_total"] {
        has(
            &summary["token_summary"][role],
            role,
            &["calls", "prompt_tokens", "completion_tokens", "total_tokens"],
        );
    }
    let version = summary["version"].as_str().expect("a version");
    assert!(
        version.starts_with("skillopt-rust-"),
        "nobody takes it for a folder of Python: {version}"
    );
}

#[tokio::test]
async fn what_an_analyst_said_is_a_file_of_its_minibatch() {
    let world = finished().await;
    let patch = json_of(&world, "steps/step_0001/patches/minibatch_fail_000.json");
    has(&patch, "the patch", &["batch_size", "failure_summary", "patch", "source_type"]);
    has(&patch["patch"], "the patch", &["reasoning", "edits"]);
    assert_eq!(patch["source_type"], "failure");
}
