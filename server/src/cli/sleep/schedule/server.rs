//! Schedules that `skillopt serve` runs: rows in the store.

use super::super::args::{CommonArgs, ScheduleArgs};
use super::super::{order, refuse, refuse_order};
use super::Step;
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::{cfg_options, holds_secret};
use crate::host::SystemClock;
use crate::sleep::{KeptNight, NightSetup, OrderError, daily, new_schedule_id, time_of};
use serde_json::{Value, json};
use skillopt_engine::ports::Clock;
use skillopt_sleep::schedule::{Daily, Which, system_zone};
use skillopt_store::{NewSchedule, ScheduleEdit, ScheduleRow, ScheduleTerms, Store};
use std::path::{Path, PathBuf};

/// Who does it, until there are users.
const ACTOR: &str = "local";

/// Stores a schedule, in place of an older one of the project.
pub(super) async fn schedule(
    args: &ScheduleArgs,
    setup: &NightSetup,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Step> {
    let common = &args.common;
    let usage = |words: &str| Ok(Step::Over(refuse(output, common.json, "cannot_schedule", words)));
    let zone = args.zone.clone().unwrap_or_else(system_zone);
    let daily = match daily(args.hour.into(), args.minute.into(), &zone) {
        Ok(daily) => daily,
        Err(err) => return usage(&err.to_string()),
    };
    if let Some(words) = refused_option(&common.cfg_options) {
        return usage(&words);
    }
    let kept = match kept(common) {
        Ok(kept) => kept,
        Err(err) => return Ok(Step::Over(refuse_order(output, common.json, &err))),
    };
    let (project, at, zone) = (setup.project(), daily.at.to_string(), daily.zone_name());
    let mut value = json!({
        "ok": true, "scheduler": "server", "at": at, "zone": zone, "project": project,
        "options": serde_json::from_str::<Value>(&kept.text())?,
    });
    if args.print {
        output.line(&value.to_string());
        return Ok(Step::Over(Exit::Done));
    }
    let store = Store::open(data_dir).await?;
    let stored = keep(&store, &project, &daily, &kept).await;
    store.close().await;
    let id = stored?;
    value["id"] = json!(id);
    let words = format!(
        "a night of {project} runs every day at {at} ({zone}) while `skillopt serve` runs with the same --data-dir"
    );
    Ok(Step::Installed { words, value })
}

/// Removes schedules of the server, and says how many.
pub(super) async fn unschedule(which: &Which, data_dir: &Path) -> anyhow::Result<usize> {
    if !has_store(data_dir) {
        return Ok(0);
    }
    let store = Store::open(data_dir).await?;
    let at_ms = now_ms();
    let mut n_removed = 0;
    for row in store.schedules().await? {
        let is_wanted = match which {
            Which::All => true,
            Which::Project(project) => Path::new(&row.project) == project,
        };
        if is_wanted && store.remove_schedule(&row.id, ACTOR, at_ms).await? {
            n_removed += 1;
        }
    }
    store.close().await;
    Ok(n_removed)
}

/// All schedules of the server; none where there is no store yet.
pub(super) async fn schedules(data_dir: &Path) -> anyhow::Result<Vec<ScheduleRow>> {
    if !has_store(data_dir) {
        return Ok(Vec::new());
    }
    let store = Store::open(data_dir).await?;
    let rows = store.schedules().await;
    store.close().await;
    Ok(rows?)
}

/// Now, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    SystemClock::new().now_ms()
}

fn has_store(data_dir: &Path) -> bool {
    data_dir.join("skillopt.db").is_file()
}

async fn keep(
    store: &Store,
    project: &str,
    daily: &Daily,
    kept: &KeptNight,
) -> anyhow::Result<String> {
    let at_ms = now_ms();
    let served = daily.plan(None, at_ms).served;
    let terms = ScheduleTerms { options_json: kept.text(), time: time_of(daily), is_enabled: true };
    let rows = store.schedules().await?;
    let Some(row) = rows.into_iter().find(|row| row.project == project) else {
        let new = NewSchedule {
            id: new_schedule_id(),
            project: project.to_owned(),
            terms,
            served,
            actor: ACTOR.to_owned(),
            at_ms,
        };
        store.add_schedule(&new).await?;
        return Ok(new.id.to_string());
    };
    let is_new = !row.terms.is_enabled || row.terms.time != terms.time;
    let edit = ScheduleEdit {
        revision: row.revision,
        terms,
        served: is_new.then_some(served),
        actor: ACTOR.to_owned(),
        at_ms,
    };
    anyhow::ensure!(
        store.change_schedule(&row.id, &edit).await?,
        "the schedule was changed by somebody else at the same moment; run the command again"
    );
    Ok(row.id.to_string())
}

/// All options of the night, with places that mean the same wherever the server was started.
fn kept(args: &CommonArgs) -> Result<KeptNight, OrderError> {
    let mut args = args.clone();
    for path in [
        &mut args.codex_path,
        &mut args.cursor_path,
        &mut args.pi_path,
        &mut args.opencode_path,
        &mut args.config,
        &mut args.tasks_file,
    ] {
        *path = path.as_ref().map(|path| absolute(path));
    }
    let order = order(&args)?;
    Ok(KeptNight::new(&order, false).with_models(args.tasks_file, args.cfg_options))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Why an option of models cannot be kept.
fn refused_option(words: &[String]) -> Option<String> {
    if let Err(problems) = cfg_options(words) {
        return Some(problems.to_string());
    }
    let mut pairs = words.iter().filter_map(|word| word.split_once('='));
    let secret = pairs.find(|(key, value)| holds_secret(key.trim(), &json!(value)));
    secret.map(|(key, _)| {
        format!("--cfg-options {key} holds a secret, which a schedule does not keep; put it in the environment of the server")
    })
}
