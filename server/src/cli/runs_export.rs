//! `skillopt runs export` and `skillopt runs cassette`: one run as a document that needs no store, or as a folder for
//! the Python trainer.

use super::Exit;
use super::args::{CassetteArgs, ExportArgs, ExportFormat};
use super::output::Output;
use super::runs::find;
use crate::config::{flat_json, run_config, to_python_yaml, to_yaml};
use crate::handover;
use crate::host::Hosting;
use anyhow::Context;
use serde_json::{Map, Value, json};
use skillopt_domain::event::RunEvent;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_store::Store;
use std::path::{Path, PathBuf};

pub(super) async fn export(
    store: &Store,
    args: &ExportArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let run = find(store, &args.run).await?;
    let text = match args.format {
        ExportFormat::Json => format!("{:#}\n", document(store, &run).await?),
        ExportFormat::Skill => best_skill(store, &run).await?,
        ExportFormat::Yaml => to_yaml(&store.run_row(&run).await?.config)?,
        ExportFormat::Python => {
            return for_python(store, &run, args.output.as_deref(), output).await;
        }
    };
    hand_out(args.output.as_deref(), &text, output).await
}

/// Every exchange of a finished run with a model.
pub(super) async fn cassette(
    hosting: &Hosting,
    args: &CassetteArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let run = find(hosting.store(), &args.run).await?;
    let cassette = hosting.cassette(&run).await?;
    hand_out(args.output.as_deref(), &cassette.text(), output).await
}

async fn hand_out(path: Option<&Path>, text: &str, output: &Output) -> anyhow::Result<Exit> {
    match path {
        Some(path) => {
            tokio::fs::write(path, text)
                .await
                .with_context(|| format!("writing {}", path.display()))?;
            output.note(&format!("wrote {}", path.display()));
        }
        None => output.raw(text.as_bytes()),
    }
    Ok(Exit::Done)
}

async fn for_python(
    store: &Store,
    run: &RunId,
    target: Option<&Path>,
    output: &Output,
) -> anyhow::Result<Exit> {
    let Some(target) = target else {
        output.error("a folder for the Python trainer needs a name: add --output DIR");
        return Ok(Exit::Usage);
    };
    let row = store.run_row(run).await?;
    if let Some(origin) = store.import_origin(run).await? {
        anyhow::bail!(
            "this run was imported: the folder to go on in is its own, {}",
            origin.folder
        );
    }
    anyhow::ensure!(
        row.status.is_over() || row.status == RunStatus::Paused,
        "the run is {}: its folder is being written; pause or cancel it first",
        row.status.as_str()
    );
    if let Some(by) = store.find_run_by_out_root(&row.out_root).await?.filter(|by| by != run) {
        anyhow::bail!(
            "the run had done nothing, and its folder {} belongs to run {} now; export that one",
            row.out_root,
            by.short()
        );
    }
    let (source, target) = (PathBuf::from(&row.out_root), std::path::absolute(target)?);
    let config = to_python_yaml(&row.config, &run_config(&row.config)?, &target)?;
    let folder = target.clone();
    let written = tokio::task::spawn_blocking(move || handover::write(&source, &folder, &config));
    let done = written.await??;
    output.note(&format!("wrote {}: {} finished steps", target.display(), done.last_step));
    for note in &done.notes {
        output.note(note);
    }
    Ok(Exit::Done)
}

/// Config, journal, outcomes, every skill version and the texts of the prompts. No secret: none is in the store.
async fn document(store: &Store, run: &RunId) -> anyhow::Result<Value> {
    let row = store.run_row(run).await?;
    let detail = store.run_detail(run).await?;
    let mut skills = Map::new();
    for version in store.versions(run).await? {
        if let Some(text) = store.skill_text(&version.skill).await? {
            skills.insert(version.skill.to_string(), text.into());
        }
    }
    let mut prompts = Map::new();
    for prompt in store.prompts(run).await? {
        if let Some(text) = store.prompt_text(run, &prompt.hash).await? {
            prompts.insert(prompt.hash.to_string(), text.into());
        }
    }
    Ok(json!({
        "format": "skillopt-run-1",
        "run": detail.summary,
        "origin": detail.origin,
        "config": flat_json(&row.config),
        "events": all_events(store, run).await?,
        "rollouts": store.rollout_sets(run).await?,
        "skills": skills,
        "prompts": prompts,
    }))
}

async fn all_events(store: &Store, run: &RunId) -> anyhow::Result<Vec<RunEvent>> {
    let mut events: Vec<RunEvent> = Vec::new();
    loop {
        let seq = events.last().map_or(0, |event| event.seq);
        let more = store.events_after(run, seq, 1000).await?;
        if more.is_empty() {
            return Ok(events);
        }
        events.extend(more);
    }
}

async fn best_skill(store: &Store, run: &RunId) -> anyhow::Result<String> {
    let best = store.view(run).await?.best.context("the run has no skill yet")?;
    store.skill_text(&best.skill).await?.context("the text of the best skill is not in the store")
}
