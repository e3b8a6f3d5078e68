//! The stages of a night, in order, over one state: the documents as they stand, what they score, and what became of
//! every edit.

use super::gate::{Comparison, Measured, compare};
use super::measure::measure_sets;
use super::outcome::{HoldoutRow, Measurement, NightError, NightOutcome};
use super::partition::{Parts, partition};
use super::{GateMode, NightEvent, NightInput};
use crate::backend::{Docs, Draw, LostEdit, Phase};
use crate::block::{apply_edits, slow_update};
use crate::dream::{SlowProposal, compare_versions, dream, propose_guidance, recall, roll_out};
use crate::reflect::{ReflectOrder, contrast, cut, reflect};
use crate::replay::{Draws, NightTools, Replayed, aggregate, count, replay_each, replay_sets};
use crate::task::TaskRecord;
use serde_json::json;
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord, Target};
use skillopt_domain::night::report::GateAction;
use skillopt_domain::outcome::Outcome;
use skillopt_domain::spend::SpendByRole;
use std::collections::HashSet;

/// Draws of the end are others than those that the decisions rest on.
const FINAL_DRAWS: u32 = 1000;
const HEAD_CHARS: usize = 200;

/// A night in the middle.
pub(super) struct Night<'a> {
    pub(super) input: &'a NightInput,
    pub(super) tools: NightTools<'a>,
    pub(super) parts: Parts,
    pub(super) skill: String,
    pub(super) memory: String,
    /// The live documents on the validation tasks.
    baseline: Vec<Measured>,
    /// The documents as they stand on the validation tasks.
    pub(super) standing: Vec<Measured>,
    /// Attempts at the training tasks with the documents as they stood, in task order.
    trained: Vec<Replayed>,
    trained_skill: String,
    /// Attempts at the training tasks with the live documents, in task order.
    trained_live: Vec<Replayed>,
    /// Edits for the other document than the one that was asked for.
    pub(super) carried: Vec<EditRecord>,
    /// Why the last reflection brought no edit.
    why_none: String,
    /// What others spent on the same backend before.
    spent_before: SpendByRole,
    pub(super) outcome: NightOutcome,
}

impl<'a> Night<'a> {
    pub(super) fn begin(input: &'a NightInput) -> Result<Self, NightError> {
        for (document, text) in [("skill", &input.skill), ("memory", &input.memory)] {
            apply_edits(text, &[]).map_err(|damage| NightError::Damaged { document, damage })?;
        }
        let options = &input.options;
        let mut parts = partition(&input.tasks);
        if !parts.train.is_empty() {
            parts.train.extend(recall(&input.tasks, &input.archive, options.recall_k));
            parts.train.extend(dream(&parts.train, options.dream_factor));
        }
        let tools = NightTools {
            backend: input.backend.as_ref(),
            evidence: &input.evidence,
            events: input.events.as_ref(),
            workers: options.workers,
            error_share: options.error_share,
        };
        tools.events.tell(NightEvent::Partitioned {
            n_train: count(parts.train.len()),
            n_val: count(parts.val.len()),
            n_test: count(parts.test.len()),
            leaked: parts.leaked,
        });
        let outcome = NightOutcome {
            holdout_leaked: parts.leaked,
            gate_no_regression: options.rule.no_regression,
            ..NightOutcome::default()
        };
        Ok(Self {
            input,
            tools,
            parts,
            skill: input.skill.clone(),
            memory: input.memory.clone(),
            baseline: Vec::new(),
            standing: Vec::new(),
            trained: Vec::new(),
            trained_skill: String::new(),
            trained_live: Vec::new(),
            carried: Vec::new(),
            why_none: "no edits were looked for".to_owned(),
            spent_before: input.backend.spend(),
            outcome,
        })
    }

    pub(super) fn is_gated(&self) -> bool {
        self.input.options.gate == GateMode::On
    }

    fn docs(&self) -> Docs<'_> {
        Docs { skill: &self.skill, memory: &self.memory }
    }

    pub(super) async fn measure_baseline(&mut self) -> Result<(), NightError> {
        if !self.is_gated() {
            return Ok(());
        }
        let (measured, rows) = self.measure(self.docs(), Phase::BaselineVal, 0).await?;
        let rule = &self.input.options.rule;
        self.outcome.baseline = Measurement::of(&measured, rule);
        self.outcome.candidate = self.outcome.baseline;
        let fields =
            json!({"score": self.outcome.baseline, "formula": rule.formula(), "tasks": rows});
        self.tools.evidence.record("gate", "baseline", fields);
        self.outcome.holdout_detail = rows;
        self.standing.clone_from(&measured);
        self.baseline = measured;
        Ok(())
    }

    /// Measures every validation task with both documents, several times where the options say so.
    pub(super) async fn measure(
        &self,
        docs: Docs<'_>,
        phase: Phase,
        first_draw: u32,
    ) -> Result<(Vec<Measured>, Vec<HoldoutRow>), NightError> {
        let tasks = &self.parts.val;
        let draws = Draws { phase, first: first_draw, n: self.input.options.gate_repeats };
        let sets = replay_sets(&self.tools, tasks, docs, draws).await?;
        let rows = tasks.iter().zip(&sets).map(|(task, set)| row(task, set)).collect();
        Ok((measure_sets(tasks, &sets), rows))
    }

    pub(super) async fn train(&mut self) -> Result<(), NightError> {
        self.replay_train(Phase::Train).await?;
        self.trained_live.clone_from(&self.trained);
        Ok(())
    }

    /// The training tasks once more, when the skill is another one by now.
    pub(super) async fn train_again(&mut self) -> Result<(), NightError> {
        match self.skill == self.trained_skill {
            true => Ok(()),
            false => self.replay_train(Phase::TrainPostSkill).await,
        }
    }

    async fn replay_train(&mut self, phase: Phase) -> Result<(), NightError> {
        let draw = Draw::first(phase);
        self.trained = replay_each(&self.tools, &self.parts.train, self.docs(), draw).await?;
        self.trained_skill.clone_from(&self.skill);
        Ok(())
    }

    /// Asks for edits of one document and tries them.
    pub(super) async fn evolve(&mut self, target: Target) -> Result<(), NightError> {
        let proposed = self.propose(target).await?;
        self.tools.events.tell(NightEvent::Reflected {
            target,
            n_edits: count(proposed.edits.len()),
            reason: proposed.reason.clone(),
        });
        let fields = json!({
            "target": target, "edits": proposed.edits, "n_dropped": proposed.n_dropped,
            "reason": proposed.reason, "tokens": proposed.tokens,
        });
        self.tools.evidence.record("reflect", "edits_returned", fields);
        if !proposed.raw.is_empty() {
            self.outcome.reflect_raw = proposed.raw;
        }
        if proposed.edits.is_empty() {
            self.why_none = proposed.reason;
        }
        let (own, other): (Vec<_>, Vec<_>) =
            proposed.edits.into_iter().partition(|edit| edit.target == target);
        let mut edits: Vec<EditRecord> = Vec::new();
        self.carried.retain(|edit| {
            let is_due = edit.target == target;
            edits.extend(is_due.then(|| edit.clone()));
            !is_due
        });
        edits.extend(own);
        self.carried.extend(other);
        self.try_edits(target, edits).await
    }

    /// Edits for a document whose turn was over when they were proposed.
    pub(super) async fn try_carried(&mut self) -> Result<(), NightError> {
        for edit in std::mem::take(&mut self.carried) {
            let is_wanted = match edit.target {
                Target::Skill => self.input.options.evolve_skill,
                Target::Memory => self.input.options.evolve_memory,
            };
            match is_wanted {
                true => self.try_edits(edit.target, vec![edit]).await?,
                false => self.outcome.unmatched_edits.push(edit),
            }
        }
        Ok(())
    }

    /// Guidance on what the new skill loses, from the training tasks alone. It is a candidate that has to win.
    pub(super) async fn slow_update(&mut self) -> Result<(), NightError> {
        let is_new = self.skill != self.input.skill;
        if !self.input.options.slow_update || !self.is_gated() || !is_new {
            return Ok(());
        }
        self.train_again().await?;
        let movement = compare_versions(&self.parts.train, &self.trained_live, &self.trained);
        let versions = (self.input.skill.as_str(), self.skill.as_str());
        self.tools.events.tell(NightEvent::GuidanceBegan);
        let proposal = propose_guidance(self.tools.backend, versions, &movement).await?;
        let words = match proposal {
            SlowProposal::Nothing(reason) => format!("no slow update: {reason}"),
            SlowProposal::Refused(refusal) => format!("no slow update: {refusal}"),
            SlowProposal::Candidate(text) => {
                let won = self.wins(Target::Skill, &text).await?;
                self.outcome.guidance = guidance_between(&self.skill, &text, won);
                if won {
                    self.skill = text;
                }
                format!("a slow update of the skill {} its trial", if won { "won" } else { "lost" })
            }
        };
        self.tools.evidence.record("reflect", "slow_update", json!({"result": words}));
        self.outcome.notes.push(words);
        Ok(())
    }

    async fn propose(&self, target: Target) -> Result<crate::backend::Proposed, NightError> {
        let options = &self.input.options;
        let tonight = self.outcome.rejected_edits.iter().cloned().map(LostEdit::from);
        let lost: Vec<LostEdit> =
            self.input.rejected_before.iter().cloned().chain(tonight).collect();
        let order = ReflectOrder {
            target,
            docs: self.docs(),
            tasks: &self.parts.train,
            replayed: &self.trained,
            budget: options.edit_budget,
            preferences: &options.preferences,
            rejected: &lost,
        };
        if options.rollouts > 1 {
            let phase = match self.skill == self.input.skill {
                true => Phase::Train,
                false => Phase::TrainPostSkill,
            };
            let depth = (phase, options.rollouts);
            let rule = &options.rule;
            let sets = roll_out(&self.tools, &self.parts.train, self.docs(), depth, rule).await?;
            self.tools.events.tell(NightEvent::ReflectBegan { target });
            let proposed = contrast(self.tools.backend, &order, &sets).await?;
            if !proposed.edits.is_empty() {
                return Ok(proposed);
            }
        }
        self.tools.events.tell(NightEvent::ReflectBegan { target });
        Ok(reflect(self.tools.backend, &order).await?)
    }

    /// Measures what stands at the end with draws of its own and decides.
    pub(super) async fn measure_end(&mut self) -> Result<(), NightError> {
        let changed = !self.outcome.applied_edits.is_empty();
        match (self.is_gated(), changed) {
            (false, true) => {
                self.decide(GateAction::GreedyApplied, "the gate is off: nothing was validated");
            }
            (false, false) => {
                self.decide(GateAction::GreedyNoop, "the gate is off, and nothing applied");
            }
            (true, false) => {
                self.decide(GateAction::Reject, "no edit stood at the end");
            }
            (true, true) => {
                let (end, _) = self.measure(self.docs(), Phase::FinalVal, FINAL_DRAWS).await?;
                let rule = &self.input.options.rule;
                let comparison = compare("final", &self.baseline, &end, rule);
                self.outcome.candidate = Measurement::of(&end, rule);
                self.tell_trial(&comparison);
                self.judge_end(&comparison);
                self.outcome.gate_trials.push(comparison.trial);
            }
        }
        Ok(())
    }

    fn judge_end(&mut self, comparison: &Comparison) {
        let words = &comparison.trial.words;
        match (comparison.trial.accepted, self.parts.leaked) {
            (true, false) => self.decide(GateAction::AcceptNewBest, words),
            (true, true) => {
                let reason = format!(
                    "better on tasks that the edits were made from, which proves nothing; {words}"
                );
                self.decide(GateAction::RejectUnverified, &reason);
            }
            (false, _) if comparison.trial.blocked_by_regression => {
                self.decide(
                    GateAction::Reject,
                    &format!("better as a whole, but a task got worse; {words}"),
                );
            }
            (false, _) => {
                self.decide(
                    GateAction::Reject,
                    &format!("measured anew, the gain did not hold; {words}"),
                );
            }
        }
    }

    fn decide(&mut self, action: GateAction, reason: &str) {
        let accepted = match action {
            GateAction::AcceptNewBest | GateAction::Accept | GateAction::GreedyApplied => true,
            GateAction::Reject | GateAction::RejectUnverified | GateAction::GreedyNoop => false,
        };
        self.outcome.gate_action = action;
        self.outcome.accepted = accepted;
        reason.clone_into(&mut self.outcome.reason);
        if !accepted {
            let tentative = std::mem::take(&mut self.outcome.applied_edits);
            self.outcome.rejected_edits.extend(tentative);
            if let Some(guidance) = &mut self.outcome.guidance {
                guidance.accepted = false;
            }
            self.skill.clone_from(&self.input.skill);
            self.memory.clone_from(&self.input.memory);
        }
        let (baseline, candidate) = (self.outcome.baseline, self.outcome.candidate);
        let score = |measured: Option<Measurement>| {
            measured.map_or("none".to_owned(), |m| format!("{:.4} (n {})", m.score, m.mean.n))
        };
        let rule = self.input.options.rule.formula();
        let formula = format!("{rule}: {} -> {}; {reason}", score(baseline), score(candidate));
        let fields = json!({
            "gate_action": action, "accepted": accepted, "formula": formula, "baseline": baseline,
            "candidate": candidate, "holdout_leaked": self.parts.leaked,
        });
        self.tools.evidence.record("gate", "decision", fields);
        let reason = reason.to_owned();
        self.tools.events.tell(NightEvent::Decided { action, accepted, reason });
    }

    /// The documents that the night ends with, on tasks that nothing was decided on.
    pub(super) async fn measure_test(&mut self) -> Result<(), NightError> {
        if self.parts.test.is_empty() {
            return Ok(());
        }
        let draws = Draws::up_to(Phase::Test, 1);
        let sets = replay_sets(&self.tools, &self.parts.test, self.docs(), draws).await?;
        let tests = measure_sets(&self.parts.test, &sets);
        self.outcome.test = Measurement::of(&tests, &self.input.options.rule);
        let mean = self.outcome.test.map(|measured| measured.mean);
        let fields = json!({
            "n_test": mean.map_or(0, |mean| mean.n), "hard": mean.map(|mean| mean.hard),
            "soft": mean.map(|mean| mean.soft), "accepted": self.outcome.accepted,
            "gate_action": self.outcome.gate_action,
        });
        self.tools.evidence.record("test", "held_out_score", fields);
        Ok(())
    }

    pub(super) fn finish(mut self) -> NightOutcome {
        // A text that no edit changed is nothing to adopt.
        let changed = |new: &String, old: &String| (new != old).then(|| new.clone());
        self.outcome.new_skill = changed(&self.skill, &self.input.skill);
        self.outcome.new_memory = changed(&self.memory, &self.input.memory);
        let Parts { train, val, test, .. } = &self.parts;
        let ids: HashSet<&str> =
            train.iter().chain(val).chain(test).map(|task| task.id.as_str()).collect();
        self.outcome.n_replayed = count(ids.len());
        self.outcome.no_edits_reason = self.no_edits_reason();
        self.outcome.call_error = self.tools.backend.last_error();
        self.outcome.spend = self.tools.backend.spend().since(&self.spent_before);
        if self.tools.backend.is_simulated() {
            self.outcome
                .notes
                .push("simulated: this night proves plumbing, nothing about models".to_owned());
        }
        let n_lost = self.tools.evidence.n_lost();
        if n_lost > 0 {
            self.outcome
                .notes
                .push(format!("{n_lost} lines of the evidence log could not be written"));
        }
        self.outcome
    }

    fn no_edits_reason(&self) -> String {
        let outcome = &self.outcome;
        if !outcome.applied_edits.is_empty() {
            return String::new();
        }
        match (outcome.gate_action, outcome.rejected_edits.len(), outcome.unmatched_edits.len()) {
            (GateAction::RejectUnverified, n, _) => {
                format!("{n} edits are not validated: {}", outcome.reason)
            }
            (_, n @ 1.., _) => {
                let trial = outcome.gate_trials.iter().rev().find(|trial| !trial.accepted);
                let words = trial.map_or(outcome.reason.as_str(), |trial| trial.words.as_str());
                format!("the gate rejected {n} edits: {words}")
            }
            (_, 0, n @ 1..) => format!("{n} edits were proposed and none changes a document"),
            (_, 0, 0) => self.why_none.clone(),
        }
    }

    pub(super) fn tell_trial(&self, comparison: &Comparison) {
        let trial = &comparison.trial;
        self.tools.evidence.record("gate", "trial", json!(trial));
        self.tools.events.tell(NightEvent::Trial {
            target: trial.target.clone(),
            accepted: trial.accepted,
            baseline: trial.baseline_score,
            candidate: trial.candidate_score,
            words: trial.words.clone(),
        });
    }
}

/// What a slow update wrote into a skill.
fn guidance_between(before: &str, after: &str, accepted: bool) -> Option<GuidanceRecord> {
    let stands = |text: &str| slow_update(text).ok().flatten();
    let before = stands(before).unwrap_or_default();
    Some(GuidanceRecord { target: Target::Skill, content: stands(after)?, before, accepted })
}

fn row(task: &TaskRecord, set: &[Replayed]) -> HoldoutRow {
    let mean = aggregate(set);
    let first = set.first();
    let response = first.map_or("", |replayed| replayed.response.as_str());
    let why = first.map_or("", |replayed| match &replayed.outcome {
        Outcome::Scored { fail_reason, .. } => fail_reason.as_str(),
        Outcome::Refused { reason } => reason,
        Outcome::InfraError { message, .. } | Outcome::JudgeError { message } => message,
    });
    HoldoutRow {
        id: task.id.clone(),
        reference_kind: task.reference_kind,
        hard: mean.map(|mean| mean.hard),
        soft: mean.map(|mean| mean.soft),
        response_len: count(response.chars().count()),
        response_head: cut(response, HEAD_CHARS),
        why: cut(why, HEAD_CHARS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::ReferenceKind;
    use skillopt_domain::score::{Score, TaskScore};

    fn answered(response: &str, outcome: Outcome) -> Replayed {
        Replayed {
            id: "a".into(),
            outcome,
            response: response.into(),
            rationale: String::new(),
            tools_called: Vec::new(),
            tokens: None,
            latency_ms: 0,
        }
    }

    #[test]
    fn a_row_tells_how_the_first_answer_began_and_why_it_scored_so() {
        let task = TaskRecord {
            id: "a".into(),
            reference_kind: ReferenceKind::Exact,
            ..TaskRecord::default()
        };
        let scored = |soft: f64, why: &str| Outcome::Scored {
            score: TaskScore { hard: Score::ZERO, soft: Score::try_new(soft).expect("a score") },
            predicted: String::new(),
            fail_reason: why.into(),
            truncated: false,
        };
        let first = answered(&"é".repeat(250), scored(0.25, &"w".repeat(250)));
        let set = [first, answered("second", scored(0.75, "other"))];
        let told = row(&task, &set);
        assert_eq!((told.id.as_str(), told.reference_kind), ("a", ReferenceKind::Exact));
        assert_eq!((told.hard, told.soft), (Some(0.0), Some(0.5)), "means over the draws");
        assert_eq!((told.response_len, told.response_head), (250, "é".repeat(200)));
        assert_eq!(told.why, "w".repeat(200));
        let refusal = Outcome::Refused { reason: "it will not".into() };
        let refused = row(&task, &[answered("", refusal)]);
        assert_eq!((refused.hard, refused.soft, refused.why.as_str()), (None, None, "it will not"));
    }
}
