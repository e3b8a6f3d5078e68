//! The object that `train --json` prints. Its keys are part of the interface.

use serde::Serialize;
use skillopt_domain::api::RunDetail;
use skillopt_domain::cost::{FateCost, StepFate};
use skillopt_domain::event::EventKind;
use skillopt_domain::forecast::{Estimate, ForecastTotal};
use skillopt_domain::run::RunStatus;
use skillopt_domain::score::MeanScore;
use skillopt_store::{Store, StoreFailure};

/// A finished run in numbers. A score that was not measured is `null`, never 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TrainSummary {
    run_id: String,
    status: RunStatus,
    /// Why it ended so; `null` when it is done.
    detail: Option<String>,
    out_root: String,
    baseline: Scores,
    best: BestScores,
    steps: u32,
    accepted: u32,
    rejected: u32,
    /// Steps without a decision: nothing to gate, or too many errors to compare.
    skipped: u32,
    calls: Calls,
    tokens: u64,
    /// `null` when any call has no known price.
    cost_usd: Option<f64>,
    wall_s: f64,
    /// What steps took by what became of them.
    by_fate: Vec<FateRow>,
    /// All steps paid for, a step that was accepted; `null` without one, or while a price is unknown.
    cost_per_accepted_usd: Option<f64>,
    /// What was foreseen before the first call; `null` in runs of older programs.
    forecast: Option<ForecastRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct FateRow {
    fate: StepFate,
    steps: u32,
    calls: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    wall_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ForecastRow {
    calls: Estimate,
    tokens: Estimate,
    /// In millionths of a dollar; `null` without a price.
    cost_usd_micros: Option<Estimate>,
    wall_ms: Estimate,
}

impl From<ForecastTotal> for ForecastRow {
    fn from(total: ForecastTotal) -> Self {
        let ForecastTotal { calls, cost_usd_micros, wall_ms, .. } = total;
        Self { calls, tokens: total.tokens(), cost_usd_micros, wall_ms }
    }
}

impl From<FateCost> for FateRow {
    fn from(row: FateCost) -> Self {
        let total = row.spend.total();
        Self {
            fate: row.fate,
            steps: row.n_steps,
            calls: total.calls,
            tokens: total.tokens(),
            cost_usd: total.known_cost_usd_micros().map(|micros| in_units(micros, 6)),
            wall_s: in_units(row.wall_ms, 3),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Scores {
    selection: Option<MeanScore>,
    test: Option<MeanScore>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BestScores {
    step: u32,
    selection: Option<MeanScore>,
    test: Option<MeanScore>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Calls {
    target: u64,
    optimizer: u64,
    cached: u64,
}

impl TrainSummary {
    /// Reads what the row does not hold.
    pub(super) async fn read(store: &Store, detail: &RunDetail) -> Result<Self, StoreFailure> {
        let (row, view) = (&detail.summary, &detail.view);
        let best_step = view.best.as_ref().map_or(0, |best| best.step);
        let baseline = view.baseline.as_ref().and_then(|measured| measured.score);
        let test = |measured: &Option<skillopt_domain::event::Measured>| {
            measured.as_ref().and_then(|measured| measured.score)
        };
        let best_selection = match best_step {
            0 => baseline,
            step => candidate_score(store, detail, step).await?,
        };
        let total = row.spend.total();
        Ok(Self {
            run_id: row.id.to_string(),
            status: row.status,
            detail: row.detail.clone(),
            out_root: row.out_root.clone(),
            baseline: Scores { selection: baseline, test: test(&view.test_initial) },
            best: BestScores {
                step: best_step,
                selection: best_selection,
                test: test(&view.test_best),
            },
            steps: view.n_steps,
            accepted: view.n_accepted,
            rejected: view.n_rejected,
            skipped: view.n_skipped + view.n_inconclusive,
            calls: Calls {
                target: row.spend.target.calls,
                optimizer: row.spend.optimizer.calls,
                cached: total.cached,
            },
            tokens: total.tokens(),
            cost_usd: total.known_cost_usd_micros().map(|micros| in_units(micros, 6)),
            wall_s: in_units(store.run_row(&row.id).await?.active_ms, 3),
            by_fate: view.fate_rows().into_iter().map(FateRow::from).collect(),
            cost_per_accepted_usd: view.cost_per_accepted_step().map(|micros| in_units(micros, 6)),
            forecast: view
                .plan
                .as_ref()
                .and_then(|plan| plan.forecast.as_ref())
                .map(|forecast| forecast.total().into()),
        })
    }
}

/// The candidate of a step as the gate saw it.
async fn candidate_score(
    store: &Store,
    detail: &RunDetail,
    step: u32,
) -> Result<Option<MeanScore>, StoreFailure> {
    let events = store.step_detail(&detail.summary.id, step).await?.events;
    Ok(events.iter().find_map(|event| match &event.kind {
        EventKind::Gated { verdict, .. } => verdict.candidate,
        _ => None,
    }))
}

/// A whole number with its point moved to the left; no digit is lost on the way.
pub(super) fn in_units(number: u64, digits: u32) -> f64 {
    format!("{number}e-{digits}").parse().unwrap_or_default()
}

#[cfg(test)]
mod tests;
