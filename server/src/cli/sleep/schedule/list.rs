//! What is scheduled: jobs of the system's schedulers for a project, and all schedules of the server.

use super::server;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::sleep::{NightSetup, daily_of, runs_twice, system_clocks};
use serde_json::{Value, json};
use skillopt_sleep::instant::utc_text;
use skillopt_sleep::schedule::{InstalledJob, Listing, Scheduler, SystemCommands};
use skillopt_store::ScheduleRow;
use std::path::Path;

/// What is scheduled.
pub(super) struct Listed {
    system: Listing,
    server: Vec<Server>,
    /// Warnings for projects whose nights more than one clock begins.
    twice: Vec<String>,
}

/// A schedule of the server.
struct Server {
    row: ScheduleRow,
    /// When its next night is, in UTC; empty for one that does not run.
    next: String,
}

/// Looks at all clocks.
pub(super) async fn of(
    setup: &NightSetup,
    data_dir: &Path,
    env: &Environment,
) -> anyhow::Result<Listed> {
    let clocks = system_clocks(&setup.home, env);
    let mut system = clocks.installed(Scheduler::of_this_system(), &SystemCommands::LOOKING);
    system.jobs.retain(|job| job.is_of(&setup.config.invoked_project));
    let now_ms = server::now_ms();
    let rows = server::schedules(data_dir).await?;
    let twice = runs_twice(&system.jobs, rows.iter());
    let server = rows.into_iter().map(|row| Server { next: next_of(&row, now_ms), row }).collect();
    Ok(Listed { system, server, twice })
}

fn next_of(row: &ScheduleRow, now_ms: u64) -> String {
    let next = daily_of(row).ok().filter(|_| row.terms.is_enabled);
    next.map(|daily| utc_text(daily.plan(Some(&row.served), now_ms).next_ms)).unwrap_or_default()
}

impl Listed {
    /// Tells all, for programs or for people.
    pub(super) fn tell(&self, is_json: bool, output: &Output) {
        if is_json {
            let mut value = json!({"ok": true});
            self.add_to(&mut value);
            output.line(&value.to_string());
            return;
        }
        let warnings = self.system.unread.iter().chain(&self.twice);
        warnings.for_each(|words| output.note(&format!("warning: {words}")));
        if self.system.jobs.is_empty() && self.server.is_empty() {
            output.line(match self.system.unread.is_empty() {
                true => "nothing is scheduled",
                false => "nothing else is scheduled",
            });
            return;
        }
        output.line("scheduled:");
        self.system.jobs.iter().for_each(|job| output.line(&system_words(job)));
        self.server.iter().for_each(|one| output.line(&server_words(one)));
    }

    /// Adds all to an answer for programs.
    pub(super) fn add_to(&self, value: &mut Value) {
        value["jobs"] = self.jobs();
        value["unread"] = json!(self.system.unread);
        value["twice"] = json!(self.twice);
    }

    /// One object a job.
    fn jobs(&self) -> Value {
        let system = self.system.jobs.iter().map(|job| {
            let at = job.at.map(|at| at.to_string());
            json!({"scheduler": job.scheduler.word(), "project": job.project, "at": at, "name": job.name})
        });
        let server = self.server.iter().map(|Server { row, next }| {
            json!({
                "scheduler": "server", "project": row.project, "at": at_of(row), "zone": row.terms.time.zone,
                "enabled": row.terms.is_enabled, "next": Some(next).filter(|next| !next.is_empty()),
                "name": row.id,
            })
        });
        system.chain(server).collect()
    }
}

fn at_of(row: &ScheduleRow) -> String {
    let time = &row.terms.time;
    format!("{:02}:{:02}", time.hour, time.minute)
}

fn system_words(job: &InstalledJob) -> String {
    let at = job.at.map_or_else(|| "?".to_owned(), |at| at.to_string());
    let project = job.project.as_deref().unwrap_or(&job.name);
    format!("  {at}  {project}  by {}", job.scheduler.word())
}

fn server_words(Server { row, next }: &Server) -> String {
    let zone = &row.terms.time.zone;
    let state = match next.as_str() {
        "" if row.terms.is_enabled => "cannot run: its zone is not known here".to_owned(),
        "" => "switched off".to_owned(),
        next => format!("next {next}"),
    };
    format!("  {}  {}  by `skillopt serve` ({zone}), {state}", at_of(row), row.project)
}
