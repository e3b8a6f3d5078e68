//! What the overview knows: the newest runs and those that go on, and nights, kept current row by row. No view here.

use crate::api::{self, ApiResult};
use crate::order::sorted;
use skillopt_domain::api::{NightItem, NightsOverview, RunSummary};
use skillopt_domain::ids::RunId;
use skillopt_domain::night::NightStatus;
use skillopt_domain::run::RunStatus;

const N_RECENT: usize = 12;
const N_ATTENTION: usize = 5;

/// The rows behind the overview.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// Newest first: the newest of all, and older ones that still run.
    runs: Vec<RunSummary>,
    /// Which of them are among these rows only because they run.
    older: Vec<RunId>,
    /// Runs in the store.
    pub(super) total: u64,
    /// Nights: what runs, what waits, what was and what comes.
    pub(super) nights: NightsOverview,
}

pub(super) async fn load() -> ApiResult<Snapshot> {
    let overview = api::overview().await?;
    let runs = overview.runs;
    Ok(Snapshot { runs: runs.items, older: Vec::new(), total: runs.total, nights: overview.nights })
}

impl Snapshot {
    /// Neither a run nor a night was ever there.
    pub(super) fn is_first_visit(&self) -> bool {
        self.total == 0 && !self.has_nights()
    }

    pub(super) fn has_nights(&self) -> bool {
        let NightsOverview { running, asking, last, next, .. } = &self.nights;
        !running.is_empty() || !asking.is_empty() || last.is_some() || next.is_some()
    }

    /// Takes over a night that runs. `false` for one that is over: what waits and what was is the server's to say.
    pub(super) fn put_night(&mut self, night: &NightItem) -> bool {
        let running = &mut self.nights.running;
        let known = running.iter().position(|known| known.id == night.id);
        let is_running = night.status == NightStatus::Running;
        match known {
            Some(at) if is_running => running[at].clone_from(night),
            Some(at) => _ = running.remove(at),
            None if is_running => running.insert(0, night.clone()),
            None => {}
        }
        is_running
    }

    /// Takes in the runs that go on, in the place of those that did before.
    pub(super) fn put_running(&mut self, running: &[RunSummary]) {
        let older = std::mem::take(&mut self.older);
        self.runs.retain(|run| !older.contains(&run.id));
        for run in running {
            if self.runs.iter().all(|known| known.id != run.id) {
                self.runs.push(run.clone());
                self.older.push(run.id.clone());
            }
        }
    }

    /// Takes over a row that changed.
    pub(super) fn put(&mut self, run: &RunSummary) {
        match self.runs.iter_mut().find(|known| known.id == run.id) {
            Some(known) => known.clone_from(run),
            None => {
                let is_newest =
                    self.runs.first().is_none_or(|first| first.created_at_ms <= run.created_at_ms);
                self.total += u64::from(is_newest);
                self.runs.push(run.clone());
                self.runs =
                    sorted(std::mem::take(&mut self.runs), |run| u64::MAX - run.created_at_ms);
            }
        }
    }

    /// Runs that move by themselves, now or when their turn comes.
    pub(super) fn going(&self) -> Vec<RunSummary> {
        self.only(|run| is_going(run.status))
    }

    /// Runs that stand still until a person takes them up again.
    pub(super) fn need_attention(&self) -> Vec<RunSummary> {
        let mut runs = self.only(|run| {
            matches!(
                run.status,
                RunStatus::Paused | RunStatus::Failed | RunStatus::Interrupted | RunStatus::Capped
            )
        });
        runs.truncate(N_ATTENTION);
        runs
    }

    /// The newest runs that do not go on now.
    pub(super) fn recent(&self) -> Vec<RunSummary> {
        let mut runs = self.only(|run| !is_going(run.status));
        runs.truncate(N_RECENT);
        runs
    }

    fn only(&self, wanted: impl Fn(&RunSummary) -> bool) -> Vec<RunSummary> {
        self.runs.iter().filter(|run| wanted(run)).cloned().collect()
    }
}

fn is_going(status: RunStatus) -> bool {
    match status {
        RunStatus::Queued | RunStatus::Running | RunStatus::Pausing | RunStatus::Cancelling => true,
        RunStatus::Paused
        | RunStatus::Done
        | RunStatus::Failed
        | RunStatus::Cancelled
        | RunStatus::Capped
        | RunStatus::Interrupted => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;
    use crate::components::run_cells::tests::run;

    #[test]
    fn a_new_run_stands_first_and_counts() {
        let mut snapshot =
            Snapshot { runs: vec![run(1, RunStatus::Done)], total: 1, ..Snapshot::default() };
        snapshot.put(&run(2, RunStatus::Running));
        assert_eq!(snapshot.total, 2);
        assert_eq!(snapshot.going().len(), 1);
        snapshot.put(&run(2, RunStatus::Failed));
        assert_eq!(
            (snapshot.total, snapshot.going().len(), snapshot.need_attention().len()),
            (2, 0, 1)
        );
        assert_eq!(snapshot.recent()[0].name, "run-2");
    }

    #[test]
    fn a_night_is_followed_while_it_runs_and_the_server_is_asked_when_it_is_over() {
        let mut snapshot = Snapshot::default();
        assert!(snapshot.is_first_visit());
        assert!(snapshot.put_night(&night(NightStatus::Running)));
        assert!(snapshot.put_night(&night(NightStatus::Running)));
        assert_eq!(snapshot.nights.running.len(), 1);
        assert!(snapshot.has_nights() && !snapshot.is_first_visit());
        assert!(!snapshot.put_night(&night(NightStatus::Staged)));
        assert!(snapshot.nights.running.is_empty());
    }

    #[test]
    fn an_older_run_is_shown_for_as_long_as_it_is_said_to_go_on() {
        let newest = || vec![run(9, RunStatus::Running), run(8, RunStatus::Done)];
        let mut snapshot = Snapshot { runs: newest(), total: 3, ..Snapshot::default() };
        snapshot.put_running(&[run(9, RunStatus::Running), run(1, RunStatus::Running)]);
        let names =
            |runs: Vec<RunSummary>| runs.into_iter().map(|run| run.name).collect::<Vec<_>>();
        assert_eq!(names(snapshot.going()), ["run-9", "run-1"]);
        snapshot.put_running(&[run(9, RunStatus::Running)]);
        assert_eq!((names(snapshot.going()), snapshot.total), (vec!["run-9".to_owned()], 3));
        assert_eq!(names(snapshot.recent()), ["run-8"]);
    }
}
