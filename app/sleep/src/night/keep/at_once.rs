//! Adoption at once, where the config says so and nothing speaks against it.

use crate::adopt::{AdoptError, Adoption, Receipt, Selection, adopt};
use crate::block::new_risks;
use crate::night::work::Decided;
use crate::night::{NightPlan, NightResult, is_gated};
use crate::task::{Check, TaskRecord};
use std::path::Path;

/// What speaks against adopting without a look.
pub(super) fn risks_of(decided: &Decided, tasks: &[TaskRecord]) -> Vec<String> {
    let checks: Vec<Check> = tasks.iter().flat_map(TaskRecord::checks).collect();
    let of = |live: &str, text: &Option<String>| match text {
        Some(text) => new_risks(live, text, &checks).iter().map(ToString::to_string).collect(),
        None => Vec::new(),
    };
    let memory = decided.documents.memory.as_ref().map_or("", |memory| &memory.text);
    let mut risks = of(&decided.documents.skill.text, &decided.outcome.new_skill);
    risks.extend(of(memory, &decided.outcome.new_memory));
    risks
}

/// Adopts the managed pair, or says in the result why not.
pub(super) fn adopt_if_asked(
    plan: &NightPlan,
    result: &mut NightResult,
    risks: &[String],
    now_ms: u64,
) {
    let Some(dir) = result.staging.clone() else { return };
    if !plan.config.auto_adopt || !result.report.accepted {
        return;
    }
    if !is_gated(&plan.config) {
        "the gate is off: what nothing was validated on is not adopted at once"
            .clone_into(&mut result.not_adopted);
    } else if !risks.is_empty() {
        result.not_adopted = format!("a person has to look first: {}", risks.join("; "));
    } else {
        match adopt_managed(plan, &dir, now_ms) {
            Ok(receipts) => result.adopted = receipts,
            Err(err) => result.not_adopted = err.to_string(),
        }
    }
    if !result.not_adopted.is_empty() {
        result.report.notes.push(format!("not adopted at once: {}", result.not_adopted));
    }
}

fn adopt_managed(plan: &NightPlan, dir: &Path, at_ms: u64) -> Result<Vec<Receipt>, AdoptError> {
    let adoption = Adoption {
        selection: Selection::Managed,
        derived: Vec::new(),
        actor: plan.actor.clone(),
        at_ms,
    };
    adopt(dir, &adoption, &plan.places)
}
