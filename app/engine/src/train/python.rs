//! What the Python system carries from step to step: scores that stay with the run whatever becomes of the text, the
//! position of the schedule, and regions that are written without a measurement.

use super::epoch_end::Stopwatch;
use super::judge::{JudgeOrder, Judged, judge_outcomes, measure_candidate, recalled};
use super::step::key;
use super::{StepFacts, TrainState};
use crate::artifacts::Artifacts;
use crate::evaluate::{MeasureOrder, measure};
use crate::gate::{bonus_of, changes};
use crate::notes::{NotesOrder, condensed};
use crate::python::{Contest, decide, verdict};
use crate::rollout::WhenBroken;
use crate::run::{Run, TrainError};
use skillopt_domain::appendix::notes;
use skillopt_domain::config::{Evaluation, SlowUpdateMode};
use skillopt_domain::epoch::{EpochAction, FinalSelection, SlowUpdate};
use skillopt_domain::event::{EventKind, Measured};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose};
use skillopt_domain::proposal::AppendixReport;
use skillopt_domain::python::{merged_notes, with_empty_appendix, with_notes, with_placeholder};
use skillopt_domain::run::Phase;
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::verdict::Action;
use std::collections::HashMap;

/// Scores and position.
#[derive(Debug)]
pub(crate) struct PythonState {
    /// Steps that took a budget from the schedule so far.
    n_scheduled: u32,
    /// What stands as the score of the current skill.
    current: Measured,
    /// What stands as the score of the best skill.
    best: Measured,
    /// Means by text, with the rollout set that they come from.
    known: HashMap<Sha256Hex, (MeanScore, String)>,
}

impl PythonState {
    /// After the baseline.
    pub(super) fn new(baseline: &Measured) -> Self {
        let mean = baseline.score.map(|mean| (mean, baseline.set.clone()));
        let known = mean.map(|mean| (baseline.skill.clone(), mean)).into_iter().collect();
        Self { n_scheduled: 0, current: baseline.clone(), best: baseline.clone(), known }
    }

    /// The position of the schedule for the step that selects now, from 1.
    pub(super) fn next_position(&mut self) -> u32 {
        self.n_scheduled += 1;
        self.n_scheduled
    }

    /// The score of the current skill.
    pub(super) fn current(&self) -> &Measured {
        &self.current
    }

    /// The score of the best skill.
    pub(super) fn best(&self) -> &Measured {
        &self.best
    }

    fn contest(&self, candidate: f64, gated: bool) -> Contest {
        let number = |measured: &Measured| measured.gate_score.unwrap_or_default();
        Contest { candidate, current: number(&self.current), best: number(&self.best), gated }
    }

    /// Keeps what a decision does to the scores.
    fn take(&mut self, measured: Measured, (action, is_best): (Action, bool)) {
        if is_best {
            self.best = measured.clone();
        }
        if action.is_accepted() {
            self.current = measured;
        }
    }
}

/// Judges a candidate by numbers. A text that the run has a mean of is not measured again.
pub(super) async fn judge(
    run: &Run<'_>,
    state: &mut TrainState,
    python: &mut PythonState,
    order: JudgeOrder<'_>,
) -> Result<Judged, TrainError> {
    let (sha, evaluation) = (order.candidate.sha(), order.evaluation);
    let bonus = bonus_of(evaluation, order.candidate);
    if let Some((verdict, set)) = order.known {
        let mut judged = recalled(run, state, verdict, set).await?;
        if let Some(mean) =
            judged.verdict.candidate.filter(|_| judged.verdict.action != Action::Inconclusive)
        {
            python.known.insert(sha.clone(), (mean, judged.set.clone()));
            let measured = measured_as(sha, evaluation, (mean, bonus), &judged.set, judged.counts);
            let number = measured.gate_score.unwrap_or_default();
            let decision = decide(python.contest(number, evaluation.use_gate));
            judged.is_best = decision.1;
            python.take(measured, decision);
        }
        return Ok(judged);
    }
    let (mean, set, counts, reused) = match python.known.get(&sha).cloned() {
        Some((mean, set)) => (mean, set, OutcomeCounts::default(), true),
        None => {
            let set = measure_candidate(run, state, &order).await?;
            let counts = OutcomeCounts::of(&set.outcomes);
            let mean = MeanScore::of(set.outcomes.iter().filter_map(|task| task.outcome.score()));
            let Some(mean) = mean.filter(|_| !run.is_broken(counts)) else {
                return judge_outcomes(run, state, &order, set, false);
            };
            let name = set.key.clone();
            python.known.insert(sha.clone(), (mean, name.clone()));
            state.remember(set);
            (mean, name, counts, false)
        }
    };
    let measured = measured_as(sha.clone(), evaluation, (mean, bonus), &set, counts);
    let contest = python.contest(measured.gate_score.unwrap_or_default(), evaluation.use_gate);
    let outcomes = |sha: &Sha256Hex| state.measured.get(sha).map_or(&[][..], |set| &set.outcomes);
    let (of_current, of_candidate) = (outcomes(&python.current.skill), outcomes(&sha));
    let is_known = !of_current.is_empty() && !of_candidate.is_empty();
    let changes = is_known.then(|| changes(of_current, of_candidate, evaluation));
    let means = (python.current.score, mean);
    let verdict = verdict(contest, means, changes, (evaluation, reused));
    let decision = decide(contest);
    python.take(measured, decision);
    Ok(Judged { verdict, set, counts, is_best: decision.1 })
}

fn measured_as(
    skill: Sha256Hex,
    evaluation: &Evaluation,
    (mean, bonus): (MeanScore, f64),
    set: &str,
    counts: OutcomeCounts,
) -> Measured {
    let gate_score = Some(evaluation.project(mean.hard, mean.soft) + bonus);
    Measured { skill, score: Some(mean), gate_score, counts, set: set.to_owned(), cost: None }
}

/// The empty appendix that a run with notes starts from. Nobody measures it.
pub(super) async fn start(run: &Run<'_>, state: &mut TrainState) -> Result<(), TrainError> {
    if run.input.config.optimizer.skill_aware.is_some() {
        let text = with_empty_appendix(&state.skills.current);
        change_text(run, state, text).await?;
    }
    Ok(())
}

/// The empty region for guidance that the first epoch ends with. Nobody measures it.
pub(super) async fn inject_placeholder(
    run: &Run<'_>,
    state: &mut TrainState,
    epoch: u32,
) -> Result<(), TrainError> {
    let text = with_placeholder(&state.skills.current);
    change_text(run, state, text).await?;
    state.skills.current_origin = format!("slow_update_placeholder_epoch_{epoch:02}");
    let key = super::epoch_end::key(epoch, "phase/placeholder");
    if run.ports.journal.find(&key).await?.is_some() {
        // An earlier attempt wrote it, and its files must not be set back.
        return Ok(());
    }
    state.artifacts.write_placeholder(run, epoch, (state.step, &state.skills)).await?;
    run.emit(&key, EventKind::PhaseStarted(Phase::SlowUpdate { epoch })).await
}

async fn change_text(
    run: &Run<'_>,
    state: &mut TrainState,
    text: SkillDoc,
) -> Result<(), TrainError> {
    run.ports.journal.keep_skill(text.text()).await?;
    state.skills.current = text;
    Ok(())
}

/// Guidance that stays without a measurement. The score of the text before stands for it, and in what is known of
/// texts it even stands as a mean of `hard`.
pub(super) fn force(state: &mut TrainState, update: &mut SlowUpdate, candidate: &SkillDoc) {
    let origin = format!("slow_update_epoch_{:02}", update.epoch);
    state.skills.accept(candidate.clone(), origin);
    update.action = EpochAction::ForceAccept;
    update.reason = "kept without a measurement (train.compat: python); the score is that of the \
                     text before it"
        .to_owned();
    if let Some(python) = &mut state.python {
        let n = python.current.score.map_or(1, |mean| mean.n);
        let hard = python.current.gate_score.unwrap_or_default();
        let mean = MeanScore { hard, soft: 0.0, n };
        python.known.insert(candidate.sha(), (mean, python.current.set.clone()));
    }
}

/// Guidance is forced, not gated.
pub(super) fn forces(run: &Run<'_>) -> bool {
    run.is_python() && run.input.config.optimizer.slow_update == SlowUpdateMode::Forced
}

/// The notes of the step go into the current skill, after the gate and whatever it said.
pub(super) async fn flush_notes(
    run: &Run<'_>,
    state: &mut TrainState,
    facts: &mut StepFacts,
) -> Result<(), TrainError> {
    let proposed = facts.reflection.lapse_notes.clone();
    let Some(settings) = run.input.config.optimizer.skill_aware() else { return Ok(()) };
    if proposed.is_empty() {
        return Ok(());
    }
    let own = notes(&state.skills.current);
    let all = merged_notes(&own, &proposed);
    let mut report = AppendixReport {
        n_added: u32::try_from(all.len().saturating_sub(own.len())).unwrap_or(u32::MAX),
        proposed,
        ..AppendixReport::default()
    };
    let order = NotesOrder {
        step: facts.step,
        candidate: &state.skills.current,
        proposed: &[],
        settings,
        sample: run.sample(facts.epoch, 0),
    };
    report.notes = condensed(run, &order, all, &mut report).await?;
    let text = with_notes(&state.skills.current, &report.notes);
    change_text(run, state, text).await?;
    let path = super::step::file(facts.step, "appendix_notes.json");
    run.write_json(&path, &Artifacts::notes(&report)).await?;
    let event = EventKind::Noted { step: facts.step, appendix: report.clone() };
    run.emit(&key(facts.step, "noted"), event).await?;
    facts.appendix = Some(report);
    Ok(())
}

/// The last skill is measured when the test split will be, and is the best when it beats the best's number.
pub(super) async fn select_finally(
    run: &Run<'_>,
    state: &mut TrainState,
    python: &mut PythonState,
) -> Result<(), TrainError> {
    let evaluation = &run.input.config.evaluation;
    let last = state.skills.current.clone();
    if !evaluation.eval_test || last.text() == state.skills.best.text() {
        return Ok(());
    }
    let order = MeasureOrder {
        skill: &last,
        tasks: run.selection(),
        purpose: RolloutPurpose::Selection,
        phase: Phase::FinalTest,
        step: state.step,
        dir: "final_selection_eval".to_owned(),
        repeat: 0,
        when_broken: WhenBroken::FailRun,
    };
    let stopwatch = Stopwatch::start(run);
    let rollouts = measure(run, order).await?;
    let cost = Some(stopwatch.spent(run));
    let Some(mean) = rollouts.mean() else { return Ok(()) };
    let (counts, bonus) = (rollouts.counts(), bonus_of(evaluation, &last));
    let set = rollouts.set.key.clone();
    let measured = measured_as(last.sha(), evaluation, (mean, bonus), &set, counts);
    let (last_score, best_score) = (measured.gate_score, python.best.gate_score);
    let promoted = last_score > best_score;
    if promoted {
        state.skills.crown(state.step);
        python.best = measured.clone();
    }
    python.current = measured;
    let verb = if promoted { "takes the place of the best" } else { "is no better" };
    let selection = FinalSelection {
        last: last.sha(),
        best: state.skills.best.sha(),
        last_score,
        best_score,
        promoted,
        best_step: state.skills.best_step,
        version: state.skills.best_version,
        reason: format!(
            "{:.3} → {:.3}; the last skill {verb}, by the rules of the Python system",
            best_score.unwrap_or_default(),
            last_score.unwrap_or_default()
        ),
        cost,
    };
    run.write_json("final_selection.json", &selection).await?;
    run.emit("final_selection", EventKind::FinalSelected(selection)).await
}
