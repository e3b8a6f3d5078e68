//! The user's crontab: a block of ours between two marks, and not a byte of any other line changed.

use super::commands::{Commands, not_run};
use super::{InstallError, Job, Which, project_digest};
use crate::adopt::live_file::{self, Mode};
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "# >>> skillopt-sleep (managed) >>>";
const END: &str = "# <<< skillopt-sleep (managed) <<<";
const MARK: &str = "# project-sha256=";
const OLD_MARK: &str = "# project=";

/// Why a crontab is left alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrontabError {
    /// The marks do not come in pairs.
    #[error(
        "line {line} of the crontab has a mark of SkillOpt without its partner; mend it with `crontab -e` first"
    )]
    Marks {
        /// From 1.
        line: usize,
    },
    /// `crontab -l` failed, and not because there is none.
    #[error("the crontab cannot be read, so it is not written: {0}")]
    Unreadable(String),
    /// What was written is not what stands there now.
    #[error("the crontab is not what was written to it; the one from before is in {}", .backup.display())]
    NotVerified {
        /// The crontab from before.
        backup: PathBuf,
    },
}

/// A crontab cut at the marks.
struct Cut<'a> {
    before: Vec<&'a str>,
    block: Vec<&'a str>,
    after: Vec<&'a str>,
}

/// The crontab with a job, in place of an older one of the same project.
///
/// # Errors
/// [`CrontabError::Marks`].
pub fn with_job(crontab: &str, job: &Job) -> Result<String, CrontabError> {
    let cut = cut(crontab)?;
    let mut lines: Vec<String> = cut
        .block
        .iter()
        .filter(|line| !is_of(line, job.project()))
        .map(|line| (*line).to_owned())
        .collect();
    lines.push(line_of(job));
    Ok(cut.joined(&lines))
}

/// The crontab without the job of a project.
///
/// # Errors
/// [`CrontabError::Marks`].
pub fn without_project(crontab: &str, project: &Path) -> Result<String, CrontabError> {
    without(crontab, |line| is_of(line, project))
}

/// The crontab without any job of ours. Lines in the block that do not have our mark stay.
///
/// # Errors
/// [`CrontabError::Marks`].
pub fn without_all(crontab: &str) -> Result<String, CrontabError> {
    without(crontab, |line| owner(line).is_some())
}

/// The lines of our jobs, for people.
///
/// # Errors
/// [`CrontabError::Marks`].
pub fn installed_in(crontab: &str) -> Result<Vec<String>, CrontabError> {
    let lines = cut(crontab)?.block;
    Ok(lines.into_iter().filter(|line| owner(line).is_some()).map(str::to_owned).collect())
}

/// Adds a job to the user's crontab. The one from before is kept in `backup_dir`.
///
/// # Errors
/// [`InstallError`]; the crontab is as it was, unless it says otherwise.
pub fn install(job: &Job, backup_dir: &Path, commands: &dyn Commands) -> Result<(), InstallError> {
    change(backup_dir, commands, |crontab| with_job(crontab, job))
}

/// Removes jobs of ours from the user's crontab.
///
/// # Errors
/// As [`install`].
pub fn uninstall(
    which: &Which,
    backup_dir: &Path,
    commands: &dyn Commands,
) -> Result<(), InstallError> {
    change(backup_dir, commands, |crontab| match which {
        Which::Project(project) => without_project(crontab, project),
        Which::All => without_all(crontab),
    })
}

fn change(
    backup_dir: &Path,
    commands: &dyn Commands,
    edit: impl FnOnce(&str) -> Result<String, CrontabError>,
) -> Result<(), InstallError> {
    let before = read(commands)?;
    let after = edit(&before)?;
    if after == before {
        return Ok(());
    }
    let backup = backup_dir.join(format!("crontab-{}.bak", Sha256Hex::of(&before).short()));
    let io = |action, reason| InstallError::Io { action, path: backup.clone(), reason };
    fs::create_dir_all(backup_dir).map_err(|reason| io("make the folder of", reason))?;
    live_file::replace(&backup, before.as_bytes(), Mode::Private)
        .map_err(|reason| io("write", reason))?;
    let written = commands.run("crontab", &["-"], after.as_bytes());
    let output = written.map_err(not_run("crontab", &["-"]))?;
    if !output.is_success {
        return Err(InstallError::Refused {
            program: "crontab -".to_owned(),
            words: output.stderr,
        });
    }
    if read(commands)?.trim_end() == after.trim_end() {
        return Ok(());
    }
    // Somebody else wrote it too, or the program did not do what it said: the person has to look.
    Err(CrontabError::NotVerified { backup }.into())
}

/// The user's crontab. That there is none is something else than that it cannot be read.
pub(super) fn read(commands: &dyn Commands) -> Result<String, InstallError> {
    let output = commands.run("crontab", &["-l"], b"").map_err(not_run("crontab", &["-l"]))?;
    if output.is_success {
        return String::from_utf8(output.stdout)
            .map_err(|_| CrontabError::Unreadable("it is not UTF-8".to_owned()).into());
    }
    let words = output.stderr.to_lowercase();
    // Vixie cron, cronie and macOS; BusyBox.
    let has_none = words.contains("no crontab for")
        || (words.contains("can't open") && words.contains("no such file"));
    if has_none && output.stdout.is_empty() {
        return Ok(String::new());
    }
    Err(CrontabError::Unreadable(output.stderr).into())
}

fn cut(crontab: &str) -> Result<Cut<'_>, CrontabError> {
    let mut cut = Cut { before: Vec::new(), block: Vec::new(), after: Vec::new() };
    let mut begun = None;
    let mut ended = false;
    for (number, line) in (1..).zip(crontab.split_inclusive('\n')) {
        match line.trim() {
            BEGIN if begun.is_some() => return Err(CrontabError::Marks { line: number }),
            BEGIN => begun = Some(number),
            END if begun.is_none() || ended => return Err(CrontabError::Marks { line: number }),
            END => ended = true,
            _ if begun.is_none() => cut.before.push(line),
            _ if ended => cut.after.push(line),
            _ => cut.block.push(line.trim_end_matches(['\n', '\r'])),
        }
    }
    match begun {
        Some(line) if !ended => Err(CrontabError::Marks { line }),
        _ => Ok(cut),
    }
}

impl Cut<'_> {
    fn joined(&self, block: &[String]) -> String {
        let mut text = self.before.concat();
        if !block.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            for line in std::iter::once(BEGIN).chain(block.iter().map(String::as_str)).chain([END])
            {
                text.push_str(line);
                text.push('\n');
            }
        }
        text + &self.after.concat()
    }
}

fn without(crontab: &str, is_gone: impl Fn(&str) -> bool) -> Result<String, CrontabError> {
    let cut = cut(crontab)?;
    if !cut.block.iter().any(|line| is_gone(line)) {
        return Ok(crontab.to_owned());
    }
    let kept = cut.block.iter().filter(|line| !is_gone(line));
    Ok(cut.joined(&kept.map(|line| (*line).to_owned()).collect::<Vec<_>>()))
}

/// What a line of ours is marked with.
enum Owner<'a> {
    /// The hash of a project's path.
    Digest(&'a str),
    /// The path itself, as releases up to 0.2 of the reference system wrote it.
    Path(&'a str),
}

fn owner(line: &str) -> Option<Owner<'_>> {
    if let Some((_, digest)) = line.rsplit_once(MARK) {
        let digest = digest.trim_end();
        return Sha256Hex::parse(digest).is_ok().then_some(Owner::Digest(digest));
    }
    let (_, path) = line.rsplit_once(OLD_MARK)?;
    let is_absolute = path.starts_with('/');
    is_absolute.then(|| Owner::Path(path.trim_end()))
}

fn is_of(line: &str, project: &Path) -> bool {
    match owner(line) {
        Some(Owner::Digest(digest)) => digest == project_digest(project).as_str(),
        Some(Owner::Path(path)) => Path::new(path) == project,
        None => false,
    }
}

fn line_of(job: &Job) -> String {
    let quoted = |path: &Path| shell_quoted(&path.to_string_lossy());
    let argv: Vec<String> = job.argv().into_iter().map(shell_quoted).collect();
    let command = format!(
        "mkdir -p {dir} && cd {project} && {argv} >> {log} 2>&1",
        dir = quoted(&job.log_dir()),
        project = quoted(job.project()),
        argv = argv.join(" "),
        log = quoted(&job.log_dir().join("cron.log")),
    );
    // cron makes a line end of `%`, also inside of quotes, and takes the backslash off.
    let command = command.replace('%', "\\%");
    format!("{} {} * * * {command} {MARK}{}", job.at().minute(), job.at().hour(), job.digest())
}

/// One word for a POSIX shell.
#[must_use]
pub fn shell_quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@+=:,./-_".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
