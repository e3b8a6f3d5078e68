//! `skillopt runs rerun`, `fork` and `resume`: going on with a run, or starting from one. What differs is told before
//! anything starts.

use super::Exit;
use super::args::{ForkArgs, RerunArgs, ResumeArgs};
use super::follow::{Report, follow};
use super::foresee::forecast_lines;
use super::output::Output;
use super::refusal::{refuse, refuse_as};
use super::runs::{ask, find};
use super::train::{ACTOR, resume};
use crate::config::{BadConfig, cfg_options, changed};
use crate::host::{DeriveRequest, Derived, HostError, Hosting, LeaseWish, NewRunRequest};
use skillopt_domain::config::{ConfigDifference, ConfigProblem};
use skillopt_domain::run::RunStatus;
use skillopt_store::Command;
use std::path::PathBuf;

pub(super) async fn resume_run(
    hosting: &Hosting,
    args: &ResumeArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let report = Report::of(args.run.json);
    let run = find(hosting.store(), &args.run.run).await?;
    hosting.refuse_unresumable(&run).await?;
    hosting.take_if_dead(&run).await?;
    let row = hosting.store().run_row(&run).await?;
    let wanted = match cfg_options(&args.cfg_options).and_then(|flags| changed(&row.config, &flags))
    {
        Ok(wanted) => wanted,
        Err(problems) => return Ok(refuse(output, report, &problems)),
    };
    match row.status {
        RunStatus::Done => {
            output.note("the run is done; there is nothing to resume");
            Ok(Exit::Done)
        }
        RunStatus::Pausing | RunStatus::Paused if args.cfg_options.is_empty() => {
            ask(hosting, &args.run, Command::Unpause, output).await
        }
        status if status.is_live() && args.cfg_options.is_empty() => {
            let short = run.short();
            let message = format!(
                "the run is {status}: a process works on it; `skillopt runs show {short}` tells how far it is"
            );
            Ok(refuse_as(output, report, "conflict", &message))
        }
        status if status.is_live() => {
            let message =
                format!("the run is {status}: cancel it first, then resume it with other settings");
            Ok(refuse_as(output, report, "conflict", &message))
        }
        _ => resume(hosting, &row, &wanted, report, output).await,
    }
}

pub(super) async fn rerun(
    hosting: &Hosting,
    args: &RerunArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let run = find(hosting.store(), &args.run).await?;
    let derived = match hosting.derive_rerun(&run).await {
        Ok(derived) => derived,
        Err(err) => return told(err, Report::of(args.json), output),
    };
    let new = NewRun {
        name: args.name.clone(),
        fresh: args.fresh,
        out_root: args.out_root.clone(),
        json: args.json,
    };
    start(hosting, derived, new, output).await
}

pub(super) async fn fork(
    hosting: &Hosting,
    args: &ForkArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let from = find(hosting.store(), &args.run).await?;
    let changes = match cfg_options(&args.cfg_options) {
        Ok(changes) => changes,
        Err(problems) => return Ok(refuse(output, Report::of(args.json), &problems)),
    };
    let request = DeriveRequest { from, version: args.at_version, changes };
    let derived = match hosting.derive(&request).await {
        Ok(derived) => derived,
        Err(err) => return told(err, Report::of(args.json), output),
    };
    if args.dry_run {
        return dry_run(&derived, args.json, output);
    }
    let new = NewRun {
        name: args.name.clone(),
        fresh: args.fresh,
        out_root: args.out_root.clone(),
        json: args.json,
    };
    start(hosting, derived, new, output).await
}

/// What a new run is called and where it goes.
struct NewRun {
    name: Option<String>,
    fresh: bool,
    out_root: Option<PathBuf>,
    json: bool,
}

async fn start(
    hosting: &Hosting,
    derived: Derived,
    new: NewRun,
    output: &Output,
) -> anyhow::Result<Exit> {
    let report = Report::of(new.json);
    let Derived { resolved, lineage, check } = derived;
    if !check.problems.is_empty() {
        return Ok(refuse(output, report, &BadConfig(check.problems)));
    }
    if !new.json {
        tell_warnings(&check.warnings, output);
        tell_differences(&lineage.origin.words(), &lineage.origin.differences, output);
    }
    let request = NewRunRequest {
        name: new.name.unwrap_or_default(),
        resolved,
        fresh: new.fresh,
        out_root: new.out_root,
        actor: ACTOR.to_owned(),
        lease: LeaseWish::Now,
        lineage: Some(lineage),
    };
    let run = match hosting.create(request).await {
        Ok(run) => run,
        Err(err) => return told(err, report, output),
    };
    follow(hosting, &run, report, output).await
}

fn dry_run(derived: &Derived, json: bool, output: &Output) -> anyhow::Result<Exit> {
    if json {
        output.line(&serde_json::to_string(&derived.check)?);
        return Ok(Exit::Done);
    }
    let origin = &derived.lineage.origin;
    tell_warnings(&derived.check.warnings, output);
    tell_differences(&origin.words(), &origin.differences, output);
    if !derived.check.problems.is_empty() {
        return Ok(refuse(output, Report::People, &BadConfig(derived.check.problems.clone())));
    }
    for line in &derived.check.checks {
        output.line(&format!("{}: {}", line.label, line.figure));
    }
    if let Some(forecast) = &derived.check.forecast {
        for line in forecast_lines(forecast) {
            output.line(&line);
        }
    }
    Ok(Exit::Done)
}

fn tell_warnings(warnings: &[ConfigProblem], output: &Output) {
    for warning in warnings {
        output.note(&format!("warning: {warning}"));
    }
}

/// One line a difference.
pub(super) fn tell_differences(head: &str, differences: &[ConfigDifference], output: &Output) {
    match differences.len() {
        0 => output.note(&format!("{head}; nothing differs")),
        1 => output.note(&format!("{head}; 1 difference:")),
        n => output.note(&format!("{head}; {n} differences:")),
    }
    for one in differences {
        output.note(&format!("  {one}"));
    }
}

/// Errors that a person can mend are wrong usage; the others go on.
fn told(err: HostError, report: Report, output: &Output) -> anyhow::Result<Exit> {
    let word = match &err {
        HostError::BadConfig(problems) => return Ok(refuse(output, report, problems)),
        HostError::NeedsFork { .. } => "needs_fork",
        HostError::Folder { .. } => "folder_taken",
        _ => return Err(err.into()),
    };
    Ok(refuse_as(output, report, word, &err.to_string()))
}
