//! `skillopt runs`: what is in the store, and commands to whoever works on a run.

use super::Exit;
use super::args::{ListArgs, RunRef, RunsCommand};
use super::derive::{fork, rerun, resume_run};
use super::narrate::{number, spend_line};
use super::output::Output;
use super::runs_export::{cassette, export};
use super::train::ACTOR;
use crate::config::Environment;
use crate::host::Hosting;
use skillopt_domain::api::{RunDetail, RunQuery, RunSummary};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_store::{Command, Store, TransitionError};
use std::path::Path;

pub(super) async fn run(
    command: RunsCommand,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let hosting = Hosting::open(data_dir, Environment::of_process(data_dir)).await?;
    hosting.store().reap_orphans(hosting.clock().now_ms()).await?;
    let done = match command {
        RunsCommand::List(args) => list(hosting.store(), &args, output).await,
        RunsCommand::Show(args) => show(hosting.store(), &args, output).await,
        RunsCommand::Export(args) => export(hosting.store(), &args, output).await,
        RunsCommand::Cassette(args) => cassette(&hosting, &args, output).await,
        RunsCommand::Resume(args) => resume_run(&hosting, &args, output).await,
        RunsCommand::Rerun(args) => rerun(&hosting, &args, output).await,
        RunsCommand::Fork(args) => fork(&hosting, &args, output).await,
        RunsCommand::Pause(args) => ask(&hosting, &args, Command::Pause, output).await,
        RunsCommand::Cancel(args) => ask(&hosting, &args, Command::Cancel, output).await,
    };
    hosting.store().close().await;
    done
}

/// The run that a person means: its id, or a beginning or end of it that fits one run only.
pub(super) async fn find(store: &Store, text: &str) -> anyhow::Result<RunId> {
    if let Ok(id) = RunId::parse(text) {
        store.run_row(&id).await?;
        return Ok(id);
    }
    anyhow::ensure!(
        text.len() >= 4,
        "`{text}` is too short to name a run; give 4 characters or more"
    );
    let mut found = Vec::new();
    let mut query = RunQuery { limit: Some(500), ..RunQuery::default() };
    loop {
        let page = store.list_runs(&query).await?;
        let fits = |id: &RunId| id.as_str().starts_with(text) || id.as_str().ends_with(text);
        found.extend(page.items.into_iter().map(|row| row.id).filter(fits));
        match page.next {
            Some(cursor) => query.cursor = Some(cursor),
            None => break,
        }
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => anyhow::bail!("there is no run `{text}`; `skillopt runs list` shows them"),
        many => anyhow::bail!("`{text}` fits {} runs; give more of the id", many.len()),
    }
}

async fn list(store: &Store, args: &ListArgs, output: &Output) -> anyhow::Result<Exit> {
    let status = match args.status.as_deref() {
        None => None,
        Some(word) => match RunStatus::parse(word) {
            Some(status) => Some(status),
            None => {
                let words = RunStatus::ALL.map(RunStatus::as_str).join(", ");
                output.error(&format!("there is no state `{word}`; the states are {words}"));
                return Ok(Exit::Usage);
            }
        },
    };
    let query = RunQuery {
        status,
        q: args.query.clone(),
        sort: Some("-created".to_owned()),
        limit: Some(args.limit),
        ..RunQuery::default()
    };
    let page = store.list_runs(&query).await?;
    if args.json {
        output.line(&serde_json::to_string(&page)?);
        return Ok(Exit::Done);
    }
    if page.items.is_empty() {
        output.line("no runs");
        return Ok(Exit::Done);
    }
    output.line(&format!(
        "{:8}  {:11}  {:>7}  {:>8}  {:>8}  {:>8}  {}",
        "run", "state", "steps", "baseline", "best", "test", "name"
    ));
    for row in &page.items {
        output.line(&table_row(row));
    }
    let shown = page.items.len();
    if u64::try_from(shown).is_ok_and(|shown| shown < page.total) {
        output.line(&format!("{shown} of {} runs; --limit shows more", page.total));
    }
    Ok(Exit::Done)
}

fn table_row(row: &RunSummary) -> String {
    let steps =
        format!("{}/{}", row.n_steps, row.total_steps.map_or("?".to_owned(), |n| n.to_string()));
    let simulated = if row.target_simulated { " (simulated)" } else { "" };
    format!(
        "{:8}  {:11}  {:>7}  {:>8}  {:>8}  {:>8}  {}{simulated}",
        row.id.short(),
        row.status.as_str(),
        steps,
        number(row.baseline_score),
        number(row.best_score),
        number(row.test_best.map(|score| score.hard)),
        row.name
    )
}

async fn show(store: &Store, args: &RunRef, output: &Output) -> anyhow::Result<Exit> {
    let run = find(store, &args.run).await?;
    let detail = store.run_detail(&run).await?;
    if args.json {
        output.line(&serde_json::to_string(&detail)?);
    } else {
        describe(&detail, output);
    }
    Ok(Exit::Done)
}

fn describe(detail: &RunDetail, output: &Output) {
    let (row, view) = (&detail.summary, &detail.view);
    let simulated = |is_simulated| if is_simulated { " (simulated)" } else { "" };
    let reason = row.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    output.line(&format!("run        {}", row.id));
    output.line(&format!("name       {}", row.name));
    output.line(&format!("state      {}{reason}", row.status));
    if let Some(origin) = &detail.origin {
        output.line(&format!("origin     {} ({})", origin.words(), origin.run.short()));
        for one in &origin.differences {
            output.line(&format!("           {one}"));
        }
    }
    output.line(&format!("folder     {}", row.out_root));
    output.line(&format!("target     {}{}", row.target_model, simulated(row.target_simulated)));
    output.line(&format!(
        "optimizer  {}{}",
        row.optimizer_model,
        simulated(row.optimizer_simulated)
    ));
    output.line(&format!(
        "steps      {} of {}: {} accepted, {} rejected, {} skipped",
        view.n_steps,
        row.total_steps.map_or("?".to_owned(), |n| n.to_string()),
        view.n_accepted,
        view.n_rejected,
        view.n_skipped + view.n_inconclusive
    ));
    output.line(&format!(
        "{:10} {} → {} (n {})",
        detail.gate_metric,
        number(row.baseline_score),
        number(row.best_score),
        row.n_selection.unwrap_or_default()
    ));
    if let (Some(initial), Some(best)) = (row.test_initial, row.test_best) {
        output.line(&format!(
            "test       {:.3} → {:.3} hard (n {})",
            initial.hard, best.hard, best.n
        ));
    }
    output.line(&format!("spend      {}", spend_line(&row.spend)));
    for adapted in &view.adapted {
        output.line(&format!("adapted    the {} {}", adapted.role, adapted.change));
    }
    for outage in &view.outages {
        output
            .line(&format!("outage     {} at {}: {}", outage.model, outage.endpoint, outage.error));
    }
    for warning in &view.warnings {
        output.line(&format!("warning    {warning}"));
    }
}

/// Leaves a command for whoever works on the run.
pub(super) async fn ask(
    hosting: &Hosting,
    args: &RunRef,
    command: Command,
    output: &Output,
) -> anyhow::Result<Exit> {
    let run = find(hosting.store(), &args.run).await?;
    // A process that died would never do what it is asked.
    hosting.take_if_dead(&run).await?;
    match hosting.store().request(&run, command, ACTOR, hosting.clock().now_ms()).await {
        Ok(status) if args.json => {
            output.line(&serde_json::json!({"run_id": run, "status": status}).to_string());
        }
        Ok(status) => output.line(&format!("run {} is {status}", run.short())),
        Err(TransitionError::Forbidden(refused)) => {
            output.error(&format!(
                "a run that is {} cannot be asked to {}",
                refused.from,
                command.as_str()
            ));
            return Ok(Exit::Failed);
        }
        Err(err) => return Err(err.into()),
    }
    Ok(Exit::Done)
}
