//! Several draws of each task, kept together by task. Decides nothing.

use super::{NightTools, ReplayOrder, Replayed, replay_all};
use crate::backend::{Docs, Draw, Phase};
use crate::consolidate::NightError;
use crate::task::TaskRecord;

/// Which draws of each task are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// Where they belong.
    pub phase: Phase,
    /// The first one.
    pub first: u32,
    /// How many; 0 counts as 1.
    pub n: u32,
}

impl Draws {
    /// The first `n` draws.
    #[must_use]
    pub fn up_to(phase: Phase, n: u32) -> Self {
        Self { phase, first: 0, n }
    }
}

/// Makes these draws of each task: a set for each task, in task order.
///
/// # Errors
/// As [`replay_all`].
pub async fn replay_sets(
    tools: &NightTools<'_>,
    tasks: &[TaskRecord],
    docs: Docs<'_>,
    draws: Draws,
) -> Result<Vec<Vec<Replayed>>, NightError> {
    let Draws { phase, first, n } = draws;
    let n = n.max(1);
    let of_task = |task| {
        (first..first + n).map(move |repeat| ReplayOrder { task, draw: Draw { phase, repeat } })
    };
    let orders: Vec<ReplayOrder<'_>> = tasks.iter().flat_map(of_task).collect();
    let mut replayed = replay_all(tools, &orders, docs, phase).await?.into_iter();
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    Ok(tasks.iter().map(|_| replayed.by_ref().take(n).collect()).collect())
}
