//! `sleep schedule` and `sleep unschedule`: a night every day, by the clock of this system. All options of the night go
//! with it.

use super::args::{CommonArgs, ScheduleArgs, SchedulerArg, UnscheduleArgs};
use super::{refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::sleep::NightSetup;
use anyhow::Context;
use serde_json::json;
use skillopt_sleep::schedule::{
    At, InstallError, Job, Launchd, SystemCommands, Systemd, Which, Windows, helper_script,
    install_crontab, plist, service, timer, uninstall_crontab, with_job,
};
use std::path::{Path, PathBuf};

pub(super) fn schedule(
    args: &ScheduleArgs,
    (data_dir, env): (&Path, &Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    // What could not run at night is refused by day.
    let setup = match super::setup(common, env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, common.json, &err)),
    };
    let program = std::env::current_exe().context("finding this program")?;
    let at = At::new(args.hour.into(), args.minute.into())?;
    let words = night_args(&setup, common, data_dir);
    let job = match Job::new(&setup.config.invoked_project, &program, words, at) {
        Ok(job) => job,
        Err(err) => return Ok(refuse(output, common.json, "cannot_schedule", &err.to_string())),
    };
    let with = args.with.unwrap_or_else(usual);
    if args.print {
        output.line(&text_of(with, &job)?);
        return Ok(Exit::Done);
    }
    match install(with, &job, &setup, env) {
        Ok(()) => tell(output, common.json, with, &job),
        Err(err) => {
            refuse(output, common.json, "schedule_failed", &err.to_string());
            if !common.json {
                output.line(&text_of(with, &job)?);
            }
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

pub(super) fn unschedule(
    args: &UnscheduleArgs,
    env: &Environment,
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let setup = match super::setup(common, env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, common.json, &err)),
    };
    let which = match args.all {
        true => Which::All,
        false => Which::Project(setup.config.invoked_project.clone()),
    };
    let with = args.with.unwrap_or_else(usual);
    let done = match with {
        SchedulerArg::Cron => uninstall_crontab(&which, &setup.config.state_dir, &SystemCommands),
        SchedulerArg::Systemd => systemd(&setup, env).uninstall(&which, &SystemCommands).map(drop),
        SchedulerArg::Launchd => launchd(&setup).uninstall(&which, &SystemCommands).map(drop),
        SchedulerArg::Windows => Windows.uninstall(&which, &SystemCommands).map(drop),
    };
    match done {
        Ok(()) if common.json => output.line(&json!({"ok": true}).to_string()),
        Ok(()) => output.line("no night is scheduled here any more"),
        Err(err) => {
            refuse(output, common.json, "schedule_failed", &err.to_string());
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

/// The clock that this system has.
fn usual() -> SchedulerArg {
    if cfg!(windows) {
        SchedulerArg::Windows
    } else if cfg!(target_os = "macos") {
        SchedulerArg::Launchd
    } else {
        SchedulerArg::Cron
    }
}

fn install(
    with: SchedulerArg,
    job: &Job,
    setup: &NightSetup,
    env: &Environment,
) -> Result<(), InstallError> {
    match with {
        SchedulerArg::Cron => install_crontab(job, &setup.config.state_dir, &SystemCommands),
        SchedulerArg::Systemd => systemd(setup, env).install(job, &SystemCommands),
        SchedulerArg::Launchd => launchd(setup).install(job, &SystemCommands),
        SchedulerArg::Windows => Windows.install(job, &SystemCommands),
    }
}

fn systemd(setup: &NightSetup, env: &Environment) -> Systemd {
    let config = env.get("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let config = config.unwrap_or_else(|| setup.home.join(".config"));
    Systemd { unit_dir: config.join("systemd/user") }
}

fn launchd(setup: &NightSetup) -> Launchd {
    Launchd { agent_dir: setup.home.join("Library/LaunchAgents"), uid: user_number() }
}

#[cfg(unix)]
fn user_number() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user_number() -> u32 {
    0
}

/// What would be installed, for people who install by hand.
fn text_of(with: SchedulerArg, job: &Job) -> anyhow::Result<String> {
    Ok(match with {
        SchedulerArg::Cron => with_job("", job)?,
        SchedulerArg::Systemd => format!("{}\n{}", service(job), timer(job)),
        SchedulerArg::Launchd => plist(job),
        SchedulerArg::Windows => helper_script(job)?,
    })
}

fn tell(output: &Output, is_json: bool, with: SchedulerArg, job: &Job) {
    if is_json {
        let value = json!({
            "ok": true, "scheduler": word(with), "at": job.at().to_string(), "project": job.project(),
            "argv": job.argv(),
        });
        output.line(&value.to_string());
    } else {
        output.line(&format!(
            "a night of {} runs every day at {} by {}",
            job.project().display(),
            job.at(),
            word(with)
        ));
    }
}

fn word(with: SchedulerArg) -> &'static str {
    match with {
        SchedulerArg::Cron => "cron",
        SchedulerArg::Systemd => "systemd",
        SchedulerArg::Launchd => "launchd",
        SchedulerArg::Windows => "the task scheduler",
    }
}

/// The arguments of the scheduled night: what was said to `schedule`, with absolute paths.
fn night_args(setup: &NightSetup, args: &CommonArgs, data_dir: &Path) -> Vec<String> {
    let mut out = vec!["sleep".to_owned(), "run".to_owned()];
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push(format!("{flag}={value}"));
        }
    };
    let path = |path: &Option<PathBuf>| {
        let absolute = path.as_ref().map(std::path::absolute).and_then(Result::ok);
        absolute.map(|path| path.display().to_string())
    };
    let count = |count: u32| (count > 0).then(|| count.to_string());
    add("--data-dir", path(&Some(data_dir.to_owned())));
    add("--project", Some(setup.project()));
    add("--scope", args.scope.map(|scope| super::scope_word(scope).to_owned()));
    add("--backend", args.backend.clone());
    add("--model", args.model.clone());
    add("--source", args.source.clone());
    add("--codex-path", path(&args.codex_path));
    add("--cursor-path", path(&args.cursor_path));
    add("--pi-path", path(&args.pi_path));
    add("--opencode-path", path(&args.opencode_path));
    add("--claude-home", path(&args.claude_home));
    add("--codex-home", path(&args.codex_home));
    add("--cursor-home", path(&args.cursor_home));
    add("--pi-home", path(&args.pi_home));
    add("--vscode-workspace-storage", path(&args.vscode_workspace_storage));
    add("--copilot-cli-session-store", path(&args.copilot_cli_session_store));
    add("--opencode-db", path(&args.opencode_db));
    add("--lookback-hours", args.lookback_hours.map(|hours| hours.to_string()));
    add("--edit-budget", count(args.edit_budget));
    add("--max-sessions", count(args.max_sessions));
    add("--max-tasks", count(args.max_tasks));
    let target = args.target_skill_path.as_ref();
    add("--target-skill-path", target.map(|path| path.display().to_string()));
    for root in &args.skill_roots {
        add("--skill-root", Some(root.display().to_string()));
    }
    add("--tasks-file", path(&args.tasks_file));
    add("--preferences", args.preferences.clone());
    add("--config", path(&args.config));
    for setting in &args.settings {
        add("--set", Some(setting.clone()));
    }
    for option in &args.cfg_options {
        add("--cfg-options", Some(option.clone()));
    }
    if args.opencode_tool_replay {
        out.push("--opencode-tool-replay".to_owned());
    }
    if args.auto_adopt {
        out.push("--auto-adopt".to_owned());
    }
    out
}
