//! The home folder of a person who uses all agents, each of whose stores is where that agent keeps it.

use super::parse;
use crate::binary::{Said, skillopt};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;
use skillopt_sleep::harvest::testing::Stores;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the generator puts a store, and where its agent keeps it.
const PLACES: [(&str, &str); 9] = [
    ("claude", ".claude"),
    ("codex", ".codex"),
    ("vscode", ".config/Code/User/workspaceStorage"),
    ("copilot.db", ".copilot/session-store.db"),
    ("cursor", ".cursor"),
    ("pi", ".pi"),
    ("opencode.db", ".local/share/opencode/opencode.db"),
    ("devin/transcripts", ".local/share/devin/cli/transcripts"),
    ("devin/standalone.json", ".agentmemory/standalone.json"),
];

/// 2026-01-08T11:00:00Z: when the files were changed that are added here.
const CHANGED_S: u64 = 1_767_870_000;

pub(super) struct Home {
    dir: tempfile::TempDir,
    root: PathBuf,
}

/// What a file is: the hash of its bytes, and when it was changed.
pub(super) type Snapshot = BTreeMap<PathBuf, (String, Option<SystemTime>)>;

impl Home {
    /// A home without any agent, and an empty project.
    pub(super) fn empty() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().canonicalize()?;
        let home = Self { dir, root };
        fs::create_dir_all(home.project())?;
        fs::create_dir_all(home.path(""))?;
        Ok(home)
    }

    /// All stores of the generator, a giant record, and five projects whose folders have one name.
    pub(super) fn full() -> anyhow::Result<Self> {
        let home = Self::empty()?;
        let made = home.root.join("made");
        Stores::write_for(&made, &home.project_text())?;
        for (from, to) in PLACES {
            let to = home.path(to);
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::rename(made.join(from), &to).with_context(|| from.to_owned())?;
        }
        home.add_giant()?;
        home.add_neighbours()?;
        Ok(home)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join("home").join(name)
    }

    /// The path of a file in the home, as digests have it.
    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("w/app")
    }

    pub(super) fn project_text(&self) -> String {
        self.project().display().to_string()
    }

    pub(super) fn opencode(&self) -> PathBuf {
        self.path(".local/share/opencode/opencode.db")
    }

    /// Projects of this system whose paths Claude Code turns into one and the same folder name, or nearly.
    pub(super) fn neighbours(&self) -> Vec<String> {
        let path = |name: &str| self.root.join(name).display().to_string();
        ["w/a-b", "w/a/b", "w/a_b", "w/x.y"].map(path).to_vec()
    }

    /// C105: the folder's name is the same for all, what tells them apart stands in the records.
    fn add_neighbours(&self) -> anyhow::Result<()> {
        let cwds = self.neighbours().into_iter().chain(["C:\\w\\p".to_owned()]);
        for (at, cwd) in cwds.enumerate() {
            let record = json!({
                "type": "user", "uuid": format!("n{at}"), "cwd": cwd,
                "timestamp": "2026-01-07T10:00:00Z",
                "message": {"role": "user", "content": format!("Tidy up project {at}")},
            });
            self.add(&format!("-w-a-b/neighbour{at}.jsonl"), &format!("{record}\n"))?;
        }
        Ok(())
    }

    /// C04: ten turns of each side, and between them what a tool returned: an image of 64 MiB in one record.
    fn add_giant(&self) -> anyhow::Result<()> {
        let record = |kind: &str, id: &str, minute: usize, content: Value| {
            json!({
                "type": kind, "uuid": id, "cwd": self.project(), "gitBranch": "main",
                "timestamp": format!("2026-01-08T10:{minute:02}:00Z"),
                "message": {"role": kind, "id": id, "content": content},
            })
        };
        let mut text = String::new();
        for n in 1..=10 {
            let asked = record("user", &format!("g{n}"), 2 * n, json!(format!("Move table {n}")));
            let said = json!([{"type": "text", "text": format!("Moved {n}.")}]);
            let answered = record("assistant", &format!("a{n}"), 2 * n + 1, said);
            text.push_str(&format!("{asked}\n{answered}\n"));
            if n == 5 {
                let image = json!([{"type": "tool_result", "content": "@"}]);
                let giant = record("user", "image", 12, image).to_string();
                text.push_str(&giant.replace('@', &"iVBORw0K".repeat((64 << 20) / 8)));
                text.push('\n');
            }
        }
        self.add("-w-app/giant.jsonl", &text)
    }

    /// Adds a session of Claude Code that was last changed at [`CHANGED_S`].
    fn add(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path(".claude/projects").join(name);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, text)?;
        let changed = UNIX_EPOCH + Duration::from_secs(CHANGED_S);
        File::options().append(true).open(path)?.set_modified(changed)?;
        Ok(())
    }

    /// A session of now.
    pub(super) fn add_recent_session(&self) -> anyhow::Result<PathBuf> {
        let path = self.path(".claude/projects/-w-app/recent.jsonl");
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, self.record("Look after the shop"))?;
        Ok(path)
    }

    /// A line in which the person asks for something. It has no time, so that its file's counts.
    pub(super) fn record(&self, text: &str) -> String {
        let record = json!({
            "type": "user", "uuid": text, "cwd": self.project(),
            "message": {"role": "user", "content": text},
        });
        format!("{record}\n")
    }

    /// A dry run over all that there is.
    pub(super) fn dry_run(&self, more: &[&str]) -> anyhow::Result<Value> {
        self.dry_run_with(&[&["--lookback-hours", "0"], more].concat())
    }

    /// A dry run by the program's other name.
    pub(super) fn dry_run_with(&self, more: &[&str]) -> anyhow::Result<Value> {
        let bin = self.root.join("skillopt-sleep");
        if !bin.exists() {
            std::os::unix::fs::symlink(skillopt(), &bin)?;
        }
        let mut command = Command::new(bin);
        command
            .env_clear()
            .env("HOME", self.path(""))
            .env("SKILLOPT_DEVIN_WORKSPACES", format!("{}:/w/other", self.project_text()))
            .current_dir(self.dir.path())
            .args(["dry-run", "--source", "auto", "--backend", "mock", "--json", "--project"])
            .arg(self.project())
            .arg("--data-dir")
            .arg(self.root.join("data"))
            .args(more);
        let said: Said = command.output().context("running skillopt-sleep")?.into();
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        parse(&said.out)
    }

    /// All files of the agents.
    pub(super) fn snapshot(&self) -> anyhow::Result<Snapshot> {
        let mut all = Snapshot::new();
        for entry in fs::read_dir(self.path(""))? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name != ".skillopt-sleep") {
                collect(&path, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Every text that the program wrote, in its own folders.
    pub(super) fn all_that_is_kept(&self) -> anyhow::Result<String> {
        let mut all = Snapshot::new();
        for folder in [self.path(".skillopt-sleep"), self.root.join("data")] {
            collect(&folder, &mut all)?;
        }
        let bytes = all.keys().filter(|path| path.is_file()).map(fs::read);
        let bytes: Vec<Vec<u8>> = bytes.collect::<Result<_, _>>()?;
        Ok(bytes.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect())
    }
}

fn collect(path: &Path, into: &mut Snapshot) -> anyhow::Result<()> {
    let meta = path.symlink_metadata()?;
    let bytes = match meta.is_file() {
        true => Sha256Hex::of(fs::read(path)?).as_str().to_owned(),
        false => String::new(),
    };
    into.insert(path.to_owned(), (bytes, Some(meta.modified()?)));
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), into)?;
        }
    }
    Ok(())
}
