//! One experiment of a sweep from its models to its row, with what it cost, also when it fails on the way.

use super::{SweepError, SweepHost, SweepRow};
use crate::backend::BackendError;
use crate::consolidate::{NightError, NightOptions};
use crate::experiment::{
    Bed, BenchFolder, BenchOptions, Cell, Direct, TestScore, Who, run_bench, run_transfer,
};
use crate::redact::redact;
use skillopt_domain::spend::{Spend, SpendByRole};

/// Runs an experiment; what fails in it alone is a row.
pub(super) async fn run_cell(
    cell: &Cell,
    folder: &BenchFolder,
    night: &NightOptions,
    host: &dyn SweepHost,
) -> Result<SweepRow, SweepError> {
    let row = SweepRow {
        cfg_key: String::new(),
        kind: cell.kind,
        seed: folder.name.clone(),
        backend: cell.models(),
        simulated: [Some(&cell.learner), cell.user.as_ref()]
            .into_iter()
            .flatten()
            .any(Who::is_simulated),
        nights: cell.nights,
        before: None,
        after: None,
        calls: 0,
        tokens: 0,
        unmetered_calls: 0,
        cost_usd_micros: None,
        skill: String::new(),
        error: String::new(),
    };
    let options = BenchOptions { nights: cell.nights, night: night.clone() };
    match come_to(cell, folder, &options, host).await {
        Ok(came) => {
            let spend = came.spend.total();
            Ok(SweepRow {
                backend: came.backend,
                simulated: came.simulated,
                before: came.before,
                after: came.after,
                calls: spend.calls,
                tokens: spend.tokens(),
                unmetered_calls: spend.unmetered_calls,
                cost_usd_micros: spend.known_cost_usd_micros(),
                skill: came.skill,
                ..row
            })
        }
        Err(Failure::Night(NightError::Backend(error), _)) if ends_sweep(&error) => {
            Err(SweepError::Night(error.into()))
        }
        // A provider may have quoted what it was sent.
        Err(failure) => {
            let row = SweepRow { error: redact(&failure.to_string()).text, ..row };
            let Failure::Night(_, spend) = failure else { return Ok(row) };
            Ok(SweepRow {
                calls: spend.calls,
                tokens: spend.tokens(),
                unmetered_calls: spend.unmetered_calls,
                cost_usd_micros: spend.known_cost_usd_micros(),
                ..row
            })
        }
    }
}

/// What an experiment came to.
struct Came {
    backend: String,
    simulated: bool,
    before: Option<TestScore>,
    after: Option<TestScore>,
    spend: SpendByRole,
    skill: String,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Bed(String),
    /// It failed on the way, after this was spent.
    #[error("{0}")]
    Night(NightError, Box<Spend>),
}

/// What beds spend from here on.
pub(super) struct Till<'a> {
    beds: Vec<(&'a Bed, SpendByRole)>,
}

impl<'a> Till<'a> {
    pub(super) fn open(beds: &[&'a Bed]) -> Self {
        Self { beds: beds.iter().map(|bed| (*bed, bed.backend.spend())).collect() }
    }

    pub(super) fn failure(&self, error: NightError) -> Failure {
        // One meter tells both the same; a simulation beside it tells nothing.
        let spent = self.beds.iter().map(|(bed, before)| bed.backend.spend().since(before));
        let spent = spent.fold(SpendByRole::default(), SpendByRole::at_least);
        Failure::Night(error, Box::new(spent.total()))
    }
}

async fn come_to(
    cell: &Cell,
    folder: &BenchFolder,
    options: &BenchOptions,
    host: &dyn SweepHost,
) -> Result<Came, Failure> {
    let learner = host.bed(&cell.learner).await.map_err(Failure::Bed)?;
    let Some(user) = &cell.user else {
        let till = Till::open(&[&learner]);
        let report =
            run_bench(folder, options, &learner).await.map_err(|error| till.failure(error))?;
        return Ok(Came {
            backend: report.backend,
            simulated: report.simulated,
            before: report.before,
            after: report.after,
            spend: report.spend,
            skill: report.skill,
        });
    };
    let user = host.bed(user).await.map_err(Failure::Bed)?;
    let till = Till::open(&[&learner, &user]);
    let report = run_transfer(folder, options, (&learner, &user), Direct::Skip)
        .await
        .map_err(|error| till.failure(error))?;
    Ok(Came {
        backend: format!("{} to {}", report.source, report.target),
        simulated: report.simulated,
        before: report.baseline_target,
        after: report.transferred,
        spend: report.spend,
        skill: report.skill,
    })
}

/// No further experiment can run either. A model that cannot be called is the matter of its own cells.
fn ends_sweep(error: &BackendError) -> bool {
    match error {
        BackendError::Cancelled
        | BackendError::Budget(_)
        | BackendError::Pending
        | BackendError::Ledger(_) => true,
        BackendError::Fatal { .. }
        | BackendError::Failed { .. }
        | BackendError::Unusable(_)
        | BackendError::Unsupported(_) => false,
    }
}
