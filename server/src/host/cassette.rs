//! Makes a cassette of a finished run. The loop is a pure function of config, data and recorded calls, so the run is
//! gone through once more with the ledger as its only model: nothing is sent to anyone, and nothing is written.

use super::drive::initial_skill;
use super::inputs::Inputs;
use super::measure::NoFolder;
use super::models::keyless;
use super::{HostError, Hosting};
use crate::config::{BadConfig, flat_json, run_config};
use async_trait::async_trait;
use serde_json::Value;
use skillopt_domain::config::Limits;
use skillopt_domain::event::{EventKind, Progress, RunPlan};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::{RolloutSet, Sample};
use skillopt_domain::run::RunStatus;
use skillopt_domain::spend::Role;
use skillopt_engine::calls::{Flights, ledger_key};
use skillopt_engine::ctx::RunControl;
use skillopt_engine::meter::Prior;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Journal, Ledger, Model, ModelError, ModelErrorKind,
    RecordedCall, StoreError, WorstCase,
};
use skillopt_engine::train::{Ports, TrainInput, train};
use skillopt_models::cassette::{
    Answer, Cassette, DataMark, Draw, Exchange, Header, Question, RecordedFailure,
};
use skillopt_store::{RunRow, Store};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// A run of which no cassette can be made.
#[derive(Debug, thiserror::Error)]
pub enum CassetteFailure {
    /// It is not over.
    #[error("the run is {0}; only a run that is done can be made a cassette of")]
    NotDone(RunStatus),
    /// What it was made from is not there any more.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The ledger or the inputs do not give the run again.
    #[error("the run cannot be gone through again: {0}")]
    Differs(String),
}

impl Hosting {
    /// The cassette of a finished run: its config, its skill, and every exchange with a model in the order of the run.
    ///
    /// # Errors
    /// [`CassetteFailure`] when the run is not done, was imported, or cannot be gone through again because its data,
    /// the ledger or the program changed.
    pub async fn cassette(&self, run: &RunId) -> Result<Cassette, CassetteFailure> {
        self.refuse_imported(run).await?;
        let row = self.store().run_row(run).await.map_err(HostError::from)?;
        if row.status != RunStatus::Done {
            return Err(CassetteFailure::NotDone(row.status));
        }
        let kept = self.kept_events(run).await.map_err(HostError::from)?;
        let plan = kept.values().find_map(|kind| match kind {
            EventKind::Planned(plan) => Some(plan.clone()),
            _ => None,
        });
        let tape = Arc::new(Tape::default());
        let skill = self.go_through(&row, kept, &tape).await?;
        let header = header(&row, plan.as_ref(), skill);
        Ok(Cassette::new(header, tape.exchanges()))
    }

    /// Events that say what the run was made on and which calls failed for good.
    async fn kept_events(
        &self,
        run: &RunId,
    ) -> Result<HashMap<String, EventKind>, skillopt_store::StoreFailure> {
        let (mut kept, mut seq) = (HashMap::new(), 0);
        loop {
            let events = self.store().events_after(run, seq, 1000).await?;
            let Some(last) = events.last() else { return Ok(kept) };
            seq = last.seq;
            let is_needed = |kind: &EventKind| {
                matches!(kind, EventKind::Planned(_) | EventKind::Warning { .. })
            };
            kept.extend(
                events
                    .into_iter()
                    .filter(|event| is_needed(&event.kind))
                    .map(|event| (event.key, event.kind)),
            );
        }
    }

    /// Goes through the run once more; gives the skill that it started from.
    async fn go_through(
        &self,
        row: &RunRow,
        kept: HashMap<String, EventKind>,
        tape: &Arc<Tape>,
    ) -> Result<String, CassetteFailure> {
        let mut config = run_config(&row.config).map_err(HostError::from)?;
        let bad = |problem| HostError::from(BadConfig(vec![problem]));
        let model = |role| -> Result<Arc<dyn Model>, HostError> {
            let inner = keyless(&config, role).map_err(bad)?;
            let identity = inner.identity().to_string();
            let (store, tape) = (self.store().clone(), tape.clone());
            Ok(Arc::new(Recorder { role, inner, identity, store, tape }))
        };
        let (target, optimizer) = (model(Role::Target)?, model(Role::Optimizer)?);
        let for_reading = config.clone();
        let inputs = tokio::task::spawn_blocking(move || Inputs::preview(&for_reading, None)).await;
        let inputs = inputs
            .map_err(|err| CassetteFailure::Differs(err.to_string()))?
            .map_err(|problems| HostError::from(BadConfig(problems)))?;
        let skill =
            initial_skill(self, row, inputs.skill).await.map_err(CassetteFailure::Differs)?;
        let text = skill.text().to_owned();
        // Nothing is paid now, so that no cap can be reached.
        config.limits = Limits {
            max_calls: None,
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: config.limits.error_share,
        };
        let ports = Ports {
            target,
            optimizer,
            ledger: Arc::new(NoLedger),
            journal: Arc::new(Kept(kept)),
            folder: Arc::new(NoFolder),
            benchmark: Arc::new(inputs.data.benchmark),
            clock: self.clock(),
            flights: Arc::new(Flights::default()),
        };
        let input = TrainInput {
            config,
            splits: inputs.data.splits,
            skill,
            fresh: row.fresh.clone(),
            prior: Prior::default(),
        };
        let (_control, ctx) = RunControl::new();
        train(&ctx, &input, &ports)
            .await
            .map_err(|failure| CassetteFailure::Differs(failure.to_string()))?;
        Ok(text)
    }
}

fn header(row: &RunRow, plan: Option<&RunPlan>, skill: String) -> Header {
    Header {
        format: String::new(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        about: row.name.clone(),
        run: row.id.to_string(),
        config: flat_json(&row.config),
        data: plan.map(|plan| DataMark {
            sha256: plan.data.clone(),
            n_train: plan.n_train,
            n_selection: plan.n_selection,
            n_test: plan.n_test,
        }),
        skill: Some(skill),
    }
}

/// Exchanges as they come.
#[derive(Debug, Default)]
struct Tape(Mutex<Taped>);

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
    fn exchanges(&self) -> Vec<Exchange> {
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
struct Recorder {
    role: Role,
    inner: Arc<dyn Model>,
    identity: String,
    store: Store,
    tape: Arc<Tape>,
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

    fn worst_case(&self, _: &ChatRequest) -> WorstCase {
        WorstCase { tokens: 0, cost_usd_micros: Some(0) }
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
struct NoLedger;

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
struct Kept(HashMap<String, EventKind>);

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

    fn progress(&self, _: Progress) {}
}
