//! `sleep harvest`: sessions and the tasks in them, by rules alone. Nothing leaves this machine.

use super::args::HarvestArgs;
use super::refuse_order;
use super::report::one_line;
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::sleep::{LookBack, NightSetup, OrderError, find_sessions, source_item, tasks_of};
use anyhow::Context;
use serde_json::json;
use skillopt_domain::api::ReasonCount;
use skillopt_sleep::harvest::{Harvest, preview};
use skillopt_sleep::tasks_file::{TasksFile, write_tasks_file};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn run(args: &HarvestArgs, env: &Environment, output: &Output) -> anyhow::Result<Exit> {
    let common = &args.common;
    let read =
        super::setup(common, env).and_then(|setup| found(&setup, args, env).map(|it| (setup, it)));
    let (setup, harvest) = match read {
        Ok(read) => read,
        Err(err) => return Ok(refuse_order(output, common.json, &err)),
    };
    if args.preview {
        let sessions = preview(&harvest.digests);
        if common.json {
            output.line(&json!({"sessions": sessions}).to_string());
        } else {
            for session in &sessions {
                output.line(&format!("{} ({} masked)", session.session, session.masked));
                session
                    .prompts
                    .iter()
                    .for_each(|text| output.line(&format!("  > {}", one_line(text))));
                session
                    .finals
                    .iter()
                    .for_each(|text| output.line(&format!("  < {}", one_line(text))));
            }
        }
        return Ok(Exit::Done);
    }
    let file = tasks_of(&setup, &harvest).context("val_fraction and test_fraction")?;
    if let Some(path) = &args.output {
        write_tasks_file(path, &file)?;
    }
    if common.json {
        let mut value = json!(file);
        value["sources"] = json!(harvest.sources);
        value["output"] = json!(args.output);
        output.line(&value.to_string());
    } else {
        tell(&file, &harvest, args, output);
    }
    Ok(Exit::Done)
}

/// Everything there is, or in the window that a flag names.
fn found(setup: &NightSetup, args: &HarvestArgs, env: &Environment) -> Result<Harvest, OrderError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let look_back = match args.common.lookback_hours {
        Some(_) => LookBack::AsConfigured,
        None => LookBack::All,
    };
    find_sessions(setup, env, look_back, now_ms)
}

fn tell(file: &TasksFile, harvest: &Harvest, args: &HarvestArgs, output: &Output) {
    for source in &harvest.sources {
        let item = source_item(source);
        let counted = |counts: &[ReasonCount]| {
            counts
                .iter()
                .map(|one| format!("{} {}", one.n, one.reason))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut line = format!(
            "{}: {} of {} sessions in {} files",
            item.source, item.n_kept, item.n_sessions, item.n_files
        );
        for (word, counts) in
            [("skipped", &item.skipped), ("left out", &item.dropped), ("masked", &item.masked)]
        {
            if !counts.is_empty() {
                line.push_str(&format!("; {word}: {}", counted(counts)));
            }
        }
        output.line(&line);
        if !item.words.is_empty() {
            output.line(&format!("  {}", one_line(&item.words)));
        }
    }
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    for task in &file.tasks {
        let (split, outcome) = (word(json!(task.split)), word(json!(task.outcome)));
        output.line(&format!("[{split}/{outcome}] {}", one_line(&task.intent)));
    }
    if let Some(path) = &args.output {
        output.line(&format!(
            "wrote {}; look at it, set \"reviewed\" to true, then: skillopt sleep run --tasks-file {}",
            path.display(),
            path.display()
        ));
    }
}
