//! Runs a command that is no model: in a folder of the caller's, with an environment of the caller's, within a time,
//! and ended with all that it started. What it wrote is given back as it is.

use super::process::{self, End, Launch};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Marks the processes of one command. It says nothing to the command itself.
const MARK: &str = "SKILLOPT_COMMAND";

/// A command and its limits.
#[derive(Debug)]
pub struct CommandRun<'a> {
    /// The program; started without a shell.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// All that it gets to see of the environment.
    pub env: &'a [(String, String)],
    /// Where it works.
    pub folder: &'a Path,
    /// How long it may take.
    pub time_limit: Duration,
    /// How long it may take to end by itself after it was told to.
    pub grace: Duration,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this code; `None` when a signal ended it.
    Exited(Option<i32>),
    /// Its time was over.
    TimedOut,
    /// It wrote more than is read.
    TooMuch,
    /// It was cancelled.
    Cancelled,
}

/// Runs it to its end. Gives how it ended, all of its output, and the last of what it wrote to stderr. Safe to drop:
/// everything that it started is killed then.
///
/// # Errors
/// It cannot be started.
pub async fn run_command(
    run: CommandRun<'_>,
    cancel: &CancellationToken,
) -> io::Result<(CommandEnd, Vec<u8>, String)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let launch = Launch {
        program: run.program,
        arguments: run.arguments,
        env: run.env,
        mark: (MARK, &mark),
        folder: run.folder,
        input: String::new(),
        time_limit: run.time_limit,
        grace: run.grace,
    };
    let mut output = Vec::new();
    let ended = process::run(launch, cancel, |line| output.extend_from_slice(line)).await?;
    let end = match ended.end {
        End::Exited(status) => CommandEnd::Exited(status.code()),
        End::TimedOut => CommandEnd::TimedOut,
        End::TooMuch => CommandEnd::TooMuch,
        End::Cancelled => CommandEnd::Cancelled,
    };
    Ok((end, output, ended.stderr))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn sh(script: &str, time_limit: Duration, cancel: &CancellationToken) -> CommandEnd {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["-c".to_owned(), script.to_owned()];
        let run = CommandRun {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            env: &[],
            folder: folder.path(),
            time_limit,
            grace: Duration::from_secs(2),
        };
        run_command(run, cancel).await.expect("started").0
    }

    #[tokio::test]
    async fn code_output_and_errors_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["-c".to_owned(), "echo out; echo err >&2; exit 3".to_owned()];
        let run = CommandRun {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            env: &[],
            folder: folder.path(),
            time_limit: Duration::from_secs(60),
            grace: Duration::from_secs(2),
        };
        let (end, output, stderr) =
            run_command(run, &CancellationToken::new()).await.expect("started");
        assert_eq!(end, CommandEnd::Exited(Some(3)));
        assert_eq!((output.as_slice(), stderr.as_str()), (&b"out\n"[..], "err\n"));
    }

    #[tokio::test]
    async fn a_command_past_its_time_and_a_cancelled_one_are_ended() {
        let never = CancellationToken::new();
        let end = sh("exec /bin/sleep 600", Duration::from_millis(50), &never).await;
        assert_eq!(end, CommandEnd::TimedOut);
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let end = sh("exec /bin/sleep 600", Duration::from_secs(600), &cancelled).await;
        assert_eq!(end, CommandEnd::Cancelled);
    }
}
