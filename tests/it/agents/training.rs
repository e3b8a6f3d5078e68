//! Whole training runs through the binary, with every program in every role that it serves.

use super::scene::{ALL, Scene, program};
use crate::binary::{Said, command};
use anyhow::Context;
use serde_json::{Value, json};
use skillopt_domain::api::TrajectoryQuery;
use skillopt_domain::config::BackendKind;
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::Role;
use skillopt_store::Store;
use std::path::Path;

/// Trains on the sample for an epoch with a program in a role and the simulation in the other.
fn train(scene: &Scene, dir: &Path, backend: BackendKind, role: Role) -> anyhow::Result<Said> {
    let other = if role == Role::Target { Role::Optimizer } else { Role::Target };
    let out = dir.join("out");
    let mut command = command(&dir.join("data"));
    command.env("PATH", &scene.env["PATH"]).env("OPENAI_API_KEY", "planted-secret-1");
    command.args(["train", "--config", "configs/searchqa/sample.yaml", "--json", "--out-root"]);
    command.arg(&out).arg("--cfg-options");
    command.args([
        "model.mock_latency_ms=0",
        "train.num_epochs=1",
        "env.limit=14",
        "evaluation.eval_test=false",
        "optimizer.use_slow_update=false",
        "optimizer.use_meta_skill=false",
    ]);
    command.arg(format!("model.{role}_backend={}", backend.as_str()));
    command.arg(format!("model.{other}_backend=mock"));
    Ok(command.output().context("running skillopt")?.into())
}

fn check(backend: BackendKind, role: Role) -> anyhow::Result<()> {
    let scene = Scene::new(&json!({}));
    let dir = tempfile::tempdir()?;
    let said = train(&scene, dir.path(), backend, role)?;
    assert_eq!(said.code, 0, "{} {role}: {}", backend.as_str(), said.err);
    let json = said.json()?;
    assert_eq!(json["status"], "done", "{json}");
    let calls = json["calls"][role.as_str()].as_u64().context("calls")?;
    let seen = scene.seen();
    assert_eq!(calls, u64::try_from(seen.len())?, "every call is a process, and is counted");
    assert!(calls > 0 && seen.iter().all(|seen| seen["program"] == program(backend)));
    assert!(!said.out.contains("planted-secret-1") && !format!("{seen:?}").contains("planted"));
    let accepted = json["accepted"].as_u64().unwrap_or_default();
    let score = |which: &str| json[which]["selection"]["hard"].as_f64();
    assert!(accepted >= 1, "training makes progress: {json}");
    assert!(score("best") > score("baseline"), "{json}");
    if role == Role::Target {
        let best = std::fs::read_to_string(dir.path().join("out/best_skill.md"))?;
        let given = |seen: &&Value| {
            let files = seen["files"].as_object().into_iter().flat_map(|files| files.values());
            let texts = files.chain([&seen["prompt"]]).filter_map(Value::as_str);
            let text = texts.collect::<Vec<_>>().join("\n");
            let line = best.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            text.contains(line.trim()) || seen["arguments"].to_string().contains("system.md")
        };
        assert!(seen.iter().any(|seen| given(&seen)), "the target works with the trained skill");
    }
    if seen.iter().any(|seen| seen["files"].get("task.md").is_some()) {
        check_steps(&dir.path().join("data"), json["run_id"].as_str().context("the run")?)?;
        let told = conversations(&dir.path().join("out"))?;
        assert!(told.iter().all(|told| told.contains(r#""type": "tool_call""#)), "{:?}", told[0]);
    }
    Ok(())
}

/// Every trajectory of the run shows what its agent did.
fn check_steps(data_dir: &Path, run: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let store = Store::open(data_dir).await?;
        let run = RunId::parse(run).context("an id")?;
        let page = store.trajectories(&run, &TrajectoryQuery::default()).await?;
        assert!(!page.page.items.is_empty());
        for row in page.page.items {
            let trajectory = store.trajectory(&run, row.id).await?;
            let steps = &trajectory.steps;
            assert!(steps.iter().any(|step| step.result == "what stands in it"), "{steps:?}");
        }
        store.close().await;
        Ok(())
    })
}

fn conversations(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(conversations(&path)?);
        } else if path.ends_with("conversation.json") {
            found.push(std::fs::read_to_string(&path)?);
        }
    }
    Ok(found)
}

/// One test for each, so that they run side by side.
macro_rules! trains {
    ($($name:ident: $kind:ident as $role:ident;)+) => {
        $(#[test]
        fn $name() -> anyhow::Result<()> {
            check(BackendKind::$kind, Role::$role)
        })+

        #[test]
        fn a_run_is_made_with_each_program_in_each_role() {
            let made = [$((BackendKind::$kind, Role::$role)),+];
            assert_eq!(made, ALL);
        }
    };
}

trains! {
    a_run_with_claude_chat_as_target: ClaudeChat as Target;
    a_run_with_claude_chat_as_optimizer: ClaudeChat as Optimizer;
    a_run_with_claude_code_as_target: ClaudeCodeExec as Target;
    a_run_with_codex_as_target: CodexExec as Target;
    a_run_with_codex_as_optimizer: CodexExec as Optimizer;
    a_run_with_cursor_as_target: CursorExec as Target;
    a_run_with_cursor_as_optimizer: CursorExec as Optimizer;
    a_run_with_copilot_chat_as_target: CopilotChat as Target;
    a_run_with_copilot_chat_as_optimizer: CopilotChat as Optimizer;
    a_run_with_copilot_as_target: CopilotExec as Target;
    a_run_with_pi_as_target: PiChat as Target;
    a_run_with_pi_as_optimizer: PiChat as Optimizer;
    a_run_with_opencode_as_target: OpencodeChat as Target;
    a_run_with_opencode_as_optimizer: OpencodeChat as Optimizer;
}
