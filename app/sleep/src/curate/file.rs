//! The file with a project's curated tasks: changed by one at a time, in one step, and only when it is still the version
//! that was seen. What it was before the last change is kept beside it.

use super::CurateError;
use crate::adopt::live_file::{self, Mode};
use crate::tasks_file::{TasksFile, TasksFileError, parse_draft, print_tasks};
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The file of one project, whether it is there or not.
#[derive(Clone, Debug)]
pub struct CuratedFile {
    path: PathBuf,
}

/// The file as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What it holds.
    pub file: TasksFile,
    /// Hash of its bytes; empty while there is none.
    pub version: String,
    /// What the last change did, in words; empty when it cannot be undone.
    pub can_undo: String,
}

/// What was there before the last change.
#[derive(Serialize, Deserialize)]
struct Before {
    /// What the change did.
    words: String,
    /// Hash of the file that it led to.
    led_to: String,
    /// The text before; `None` when there was no file.
    text: Option<String>,
}

impl CuratedFile {
    /// The file with this path.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file as it is; without tasks while there is none.
    ///
    /// # Errors
    /// [`CurateError`] when it cannot be read or understood.
    pub fn read(&self) -> Result<Kept, CurateError> {
        let text = self.text()?;
        let version = version_of(text.as_deref());
        let before = self.before().filter(|before| before.led_to == version);
        let can_undo = before.map(|before| before.words).unwrap_or_default();
        Ok(Kept { file: self.parse(text.as_deref())?, version, can_undo })
    }

    /// Changes the file if it is still the version that was seen. `work` says what it did.
    ///
    /// # Errors
    /// [`CurateError`], also that of `work`; the file is as it was then.
    pub fn change<T>(
        &self,
        seen: &str,
        work: impl FnOnce(&mut TasksFile) -> Result<(String, T), CurateError>,
    ) -> Result<T, CurateError> {
        let _lock = self.lock()?;
        let text = self.text()?;
        if version_of(text.as_deref()) != seen {
            return Err(CurateError::Changed);
        }
        let mut file = self.parse(text.as_deref())?;
        let (words, answer) = work(&mut file)?;
        let new = print_tasks(&file);
        // No file is as good as one without tasks.
        let is_change = match &text {
            Some(old) => *old != new,
            None => file != TasksFile::default(),
        };
        if is_change {
            let before = Before { words, led_to: version_of(Some(&new)), text };
            let before = serde_json::to_vec(&before).map_err(io::Error::other);
            let written = before.and_then(|bytes| write(&self.undo_path(), &bytes));
            written.map_err(failed("write", &self.undo_path()))?;
            write(&self.path, new.as_bytes()).map_err(failed("write", &self.path))?;
        }
        Ok(answer)
    }

    /// Takes the last change back, if the file is still the version that was seen. Says what that change had done.
    ///
    /// # Errors
    /// [`CurateError`]; the file is as it was then.
    pub fn undo(&self, seen: &str) -> Result<String, CurateError> {
        let _lock = self.lock()?;
        let version = version_of(self.text()?.as_deref());
        if version != seen {
            return Err(CurateError::Changed);
        }
        let before = self.before().filter(|before| before.led_to == version);
        let before = before.ok_or(CurateError::NothingToUndo)?;
        let put = match &before.text {
            Some(text) => write(&self.path, text.as_bytes()),
            None => live_file::discard(&self.path),
        };
        put.map_err(failed("write", &self.path))?;
        let undo = self.undo_path();
        live_file::discard(&undo).map_err(failed("remove", &undo))?;
        Ok(before.words)
    }

    fn text(&self) -> Result<Option<String>, CurateError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(reason) => Err(failed("read", &self.path)(reason)),
        }
    }

    fn parse(&self, text: Option<&str>) -> Result<TasksFile, CurateError> {
        let Some(text) = text else { return Ok(TasksFile::default()) };
        let error = |problem| TasksFileError { path: self.path.clone(), problem };
        Ok(parse_draft(text).map_err(error)?)
    }

    fn before(&self) -> Option<Before> {
        serde_json::from_slice(&fs::read(self.undo_path()).ok()?).ok()
    }

    fn undo_path(&self) -> PathBuf {
        self.path.with_extension("undo.json")
    }

    /// The lock ends with the file that is given back.
    fn lock(&self) -> Result<File, CurateError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
        let path = self.path.with_extension("lock");
        let lock = File::create(&path).and_then(|file| file.lock().map(|()| file));
        lock.map_err(failed("lock", &path))
    }
}

/// It quotes a person's sessions.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    live_file::replace(path, bytes, Mode::Private)
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CurateError {
    let path = path.to_owned();
    move |reason| CurateError::Io { action, path, reason }
}

fn version_of(text: Option<&str>) -> String {
    text.map(|text| Sha256Hex::of(text).as_str().to_owned()).unwrap_or_default()
}
