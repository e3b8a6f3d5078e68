//! `sleep schedule` and `sleep unschedule`: a night every day, by the clock of this system or by that of the server. All
//! options of the night go with it.

mod list;
mod server;

use super::args::{CommonArgs, ScheduleArgs, SchedulerArg, UnscheduleArgs};
use super::{refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::sleep::{NightSetup, system_clocks};
use anyhow::Context;
use serde_json::{Value, json};
use skillopt_sleep::schedule::{
    At, InstallError, Job, SystemCommands, Which, Windows, helper_script, install_crontab, plist,
    service, timer, uninstall_crontab, with_job,
};
use std::path::{Path, PathBuf};

/// How far a command came.
enum Step {
    /// All is said.
    Over(Exit),
    /// It is installed, which is still to be told.
    Installed {
        /// For people.
        words: String,
        /// For programs.
        value: Value,
    },
}

pub(super) async fn schedule(
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
    if args.list {
        list::of(&setup, data_dir, env).await?.tell(common.json, output);
        return Ok(Exit::Done);
    }
    let with = args.with.unwrap_or_else(usual);
    let step = match with {
        SchedulerArg::Server => server::schedule(args, &setup, data_dir, output).await?,
        with if args.zone.is_some() => {
            let words = "--zone needs --with server";
            let words = format!("{words}: {} goes by the clock of the machine", word(with));
            return Ok(refuse(output, common.json, "cannot_schedule", &words));
        }
        with => by_system(args, with, (&setup, data_dir, env), output)?,
    };
    let (words, mut value) = match step {
        Step::Over(exit) => return Ok(exit),
        Step::Installed { words, value } => (words, value),
    };
    let listed = list::of(&setup, data_dir, env).await?;
    if common.json {
        listed.add_to(&mut value);
        output.line(&value.to_string());
    } else {
        output.line(&words);
        listed.tell(false, output);
    }
    Ok(Exit::Done)
}

fn by_system(
    args: &ScheduleArgs,
    with: SchedulerArg,
    (setup, data_dir, env): (&NightSetup, &Path, &Environment),
    output: &Output,
) -> anyhow::Result<Step> {
    let common = &args.common;
    let program = std::env::current_exe().context("finding this program")?;
    let at = At::new(args.hour.into(), args.minute.into())?;
    let words = night_args(setup, common, data_dir);
    let job = match Job::new(&setup.config.invoked_project, &program, words, at) {
        Ok(job) => job,
        Err(err) => {
            let exit = refuse(output, common.json, "cannot_schedule", &err.to_string());
            return Ok(Step::Over(exit));
        }
    };
    let mut value = json!({
        "ok": true, "scheduler": word(with), "at": job.at().to_string(), "project": job.project(),
        "argv": job.argv(),
    });
    if args.print {
        let mut text = text_of(with, &job)?;
        if common.json {
            value["text"] = json!(text);
            text = value.to_string();
        }
        output.line(&text);
        return Ok(Step::Over(Exit::Done));
    }
    if let Err(err) = install(with, &job, setup, env) {
        refuse(output, common.json, "schedule_failed", &told(with, &err));
        if !common.json {
            output.line(&text_of(with, &job)?);
        }
        return Ok(Step::Over(Exit::Failed));
    }
    let project = job.project().display();
    let words = format!("a night of {project} runs every day at {} by {}", job.at(), word(with));
    Ok(Step::Installed { words, value })
}

pub(super) async fn unschedule(
    args: &UnscheduleArgs,
    (data_dir, env): (&Path, &Environment),
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
    let is_any = args.with.is_none();
    let n_of_server = match args.with {
        None | Some(SchedulerArg::Server) => server::unschedule(&which, data_dir).await?,
        Some(_) => 0,
    };
    let with = args.with.unwrap_or_else(usual);
    let done = uninstall(with, &which, &setup, env);
    match done {
        // Where the server was the only clock, there need not be another one.
        Err(InstallError::NoProgram { .. }) if is_any && n_of_server > 0 => {}
        Err(err) => {
            refuse(output, common.json, "schedule_failed", &told(with, &err));
            return Ok(Exit::Failed);
        }
        Ok(()) => {}
    }
    match (common.json, args.with) {
        (true, _) => output.line(&json!({"ok": true}).to_string()),
        (false, Some(SchedulerArg::Server)) => {
            output.line("the server runs no night here any more");
        }
        (false, _) => output.line("no night is scheduled here any more"),
    }
    Ok(Exit::Done)
}

/// Why it failed, and which clocks there are where this one is missing.
fn told(with: SchedulerArg, err: &InstallError) -> String {
    let others = match (with, err) {
        (SchedulerArg::Cron, InstallError::NoProgram { .. }) => {
            "; name another clock: `--with systemd`, or `--with server` for nights of `skillopt serve`"
        }
        (_, InstallError::NoProgram { .. }) => {
            "; name another clock: `--with server` for nights of `skillopt serve`"
        }
        _ => "",
    };
    format!("{err}{others}")
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
    let clocks = system_clocks(&setup.home, env);
    match with {
        SchedulerArg::Cron => {
            install_crontab(job, &setup.config.state_dir, &SystemCommands::CHANGING)
        }
        SchedulerArg::Systemd => clocks.systemd.install(job, &SystemCommands::CHANGING),
        SchedulerArg::Launchd => clocks.launchd.install(job, &SystemCommands::CHANGING),
        SchedulerArg::Windows => Windows.install(job, &SystemCommands::CHANGING),
        // Not of this system: its schedules are rows in the store.
        SchedulerArg::Server => Ok(()),
    }
}

fn uninstall(
    with: SchedulerArg,
    which: &Which,
    setup: &NightSetup,
    env: &Environment,
) -> Result<(), InstallError> {
    let clocks = system_clocks(&setup.home, env);
    match with {
        SchedulerArg::Cron => {
            uninstall_crontab(which, &setup.config.state_dir, &SystemCommands::CHANGING)
        }
        SchedulerArg::Systemd => {
            clocks.systemd.uninstall(which, &SystemCommands::CHANGING).map(drop)
        }
        SchedulerArg::Launchd => {
            clocks.launchd.uninstall(which, &SystemCommands::CHANGING).map(drop)
        }
        SchedulerArg::Windows => Windows.uninstall(which, &SystemCommands::CHANGING).map(drop),
        SchedulerArg::Server => Ok(()),
    }
}

/// What would be installed, for people who install by hand.
fn text_of(with: SchedulerArg, job: &Job) -> anyhow::Result<String> {
    Ok(match with {
        SchedulerArg::Cron => with_job("", job)?,
        SchedulerArg::Systemd => format!("{}\n{}", service(job), timer(job)),
        SchedulerArg::Launchd => plist(job),
        SchedulerArg::Windows => helper_script(job)?,
        SchedulerArg::Server => String::new(),
    })
}

fn word(with: SchedulerArg) -> &'static str {
    match with {
        SchedulerArg::Cron => "cron",
        SchedulerArg::Systemd => "systemd",
        SchedulerArg::Launchd => "launchd",
        SchedulerArg::Windows => "the task scheduler",
        SchedulerArg::Server => "the server",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_clock_is_missing_others_are_named() {
        let missing = InstallError::NoProgram {
            program: "crontab".to_owned(),
            reason: std::io::ErrorKind::NotFound.into(),
        };
        let text = told(SchedulerArg::Cron, &missing);
        assert!(text.contains("--with systemd") && text.contains("--with server"), "{text}");
        let text = told(SchedulerArg::Systemd, &missing);
        assert!(text.contains("--with server") && !text.contains("--with systemd"), "{text}");
        let refused = InstallError::NotOurs("/unit".into());
        assert_eq!(told(SchedulerArg::Cron, &refused), refused.to_string());
    }
}
