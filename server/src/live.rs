//! Live updates: one pump for all viewers of the process. It wakes on the store's own signals and polls for
//! what other processes wrote and for nights; each event is read and serialised once, however many watch.
//! Sends; never writes, and never decides.

mod pump;
mod viewer;

use futures::Stream;
use pump::Pump;
use skillopt_domain::ids::RunId;
use skillopt_store::{NightRow, Store, StoreFailure};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Frames that a slow viewer may fall behind before it reads from the store again.
const BACKLOG: usize = 1024;

/// One message of a run's stream, serialised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A journal row.
    Event {
        /// Its number, the id of the server-sent event.
        seq: u64,
        /// The row as JSON.
        json: Arc<str>,
    },
    /// Live counts as JSON.
    Progress(Arc<str>),
}

/// A row of a list that changed.
#[derive(Clone, Debug)]
pub(crate) enum Row {
    /// A run, as JSON.
    Run(Arc<str>),
    /// A night. What may be told of it depends on the folders that may be read.
    Night(Arc<NightRow>),
}

/// Hands out streams of runs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Live {
    store: Store,
    desk: Arc<Desk>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Who watches what.
#[derive(Debug)]
struct Desk {
    runs: Mutex<HashMap<RunId, Feed>>,
    rows: broadcast::Sender<Row>,
}

/// The viewers of one run.
#[derive(Clone, Debug)]
struct Feed {
    frames: broadcast::Sender<Frame>,
    // Number of the last event that was sent.
    last: u64,
}

impl Live {
    /// Starts the pump, which ends with `stop`.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn start(store: Store, stop: CancellationToken) -> Result<Self, StoreFailure> {
        let desk = Arc::new(Desk { runs: Mutex::default(), rows: broadcast::channel(BACKLOG).0 });
        let tasks = TaskTracker::new();
        let pump = Pump::new(store.clone(), desk.clone()).await?;
        tasks.spawn(pump.work(stop.clone()));
        tasks.close();
        Ok(Self { store, desk, tasks, stop })
    }

    /// The events of a run after number `after`, those to come included, each once and in order; between
    /// them live counts. Ends only with the server.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`] for an unknown run.
    pub async fn run(
        &self,
        run: RunId,
        after: u64,
    ) -> Result<impl Stream<Item = Frame> + Send + use<>, StoreFailure> {
        let newest = self.store.max_seq(&run).await?;
        let frames = self.desk.join(&run, newest);
        Ok(viewer::events(self.store.clone(), run, after, frames, self.stop.clone()))
    }

    /// Rows of runs and nights that changed. A viewer that falls behind is let go: it opens the stream again and reads
    /// its lists anew.
    pub(crate) fn rows(&self) -> impl Stream<Item = Row> + Send + use<> {
        viewer::rows(self.desk.rows.subscribe(), self.stop.clone())
    }

    /// Waits until the pump has ended.
    pub async fn close(&self) {
        self.tasks.wait().await;
    }
}

impl Desk {
    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Feed>> {
        // The map is whole even if a thread died while it held the lock.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat among the viewers of a run. A first viewer opens the feed at event `newest`.
    fn join(&self, run: &RunId, newest: u64) -> broadcast::Receiver<Frame> {
        let mut runs = self.runs();
        let open = || Feed { frames: broadcast::channel(BACKLOG).0, last: newest };
        runs.entry(run.clone()).or_insert_with(open).frames.subscribe()
    }

    /// The feed of a run that somebody watches.
    fn feed(&self, run: &RunId) -> Option<Feed> {
        self.runs().get(run).cloned()
    }

    /// Notes that all events up to `last` were sent through `frames`, unless that feed was closed meanwhile.
    fn sent(&self, run: &RunId, frames: &broadcast::Sender<Frame>, last: u64) {
        if let Some(feed) = self.runs().get_mut(run).filter(|feed| feed.frames.same_channel(frames))
        {
            feed.last = last;
        }
    }

    /// Forgets feeds that nobody watches any more.
    fn sweep(&self) {
        self.runs().retain(|_, feed| feed.frames.receiver_count() > 0);
    }

    fn is_watched(&self) -> bool {
        self.rows.receiver_count() > 0 || !self.runs().is_empty()
    }
}

#[cfg(test)]
mod tests;
