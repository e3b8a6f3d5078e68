//! Commands by the very file that this process runs from: no shell, no search on PATH.

use super::commands::{CommandLine, Commands, Finished, Length};
use async_trait::async_trait;
use skillopt_models::{CommandEnd, CommandRun, run_command};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Commands of each length at the same time; more of them wait.
const MOST_AT_ONCE: usize = 4;
/// A night or a run stores where it is before it ends.
const GRACE: Duration = Duration::from_secs(10);

/// Our own program with what all of its commands share.
#[derive(Debug)]
pub(crate) struct OwnProgram {
    program: Result<PathBuf, String>,
    /// Stands before the arguments of every command.
    first: Vec<String>,
    folder: PathBuf,
    env: Vec<(String, String)>,
    long: Semaphore,
    short: Semaphore,
    stop: CancellationToken,
    at_work: TaskTracker,
}

impl OwnProgram {
    /// The program of this process, with its environment and its folder. Commands end when `stop` fires.
    pub(crate) fn of_process(data_dir: &Path, stop: CancellationToken) -> Self {
        let text = |name: std::ffi::OsString| name.into_string().ok();
        let pairs =
            std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        let data_dir = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
        Self {
            program: std::env::current_exe().map_err(|err| err.to_string()),
            first: vec![format!("--data-dir={}", data_dir.display())],
            folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            env: pairs.collect(),
            long: Semaphore::new(MOST_AT_ONCE),
            short: Semaphore::new(MOST_AT_ONCE),
            stop,
            at_work: TaskTracker::new(),
        }
    }

    /// Ends all commands and waits for them.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.at_work.close();
        self.at_work.wait().await;
    }

    async fn finish(&self, line: CommandLine, cancel: &CancellationToken) -> Finished {
        let program = match &self.program {
            Ok(program) => program,
            Err(err) => return not_started(&format!("cannot find the program itself: {err}")),
        };
        let mut arguments = self.first.clone();
        arguments.extend(line.arguments);
        let run = CommandRun {
            program,
            arguments: &arguments,
            env: &self.env,
            folder: line.folder.as_deref().unwrap_or(&self.folder),
            time_limit: line.time_limit,
            grace: GRACE,
        };
        let (end, stdout, stderr) = match run_command(run, cancel).await {
            Ok(ended) => ended,
            Err(err) => return not_started(&format!("cannot start the command: {err}")),
        };
        let (exit_code, why) = match end {
            CommandEnd::Exited(Some(code)) => (Some(code), String::new()),
            CommandEnd::Exited(None) => (None, "a signal ended the command".to_owned()),
            CommandEnd::TimedOut => {
                let minutes = line.time_limit.as_secs() / 60;
                (None, format!("the command did not end within {minutes} minutes and was ended"))
            }
            CommandEnd::TooMuch => (None, "the command wrote too much and was ended".to_owned()),
            CommandEnd::Cancelled => (None, "the command was cancelled".to_owned()),
        };
        let stderr = [stderr.trim_end(), why.as_str()];
        let stderr: Vec<&str> = stderr.into_iter().filter(|text| !text.is_empty()).collect();
        Finished {
            exit_code,
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: stderr.join("\n"),
        }
    }
}

#[async_trait]
impl Commands for OwnProgram {
    async fn run(&self, line: CommandLine, cancel: &CancellationToken) -> Finished {
        let _at_work = self.at_work.token();
        // One token for both: a client that cancels, and a server that stops.
        let either = self.stop.child_token();
        let places = match line.length {
            Length::Short => &self.short,
            Length::Long => &self.long,
        };
        let work = async {
            let place = tokio::select! {
                place = places.acquire() => place,
                () = either.cancelled() => return not_started("the command was cancelled"),
            };
            let _place = place;
            self.finish(line, &either).await
        };
        tokio::pin!(work);
        tokio::select! {
            finished = &mut work => return finished,
            () = cancel.cancelled() => either.cancel(),
        }
        work.await
    }
}

fn not_started(why: &str) -> Finished {
    Finished { exit_code: None, stdout: String::new(), stderr: why.to_owned() }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn program(path: &str) -> OwnProgram {
        let mut own = OwnProgram::of_process(Path::new("data"), CancellationToken::new());
        own.program = Ok(PathBuf::from(path));
        own
    }

    fn line(arguments: &[&str]) -> CommandLine {
        CommandLine {
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            folder: None,
            time_limit: Duration::from_secs(60),
            length: Length::Short,
        }
    }

    #[tokio::test]
    async fn arguments_reach_the_program_as_they_are_behind_the_data_directory() {
        let own = program("/bin/echo");
        let odd = "--project=$(touch x); `id` \"'";
        let finished = own.run(line(&["sleep", odd]), &CancellationToken::new()).await;
        assert_eq!(finished.exit_code, Some(0));
        let data_dir = std::path::absolute("data").expect("a path");
        let expect = format!("--data-dir={} sleep {odd}\n", data_dir.display());
        assert_eq!(finished.stdout, expect);
    }

    #[tokio::test]
    async fn a_program_that_is_gone_is_told() {
        let own = program("/no/such/program");
        let finished = own.run(line(&[]), &CancellationToken::new()).await;
        assert_eq!(finished.exit_code, None);
        assert!(finished.stderr.starts_with("cannot start the command"), "{}", finished.stderr);
    }

    #[tokio::test]
    async fn a_short_command_waits_for_no_long_one() {
        let own = OwnProgram { first: Vec::new(), ..program("/bin/sleep") };
        let (never, cancel) = (CancellationToken::new(), CancellationToken::new());
        let long = || CommandLine { length: Length::Long, ..line(&["600"]) };
        let nights =
            futures::future::join_all((0..MOST_AT_ONCE + 1).map(|_| own.run(long(), &cancel)));
        let short = async {
            // The nights are begun, and one of them waits for a place.
            tokio::task::yield_now().await;
            assert_eq!(own.long.available_permits(), 0);
            let finished = own.run(line(&["0"]), &never).await;
            cancel.cancel();
            finished
        };
        let (nights, finished) = tokio::join!(nights, short);
        assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
        assert!(nights.iter().all(|night| night.exit_code.is_none()));
    }

    #[tokio::test]
    async fn closing_ends_what_is_at_work() {
        let own = OwnProgram { first: Vec::new(), ..program("/bin/sleep") };
        let never = CancellationToken::new();
        let (finished, ()) = tokio::join!(own.run(line(&["600"]), &never), async {
            tokio::task::yield_now().await;
            own.close().await;
        });
        assert_eq!(finished.exit_code, None);
        assert!(finished.stderr.contains("cancelled"), "{}", finished.stderr);
    }
}
