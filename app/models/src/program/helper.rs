//! Runs a program that is no model, such as one that signs in: in an empty folder, within a time, and ended with all that it
//! started.

use super::folder::Folder;
use super::process::{self, End, Launch};
use super::tree::GRACE;
use skillopt_domain::own_call::VARIABLE;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Why there is nothing to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoOutput {
    /// The machine could not start it now and may do so later.
    #[error("cannot run {0}")]
    NotNow(String),
    /// It cannot be run.
    #[error("cannot run {0}")]
    NotRunnable(String),
    /// It ended with a failure, in its words.
    #[error("{0}")]
    Failed(String),
    /// It was ended, because it took longer than this.
    #[error("no end within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// What it wrote is no answer.
    #[error("it wrote too much")]
    TooMuch,
}

/// What it wrote. Safe to drop.
///
/// # Errors
/// [`NoOutput`] when there is nothing to read.
pub(crate) async fn output_of(
    program: &Path,
    arguments: &[String],
    env: &[(String, String)],
    time_limit: Duration,
) -> Result<Vec<u8>, NoOutput> {
    let not_started = |err: &std::io::Error| {
        let words = format!("{}: {err}", program.display());
        if is_passing(err) { NoOutput::NotNow(words) } else { NoOutput::NotRunnable(words) }
    };
    let folder = Folder::new().map_err(|err| not_started(&err))?;
    let mark = folder.name();
    let launch = Launch {
        program,
        arguments,
        env,
        mark: (VARIABLE, &mark),
        folder: folder.work(),
        input: String::new(),
        time_limit,
        grace: GRACE,
    };
    let mut output = Vec::new();
    // Never cancelled: who asked drops this.
    let never = CancellationToken::new();
    let ended = process::run(launch, &never, |line| output.extend_from_slice(line))
        .await
        .map_err(|err| not_started(&err))?;
    match ended.end {
        End::Exited(status) if status.success() => Ok(output),
        End::Exited(status) => Err(NoOutput::Failed(format!("{status}: {}", ended.stderr.trim()))),
        End::TimedOut | End::Cancelled => Err(NoOutput::TimedOut(time_limit)),
        End::TooMuch => Err(NoOutput::TooMuch),
    }
}

/// The program is being replaced, or the machine is full for now.
pub(super) fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ExecutableFileBusy
            | ErrorKind::WouldBlock
            | ErrorKind::OutOfMemory
            | ErrorKind::StorageFull
    )
}
