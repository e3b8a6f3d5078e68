//! How feeds learn that something changed: a signal inside the process, a token to poll for the others.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Doing, count, int};
use skillopt_domain::event::Progress;
use skillopt_domain::ids::RunId;
use tokio::sync::broadcast;

/// Something changed in this process.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// Events, state or totals of a run.
    Run(RunId),
    /// Live counts of a run. Not stored yet.
    Progress {
        /// The run.
        run: RunId,
        /// The counts.
        progress: Box<Progress>,
    },
    /// A person asked for something: its owner should send a heartbeat now.
    Command {
        /// The run.
        run: RunId,
    },
}

/// Runs that changed in any process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The runs, the latest change last.
    pub runs: Vec<RunId>,
    /// Ask with this the next time.
    pub token: u64,
}

impl Store {
    /// Signals of this process from now on. A receiver that is too slow is told that it missed some.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Signal> {
        self.inner.signals.subscribe()
    }

    /// Runs that changed after `token`, by this or any other process. With `u64::MAX`: none, but the
    /// token of now.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn changed_runs_since(&self, token: u64) -> Result<Changes, StoreFailure> {
        let last = "SELECT coalesce(max(changed), 0) FROM runs";
        let changed = "SELECT id, changed FROM runs WHERE changed > ? ORDER BY changed";
        if token == u64::MAX {
            let last: i64 =
                sqlx::query_scalar(last).fetch_one(self.reader()).await.doing("read the token")?;
            return Ok(Changes { runs: Vec::new(), token: count(last) });
        }
        let rows: Vec<(String, i64)> = sqlx::query_as(changed)
            .bind(int(token))
            .fetch_all(self.reader())
            .await
            .doing("read changed runs")?;
        let token = rows.last().map_or(token, |(_, changed)| count(*changed));
        let runs =
            rows.iter().map(|(id, _)| crate::runs::parse_id(id)).collect::<Result<_, _>>()?;
        Ok(Changes { runs, token })
    }

    /// Nobody listening is no error.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = self.inner.signals.send(signal);
    }
}
