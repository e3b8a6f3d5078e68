//! What is kept of a night: the staging folder, the state, and an adoption at once where the config says so. Blocks.

mod at_once;
mod proposal;
mod remember;

pub(super) use proposal::rejected_before;
pub(super) use remember::model_key;

use super::place::Place;
use super::work::{Decided, Finished};
use super::{NightFailure, NightPlan, NightResult};
use crate::stage::{Published, Reserved, publish};
use crate::state::StateFile;
use at_once::{adopt_if_asked, risks_of};
use remember::remember;
use serde_json::json;
use skillopt_domain::night::report::SleepReport;
use skillopt_engine::ports::Clock;
use std::sync::Arc;

pub(super) fn keep(
    plan: &NightPlan,
    state: &StateFile,
    place: Place,
    finished: Finished,
    clock: &Arc<dyn Clock>,
) -> Result<NightResult, NightFailure> {
    let Finished { report, gathered, decided, evidence } = finished;
    let fields = json!({"accepted": report.accepted, "gate_action": report.gate_action, "n_tasks": report.n_tasks});
    let (waiting, harvest) = (gathered.waiting, gathered.harvest);
    let harvested_ms = harvest.as_ref().map(|harvested| harvested.at_ms);
    let mut result = NightResult {
        report,
        tasks: gathered.tasks,
        harvest: harvest.map(|harvested| harvested.found),
        staging: None,
        staged_skills: Vec::new(),
        adopted: Vec::new(),
        not_adopted: String::new(),
        state_failure: String::new(),
    };
    let now_ms = clock.now_ms();
    let harvested = (harvested_ms, waiting);
    match (place, decided) {
        (Place::Staging(reserved), Some(decided)) => {
            let published = lay_aside(plan, reserved, &result.report, &decided)?;
            evidence.record("stage", "staged", json!({"dir": published.dir}));
            proposal::write_tasks(&published.dir, &result.tasks);
            result.staged_skills = proposal::own_names(&published);
            result.staging = Some(published.dir);
            if let Err(failure) = remember(plan, state, &result, harvested, now_ms) {
                // The proposal is there and can be looked at: that is no failure of the night.
                result.state_failure = failure.to_string();
                let note = format!("what nights remember could not be written: {failure}");
                result.report.notes.push(note);
            }
            let risks = risks_of(&decided, &result.tasks);
            adopt_if_asked(plan, &mut result, &risks, now_ms);
        }
        (Place::Staging(reserved), None) => {
            // A folder without a proposal is nobody's: the history row tells of the night.
            let _ = reserved.give_up();
            remember(plan, state, &result, harvested, now_ms)?;
        }
        (Place::Log(_), _) => {}
    }
    evidence.record("cycle", "end", fields);
    Ok(result)
}

/// Publishes the night, or leaves nothing of it.
fn lay_aside(
    plan: &NightPlan,
    reserved: Reserved,
    report: &SleepReport,
    decided: &Decided,
) -> Result<Published, NightFailure> {
    let proposal = proposal::proposal(plan, report, decided);
    match publish(&reserved, &proposal, &proposal::redacted) {
        Ok(published) => Ok(published),
        Err(failure) => {
            // Best effort: a folder without manifest is no proposal.
            let _ = reserved.give_up();
            Err(failure.into())
        }
    }
}
