//! Group commit: many calls that are recorded at the same time share one transaction.
//!
//! Callers hash and compress; one task writes. A caller that goes away does not take its call with it.

use crate::blobs::{self, Blob, chunks};
use crate::error::StoreFailure;
use crate::open::begin_write;
use crate::sql::{Doing, int, to_json};
use skillopt_domain::hash::Sha256Hex;
use skillopt_engine::ports::{ChatReply, Finish, RecordedCall, Speaker, StoreError};
use sqlx::sqlite::SqlitePool;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Calls that may wait before callers have to.
const QUEUE: usize = 1024;
/// Calls of one transaction.
const BATCH: usize = 256;
/// Calls of one statement, a power of two.
const CHUNK: usize = 32;
const KNOWN_MAX: usize = 32_768;

const INSERT: &str = "INSERT INTO calls (key, role, purpose, model, finish, reply, messages, prompt_tokens, \
     completion_tokens, cost_usd_micros, latency_ms, attempts, adaptations) ";

/// Hashes of texts that are stored for certain, so that they need not be sent again.
#[derive(Debug, Default)]
pub(crate) struct KnownBlobs(Mutex<HashSet<Sha256Hex>>);

impl KnownBlobs {
    pub(crate) fn contains(&self, hash: &Sha256Hex) -> bool {
        self.lock().contains(hash)
    }

    /// Call it after the commit only.
    pub(crate) fn extend(&self, hashes: impl IntoIterator<Item = Sha256Hex>) {
        let mut known = self.lock();
        if known.len() > KNOWN_MAX {
            known.clear();
        }
        known.extend(hashes);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Sha256Hex>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call, ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    key: Sha256Hex,
    role: &'static str,
    purpose: &'static str,
    model: String,
    reply_hash: Sha256Hex,
    messages_json: String,
    adaptations_json: String,
    reply: ChatReply,
    blobs: Vec<Blob>,
}

impl Prepared {
    pub(crate) fn of(call: &RecordedCall, known: &KnownBlobs) -> Result<Self, StoreFailure> {
        let mut blobs = Vec::new();
        let mut keep = |text: &str| {
            let hash = Sha256Hex::of(text);
            if !known.contains(&hash) {
                blobs.push(Blob::pack(hash.clone(), text));
            }
            hash
        };
        let messages: Vec<(Speaker, Sha256Hex)> =
            call.messages.iter().map(|message| (message.role, keep(&message.content))).collect();
        let reply_hash = keep(&call.reply.text);
        Ok(Self {
            key: call.key.clone(),
            role: call.role.as_str(),
            purpose: call.purpose.as_str(),
            model: call.model.clone(),
            reply_hash,
            messages_json: to_json(&messages)?,
            adaptations_json: to_json(&call.reply.adaptations)?,
            reply: ChatReply { text: String::new(), ..call.reply.clone() },
            blobs,
        })
    }
}

/// Whose reply is stored now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The one that was given.
    Ours,
    /// The key, or one written together with it, was there already: look.
    MaybeEarlier,
}

type Answer = oneshot::Sender<Result<Recorded, StoreError>>;

#[derive(Debug)]
enum Job {
    Record(Box<Prepared>, Answer),
    Stop,
}

/// The handle of the writing task.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the task. It ends with [`Writer::stop`], or when the handle is dropped.
    pub(crate) fn start(pool: SqlitePool, known: std::sync::Arc<KnownBlobs>) -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(async move { write_all(queue, &pool, &known).await });
        Self { jobs, task: Mutex::new(Some(task)) }
    }

    /// Returns when the call is committed.
    pub(crate) async fn record(&self, call: Prepared) -> Result<Recorded, StoreError> {
        let (answer, committed) = oneshot::channel();
        let closed = || StoreError::from(StoreFailure::Closed);
        self.jobs.send(Job::Record(Box::new(call), answer)).await.map_err(|_| closed())?;
        committed.await.map_err(|_| closed())?
    }

    /// Writes what is queued and ends the task.
    pub(crate) async fn stop(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // The task may have ended by itself; then there is nothing left to write.
            let _ = self.jobs.send(Job::Stop).await;
            if let Err(error) = task.await {
                tracing::error!(%error, "the ledger's writer stopped");
            }
        }
    }
}

async fn write_all(mut queue: mpsc::Receiver<Job>, pool: &SqlitePool, known: &KnownBlobs) {
    while let Some(job) = queue.recv().await {
        let mut calls = Vec::new();
        let mut next = Some(job);
        let mut is_stopping = false;
        while let Some(job) = next {
            match job {
                Job::Record(call, answer) => calls.push((*call, answer)),
                Job::Stop => is_stopping = true,
            }
            next = if calls.len() < BATCH { queue.try_recv().ok() } else { None };
        }
        write_batch(calls, pool, known).await;
        if is_stopping {
            queue.close();
        }
    }
}

async fn write_batch(calls: Vec<(Prepared, Answer)>, pool: &SqlitePool, known: &KnownBlobs) {
    let (calls, answers): (Vec<Prepared>, Vec<Answer>) = calls.into_iter().unzip();
    if calls.is_empty() {
        return;
    }
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
    let mut tx = begin_write(pool).await?;
    let mut seen = HashSet::new();
    let blobs: Vec<&Blob> =
        calls.iter().flat_map(|call| &call.blobs).filter(|blob| seen.insert(&blob.hash)).collect();
    blobs::insert(&mut tx, &blobs).await?;
    let mut inserted = 0;
    for chunk in chunks(calls, CHUNK) {
        inserted += insert_calls(&mut tx, chunk).await?;
    }
    tx.commit().await?;
    let all = usize::try_from(inserted).is_ok_and(|inserted| inserted == calls.len());
    Ok(if all { Recorded::Ours } else { Recorded::MaybeEarlier })
}

/// Inserts calls whose keys are new, and counts them.
async fn insert_calls(conn: &mut SqliteConnection, calls: &[Prepared]) -> Result<u64, sqlx::Error> {
    let mut insert = QueryBuilder::<Sqlite>::new(INSERT);
    insert.push_values(calls, |mut row, call| {
        let usage = call.reply.usage;
        row.push_bind(call.key.as_str())
            .push_bind(call.role)
            .push_bind(call.purpose)
            .push_bind(call.model.as_str())
            .push_bind(finish_word(call.reply.finish))
            .push_bind(call.reply_hash.as_str())
            .push_bind(call.messages_json.as_str())
            .push_bind(usage.map(|usage| int(usage.prompt_tokens)))
            .push_bind(usage.map(|usage| int(usage.completion_tokens)))
            .push_bind(call.reply.cost_usd_micros.map(int))
            .push_bind(int(call.reply.latency_ms))
            .push_bind(call.reply.attempts)
            .push_bind(call.adaptations_json.as_str());
    });
    insert.push(" ON CONFLICT DO NOTHING");
    insert.build().execute(conn).await.map(|done| done.rows_affected())
}

fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Refused => "refused",
    }
}
