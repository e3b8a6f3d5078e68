//! `skillopt sleep`: nights from the command line, with the JSON shapes and exit codes of the reference system.

pub(super) mod args;
mod decide;
mod experiment;
mod forecast;
mod harvest;
mod night;
mod report;
mod schedule;
mod status;
mod waits;

use super::Exit;
use super::output::Output;
use crate::causes::causes;
use crate::config::Environment;
use crate::sleep::{NightOrder, NightSetup, OrderError, key};
use args::{CommonArgs, ScopeArg, SleepArgs, SleepCommand};
use serde_json::{Value, json};
use skillopt_sleep::config::Override;
use std::path::Path;

pub(super) async fn run(args: SleepArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let is_json = args.command.common().json;
    match dispatch(args, data_dir, output).await {
        // One document is the only output, also for what nobody foresaw.
        Err(err) if is_json => {
            refuse(output, true, "failed", &causes(&*err));
            Ok(Exit::Failed)
        }
        done => done,
    }
}

async fn dispatch(args: SleepArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let env = Environment::of_process(data_dir);
    match args.command {
        SleepCommand::Run(args) => {
            night::run(&args.common, night::Kept::All, (data_dir, env), output).await
        }
        SleepCommand::DryRun(args) => {
            night::run(&args.common, night::Kept::Nothing, (data_dir, env), output).await
        }
        SleepCommand::Status(args) => status::status(&args.common, &env, output),
        SleepCommand::Nights(args) => status::nights(&args.common, &env, output),
        SleepCommand::Diff(args) => status::diff(&args, &env, output),
        SleepCommand::Harvest(args) => harvest::run(&args, &env, output),
        SleepCommand::Adopt(args) => decide::adopt(&args, (data_dir, env), output).await,
        SleepCommand::Reject(args) => decide::reject(&args, (data_dir, env), output).await,
        SleepCommand::Reopen(args) => decide::reopen(&args, (data_dir, env), output).await,
        SleepCommand::Revert(args) => decide::revert(&args, (data_dir, env), output).await,
        SleepCommand::Schedule(args) => schedule::schedule(&args, (data_dir, &env), output).await,
        SleepCommand::Unschedule(args) => {
            schedule::unschedule(&args, (data_dir, &env), output).await
        }
        SleepCommand::Experiment(args) => experiment::run(&args, (data_dir, env), output).await,
    }
}

/// The settings that the common flags, the files and the environment come to.
fn setup(args: &CommonArgs, env: &Environment) -> Result<NightSetup, OrderError> {
    NightSetup::read(&order(args)?, env)
}

/// What the common flags ask of a night.
fn order(args: &CommonArgs) -> Result<NightOrder, OrderError> {
    let mut keys: Vec<Override> = Vec::new();
    let mut set = |flag: &str, name: &str, value: Option<Value>| {
        keys.extend(value.map(|value| key(flag, name, value)));
    };
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| json!(path));
    // Kept with the night, and read again by programs that were started elsewhere.
    let place = |path: &Option<std::path::PathBuf>| {
        path.as_ref().map(|path| json!(std::path::absolute(path).unwrap_or_else(|_| path.clone())))
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    let count = |count: u32| (count > 0).then(|| json!(count));
    set("--scope", "projects", args.scope.map(|scope| json!(scope_word(scope))));
    set("--backend", "backend", text(&args.backend));
    set("--model", "model", text(&args.model));
    set("--codex-path", "codex_path", path(&args.codex_path));
    set("--cursor-path", "cursor_path", path(&args.cursor_path));
    set("--pi-path", "pi_path", path(&args.pi_path));
    set("--opencode-path", "opencode_path", path(&args.opencode_path));
    set(
        "--opencode-tool-replay",
        "opencode_tool_replay",
        args.opencode_tool_replay.then(|| json!(true)),
    );
    set("--claude-home", "claude_home", place(&args.claude_home));
    set("--codex-home", "codex_home", place(&args.codex_home));
    set("--cursor-home", "cursor_home", place(&args.cursor_home));
    set("--pi-home", "pi_home", place(&args.pi_home));
    set("--source", "transcript_source", text(&args.source));
    set(
        "--vscode-workspace-storage",
        "vscode_workspace_storage",
        place(&args.vscode_workspace_storage),
    );
    set(
        "--copilot-cli-session-store",
        "copilot_cli_session_store",
        place(&args.copilot_cli_session_store),
    );
    set("--opencode-db", "opencode_db", place(&args.opencode_db));
    set("--lookback-hours", "lookback_hours", args.lookback_hours.map(|hours| json!(hours)));
    set("--edit-budget", "edit_budget", count(args.edit_budget));
    set("--max-sessions", "max_sessions_per_night", count(args.max_sessions));
    set("--max-tasks", "max_tasks_per_night", count(args.max_tasks));
    set("--target-skill-path", "target_skill_path", path(&args.target_skill_path));
    set(
        "--skill-root",
        "skill_roots",
        (!args.skill_roots.is_empty()).then(|| json!(args.skill_roots)),
    );
    set("--progress", "progress", args.progress.then(|| json!(true)));
    set("--auto-adopt", "auto_adopt", args.auto_adopt.then(|| json!(true)));
    set("--preferences", "preferences", text(&args.preferences));
    if let Some(home) = &args.claude_home {
        // As in the reference system: another home of the agent is another state of nights.
        let home = std::path::absolute(home).unwrap_or_else(|_| home.clone());
        let beside = home.parent().unwrap_or(Path::new(".")).join(".skillopt-sleep");
        set("--claude-home", "state_dir", Some(json!(beside)));
    }
    for setting in &args.settings {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| OrderError::Flag(format!("--set {setting}: expected KEY=VALUE")))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        set(&format!("--set {name}"), name.trim(), Some(value));
    }
    Ok(NightOrder { project: args.project.clone(), config_file: args.config.clone(), keys })
}

fn scope_word(scope: ScopeArg) -> &'static str {
    match scope {
        ScopeArg::All => "all",
        ScopeArg::Invoked => "invoked",
    }
}

/// Says what is wrong with what was asked: as the one JSON document, or on standard error.
fn refuse(output: &Output, is_json: bool, word: &str, message: &str) -> Exit {
    if is_json {
        output.line(&json!({"ok": false, "error": word, "message": message}).to_string());
    } else {
        output.error(message);
    }
    Exit::Usage
}

fn refuse_order(output: &Output, is_json: bool, err: &OrderError) -> Exit {
    refuse(output, is_json, "bad_config", &err.to_string())
}

#[cfg(test)]
mod tests;
