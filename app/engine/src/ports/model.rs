//! A model, and the most that a call of it can cost.

use super::{ChatReply, ChatRequest, ModelError};
use async_trait::async_trait;
use skillopt_domain::outage::Outage;
use skillopt_domain::outcome::Sample;
use std::fmt::Debug;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A model that answers requests: one role of one run.
#[async_trait]
pub trait Model: Send + Sync + Debug {
    /// Everything about the backend that shapes an answer, as canonical JSON: kind, address without
    /// credentials, model, every parameter that goes on the wire. Part of each ledger key.
    fn identity(&self) -> serde_json::Value;

    /// The model's name for people.
    fn name(&self) -> &str;

    /// It is a simulation, no real model.
    fn is_simulated(&self) -> bool;

    /// It performs tasks in a folder of its own, where the skill is a file: it needs [`ChatRequest::workspace`].
    fn works_in_folder(&self) -> bool {
        false
    }

    /// It can be given tools that only note that they were called: it takes [`ChatRequest::stand_ins`], and its reply
    /// tells which were called.
    fn runs_stand_ins(&self) -> bool {
        false
    }

    /// The most that one call can cost, for hard caps: tokens and, where prices are known, money.
    fn worst_case(&self, request: &ChatRequest) -> WorstCase;

    /// Tells when the endpoint behind the model stops answering (an outage) and when it answers again (`None`).
    /// A model without an endpoint has nothing to tell.
    fn outages(&self) -> Option<watch::Receiver<Option<Outage>>> {
        None
    }

    /// Answers. Retries by itself; gives up with [`ModelErrorKind::Cancelled`] when `cancel` fires, which is
    /// some time after the run was cancelled.
    ///
    /// # Errors
    /// [`ModelError`] when no answer came.
    ///
    /// [`ModelErrorKind::Cancelled`]: super::ModelErrorKind::Cancelled
    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError>;
}

/// Upper bounds for one call with its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// As how many calls it can count, at least 1: attempts that fail may be paid for as well.
    pub calls: u32,
    /// Tokens read and written.
    pub tokens: u64,
    /// Millionths of a dollar; `None` when no price is known.
    pub cost_usd_micros: Option<u64>,
}

impl Default for WorstCase {
    fn default() -> Self {
        Self { calls: 1, tokens: 0, cost_usd_micros: None }
    }
}

impl WorstCase {
    /// Upper bounds for one of its attempts: what is assumed of one that told nothing.
    #[must_use]
    pub fn of_attempt(self) -> Self {
        let calls = u64::from(self.calls.max(1));
        let cost_usd_micros = self.cost_usd_micros.map(|cost| cost.div_ceil(calls));
        Self { calls: 1, tokens: self.tokens.div_ceil(calls), cost_usd_micros }
    }
}
