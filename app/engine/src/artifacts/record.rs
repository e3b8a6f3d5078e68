//! Rows and records of a run folder, in the words of the Python system.

use crate::train::{Standing, StepFacts};
use crate::update::Updated;
use serde_json::{Map, Value, json};
use skillopt_domain::config::LrControl;
use skillopt_domain::edit::{Edit, EditReport, EditStatus};
use skillopt_domain::event::StepSummary;
use skillopt_domain::spend::Spend;
use skillopt_domain::verdict::Action;

pub(super) fn report_row(index: u32, report: &EditReport) -> Value {
    let cut = |text: Option<&str>| text.unwrap_or_default().chars().take(200).collect::<String>();
    json!({
        "index": index,
        "op": report.edit.op.as_str(),
        "target": cut(report.edit.target.as_deref()),
        "content_preview": cut(report.edit.content.as_deref()),
        "status": python_status(report),
        "detail": report.detail,
    })
}

/// The Python system's word where it has one for the same thing.
fn python_status(report: &EditReport) -> String {
    // By the rules of the Python system the detail is its word.
    if ["applied_", "skipped_"].iter().any(|start| report.detail.starts_with(start)) {
        return report.detail.clone();
    }
    match report.status {
        EditStatus::Applied => format!("applied_{}", report.edit.op.as_str()),
        EditStatus::Protected => "skipped_protected_region".to_owned(),
        EditStatus::UnknownOp => "skipped_unknown_op".to_owned(),
        EditStatus::NotFound => format!("skipped_{}_target_not_found", report.edit.op.as_str()),
        other => format!("skipped_{}", other.as_str()),
    }
}

/// The budget of a step; `None` where there is none: without a schedule, and where nothing was proposed, so that the
/// optimizer was not asked for one.
fn budget(control: LrControl, facts: &StepFacts) -> Option<u32> {
    match control {
        LrControl::Fixed => Some(facts.budget),
        LrControl::Autonomous => facts.decision.as_ref().map(|_| facts.budget),
        LrControl::None => None,
    }
}

pub(super) fn history_row(
    steps_per_epoch: u32,
    control: LrControl,
    facts: &StepFacts,
    summary: &StepSummary,
    state: &Standing,
) -> Value {
    let mut row = json!({
        "step": facts.step,
        "epoch": facts.epoch,
        "step_in_epoch": facts.step.saturating_sub(1) % steps_per_epoch.max(1),
        "rollout_hard": facts.rollout.map(|score| six(score.hard)),
        "rollout_soft": facts.rollout.map(|score| six(score.soft)),
        "rollout_n": facts.rollout.map_or(0, |score| score.n),
        "accumulation_batches": facts.batches.iter().enumerate().map(|(at, (batch, score, n))| json!({
            "batch_idx": at, "batch_seed": batch.seed, "n_envs": n,
            "hard": score.map(|score| six(score.hard)), "soft": score.map(|score| six(score.soft)),
        })).collect::<Vec<_>>(),
        "n_patches": facts.reflection.n_failure_patches + facts.reflection.n_success_patches,
        "n_failure_patches": facts.reflection.n_failure_patches,
        "n_success_patches": facts.reflection.n_success_patches,
        "edit_budget": budget(control, facts),
        "lr_control_mode": control.as_str(),
        "action": summary.action.as_str(),
        "reason": summary.reason,
        "current_score": summary.current_score.map(six),
        "best_score": summary.best_score.map(six),
        "best_step": state.best_step,
        "current_origin": state.current_origin,
        "best_origin": state.best_origin,
        "skill_len": state.current.text().chars().count(),
        "n_errors": facts.n_errors,
        "timing": timing(facts),
        "tokens": facts.stages.iter().map(|stage| {
            (stage.stage.as_str().to_owned(), tokens(stage.spend.total()))
        }).collect::<Map<String, Value>>(),
        "wall_time_s": seconds(facts.stages.iter().map(|stage| stage.wall_ms).sum()),
    });
    if let Some(updated) = &facts.updated {
        row["n_edits_merged"] = json!(facts.n_merged);
        let used = updated.rewrite.as_ref().map(|rewrite| &rewrite.proposals);
        row["n_edits_ranked"] = json!(used.map_or(updated.reports.len(), Vec::len));
        row["support_counts"] = json!(match used {
            Some(notes) => notes.iter().map(|note| note.support_count).collect::<Vec<_>>(),
            None => edits(updated).map(|edit| edit.support_count).collect::<Vec<_>>(),
        });
        row["candidate_hash"] = json!(updated.candidate.sha().short());
        row["candidate_skill_len"] = json!(updated.candidate.text().chars().count());
        if used.is_none() {
            let applied = usize::try_from(updated.n_applied()).unwrap_or_default();
            row["edit_apply_summary"] = json!({
                "total": updated.reports.len(), "applied": applied,
                "skipped": updated.reports.len().saturating_sub(applied), "errors": 0,
            });
        }
    }
    if let Some(decision) = &facts.decision {
        row["lr_decision"] = json!(decision);
    }
    if let Some(rewrite) = facts.updated.as_ref().and_then(|updated| updated.rewrite.as_ref()) {
        row["rewrite_change_summary"] = json!(rewrite.change_summary);
        row["rewrite_status"] = json!(rewrite.status.as_str());
    }
    let own = facts.updated.as_ref().and_then(|updated| updated.appendix.as_ref());
    if let Some(appendix) = own.or(facts.appendix.as_ref()) {
        row["n_execution_lapse_notes"] = json!(facts.reflection.lapse_notes.len());
        row["n_appendix_notes_added"] = json!(appendix.n_added);
        row["n_appendix_notes_total"] = json!(appendix.notes.len());
        row["n_appendix_notes_consolidated"] = json!(appendix.n_condensed);
    }
    if let Some(verdict) = &facts.verdict {
        row["selection_hard"] = json!(verdict.candidate.map(|mean| six(mean.hard)));
        row["selection_soft"] = json!(verdict.candidate.map(|mean| six(mean.soft)));
        row["selection_n"] = json!(verdict.candidate.map(|mean| mean.n));
        row["gate_metric"] = json!(verdict.metric.as_str());
        row["candidate_gate_score"] = json!(verdict.candidate_score.map(six));
    }
    row
}

fn edits(updated: &Updated) -> impl Iterator<Item = &Edit> {
    updated.reports.iter().map(|report| &report.edit)
}

/// The Python system counts all edits that were chosen as rejected; here it is those that were in the candidate.
pub(super) fn digest(facts: &StepFacts, summary: &StepSummary, is_python: bool) -> Value {
    let mut digest = json!({
        "step": facts.step,
        "action": summary.action.as_str(),
        "n_total": facts.counts.total(),
        "n_fail": facts.n_failed(is_python),
        "failure_patterns": facts.reflection.patterns.iter().map(|pattern| json!({
            "pattern": pattern.pattern, "count": pattern.count, "task_ids": pattern.tasks,
        })).collect::<Vec<_>>(),
    });
    if summary.action == Action::Reject {
        let verdict = facts.verdict.as_ref();
        digest["score_before"] = json!(verdict.and_then(|verdict| verdict.current_score).map(six));
        digest["score_after"] = json!(verdict.and_then(|verdict| verdict.candidate_score).map(six));
        digest["rejected_edits"] = json!(
            facts
                .updated
                .iter()
                .flat_map(|updated| &updated.reports)
                .filter(|report| is_python || report.status == EditStatus::Applied)
                .map(|report| json!({
                    "op": report.edit.op.as_str(),
                    "content": report.edit.content,
                    "target": report.edit.target,
                }))
                .chain(
                    facts
                        .updated
                        .iter()
                        .filter_map(|updated| updated.rewrite.as_ref())
                        .flat_map(|rewrite| &rewrite.proposals,)
                        .map(|note| json!({
                            "type": note.kind, "title": note.title, "instruction": note.detail,
                        }))
                )
                .collect::<Vec<_>>()
        );
    }
    digest
}

pub(super) fn runtime_state(
    step: u32,
    skill_path: &str,
    (current_score, best_score): (Option<f64>, Option<f64>),
    state: &Standing,
) -> Value {
    json!({
        "last_completed_step": step,
        "current_skill_path": skill_path,
        "current_score": current_score.map(six),
        "current_origin": state.current_origin,
        "best_skill_path": "best_skill.md",
        "best_score": best_score.map(six),
        "best_step": state.best_step,
        "best_origin": state.best_origin,
    })
}

fn timing(facts: &StepFacts) -> Map<String, Value> {
    facts
        .stages
        .iter()
        .map(|stage| (format!("{}_s", stage.stage.as_str()), seconds(stage.wall_ms)))
        .collect()
}

pub(super) fn tokens(spend: Spend) -> Value {
    let mut tokens = json!({
        "calls": spend.calls,
        "prompt_tokens": spend.prompt_tokens,
        "completion_tokens": spend.completion_tokens,
        "total_tokens": spend.tokens(),
    });
    // What no provider told has no key, so that it is not read as zero.
    let parts = [
        ("cached_prompt_tokens", spend.cached_prompt_tokens),
        ("reasoning_tokens", spend.reasoning_tokens),
    ];
    for (key, told) in parts {
        if let Some(told) = told {
            tokens[key] = json!(told);
        }
    }
    tokens
}

pub(super) fn seconds(ms: u64) -> Value {
    json!(std::time::Duration::from_millis(ms).as_secs_f64())
}

/// Six decimals, as the Python system writes scores.
pub(super) fn six(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_domain::edit::EditOp;

    fn report(op: EditOp, status: EditStatus) -> EditReport {
        let edit = Edit {
            op,
            target: Some("t".repeat(300)),
            content: Some("ü".repeat(300)),
            support_count: 1,
            source_type: skillopt_domain::edit::SourceType::Failure,
            merge_level: 0,
        };
        EditReport { edit, status, detail: "why".into(), resembles_rejected_step: None }
    }

    #[rstest]
    #[case(EditOp::Append, EditStatus::Applied, "applied_append")]
    #[case(EditOp::InsertAfter, EditStatus::Applied, "applied_insert_after")]
    #[case(EditOp::Replace, EditStatus::Applied, "applied_replace")]
    #[case(EditOp::Delete, EditStatus::Applied, "applied_delete")]
    #[case(EditOp::Replace, EditStatus::NotFound, "skipped_replace_target_not_found")]
    #[case(EditOp::Delete, EditStatus::NotFound, "skipped_delete_target_not_found")]
    #[case(EditOp::Replace, EditStatus::Protected, "skipped_protected_region")]
    #[case(EditOp::Unknown("move".into()), EditStatus::UnknownOp, "skipped_unknown_op")]
    #[case(EditOp::Append, EditStatus::Empty, "skipped_empty")]
    #[case(EditOp::Replace, EditStatus::Ambiguous, "skipped_ambiguous")]
    #[case(EditOp::Append, EditStatus::Duplicate, "skipped_duplicate")]
    #[case(EditOp::Append, EditStatus::OverBudget, "skipped_over_budget")]
    fn a_status_has_pythons_word_where_it_means_the_same(
        #[case] op: EditOp,
        #[case] status: EditStatus,
        #[case] expect: &str,
    ) {
        assert_eq!(report_row(0, &report(op, status))["status"], expect);
    }

    #[test]
    fn a_row_of_the_report_has_pythons_fields_and_cuts_texts_at_200() {
        let row = report_row(3, &report(EditOp::Replace, EditStatus::Applied));
        let keys: Vec<&str> = row.as_object().expect("object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["index", "op", "target", "content_preview", "status", "detail"]);
        assert_eq!((&row["index"], &row["op"]), (&json!(3), &json!("replace")));
        for key in ["target", "content_preview"] {
            assert_eq!(row[key].as_str().expect("text").chars().count(), 200, "{key}");
        }
    }
}
