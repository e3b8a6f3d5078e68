//! Tasks of a project that a person looks through before a night uses them.

use crate::ids::NightId;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// `GET /sleep/tasks?project=`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CuratedTasks {
    /// Absolute path of the project.
    pub project: String,
    /// The file, in the form that `skillopt sleep run --tasks-file` reads.
    pub path: String,
    /// Hash of the file; empty while there is none. A change names the version that it was made from.
    pub version: String,
    /// A person looked at the tasks.
    pub reviewed: bool,
    /// Whose sessions they are from; may be empty.
    pub source: String,
    /// Sessions that were read.
    pub n_sessions: u32,
    /// The tasks, the muted ones behind the others.
    pub tasks: Vec<CuratedTask>,
    /// What a person should look at in the tasks as a whole.
    pub warnings: Vec<String>,
    /// What the last change did, in words; empty when there is nothing to undo.
    pub can_undo: String,
}

from_fields! { CuratedTasks {
    project, path, version, reviewed, source, n_sessions, tasks, warnings, can_undo
} }

/// A task that can be changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CuratedTask {
    /// Stable over nights.
    pub id: String,
    /// It is kept and not used.
    pub muted: bool,
    /// `train`, `val` or `test`.
    pub split: String,
    /// Sessions that it came from.
    pub sessions: Vec<String>,
    /// What became of it in the session: `success`, `fail`, `mixed` or `unknown`.
    pub outcome: String,
    /// The skill that its session used; may be empty.
    pub skill_hint: String,
    /// Words about it.
    pub tags: Vec<String>,
    /// Tasks with the same number share a session or say the same: they stand in one split.
    pub group: u32,
    /// What can be edited.
    pub text: TaskText,
    /// What is wrong with it, or to look at.
    pub findings: Vec<TaskFinding>,
}

from_fields! { CuratedTask {
    id, muted, split, sessions, outcome, skill_hint, tags, group, text, findings
} }

/// What a person edits of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskText {
    /// What is asked.
    pub intent: String,
    /// What was said around it.
    pub context: String,
    /// How an answer is scored: `rule`, `rubric`, `exact`, `answer` or `none`.
    pub judge: String,
    /// The exact answer, or the rubric.
    pub reference: String,
    /// The checks of `rule`.
    pub checks: Vec<TaskCheck>,
}

/// One check of a rule judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCheck {
    /// The operation, such as `contains`.
    pub op: String,
    /// Its argument as text; empty for none.
    pub arg: String,
}

/// Something about a field of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskFinding {
    /// `intent`, `judge`, `reference`, or `checks[0]` and so on.
    pub field: String,
    /// What it is.
    pub message: String,
    /// The task cannot be used so.
    pub is_error: bool,
}

from_fields! { TaskFinding { field, message, is_error } }

/// `POST /sleep/tasks`: finds tasks and adds those that are new. No model is called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskSearch {
    /// Absolute path of the project.
    pub project: String,
    /// [`CuratedTasks::version`] that was seen.
    pub version: String,
    /// Those of this night; those of sessions when it is left out.
    pub night: Option<NightId>,
    /// Whose sessions; as the config of nights says when it is left out.
    pub source: Option<String>,
    /// Hours to look back; all sessions when it is left out.
    pub lookback_hours: Option<u32>,
    /// Most tasks; as the config of nights says when it is left out.
    pub max_tasks: Option<u32>,
}

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TasksFound {
    /// All tasks, the new ones with them.
    pub tasks: CuratedTasks,
    /// How many were not there before.
    pub n_new: u32,
    /// How many were there already and stay as they were.
    pub n_known: u32,
    /// Why there are none, or what to mind.
    pub notes: Vec<String>,
}

from_fields! { TasksFound { tasks, n_new, n_known, notes } }

/// `POST /sleep/tasks/change`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskChangeRequest {
    /// Absolute path of the project.
    pub project: String,
    /// [`CuratedTasks::version`] that was seen.
    pub version: String,
    /// What is done.
    pub change: TaskChange,
}

/// What a person does to tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskChange {
    /// Other texts.
    Edit {
        /// The task.
        id: String,
        /// Its texts, whole.
        text: TaskText,
    },
    /// Keep them, and use them no more.
    Mute(Vec<String>),
    /// Use them again.
    Unmute(Vec<String>),
    /// They go.
    Delete(Vec<String>),
    /// One task with the sessions and tags of all.
    Merge {
        /// Two or more.
        ids: Vec<String>,
        /// The one whose texts stay.
        keep: String,
    },
    /// Another split.
    Move {
        /// The tasks; all that share a session have to go together.
        ids: Vec<String>,
        /// `train`, `val` or `test`.
        split: String,
    },
    /// A person looked at all of them, or takes that back.
    Review(bool),
    /// Take back the last change.
    Undo,
}

/// `POST /sleep/tasks/try`: what is wrong with texts, and how they score a reply. Changes nothing, calls nobody.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskTrial {
    /// The texts as they are typed.
    pub text: TaskText,
    /// A reply to score.
    #[serde(default)]
    pub reply: Option<String>,
}

/// What came of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskTried {
    /// What is wrong with the texts, or to look at.
    pub findings: Vec<TaskFinding>,
    /// `None` when there is no reply, something is wrong, or a model would have to judge.
    pub score: Option<TrialScore>,
    /// Why a reply has no score; empty otherwise.
    pub unscored: String,
}

from_fields! { TaskTried { findings, score, unscored } }

/// The score of a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrialScore {
    /// 1 when it passes, else 0.
    pub hard: f64,
    /// How much of it passes, 0 to 1.
    pub soft: f64,
    /// Why.
    pub rationale: String,
    /// For each check whether it passed; empty for other judges.
    pub passed: Vec<bool>,
}

from_fields! { TrialScore { hard, soft, rationale, passed } }
