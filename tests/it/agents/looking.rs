//! Looking at a run whose config names a program: nothing is started by it, whoever the config came from.

use super::scene::Scene;
use crate::binary::command;
use crate::secrets::options;
use anyhow::{Context, ensure};
use serde_json::json;
use skillopt_server::config::Environment;
use skillopt_server::host::Hosting;
use skillopt_server::http::serve;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A run that Codex has made; gives its id.
fn train(scene: &Scene, data: &Path, out: &Path) -> anyhow::Result<String> {
    let mut command = command(data);
    command.env("PATH", &scene.env["PATH"]);
    command.args(["train", "--config", "configs/searchqa/sample.yaml", "--json", "--out-root"]);
    command.arg(out).arg("--cfg-options");
    command.arg(format!("model.codex_exec_path={}", scene.path().join("codex").display()));
    command.args(["model.target_backend=codex_exec", "model.optimizer_backend=mock"]);
    command.args(["train.num_epochs=1", "env.limit=7", "evaluation.eval_test=false"]);
    let said: crate::binary::Said = command.output().context("running skillopt")?.into();
    ensure!(said.code == 0, "{}", said.err);
    Ok(said.json()?["run_id"].as_str().context("an id")?.to_owned())
}

#[tokio::test]
async fn looking_at_a_run_starts_no_program() -> anyhow::Result<()> {
    let (scene, dir) = (Scene::new(&json!({})), tempfile::tempdir()?);
    let (data, mark) = (dir.path().join("data"), dir.path().join("was-started"));
    let id = train(&scene, &data, &dir.path().join("out"))?;

    // What the config names is another program now, which no process knows yet.
    let program = scene.path().join("codex");
    std::fs::remove_file(&program)?;
    std::fs::write(&program, format!("#!/bin/sh\ntouch '{}'\necho 9.9.9\n", mark.display()))?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;

    let python = dir.path().join("python").display().to_string();
    let looks: [&[&str]; 5] = [
        &["runs", "list"],
        &["runs", "show", &id],
        &["runs", "export", &id, "--format", "json"],
        &["runs", "export", &id, "--format", "yaml"],
        &["runs", "export", &id, "--format", "python", "--output", &python],
    ];
    for words in looks {
        let mut command = command(&data);
        let output = command.env("PATH", &scene.env["PATH"]).args(words).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        ensure!(!mark.exists(), "{words:?} started it");
    }

    let env = Environment::from_pairs([("PATH", &scene.env["PATH"])]);
    let hosting = Hosting::open(&data, env).await?;
    let (ready, url) = tokio::sync::oneshot::channel();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(options(data), hosting, stop.clone(), move |url| {
        let _ = ready.send(url.to_owned());
    }));
    let api = format!("{}/api/v1", url.await?);
    let client = reqwest::Client::builder().no_proxy().build()?;
    let parts = ["", "/events?limit=500", "/config", "/curves", "/versions", "/tasks", "/prompts"];
    let of_run = parts.map(|part| format!("runs/{id}{part}"));
    for path in of_run.into_iter().chain(["runs", "models", "models/endpoints"].map(str::to_owned))
    {
        let answer = client.get(format!("{api}/{path}")).send().await?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        ensure!(!mark.exists(), "{path} started it");
    }
    // A test call is no look: it says so, and starts what it calls.
    let test = json!({"id": format!("{id}.target")});
    client.post(format!("{api}/models/test")).json(&test).send().await?;
    ensure!(mark.exists(), "else there was nothing to start");
    stop.cancel();
    serving.await??;
    Ok(())
}
