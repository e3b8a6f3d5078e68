//! When nights run: the built-in clock, and the installers for the system's own clocks. Texts and argument lists are
//! made by pure functions on every platform; programs are run through one small trait.

mod clock;
mod commands;
mod crontab;
mod job;
mod launchd;
mod listing;
mod marked;
mod systemd;
#[cfg(test)]
mod tests;
mod windows;

pub use clock::{Daily, Due, Plan, SkipReason, Skipped, UnknownZone, system_zone};
pub use commands::{Commands, Output, SystemCommands};
pub use crontab::{
    CrontabError, install as install_crontab, installed_in, shell_quoted,
    uninstall as uninstall_crontab, with_job, without_all, without_project,
};
pub use job::{At, BadTime, Job, JobError, project_digest};
pub use launchd::{Launchd, plist};
pub use listing::{InstalledJob, Listing, Scheduler, SystemClocks};
pub use systemd::{Systemd, service, timer};
pub use windows::{Windows, helper_script, task_names};

use std::path::PathBuf;

/// Which jobs an uninstaller removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// That of one project.
    Project(PathBuf),
    /// All of ours.
    All,
}

/// Why a system's clock could not be set.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file system refused.
    #[error("cannot {action} {}: {reason}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The words of the operating system.
        reason: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot run `{program}`: {reason}")]
    NoProgram {
        /// The program.
        program: String,
        /// The words of the operating system.
        reason: std::io::Error,
    },
    /// A program was started and did not end in time.
    #[error("`{program}` gave {reason}, so nobody knows what it did; run it by hand to see why")]
    NoAnswer {
        /// The program with its arguments.
        program: String,
        /// How long it was waited for.
        reason: std::io::Error,
    },
    /// A program wrote more than can be meant.
    #[error("`{program}` wrote {reason}, which is not read; run it by hand to see why")]
    LongAnswer {
        /// The program with its arguments.
        program: String,
        /// How much it may write.
        reason: std::io::Error,
    },
    /// A program said no.
    #[error("`{program}` failed: {words}")]
    Refused {
        /// The program with its arguments.
        program: String,
        /// Its words.
        words: String,
    },
    /// A file has the name of ours and is not ours.
    #[error("{} was not written by SkillOpt; it is left alone", .0.display())]
    NotOurs(PathBuf),
    /// The crontab cannot be changed safely.
    #[error(transparent)]
    Crontab(#[from] CrontabError),
    /// The job cannot be written down for this system.
    #[error(transparent)]
    Job(#[from] JobError),
}
