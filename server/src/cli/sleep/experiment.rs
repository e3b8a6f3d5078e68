//! `sleep experiment`: a persona's tasks are learned, and a harmful edit has to be measured and rejected; benchmark
//! folders, transfer and sweeps stand beside.

mod bench;
mod flags;
mod sweep;
mod told;

use super::args::{CommonArgs, ExperimentArgs, ExperimentCommand, GateArg, PersonaArg};
use super::forecast::calls_line;
use super::night::tell_progress;
use super::report::n_of;
use super::{order, refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::cli::stop::Stop;
use crate::config::{Environment, cfg_options};
use crate::sleep::{Lab, LabError, key};
use flags::{GivenTo, check_flags};
use serde_json::{Value, json};
use skillopt_sleep::backend::BackendError;
use skillopt_sleep::config::Override;
use skillopt_sleep::consolidate::NightError;
use skillopt_sleep::experiment::{
    Persona, ProofOptions, ProofReport, proof_calls, prove_improvement,
};
use skillopt_sleep::night::night_options;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use told::{night_line, score, spend_json, spend_line};

pub(super) async fn run(
    args: &ExperimentArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    match &args.command {
        Some(ExperimentCommand::Sweep(args)) => sweep::run(args, machine, output).await,
        Some(ExperimentCommand::Scorecard(args)) => sweep::show(args, output),
        None => {
            let checked = check_flags(&args.common, GivenTo::Experiment);
            let lab = match checked.and_then(|()| lab(&args.common, keys(args), machine)) {
                Ok(lab) => lab,
                Err(refused) => return Ok(refused.tell(output, args.common.json)),
            };
            let exit = match &args.bench {
                Some(root) => bench::run(args, root, &lab, output).await,
                None => prove(args, &lab, output).await,
            };
            lab.close().await;
            exit
        }
    }
}

/// What experiments are called by in flags and what that is in the config of nights.
fn keys(args: &ExperimentArgs) -> Vec<Override> {
    let mut keys = args.gate.map_or_else(Vec::new, gate_keys);
    let mut set = |flag: &str, name: &str, value: Option<Value>| {
        keys.extend(value.map(|value| key(flag, name, value)));
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    set("--rollouts-k", "dream_rollouts", args.rollouts_k.map(|k| json!(k)));
    set("--budget-tokens", "max_tokens_per_night", args.budget_tokens.map(|n| json!(n)));
    set("--budget-minutes", "max_minutes_per_night", args.budget_minutes.map(|n| json!(n)));
    set("--optimizer-backend", "optimizer_backend", text(&args.optimizer_backend));
    set("--optimizer-model", "optimizer_model", text(&args.optimizer_model));
    set("--target-backend", "target_backend", text(&args.target_backend));
    set("--target-model", "target_model", text(&args.target_model));
    keys
}

fn gate_keys(gate: GateArg) -> Vec<Override> {
    let mode = if gate == GateArg::Off { "off" } else { "on" };
    let metric = match gate {
        GateArg::Hard => Some("hard"),
        GateArg::Soft => Some("soft"),
        GateArg::On | GateArg::Off => None,
    };
    let mut keys = vec![key("--gate", "gate_mode", mode)];
    keys.extend(metric.map(|metric| key("--gate", "gate_metric", metric)));
    keys
}

/// Why an experiment did not even begin.
struct Refused {
    word: &'static str,
    message: String,
}

impl Refused {
    fn tell(&self, output: &Output, is_json: bool) -> Exit {
        refuse(output, is_json, self.word, &self.message)
    }
}

fn lab(
    common: &CommonArgs,
    keys: Vec<Override>,
    machine: (&Path, Environment),
) -> Result<Lab, Refused> {
    let bad = |message: String| Refused { word: "bad_config", message };
    let cfg_options = cfg_options(&common.cfg_options).map_err(|err| bad(err.to_string()))?;
    let mut order = order(common).map_err(|err| bad(err.to_string()))?;
    order.keys.extend(keys);
    Lab::new(order, cfg_options, machine).map_err(|err| bad(err.to_string()))
}

/// Does the work until it is over, or a person ends it, and tells how it goes where that is wanted. Calls in flight have
/// some time to be answered and kept.
async fn stoppable<T>(lab: &Lab, output: &Output, work: impl Future<Output = T>) -> T {
    let stop =
        Stop::watch("ending the experiment; what is paid for is kept (once more: stop at once)");
    let stopping = async {
        tokio::select! {
            () = stop.cancelled.cancelled() => lab.cancel(),
            () = stop.terminated.cancelled() => lab.cancel(),
        }
        std::future::pending::<std::convert::Infallible>().await
    };
    let over = CancellationToken::new();
    let counts = lab.watch().subscribe();
    let telling = tell_progress(lab.setup().config.progress, counts, output, &over);
    let working = async {
        let done = work.await;
        over.cancel();
        done
    };
    let told = async { tokio::join!(working, telling).0 };
    // Dropping the work is safe: it holds nothing but what the ledger knows already.
    tokio::select! {
        done = told => done,
        never = stopping => match never {},
        never = lab.ctx().abort_after_grace() => match never {},
    }
}

/// Says why nobody can work.
fn refuse_lab(output: &Output, is_json: bool, err: &LabError) -> Exit {
    match err {
        LabError::Order(err) => refuse_order(output, is_json, err),
        LabError::Models(_) | LabError::Handoff => {
            refuse(output, is_json, "bad_config", &err.to_string())
        }
        LabError::Host(_) => {
            refuse(output, is_json, "store_failed", &err.to_string());
            Exit::Failed
        }
    }
}

/// Says why an experiment came to nothing, and what it cost all the same.
fn failed(output: &Output, is_json: bool, err: &NightError, lab: &Lab) -> Exit {
    let (word, exit) = match err {
        NightError::Backend(BackendError::Cancelled) => ("cancelled", Exit::Cancelled),
        NightError::Backend(BackendError::Budget(_)) => ("budget_used_up", Exit::Failed),
        _ => ("backend_failed", Exit::Failed),
    };
    let message = match err {
        NightError::Backend(BackendError::Budget(_)) => format!(
            "{err}; the caps of a night hold for the whole command: raise them and run it again, what is paid for is kept"
        ),
        _ => err.to_string(),
    };
    if is_json {
        let spend = spend_json(lab);
        let told = json!({"ok": false, "error": word, "message": message, "spend": spend});
        output.line(&told.to_string());
    } else {
        output.error(&message);
        spend_line(lab).iter().for_each(|line| output.note(line));
    }
    exit
}

async fn prove(args: &ExperimentArgs, lab: &Lab, output: &Output) -> anyhow::Result<Exit> {
    let is_json = args.common.json;
    let setup = lab.setup();
    let mut options = ProofOptions::new(match args.persona {
        PersonaArg::Researcher => Persona::Researcher,
        PersonaArg::Programmer => Persona::Programmer,
    });
    options.nights = args.nights.unwrap_or(options.nights);
    options.limit_tasks = limit(args.limit_tasks);
    options.night = night_options(&setup.config);
    let bed = match lab.bed(setup).await {
        Ok(bed) => bed,
        Err(err) => return Ok(refuse_lab(output, is_json, &err)),
    };
    let calls = proof_calls(&options);
    if !is_json && setup.config.spends() {
        output.note(&calls_line(calls));
    }
    let proof =
        prove_improvement(&options, Arc::clone(&bed.backend), bed.evidence, bed.events, lab.ctx());
    let report = match stoppable(lab, output, proof).await {
        Ok(report) => report,
        Err(err) => return Ok(failed(output, is_json, &err, lab)),
    };
    if is_json {
        let mut told = json!(report);
        told["model"] = json!(setup.config.target().model);
        told["spend"] = spend_json(lab);
        told["forecast_calls"] = json!(if setup.config.spends() { calls } else { 0 });
        output.line(&told.to_string());
    } else {
        tell(&report, output);
        spend_line(lab).iter().for_each(|line| output.line(line));
    }
    match report.check() {
        Err(reason) if args.assert_improves => {
            output.note(&format!("FAIL: {reason}"));
            Ok(Exit::Failed)
        }
        _ => Ok(Exit::Done),
    }
}

/// A limit of 0 is none.
fn limit(count: u32) -> Option<usize> {
    usize::try_from(count).ok().filter(|limit| *limit > 0)
}

fn tell(report: &ProofReport, output: &Output) {
    output.line(&format!(
        "{} by {}: held-out {} -> {} (n {}) over {} in {}",
        report.persona,
        report.backend,
        score(report.baseline_holdout),
        score(report.after_holdout),
        report.n_validated,
        n_of(&report.n_tasks, "task"),
        n_of(&report.nights_run, "night")
    ));
    if let Some(harmful) = &report.harmful {
        output.line(&format!("harmful edit: {}", harmful.words()));
    }
    report.trace.iter().for_each(|night| output.line(&night_line(night)));
}
