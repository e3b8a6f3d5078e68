//! The files of a Python-compatible run folder, made from what a step found out. Names and fields are those
//! of the Python system; paths inside are relative, so that a folder can be moved.

mod record;

use crate::rollout::Rollouts;
use crate::run::{Run, TrainError};
use crate::select::Selection;
use crate::train::{Standing, StepFacts};
use crate::update::Updated;
use record::{digest, history_row, report_row, runtime_state, seconds, six, tokens};
use serde_json::{Map, Value, json};
use skillopt_domain::config::UpdateMode;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::{Measured, StepSummary, TestedSkill};
use skillopt_domain::proposal::{AppendixReport, LrDecision, RewriteReport};
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
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

/// Whether an earlier attempt of the run finished a step, or made a decision.
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
        news: News,
    ) -> Result<(), TrainError> {
        let mut line = json!(decision);
        line["step"] = json!(facts.step);
        line["epoch"] = json!(facts.epoch);
        self.decisions.push_str(&format!("{line}\n"));
        if news == News::Known {
            return Ok(());
        }
        let path = format!("steps/step_{:04}/lr_decision.json", facts.step);
        run.write_json(&path, decision).await?;
        run.write("lr_history.jsonl", self.decisions.clone()).await
    }

    /// The file of a whole new text, with the name that the mode gives it.
    pub(crate) fn rewrite_result(
        mode: UpdateMode,
        report: &RewriteReport,
        candidate: &SkillDoc,
    ) -> (&'static str, Value) {
        let is_taken = report.status == EditStatus::Applied;
        let new_skill = is_taken.then(|| candidate.text());
        let mut file = json!({
            "status": report.status.as_str(),
            "detail": report.detail,
            "restored": report.restored,
            "proposals": report.proposals,
        });
        if mode == UpdateMode::FullRewriteMinibatch {
            file["selected_candidate"] = match new_skill {
                Some(text) => json!({
                    "title": report.proposals.first().map(|note| &note.title),
                    "change_summary": report.change_summary,
                    "new_skill": text,
                }),
                None => Value::Null,
            };
            return ("full_rewrite_result.json", file);
        }
        file["change_summary"] = json!(report.change_summary);
        file["new_skill"] = json!(new_skill);
        ("rewrite_result.json", file)
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
        let is_python = run.is_python();
        let mut row = history_row(self.steps_per_epoch, control, facts, summary, state);
        if is_python && optimizer.update_mode != UpdateMode::FullRewriteMinibatch {
            // Nobody sets a budget, and the schedule's holds all the same.
            row["edit_budget"] = json!(facts.updated.as_ref().map(|_| facts.budget));
        }
        if news == News::Known {
            self.history.push(row);
            return Ok(());
        }
        let dir = format!("steps/step_{:04}", facts.step);
        run.write_json(&format!("{dir}/step_record.json"), &row).await?;
        if !(is_python && summary.action.is_skip()) {
            let digest = digest(facts, summary, is_python);
            run.write_json(&format!("{dir}/trajectory_digest.json"), &digest).await?;
        }
        self.history.push(row);
        if self.history.len() < MANY_ROWS || self.history.len().is_multiple_of(WRITE_EVERY) {
            run.write_json("history.json", &self.history).await?;
        }
        let scores = (summary.current_score, summary.best_score);
        write_standing(run, facts.step, scores, state).await
    }

    /// Everything that guidance between epochs leaves behind.
    pub(crate) async fn write_slow_update(
        &self,
        run: &Run<'_>,
        update: &SlowUpdate,
        compared: Option<(MeanScore, MeanScore)>,
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
            "prev_hard": compared.map(|(previous, _)| six(previous.hard)),
            "prev_n": compared.map(|(previous, _)| previous.n),
            "curr_hard": compared.map(|(_, current)| six(current.hard)),
            "curr_n": compared.map(|(_, current)| current.n),
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
        let scores = (update.current_score, self.best_score(update));
        write_standing(run, update.step, scores, state).await
    }

    /// What the first epoch of the Python system leaves behind when guidance may be written later.
    pub(crate) async fn write_placeholder(
        &self,
        run: &Run<'_>,
        epoch: u32,
        (step, state): (u32, &Standing),
    ) -> Result<(), TrainError> {
        let file = json!({"action": "inject_placeholder", "epoch": epoch});
        run.write_json(&format!("slow_update/epoch_{epoch:02}/slow_result.json"), &file).await?;
        let last = self.history.last();
        let score = |key: &str| last.and_then(|row| row[key].as_f64());
        write_standing(run, step, (score("current_score"), score("best_score")), state).await
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
        run.write_json("history.json", &self.history).await?;
        // A last look may have made the last skill the best one.
        let step = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        let gate = |measured: Option<&Measured>| measured.and_then(|measured| measured.gate_score);
        write_standing(run, step, (gate(scores.last), gate(scores.best)), state).await?;
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

/// Current and best skill, and what a reader resumes from. `scores` are theirs, in the gate's number.
async fn write_standing(
    run: &Run<'_>,
    step: u32,
    scores: (Option<f64>, Option<f64>),
    state: &Standing,
) -> Result<(), TrainError> {
    let skill_path = format!("skills/skill_v{step:04}.md");
    run.write(&skill_path, state.current.text().to_owned()).await?;
    run.write("best_skill.md", state.best.text().to_owned()).await?;
    run.write_json("runtime_state.json", &runtime_state(step, &skill_path, scores, state)).await
}
