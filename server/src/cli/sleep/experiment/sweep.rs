//! `sleep experiment sweep` and `scorecard`: the experiments of a plan, a row each, in a folder that the next sweep goes
//! on from.

use super::flags::{GivenTo, check_flags};
use super::told::{spend_json, spend_line, tested};
use super::{Refused, failed, gate_keys, lab, limit, stoppable};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::cli::sleep::args::{GateArg, ScorecardArgs, SweepArgs};
use crate::cli::sleep::refuse;
use crate::cli::sleep::report::one_line;
use crate::config::Environment;
use crate::sleep::{Lab, key};
use anyhow::Context;
use async_trait::async_trait;
use serde_json::json;
use skillopt_sleep::adopt::live_file::{Mode, replace};
use skillopt_sleep::config::Override;
use skillopt_sleep::experiment::{
    Bed, BenchFolder, BenchLimits, GateWord, RowStatus, SweepError, SweepHost, SweepKeys,
    SweepOrder, SweepPlan, SweepRow, SweepStep, Who, n_experiments, read_benches, read_rows,
    run_sweep, scorecard, write_rows,
};
use skillopt_sleep::lock::{Lock, LockError};
use skillopt_sleep::night::night_options;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const ROWS: &str = "sweep.jsonl";
const CARD: &str = "scorecard.md";
/// Stands for models that cannot be put together: their experiments fail, and are run again in any case.
const NOBODY: &str = "nobody";

pub(super) async fn run(
    args: &SweepArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let is_json = args.common.json;
    let (plan, folders) = match read(args) {
        Ok(read) => read,
        Err(refused) => return Ok(refused.tell(output, is_json)),
    };
    let lab = match lab(&args.common, keys(&plan.common), machine) {
        Ok(lab) => lab,
        Err(refused) => return Ok(refused.tell(output, is_json)),
    };
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make {}", args.out.display()))?;
    // Held to the end; it goes with its process.
    let _lock = match Lock::take(&args.out.join(".sweep.lock")) {
        Ok(lock) => lock,
        Err(err @ LockError::Busy { .. }) => {
            let message = format!("another sweep works in {}: {err}", args.out.display());
            refuse(output, is_json, "sweep_running", &message);
            return Ok(Exit::Failed);
        }
        Err(err) => return Err(err.into()),
    };
    let exit = work(args, (&plan, &folders), &lab, output).await;
    lab.close().await;
    exit
}

/// The plan with its benchmarks. Whatever is wrong is told with its file.
fn read(args: &SweepArgs) -> Result<(SweepPlan, Vec<BenchFolder>), Refused> {
    let path = &args.plan;
    let bad =
        |why: String| Refused { word: "bad_plan", message: format!("{}: {why}", path.display()) };
    check_flags(&args.common, GivenTo::Sweep)?;
    let text =
        std::fs::read_to_string(path).map_err(|err| bad(format!("it cannot be read: {err}")))?;
    let plan = SweepPlan::parse(&text).map_err(|err| bad(err.to_string()))?;
    if args.common.edit_budget > 0 && plan.common.edit_budget.is_some() {
        let message = "--edit-budget: the plan has an edit_budget, which counts; leave one out";
        return Err(Refused { word: "bad_config", message: message.to_owned() });
    }
    let SweepKeys { limit_replay, limit_holdout, .. } = plan.common;
    let limits = BenchLimits {
        replay: limit_replay.and_then(limit),
        holdout: limit_holdout.and_then(limit),
    };
    let root = path.parent().unwrap_or(Path::new("")).join(&plan.bench);
    let folders =
        read_benches(&root, &plan.seeds(), limits).map_err(|err| bad(format!("bench: {err}")))?;
    Ok((plan, folders))
}

/// What all cells have in common, as keys of the config of nights.
fn keys(common: &SweepKeys) -> Vec<Override> {
    let gate = common.gate.map(|gate| match gate {
        GateWord::On => GateArg::On,
        GateWord::Off => GateArg::Off,
        GateWord::Hard => GateArg::Hard,
        GateWord::Soft => GateArg::Soft,
    });
    let mut keys = gate.map_or_else(Vec::new, gate_keys);
    let counts = [("edit_budget", common.edit_budget), ("dream_rollouts", common.rollouts_k)];
    let given = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
    keys.extend(given.map(|(name, count)| key("the plan", name, count)));
    keys
}

async fn work(
    args: &SweepArgs,
    (plan, folders): (&SweepPlan, &[BenchFolder]),
    lab: &Lab,
    output: &Output,
) -> anyhow::Result<Exit> {
    let is_json = args.common.json;
    let path = args.out.join(ROWS);
    let known = rows_of(&path)?.unwrap_or_default();
    let night = night_options(&lab.setup().config);
    let settings = lab.settings();
    let order = SweepOrder { cells: &plan.cells, folders, night: &night, settings: &settings };
    let n_cells = n_experiments(&order);
    let out = if is_json { None } else { Some(output) };
    let desk = Desk {
        lab,
        path,
        output: out,
        n_cells,
        at: AtomicUsize::new(0),
        n_known: AtomicUsize::new(0),
    };
    let rows = match stoppable(lab, output, run_sweep(&order, known, &desk)).await {
        Ok(rows) => rows,
        Err(SweepError::Night { error, rows }) => {
            let card = keep_card(&args.out, &rows)?;
            if !is_json {
                output.line(card.trim_end());
            }
            return Ok(failed(output, is_json, &error, lab));
        }
        Err(err @ SweepError::Rows(_)) => return Err(err.into()),
    };
    let card = keep_card(&args.out, &rows)?;
    let n_failed = rows.iter().filter(|row| !row.is_done()).count();
    if is_json {
        let told = json!({
            "out": args.out, "n_cells": n_cells, "n_done": rows.len() - n_failed, "n_failed": n_failed,
            "n_known": desk.n_known.load(Ordering::Relaxed),
            "simulated": rows.iter().any(|row| row.simulated), "spend": spend_json(lab), "rows": rows,
        });
        output.line(&told.to_string());
    } else {
        output.line(card.trim_end());
        spend_line(lab).iter().for_each(|line| output.line(line));
    }
    if n_failed == 0 {
        return Ok(Exit::Done);
    }
    output.note(&format!(
        "FAIL: {n_failed} of {n_cells} experiments failed; run the same again to try them once more"
    ));
    Ok(Exit::Failed)
}

/// Keeps the rows as a table, and gives it.
fn keep_card(out: &Path, rows: &[SweepRow]) -> anyhow::Result<String> {
    let card = scorecard(rows);
    let path = out.join(CARD);
    replace(&path, card.as_bytes(), Mode::New)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(card)
}

/// `None` when there are no rows yet.
fn rows_of(path: &Path) -> anyhow::Result<Option<Vec<SweepRow>>> {
    let failed = || format!("cannot read {}", path.display());
    match std::fs::File::open(path) {
        Ok(file) => Ok(Some(read_rows(BufReader::new(file)).with_context(failed)?)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(failed),
    }
}

/// Where a sweep runs: models of this machine, rows in its folder, words on standard error.
struct Desk<'a> {
    lab: &'a Lab,
    path: PathBuf,
    /// `None` when one document is the only output.
    output: Option<&'a Output>,
    n_cells: usize,
    at: AtomicUsize,
    n_known: AtomicUsize,
}

#[async_trait]
impl SweepHost for Desk<'_> {
    async fn bed(&self, who: &Who) -> Result<Bed, String> {
        let setup = self.lab.setup_of(who).map_err(|err| err.to_string())?;
        self.lab.bed(&setup).await.map_err(|err| err.to_string())
    }

    async fn identity(&self, who: &Who) -> String {
        let Ok(setup) = self.lab.setup_of(who) else { return NOBODY.to_owned() };
        self.lab.identity(&setup).await.unwrap_or_else(|_| NOBODY.to_owned())
    }

    fn keep(&self, rows: &[SweepRow]) -> io::Result<()> {
        replace(&self.path, write_rows(rows).as_bytes(), Mode::New)
    }

    fn tell(&self, step: SweepStep<'_>) {
        let n = self.n_cells;
        let next = || self.at.fetch_add(1, Ordering::Relaxed) + 1;
        let line = match step {
            SweepStep::Known(row) => {
                self.n_known.fetch_add(1, Ordering::Relaxed);
                format!("[sweep] ({}/{n}) known: {} {}", next(), row.seed, row.kind.as_str())
            }
            SweepStep::Begins(seed, kind, models) => {
                format!("[sweep] ({}/{n}) runs: {seed} {} {models}", next(), kind.as_str())
            }
            SweepStep::Ended(row) if row.is_done() => {
                format!("[sweep]   held-out {} -> {}", tested(row.before), tested(row.after))
            }
            SweepStep::Ended(row) => {
                let word = if row.status == RowStatus::Stopped { "stopped" } else { "failed" };
                format!("[sweep]   {word}: {}", one_line(&row.error))
            }
        };
        if let Some(output) = self.output {
            output.note(&line);
        }
    }
}

fn n_of(rows: &[SweepRow], status: RowStatus) -> usize {
    rows.iter().filter(|row| row.status == status).count()
}

/// The rows of a sweep as a table.
pub(super) fn show(args: &ScorecardArgs, output: &Output) -> anyhow::Result<Exit> {
    let is_json = args.common.json;
    if let Err(refused) = check_flags(&args.common, GivenTo::Scorecard) {
        return Ok(refused.tell(output, is_json));
    }
    let Some(rows) = rows_of(&args.dir.join(ROWS))? else {
        let message = format!("{} holds no sweep: expected {ROWS} in it", args.dir.display());
        return Ok(refuse(output, is_json, "no_sweep", &message));
    };
    if is_json {
        let told = json!({
            "n_rows": rows.len(), "n_failed": n_of(&rows, RowStatus::Failed),
            "n_stopped": n_of(&rows, RowStatus::Stopped),
            "simulated": rows.iter().any(|row| row.simulated), "rows": rows,
        });
        output.line(&told.to_string());
    } else {
        output.line(scorecard(&rows).trim_end());
    }
    Ok(Exit::Done)
}
