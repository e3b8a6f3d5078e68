//! The only way to a model: look in the ledger, ask for leave, call, record, and only then answer.
//!
//! Finished calls answer at once, which makes "run it again" the whole of resume. Identical requests in
//! flight are made once.

use crate::ctx::RunCtx;
use crate::meter::{Admission, CapReached, Meter, NotAdmitted};
use crate::ports::{
    ChatReply, ChatRequest, Ledger, Model, ModelError, ModelErrorKind, RecordedCall, StoreError,
};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Mutex as AsyncMutex;

/// Changes when the meaning of a key changes, so that old records are never served for new questions.
const KEY_VERSION: u32 = 1;

/// Identical calls in flight, shared by all runs of a process.
#[derive(Debug, Default)]
pub struct Flights {
    keys: Mutex<HashMap<Sha256Hex, Arc<AsyncMutex<()>>>>,
}

impl Flights {
    fn gate(&self, key: &Sha256Hex) -> Arc<AsyncMutex<()>> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry(key.clone()).or_default())
    }

    fn leave(&self, key: &Sha256Hex, gate: Arc<AsyncMutex<()>>) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        drop(gate);
        if keys.get(key).is_some_and(|gate| Arc::strong_count(gate) == 1) {
            keys.remove(key);
        }
    }
}

/// An answer with its key in the ledger.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The reply.
    pub reply: ChatReply,
    /// The key.
    pub key: Sha256Hex,
    /// It came from the ledger.
    pub cached: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum CallError {
    /// The run was cancelled.
    Cancelled,
    /// A cap was reached.
    Cap(CapReached),
    /// No further call of this role can succeed.
    Fatal(Role, ModelError),
    /// This call failed; others may succeed.
    Failed(ModelError),
    /// The ledger failed.
    Store(StoreError),
}

/// The models of a run behind ledger and meter.
#[derive(Debug)]
pub struct Calls {
    ctx: RunCtx,
    target: Arc<dyn Model>,
    optimizer: Arc<dyn Model>,
    target_identity: String,
    optimizer_identity: String,
    ledger: Arc<dyn Ledger>,
    flights: Arc<Flights>,
    /// Counts and caps.
    pub meter: Meter,
}

impl Calls {
    /// Binds the models of one attempt of a run.
    #[must_use]
    pub fn new(
        ctx: &RunCtx,
        models: (Arc<dyn Model>, Arc<dyn Model>),
        ledger: Arc<dyn Ledger>,
        flights: Arc<Flights>,
        meter: Meter,
    ) -> Self {
        let (target, optimizer) = models;
        Self {
            ctx: ctx.clone(),
            target_identity: target.identity().to_string(),
            optimizer_identity: optimizer.identity().to_string(),
            target,
            optimizer,
            ledger,
            flights,
            meter,
        }
    }

    /// The model of a role.
    #[must_use]
    pub fn model(&self, role: Role) -> &dyn Model {
        match role {
            Role::Target => self.target.as_ref(),
            Role::Optimizer => self.optimizer.as_ref(),
        }
    }

    /// Answers a request, from the ledger where it is known.
    ///
    /// # Errors
    /// [`CallError`]; nothing is recorded as an answer then.
    pub async fn ask(
        &self,
        role: Role,
        request: &ChatRequest,
        sample: &Sample,
    ) -> Result<Answer, CallError> {
        let key = self.key(role, request, sample);
        let gate = self.flights.gate(&key);
        let result = {
            let _turn = gate.lock().await;
            self.find_or_call(role, request, sample, &key).await
        };
        self.flights.leave(&key, gate);
        result
    }

    async fn find_or_call(
        &self,
        role: Role,
        request: &ChatRequest,
        sample: &Sample,
        key: &Sha256Hex,
    ) -> Result<Answer, CallError> {
        if let Some(reply) = self.ledger.find(key).await.map_err(CallError::Store)? {
            self.meter.count_cached(role);
            return Ok(Answer { reply, key: key.clone(), cached: true });
        }
        let worst = self.model(role).worst_case(request);
        let admission =
            self.meter.admit(worst, &self.ctx).await.map_err(|refusal| match refusal {
                NotAdmitted::Cancelled => CallError::Cancelled,
                NotAdmitted::Cap(reached) => CallError::Cap(reached),
            })?;
        let in_flight = self.ctx.enter_call();
        let called = self.model(role).chat(request, sample, self.ctx.cancel_token()).await;
        let result = match called {
            Ok(reply) => self.keep(role, request, key, reply, admission).await,
            Err(error) => self.keep_failure(role, key, error, admission).await,
        };
        drop(in_flight);
        result
    }

    /// A paid reply is in the ledger before anyone uses it.
    async fn keep(
        &self,
        role: Role,
        request: &ChatRequest,
        key: &Sha256Hex,
        reply: ChatReply,
        admission: Admission<'_>,
    ) -> Result<Answer, CallError> {
        admission.settle(role, &reply);
        let call = RecordedCall {
            key: key.clone(),
            role,
            purpose: request.purpose,
            model: self.model(role).name().to_owned(),
            messages: request.messages.clone(),
            reply: reply.clone(),
        };
        self.ledger.record(call).await.map_err(CallError::Store)?;
        Ok(Answer { reply, key: key.clone(), cached: false })
    }

    async fn keep_failure(
        &self,
        role: Role,
        key: &Sha256Hex,
        error: ModelError,
        admission: Admission<'_>,
    ) -> Result<Answer, CallError> {
        admission.settle_failed(role, error.attempts);
        if error.kind == ModelErrorKind::Cancelled {
            return Err(CallError::Cancelled);
        }
        self.ledger.record_failure(key, role, &error).await.map_err(CallError::Store)?;
        Err(if error.kind.is_fatal() {
            CallError::Fatal(role, error)
        } else {
            CallError::Failed(error)
        })
    }

    /// Hash of everything that shapes the answer: version, backend with all wire parameters, token limit,
    /// messages and sample. Every part is preceded by its length, so that no two requests share a text.
    fn key(&self, role: Role, request: &ChatRequest, sample: &Sample) -> Sha256Hex {
        let identity = match role {
            Role::Target => &self.target_identity,
            Role::Optimizer => &self.optimizer_identity,
        };
        let size: usize = request.messages.iter().map(|message| message.content.len() + 32).sum();
        let mut text = String::with_capacity(size + identity.len() + 256);
        let mut part = |value: &str| {
            text.push_str(&value.len().to_string());
            text.push(':');
            text.push_str(value);
        };
        part(&KEY_VERSION.to_string());
        part(identity);
        part(&request.max_tokens.map_or_else(String::new, |limit| limit.to_string()));
        for message in &request.messages {
            part(match message.role {
                crate::ports::Speaker::System => "system",
                crate::ports::Speaker::User => "user",
                crate::ports::Speaker::Assistant => "assistant",
            });
            part(&message.content);
        }
        part(&format!("{}/{}/{}", sample.seed, sample.epoch, sample.repeat));
        part(sample.fresh.as_deref().unwrap_or_default());
        Sha256Hex::of(text)
    }
}
