//! Stores of all agents with the oddities of real ones, for tests and benches. Written by hand for this: no line is
//! anybody's.

mod claude;
mod codex;
mod databases;
mod elsewhere;
mod others;

pub use claude::big_claude_store;

use super::{HarvestOptions, Homes, Instant, Scope};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The time of the harvest: 2026-01-10T12:00:00Z.
pub const NOW: Instant = Instant::from_ms(1_768_046_400_000);

/// The project that the stores are about.
pub const PROJECT: &str = "/w/app";

/// Stores of all agents in a folder.
#[derive(Clone, Debug)]
pub struct Stores {
    root: PathBuf,
}

impl Stores {
    /// Writes all stores into the folder `root`.
    ///
    /// # Errors
    /// What the file system or SQLite says.
    pub fn write(root: &Path) -> io::Result<Self> {
        let stores = Self { root: root.to_owned() };
        claude::write(&stores.path("claude"))?;
        codex::write(&stores.path("codex"))?;
        others::write_copilot_chat(&stores.path("vscode"))?;
        others::write_cursor(&stores.path("cursor"))?;
        others::write_pi(&stores.path("pi"))?;
        others::write_devin(&stores.path("devin"))?;
        databases::write_copilot_cli(&stores.path("copilot.db")).map_err(io::Error::other)?;
        databases::write_opencode(&stores.path("opencode.db")).map_err(io::Error::other)?;
        Ok(stores)
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Options that read all stores for [`PROJECT`] at [`NOW`], 72 hours back.
    pub fn options(&self) -> HarvestOptions {
        HarvestOptions {
            homes: Homes {
                claude: Some(self.path("claude")),
                codex: Some(self.path("codex")),
                vscode_storage: vec![self.path("vscode")],
                copilot_cli: Some(self.path("copilot.db")),
                cursor: Some(self.path("cursor")),
                pi: Some(self.path("pi")),
                opencode: Some(self.path("opencode.db")),
                devin_transcripts: Some(self.path("devin/transcripts")),
                agent_memory: Some(self.path("devin/standalone.json")),
                devin_workspaces: vec![PROJECT.to_owned(), "/w/other".to_owned()],
            },
            project: PROJECT.to_owned(),
            scope: Scope::Invoked,
            ..HarvestOptions::new(NOW)
        }
    }
}

/// The time `minutes` before [`NOW`], as transcripts spell it.
pub(super) fn ago(minutes: i64) -> String {
    instant_ago(minutes).to_string()
}

fn instant_ago(minutes: i64) -> Instant {
    Instant::from_ms(NOW.as_ms() - minutes * 60_000)
}

/// Writes a file that was changed `minutes` before [`NOW`].
pub(super) fn write_file(path: &Path, bytes: &[u8], minutes: i64) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    let ms = u64::try_from(instant_ago(minutes).as_ms()).unwrap_or(0);
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(ms))
}

/// One record a line.
pub(super) fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}
