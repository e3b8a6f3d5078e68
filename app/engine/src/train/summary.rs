//! The numbers of a finished step, and why it ended as it did.

use super::{StepFacts, TrainState};
use crate::run::Run;
use crate::update::Updated;
use skillopt_domain::event::{Measured, StepSummary};
use skillopt_domain::skill::estimate_tokens;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::{Action, Verdict};

pub(super) fn summary_of(
    run: &Run<'_>,
    state: &TrainState,
    facts: &StepFacts,
    action: Action,
) -> StepSummary {
    let verdict = facts.verdict.as_ref();
    let flips = verdict.map_or(Some((0, 0)), Verdict::flips);
    let (current, best) = (state.current_measurement(run), state.best_measurement(run));
    let n = |measured: Option<&Measured>| measured.and_then(|m| m.score).map(|score| score.n);
    let mut spend = SpendByRole::default();
    for stage in &facts.stages {
        spend += stage.spend;
    }
    StepSummary {
        step: facts.step,
        epoch: facts.epoch,
        action,
        rollout: facts.rollout,
        candidate_score: verdict.and_then(|verdict| verdict.candidate_score),
        current_score: current.as_ref().and_then(|measured| measured.gate_score),
        current_n: n(current.as_ref()),
        best_score: best.as_ref().and_then(|measured| measured.gate_score),
        best_n: n(best.as_ref()),
        n_selection: verdict.and_then(|verdict| verdict.candidate).map(|mean| mean.n),
        n_fixed: flips.map(|flips| flips.0),
        n_broke: flips.map(|flips| flips.1),
        edit_budget: facts.budget,
        n_applied: facts.updated.as_ref().map_or(0, Updated::n_applied),
        n_not_applied: facts.updated.as_ref().map_or(0, Updated::n_not_applied),
        skill: state.skills.current.sha(),
        candidate: facts.updated.as_ref().map(|updated| updated.candidate.sha()),
        version: state.skills.version,
        skill_tokens: estimate_tokens(state.skills.current.text()),
        n_errors: facts.n_errors,
        n_attempts: facts.n_attempts,
        spend,
        stages: facts.stages.clone(),
        reason: reason(facts, action),
    }
}

fn reason(facts: &StepFacts, action: Action) -> String {
    match (&facts.verdict, action) {
        (Some(verdict), _) => verdict.reason.clone(),
        (None, Action::SkipNoPatches) => match facts.reflection.lost.first() {
            Some(lost) => format!("no edit was proposed; a reply could not be used: {lost}"),
            None => "no edit was proposed".to_owned(),
        },
        (None, Action::SkipNoRewrite) => {
            let report = facts.updated.as_ref().and_then(|updated| updated.rewrite.as_ref());
            let detail = report.map_or("", |report| report.detail.as_str());
            format!("no new text could be used: {detail}")
        }
        (None, _) if facts.decision.as_ref().is_some_and(|decision| decision.fallback) => {
            let error = facts.decision.as_ref().map_or("", |decision| decision.error.as_str());
            format!(
                "nothing was changed, because the optimizer's budget could not be read: {error}"
            )
        }
        (None, _) if facts.decision.as_ref().is_some_and(|d| d.learning_rate == 0) => {
            let reasoning = facts.decision.as_ref().map_or("", |d| d.reasoning.as_str());
            format!("the optimizer chose to change nothing: {reasoning}")
        }
        (None, _) => "no edit could be applied, so that the text did not change".to_owned(),
    }
}
