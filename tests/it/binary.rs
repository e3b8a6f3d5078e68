//! The `skillopt` binary as a person runs it: arguments in, exit code and text out.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Path of the binary: `SKILLOPT_BIN`, or the one beside the tests, built when it is not there.
pub(crate) fn skillopt() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("SKILLOPT_BIN") {
            return path.into();
        }
        let tests = std::env::current_exe().expect("a test has a path");
        let profile = tests.ancestors().nth(2).expect("tests lie in <target>/<profile>/deps");
        let path = profile.join("skillopt");
        if !path.exists() {
            let built = Command::new(env!("CARGO"))
                .args(["build", "--package", "skillopt-server", "--bin", "skillopt"])
                .current_dir(root())
                .status();
            assert!(built.is_ok_and(|status| status.success()), "the binary could not be built");
        }
        path
    })
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A command of the binary with its own data directory and a clean environment.
pub(crate) fn command(data_dir: &Path) -> Command {
    let mut command = Command::new(skillopt());
    command.current_dir(root()).env_clear().env("HOME", data_dir).arg("--data-dir").arg(data_dir);
    command
}

/// What a finished command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// The JSON object in the last line of the output.
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        let line = self.out.lines().last().unwrap_or_default();
        serde_json::from_str(line)
            .with_context(|| format!("no JSON in {line:?}; stderr: {}", self.err))
    }
}

/// Runs `skillopt train` to its end.
pub(crate) fn train(data_dir: &Path, arguments: &[&str]) -> anyhow::Result<Said> {
    let output =
        command(data_dir).arg("train").args(arguments).output().context("running skillopt")?;
    Ok(output.into())
}

/// The history of a run folder without times and spend, which depend on the machine.
pub(crate) fn history(out_root: &Path) -> anyhow::Result<Value> {
    let path = out_root.join("history.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut rows: Value = serde_json::from_str(&text)?;
    let list = rows.as_array_mut().context("history is a list")?;
    ensure!(!list.is_empty(), "history is empty");
    for row in list {
        let row = row.as_object_mut().context("a row is an object")?;
        for key in ["timing", "tokens", "wall_time_s"] {
            row.remove(key);
        }
    }
    Ok(rows)
}
