//! The price table: its changes, and what configs take from it.

use super::{HostError, Hosting};
use crate::causes::causes;
use skillopt_domain::config::Resolved;
use skillopt_domain::price::{PriceProblem, PriceRow, PriceTable, price_problems};
use skillopt_store::AuditRow;

impl Hosting {
    /// The config with prices from the table where it names none. Without the table it stays as it is, and its prices
    /// unknown.
    pub async fn priced(&self, resolved: &Resolved) -> Resolved {
        match self.shared.store.prices().await {
            Ok(table) => resolved.with_prices(&table),
            Err(err) => {
                tracing::warn!("the price table cannot be read: {}", causes(&err));
                resolved.clone()
            }
        }
    }

    /// Puts other rows in the place of those of `version`. `Ok(None)` when somebody else changed the table meanwhile, the
    /// inner error when rows cannot be taken; nothing is written in both cases.
    ///
    /// # Errors
    /// [`HostError::Store`] when the store cannot be written.
    pub async fn replace_prices(
        &self,
        version: u64,
        rows: &[PriceRow],
        actor: &str,
    ) -> Result<Result<Option<PriceTable>, Vec<PriceProblem>>, HostError> {
        let problems = price_problems(rows);
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        let store = &self.shared.store;
        let audit = AuditRow {
            at_ms: self.now_ms(),
            actor: actor.to_owned(),
            action: "set_prices".to_owned(),
            subject: "prices".to_owned(),
            detail: changes(&store.prices().await?.rows, rows),
        };
        Ok(Ok(store.replace_prices(version, rows, &audit).await?))
    }
}

/// What differs, for the audit log.
fn changes(before: &[PriceRow], after: &[PriceRow]) -> String {
    let is_same =
        |one: &PriceRow, other: &PriceRow| one.model == other.model && one.host == other.host;
    let name = |row: &PriceRow| match row.host.as_str() {
        "" => row.model.clone(),
        host => format!("{} at {host}", row.model),
    };
    let mut told = Vec::new();
    for row in after {
        match before.iter().find(|old| is_same(old, row)) {
            None => told.push(format!("added {}", name(row))),
            Some(old) if old != row => told.push(format!("changed {}", name(row))),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|old| !after.iter().any(|row| is_same(old, row)));
    told.extend(gone.map(|old| format!("removed {}", name(old))));
    told.join("; ")
}
