//! What the state keeps of a night, and what is thrown away of older ones.

use crate::config::Config;
use crate::night::{NightPlan, NightResult};
use crate::stage::{LeftIn, Retention, purge, purge_leftovers};
use crate::state::{NightRow, StateError, StateFile};
use crate::task::TaskRecord;
use serde_json::json;

/// The history, the tasks for recall, and where the next harvest goes on.
pub(super) fn remember(
    plan: &NightPlan,
    state: &StateFile,
    result: &NightResult,
    (harvested_ms, waiting): (Option<u64>, Vec<TaskRecord>),
    now_ms: u64,
) -> Result<(), StateError> {
    let report = &result.report;
    let project = report.project.clone();
    state.update(|state| {
        while state.begin_night(&project) < report.night {}
        // Tasks from a file say nothing about what was harvested.
        if let Some((harvest, at_ms)) = result.harvest.as_ref().zip(harvested_ms) {
            state.set_last_harvest(&project, at_ms);
            state.set_harvest_cursor(&project, json!(harvest.state));
            let waiting = waiting.iter().map(TaskRecord::redacted).collect();
            state.set_waiting_tasks(&project, waiting);
        }
        let real: Vec<TaskRecord> =
            result.tasks.iter().filter(|task| task.is_real()).map(TaskRecord::redacted).collect();
        state.archive_tasks(&real);
        state.note_model(&project, &model_key(&plan.config));
        state.add_night(&NightRow {
            night: report.night,
            project: project.clone(),
            at: report.ended_at.clone(),
            accepted: report.accepted,
            baseline: report.baseline_score,
            candidate: report.candidate_score,
            n_tasks: report.n_tasks,
            staging: result.staging.as_ref().map_or(String::new(), |dir| dir.display().to_string()),
        });
    })?;
    tidy(plan, now_ms);
    Ok(())
}

/// What is older than the config keeps goes. Best effort: an old folder that stays harms nobody.
fn tidy(plan: &NightPlan, now_ms: u64) {
    let small = |count| u32::try_from(count).unwrap_or(u32::MAX);
    let Config { invoked_project, state_dir, env, .. } = &plan.config;
    let keep_days = small(plan.config.keep_days);
    // The night that has just been laid aside stays, whatever the config says.
    let keep_nights = small(plan.config.keep_nights).max(1);
    let _ = purge(invoked_project, Retention { keep_nights, keep_days }, now_ms);
    let left_in =
        LeftIn { project: invoked_project, state_dir, shared_handoffs: env.handoff_dir.as_deref() };
    let _ = purge_leftovers(left_in, keep_days, now_ms);
}

/// Who answers, as the state notes it: learned text may not hold for another model.
pub(in crate::night) fn model_key(config: &Config) -> String {
    let (target, optimizer) = (config.target(), config.optimizer());
    let of = |role: &crate::config::RoleBackend| format!("{}::{}", role.backend, role.model);
    match target == optimizer {
        true => of(&target),
        false => format!("optimizer={};target={}", of(&optimizer), of(&target)),
    }
}
