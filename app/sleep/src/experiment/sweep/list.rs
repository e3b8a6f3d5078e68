//! Which experiments a plan comes to, and the key that tells each from all others.

use super::{SweepHost, SweepOrder};
use crate::consolidate::NightOptions;
use crate::experiment::{BenchFolder, Cell};
use skillopt_domain::hash::Sha256Hex;

/// Each cell with each of its benchmarks, in the order of the plan.
pub(super) fn experiments<'a>(order: &SweepOrder<'a>) -> Vec<(&'a Cell, &'a BenchFolder)> {
    let of = |cell: &'a Cell| {
        let is_wanted =
            move |folder: &&BenchFolder| cell.seed.as_ref().is_none_or(|seed| *seed == folder.name);
        order.folders.iter().filter(is_wanted).map(move |folder| (cell, folder))
    };
    order.cells.iter().flat_map(of).collect()
}

/// Number of experiments of a plan.
#[must_use]
pub fn n_experiments(order: &SweepOrder<'_>) -> usize {
    experiments(order).len()
}

/// Which models a cell asks.
pub(super) async fn identities(cell: &Cell, host: &dyn SweepHost) -> String {
    let learner = host.identity(&cell.learner).await;
    match &cell.user {
        Some(user) => format!("{learner}|{}", host.identity(user).await),
        None => learner,
    }
}

pub(super) fn cfg_key(
    (cell, identities): (&Cell, &str),
    folder: &BenchFolder,
    order: &SweepOrder<'_>,
) -> String {
    let content = Sha256Hex::of(serde_json::json!([folder.skill, folder.tasks]).to_string());
    // How many attempts are made at the same time changes no result.
    let night = NightOptions { workers: 1, ..order.night.clone() };
    let options = Sha256Hex::of(format!("{night:?}|{}|{identities}", order.settings));
    let (kind, nights, models) = (cell.kind.as_str(), cell.nights, cell.models());
    let (content, options) = (content.short(), options.short());
    format!("{kind}|{}|{nights} nights|{models}|{content}|{options}", folder.name)
}
