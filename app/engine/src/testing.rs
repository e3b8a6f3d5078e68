//! Hand-written fakes for the ports: in memory, deterministic, and able to fail where a test wants it.

use crate::ports::{
    Benchmark, ChatReply, ChatRequest, Clock, Finish, Graded, Journal, Ledger, Message, Model,
    ModelError, RecordedCall, RolloutRecord, RunFolder, StoreError, Task, WorstCase,
};
use async_trait::async_trait;
use skillopt_domain::event::{EventKind, Progress, RunEvent};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{Outcome, RolloutSet, Sample};
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::spend::{Role, Usage};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers of a [`ScriptedModel`].
pub type Script = dyn Fn(&ChatRequest, &Sample) -> Result<ChatReply, ModelError> + Send + Sync;

/// A model that answers by a function and counts every request that reaches it.
pub struct ScriptedModel {
    name: String,
    script: Box<Script>,
    seen: Mutex<Vec<ChatRequest>>,
    stall: Mutex<Option<(usize, Arc<Notify>)>>,
    works_in_folder: bool,
}

impl ScriptedModel {
    /// A model that answers with `script`.
    #[must_use]
    pub fn new(
        name: &str,
        script: impl Fn(&ChatRequest, &Sample) -> Result<ChatReply, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self::of(name, script, false))
    }

    /// As [`ScriptedModel::new`], for tasks that stand in a folder.
    #[must_use]
    pub fn in_folder(
        name: &str,
        script: impl Fn(&ChatRequest, &Sample) -> Result<ChatReply, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self::of(name, script, true))
    }

    fn of(
        name: &str,
        script: impl Fn(&ChatRequest, &Sample) -> Result<ChatReply, ModelError> + Send + Sync + 'static,
        works_in_folder: bool,
    ) -> Self {
        Self {
            name: name.to_owned(),
            script: Box::new(script),
            seen: Mutex::default(),
            stall: Mutex::default(),
            works_in_folder,
        }
    }

    /// Answers `n` more requests and then none, as a dead process would; `stalled` is told then.
    pub fn stall_after(&self, n: usize, stalled: Arc<Notify>) {
        *lock(&self.stall) = Some((self.seen().len() + n, stalled));
    }

    /// Answers again. The request that was never answered does not count as seen.
    pub fn recover(&self) {
        *lock(&self.stall) = None;
    }

    /// True when this request must not be answered.
    fn must_stall(&self) -> bool {
        match &*lock(&self.stall) {
            Some((limit, stalled)) if self.seen().len() >= *limit => {
                stalled.notify_one();
                true
            }
            _ => false,
        }
    }

    /// All requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<ChatRequest> {
        lock(&self.seen).clone()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn identity(&self) -> serde_json::Value {
        serde_json::json!({"kind": "scripted", "model": self.name})
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn works_in_folder(&self) -> bool {
        self.works_in_folder
    }

    fn worst_case(&self, _: &ChatRequest) -> WorstCase {
        WorstCase { calls: 1, tokens: 100, cost_usd_micros: Some(100) }
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        _: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        if self.must_stall() {
            std::future::pending::<()>().await;
        }
        lock(&self.seen).push(request.clone());
        // Gives other calls a turn, so that concurrency is real.
        tokio::task::yield_now().await;
        (self.script)(request, sample)
    }
}

/// A finished reply with 10 tokens read and 10 written, for 20 millionths of a dollar.
#[must_use]
pub fn reply(text: &str) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: Some(Usage::new(10, 10)),
        cost_usd_micros: Some(20),
        latency_ms: 1,
        attempts: 1,
        ..ChatReply::default()
    }
}

/// A ledger in memory that can be handed from one attempt to the next, like the store.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    calls: Mutex<HashMap<Sha256Hex, ChatReply>>,
    failures: Mutex<Vec<ModelError>>,
}

impl MemoryLedger {
    /// Recorded calls.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.calls).len()
    }

    /// Nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Logged failures.
    #[must_use]
    pub fn failures(&self) -> Vec<ModelError> {
        lock(&self.failures).clone()
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn find(&self, key: &Sha256Hex) -> Result<Option<ChatReply>, StoreError> {
        Ok(lock(&self.calls).get(key).cloned())
    }

    async fn record(&self, call: RecordedCall) -> Result<ChatReply, StoreError> {
        Ok(lock(&self.calls).entry(call.key).or_insert(call.reply).clone())
    }

    async fn record_failure(
        &self,
        _: &Sha256Hex,
        _: Role,
        error: &ModelError,
    ) -> Result<(), StoreError> {
        lock(&self.failures).push(error.clone());
        Ok(())
    }
}

/// A journal in memory. It can fail at the first event whose key contains a text, as if the process had
/// been killed there.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    events: Mutex<Vec<RunEvent>>,
    texts: Mutex<Vec<String>>,
    sets: Mutex<BTreeMap<String, RolloutSet>>,
    die_at: Option<String>,
}

impl MemoryJournal {
    /// Dies at the first event whose key contains `text`, before the event is kept.
    #[must_use]
    pub fn dying_at(text: &str) -> Self {
        Self { die_at: Some(text.to_owned()), ..Self::default() }
    }

    /// The same journal without the wish to die, as a restarted process finds it.
    #[must_use]
    pub fn reborn(&self) -> Self {
        Self {
            events: Mutex::new(self.events()),
            texts: Mutex::new(self.texts()),
            sets: Mutex::new(lock(&self.sets).clone()),
            die_at: None,
        }
    }

    /// The same journal as a restarted process finds it that is killed in turn, maybe while it goes over what is
    /// known.
    #[must_use]
    pub fn reborn_dying_at(&self, text: &str) -> Self {
        Self { die_at: Some(text.to_owned()), ..self.reborn() }
    }

    /// The same journal without one event, as an older version of the program left it.
    #[must_use]
    pub fn reborn_without(&self, key: &str) -> Self {
        let reborn = self.reborn();
        lock(&reborn.events).retain(|event| event.key != key);
        reborn
    }

    /// All events.
    #[must_use]
    pub fn events(&self) -> Vec<RunEvent> {
        lock(&self.events).clone()
    }

    /// Texts that were kept and are no skills.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        lock(&self.texts).clone()
    }

    /// A rollout set.
    #[must_use]
    pub fn set(&self, key: &str) -> Option<RolloutSet> {
        lock(&self.sets).get(key).cloned()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, key: &str, kind: EventKind) -> Result<(), StoreError> {
        if self.die_at.as_ref().is_some_and(|text| key.contains(text)) {
            return Err(StoreError { message: format!("died at {key}") });
        }
        let mut events = lock(&self.events);
        if events.iter().all(|event| event.key != key) {
            let seq = u64::try_from(events.len()).unwrap_or(u64::MAX) + 1;
            events.push(RunEvent { seq, at_ms: seq, key: key.to_owned(), kind });
        }
        Ok(())
    }

    async fn find(&self, key: &str) -> Result<Option<EventKind>, StoreError> {
        Ok(lock(&self.events).iter().find(|event| event.key == key).map(|event| event.kind.clone()))
    }

    async fn find_outcomes(&self, key: &str) -> Result<Option<RolloutSet>, StoreError> {
        Ok(self.set(key))
    }

    async fn keep_outcomes(&self, set: &RolloutSet) -> Result<(), StoreError> {
        lock(&self.sets).entry(set.key.clone()).or_insert_with(|| set.clone());
        Ok(())
    }

    async fn keep_skill(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_text(&self, text: &str) -> Result<(), StoreError> {
        lock(&self.texts).push(text.to_owned());
        Ok(())
    }

    fn progress(&self, _: Progress) {}
}

/// A run folder in memory.
#[derive(Debug, Default)]
pub struct MemoryFolder {
    files: Mutex<BTreeMap<String, String>>,
}

impl MemoryFolder {
    /// The text of a file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<String> {
        lock(&self.files).get(path).cloned()
    }
}

#[async_trait]
impl RunFolder for MemoryFolder {
    async fn write(&self, path: &str, text: String) -> Result<(), StoreError> {
        lock(&self.files).insert(path.to_owned(), text);
        Ok(())
    }

    async fn write_rollouts(&self, _: &str, _: Vec<RolloutRecord>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A clock that moves one millisecond a look.
#[derive(Debug, Default)]
pub struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }

    fn now_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A benchmark whose tasks are passed when the reply is `pass`; the skill is the system message, the task's
/// id the user message.
#[derive(Debug, Default)]
pub struct WordBenchmark;

impl WordBenchmark {
    /// Tasks `<prefix>-0`, `<prefix>-1`, ….
    #[must_use]
    pub fn tasks(prefix: &str, n: usize) -> Vec<Task> {
        (0..n)
            .map(|at| {
                let id = format!("{prefix}-{at}");
                Task {
                    content: Sha256Hex::of(&id),
                    title: id.clone(),
                    task_type: "word".to_owned(),
                    id: id.as_str().into(),
                }
            })
            .collect()
    }
}

impl Benchmark for WordBenchmark {
    fn name(&self) -> &'static str {
        "word"
    }

    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message> {
        vec![Message::system(skill), Message::user(task.id.to_string())]
    }

    fn grade(&self, _: &Task, reply: &str, truncated: bool) -> Graded {
        let passed = reply == "pass";
        let score = Score::from_bool(passed);
        Graded {
            outcome: Outcome::Scored {
                score: TaskScore { hard: score, soft: score },
                predicted: reply.to_owned(),
                fail_reason: if passed { String::new() } else { "wrong word".to_owned() },
                truncated,
            },
            evaluation_note: "expected: pass".to_owned(),
        }
    }
}
