//! Runs a program that is no model, such as one that signs in: in an empty folder, within a time, and ended with all that it
//! started.

use super::folder::Folder;
use super::process::{self, End, Launch};
use skillopt_domain::own_call::VARIABLE;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What it wrote; an error says why there is nothing to read. Safe to drop.
pub(crate) async fn output_of(
    program: &Path,
    arguments: &[String],
    env: &[(String, String)],
    time_limit: Duration,
) -> Result<Vec<u8>, String> {
    let folder = Folder::new().map_err(|err| format!("cannot make a folder: {err}"))?;
    let mark = folder.name();
    let launch = Launch {
        program,
        arguments,
        env,
        mark: (VARIABLE, &mark),
        folder: folder.work(),
        input: String::new(),
        time_limit,
    };
    let mut output = Vec::new();
    let ended =
        process::run(launch, &CancellationToken::new(), |line| output.extend_from_slice(line))
            .await
            .map_err(|err| format!("cannot run {}: {err}", program.display()))?;
    match ended.end {
        End::Exited(status) if status.success() => Ok(output),
        End::Exited(status) => Err(format!("{status}: {}", ended.stderr.trim())),
        End::TimedOut => Err(format!("no end within {} s", time_limit.as_secs())),
        End::TooMuch => Err("it wrote too much".to_owned()),
        End::Cancelled => Err("it was cancelled".to_owned()),
    }
}
