//! Running the programs of the system's clocks, and nothing else.

use super::InstallError;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Runs a program with arguments, without a shell.
pub trait Commands {
    /// Runs it to its end; `stdin` is all that it can read.
    ///
    /// # Errors
    /// What the operating system says when it cannot be started.
    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> io::Result<Output>;
}

/// What a program left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// It ended well.
    pub is_success: bool,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: String,
}

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemCommands;

impl Commands for SystemCommands {
    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> io::Result<Output> {
        let mut child = Command::new(program)
            .args(args)
            // What it says is compared with what it says in English.
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            match pipe.write_all(stdin) {
                // It did not want to read.
                Err(err) if err.kind() == io::ErrorKind::BrokenPipe => {}
                other => other?,
            }
        }
        let output = child.wait_with_output()?;
        Ok(Output {
            is_success: output.status.success(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

/// Runs a program that has to end well.
pub(super) fn must(
    commands: &dyn Commands,
    program: &str,
    args: &[&str],
) -> Result<Output, InstallError> {
    let shown =
        || std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ");
    match commands.run(program, args, b"") {
        Err(reason) => Err(InstallError::NoProgram { program: program.to_owned(), reason }),
        Ok(output) if output.is_success => Ok(output),
        Ok(output) => Err(InstallError::Refused { program: shown(), words: output.stderr }),
    }
}
