//! Evidence on the wire: tasks by skills, two attempts beside each other, and the origin of each line of a skill.

use super::Trajectory;
use crate::blame::Origin;
use crate::diff::Diff;
use crate::edit::Edit;
use crate::hash::Sha256Hex;
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::matrix::{CellState, TaskFilter, TaskOrder};
use crate::outcome::RolloutPurpose;
use serde::{Deserialize, Serialize};

/// Query of `GET /runs/{id}/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct MatrixQuery {
    /// Whose measurements; default `selection`.
    pub purpose: Option<RolloutPurpose>,
    /// Only skills that were kept; default: candidates too.
    pub kept: Option<bool>,
    /// Which tasks; default `all`.
    pub show: Option<TaskFilter>,
    /// Their order; default `changes`.
    pub sort: Option<TaskOrder>,
    /// Only tasks whose id or title contains this text.
    pub q: Option<String>,
    /// Place of the first task, from 0.
    pub row: Option<u32>,
    /// Tasks of a page: 1 to 200, default 50.
    pub rows: Option<u32>,
    /// Place of the first column, from 0; default: the last page.
    pub column: Option<u32>,
    /// Columns of a page: 1 to 60, default 20.
    pub columns: Option<u32>,
}

/// `GET /runs/{id}/tasks`: a part of the matrix of tasks by measured skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskMatrix {
    /// Splits and purposes that have measurements.
    pub purposes: Vec<RolloutPurpose>,
    /// The columns of this page, in the order of measuring.
    pub columns: Vec<MatrixColumn>,
    /// Columns in all.
    pub n_columns: u32,
    /// The tasks of this page.
    pub rows: Vec<MatrixRow>,
    /// Place of the first task of this page, from 0.
    pub first_row: u32,
    /// Tasks that match.
    pub n_rows: u32,
    /// Tasks in all filters, in the order of [`TaskFilter::ALL`].
    pub counts: Vec<u32>,
    /// First and last kept skill, task by task; only for splits that are measured whole.
    pub ends: Option<MatrixEnds>,
}

from_fields! { TaskMatrix {
    purposes, columns, n_columns, rows, first_row, n_rows, counts, ends
} }

/// The first and the last kept skill compared, over tasks that were scored with both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatrixEnds {
    /// Version numbers of both, where they are versions.
    pub versions: Option<(u32, u32)>,
    /// Failed first, passed last.
    pub n_fixed: u32,
    /// Passed first, failed last.
    pub n_broke: u32,
    /// Passed with both.
    pub n_passed: u32,
    /// Failed with both.
    pub n_failed: u32,
}

/// A measured skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatrixColumn {
    /// Its place among all columns, from 0.
    pub place: u32,
    /// The step that measured it; 0 before the first step.
    pub step: u32,
    /// Its number, when it is a version of the skill.
    pub version: Option<u32>,
    /// It is the best skill.
    pub is_best: bool,
    /// The text.
    pub skill: Sha256Hex,
    /// 0 for the first draw; counts on for repeated ones.
    pub repeat: u32,
    /// Tasks that passed.
    pub n_passed: u32,
    /// Tasks that were scored.
    pub n: u32,
    /// Tasks fixed.
    pub n_fixed: u32,
    /// Tasks broken.
    pub n_broke: u32,
    /// Place of the column that it is compared with; `None` when there is none, or when each task is compared with
    /// the last time that it was scored.
    pub base: Option<u32>,
}

/// A task with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatrixRow {
    /// The task.
    pub task: String,
    /// A line that names it for people.
    pub title: String,
    /// Columns that fixed it, of all.
    pub n_fixed: u32,
    /// Columns that broke it, of all.
    pub n_broke: u32,
    /// One a column of this page.
    pub cells: Vec<MatrixCell>,
}

/// A task with a skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatrixCell {
    /// What became of it.
    pub state: CellState,
    /// Soft score, where it was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<f64>,
    /// Number of the trajectory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Number of the trajectory that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<u64>,
}

/// `GET /runs/{id}/trajectories/{number}/beside/{other}`: two attempts at one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryPair {
    /// The first one.
    pub left: Trajectory,
    /// The other one.
    pub right: Trajectory,
    /// Places of the messages that are the same in both, from 0.
    pub same: Vec<u32>,
    /// From the skill of the first one to that of the other; `None` when a text is not known.
    pub skill: Option<Diff>,
}

from_fields! { TrajectoryPair {
    left, right, same, skill
} }

/// `GET /runs/{id}/versions/{version}/blame`: what brought each line of a version.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillBlame {
    /// The version.
    pub version: u32,
    /// The text.
    pub skill: Sha256Hex,
    /// All lines, in order.
    pub lines: Vec<BlamedLine>,
    /// What brought them, each once, in the order of happening.
    pub origins: Vec<OriginNote>,
}

from_fields! { SkillBlame {
    version, skill, lines, origins
} }

/// A line with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BlamedLine {
    /// The text, without its line end.
    pub text: String,
    /// Place of its origin in the list of origins, from 0.
    pub origin: u32,
    /// Place of the origin of the line whose place it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
}

/// What is known about an origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OriginNote {
    /// What it is.
    #[serde(flatten)]
    pub origin: Origin,
    /// The version that it came with.
    pub version: Option<u32>,
    /// Lines of this version that it brought.
    pub n_lines: u32,
    /// The edit, where it is one.
    pub edit: Option<Edit>,
    /// Why the version was kept, in one sentence; empty when there is nothing to say.
    pub reason: String,
    /// Trajectories of the step's batch that are of the kind from which the edit was made; `None` when not known.
    pub n_trajectories: Option<u32>,
}

from_fields!(OriginNote);

impl FromFields for OriginNote {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            version: fields.take("version")?,
            n_lines: fields.take("n_lines")?,
            edit: fields.take("edit")?,
            reason: fields.take("reason")?,
            n_trajectories: fields.take("n_trajectories")?,
            origin: Origin::from_fields(fields)?,
        })
    }
}
