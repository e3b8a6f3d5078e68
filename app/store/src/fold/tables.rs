//! Steps and versions as rows of their own, for curves, lists and long runs.

use crate::error::StoreFailure;
use crate::script::Script;
use crate::sql::{int, to_json};
use skillopt_domain::event::{Measured, StepSummary};
use skillopt_domain::view::SkillVersion;

pub(super) fn insert_version(script: &mut Script, run_no: i64, version: &SkillVersion) {
    script
        .statement(
            "INSERT INTO versions (run_no, version, step, skill, score, n, tokens) \
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(run_no)
        .bind(version.version)
        .bind(version.step)
        .bind(version.skill.as_str())
        .bind(version.score)
        .bind(version.n)
        .bind(version.tokens);
}

pub(super) fn measure_first_version(script: &mut Script, run_no: i64, measured: &Measured) {
    script
        .statement("UPDATE versions SET score = ?, n = ? WHERE run_no = ? AND version = 0")
        .bind(measured.gate_score)
        .bind(measured.score.map(|score| score.n))
        .bind(run_no);
}

pub(super) fn insert_step(
    script: &mut Script,
    run_no: i64,
    step: &StepSummary,
) -> Result<(), StoreFailure> {
    let error_share = if step.n_attempts == 0 {
        0.0
    } else {
        f64::from(step.n_errors) / f64::from(step.n_attempts)
    };
    script.statement(
        "INSERT INTO steps (run_no, step, action, candidate_score, current_score, best_score, rollout_hard, \
         rollout_soft, skill_tokens, tokens, error_share, summary_json) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(run_no)
    .bind(step.step)
    .bind(step.action.as_str())
    .bind(step.candidate_score)
    .bind(step.current_score)
    .bind(step.best_score)
    .bind(step.rollout.map(|score| score.hard))
    .bind(step.rollout.map(|score| score.soft))
    .bind(step.skill_tokens)
    .bind(int(step.spend.total().tokens()))
    .bind(error_share)
    .bind(to_json(step)?);
    Ok(())
}
