//! A candidate is measured on the selection split and gated: at the end of a step, and after guidance was written.

use super::TrainState;
use crate::evaluate::{MeasureOrder, measure};
use crate::gate::{Bonus, GateInput, bonus_of, gate};
use crate::rollout::WhenBroken;
use crate::run::{Run, TrainError};
use skillopt_domain::config::Evaluation;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose, RolloutSet};
use skillopt_domain::run::Phase;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::verdict::{Action, Verdict};

/// Where a judgement belongs.
#[derive(Debug)]
pub(super) struct JudgeOrder<'a> {
    /// What an earlier attempt of the run decided: it stands.
    pub(super) known: Option<(Verdict, String)>,
    pub(super) candidate: &'a SkillDoc,
    /// What makes a candidate good enough.
    pub(super) evaluation: &'a Evaluation,
    pub(super) phase: Phase,
    pub(super) dir: String,
}

/// A verdict with the set that it rests on.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) set: String,
    /// The candidate's attempts; nothing when they were made earlier in this run.
    pub(super) counts: OutcomeCounts,
    /// The candidate is the best skill now.
    pub(super) is_best: bool,
}

/// Measures the candidate, unless this run knows its text already, and gates it.
pub(super) async fn judge(
    run: &Run<'_>,
    state: &mut TrainState,
    order: JudgeOrder<'_>,
) -> Result<Judged, TrainError> {
    if let Some(mut python) = state.python.take() {
        let judged = super::python::judge(run, state, &mut python, order).await;
        state.python = Some(python);
        return judged;
    }
    if let Some((verdict, set)) = order.known {
        return recalled(run, state, verdict, set).await;
    }
    let known = state.measured.get(&order.candidate.sha()).cloned();
    let reused = known.is_some();
    let set = match known {
        Some(set) => set,
        None => measure_candidate(run, state, &order).await?,
    };
    judge_outcomes(run, state, &order, set, reused)
}

/// Gates a measured candidate.
pub(super) fn judge_outcomes(
    run: &Run<'_>,
    state: &mut TrainState,
    order: &JudgeOrder<'_>,
    set: RolloutSet,
    reused: bool,
) -> Result<Judged, TrainError> {
    let counts = OutcomeCounts::of(&set.outcomes);
    let verdict = gate(&GateInput {
        current: state.outcomes(&state.skills.current),
        best: state.outcomes(&state.skills.best),
        candidate: &set.outcomes,
        evaluation: order.evaluation,
        error_share: run.input.config.limits.error_share,
        reused,
        bonus: bonus(order.evaluation, state, order.candidate),
    });
    if verdict.action == Action::Inconclusive && state.last_was_inconclusive {
        let (errors, attempts) = (counts.errors, counts.total());
        return Err(TrainError::Inconclusive { errors, attempts });
    }
    let name = set.key.clone();
    if !reused && verdict.action != Action::Inconclusive {
        state.remember(set);
    }
    let counts = if reused { OutcomeCounts::default() } else { counts };
    let is_best = verdict.action == Action::AcceptNewBest;
    Ok(Judged { verdict, set: name, counts, is_best })
}

/// What is added to the numbers of the skills that are compared.
pub(super) fn bonus(evaluation: &Evaluation, state: &TrainState, candidate: &SkillDoc) -> Bonus {
    Bonus {
        current: bonus_of(evaluation, &state.skills.current),
        best: bonus_of(evaluation, &state.skills.best),
        candidate: bonus_of(evaluation, candidate),
    }
}

/// A verdict of an earlier attempt, with the outcomes that it kept. What broke is not remembered, as it was not then.
pub(super) async fn recalled(
    run: &Run<'_>,
    state: &mut TrainState,
    verdict: Verdict,
    set: String,
) -> Result<Judged, TrainError> {
    let mut counts = OutcomeCounts::default();
    let kept = if verdict.reused { None } else { run.ports.journal.find_outcomes(&set).await? };
    if let Some(kept) = kept {
        counts = OutcomeCounts::of(&kept.outcomes);
        if verdict.action != Action::Inconclusive {
            state.remember(kept);
        }
    }
    let is_best = verdict.action == Action::AcceptNewBest;
    Ok(Judged { verdict, set, counts, is_best })
}

pub(super) async fn measure_candidate(
    run: &Run<'_>,
    state: &TrainState,
    order: &JudgeOrder<'_>,
) -> Result<RolloutSet, TrainError> {
    let order = MeasureOrder {
        skill: order.candidate,
        tasks: run.selection(),
        purpose: RolloutPurpose::Selection,
        phase: order.phase,
        step: state.step,
        dir: order.dir.clone(),
        repeat: 0,
        when_broken: WhenBroken::Keep,
    };
    Ok(measure(run, order).await?.set)
}
