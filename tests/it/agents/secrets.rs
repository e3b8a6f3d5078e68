//! Programs that tell all that they see and know, in their steps, answers, failures and on stderr: then every byte that a
//! run leaves is searched for keys.

use super::scene::Scene;
use crate::binary::{Said, command};
use crate::secrets::{all_keys, found_below, found_in};
use anyhow::{Context, ensure};
use serde_json::json;
use std::path::Path;

/// The names under which the planted keys stand in our environment; each program gets its own and no other.
const NAMES: [&str; 9] = [
    "CODEX_API_KEY",
    "ANTHROPIC_API_KEY",
    "CURSOR_API_KEY",
    "COPILOT_GITHUB_TOKEN",
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
    "TARGET_OPENAI_COMPATIBLE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "MY_OWN_API_KEY",
];

fn skillopt(scene: &Scene, dir: &Path, words: &[&str]) -> anyhow::Result<Said> {
    let mut command = command(&dir.join("data"));
    command.env("PATH", &scene.env["PATH"]).env("SKILLOPT_LOG", "trace");
    command.envs(NAMES.into_iter().zip(all_keys()));
    Ok(command.args(words).output().context("running skillopt")?.into())
}

fn check(target: &str, optimizer: &str) -> anyhow::Result<()> {
    let scene = Scene::new(&json!({"blurts": all_keys()}));
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out").display().to_string();
    let target_backend = format!("model.target_backend={target}");
    let optimizer_backend = format!("model.optimizer_backend={optimizer}");
    let train = [
        "train",
        "--config",
        "configs/searchqa/sample.yaml",
        "--json",
        "--out-root",
        &out,
        "--cfg-options",
        &target_backend,
        &optimizer_backend,
        "model.target_api_key_env=MY_OWN_API_KEY",
        // Which calls fail depends on their order; all attempts of a stage must not.
        "model.max_retries=3",
        "train.num_epochs=1",
        "env.limit=14",
        "limits.error_share=1",
        "evaluation.eval_test=false",
    ];
    let trained = skillopt(&scene, dir.path(), &train)?;
    ensure!(trained.code == 0, "{}", trained.err);
    let id = trained.json()?["run_id"].as_str().context("an id")?.to_owned();
    let mut found = Vec::new();
    let mut look = |what: &str, said: &Said| {
        found.extend(found_in(&format!("{what}, standard output"), said.out.as_bytes()));
        found.extend(found_in(&format!("{what}, standard error"), said.err.as_bytes()));
    };
    look("train", &trained);
    let python = dir.path().join("python").display().to_string();
    let reads: [&[&str]; 4] = [
        &["runs", "export", &id, "--format", "json"],
        &["runs", "export", &id, "--format", "python", "--output", &python],
        // Every prompt and every reply, as they stand compressed in the store.
        &["runs", "cassette", &id],
        &["doctor", "--backend", target],
    ];
    for words in reads {
        let said = skillopt(&scene, dir.path(), words)?;
        ensure!(said.code == 0 || words[0] == "doctor", "{words:?}: {}", said.err);
        look(&words.join(" "), &said);
        if words.contains(&"cassette") {
            ensure!(said.out.contains("<answer>"), "answers are in the ledger");
            ensure!(said.out.contains("PATH="), "what was blurted out is in the ledger");
            ensure!(said.out.contains("***"), "and without the keys");
        }
    }
    for folder in ["data", "out", "python"] {
        let (files, inside) = found_below(&dir.path().join(folder))?;
        ensure!(files > 0, "{folder} is empty");
        found.extend(inside);
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));

    // Each program saw no key but its own and the one that the config names: the others would have been there to find.
    let own = ["CODEX_API_KEY", "ANTHROPIC_API_KEY", "CURSOR_API_KEY", "COPILOT_GITHUB_TOKEN"];
    for seen in scene.seen() {
        let env = seen["env"].as_object().context("an environment")?;
        let strange = |name: &&&str| {
            env.contains_key(**name)
                && **name != "MY_OWN_API_KEY"
                && !own.contains(*name)
                && !(**name == "GITHUB_TOKEN" && seen["program"] == "copilot")
        };
        let strange: Vec<_> = NAMES.iter().filter(strange).collect();
        ensure!(strange.is_empty(), "{} saw {strange:?}", seen["program"]);
    }
    Ok(())
}

#[test]
fn claude_code_and_codex_give_no_key_away() -> anyhow::Result<()> {
    check("claude_code_exec", "codex_exec")
}

#[test]
fn codex_and_claude_give_no_key_away() -> anyhow::Result<()> {
    check("codex_exec", "claude_chat")
}

#[test]
fn cursor_and_pi_give_no_key_away() -> anyhow::Result<()> {
    check("cursor_exec", "pi_chat")
}

#[test]
fn copilot_and_opencode_give_no_key_away() -> anyhow::Result<()> {
    check("copilot_exec", "opencode_chat")
}
