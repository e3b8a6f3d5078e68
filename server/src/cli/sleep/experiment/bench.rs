//! `sleep experiment --bench`: folders of tasks are learned over nights, and what was learned is tested on tasks that
//! nobody learned from, by the same model or by another one.

use super::told::{bench_json, night_line, spend_json, spend_line, tested, transfer_json};
use super::{failed, limit, refuse_lab, stoppable};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::cli::sleep::args::ExperimentArgs;
use crate::cli::sleep::forecast::calls_line;
use crate::cli::sleep::refuse;
use crate::sleep::{Lab, LabError};
use anyhow::Context;
use serde_json::{Value, json};
use skillopt_sleep::adopt::live_file::{Mode, replace};
use skillopt_sleep::consolidate::NightError;
use skillopt_sleep::experiment::{
    Bed, BenchFolder, BenchLimits, BenchOptions, Direct, RoleWords, Who, bench_calls, bench_depth,
    read_benches, run_bench, run_transfer, transfer_calls,
};
use skillopt_sleep::night::night_options;
use std::path::Path;

/// Nights of a benchmark and of a transfer, as in the reference system.
const BENCH_NIGHTS: u32 = 3;
const TRANSFER_NIGHTS: u32 = 2;

/// Who learns, and who uses it where that is somebody else.
struct Beds {
    source: Bed,
    target: Option<Bed>,
    direct: Direct,
    spends: bool,
}

/// What one folder came to.
struct Ran {
    name: String,
    json: Value,
    lines: Vec<String>,
    change: Option<f64>,
    skill: String,
}

pub(super) async fn run(
    args: &ExperimentArgs,
    root: &Path,
    lab: &Lab,
    output: &Output,
) -> anyhow::Result<Exit> {
    let is_json = args.common.json;
    let limits =
        BenchLimits { replay: limit(args.limit_replay), holdout: limit(args.limit_holdout) };
    let folders = match read_benches(root, &args.seeds, limits) {
        Ok(folders) => folders,
        Err(err) => return Ok(refuse(output, is_json, "bad_bench", &err.to_string())),
    };
    let who = match args.transfer_to.as_deref().map(RoleWords::parse).transpose() {
        Ok(who) => who,
        Err(why) => {
            return Ok(refuse(output, is_json, "bad_config", &format!("--transfer-to: {why}")));
        }
    };
    let beds = match beds(args, who, lab).await {
        Ok(beds) => beds,
        Err(err) => return Ok(refuse_lab(output, is_json, &err)),
    };
    let planned: Vec<(&BenchFolder, BenchOptions)> =
        folders.iter().map(|folder| (folder, options(args, folder, lab))).collect();
    let calls = planned.iter().map(|(folder, options)| beds.calls(folder, options)).sum();
    let mut told = head(args, root, lab, &beds);
    told["forecast_calls"] = json!(if beds.spends { calls } else { 0 });
    if !is_json && beds.spends {
        output.note(&calls_line(calls));
    }
    let mut changes = Vec::new();
    for (folder, options) in &planned {
        let ran = match stoppable(lab, output, beds.run(folder, options)).await {
            Ok(ran) => ran,
            Err(err) => return Ok(failed(output, is_json, &err, lab)),
        };
        if !is_json {
            ran.lines.iter().for_each(|line| output.line(line));
        }
        add(&mut told, &ran, lab);
        if let Some(out) = &args.out {
            keep(out, &told, &ran)?;
        }
        changes.push((ran.name, ran.change));
    }
    if is_json {
        output.line(&told.to_string());
    } else {
        let (n, of) = (&told["n_improved"], &told["n_seeds"]);
        output.line(&format!("{n} of {of} benchmarks got better on held-out tasks"));
        spend_line(lab).iter().for_each(|line| output.line(line));
    }
    Ok(check(args, &changes, output))
}

async fn beds(args: &ExperimentArgs, who: Option<RoleWords>, lab: &Lab) -> Result<Beds, LabError> {
    let mut spends = lab.setup().config.spends();
    let source = lab.bed(lab.setup()).await?;
    let target = match who {
        None => None,
        Some(who) => {
            let setup = lab.setup_of(&Who::alone(who))?;
            spends = spends || setup.config.spends();
            Some(lab.bed(&setup).await?)
        }
    };
    let direct = if args.no_direct { Direct::Skip } else { Direct::Measure };
    Ok(Beds { source, target, direct, spends })
}

/// How a folder is run. A budget of tokens plans nights and attempts by the folder's tasks.
fn options(args: &ExperimentArgs, folder: &BenchFolder, lab: &Lab) -> BenchOptions {
    let usual = if args.transfer_to.is_some() { TRANSFER_NIGHTS } else { BENCH_NIGHTS };
    let mut options = BenchOptions {
        nights: args.nights.unwrap_or(usual),
        night: night_options(&lab.setup().config),
    };
    if let Some(tokens) = args.budget_tokens {
        let depth = bench_depth(folder, tokens);
        options.nights = depth.nights;
        options.night.rollouts = depth.rollouts;
    }
    options
}

impl Beds {
    fn calls(&self, folder: &BenchFolder, options: &BenchOptions) -> u64 {
        match &self.target {
            Some(_) => transfer_calls(folder, options, self.direct),
            None => bench_calls(folder, options),
        }
    }

    async fn run(&self, folder: &BenchFolder, options: &BenchOptions) -> Result<Ran, NightError> {
        let rollouts = options.night.rollouts;
        let name = folder.name.clone();
        let Some(target) = &self.target else {
            let report = run_bench(folder, options, &self.source).await?;
            let (before, after) = (tested(report.before), tested(report.after));
            let mut lines =
                vec![format!("{name} by {}: held-out {before} -> {after}", report.backend)];
            lines.extend(report.trace.iter().map(night_line));
            if report.slow_update.is_some() {
                lines.push("  guidance over all nights was added".to_owned());
            }
            let (json, change) = (bench_json(&report, rollouts), report.change());
            return Ok(Ran { name, json, lines, change, skill: report.skill });
        };
        let beds = (&self.source, target);
        let report = run_transfer(folder, options, beds, self.direct).await?;
        let (before, after) = (tested(report.baseline_target), tested(report.transferred));
        let mut lines = vec![format!(
            "{name} from {} to {}: held-out {before} -> {after}",
            report.source, report.target
        )];
        if self.direct == Direct::Measure {
            lines.push(format!("  learned by the target itself: {}", tested(report.direct_target)));
        }
        lines.extend(report.trace.iter().map(night_line));
        let (json, change) = (transfer_json(&report, rollouts), report.transfer_gain);
        Ok(Ran { name, json, lines, change, skill: report.skill })
    }
}

/// What is known before the first result, with the reference system's names.
fn head(args: &ExperimentArgs, root: &Path, lab: &Lab, beds: &Beds) -> Value {
    let (source, target) = (&beds.source.backend, beds.target.as_ref().map(|bed| &bed.backend));
    let is_simulated = source.is_simulated() || target.is_some_and(|target| target.is_simulated());
    let mut told = json!({
        "benchmark": root,
        "backend": source.label(),
        "model": lab.setup().config.target().model,
        "simulated": is_simulated,
        "gate": lab.setup().config.gate_mode,
        "budget_tokens": args.budget_tokens,
        "n_seeds": 0,
        "n_improved": 0,
        "results": [],
    });
    if let Some(target) = target {
        told["experiment"] = json!("skillopt-sleep/transfer");
        told["source"] = json!(source.label());
        told["target"] = json!(target.label());
    }
    told
}

fn add(told: &mut Value, ran: &Ran, lab: &Lab) {
    if let Some(results) = told["results"].as_array_mut() {
        results.push(ran.json.clone());
    }
    let one_more = |value: &Value| json!(value.as_u64().unwrap_or_default() + 1);
    told["n_seeds"] = one_more(&told["n_seeds"]);
    if is_better(ran.change) {
        told["n_improved"] = one_more(&told["n_improved"]);
    }
    told["tokens_used"] = json!(lab.spend().map_or(0, |spend| spend.total().tokens()));
    told["spend"] = spend_json(lab);
}

/// Each result is kept when it is there, each file in one step.
fn keep(out: &Path, told: &Value, ran: &Ran) -> anyhow::Result<()> {
    let folder = out.join(&ran.name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let text = format!("{}\n", serde_json::to_string_pretty(told)?);
    for (path, text) in [(folder.join("SKILL.md"), &ran.skill), (out.join("report.json"), &text)] {
        replace(&path, text.as_bytes(), Mode::New)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn is_better(change: Option<f64>) -> bool {
    change.is_some_and(|change| change > 0.0)
}

fn check(args: &ExperimentArgs, changes: &[(String, Option<f64>)], output: &Output) -> Exit {
    let worse: Vec<&str> = changes
        .iter()
        .filter(|(_, change)| !is_better(*change))
        .map(|(name, _)| name.as_str())
        .collect();
    if !args.assert_improves || worse.is_empty() {
        return Exit::Done;
    }
    output.note(&format!("FAIL: no better on held-out tasks: {}", worse.join(", ")));
    Exit::Failed
}
