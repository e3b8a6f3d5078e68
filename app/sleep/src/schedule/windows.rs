//! A task of Windows' scheduler: a helper script in the project, and `schtasks`.

use super::commands::{Commands, must};
use super::job::{Job, JobError};
use super::{InstallError, Which, project_digest};
use crate::adopt::live_file::{self, Mode};
use skillopt_domain::hash::Sha256Hex;
use std::fs;

const PREFIX: &str = "SkillOpt-Sleep-";
const DIGITS: usize = 20;

/// Windows' scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Windows;

/// The script that the task runs, with a byte order mark, without which Windows PowerShell takes it for another encoding.
///
/// # Errors
/// [`JobError::Quote`].
pub fn helper_script(job: &Job) -> Result<String, JobError> {
    for word in job.argv() {
        if word.contains('"') {
            return Err(JobError::Quote(word.to_owned()));
        }
    }
    let argv: Vec<String> = job.argv().into_iter().map(powershell_quoted).collect();
    let project = job.project().to_string_lossy();
    let log = powershell_quoted(&format!("{project}\\.skillopt-sleep\\cron.log"));
    Ok(format!(
        "\u{feff}Set-Location -LiteralPath {}\r\n& {} *>> {log}\r\nexit $LASTEXITCODE\r\n",
        powershell_quoted(&project),
        argv.join(" ")
    ))
}

/// One word for PowerShell, which it takes as it stands. Typographic quotes end such texts too.
pub(super) fn powershell_quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        if matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted + "'"
}

/// Names of tasks that are ours, from what `schtasks /Query /FO CSV /NH` prints: in quotes, with a backslash before the
/// name.
#[must_use]
pub fn task_names(csv: &str) -> Vec<String> {
    let first = csv.lines().filter_map(|line| line.trim().split(',').next());
    let names = first.map(|field| field.trim_matches('"').trim_start_matches('\\'));
    let is_ours = |name: &&str| {
        name.strip_prefix(PREFIX).is_some_and(|digits| {
            digits.len() == DIGITS
                && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let mut names: Vec<String> = names.filter(is_ours).map(str::to_owned).collect();
    // A task with several triggers is printed once for each.
    names.sort();
    names.dedup();
    names
}

impl Windows {
    /// Writes the helper and makes the task.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn install(self, job: &Job, commands: &dyn Commands) -> Result<(), InstallError> {
        let (dir, path) = (job.log_dir(), job.log_dir().join("run.ps1"));
        let text = helper_script(job)?;
        let io = |action, reason| InstallError::Io { action, path: path.clone(), reason };
        fs::create_dir_all(dir).map_err(|reason| io("make the folder of", reason))?;
        live_file::replace(&path, text.as_bytes(), Mode::New)
            .map_err(|reason| io("write", reason))?;
        let run = format!(
            "powershell.exe -NoProfile -ExecutionPolicy Bypass -File \"{}\"",
            path.display()
        );
        let (name, at) = (name_of(&job.digest()), job.at().to_string());
        must(
            commands,
            "schtasks",
            &["/Create", "/TN", &name, "/TR", &run, "/SC", "DAILY", "/ST", &at, "/F"],
        )?;
        Ok(())
    }

    /// Deletes tasks of ours; gives their names.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn uninstall(
        self,
        which: &Which,
        commands: &dyn Commands,
    ) -> Result<Vec<String>, InstallError> {
        let mut names = self.installed(commands)?;
        if let Which::Project(project) = which {
            let own = name_of(&project_digest(project));
            names.retain(|name| *name == own);
        }
        for name in &names {
            must(commands, "schtasks", &["/Delete", "/TN", name, "/F"])?;
        }
        Ok(names)
    }

    /// Names of tasks that are ours.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn installed(self, commands: &dyn Commands) -> Result<Vec<String>, InstallError> {
        let output = must(commands, "schtasks", &["/Query", "/FO", "CSV", "/NH"])?;
        Ok(task_names(&String::from_utf8_lossy(&output.stdout)))
    }
}

fn name_of(digest: &Sha256Hex) -> String {
    format!("{PREFIX}{}", &digest.as_str()[..DIGITS])
}
