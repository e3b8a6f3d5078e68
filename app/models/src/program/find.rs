//! Which program a backend needs, and where it is.

use skillopt_domain::config::{Agents, BackendKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that serves as a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramName {
    /// What it is called on PATH.
    pub name: &'static str,
    /// The config key that says where it is.
    pub key: &'static str,
    /// What a person does to log in.
    pub login: &'static str,
}

/// The program of a backend; `None` for backends that need none.
#[must_use]
pub fn program_of(kind: BackendKind) -> Option<ProgramName> {
    let program = |name, key, login| Some(ProgramName { name, key, login });
    match kind {
        BackendKind::ClaudeChat | BackendKind::ClaudeCodeExec => program(
            "claude",
            "model.claude_code_exec_path",
            "run `claude` and type /login, or set ANTHROPIC_API_KEY",
        ),
        BackendKind::CodexExec => {
            program("codex", "model.codex_exec_path", "run `codex login`, or set CODEX_API_KEY")
        }
        BackendKind::CursorExec => program(
            "cursor-agent",
            "model.cursor_exec_path",
            "run `cursor-agent login`, or set CURSOR_API_KEY",
        ),
        BackendKind::CopilotChat | BackendKind::CopilotExec => program(
            "copilot",
            "model.copilot_exec_path",
            "run `copilot login`, or set COPILOT_GITHUB_TOKEN",
        ),
        BackendKind::PiChat => program("pi", "model.pi_path", "run `pi` and type /login"),
        BackendKind::OpencodeChat => {
            program("opencode", "model.opencode_path", "run `opencode auth login`")
        }
        BackendKind::OpenaiChat
        | BackendKind::OpenaiCompatible
        | BackendKind::QwenChat
        | BackendKind::MinimaxChat
        | BackendKind::AnthropicMessages
        | BackendKind::Mock
        | BackendKind::Replay => None,
    }
}

/// The program is not where it was looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{looked}; install it, or say where it is in {key}")]
pub struct ProgramNotFound {
    /// The config key that says where it is.
    pub key: &'static str,
    looked: String,
}

/// Where the program of a backend is: what the config says, else the first one on PATH. `None` for backends that need
/// no program. Starts nothing.
///
/// # Errors
/// [`ProgramNotFound`] says what was looked for, and where.
pub fn find_program(
    kind: BackendKind,
    agents: &Agents,
    env: &BTreeMap<String, String>,
) -> Option<Result<PathBuf, ProgramNotFound>> {
    let program = program_of(kind)?;
    let wanted = match wanted_path(kind, agents).trim() {
        "" => program.name,
        path => path,
    };
    let missing = |looked| ProgramNotFound { key: program.key, looked };
    let path = expanded(wanted, env);
    if path.components().count() > 1 || path.is_absolute() {
        let path = std::path::absolute(&path).unwrap_or(path);
        let looked = || format!("{} is no program that can be run", path.display());
        return Some(if is_program(&path) { Ok(path) } else { Err(missing(looked())) });
    }
    let folders = env.get("PATH").map(String::as_str).unwrap_or_default();
    let found = folders_of(folders).flat_map(|folder| candidates(&folder, wanted));
    let looked = || match folders {
        "" => format!("`{wanted}` was not found: PATH is empty"),
        folders => format!("`{wanted}` was not found in the folders of PATH ({folders})"),
    };
    Some(found.into_iter().find(|path| is_program(path)).ok_or_else(|| missing(looked())))
}

fn wanted_path(kind: BackendKind, agents: &Agents) -> &str {
    match kind {
        BackendKind::ClaudeChat | BackendKind::ClaudeCodeExec => &agents.claude.path,
        BackendKind::CodexExec => &agents.codex.path,
        BackendKind::CursorExec => &agents.cursor.path,
        BackendKind::CopilotChat | BackendKind::CopilotExec => &agents.copilot.path,
        BackendKind::PiChat => &agents.pi_path,
        BackendKind::OpencodeChat => &agents.opencode_path,
        _ => "",
    }
}

fn expanded(path: &str, env: &BTreeMap<String, String>) -> PathBuf {
    match (path.strip_prefix("~/"), env.get("HOME")) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// A relative folder on PATH would make what runs depend on where we stand.
fn folders_of(path: &str) -> impl Iterator<Item = PathBuf> + '_ {
    std::env::split_paths(path).filter(|folder| folder.is_absolute())
}

#[cfg(not(windows))]
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    vec![folder.join(name)]
}

#[cfg(windows)]
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    ["", ".exe", ".cmd", ".bat"].iter().map(|end| folder.join(format!("{name}{end}"))).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let meta = std::fs::metadata(path);
    meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
