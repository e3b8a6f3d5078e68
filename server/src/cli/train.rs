//! `skillopt train`: a new run, or the one that its folder holds already.

use super::Exit;
use super::args::TrainArgs;
use super::derive::tell_differences;
use super::follow::{Report, finish, follow};
use super::foresee::forecast_lines;
use super::output::Output;
use super::refusal::{refuse, refuse_as};
use crate::config::{BadConfig, Environment, check_but_prices};
use crate::host::{Existing, HostError, Hosting, LeaseWish, NewRunRequest};
use skillopt_domain::api::ConfigCheck;
use skillopt_domain::config::{ConfigDifference, Origin, Resolved, fork_command};
use skillopt_domain::run::RunStatus;
use skillopt_store::RunRow;
use std::path::Path;

/// Who runs commands, until there are users.
pub(super) const ACTOR: &str = "cli";

pub(super) async fn run(args: TrainArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    if args.config.is_empty() {
        let message = "nothing to train: name a config with --config FILE";
        return Ok(refuse_as(output, Report::of(args.json), "no_config", message));
    }
    let env = Environment::of_process(data_dir);
    let resolved = match checked(&args, &env) {
        Ok(resolved) => resolved,
        Err(problems) => return Ok(refuse(output, Report::of(args.json), &problems)),
    };
    for warning in &resolved.warnings {
        output.note(&format!("warning: {warning}"));
    }
    let hosting = Hosting::open(data_dir, env).await?;
    let exit = train(&args, &hosting, resolved, output).await;
    hosting.store().close().await;
    exit
}

fn checked(args: &TrainArgs, env: &Environment) -> Result<Resolved, BadConfig> {
    let resolved = args.config.load(env, &[])?;
    check_but_prices(&resolved)?;
    Ok(resolved)
}

async fn train(
    args: &TrainArgs,
    hosting: &Hosting,
    resolved: Resolved,
    output: &Output,
) -> anyhow::Result<Exit> {
    let report = Report::of(args.json);
    if let Some(folder) = args.config.out_root(&resolved) {
        match hosting.existing(folder).await? {
            Existing::None => {}
            Existing::Known(row) if gives_way(args, hosting, &row, &resolved).await? => {
                output.note(&format!(
                    "run {} ended in {} before it did anything; the folder goes to a new run",
                    row.id.short(),
                    row.out_root
                ));
            }
            Existing::Known(row) if args.dry_run => {
                if let Some(exit) = foretell(args, hosting, &row, &resolved, output).await? {
                    return Ok(exit);
                }
            }
            Existing::Known(row) => return go_on(args, hosting, &row, &resolved, output).await,
            Existing::Foreign => {
                let message = format!(
                    "{} holds a run that this data directory does not know, or files that a run would write over; \
                     choose an empty folder",
                    folder.display()
                );
                return Ok(refuse_as(output, report, "folder_taken", &message));
            }
        }
    }
    let check = hosting.check(&resolved).await;
    if !check.problems.is_empty() {
        return Ok(refuse(output, report, &BadConfig(check.problems)));
    }
    for warning in check.warnings.iter().filter(|warning| !resolved.warnings.contains(warning)) {
        output.note(&format!("warning: {warning}"));
    }
    if args.dry_run {
        describe(&resolved, &check, args.json, output)?;
        return Ok(Exit::Done);
    }
    let request = NewRunRequest {
        name: args.name.clone().unwrap_or_default(),
        fresh: args.fresh,
        out_root: None,
        actor: ACTOR.to_owned(),
        lease: LeaseWish::Now,
        lineage: None,
        resolved,
    };
    let run = match hosting.create(request).await {
        Ok(run) => run,
        Err(err @ HostError::Folder { .. }) => {
            return Ok(refuse_as(output, report, "folder_taken", &err.to_string()));
        }
        Err(err) => return Err(err.into()),
    };
    follow(hosting, &run, report, output).await
}

/// What a run would do, before anything is written or called.
fn describe(
    resolved: &Resolved,
    check: &ConfigCheck,
    json: bool,
    output: &Output,
) -> anyhow::Result<()> {
    if json {
        output.line(&serde_json::to_string(check)?);
        return Ok(());
    }
    for row in resolved.values.iter().filter(|row| row.place.origin != Origin::Default) {
        output.line(&format!("{} = {}  ({})", row.path, row.value, row.place));
    }
    for line in &check.checks {
        output.line(&format!("{}: {}", line.label, line.figure));
    }
    if let Some(forecast) = &check.forecast {
        for line in forecast_lines(forecast) {
            output.line(&line);
        }
    }
    Ok(())
}

/// The folder holds a run that did nothing and is not the wanted one.
async fn gives_way(
    args: &TrainArgs,
    hosting: &Hosting,
    row: &RunRow,
    resolved: &Resolved,
) -> anyhow::Result<bool> {
    if !hosting.gives_way(row).await? {
        return Ok(false);
    }
    let is_other = hosting.plan_resume(row, resolved).await.is_ok_and(|plan| plan.needs_fork());
    Ok(is_other || (args.fresh && row.fresh.is_none()))
}

/// Says that the folder holds a run with which the command would go on; the end where it would be refused.
async fn foretell(
    args: &TrainArgs,
    hosting: &Hosting,
    row: &RunRow,
    resolved: &Resolved,
    output: &Output,
) -> anyhow::Result<Option<Exit>> {
    let report = Report::of(args.json);
    if args.fresh && row.fresh.is_none() {
        return Ok(Some(refuse_not_fresh(output, report)));
    }
    match hosting.plan_resume(row, resolved).await {
        Ok(plan) if plan.needs_fork() => {
            return Ok(Some(refuse_other_run(output, report, row, &plan.differences)));
        }
        Ok(_) => {}
        Err(HostError::BadConfig(problems)) => return Ok(Some(refuse(output, report, &problems))),
        Err(err) => return Err(err.into()),
    }
    let what = match row.status {
        RunStatus::Done => "is done; the command would only say how it ended".to_owned(),
        status => format!("is {status}; the command would go on with it"),
    };
    output.note(&format!("the folder holds run {}, which {what}", row.id.short()));
    Ok(None)
}

/// The folder holds a run: goes on with it if it is the wanted one, or says again how it ended.
async fn go_on(
    args: &TrainArgs,
    hosting: &Hosting,
    row: &RunRow,
    resolved: &Resolved,
    output: &Output,
) -> anyhow::Result<Exit> {
    let report = Report::of(args.json);
    if args.fresh && row.fresh.is_none() {
        return Ok(refuse_not_fresh(output, report));
    }
    if row.status == RunStatus::Done {
        let plan = hosting.plan_resume(row, resolved).await?;
        if plan.needs_fork() {
            return Ok(refuse_other_run(output, report, row, &plan.differences));
        }
        output.note(&format!("run {} is done already; this is how it ended", row.id));
        if !Path::new(&row.out_root).join("best_skill.md").exists() {
            let short = row.id.short();
            output.note(&format!(
                "its files are gone from {}; `skillopt runs export {short} --format skill --output FILE` writes the \
                 best skill again",
                row.out_root
            ));
        }
        return finish(hosting, &row.id, row.status, report, output).await;
    }
    resume(hosting, row, resolved, report, output).await
}

/// Drives a run that ended before it was done, with what is safe to change of `wanted`.
pub(super) async fn resume(
    hosting: &Hosting,
    row: &RunRow,
    wanted: &Resolved,
    report: Report,
    output: &Output,
) -> anyhow::Result<Exit> {
    hosting.refuse_unresumable(&row.id).await?;
    let plan = match hosting.plan_resume(row, wanted).await {
        Ok(plan) => plan,
        Err(HostError::BadConfig(problems)) => return Ok(refuse(output, report, &problems)),
        Err(err) => return Err(err.into()),
    };
    if plan.needs_fork() {
        return Ok(refuse_other_run(output, report, row, &plan.differences));
    }
    // A run of a process that died waits here until its lease has run out.
    hosting.wait_until_free(&row.id).await?;
    let now = hosting.store().run_row(&row.id).await?;
    if now.config != row.config {
        return Err(HostError::Changed { run: row.id.clone() }.into());
    }
    if now.status == RunStatus::Done {
        output.note(&format!("run {} is done already; this is how it ended", row.id));
        return finish(hosting, &row.id, now.status, report, output).await;
    }
    hosting.prepare_resume(&now, &plan, ACTOR).await?;
    if !plan.differences.is_empty() && report == Report::People {
        tell_differences("the run goes on with other settings", &plan.differences, output);
    }
    follow(hosting, &row.id, report, output).await
}

fn refuse_not_fresh(output: &Output, report: Report) -> Exit {
    let message =
        "the folder holds a run that was not started with --fresh; choose an empty folder";
    refuse_as(output, report, "folder_taken", message)
}

/// Says what differs, which of it is safe, and how to start a run with it all the same.
fn refuse_other_run(
    output: &Output,
    report: Report,
    row: &RunRow,
    differences: &[ConfigDifference],
) -> Exit {
    let short = row.id.short();
    let message = format!("run {short} in {} was made with something else:", row.out_root);
    let mut lines: Vec<String> = differences.iter().map(|one| format!("  {one}")).collect();
    lines.push(format!("a fork starts with it: {}", fork_command(short, differences)));
    lines.push("or choose another folder, or change only what is safe".to_owned());
    refuse_as(output, report, "needs_fork", &format!("{message}\n{}", lines.join("\n")))
}
