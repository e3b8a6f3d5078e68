//! What a program says to `--version`: asked once for each file in a process, and again when the file has changed.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A program that takes longer has no version.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const MOST_BYTES: u64 = 4096;
const MOST_CHARS: usize = 120;

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    path: PathBuf,
    len: u64,
    changed: Option<SystemTime>,
}

static KNOWN: Mutex<Option<HashMap<Seen, Option<String>>>> = Mutex::new(None);

/// The first line of what the program says; `None` when it fails or says nothing. Without `may_start` only what was
/// learned before is told.
pub(super) fn version_of(
    program: &Path,
    env: &[(String, String)],
    may_start: bool,
) -> Option<String> {
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let meta = std::fs::metadata(&path).ok()?;
    let seen = Seen { path, len: meta.len(), changed: meta.modified().ok() };
    // Held while it is asked, so that nobody asks meanwhile.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if !may_start {
        return known.get(&seen).cloned().flatten();
    }
    known.entry(seen).or_insert_with(|| patiently(|| ask(program, env))).clone()
}

/// Lets other tasks go on where there are other threads for them.
fn patiently<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}

fn ask(program: &Path, env: &[(String, String)]) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    // A file, not a pipe: a child that it leaves behind would hold a pipe open.
    let said = folder.path().join("said");
    let said = std::fs::File::options().create_new(true).read(true).write(true).open(said).ok()?;
    let mut command = Command::new(program);
    command
        .arg("--version")
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(said.try_clone().ok()?)
        .stderr(Stdio::null());
    let deadline = Instant::now() + PATIENCE;
    let mut child = loop {
        match command.spawn() {
            Ok(child) => break child,
            // It is being replaced.
            Err(err)
                if err.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < deadline =>
            {
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(_) => return None,
        }
    };
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            _ => {
                // Whether it could be killed changes nothing: it has no version.
                let _ = child.kill().and_then(|()| child.wait());
                return None;
            }
        }
    };
    let (mut file, mut said) = (said, Vec::new());
    file.rewind().ok()?;
    file.take(MOST_BYTES).read_to_end(&mut said).ok()?;
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    status.success().then(|| line.chars().take(MOST_CHARS).collect())
}
