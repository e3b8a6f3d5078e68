//! `sleep experiment`: a persona's tasks are learned, and a harmful edit has to be measured and rejected.

use super::args::{ExperimentArgs, PersonaArg};
use super::{refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use serde_json::json;
use skillopt_engine::ctx::RunControl;
use skillopt_sleep::backend::Mock;
use skillopt_sleep::consolidate::Silent;
use skillopt_sleep::evidence::Evidence;
use skillopt_sleep::experiment::{Persona, ProofOptions, ProofReport, prove_improvement};
use std::path::Path;
use std::sync::Arc;

pub(super) async fn run(
    args: &ExperimentArgs,
    (_, env): (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let setup = match super::setup(common, &env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, common.json, &err)),
    };
    if setup.config.spends() {
        let message = "the proof has known answers for the simulation alone: leave --backend out, or name mock";
        return Ok(refuse(output, common.json, "not_simulated", message));
    }
    let options = ProofOptions {
        nights: args.nights,
        limit_tasks: usize::try_from(args.limit_tasks).ok().filter(|limit| *limit > 0),
        edit_budget: u32::try_from(setup.config.edit_budget).unwrap_or(u32::MAX),
        ..ProofOptions::new(match args.persona {
            PersonaArg::Researcher => Persona::Researcher,
            PersonaArg::Programmer => Persona::Programmer,
        })
    };
    let (_control, ctx) = RunControl::new();
    let (backend, evidence) = (Arc::new(Mock), Arc::new(Evidence::off()));
    let report = prove_improvement(&options, backend, evidence, Arc::new(Silent), &ctx).await?;
    let checked = report.check();
    if common.json {
        output.line(&json!(report).to_string());
    } else {
        tell(&report, output);
    }
    match checked {
        Err(reason) if args.assert_improves => {
            output.note(&format!("FAIL: {reason}"));
            Ok(Exit::Failed)
        }
        _ => Ok(Exit::Done),
    }
}

fn tell(report: &ProofReport, output: &Output) {
    let score =
        |value: Option<f64>| value.map_or("not measured".to_owned(), |value| format!("{value:.4}"));
    output.line(&format!(
        "{} (simulated): held-out {} -> {} over {} tasks in {} nights",
        report.persona,
        score(report.baseline_holdout),
        score(report.after_holdout),
        report.n_tasks,
        report.nights_run
    ));
    if let Some(harmful) = &report.harmful {
        output.line(&format!("harmful edit: {}", harmful.words()));
    }
    for night in &report.trace {
        output.line(&format!(
            "night {}: {} -> {}, {} edits, {}",
            night.night,
            score(night.baseline),
            score(night.candidate),
            night.n_edits,
            if night.accepted { "accepted" } else { "not accepted" }
        ));
    }
}
