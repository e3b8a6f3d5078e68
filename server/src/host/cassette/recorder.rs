//! What stands in for the world while a run is gone through once more: models that read the ledger and write a tape, a
//! ledger that knows nothing, and the parts of the journal that say what the run was made on.

use async_trait::async_trait;
use serde_json::Value;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{RolloutSet, Sample};
use skillopt_domain::spend::Role;
use skillopt_engine::calls::ledger_key;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Journal, Ledger, Model, ModelError, ModelErrorKind,
    RecordedCall, StoreError, WorstCase,
};
use skillopt_models::cassette::{Answer, Draw, Exchange, Question, RecordedFailure};
use skillopt_store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Exchanges as they come.
#[derive(Debug, Default)]
pub(super) struct Tape(Mutex<Taped>);

#[derive(Debug, Default)]
struct Taped {
    known: HashSet<Sha256Hex>,
    exchanges: Vec<Exchange>,
}

impl Tape {
    fn push(&self, key: Sha256Hex, exchange: Exchange) {
        let mut taped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A call that failed is tried again, with the same end; a text may be measured twice.
        if taped.known.insert(key) {
            taped.exchanges.push(exchange);
        }
    }

    /// Stage by stage in the order of the run; within a stage in the order of what was asked, because calls that are
    /// made at the same time have no order of their own.
    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner).exchanges.clone();
        let mut places: HashMap<String, usize> = HashMap::new();
        for exchange in &exchanges {
            let next = places.len();
            places.entry(place(exchange)).or_insert(next);
        }
        exchanges.sort_by_cached_key(|exchange| {
            let asked = match &exchange.question {
                Question::Recorded { messages, .. } => {
                    messages.iter().map(|m| m.content.clone()).collect()
                }
                Question::Rule { .. } => Vec::new(),
            };
            (places.get(&place(exchange)).copied(), asked)
        });
        exchanges
    }
}

fn place(exchange: &Exchange) -> String {
    let purpose = exchange.purpose.map_or("", |purpose| purpose.as_str());
    format!("{}/{}/{purpose}", exchange.role, exchange.phase.as_deref().unwrap_or_default())
}

/// A model that answers what the ledger holds, and writes it down.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) role: Role,
    pub(super) inner: Arc<dyn Model>,
    /// The inner model's identity as text.
    pub(super) identity: String,
    pub(super) store: Store,
    pub(super) tape: Arc<Tape>,
}

impl Recorder {
    async fn look(
        &self,
        key: &Sha256Hex,
    ) -> Result<(String, Result<ChatReply, ModelError>), ModelError> {
        let found = self.store.find_call(key).await.map_err(|err| not_recorded(err.to_string()))?;
        if let Some(call) = found {
            return Ok((call.model, Ok(call.reply)));
        }
        let failed =
            self.store.find_failed_call(key).await.map_err(|err| not_recorded(err.to_string()))?;
        match failed {
            Some((kind, message)) => {
                let billed = Billed::default();
                let name = self.inner.name().to_owned();
                Ok((name, Err(ModelError { kind, message, attempts: 1, billed })))
            }
            None => Err(not_recorded(
                "the ledger does not hold a call of it; another version of the program may have made it".to_owned(),
            )),
        }
    }
}

fn not_recorded(message: String) -> ModelError {
    let kind = ModelErrorKind::NotRecorded;
    ModelError { kind, message, attempts: 1, billed: Billed::default() }
}

#[async_trait]
impl Model for Recorder {
    fn identity(&self) -> Value {
        self.inner.identity()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn is_simulated(&self) -> bool {
        self.inner.is_simulated()
    }

    fn works_in_folder(&self) -> bool {
        self.inner.works_in_folder()
    }

    fn runs_stand_ins(&self) -> bool {
        self.inner.runs_stand_ins()
    }

    fn worst_case(&self, _: &ChatRequest) -> WorstCase {
        WorstCase { cost_usd_micros: Some(0), ..WorstCase::default() }
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        _: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let key = ledger_key(&self.identity, request, sample);
        let (model, answer) = self.look(&key).await?;
        let exchange = Exchange {
            role: self.role,
            purpose: Some(request.purpose),
            phase: Some(request.phase.clone()),
            model,
            question: Question::Recorded {
                messages: request.messages.clone(),
                max_tokens: request.max_tokens,
                draw: Draw::of(sample),
            },
            answer: match &answer {
                Ok(reply) => Answer::Reply {
                    text: reply.text.clone(),
                    finish: reply.finish,
                    usage: reply.usage,
                },
                Err(error) => {
                    let message = error.message.clone();
                    Answer::Failure(RecordedFailure { kind: error.kind, message })
                }
            },
            line: 0,
        };
        self.tape.push(key, exchange);
        answer
    }
}

/// A ledger that knows nothing, so that every call passes the recorder.
#[derive(Debug)]
pub(super) struct NoLedger;

#[async_trait]
impl Ledger for NoLedger {
    async fn find(&self, _: &Sha256Hex) -> Result<Option<ChatReply>, StoreError> {
        Ok(None)
    }

    async fn record(&self, call: RecordedCall) -> Result<ChatReply, StoreError> {
        Ok(call.reply)
    }

    async fn record_failure(
        &self,
        _: &Sha256Hex,
        _: Role,
        _: &ModelError,
    ) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The journal of the run as far as it says what the run was made on; what it decided is decided anew.
#[derive(Debug)]
pub(super) struct Kept(pub(super) HashMap<String, EventKind>);

#[async_trait]
impl Journal for Kept {
    async fn append(&self, _: &str, _: EventKind) -> Result<(), StoreError> {
        Ok(())
    }

    async fn find(&self, key: &str) -> Result<Option<EventKind>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    async fn find_outcomes(&self, _: &str) -> Result<Option<RolloutSet>, StoreError> {
        Ok(None)
    }

    async fn keep_outcomes(&self, _: &RolloutSet) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_skill(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_text(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn progress(&self, _: Progress) {}
}
