//! How a question reaches a model: through the engine's `Calls` (ledger first, hard budgets, one flight for the same
//! question), or any other way that answers questions, such as a person's.

use super::outage::{Contact, is_same_endpoint};
use super::{BackendError, Draw, SleepRole};
use crate::evidence::Evidence;
use async_trait::async_trait;
use serde_json::json;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outage::Outage;
use skillopt_domain::outcome::{RolloutSet, Sample};
use skillopt_domain::spend::{Role, SpendByRole};
use skillopt_engine::calls::{Answer, CallError, Calls, Flights};
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::meter::Meter;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Journal, Ledger, Model, ModelErrorKind, StoreError,
};
use std::fmt::Debug;
use std::sync::Arc;

/// A reply with where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The reply.
    pub reply: ChatReply,
    /// Its key in the ledger, where there is one.
    pub key: Option<Sha256Hex>,
    /// It was known already and cost nothing now.
    pub cached: bool,
}

/// Who answers questions.
#[async_trait]
pub trait Asker: Send + Sync + Debug {
    /// Name of what answers for a role, for people.
    fn name(&self, role: SleepRole) -> String;

    /// What answers is a simulation.
    fn is_simulated(&self) -> bool;

    /// The target works in a folder of its own, where the skill is a file.
    fn works_in_folder(&self) -> bool {
        false
    }

    /// The target can be given tools that only note that they were called.
    fn runs_stand_ins(&self) -> bool {
        false
    }

    /// Answers.
    ///
    /// # Errors
    /// [`BackendError`] when no answer came.
    async fn ask(
        &self,
        role: SleepRole,
        request: &ChatRequest,
        draw: Draw,
    ) -> Result<Reply, BackendError>;

    /// What all answers cost so far.
    fn spend(&self) -> SpendByRole;
}

/// The models of a night.
#[derive(Clone, Debug)]
pub struct SleepModels {
    /// Performs tasks.
    pub target: Arc<dyn Model>,
    /// Mines and reflects.
    pub optimizer: Arc<dyn Model>,
    /// Scores by rubrics; the optimizer when `None`.
    pub judge: Option<Arc<dyn Model>>,
}

/// Which draws a night takes: another night, seed or word draws anew, the same ones are answered by the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NightSample {
    /// The seed of the splits.
    pub seed: u64,
    /// Number of the night.
    pub night: u32,
    /// A word that no earlier attempt used, to draw everything anew.
    pub fresh: Option<String>,
}

/// Models behind ledger and meter.
#[derive(Debug)]
pub struct CallsAsker {
    calls: Calls,
    /// The judge has a model of its own; it spends from the same meter.
    judge: Option<Calls>,
    is_simulated: bool,
    sample: NightSample,
    /// Of target, optimizer and judge.
    contacts: [Contact; 3],
}

impl CallsAsker {
    /// Binds the models of a night. Each question is asked once while it is in flight, whoever asks it. A meter may be
    /// shared with others that spend from the same budget.
    #[must_use]
    pub fn new(
        ctx: &RunCtx,
        models: &SleepModels,
        (ledger, flights): (&Arc<dyn Ledger>, &Arc<Flights>),
        (meter, evidence): (impl Into<Arc<Meter>>, &Arc<Evidence>),
        sample: NightSample,
    ) -> Self {
        let meter: Arc<Meter> = meter.into();
        let calls = |target: &Arc<dyn Model>, optimizer: &Arc<dyn Model>| {
            let journal = Arc::new(NightJournal { evidence: Arc::clone(evidence) });
            let models = (Arc::clone(target), Arc::clone(optimizer));
            let memory = (Arc::clone(ledger), journal as Arc<dyn Journal>);
            Calls::new(ctx, models, memory, Arc::clone(flights), Arc::clone(&meter))
        };
        let judge = models.judge.as_ref().map(|judge| calls(&models.target, judge));
        let all = [Some(&models.target), Some(&models.optimizer), models.judge.as_ref()];
        Self {
            calls: calls(&models.target, &models.optimizer),
            judge,
            is_simulated: all.into_iter().flatten().any(|model| model.is_simulated()),
            sample,
            contacts: Default::default(),
        }
    }

    fn contact(&self, role: SleepRole) -> &Contact {
        let [target, optimizer, judge] = &self.contacts;
        match role {
            SleepRole::Target => target,
            SleepRole::Judge if self.judge.is_some() => judge,
            SleepRole::Optimizer | SleepRole::Judge => optimizer,
        }
    }

    /// An endpoint answered: known to all whom it serves.
    fn note_answer(&self, from: &dyn Model) {
        for role in [SleepRole::Target, SleepRole::Optimizer, SleepRole::Judge] {
            let (calls, of_calls) = self.of(role);
            if is_same_endpoint(from, calls.model(of_calls)) {
                self.contact(role).note_answer();
            }
        }
    }

    fn of(&self, role: SleepRole) -> (&Calls, Role) {
        match role {
            SleepRole::Target => (&self.calls, Role::Target),
            SleepRole::Optimizer => (&self.calls, Role::Optimizer),
            SleepRole::Judge => (self.judge.as_ref().unwrap_or(&self.calls), Role::Optimizer),
        }
    }
}

#[async_trait]
impl Asker for CallsAsker {
    fn name(&self, role: SleepRole) -> String {
        let (calls, role) = self.of(role);
        calls.model(role).name().to_owned()
    }

    fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    fn works_in_folder(&self) -> bool {
        self.calls.model(Role::Target).works_in_folder()
    }

    fn runs_stand_ins(&self) -> bool {
        self.calls.model(Role::Target).runs_stand_ins()
    }

    async fn ask(
        &self,
        role: SleepRole,
        request: &ChatRequest,
        draw: Draw,
    ) -> Result<Reply, BackendError> {
        let sample = Sample {
            seed: self.sample.seed,
            epoch: self.sample.night,
            repeat: draw.repeat,
            fresh: self.sample.fresh.clone(),
        };
        let (calls, of_calls) = self.of(role);
        let (model, contact) = (calls.model(of_calls), self.contact(role));
        if let Some(outage) = contact.given_up() {
            return Err(unreachable(role, outage));
        }
        // Dropping the call is safe: it has no answer, and the night ends.
        let result = tokio::select! {
            biased;
            result = calls.ask(of_calls, request, &sample) => result,
            outage = contact.never_answered(model) => {
                return Err(unreachable(role, &outage));
            }
        };
        match result {
            Ok(Answer { reply, key, cached }) => {
                if !cached {
                    self.note_answer(model);
                }
                Ok(Reply { reply, key: Some(key), cached })
            }
            Err(error) => Err(failure(role, error)),
        }
    }

    fn spend(&self) -> SpendByRole {
        self.calls.meter.spend()
    }
}

fn unreachable(role: SleepRole, outage: &Outage) -> BackendError {
    let Outage { endpoint, model, error, .. } = outage;
    let message = format!("{model} at {endpoint} has answered no call of this night: {error}");
    BackendError::Fatal { role, message }
}

fn failure(role: SleepRole, error: CallError) -> BackendError {
    match error {
        CallError::Cancelled => BackendError::Cancelled,
        CallError::Cap(reached) => BackendError::Budget(reached),
        CallError::Fatal(_, error) => BackendError::Fatal { role, message: error.to_string() },
        // Whoever answers has not done so yet.
        CallError::Failed(error) if error.kind == ModelErrorKind::Pending => BackendError::Pending,
        CallError::Failed(error) => {
            BackendError::Failed { code: error.kind.as_str().to_owned(), message: error.message }
        }
        CallError::Store(error) => BackendError::Ledger(error.message),
    }
}

/// The journal of a night as the engine's calls see it: what they tell becomes evidence.
#[derive(Debug)]
pub struct NightJournal {
    evidence: Arc<Evidence>,
}

#[async_trait]
impl Journal for NightJournal {
    async fn append(&self, key: &str, kind: EventKind) -> Result<(), StoreError> {
        self.evidence.record("calls", "told", json!({"key": key, "what": kind}));
        Ok(())
    }

    async fn find(&self, _: &str) -> Result<Option<EventKind>, StoreError> {
        Ok(None)
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
