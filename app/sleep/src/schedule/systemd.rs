//! A user timer of systemd: two files in the user's folder for units, with a mark of ours in their first line.

use super::commands::{Commands, must};
use super::job::Job;
use super::marked::{self, is_marked, write_marked};
use super::{InstallError, Which, project_digest};
use skillopt_domain::hash::Sha256Hex;
use std::path::PathBuf;

const MARK: &str = "# skillopt-sleep project-sha256=";
const PREFIX: &str = "skillopt-sleep-";

/// Where units go: `~/.config/systemd/user`.
#[derive(Clone, Debug)]
pub struct Systemd {
    /// The folder.
    pub unit_dir: PathBuf,
}

/// The service: one run of the night.
#[must_use]
pub fn service(job: &Job) -> String {
    let argv: Vec<String> = job.argv().into_iter().map(quoted).collect();
    format!(
        "{MARK}{}\n[Unit]\nDescription=SkillOpt-Sleep night of {}\n\n[Service]\nType=oneshot\nExecStart={}\n",
        job.digest(),
        job.project().display().to_string().replace('%', "%%"),
        argv.join(" ")
    )
}

/// The timer: every day, and once after days on which the machine was off.
#[must_use]
pub fn timer(job: &Job) -> String {
    format!(
        "{MARK}{}\n[Unit]\nDescription=SkillOpt-Sleep every night at {at}\n\n[Timer]\nOnCalendar=*-*-* {at}:00\n\
         Persistent=true\n\n[Install]\nWantedBy=timers.target\n",
        job.digest(),
        at = job.at()
    )
}

/// A word of `ExecStart`: specifiers, variables and quotes of systemd mean themselves.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '\\' | '"' => text.extend(['\\', c]),
            '%' | '$' => text.extend([c, c]),
            _ => text.push(c),
        }
    }
    text + "\""
}

impl Systemd {
    /// Writes the units and starts the timer.
    ///
    /// # Errors
    /// [`InstallError`]; units that could not be started are removed again.
    pub fn install(&self, job: &Job, commands: &dyn Commands) -> Result<(), InstallError> {
        let name = name_of(&job.digest());
        self.write(&format!("{name}.service"), &service(job))?;
        self.write(&format!("{name}.timer"), &timer(job))?;
        let started = must(commands, "systemctl", &["--user", "daemon-reload"]).and_then(|_| {
            must(commands, "systemctl", &["--user", "enable", "--now", &format!("{name}.timer")])
        });
        if let Err(err) = started {
            self.remove_files(&name)?;
            return Err(err);
        }
        Ok(())
    }

    /// Stops timers of ours and removes their units; gives their names.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn uninstall(
        &self,
        which: &Which,
        commands: &dyn Commands,
    ) -> Result<Vec<String>, InstallError> {
        let wanted = match which {
            Which::Project(project) => vec![name_of(&project_digest(project))],
            Which::All => self.installed()?,
        };
        let mut removed = Vec::new();
        for name in wanted {
            let timer = format!("{name}.timer");
            if !self.is_ours(&timer)? {
                continue;
            }
            must(commands, "systemctl", &["--user", "disable", "--now", &timer])?;
            self.remove_files(&name)?;
            removed.push(name);
        }
        if !removed.is_empty() {
            must(commands, "systemctl", &["--user", "daemon-reload"])?;
        }
        Ok(removed)
    }

    /// Names of timers that are ours.
    ///
    /// # Errors
    /// [`InstallError::Io`].
    pub fn installed(&self) -> Result<Vec<String>, InstallError> {
        marked::installed(&self.unit_dir, (PREFIX, ".timer"), MARK)
    }

    fn is_ours(&self, file: &str) -> Result<bool, InstallError> {
        is_marked(&self.unit_dir.join(file), MARK)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), InstallError> {
        write_marked(&self.unit_dir.join(file), text, MARK)
    }

    fn remove_files(&self, name: &str) -> Result<(), InstallError> {
        for suffix in ["timer", "service"] {
            marked::remove(&self.unit_dir.join(format!("{name}.{suffix}")), MARK)?;
        }
        Ok(())
    }
}

fn name_of(digest: &Sha256Hex) -> String {
    format!("{PREFIX}{}", &digest.as_str()[..20])
}
