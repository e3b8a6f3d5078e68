//! The ledger as one run writes it: each call that it pays for bears its name, so that what it spent can be told from the
//! ledger alone, also when its process was killed before it could add it up.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, from_json};
use async_trait::async_trait;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::{Role, Spend, SpendByRole};
use skillopt_engine::ports::{Billed, ChatReply, Ledger, ModelError, RecordedCall, StoreError};

/// The ledger, for one run.
#[derive(Clone, Debug)]
pub struct RunLedger {
    store: Store,
    run: RunId,
}

#[async_trait]
impl Ledger for RunLedger {
    async fn find(&self, key: &Sha256Hex) -> Result<Option<ChatReply>, StoreError> {
        self.store.find(key).await
    }

    async fn record(&self, call: RecordedCall) -> Result<ChatReply, StoreError> {
        self.store.record_for(call, Some(&self.run)).await
    }

    async fn record_failure(
        &self,
        key: &Sha256Hex,
        role: Role,
        error: &ModelError,
    ) -> Result<(), StoreError> {
        Ok(self.store.insert_failure(key, role, error, Some(&self.run)).await?)
    }
}

impl Store {
    /// The ledger for a run.
    #[must_use]
    pub fn ledger_of(&self, run: &RunId) -> RunLedger {
        RunLedger { store: self.clone(), run: run.clone() }
    }

    /// What the ledger says that a run paid for.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn paid_by(&self, run: &RunId) -> Result<SpendByRole, StoreFailure> {
        let action = "add up the calls of a run";
        let mut paid = SpendByRole::default();
        let answered = sqlx::query(
            "SELECT role, count(*) AS calls, sum(attempts - 1) AS failed, sum(prompt_tokens) AS read, \
             sum(completion_tokens) AS written, sum(cached_prompt_tokens) AS cached, sum(reasoning_tokens) AS reasoned, \
             sum(prompt_tokens IS NULL) AS unmetered, sum(cost_usd_micros) AS cost, \
             sum(cost_usd_micros IS NULL) AS unpriced FROM calls WHERE run = ? GROUP BY role",
        )
        .bind(run.as_str())
        .fetch_all(self.reader())
        .await
        .doing(action)?;
        for row in &answered {
            let number =
                |name: &'static str| Ok::<_, StoreFailure>(row.int_or_null(name)?.map(count));
            *paid.of_mut(super::word("a call's role", row.text("role")?)?) += Spend {
                calls: number("calls")?.unwrap_or_default(),
                failed_attempts: number("failed")?.unwrap_or_default(),
                prompt_tokens: number("read")?.unwrap_or_default(),
                completion_tokens: number("written")?.unwrap_or_default(),
                cached_prompt_tokens: number("cached")?,
                reasoning_tokens: number("reasoned")?,
                unmetered_calls: number("unmetered")?.unwrap_or_default(),
                cost_usd_micros: number("cost")?.unwrap_or_default(),
                unpriced_calls: number("unpriced")?.unwrap_or_default(),
                ..Spend::default()
            };
        }
        let failed =
            sqlx::query("SELECT role, attempts, billed_json FROM call_failures WHERE run = ?")
                .bind(run.as_str())
                .fetch_all(self.reader())
                .await
                .doing(action)?;
        for row in &failed {
            let billed: Billed = from_json("a failure's bill", &row.text("billed_json")?)?;
            let spend = paid.of_mut(super::word("a failure's role", row.text("role")?)?);
            billed.add_to(spend, count(row.int("attempts")?));
        }
        Ok(paid)
    }
}
