//! The files of a Python-compatible run folder, made from what a step found out. Names and fields are those
//! of the Python system; paths inside are relative, so that a folder can be moved.

use crate::rollout::Rollouts;
use crate::run::{Run, TrainError};
use crate::select::Selection;
use crate::train::{Standing, StepFacts};
use crate::update::Updated;
use serde_json::{Map, Value, json};
use skillopt_domain::config::LrControl;
use skillopt_domain::edit::{Edit, EditReport, EditStatus};
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::{Measured, StepSummary, TestedSkill};
use skillopt_domain::proposal::{AppendixReport, LrDecision};
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::Spend;
use skillopt_domain::verdict::Action;
use std::collections::BTreeMap;

/// Rows of `history.json` so far.
#[derive(Debug)]
pub(crate) struct Artifacts {
    baseline: Measured,
    steps_per_epoch: u32,
    history: Vec<Value>,
    decisions: String,
    test_initial: Option<MeanScore>,
    test_best: Option<MeanScore>,
    test_last: Option<MeanScore>,
}

/// Whether an earlier attempt of the run finished the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It did: its files are there, and are not set back.
    Known,
    /// It is finished now.
    New,
}

/// The history is a single file. From this many rows on it is written every so many steps only, and at the end.
const MANY_ROWS: usize = 500;
const WRITE_EVERY: usize = 25;

/// Last and best skill on the selection split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinalScores<'a> {
    pub(crate) last: Option<&'a Measured>,
    pub(crate) best: Option<&'a Measured>,
}

impl Artifacts {
    pub(crate) fn new(baseline: Measured, steps_per_epoch: u32) -> Self {
        Self {
            baseline,
            steps_per_epoch,
            history: Vec::new(),
            decisions: String::new(),
            test_initial: None,
            test_best: None,
            test_last: None,
        }
    }

    pub(crate) async fn write_selection(
        &self,
        run: &Run<'_>,
        step: u32,
        selection: &Selection,
    ) -> Result<(), TrainError> {
        let key = run.input.config.optimizer.update_mode.items_key();
        let file = json!({
            "reasoning": selection.reasoning,
            key: selection.ordered,
            "ranking_details": {"ranking": selection.ranking},
        });
        run.write_json(&format!("steps/step_{step:04}/ranked_edits.json"), &file).await
    }

    /// `lr_decision.json` of the step, and a line of `lr_history.jsonl`.
    pub(crate) async fn write_decision(
        &mut self,
        run: &Run<'_>,
        facts: &StepFacts,
        decision: &LrDecision,
    ) -> Result<(), TrainError> {
        let path = format!("steps/step_{:04}/lr_decision.json", facts.step);
        run.write_json(&path, decision).await?;
        let mut line = json!(decision);
        line["step"] = json!(facts.step);
        line["epoch"] = json!(facts.epoch);
        self.decisions.push_str(&format!("{line}\n"));
        run.write("lr_history.jsonl", self.decisions.clone()).await
    }

    /// `appendix_notes.json`.
    pub(crate) fn notes(appendix: &AppendixReport) -> Value {
        json!({
            "step_notes": appendix.proposed,
            "appendix_after": appendix.notes,
            "detail": appendix.detail,
        })
    }

    /// Rows of `edit_apply_report.json`.
    pub(crate) fn apply_report(updated: &Updated) -> Vec<Value> {
        (1..).zip(&updated.reports).map(|(index, report)| report_row(index, report)).collect()
    }

    /// Everything that a finished step leaves behind.
    pub(crate) async fn write_step(
        &mut self,
        run: &Run<'_>,
        facts: &StepFacts,
        summary: &StepSummary,
        state: &Standing,
        news: News,
    ) -> Result<(), TrainError> {
        let optimizer = &run.input.config.optimizer;
        let control = optimizer.budget_control();
        let row = history_row(self.steps_per_epoch, control, facts, summary, state);
        if news == News::Known {
            self.history.push(row);
            return Ok(());
        }
        let dir = format!("steps/step_{:04}", facts.step);
        run.write_json(&format!("{dir}/step_record.json"), &row).await?;
        run.write_json(&format!("{dir}/trajectory_digest.json"), &digest(facts, summary)).await?;
        self.history.push(row);
        if self.history.len() < MANY_ROWS || self.history.len().is_multiple_of(WRITE_EVERY) {
            run.write_json("history.json", &self.history).await?;
        }
        let skill_path = format!("skills/skill_v{:04}.md", facts.step);
        run.write(&skill_path, state.current.text().to_owned()).await?;
        run.write("best_skill.md", state.best.text().to_owned()).await?;
        run.write_json(
            "runtime_state.json",
            &runtime_state(
                facts.step,
                &skill_path,
                (summary.current_score, summary.best_score),
                state,
            ),
        )
        .await
    }

    /// Everything that guidance between epochs leaves behind.
    pub(crate) async fn write_slow_update(
        &self,
        run: &Run<'_>,
        update: &SlowUpdate,
        state: &Standing,
    ) -> Result<(), TrainError> {
        let verdict = update.verdict.as_ref();
        let mean = verdict.and_then(|verdict| verdict.candidate);
        let file = json!({
            "epoch": update.epoch,
            "action": update.action.as_str(),
            "reason": update.reason,
            "reasoning": update.reasoning,
            "slow_update_content": update.content,
            "time_s": seconds(update.wall_ms),
            "candidate_hash": update.candidate.as_ref().map(|sha| sha.short().to_owned()),
            "update_origin": "slow_update_momentum",
            "selection_hard": mean.map(|mean| six(mean.hard)),
            "selection_soft": mean.map(|mean| six(mean.soft)),
            "selection_n": mean.map(|mean| mean.n),
        });
        let path = format!("slow_update/epoch_{:02}/slow_result.json", update.epoch);
        run.write_json(&path, &file).await?;
        if !update.action.is_accepted() {
            return Ok(());
        }
        let skill_path = format!("skills/skill_v{:04}.md", update.step);
        run.write(&skill_path, state.current.text().to_owned()).await?;
        run.write("best_skill.md", state.best.text().to_owned()).await?;
        let best_score = self.best_score(update);
        let scores = (update.current_score, best_score);
        run.write_json(
            "runtime_state.json",
            &runtime_state(update.step, &skill_path, scores, state),
        )
        .await
    }

    /// The best score after guidance was kept: its own when it is the best, else that of the last step.
    fn best_score(&self, update: &SlowUpdate) -> Option<f64> {
        match update.action {
            EpochAction::AcceptNewBest => update.current_score,
            _ => self.history.last().and_then(|row| row["best_score"].as_f64()),
        }
    }

    pub(crate) async fn write_test_summary(
        &self,
        run: &Run<'_>,
        dir: &str,
        rollouts: &Rollouts,
    ) -> Result<(), TrainError> {
        let mut by_type: BTreeMap<&str, (u32, f64)> = BTreeMap::new();
        for outcome in &rollouts.set.outcomes {
            if let Some(score) = outcome.outcome.score() {
                for name in [outcome.task_type.as_str(), "overall"] {
                    let (total, hard) = by_type.entry(name).or_default();
                    *total += 1;
                    *hard += score.hard.get();
                }
            }
        }
        let file: Map<String, Value> = by_type
            .into_iter()
            .map(|(name, (total, hard))| {
                (name.to_owned(), json!({"total": total, "hard_acc": six(hard / f64::from(total))}))
            })
            .collect();
        run.write_json(&format!("{dir}/summary.json"), &file).await
    }

    /// Keeps a score of the final test for the summary.
    pub(crate) fn remember_test(&mut self, which: TestedSkill, score: Option<MeanScore>) {
        match which {
            TestedSkill::Initial => self.test_initial = score,
            TestedSkill::Best => self.test_best = score,
            TestedSkill::Last => self.test_last = score,
        }
    }

    /// `best_skill.md` of a run without steps, the whole history, and `summary.json`.
    pub(crate) async fn finish(
        &self,
        run: &Run<'_>,
        state: &Standing,
        scores: &FinalScores<'_>,
    ) -> Result<(), TrainError> {
        run.write("best_skill.md", state.best.text().to_owned()).await?;
        run.write_json("history.json", &self.history).await?;
        let hard = |score: Option<MeanScore>| score.map(|score| six(score.hard));
        let soft = |score: Option<MeanScore>| score.map(|score| six(score.soft));
        let delta =
            self.test_initial.zip(self.test_best).map(|(from, to)| six(to.hard - from.hard));
        let count = |wanted: fn(&str) -> bool| {
            self.history.iter().filter(|row| row["action"].as_str().is_some_and(wanted)).count()
        };
        let total = run.calls.meter.total_spend();
        let file = json!({
            "version": concat!("skillopt-rust-", env!("CARGO_PKG_VERSION")),
            "baseline_selection_hard": self.baseline.score.map(|score| six(score.hard)),
            "baseline_selection_soft": self.baseline.score.map(|score| six(score.soft)),
            "best_selection_hard": hard(scores.best.and_then(|measured| measured.score)),
            "best_selection_soft": soft(scores.best.and_then(|measured| measured.score)),
            "final_selection_hard": hard(scores.last.and_then(|measured| measured.score)),
            "final_selection_soft": soft(scores.last.and_then(|measured| measured.score)),
            "best_step": state.best_step,
            "best_score": scores.best.and_then(|measured| measured.gate_score).map(six),
            "current_origin": state.current_origin,
            "best_origin": state.best_origin,
            "total_steps": self.history.len(),
            "total_accepts": count(|action| action.contains("accept")),
            "total_rejects": count(|action| action == "reject"),
            "total_skips": count(|action| action.starts_with("skip")),
            "baseline_test_hard": hard(self.test_initial),
            "baseline_test_soft": soft(self.test_initial),
            "test_hard": hard(self.test_best),
            "test_soft": soft(self.test_best),
            "final_test_hard": hard(self.test_last),
            "final_test_soft": soft(self.test_last),
            "test_n": self.test_best.map(|score| score.n),
            "test_delta_hard": delta,
            "total_wall_time_s": seconds(run.input.prior.active_ms + run.calls.meter.active_ms()),
            "token_summary": {
                "target": tokens(total.target),
                "optimizer": tokens(total.optimizer),
                "_total": tokens(total.total()),
            },
        });
        run.write_json("summary.json", &file).await
    }
}

fn report_row(index: u32, report: &EditReport) -> Value {
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
    match report.status {
        EditStatus::Applied => format!("applied_{}", report.edit.op.as_str()),
        EditStatus::Protected => "skipped_protected_region".to_owned(),
        EditStatus::UnknownOp => "skipped_unknown_op".to_owned(),
        EditStatus::NotFound => format!("skipped_{}_target_not_found", report.edit.op.as_str()),
        other => format!("skipped_{}", other.as_str()),
    }
}

fn history_row(
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
        "edit_budget": (control != LrControl::None).then_some(facts.budget),
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
    if let Some(appendix) = facts.updated.as_ref().and_then(|updated| updated.appendix.as_ref()) {
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

fn digest(facts: &StepFacts, summary: &StepSummary) -> Value {
    let mut digest = json!({
        "step": facts.step,
        "action": summary.action.as_str(),
        "n_total": facts.counts.total(),
        "n_fail": facts.counts.failed,
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
                .filter(|report| report.status == EditStatus::Applied)
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

fn runtime_state(
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

fn tokens(spend: Spend) -> Value {
    json!({
        "calls": spend.calls,
        "prompt_tokens": spend.prompt_tokens,
        "completion_tokens": spend.completion_tokens,
        "total_tokens": spend.tokens(),
    })
}

fn seconds(ms: u64) -> Value {
    json!(std::time::Duration::from_millis(ms).as_secs_f64())
}

/// Six decimals, as the Python system writes scores.
fn six(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
