//! One experiment of a sweep from its models to its row, with what it cost, also when it fails on the way.

use super::{RowStatus, SweepHost, SweepRow};
use crate::backend::BackendError;
use crate::consolidate::{NightError, NightOptions};
use crate::experiment::{
    Bed, BenchFolder, BenchOptions, Cell, Direct, TestScore, Who, run_bench, run_transfer,
};
use crate::redact::redact;
use skillopt_domain::spend::{Spend, SpendByRole};

/// What an experiment leaves.
pub(super) struct Left {
    /// Its row, without a key.
    pub(super) row: SweepRow,
    /// Why no further experiment can run.
    pub(super) end: Option<NightError>,
}

/// Runs an experiment. There is a row in any case, with what it cost.
pub(super) async fn run_cell(
    cell: &Cell,
    folder: &BenchFolder,
    night: &NightOptions,
    host: &dyn SweepHost,
) -> Left {
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
        status: RowStatus::Done,
        error: String::new(),
    };
    let options = BenchOptions { nights: cell.nights, night: night.clone() };
    match come_to(cell, folder, &options, host).await {
        Ok(came) => {
            let row = SweepRow {
                backend: came.backend,
                simulated: came.simulated,
                before: came.before,
                after: came.after,
                skill: came.skill,
                ..row
            };
            Left { row: paid(row, &came.spend.total()), end: None }
        }
        Err(failure) => broken(row, failure),
    }
}

/// The row of an experiment that did not come to its end.
fn broken(row: SweepRow, failure: Failure) -> Left {
    // A provider may have quoted what it was sent.
    let error = redact(&failure.to_string()).text;
    let row = SweepRow { status: RowStatus::Failed, error, ..row };
    match failure {
        Failure::Bed(_) => Left { row, end: None },
        Failure::Night(NightError::Backend(error), spend) if ends_sweep(&error) => {
            let row = SweepRow { status: RowStatus::Stopped, ..row };
            Left { row: paid(row, &spend), end: Some(error.into()) }
        }
        Failure::Night(_, spend) => Left { row: paid(row, &spend), end: None },
    }
}

fn paid(row: SweepRow, spend: &Spend) -> SweepRow {
    SweepRow {
        calls: spend.calls,
        tokens: spend.tokens(),
        unmetered_calls: spend.unmetered_calls,
        cost_usd_micros: spend.known_cost_usd_micros(),
        ..row
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
enum Failure {
    #[error("{0}")]
    Bed(String),
    /// It failed on the way, after this was spent.
    #[error("{0}")]
    Night(NightError, Box<Spend>),
}

/// What beds spend from here on.
struct Till<'a> {
    beds: Vec<(&'a Bed, SpendByRole)>,
}

impl<'a> Till<'a> {
    fn open(beds: &[&'a Bed]) -> Self {
        Self { beds: beds.iter().map(|bed| (*bed, bed.backend.spend())).collect() }
    }

    fn failure(&self, error: NightError) -> Failure {
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
