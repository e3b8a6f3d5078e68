//! A user agent of launchd: one property list, with our label in its name. It runs a missed night after waking up.

use super::commands::{Commands, must};
use super::job::Job;
use super::marked::{self, is_marked, write_marked};
use super::{InstallError, Which, project_digest};
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::PathBuf;

const MARK: &str = "skillopt-sleep project-sha256=";
const PREFIX: &str = "org.skillopt.sleep.";

/// Where agents go, and for whom.
#[derive(Clone, Debug)]
pub struct Launchd {
    /// `~/Library/LaunchAgents`.
    pub agent_dir: PathBuf,
    /// The number of the user.
    pub uid: u32,
}

/// The property list of a job.
#[must_use]
pub fn plist(job: &Job) -> String {
    let string = |text: &str| format!("<string>{}</string>", escaped(text));
    let argv: String =
        job.argv().into_iter().map(|word| format!("    {}\n", string(word))).collect();
    let log = string(&job.log_dir().join("launchd.log").to_string_lossy());
    let folder = string(&job.project().to_string_lossy());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- {MARK}{digest} -->\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  {label}\n  \
         <key>ProgramArguments</key>\n  <array>\n{argv}  </array>\n  <key>WorkingDirectory</key>\n  {folder}\n  \
         <key>StartCalendarInterval</key>\n  <dict>\n    <key>Hour</key>\n    <integer>{hour}</integer>\n    \
         <key>Minute</key>\n    <integer>{minute}</integer>\n  </dict>\n  <key>StandardOutPath</key>\n  {log}\n  \
         <key>StandardErrorPath</key>\n  {log}\n</dict>\n</plist>\n",
        digest = job.digest(),
        label = string(&label_of(&job.digest())),
        hour = job.at().hour(),
        minute = job.at().minute(),
    )
}

impl Launchd {
    /// Writes the agent and loads it, in place of an older one of the project.
    ///
    /// # Errors
    /// [`InstallError`]; an agent that could not be loaded is removed again.
    pub fn install(&self, job: &Job, commands: &dyn Commands) -> Result<(), InstallError> {
        let label = label_of(&job.digest());
        let path = self.path_of(&label);
        let was_there = is_marked(&path, MARK)?;
        write_marked(&path, &plist(job), MARK)?;
        fs::create_dir_all(job.log_dir()).map_err(|reason| InstallError::Io {
            action: "make",
            path: job.log_dir(),
            reason,
        })?;
        if was_there {
            // It is not loaded after a logout, which is as good.
            let _ = commands.run("launchctl", &["bootout", &self.service(&label)], b"");
        }
        let shown = path.display().to_string();
        if let Err(err) = must(commands, "launchctl", &["bootstrap", &self.domain(), &shown]) {
            marked::remove(&path, MARK)?;
            return Err(err);
        }
        Ok(())
    }

    /// Unloads agents of ours and removes them; gives their labels.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn uninstall(
        &self,
        which: &Which,
        commands: &dyn Commands,
    ) -> Result<Vec<String>, InstallError> {
        let wanted = match which {
            Which::Project(project) => vec![label_of(&project_digest(project))],
            Which::All => self.installed()?,
        };
        let mut removed = Vec::new();
        for label in wanted {
            let path = self.path_of(&label);
            if !is_marked(&path, MARK)? {
                continue;
            }
            let _ = commands.run("launchctl", &["bootout", &self.service(&label)], b"");
            marked::remove(&path, MARK)?;
            removed.push(label);
        }
        Ok(removed)
    }

    /// Labels of agents that are ours.
    ///
    /// # Errors
    /// [`InstallError::Io`].
    pub fn installed(&self) -> Result<Vec<String>, InstallError> {
        marked::installed(&self.agent_dir, (PREFIX, ".plist"), MARK)
    }

    fn path_of(&self, label: &str) -> PathBuf {
        self.agent_dir.join(format!("{label}.plist"))
    }

    fn domain(&self) -> String {
        format!("gui/{}", self.uid)
    }

    fn service(&self, label: &str) -> String {
        format!("gui/{}/{label}", self.uid)
    }
}

fn label_of(digest: &Sha256Hex) -> String {
    format!("{PREFIX}{}", &digest.as_str()[..20])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
