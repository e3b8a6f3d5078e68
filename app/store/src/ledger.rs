//! The ledger of paid calls: found by key, recorded durably before they are used.

mod batch;
mod clerk;
mod history;
mod of_run;
mod prepared;

pub(crate) use clerk::Clerk;
pub use of_run::RunLedger;
pub(crate) use prepared::KnownBlobs;

use crate::blobs::{self, Blob};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, from_json, small, to_json};
use async_trait::async_trait;
use clerk::Recorded;
use prepared::{Beside, Prepared};
use serde::de::DeserializeOwned;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{
    ChatReply, Ledger, Message, ModelError, ModelErrorKind, RecordedCall, Speaker, StoreError,
};
use sqlx::sqlite::SqliteRow;

/// Up to the list of keys.
const FIND: &str = "SELECT key, finish, prompt_tokens, completion_tokens, cost_usd_micros, latency_ms, attempts, \
     adaptations, cached_prompt_tokens, reasoning_tokens, beside, codec, size, bytes FROM calls JOIN blobs ON blobs.hash = calls.reply WHERE calls.key";
const FIND_WHOLE: &str = "SELECT calls.*, blobs.codec, blobs.size, blobs.bytes \
     FROM calls JOIN blobs ON blobs.hash = calls.reply WHERE calls.key = ?";

#[async_trait]
impl Ledger for Store {
    async fn find(&self, key: &Sha256Hex) -> Result<Option<ChatReply>, StoreError> {
        self.inner.ledger.find(key.clone()).await
    }

    async fn record(&self, call: RecordedCall) -> Result<ChatReply, StoreError> {
        self.record_for(call, None).await
    }

    async fn record_failure(
        &self,
        key: &Sha256Hex,
        role: Role,
        error: &ModelError,
    ) -> Result<(), StoreError> {
        Ok(self.insert_failure(key, role, error, None).await?)
    }
}

impl Store {
    /// Records a call that `run` pays for.
    async fn record_for(
        &self,
        call: RecordedCall,
        run: Option<&RunId>,
    ) -> Result<ChatReply, StoreError> {
        let prepared = Prepared::of(&call, run, &self.inner.known_blobs)?;
        let earlier = match self.inner.ledger.record(prepared).await? {
            Recorded::Ours => None,
            Recorded::MaybeEarlier => self.find(&call.key).await?,
        };
        Ok(earlier.unwrap_or(call.reply))
    }

    /// A recorded call with what was sent.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn find_call(&self, key: &Sha256Hex) -> Result<Option<RecordedCall>, StoreFailure> {
        let Some(row) = self.call_row(key).await? else { return Ok(None) };
        let sent: Vec<(Speaker, String)> = from_json("a call's messages", &row.text("messages")?)?;
        let mut conn = self.read("read a call").await?;
        let mut messages = Vec::with_capacity(sent.len());
        for (role, hash) in sent {
            let content = blobs::read(&mut conn, &hash)
                .await?
                .ok_or_else(|| StoreFailure::corrupt("a call", format!("no text {hash}")))?;
            messages.push(Message::new(role, content));
        }
        Ok(Some(RecordedCall {
            key: key.clone(),
            role: word("a call's role", row.text("role")?)?,
            purpose: word("a call's purpose", row.text("purpose")?)?,
            model: row.text("model")?,
            messages,
            reply: reply_of(&row)?,
        }))
    }

    /// The last failure of a call: what kind it was and the provider's words.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn find_failed_call(
        &self,
        key: &Sha256Hex,
    ) -> Result<Option<(ModelErrorKind, String)>, StoreFailure> {
        let row = sqlx::query(
            "SELECT kind, message FROM call_failures WHERE key = ? ORDER BY id DESC LIMIT 1",
        )
        .bind(key.as_str())
        .fetch_optional(self.reader())
        .await
        .doing("look for a failed call")?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((word("a failure's kind", row.text("kind")?)?, row.text("message")?)))
    }

    async fn call_row(&self, key: &Sha256Hex) -> Result<Option<SqliteRow>, StoreFailure> {
        sqlx::query(FIND_WHOLE)
            .bind(key.as_str())
            .fetch_optional(self.reader())
            .await
            .doing("look for a call")
    }

    async fn insert_failure(
        &self,
        key: &Sha256Hex,
        role: Role,
        error: &ModelError,
        run: Option<&RunId>,
    ) -> Result<(), StoreFailure> {
        let action = "log a failed call";
        let mut tx = self.write(action).await?;
        sqlx::query(
            "INSERT INTO call_failures (key, role, kind, message, attempts, billed_json, run) \
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(key.as_str())
        .bind(role.as_str())
        .bind(error.kind.as_str())
        .bind(error.message.as_str())
        .bind(error.attempts)
        .bind(to_json(&error.billed)?)
        .bind(run.map(RunId::as_str))
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)
    }
}

fn reply_of(row: &SqliteRow) -> Result<ChatReply, StoreFailure> {
    let tokens = (row.int_or_null("prompt_tokens")?, row.int_or_null("completion_tokens")?);
    let usage = match tokens {
        (Some(read), Some(written)) => Some(Usage {
            cached_prompt_tokens: row.int_or_null("cached_prompt_tokens")?.map(count),
            reasoning_tokens: row.int_or_null("reasoning_tokens")?.map(count),
            ..Usage::new(count(read), count(written))
        }),
        _ => None,
    };
    let beside = match row.text_or_null("beside")? {
        Some(json) => from_json("what came beside a reply", &json)?,
        None => Beside::default(),
    };
    Ok(ChatReply {
        text: Blob::unpack(row)?,
        finish: word("a call's finish", row.text("finish")?)?,
        usage,
        cost_usd_micros: row.int_or_null("cost_usd_micros")?.map(count),
        latency_ms: count(row.int("latency_ms")?),
        attempts: small(row.int("attempts")?),
        adaptations: from_json("a call's adaptations", &row.text("adaptations")?)?,
        tool_calls: beside.tool_calls,
        steps: beside.steps,
        earlier: None,
        first_token_ms: None,
    })
}

/// An enum from its stable word.
pub(crate) fn word<T: DeserializeOwned>(
    what: &'static str,
    word: String,
) -> Result<T, StoreFailure> {
    serde_json::from_value(serde_json::Value::String(word))
        .map_err(|err| StoreFailure::corrupt(what, err))
}
