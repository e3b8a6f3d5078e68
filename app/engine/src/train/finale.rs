//! After the last step: last and best skill are compared, and then measured on the test split.

use super::TrainState;
use super::epoch_end::Stopwatch;
use super::judge::bonus;
use crate::evaluate::{MeasureOrder, measure, measured};
use crate::gate::{GateInput, compare_last};
use crate::rollout::WhenBroken;
use crate::run::{Run, TrainError};
use skillopt_domain::config::SlowUpdateMode;
use skillopt_domain::epoch::FinalSelection;
use skillopt_domain::event::{EventKind, Measured, TestedSkill};
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::Phase;
use skillopt_domain::skill::SkillDoc;

/// Gives the last skill the place of the best where it measured strictly better. Both were measured before, so
/// that nothing is spent; it happens whether or not the test split is measured.
pub(super) async fn select_finally(
    run: &Run<'_>,
    state: &mut TrainState,
) -> Result<(), TrainError> {
    if let Some(mut python) = state.python.take() {
        let selected = super::python::select_finally(run, state, &mut python).await;
        state.python = Some(python);
        return selected;
    }
    if state.skills.current.text() == state.skills.best.text() {
        return Ok(());
    }
    let evaluation = &run.input.config.evaluation;
    let compared = compare_last(&GateInput {
        current: state.outcomes(&state.skills.current),
        best: state.outcomes(&state.skills.best),
        candidate: state.outcomes(&state.skills.current),
        evaluation,
        error_share: run.input.config.limits.error_share,
        reused: true,
        bonus: bonus(evaluation, state, &state.skills.current),
    });
    let promoted = compared.is_some_and(|(_, _, is_better)| is_better);
    if promoted {
        state.skills.crown(state.step);
    }
    let selection = FinalSelection {
        last: state.skills.current.sha(),
        best: state.skills.best.sha(),
        last_score: compared.map(|(_, last, _)| last),
        best_score: compared.map(|(best, ..)| best),
        promoted,
        best_step: state.skills.best_step,
        version: state.skills.best_version,
        reason: reason(compared),
        cost: None,
    };
    run.write_json("final_selection.json", &selection).await?;
    run.emit("final_selection", EventKind::FinalSelected(selection)).await
}

fn reason(compared: Option<(f64, f64, bool)>) -> String {
    match compared {
        Some((best, last, true)) => {
            format!("{best:.3} → {last:.3}; the last skill takes the place of the best")
        }
        Some((best, last, false)) => {
            format!("{best:.3} → {last:.3}; the last skill is no better, the best one stays")
        }
        None => "no task was scored with both skills; the best one stays".to_owned(),
    }
}

/// Initial and best skill on the test split, once, never fed back; the last one too where a config lets skills stay
/// that did not win.
pub(super) async fn final_test(run: &Run<'_>, state: &mut TrainState) -> Result<(), TrainError> {
    let tasks = run.test();
    if !run.input.config.evaluation.eval_test || tasks.is_empty() {
        return Ok(());
    }
    run.emit("phase/final_test", EventKind::PhaseStarted(Phase::FinalTest)).await?;
    let best = state.skills.best.clone();
    test(run, state, TestedSkill::Initial, &run.input.skill).await?;
    test(run, state, TestedSkill::Best, &best).await?;
    let last = state.skills.current.clone();
    let is_other = last.text() != best.text() && last.text() != run.input.skill.text();
    if is_other && keeps_losers(run) {
        test(run, state, TestedSkill::Last, &last).await?;
    }
    Ok(())
}

/// Skills may stay that did not win, so that the last one is no worse version of the best by the gate's word.
fn keeps_losers(run: &Run<'_>) -> bool {
    let config = &run.input.config;
    !config.evaluation.use_gate || config.optimizer.slow_update == SlowUpdateMode::Forced
}

async fn test(
    run: &Run<'_>,
    state: &mut TrainState,
    which: TestedSkill,
    skill: &SkillDoc,
) -> Result<(), TrainError> {
    let (dir, key) = match which {
        TestedSkill::Initial => ("test_eval_baseline", "tested/initial"),
        TestedSkill::Best => ("test_eval", "tested/best"),
        TestedSkill::Last => ("test_eval_final", "tested/last"),
    };
    let order = MeasureOrder {
        skill,
        tasks: run.test(),
        purpose: RolloutPurpose::Test,
        phase: Phase::FinalTest,
        step: state.step,
        dir: dir.to_owned(),
        repeat: 0,
        when_broken: WhenBroken::FailRun,
    };
    let stopwatch = Stopwatch::start(run);
    let rollouts = measure(run, order).await?;
    let cost = Some(stopwatch.spent(run));
    let measured = Measured { cost, ..measured(run, skill, &rollouts.set) };
    state.artifacts.write_test_summary(run, dir, &rollouts).await?;
    state.artifacts.remember_test(which, measured.score);
    run.emit(key, EventKind::Tested { which, measured }).await
}
