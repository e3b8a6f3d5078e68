//! What nights remember: when they last harvested, their history, tasks for recall. One file for all projects, in the
//! reference system's format, with keys of other programs kept. A damaged file is refused, never replaced by a fresh one.

mod file;
mod known;

pub use file::{StateError, StateFile};
pub use known::KnownNights;

use crate::instant;
use crate::task::TaskRecord;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The most tasks that are kept for recall.
pub const ARCHIVE_CAP: usize = 300;

/// The format of `last_model_key`.
const MODEL_KEY_FORMAT: u32 = 2;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    version: u32,
    /// Nights of all projects.
    night: u32,
    /// By project: where the reference system's harvest goes on.
    last_harvest: BTreeMap<String, String>,
    slow_memory: String,
    // Rows and tasks stay JSON, so that keys of other programs survive.
    history: Vec<Value>,
    task_archive: Vec<Value>,
    last_model_key: String,
    last_model_key_format: u32,
    /// Our own, by project.
    skillopt_projects: BTreeMap<String, ProjectState>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// What is kept for one project beyond the reference system's keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ProjectState {
    night: u32,
    harvest_cursor: Value,
    /// Tasks whose session was taken, beyond the limit of the night that took it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_tasks: Vec<TaskRecord>,
    last_model_key: String,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: 1,
            night: 0,
            last_harvest: BTreeMap::new(),
            slow_memory: String::new(),
            history: Vec::new(),
            task_archive: Vec::new(),
            last_model_key: String::new(),
            last_model_key_format: MODEL_KEY_FORMAT,
            skillopt_projects: BTreeMap::new(),
            others: Map::new(),
        }
    }
}

/// One night of the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NightRow {
    /// Number of the night in its project; in rows of the reference system, over all projects.
    pub night: u32,
    /// Absolute path; empty in rows of the reference system.
    pub project: String,
    /// RFC 3339 in UTC; empty in rows of the reference system.
    pub at: String,
    /// The edits could be adopted.
    pub accepted: bool,
    /// Mean gate score before, 0 to 1.
    pub baseline: Option<f64>,
    /// Mean gate score after, 0 to 1.
    pub candidate: Option<f64>,
    /// Tasks.
    pub n_tasks: u32,
    /// The staging folder; empty when there is none.
    pub staging: String,
}

/// The model of a night is another one than that of the night before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChange {
    /// Before.
    pub before: String,
    /// Now.
    pub now: String,
}

impl State {
    /// Begins a night and gives its number in the project, from 1.
    pub fn begin_night(&mut self, project: &str) -> u32 {
        self.night = self.night.saturating_add(1);
        let known = u32::try_from(self.history_of(project).len()).unwrap_or(u32::MAX);
        let own = self.project(project);
        own.night = own.night.max(known).saturating_add(1);
        own.night
    }

    /// Nights of all projects.
    #[must_use]
    pub fn nights(&self) -> u32 {
        self.night
    }

    /// When the project was last harvested, in milliseconds since 1970. Texts without offset, which the reference
    /// system writes, are local times of `zone`.
    #[must_use]
    pub fn last_harvest_ms(&self, project: &str, zone: &TimeZone) -> Option<u64> {
        instant::parse(self.last_harvest.get(project)?, zone)
    }

    /// Notes when the project was harvested.
    pub fn set_last_harvest(&mut self, project: &str, at_ms: u64) {
        self.last_harvest.insert(project.to_owned(), instant::utc_text(at_ms));
    }

    /// Where the project's harvest goes on, as the harvest wrote it; `Null` at first.
    #[must_use]
    pub fn harvest_cursor(&self, project: &str) -> Value {
        self.skillopt_projects.get(project).map_or(Value::Null, |own| own.harvest_cursor.clone())
    }

    /// Keeps where the project's harvest goes on.
    pub fn set_harvest_cursor(&mut self, project: &str, cursor: Value) {
        self.project(project).harvest_cursor = cursor;
    }

    /// Tasks that wait for the project's next night.
    #[must_use]
    pub fn waiting_tasks(&self, project: &str) -> Vec<TaskRecord> {
        self.skillopt_projects.get(project).map_or(Vec::new(), |own| own.waiting_tasks.clone())
    }

    /// Keeps the tasks that wait for the project's next night, instead of those that waited before.
    pub fn set_waiting_tasks(&mut self, project: &str, tasks: Vec<TaskRecord>) {
        self.project(project).waiting_tasks = tasks;
    }

    /// The nights of a project, oldest first. Rows of the reference system are found by their staging folder.
    #[must_use]
    pub fn history_of(&self, project: &str) -> Vec<NightRow> {
        let of_project = |row: &NightRow| {
            row.project == project
                || row.project.is_empty()
                    && !row.staging.is_empty()
                    && Path::new(&row.staging).starts_with(project)
        };
        self.history().into_iter().filter(of_project).collect()
    }

    /// The nights of all projects, oldest first.
    #[must_use]
    pub fn history(&self) -> Vec<NightRow> {
        self.history.iter().filter_map(|row| serde_json::from_value(row.clone()).ok()).collect()
    }

    /// Adds a night to the history.
    pub fn add_night(&mut self, row: &NightRow) {
        self.history.push(json!(row));
    }

    /// Tasks for recall, oldest first.
    #[must_use]
    pub fn archive(&self) -> Vec<TaskRecord> {
        self.task_archive
            .iter()
            .filter_map(|row| serde_json::from_value(row.clone()).ok())
            .collect()
    }

    /// Keeps tasks for recall: one of an id, the newest, and no more than [`ARCHIVE_CAP`].
    pub fn archive_tasks(&mut self, tasks: &[TaskRecord]) {
        self.task_archive.extend(tasks.iter().map(|task| json!(task)));
        let mut seen = std::collections::HashSet::new();
        let mut kept: Vec<Value> = Vec::new();
        for row in self.task_archive.drain(..).rev() {
            let id = row.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            if kept.len() < ARCHIVE_CAP && seen.insert(id) {
                kept.push(row);
            }
        }
        kept.reverse();
        self.task_archive = kept;
    }

    /// What all nights learned slowly.
    #[must_use]
    pub fn slow_memory(&self) -> &str {
        &self.slow_memory
    }

    /// Notes the model of a night, and tells when the project's night before had another one.
    pub fn note_model(&mut self, project: &str, key: &str) -> Option<ModelChange> {
        let own = self.project(project);
        let before = std::mem::replace(&mut own.last_model_key, key.to_owned());
        key.clone_into(&mut self.last_model_key);
        self.last_model_key_format = MODEL_KEY_FORMAT;
        let changed = !before.is_empty() && before != key;
        changed.then(|| ModelChange { before, now: key.to_owned() })
    }

    fn project(&mut self, project: &str) -> &mut ProjectState {
        self.skillopt_projects.entry(project.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests;
