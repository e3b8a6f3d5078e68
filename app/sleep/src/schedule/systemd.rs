//! A user timer of systemd: two files in the user's folder for units, with a mark of ours in their first line.

use super::commands::{Commands, must};
use super::job::Job;
use super::{InstallError, Which, project_digest};
use crate::adopt::live_file::{self, Mode};
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::{Path, PathBuf};

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
        let Ok(entries) = fs::read_dir(&self.unit_dir) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(".timer").filter(|name| name.starts_with(PREFIX))
            else {
                continue;
            };
            if self.is_ours(&file)? {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn is_ours(&self, file: &str) -> Result<bool, InstallError> {
        is_marked(&self.unit_dir.join(file), MARK)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), InstallError> {
        write_marked(&self.unit_dir.join(file), text, MARK)
    }

    fn remove_files(&self, name: &str) -> Result<(), InstallError> {
        for suffix in ["timer", "service"] {
            let path = self.unit_dir.join(format!("{name}.{suffix}"));
            if is_marked(&path, MARK)? {
                live_file::discard(&path).map_err(|reason| InstallError::Io {
                    action: "remove",
                    path,
                    reason,
                })?;
            }
        }
        Ok(())
    }
}

fn name_of(digest: &Sha256Hex) -> String {
    format!("{PREFIX}{}", &digest.as_str()[..20])
}

/// The file is there and has our mark in it.
pub(super) fn is_marked(path: &Path, mark: &str) -> Result<bool, InstallError> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).contains(mark)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(InstallError::Io { action: "read", path: path.to_owned(), reason }),
    }
}

/// Writes a file of ours, never over one that is not.
pub(super) fn write_marked(path: &Path, text: &str, mark: &str) -> Result<(), InstallError> {
    if path.symlink_metadata().is_ok() && !is_marked(path, mark)? {
        return Err(InstallError::NotOurs(path.to_owned()));
    }
    let parent = path.parent().unwrap_or(path);
    let io = |action, reason| InstallError::Io { action, path: path.to_owned(), reason };
    fs::create_dir_all(parent).map_err(|reason| io("make the folder of", reason))?;
    live_file::replace(path, text.as_bytes(), Mode::New).map_err(|reason| io("write", reason))
}
