//! The only way to a model: look in the ledger, ask for leave, call, record, and only then answer.
//!
//! Finished calls answer at once, which makes "run it again" the whole of resume. Identical requests in
//! flight are made once.

use crate::ctx::RunCtx;
use crate::meter::{Admission, CapReached, Meter};
use crate::ports::{
    ChatReply, ChatRequest, Journal, Ledger, Model, ModelError, ModelErrorKind, RecordedCall,
    StoreError,
};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Mutex as AsyncMutex;

/// A model that answered with nothing is asked so often again. Each answer is paid for, so that each has to be admitted.
const EMPTY_RETRIES: u32 = 2;

/// Changes when the meaning of a key changes, so that old records are never served for new questions.
const KEY_VERSION: u32 = 1;

/// Identical calls in flight, shared by all runs of a process.
#[derive(Debug, Default)]
pub struct Flights {
    keys: Mutex<HashMap<Sha256Hex, Arc<AsyncMutex<()>>>>,
}

impl Flights {
    /// Enters the queue of a key; leaving is by drop, so that an abandoned call leaves nothing behind.
    fn visit(&self, key: &Sha256Hex) -> Visit<'_> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = Arc::clone(keys.entry(key.clone()).or_default());
        Visit { flights: self, key: key.clone(), gate }
    }
}

#[derive(Debug)]
struct Visit<'a> {
    flights: &'a Flights,
    key: Sha256Hex,
    gate: Arc<AsyncMutex<()>>,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut keys = self.flights.keys.lock().unwrap_or_else(PoisonError::into_inner);
        // One count is ours, one the map's: nobody else waits.
        if Arc::strong_count(&self.gate) == 2 {
            keys.remove(&self.key);
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
    journal: Arc<dyn Journal>,
    /// Changes to requests that the journal knows of.
    adapted: Mutex<HashSet<(Role, String)>>,
    flights: Arc<Flights>,
    /// No further call is started.
    stopping: AtomicBool,
    target_answered: AtomicBool,
    optimizer_answered: AtomicBool,
    /// Counts and caps; may be shared with other models that spend from the same budget.
    pub meter: Arc<Meter>,
}

impl Calls {
    /// Binds the models of one attempt of a run.
    #[must_use]
    pub fn new(
        ctx: &RunCtx,
        models: (Arc<dyn Model>, Arc<dyn Model>),
        (ledger, journal): (Arc<dyn Ledger>, Arc<dyn Journal>),
        flights: Arc<Flights>,
        meter: impl Into<Arc<Meter>>,
    ) -> Self {
        let (target, optimizer) = models;
        Self {
            ctx: ctx.clone(),
            target_identity: target.identity().to_string(),
            optimizer_identity: optimizer.identity().to_string(),
            target,
            optimizer,
            ledger,
            journal,
            adapted: Mutex::default(),
            flights,
            stopping: AtomicBool::new(false),
            target_answered: AtomicBool::new(false),
            optimizer_answered: AtomicBool::new(false),
            meter: meter.into(),
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
    /// [`CallError`]; nothing is recorded as an answer then. After an error that ends the run no further call
    /// is started, while those in flight are finished and recorded.
    pub async fn ask(
        &self,
        role: Role,
        request: &ChatRequest,
        sample: &Sample,
    ) -> Result<Answer, CallError> {
        let key = self.key_of(role, request, sample);
        let mut empty_replies = 0;
        let result = loop {
            self.meter.wait_while_paused(&self.ctx).await;
            if self.ctx.is_cancelled() || self.stopping.load(Ordering::Acquire) {
                return Err(CallError::Cancelled);
            }
            match self.try_ask(role, request, sample, &key).await {
                Some(Err(CallError::Failed(error)))
                    if error.billed.worth_another && empty_replies < EMPTY_RETRIES =>
                {
                    empty_replies += 1;
                    continue;
                }
                Some(Ok(answer)) => {
                    break self.tell_changes(role, &answer.reply).await.map(|()| answer);
                }
                Some(Err(error)) => break Err(error),
                None => {}
            }
            self.meter.wait_for_room(self.model(role).worst_case(request), &self.ctx).await;
        };
        let ends_run = !matches!(result, Ok(_) | Err(CallError::Failed(_)));
        if ends_run {
            self.stopping.store(true, Ordering::Release);
        }
        result
    }

    /// One try; `None` when it must wait, which happens outside the gate so that it holds up nobody.
    async fn try_ask(
        &self,
        role: Role,
        request: &ChatRequest,
        sample: &Sample,
        key: &Sha256Hex,
    ) -> Option<Result<Answer, CallError>> {
        let visit = self.flights.visit(key);
        let _turn = tokio::select! {
            turn = visit.gate.lock() => turn,
            () = self.ctx.cancel_token().cancelled() => return Some(Err(CallError::Cancelled)),
        };
        match self.ledger.find(key).await {
            Ok(Some(reply)) => {
                self.meter.count_cached(role);
                return Some(Ok(Answer { reply, key: key.clone(), cached: true }));
            }
            Ok(None) => {}
            Err(error) => return Some(Err(CallError::Store(error))),
        }
        let in_flight = self.ctx.enter_call();
        // A pause that was asked for in the meantime wins over a call that was not made yet.
        if self.ctx.is_paused() {
            return None;
        }
        let admission = match self.meter.admit(self.model(role).worst_case(request)) {
            Ok(Some(admission)) => admission,
            Ok(None) => return None,
            Err(reached) => return Some(Err(CallError::Cap(reached))),
        };
        let called = self.model(role).chat(request, sample, self.ctx.abort_token()).await;
        let result = match called {
            Ok(reply) => self.keep(role, request, key, reply, admission).await,
            Err(error) => self.keep_failure(role, key, error, admission).await,
        };
        drop(in_flight);
        Some(result)
    }

    /// A paid reply is in the ledger before anyone uses it.
    async fn keep(
        &self,
        role: Role,
        request: &ChatRequest,
        key: &Sha256Hex,
        mut reply: ChatReply,
        admission: Admission<'_>,
    ) -> Result<Answer, CallError> {
        admission.settle(role, &reply);
        if let Some(earlier) = reply.earlier.take() {
            self.ledger.record_failure(key, role, &earlier).await.map_err(CallError::Store)?;
        }
        self.answered(role).store(true, Ordering::Release);
        let call = RecordedCall {
            key: key.clone(),
            role,
            purpose: request.purpose,
            model: self.model(role).name().to_owned(),
            messages: request.messages.clone(),
            reply,
        };
        let reply = self.ledger.record(call).await.map_err(CallError::Store)?;
        Ok(Answer { reply, key: key.clone(), cached: false })
    }

    async fn keep_failure(
        &self,
        role: Role,
        key: &Sha256Hex,
        error: ModelError,
        admission: Admission<'_>,
    ) -> Result<Answer, CallError> {
        admission.settle_failed(role, &error);
        if error.kind == ModelErrorKind::Cancelled {
            return Err(CallError::Cancelled);
        }
        self.ledger.record_failure(key, role, &error).await.map_err(CallError::Store)?;
        let has_answered = self.answered(role).load(Ordering::Acquire);
        Err(if error.kind.is_fatal(has_answered) {
            CallError::Fatal(role, error)
        } else {
            CallError::Failed(error)
        })
    }

    /// Notes how requests of the role are changed so that the provider takes them, each change once a run.
    async fn tell_changes(&self, role: Role, reply: &ChatReply) -> Result<(), CallError> {
        for change in &reply.adaptations {
            let change = change.clone();
            let known = || self.adapted.lock().unwrap_or_else(PoisonError::into_inner);
            if known().insert((role, change.clone())) {
                let key = format!("adapted/{role}/{change}");
                let event = EventKind::Adapted { role, change };
                self.journal.append(&key, event).await.map_err(CallError::Store)?;
            }
        }
        Ok(())
    }

    fn answered(&self, role: Role) -> &AtomicBool {
        match role {
            Role::Target => &self.target_answered,
            Role::Optimizer => &self.optimizer_answered,
        }
    }

    /// The recorded reply of a call of this run.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub async fn recall(
        &self,
        role: Role,
        key: &Sha256Hex,
    ) -> Result<Option<ChatReply>, StoreError> {
        let reply = self.ledger.find(key).await?;
        if reply.is_some() {
            self.meter.count_cached(role);
        }
        Ok(reply)
    }

    /// The ledger key of a call of this run.
    #[must_use]
    pub fn key_of(&self, role: Role, request: &ChatRequest, sample: &Sample) -> Sha256Hex {
        ledger_key(
            match role {
                Role::Target => &self.target_identity,
                Role::Optimizer => &self.optimizer_identity,
            },
            request,
            sample,
        )
    }
}

/// The ledger key of a call: hash of everything that shapes the answer: version, backend with all wire parameters (the
/// model's identity as text), token limit, messages and sample. Every part is preceded by its length, so that no two
/// requests share a text.
#[must_use]
pub fn ledger_key(identity: &str, request: &ChatRequest, sample: &Sample) -> Sha256Hex {
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
            crate::ports::Speaker::Tool => "tool",
        });
        part(&message.content);
        if !(message.images.is_empty()
            && message.tool_calls.is_empty()
            && message.tool_call_id.is_none())
        {
            part(&json_of(message));
        }
    }
    // What most requests do not have adds nothing to their keys.
    if let Some(effort) = request.effort {
        part(effort.as_str());
    }
    if let Some(schema) = &request.schema {
        part(&json_of(&**schema));
    }
    if !request.tools.is_empty() {
        part(&json_of(&request.tools));
    }
    if let Some(workspace) = &request.workspace {
        part(&json_of(workspace));
    }
    if !request.stand_ins.is_empty() {
        part(&json_of(&request.stand_ins));
    }
    part(&format!("{}/{}/{}", sample.seed, sample.epoch, sample.repeat));
    part(sample.fresh.as_deref().unwrap_or_default());
    Sha256Hex::of(text)
}

/// Values of plain fields always have a text.
fn json_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::RunControl;
    use crate::meter::Prior;
    use crate::ports::{Message, Purpose};
    use crate::testing::{MemoryJournal, MemoryLedger, ScriptedModel, TickingClock, reply};
    use skillopt_domain::config::Limits;

    fn calls(model: &str) -> Calls {
        let (_control, ctx) = RunControl::new();
        let limits = Limits {
            max_calls: None,
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: 0.1,
        };
        let scripted = || ScriptedModel::new(model, |_, _| Ok(reply("x")));
        let meter = Meter::new(limits, Prior::default(), Arc::new(TickingClock::default()));
        let models: (Arc<dyn Model>, Arc<dyn Model>) = (scripted(), scripted());
        let memory =
            (Arc::new(MemoryLedger::default()) as _, Arc::new(MemoryJournal::default()) as _);
        Calls::new(&ctx, models, memory, Arc::default(), meter)
    }

    fn request(skill: &str, user: &str, max_tokens: Option<u32>) -> ChatRequest {
        let messages = vec![Message::system(skill), Message::user(user)];
        ChatRequest { max_tokens, ..ChatRequest::new(Purpose::Qa, "step_0001", messages) }
    }

    fn sample(seed: u64, epoch: u32, repeat: u32, fresh: Option<&str>) -> Sample {
        Sample { seed, epoch, repeat, fresh: fresh.map(str::to_owned) }
    }

    #[test]
    fn c52_another_model_limit_skill_text_or_draw_is_another_call() {
        let draw = sample(42, 1, 0, None);
        let base = request("skill", "question", None);
        let key = calls("a").key_of(Role::Target, &base, &draw);
        let others = [
            calls("b").key_of(Role::Target, &base, &draw),
            calls("a").key_of(Role::Target, &request("skill", "question", Some(64)), &draw),
            calls("a").key_of(Role::Target, &request("skill ", "question", None), &draw),
            // The border between two messages counts as well.
            calls("a").key_of(Role::Target, &request("skillq", "uestion", None), &draw),
            calls("a").key_of(Role::Target, &base, &sample(43, 1, 0, None)),
            calls("a").key_of(Role::Target, &base, &sample(42, 2, 0, None)),
            calls("a").key_of(Role::Target, &base, &sample(42, 1, 1, None)),
            calls("a").key_of(Role::Target, &base, &sample(42, 1, 0, Some("anew"))),
        ];
        for (at, other) in others.iter().enumerate() {
            assert_ne!(other, &key, "case {at}");
        }
        assert_eq!(calls("a").key_of(Role::Target, &base, &draw), key);
    }

    #[test]
    fn c52_why_and_where_a_call_is_made_is_not_part_of_its_key() {
        let draw = sample(42, 1, 0, None);
        let base = request("skill", "question", None);
        let elsewhere = ChatRequest { phase: "test_eval".into(), ..base.clone() };
        let calls = calls("a");
        assert_eq!(
            calls.key_of(Role::Target, &base, &draw),
            calls.key_of(Role::Target, &elsewhere, &draw)
        );
    }

    #[tokio::test]
    async fn identical_calls_in_flight_are_made_once() {
        let calls = calls("a");
        let (draw, base) = (sample(42, 1, 0, None), request("skill", "question", None));
        let asked = || calls.ask(Role::Target, &base, &draw);
        let (one, two, three) = futures::future::join3(asked(), asked(), asked()).await;
        for answer in [one, two, three] {
            assert_eq!(answer.expect("answered").reply.text, "x");
        }
        assert_eq!(calls.meter.spend().target.calls, 1);
        assert_eq!(calls.meter.spend().target.cached, 2);
    }
}
