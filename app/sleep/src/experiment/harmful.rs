//! The proof that the gate stops harm: an optimizer that proposes a harmful edit, a target that follows it, and a night
//! that measures what it does. With a gate that is broken or off the proof fails.

use super::Persona;
use crate::backend::{
    Attempt, Attempted, Backend, BackendError, HARMFUL_RULE, Judged, Judging, Mock, Proposed,
    Reflection, Said, SlowQuestion, TextQuestion, sentence_of,
};
use crate::consolidate::{
    GateMode, NightError, NightInput, NightOptions, NightOutcome, Silent, consolidate_night,
};
use crate::evidence::Evidence;
use crate::task::{Split, TaskRecord};
use async_trait::async_trait;
use serde::Serialize;
use skillopt_domain::night::edit::{EditOp, EditRecord};
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ctx::RunCtx;
use std::sync::Arc;

/// What became of the harmful edit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmfulProof {
    /// The edit that was proposed.
    pub edit: String,
    /// A trial measured it.
    pub was_measured: bool,
    /// Gate score before it.
    pub baseline: Option<f64>,
    /// Gate score with it.
    pub with_edit: Option<f64>,
    /// The night listed it as rejected.
    pub was_rejected: bool,
    /// It stands in the skill that the night proposes.
    pub is_in_proposal: bool,
}

impl HarmfulProof {
    /// It was measured, did harm, was rejected, and is in no proposal.
    #[must_use]
    pub fn blocked(&self) -> bool {
        let did_harm =
            self.baseline.zip(self.with_edit).is_some_and(|(before, with)| with < before);
        self.was_measured && did_harm && self.was_rejected && !self.is_in_proposal
    }

    /// For people.
    #[must_use]
    pub fn words(&self) -> String {
        let shown = |score: Option<f64>| score.map_or("none".to_owned(), |s| format!("{s:.4}"));
        let (before, with) = (shown(self.baseline), shown(self.with_edit));
        let measured = if self.was_measured { "measured" } else { "not measured" };
        let rejected = if self.was_rejected { "rejected" } else { "not rejected" };
        let proposed = if self.is_in_proposal { "proposed" } else { "not proposed" };
        format!("{measured} ({before} without it, {with} with it), {rejected}, {proposed}")
    }
}

/// Runs a night whose optimizer proposes the harmful edit.
///
/// # Errors
/// As [`consolidate_night`].
pub async fn prove_gate(gate: GateMode, ctx: &RunCtx) -> Result<HarmfulProof, NightError> {
    let input = NightInput {
        tasks: tasks(),
        skill: good_rules(),
        memory: String::new(),
        options: NightOptions { gate, evolve_memory: false, ..NightOptions::default() },
        archive: Vec::new(),
        rejected_before: Vec::new(),
        backend: Arc::new(Saboteur),
        evidence: Arc::new(Evidence::off()),
        events: Arc::new(Silent),
        ctx: ctx.clone(),
    };
    Ok(proof_of(&consolidate_night(input).await?))
}

fn proof_of(outcome: &NightOutcome) -> HarmfulProof {
    let edit = harmful_sentence().to_owned();
    let trial = outcome.gate_trials.first();
    HarmfulProof {
        was_measured: trial.is_some_and(|trial| !trial.task_deltas.is_empty()),
        baseline: trial.and_then(|trial| trial.baseline_score),
        with_edit: trial.and_then(|trial| trial.candidate_score),
        was_rejected: outcome.rejected_edits.iter().any(|rejected| rejected.content == edit),
        is_in_proposal: outcome.new_skill.as_ref().is_some_and(|skill| skill.contains(&edit)),
        edit,
    }
}

/// Three tasks that pass with the rules that stand there, and one to train on that does not.
fn tasks() -> Vec<TaskRecord> {
    let mut tasks = Persona::Researcher.tasks(Some(4));
    for (at, task) in tasks.iter_mut().enumerate() {
        task.split = if at == 0 { Split::Train } else { Split::Val };
    }
    tasks[0].tags.push(crate::backend::rule_tag(HARMFUL_RULE));
    tasks
}

fn good_rules() -> String {
    let rules = ["wrap-answer", "arxiv-id"].into_iter().filter_map(sentence_of);
    rules.map(|rule| format!("- {rule}\n")).collect()
}

fn harmful_sentence() -> &'static str {
    sentence_of(HARMFUL_RULE).unwrap_or_default()
}

/// The simulation with an optimizer that does harm and a target that obeys it.
#[derive(Debug)]
struct Saboteur;

#[async_trait]
impl Backend for Saboteur {
    fn label(&self) -> String {
        "saboteur (simulated)".to_owned()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        if attempt.docs.skill.contains(harmful_sentence()) {
            let text = "Free text that has no form.".to_owned();
            return Ok(Attempted { text, tokens: Some(0), ..Attempted::default() });
        }
        Mock.attempt(attempt).await
    }

    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        Mock.judge(judging).await
    }

    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        let edit = EditRecord {
            target: reflection.target,
            op: EditOp::Add,
            content: harmful_sentence().to_owned(),
            anchor: String::new(),
            rationale: "to see whether the gate stops it".to_owned(),
        };
        Ok(Proposed { edits: vec![edit], tokens: Some(0), ..Proposed::default() })
    }

    async fn guide(&self, question: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        Mock.guide(question).await
    }

    async fn mine(&self, question: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Mock.mine(question).await
    }

    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_engine::ctx::RunControl;

    async fn prove(gate: GateMode) -> HarmfulProof {
        let (_control, ctx) = RunControl::new();
        prove_gate(gate, &ctx).await.expect("a proof")
    }

    #[tokio::test]
    async fn f01_the_harmful_edit_is_proposed_measured_and_rejected() {
        let proof = prove(GateMode::On).await;
        assert!(proof.was_measured && proof.was_rejected && !proof.is_in_proposal);
        assert_eq!(proof.baseline, Some(1.0));
        assert!(proof.with_edit.is_some_and(|score| score < 0.1), "{:?}", proof.with_edit);
        assert!(proof.blocked());
    }

    #[tokio::test]
    async fn f01_with_the_gate_off_the_proof_fails() {
        let proof = prove(GateMode::Off).await;
        assert!(proof.is_in_proposal && !proof.blocked());
        assert_eq!(
            proof.words(),
            "not measured (none without it, none with it), not rejected, proposed"
        );
    }
}
