//! The one task that looks for calls and records them: what is asked for at the same time is done at once, and
//! calls that are recorded at the same time share one transaction.
//!
//! Callers hash and compress. A caller that goes away does not take its call with it.

use super::batch;
use super::prepared::{KnownBlobs, Prepared};
use crate::error::StoreFailure;
use crate::sql::Doing;
use skillopt_domain::hash::Sha256Hex;
use skillopt_engine::ports::{ChatReply, StoreError};
use sqlx::sqlite::SqlitePool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Calls that may wait before callers have to.
const QUEUE: usize = 1024;
/// Calls of one transaction.
const BATCH: usize = 256;
/// While calls come in close succession, a transaction waits so long for further ones. A call of a model takes far longer.
const LINGER: Duration = Duration::from_millis(4);
const CLOSE_SUCCESSION: Duration = Duration::from_millis(20);

/// Whose reply is stored now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The one that was given.
    Ours,
    /// The key, or one written together with it, was there already: look.
    MaybeEarlier,
}

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

#[derive(Debug)]
enum Job {
    Find(Sha256Hex, Answer<Option<ChatReply>>),
    Record(Box<Prepared>, Answer<Recorded>),
    Stop,
}

/// The handle of the task.
#[derive(Debug)]
pub(crate) struct Clerk {
    jobs: mpsc::Sender<Job>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Clerk {
    /// Starts the task. It ends with [`Clerk::stop`], or when the handle is dropped. It reads where it writes:
    /// SQLite forgets what it read of a file as soon as another connection has written to it.
    pub(crate) fn start(pool: SqlitePool, known: Arc<KnownBlobs>) -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(async move { work(queue, &pool, &known).await });
        Self { jobs, task: Mutex::new(Some(task)) }
    }

    /// The recorded reply of a call.
    pub(crate) async fn find(&self, key: Sha256Hex) -> Result<Option<ChatReply>, StoreError> {
        self.ask(|answer| Job::Find(key, answer)).await
    }

    /// Returns when the call is committed.
    pub(crate) async fn record(&self, call: Prepared) -> Result<Recorded, StoreError> {
        self.ask(|answer| Job::Record(Box::new(call), answer)).await
    }

    async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let closed = || StoreError::from(StoreFailure::Closed);
        self.jobs.send(job(answer)).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// Does what is queued and ends the task.
    pub(crate) async fn stop(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // The task may have ended by itself; then there is nothing left to write.
            let _ = self.jobs.send(Job::Stop).await;
            if let Err(error) = task.await {
                tracing::error!(%error, "the ledger's task stopped");
            }
        }
    }
}

/// Jobs that are done together.
#[derive(Debug, Default)]
struct Batch {
    finds: Vec<(Sha256Hex, Answer<Option<ChatReply>>)>,
    calls: Vec<(Prepared, Answer<Recorded>)>,
    is_last: bool,
}

impl Batch {
    fn add(&mut self, job: Job) {
        match job {
            Job::Find(key, answer) => self.finds.push((key, answer)),
            Job::Record(call, answer) => self.calls.push((*call, answer)),
            Job::Stop => self.is_last = true,
        }
    }

    fn add_waiting(&mut self, queue: &mut mpsc::Receiver<Job>) {
        while self.calls.len() + self.finds.len() < BATCH
            && let Ok(job) = queue.try_recv()
        {
            self.add(job);
        }
    }
}

async fn work(mut queue: mpsc::Receiver<Job>, pool: &SqlitePool, known: &KnownBlobs) {
    let mut last_recorded: Option<Instant> = None;
    while let Some(job) = queue.recv().await {
        let mut batch = Batch::default();
        batch.add(job);
        batch.add_waiting(&mut queue);
        let is_busy = last_recorded.is_some_and(|last| last.elapsed() < CLOSE_SUCCESSION);
        if is_busy && !batch.calls.is_empty() && !batch.is_last {
            tokio::time::sleep(LINGER).await;
            batch.add_waiting(&mut queue);
        }
        if batch.is_last {
            queue.close();
        }
        find_all(batch.finds, pool).await;
        if !batch.calls.is_empty() {
            record_all(batch.calls, pool, known).await;
            last_recorded = Some(Instant::now());
        }
    }
}

async fn find_all(finds: Vec<(Sha256Hex, Answer<Option<ChatReply>>)>, pool: &SqlitePool) {
    if finds.is_empty() {
        return;
    }
    let keys: Vec<&Sha256Hex> = finds.iter().map(|(key, _)| key).collect();
    let found = async {
        let mut conn = pool.acquire().await.doing("look for calls")?;
        batch::find(&mut conn, &keys).await
    };
    let found = found.await.map_err(StoreError::from);
    for (key, answer) in finds {
        let found = match &found {
            Ok(found) => found.get(key.as_str()).cloned().transpose(),
            Err(error) => Err(error.clone()),
        };
        // A caller that went away needs no answer.
        let _ = answer.send(found);
    }
}

async fn record_all(
    calls: Vec<(Prepared, Answer<Recorded>)>,
    pool: &SqlitePool,
    known: &KnownBlobs,
) {
    let (calls, answers): (Vec<Prepared>, Vec<Answer<Recorded>>) = calls.into_iter().unzip();
    let together = commit(&calls, pool).await;
    if let Err(error) = &together {
        tracing::warn!(%error, calls = calls.len(), "ledger batch failed, trying one by one");
    }
    for (call, answer) in calls.into_iter().zip(answers) {
        let result = match &together {
            Ok(recorded) => Ok(*recorded),
            // One call that cannot be written must not take the others with it.
            Err(_) => commit(std::slice::from_ref(&call), pool).await,
        };
        if result.is_ok() {
            known.extend(call.blobs.into_iter().map(|blob| blob.hash));
        }
        // A caller that went away needs no answer.
        let _ = answer.send(result.doing("record a call").map_err(StoreError::from));
    }
}

async fn commit(calls: &[Prepared], pool: &SqlitePool) -> Result<Recorded, sqlx::Error> {
    let mut conn = pool.acquire().await?;
    let inserted = batch::record(&mut conn, calls).await?;
    let all = usize::try_from(inserted).is_ok_and(|inserted| inserted == calls.len());
    Ok(if all { Recorded::Ours } else { Recorded::MaybeEarlier })
}
