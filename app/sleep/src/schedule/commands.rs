//! Running the programs of the system's clocks, and nothing else. None of them is waited for without end.

use super::InstallError;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The longest listing that is read, in bytes. One that was cut would count as a whole one.
const MAX_LISTING_BYTES: usize = 1 << 20;
/// The most of a program's complaints that is read, in bytes.
const MAX_WORDS_BYTES: usize = 64 << 10;
/// A program that was killed and does not end even so is left to the system.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a program with arguments, without a shell.
pub trait Commands {
    /// Runs it to its end; `stdin` is all that it can read.
    ///
    /// # Errors
    /// What the operating system says when it cannot be started; [`ErrorKind::TimedOut`] when it does not end in time;
    /// [`ErrorKind::FileTooLarge`] when it writes more than a listing has.
    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> io::Result<Output>;
}

/// What a program left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// It ended well.
    pub is_success: bool,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained about; of long complaints the beginning, with a word that there was more.
    pub stderr: String,
}

/// The programs of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemCommands {
    patience: Duration,
}

impl SystemCommands {
    /// To look at what is installed: a page waits for the answer.
    pub const LOOKING: Self = Self { patience: Duration::from_secs(5) };
    /// To change it.
    pub const CHANGING: Self = Self { patience: Duration::from_secs(60) };
}

impl Commands for SystemCommands {
    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> io::Result<Output> {
        // Files, not pipes: a full pipe holds up who writes, and a child that it leaves behind would hold one open.
        let dir = std::env::temp_dir();
        let (mut said, mut complained, mut told) = (scratch(&dir)?, scratch(&dir)?, scratch(&dir)?);
        told.write_all(stdin)?;
        told.rewind()?;
        let mut child = Command::new(program)
            .args(args)
            // What it says is compared with what it says in English.
            .env("LC_ALL", "C")
            .stdin(told)
            .stdout(said.try_clone()?)
            .stderr(complained.try_clone()?)
            .spawn()?;
        let status = self.wait(&mut child)?;
        Ok(Output {
            is_success: status.success(),
            stdout: listing_in(&mut said)?,
            stderr: words_in(&mut complained)?,
        })
    }
}

impl SystemCommands {
    fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        if let Some(status) = ended(child, self.patience)? {
            return Ok(status);
        }
        // Whether it can be killed changes nothing: it gave no answer.
        let _ = child.kill().and_then(|()| ended(child, GRACE));
        let words = format!("no answer within {} seconds", self.patience.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, words))
    }
}

/// How a program ended, if it did so soon enough.
fn ended(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            None if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            ended => return Ok(ended),
        }
    }
}

/// A file without a name. That there can be none is something else than that a program is not there.
fn scratch(dir: &Path) -> io::Result<File> {
    let words =
        |err: io::Error| format!("no temporary file can be made in {}: {err}", dir.display());
    tempfile::tempfile_in(dir).map_err(|err| io::Error::other(words(err)))
}

fn listing_in(file: &mut File) -> io::Result<Vec<u8>> {
    let (bytes, is_whole) = start_of(file, MAX_LISTING_BYTES)?;
    if is_whole {
        return Ok(bytes);
    }
    let words = format!("more than {MAX_LISTING_BYTES} bytes");
    Err(io::Error::new(ErrorKind::FileTooLarge, words))
}

fn words_in(file: &mut File) -> io::Result<String> {
    let (bytes, is_whole) = start_of(file, MAX_WORDS_BYTES)?;
    let words = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok(if is_whole { words } else { words + " … (cut)" })
}

/// What stands in a file, up to so many bytes, and whether that is all of it.
fn start_of(file: &mut File, most: usize) -> io::Result<(Vec<u8>, bool)> {
    file.rewind()?;
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() <= most;
    bytes.truncate(most);
    Ok((bytes, is_whole))
}

/// Runs a program that has to end well.
pub(super) fn must(
    commands: &dyn Commands,
    program: &str,
    args: &[&str],
) -> Result<Output, InstallError> {
    let output = commands.run(program, args, b"").map_err(not_run(program, args))?;
    match output.is_success {
        true => Ok(output),
        false => Err(InstallError::Refused { program: shown(program, args), words: output.stderr }),
    }
}

/// Why a program has no output.
pub(super) fn not_run(program: &str, args: &[&str]) -> impl FnOnce(io::Error) -> InstallError {
    let (name, shown) = (program.to_owned(), shown(program, args));
    move |reason| match reason.kind() {
        ErrorKind::TimedOut => InstallError::NoAnswer { program: shown, reason },
        ErrorKind::FileTooLarge => InstallError::LongAnswer { program: shown, reason },
        _ => InstallError::NoProgram { program: name, reason },
    }
}

fn shown(program: &str, args: &[&str]) -> String {
    std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_its_input_and_gives_its_output_however_long_both_are() {
        let long = vec![b'x'; MAX_LISTING_BYTES];
        let script = "cat; echo ' oh ' >&2; exit 3";
        let output = SystemCommands::CHANGING.run("/bin/sh", &["-c", script], &long).unwrap();
        assert!(!output.is_success && output.stdout == long);
        assert_eq!(output.stderr, "oh");
    }

    #[test]
    fn what_a_program_writes_without_end_is_no_listing_and_complaints_are_cut() {
        let too_long = "head -c 1048577 /dev/zero";
        let err = must(&SystemCommands::CHANGING, "/bin/sh", &["-c", too_long]).unwrap_err();
        assert!(matches!(err, InstallError::LongAnswer { .. }), "{err}");
        assert!(err.to_string().contains("more than 1048576 bytes"), "{err}");
        let script = "head -c 70000 /dev/zero | tr '\\0' x >&2";
        let output = SystemCommands::CHANGING.run("/bin/sh", &["-c", script], b"").unwrap();
        let cut = format!("{} … (cut)", "x".repeat(MAX_WORDS_BYTES));
        assert!(output.stderr == cut, "{} bytes", output.stderr.len());
    }

    #[test]
    fn without_a_folder_for_temporary_files_no_program_counts_as_missing() {
        let err = scratch(Path::new("/no/such/folder")).unwrap_err();
        assert_ne!(err.kind(), ErrorKind::NotFound);
        assert!(err.to_string().contains("/no/such/folder: "), "{err}");
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_told_apart_from_one_that_is_not_there() {
        let began = Instant::now();
        let hasty = SystemCommands { patience: Duration::from_millis(50) };
        // The shell becomes the program, so that nothing is left when it is ended.
        let args = ["-c", "exec sleep 60"];
        let err = must(&hasty, "/bin/sh", &args).unwrap_err();
        assert!(matches!(err, InstallError::NoAnswer { .. }), "{err}");
        assert!(began.elapsed() < Duration::from_secs(20));
        let err = must(&hasty, "/no/such/program", &[]).unwrap_err();
        assert!(matches!(err, InstallError::NoProgram { .. }), "{err}");
    }
}
