//! A model that answers from a cassette. Nothing is sent to anyone.

use super::Cassette;
use async_trait::async_trait;
use serde_json::{Value, json};
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Model, ModelError, ModelErrorKind, Purpose, WorstCase,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One role of a cassette.
#[derive(Clone, Debug)]
pub struct ReplayModel {
    role: Role,
    name: String,
    cassette: Arc<Cassette>,
}

impl ReplayModel {
    /// Answers for a role, under a name for people.
    #[must_use]
    pub fn new(role: Role, name: &str, cassette: Arc<Cassette>) -> Self {
        Self { role, name: name.to_owned(), cassette }
    }
}

#[async_trait]
impl Model for ReplayModel {
    // The file's hash is part of it: replies of another cassette are never served for this one.
    fn identity(&self) -> Value {
        json!({"kind": "replay", "role": self.role, "cassette": self.cassette.sha()})
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_simulated(&self) -> bool {
        true
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
        match self.cassette.find(self.role, request, sample) {
            Ok(exchange) => exchange.to_reply(),
            // That the file could be read is all that there is to prove.
            Err(_) if request.purpose == Purpose::Preflight => Ok(reached()),
            Err(message) => Err(ModelError {
                kind: ModelErrorKind::NotRecorded,
                message,
                attempts: 1,
                billed: Billed::default(),
            }),
        }
    }
}

fn reached() -> ChatReply {
    ChatReply {
        text: "OK".to_owned(),
        cost_usd_micros: Some(0),
        attempts: 1,
        ..ChatReply::default()
    }
}
