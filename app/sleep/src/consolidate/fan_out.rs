//! Several skills in one night: tasks are grouped by the skill that their session used, and each group is decided on
//! alone. One group's failure stops no other.

use super::{NightError, NightEvent, NightInput, NightOutcome, consolidate_night};
use crate::backend::BackendError;
use crate::task::TaskRecord;
use skillopt_domain::night::report::{GroupStatus, SkillGroupReport};
use std::collections::BTreeMap;

const REASON_CHARS: usize = 300;

/// Tasks that belong to one skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The skill; empty for tasks that belong to none.
    pub skill_name: String,
    /// Its tasks.
    pub tasks: Vec<TaskRecord>,
}

/// The live text of a group's skill, or why there is none.
pub type GroupSkill = Result<String, String>;

/// What became of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOutcome {
    /// For the report.
    pub report: SkillGroupReport,
    /// The decision; `None` when there is none.
    pub outcome: Option<NightOutcome>,
}

/// Groups tasks by the skill that `hints` has for their id, the tasks without one first. The hints are those on which
/// every observation of a task agrees, as [`crate::mine::agreed_hints`] finds them before tasks are merged.
#[must_use]
pub fn group_tasks(tasks: &[TaskRecord], hints: &BTreeMap<String, String>) -> Vec<Group> {
    let mut groups: BTreeMap<&str, Vec<TaskRecord>> = BTreeMap::new();
    for task in tasks {
        let hint = hints.get(&task.id).map_or("", String::as_str);
        groups.entry(hint).or_default().push(task.clone());
    }
    let group =
        |(name, tasks): (&str, Vec<TaskRecord>)| Group { skill_name: name.to_owned(), tasks };
    groups.into_iter().map(group).collect()
}

/// Decides on every group that has a skill of its own. `resolve` finds and reads a skill; what it cannot find is skipped
/// and never measured with another document. The memory stays as it is: it belongs to all skills. Tasks of the archive
/// are recalled within their own group.
///
/// # Errors
/// [`NightError`] when the night cannot go on: it was cancelled, a budget is used up, or somebody has to answer first.
pub async fn consolidate_groups(
    night: &NightInput,
    groups: &[Group],
    resolve: impl Fn(&str) -> GroupSkill + Send + Sync,
) -> Result<Vec<GroupOutcome>, NightError> {
    let mut outcomes = Vec::new();
    for group in groups.iter().filter(|group| !group.skill_name.is_empty()) {
        let n_tasks = crate::replay::count(group.tasks.len());
        night.events.tell(NightEvent::GroupBegan { skill: group.skill_name.clone(), n_tasks });
        let (outcome, status, reason) = match resolve(&group.skill_name) {
            Err(reason) => (None, GroupStatus::Skipped, reason),
            Ok(skill) => match Box::pin(consolidate_night(input_of(night, group, skill))).await {
                Ok(outcome) => {
                    let reason = outcome.no_edits_reason.clone();
                    (Some(outcome), GroupStatus::Consolidated, reason)
                }
                Err(error) if ends_all(&error) => return Err(error),
                Err(error) => (None, GroupStatus::Failed, error.to_string()),
            },
        };
        let report = report(group, status, outcome.as_ref(), &reason);
        outcomes.push(GroupOutcome { report, outcome });
    }
    Ok(outcomes)
}

fn input_of(night: &NightInput, group: &Group, skill: String) -> NightInput {
    let mut options = night.options.clone();
    options.evolve_memory = false;
    let is_own = |task: &&TaskRecord| task.skill_hint.trim() == group.skill_name;
    NightInput {
        tasks: group.tasks.clone(),
        skill,
        options,
        archive: night.archive.iter().filter(is_own).cloned().collect(),
        ..night.clone()
    }
}

/// No other group can go on either.
fn ends_all(error: &NightError) -> bool {
    match error {
        NightError::Backend(error) => match error {
            BackendError::Cancelled
            | BackendError::Budget(_)
            | BackendError::Pending
            | BackendError::Fatal { .. }
            | BackendError::Ledger(_) => true,
            BackendError::Failed { .. }
            | BackendError::Unusable(_)
            | BackendError::Unsupported(_) => false,
        },
        NightError::TooManyErrors { .. } | NightError::Damaged { .. } => false,
    }
}

fn report(
    group: &Group,
    status: GroupStatus,
    outcome: Option<&NightOutcome>,
    reason: &str,
) -> SkillGroupReport {
    let count = crate::replay::count;
    SkillGroupReport {
        skill_name: group.skill_name.clone(),
        status,
        accepted: outcome.is_some_and(|outcome| outcome.accepted),
        gate_action: outcome.map(|outcome| outcome.gate_action),
        baseline_score: outcome.and_then(|outcome| outcome.baseline).map(|m| m.score),
        candidate_score: outcome.and_then(|outcome| outcome.candidate).map(|m| m.score),
        n_tasks: count(group.tasks.len()),
        n_applied_edits: outcome.map_or(0, |outcome| count(outcome.applied_edits.len())),
        n_rejected_edits: outcome.map_or(0, |outcome| count(outcome.rejected_edits.len())),
        reason: crate::reflect::cut(reason, REASON_CHARS),
        edits: outcome.map_or_else(Vec::new, |outcome| outcome.applied_edits.clone()),
        guidance: outcome.and_then(|outcome| outcome.guidance.clone()),
    }
}
