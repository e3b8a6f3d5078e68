//! `skillopt import`: a run folder of the Python system, or ours from another data directory.

use super::Exit;
use super::args::ImportArgs;
use super::follow::Report;
use super::output::Output;
use super::refusal::refuse_as;
use super::train::ACTOR;
use crate::config::Environment;
use crate::host::Hosting;
use crate::import::{ImportError, ImportMode};
use skillopt_domain::import::{ImportChange, ImportReport};
use std::path::Path;

pub(super) async fn run(
    args: ImportArgs,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let hosting = Hosting::open(data_dir, Environment::of_process(data_dir)).await?;
    let mode = if args.dry_run { ImportMode::DryRun } else { ImportMode::Write };
    let imported = hosting.import(&args.folder, ACTOR, mode).await;
    hosting.store().close().await;
    match imported {
        Ok(report) if args.json => output.line(&serde_json::to_string(&report)?),
        Ok(report) => tell(&report, output),
        Err(err) => {
            let word = match &err {
                ImportError::Open { .. } => "not_found",
                ImportError::NoRun(_) => "no_run",
                ImportError::Store(_) | ImportError::Interrupted => return Err(err.into()),
            };
            return Ok(refuse_as(output, Report::of(args.json), word, &err.to_string()));
        }
    }
    Ok(Exit::Done)
}

fn tell(report: &ImportReport, output: &Output) {
    for finding in &report.findings {
        output.note(&format!("note: {finding}"));
    }
    if report.n_findings_more > 0 {
        output.note(&format!("note: {} more of the kind", report.n_findings_more));
    }
    let what = match (report.change, report.is_dry_run) {
        (ImportChange::New, false) => "imported",
        (ImportChange::New, true) => "would be imported; nothing was written",
        (ImportChange::Updated, false) => "brought up to date",
        (ImportChange::Updated, true) => "its run would be brought up to date; nothing was written",
        (ImportChange::Unchanged, _) => "imported before, and nothing is new",
        (ImportChange::Own, _) => "a run of this data directory; there is nothing to import",
    };
    output.line(&format!("{}: {what}", report.folder));
    output.line(&format!(
        "run {} ({}, {}): {} steps, {} attempts, {} with a conversation, {} skill texts",
        report.run,
        report.status,
        report.system,
        report.n_steps,
        report.n_attempts,
        report.n_conversations,
        report.n_skills
    ));
    output.line("what its calls cost is not in a run folder, and shown as unknown");
    if !report.why_not_resumable.is_empty() {
        output.line(&report.why_not_resumable);
    }
}
