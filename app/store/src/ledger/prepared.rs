//! A call made ready to be written: hashed and compressed by the caller, so that the one task that writes need not.

use crate::blobs::Blob;
use crate::error::StoreFailure;
use crate::sql::to_json;
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_engine::ports::{AgentStep, ChatReply, RecordedCall, Speaker, ToolCall};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

const KNOWN_MAX: usize = 32_768;

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

/// What came with a reply beside its text.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Beside {
    #[serde(default)]
    pub(super) tool_calls: Vec<ToolCall>,
    #[serde(default)]
    pub(super) steps: Vec<AgentStep>,
}

impl Beside {
    fn of(reply: &ChatReply) -> Option<Self> {
        let is_plain = reply.tool_calls.is_empty() && reply.steps.is_empty();
        let beside = || Self { tool_calls: reply.tool_calls.clone(), steps: reply.steps.clone() };
        (!is_plain).then(beside)
    }
}

/// A call, ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) key: Sha256Hex,
    /// The run that pays for it.
    pub(super) run: Option<String>,
    pub(super) role: &'static str,
    pub(super) purpose: &'static str,
    pub(super) model: String,
    pub(super) reply_hash: Sha256Hex,
    pub(super) messages_json: String,
    pub(super) adaptations_json: String,
    pub(super) beside_json: Option<String>,
    pub(super) reply: ChatReply,
    pub(super) blobs: Vec<Blob>,
}

impl Prepared {
    pub(crate) fn of(
        call: &RecordedCall,
        run: Option<&RunId>,
        known: &KnownBlobs,
    ) -> Result<Self, StoreFailure> {
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
            run: run.map(|run| run.as_str().to_owned()),
            role: call.role.as_str(),
            purpose: call.purpose.as_str(),
            model: call.model.clone(),
            reply_hash,
            messages_json: to_json(&messages)?,
            adaptations_json: to_json(&call.reply.adaptations)?,
            beside_json: Beside::of(&call.reply).as_ref().map(to_json).transpose()?,
            reply: ChatReply { text: String::new(), ..call.reply.clone() },
            blobs,
        })
    }
}
