//! What is installed in the clocks of this system, for people. Reads only.

use super::commands::Commands;
use super::crontab::{installed_in, read, shell_quoted};
use super::launchd::Launchd;
use super::systemd::Systemd;
use super::windows::{Windows, powershell_quoted};
use super::{At, InstallError, project_digest};
use std::fs;
use std::path::Path;

/// A clock of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The crontab of the user.
    Cron,
    /// A user timer.
    Systemd,
    /// A user agent of macOS.
    Launchd,
    /// The task scheduler of Windows.
    Windows,
}

impl Scheduler {
    /// Those that a system of this kind may have.
    #[must_use]
    pub fn of_this_system() -> &'static [Self] {
        if cfg!(windows) {
            &[Self::Windows]
        } else if cfg!(target_os = "macos") {
            &[Self::Launchd, Self::Cron]
        } else {
            &[Self::Cron, Self::Systemd]
        }
    }

    /// The word of the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cron => "cron",
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::Windows => "windows",
        }
    }

    /// One word for the shell of the systems that have this clock.
    #[must_use]
    pub fn quoted(self, text: &str) -> String {
        match self {
            Self::Cron | Self::Systemd | Self::Launchd => shell_quoted(text),
            Self::Windows => powershell_quoted(text),
        }
    }
}

/// A job of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledJob {
    /// Whose clock.
    pub scheduler: Scheduler,
    /// The project, where the job tells it.
    pub project: Option<String>,
    /// When it runs, where the job tells it.
    pub at: Option<At>,
    /// The line of a crontab, or the name of the job.
    pub name: String,
}

impl InstalledJob {
    /// It is that of a project.
    #[must_use]
    pub fn is_of(&self, project: &Path) -> bool {
        let digest = project_digest(project);
        self.project.as_deref() == project.to_str() || self.name.contains(&digest.as_str()[..20])
    }
}

/// What is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Jobs of ours.
    pub jobs: Vec<InstalledJob>,
    /// Clocks of which nobody knows what is installed in them, and why.
    pub unread: Vec<String>,
}

/// Where the clocks of a system keep their jobs.
#[derive(Clone, Debug)]
pub struct SystemClocks {
    /// Timers.
    pub systemd: Systemd,
    /// Agents.
    pub launchd: Launchd,
}

impl SystemClocks {
    /// Jobs of ours in these clocks. A clock that is not on this machine has none.
    pub fn installed(&self, of: &[Scheduler], commands: &dyn Commands) -> Listing {
        let mut listing = Listing::default();
        for scheduler in of {
            match self.installed_in(*scheduler, commands) {
                Ok(jobs) => listing.jobs.extend(jobs),
                Err(InstallError::NoProgram { reason, .. })
                    if reason.kind() == std::io::ErrorKind::NotFound => {}
                Err(err) => listing.unread.push(format!(
                    "{}: it is not known whether a night is scheduled there: {err}",
                    scheduler.word()
                )),
            }
        }
        listing
    }

    fn installed_in(
        &self,
        scheduler: Scheduler,
        commands: &dyn Commands,
    ) -> Result<Vec<InstalledJob>, InstallError> {
        Ok(match scheduler {
            Scheduler::Cron => installed_in(&read(commands)?)?.into_iter().map(cron_job).collect(),
            Scheduler::Systemd => {
                let names = self.systemd.installed()?;
                names.into_iter().map(|name| timer_job(&self.systemd, name)).collect()
            }
            Scheduler::Launchd => {
                let labels = self.launchd.installed()?;
                labels.into_iter().map(|label| agent_job(&self.launchd, label)).collect()
            }
            Scheduler::Windows => {
                let names = Windows.installed(commands)?;
                names.into_iter().map(|name| job(Scheduler::Windows, name)).collect()
            }
        })
    }
}

fn job(scheduler: Scheduler, name: String) -> InstalledJob {
    InstalledJob { scheduler, project: None, at: None, name }
}

fn cron_job(line: String) -> InstalledJob {
    let mut fields = line.split_whitespace();
    let (minute, hour) = (fields.next(), fields.next());
    let at = hour.zip(minute).and_then(|(hour, minute)| at_of(hour, minute));
    // cron wants `%` with a backslash.
    let project = line.split_once("&& cd ").and_then(|(_, rest)| shell_word(rest));
    let project = project.map(|project| project.replace("\\%", "%"));
    InstalledJob { project, at, ..job(Scheduler::Cron, line) }
}

fn timer_job(systemd: &Systemd, name: String) -> InstalledJob {
    let text = |kind: &str| {
        fs::read_to_string(systemd.unit_dir.join(format!("{name}.{kind}"))).unwrap_or_default()
    };
    let of = |text: &str, start: &str| {
        text.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned)
    };
    let project = of(&text("service"), "Description=SkillOpt-Sleep night of ");
    let at = of(&text("timer"), "OnCalendar=*-*-* ").and_then(|time| {
        let mut parts = time.split(':');
        at_of(parts.next()?, parts.next()?)
    });
    let project = project.map(|project| project.replace("%%", "%"));
    InstalledJob { project, at, ..job(Scheduler::Systemd, name) }
}

fn agent_job(launchd: &Launchd, label: String) -> InstalledJob {
    let path = launchd.agent_dir.join(format!("{label}.plist"));
    let text = fs::read_to_string(path).unwrap_or_default();
    let after = |key: &str, open: &str, close: &str| {
        let (_, rest) = text.split_once(&format!("<key>{key}</key>"))?;
        let (value, _) = rest.split_once(open)?.1.split_once(close)?;
        Some(value.to_owned())
    };
    let part = |key: &str| after(key, "<integer>", "</integer>");
    let at = part("Hour").zip(part("Minute")).and_then(|(hour, minute)| at_of(&hour, &minute));
    let project = after("WorkingDirectory", "<string>", "</string>").map(|text| plain(&text));
    InstalledJob { project, at, ..job(Scheduler::Launchd, label) }
}

fn at_of(hour: &str, minute: &str) -> Option<At> {
    At::new(hour.parse().ok()?, minute.parse().ok()?).ok()
}

/// The first word of a command line, without the quotes that we set.
fn shell_word(text: &str) -> Option<String> {
    if !text.starts_with('\'') {
        return text.split(' ').next().map(str::to_owned);
    }
    let mut word = String::new();
    let mut rest = &text[1..];
    loop {
        let (part, after) = rest.split_once('\'')?;
        word.push_str(part);
        match after.strip_prefix("\\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some(word),
        }
    }
}

fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
