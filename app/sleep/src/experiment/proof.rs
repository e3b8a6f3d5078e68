//! The proof with known numbers: a persona's tasks are learned over a few nights.

use super::Persona;
use super::harmful::{HarmfulProof, prove_gate};
use crate::backend::{Backend, LostEdit};
use crate::consolidate::{
    NightError, NightInput, NightOptions, NightOutcome, NightSink, consolidate_night,
};
use crate::evidence::Evidence;
use crate::reflect::cut;
use serde::Serialize;
use skillopt_domain::night::report::GateAction;
use skillopt_engine::ctx::RunCtx;
use std::sync::Arc;

/// Learned: further nights would show nothing.
const ENOUGH: f64 = 0.999;
const EXCERPT_CHARS: usize = 600;

/// How a proof goes.
#[derive(Clone, Debug)]
pub struct ProofOptions {
    /// Whose tasks.
    pub persona: Persona,
    /// Most nights.
    pub nights: u32,
    /// Most tasks; all when `None`.
    pub limit_tasks: Option<usize>,
    /// How each night goes.
    pub night: NightOptions,
}

impl ProofOptions {
    /// The reference system's: four nights, four edits, all tasks.
    #[must_use]
    pub fn new(persona: Persona) -> Self {
        Self { persona, nights: 4, limit_tasks: None, night: NightOptions::default() }
    }
}

/// One night of a proof.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NightTrace {
    /// Number of the night, from 1.
    pub night: u32,
    /// Gate score before.
    pub baseline: Option<f64>,
    /// Gate score after.
    pub candidate: Option<f64>,
    /// Validation tasks that the scores rest on.
    pub n_validated: u32,
    /// Its edits stood.
    pub accepted: bool,
    /// The verdict.
    pub gate_action: GateAction,
    /// Edits that stood.
    pub n_edits: u32,
}

impl NightTrace {
    pub(super) fn of(night: u32, outcome: &NightOutcome) -> Self {
        Self {
            night,
            baseline: outcome.baseline.map(|measured| measured.score),
            candidate: outcome.candidate.map(|measured| measured.score),
            n_validated: outcome.baseline.map_or(0, |measured| measured.mean.n),
            accepted: outcome.accepted,
            gate_action: outcome.gate_action,
            n_edits: crate::replay::count(outcome.applied_edits.len()),
        }
    }
}

/// What a proof came to. The field names are those of the reference system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofReport {
    /// Whose tasks.
    pub persona: String,
    /// Name of the backend.
    pub backend: String,
    /// It is a simulation.
    pub simulated: bool,
    /// Tasks.
    pub n_tasks: u32,
    /// Nights that were needed.
    pub nights_run: u32,
    /// Gate score at the beginning, 0 to 1.
    pub baseline_holdout: Option<f64>,
    /// Gate score at the end, 0 to 1.
    pub after_holdout: Option<f64>,
    /// Validation tasks that the scores rest on.
    pub n_validated: u32,
    /// The difference.
    pub lift: Option<f64>,
    /// It is larger than zero.
    pub improved: bool,
    /// What became of a harmful edit; `None` with real models, which it is not tried with.
    pub gate_blocks_harmful: Option<bool>,
    /// The harmful edit's trial.
    pub harmful: Option<HarmfulProof>,
    /// Tokens, where reported.
    pub tokens_used: u64,
    /// How the final skill begins.
    pub final_skill_excerpt: String,
    /// Night by night.
    pub trace: Vec<NightTrace>,
}

impl ProofReport {
    /// What `--assert-improves` holds: the person's tasks got better, and a harmful edit was seen, measured and rejected
    /// where it was tried.
    ///
    /// # Errors
    /// What does not hold, in words.
    pub fn check(&self) -> Result<(), String> {
        let shown = |score: Option<f64>| score.map_or("none".to_owned(), |s| format!("{s:.4}"));
        if !self.improved {
            let (before, after) = (shown(self.baseline_holdout), shown(self.after_holdout));
            return Err(format!("the held-out score went from {before} to {after}"));
        }
        match &self.harmful {
            Some(proof) if !proof.blocked() => Err(format!("the harmful edit: {}", proof.words())),
            _ => Ok(()),
        }
    }
}

/// Learns a persona's tasks night after night, until there is nothing left to learn.
///
/// # Errors
/// As [`consolidate_night`].
pub async fn prove_improvement(
    options: &ProofOptions,
    backend: Arc<dyn Backend>,
    evidence: Arc<Evidence>,
    events: Arc<dyn NightSink>,
    ctx: &RunCtx,
) -> Result<ProofReport, NightError> {
    let tasks = options.persona.tasks(options.limit_tasks);
    let (mut skill, mut memory) = (String::new(), String::new());
    let spent_before = backend.spend();
    let mut rejected: Vec<LostEdit> = Vec::new();
    let mut trace: Vec<NightTrace> = Vec::new();
    let (mut first, mut last) = (None, None);
    for night in 1..=options.nights {
        let input = NightInput {
            tasks: tasks.clone(),
            skill: skill.clone(),
            memory: memory.clone(),
            options: options.night.clone(),
            archive: Vec::new(),
            rejected_before: rejected.clone(),
            backend: Arc::clone(&backend),
            evidence: Arc::clone(&evidence),
            events: Arc::clone(&events),
            ctx: ctx.clone(),
        };
        let outcome = consolidate_night(input).await?;
        let score = |measured: Option<crate::consolidate::Measurement>| measured.map(|m| m.score);
        let (baseline, candidate) = (score(outcome.baseline), score(outcome.candidate));
        first = first.or(baseline);
        last = if outcome.accepted { candidate } else { baseline };
        trace.push(NightTrace::of(night, &outcome));
        skill = outcome.new_skill.unwrap_or(skill);
        memory = outcome.new_memory.unwrap_or(memory);
        rejected.extend(outcome.rejected_edits.into_iter().map(LostEdit::from));
        if last.is_some_and(|score| score >= ENOUGH) {
            break;
        }
    }
    let harmful = match backend.is_simulated() {
        true => Some(prove_gate(crate::consolidate::GateMode::On, ctx).await?),
        false => None,
    };
    let lift = first.zip(last).map(|(first, last)| last - first);
    Ok(ProofReport {
        persona: options.persona.as_str().to_owned(),
        backend: backend.label(),
        simulated: backend.is_simulated(),
        n_tasks: crate::replay::count(tasks.len()),
        nights_run: crate::replay::count(trace.len()),
        baseline_holdout: first,
        after_holdout: last,
        lift,
        improved: lift.is_some_and(|lift| lift > 0.0),
        gate_blocks_harmful: harmful.as_ref().map(HarmfulProof::blocked),
        harmful,
        n_validated: trace.first().map_or(0, |night| night.n_validated),
        tokens_used: backend.spend().since(&spent_before).total().tokens(),
        final_skill_excerpt: cut(&skill, EXCERPT_CHARS),
        trace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Mock;
    use crate::consolidate::Silent;
    use rstest::rstest;
    use skillopt_engine::ctx::RunControl;

    async fn prove(options: &ProofOptions) -> ProofReport {
        let (_control, ctx) = RunControl::new();
        let (evidence, events) = (Arc::new(Evidence::off()), Arc::new(Silent));
        prove_improvement(options, Arc::new(Mock), evidence, events, &ctx).await.expect("a proof")
    }

    #[rstest]
    #[case(Persona::Researcher, 1.0 / 3.0, 12, 2)]
    #[case(Persona::Programmer, 23.0 / 72.0, 8, 1)]
    #[tokio::test]
    async fn the_known_numbers_come_out(
        #[case] persona: Persona,
        #[case] baseline: f64,
        #[case] n_tasks: u32,
        #[case] n_edits: u32,
    ) {
        let report = prove(&ProofOptions::new(persona)).await;
        let close = |score: Option<f64>, to: f64| score.is_some_and(|s| (s - to).abs() < 1e-12);
        assert!(close(report.baseline_holdout, baseline), "{:?}", report.baseline_holdout);
        assert!(close(report.after_holdout, 1.0), "{:?}", report.after_holdout);
        assert_eq!((report.n_tasks, report.nights_run), (n_tasks, 1));
        assert_eq!(report.trace[0].n_edits, n_edits);
        assert_eq!(report.gate_blocks_harmful, Some(true));
        assert_eq!(report.check(), Ok(()));
        assert!(report.simulated && report.backend.contains("simulated"));
    }

    #[tokio::test]
    async fn half_of_what_the_tasks_need_is_no_gain_and_the_proof_says_so() {
        let mut options = ProofOptions::new(Persona::Researcher);
        options.night.edit_budget = 1;
        let report = prove(&options).await;
        assert_eq!(report.nights_run, 4);
        let words = report.check().expect_err("one rule alone does not help");
        assert_eq!(words, "the held-out score went from 0.3333 to 0.3333");
    }

    #[tokio::test]
    async fn a_proof_without_a_gain_does_not_hold() {
        let mut options = ProofOptions::new(Persona::Researcher);
        options.nights = 0;
        let words = prove(&options).await.check().expect_err("nothing was learned");
        assert_eq!(words, "the held-out score went from none to none");
    }
}
