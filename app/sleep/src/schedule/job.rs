//! What a schedule runs: our own program with its arguments, for one project, at one time of day.

use skillopt_domain::hash::Sha256Hex;
use std::fmt;
use std::path::{Path, PathBuf};

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// Invariant: the hour is below 24, the minute below 60.
pub struct At {
    hour: u8,
    minute: u8,
}

/// There is no such time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{hour}:{minute} is no time of day; the hour goes from 0 to 23, the minute from 0 to 59")]
pub struct BadTime {
    /// The hour.
    pub hour: i64,
    /// The minute.
    pub minute: i64,
}

impl At {
    /// When the reference system runs: not on the hour, so that not all ask at once.
    pub const USUAL: Self = Self { hour: 3, minute: 17 };

    /// Checks a time.
    ///
    /// # Errors
    /// [`BadTime`].
    pub fn new(hour: i64, minute: i64) -> Result<Self, BadTime> {
        let part = |value: i64, end: u8| u8::try_from(value).ok().filter(|value| *value < end);
        match (part(hour, 24), part(minute, 60)) {
            (Some(hour), Some(minute)) => Ok(Self { hour, minute }),
            _ => Err(BadTime { hour, minute }),
        }
    }

    /// 0 to 23.
    #[must_use]
    pub fn hour(self) -> u8 {
        self.hour
    }

    /// 0 to 59.
    #[must_use]
    pub fn minute(self) -> u8 {
        self.minute
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// A nightly run of our program.
#[derive(Clone, Debug, PartialEq, Eq)]
// Invariant: paths are absolute and UTF-8, and no text has control characters in it.
pub struct Job {
    project: PathBuf,
    program: PathBuf,
    args: Vec<String>,
    at: At,
}

/// The job cannot be written down.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// Line ends and the like, which no scheduler can quote.
    #[error("{0:?} has control characters in it, which no scheduler can take")]
    Control(String),
    /// A relative path.
    #[error("{0:?} must be a path from the root")]
    Relative(String),
    /// A path that is no text.
    #[error("{} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// A double quote, which Windows programs understand in different ways.
    #[error("{0:?} has a double quote in it, which cannot be scheduled on Windows")]
    Quote(String),
}

impl Job {
    /// Checks a job. `args` is everything after the program, with all options of the night.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn new(
        project: &Path,
        program: &Path,
        args: Vec<String>,
        at: At,
    ) -> Result<Self, JobError> {
        for path in [project, program] {
            let text = path.to_str().ok_or_else(|| JobError::NotUtf8(path.to_owned()))?;
            // Paths of Windows are absolute here too, so that its texts are made and tested everywhere.
            let has_drive = text.get(1..3).is_some_and(|drive| drive == ":\\");
            if !path.is_absolute() && !has_drive && !text.starts_with("\\\\") {
                return Err(JobError::Relative(text.to_owned()));
            }
            check_text(text)?;
        }
        args.iter().try_for_each(|arg| check_text(arg))?;
        Ok(Self { project: project.to_owned(), program: program.to_owned(), args, at })
    }

    /// When it runs.
    #[must_use]
    pub fn at(&self) -> At {
        self.at
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The program and its arguments.
    #[must_use]
    pub fn argv(&self) -> Vec<&str> {
        let program = self.program.to_str().unwrap_or_default();
        std::iter::once(program).chain(self.args.iter().map(String::as_str)).collect()
    }

    /// What marks the job as that of the project, in all systems.
    #[must_use]
    pub fn digest(&self) -> Sha256Hex {
        project_digest(&self.project)
    }

    /// The folder of its log.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.project.join(".skillopt-sleep")
    }
}

/// The hash of a project's path, as the reference system marks its lines.
#[must_use]
pub fn project_digest(project: &Path) -> Sha256Hex {
    Sha256Hex::of(project.to_string_lossy().as_bytes())
}

fn check_text(text: &str) -> Result<(), JobError> {
    if text.chars().any(char::is_control) {
        Err(JobError::Control(text.to_owned()))
    } else {
        Ok(())
    }
}
