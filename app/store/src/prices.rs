//! The price table: each change is a new version, so that nothing is lost and nobody writes over what they have not seen.

use crate::audit::{self, AuditRow};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, from_json, int, to_json};
use skillopt_domain::price::{PriceRow, PriceTable};
use sqlx::SqliteConnection;

impl Store {
    /// The price table as it is now.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn prices(&self) -> Result<PriceTable, StoreFailure> {
        let mut conn = self.read("read the price table").await?;
        current(&mut conn).await
    }

    /// Puts other rows in the place of those of `version`, and notes it in the audit log. `None` when somebody else changed
    /// the table meanwhile; nothing is written then.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn replace_prices(
        &self,
        version: u64,
        rows: &[PriceRow],
        audit: &AuditRow,
    ) -> Result<Option<PriceTable>, StoreFailure> {
        let action = "write the price table";
        let mut tx = self.write(action).await?;
        if current(&mut tx).await?.version != version {
            return Ok(None);
        }
        let table = PriceTable {
            version: version + 1,
            changed_at_ms: Some(audit.at_ms),
            changed_by: audit.actor.clone(),
            rows: rows.to_vec(),
        };
        sqlx::query(
            "INSERT INTO price_tables (version, at_ms, actor, rows_json) VALUES (?, ?, ?, ?)",
        )
        .bind(int(table.version))
        .bind(int(audit.at_ms))
        .bind(audit.actor.as_str())
        .bind(to_json(&table.rows)?)
        .execute(&mut *tx)
        .await
        .doing(action)?;
        audit::insert(&mut tx, audit).await?;
        tx.commit().await.doing(action)?;
        Ok(Some(table))
    }
}

async fn current(conn: &mut SqliteConnection) -> Result<PriceTable, StoreFailure> {
    let row = sqlx::query("SELECT * FROM price_tables ORDER BY version DESC LIMIT 1")
        .fetch_optional(conn)
        .await
        .doing("read the price table")?;
    let Some(row) = row else { return Ok(PriceTable::default()) };
    Ok(PriceTable {
        version: count(row.int("version")?),
        changed_at_ms: Some(count(row.int("at_ms")?)),
        changed_by: row.text("actor")?,
        rows: from_json("the price table", &row.text("rows_json")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(actor: &str) -> AuditRow {
        AuditRow {
            at_ms: 7,
            actor: actor.into(),
            action: "set_prices".into(),
            subject: "prices".into(),
            detail: String::new(),
        }
    }

    #[tokio::test]
    async fn a_change_of_what_another_changed_meanwhile_is_not_written() {
        let store = Store::in_memory().await.expect("a store");
        assert_eq!(store.prices().await.expect("read"), PriceTable::default());
        let row = |input| PriceRow {
            model: "m".into(),
            input,
            output: 2.0,
            as_of: "2026-11-30".into(),
            ..PriceRow::default()
        };
        let first = store.replace_prices(0, &[row(1.0)], &audit("one")).await.expect("written");
        assert_eq!(first.as_ref().map(|table| table.version), Some(1));
        assert_eq!(store.prices().await.expect("read"), first.expect("a table"));
        let late = store.replace_prices(0, &[row(9.0)], &audit("two")).await.expect("looked");
        assert_eq!(late, None);
        let second = store.replace_prices(1, &[], &audit("two")).await.expect("written");
        assert_eq!(second.map(|table| (table.version, table.changed_by)), Some((2, "two".into())));
        let log = store.audit_log(9).await.expect("read");
        assert_eq!(
            log.iter().filter(|row| row.action == "set_prices").count(),
            2,
            "the lost one left no trace"
        );
    }
}
