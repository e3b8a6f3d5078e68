//! Adoptions: an intent is noted before a live file is touched, so that a crash leaves a trace to mend.

use crate::audit::{self, AuditRow};
use crate::error::{AdoptionError, StoreFailure};
use crate::open::Store;
use crate::runs::parse_id;
use crate::sql::{Column, Doing, count, hash, int};
use skillopt_domain::api::Receipt;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::{AdoptionId, RunId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::fmt;

/// How far an adoption got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdoptionState {
    /// The file may or may not have been written.
    Intended,
    /// It was written.
    Done,
    /// It was written and put back.
    Reverted,
    /// It was not written.
    Failed,
}

impl AdoptionState {
    const ALL: [Self; 4] = [Self::Intended, Self::Done, Self::Reverted, Self::Failed];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Done => "done",
            Self::Reverted => "reverted",
            Self::Failed => "failed",
        }
    }

    fn parse(word: &str) -> Result<Self, StoreFailure> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == word)
            .ok_or_else(|| StoreFailure::corrupt("an adoption", format!("state {word:?}")))
    }
}

impl fmt::Display for AdoptionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An adoption that is about to happen.
#[derive(Clone, Debug)]
pub struct NewAdoption {
    /// Its id.
    pub id: AdoptionId,
    /// The run.
    pub run: RunId,
    /// The version.
    pub skill: Sha256Hex,
    /// The path as given.
    pub path: String,
    /// The file that will be written.
    pub real_path: String,
    /// Hash of the live file; `None` when there is none.
    pub before: Option<Sha256Hex>,
    /// Where the backup will be; `None` when there is no live file.
    pub backup: Option<String>,
    /// Who does it.
    pub actor: String,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Repeating a request with the same key gives the same receipt.
    pub idempotency_key: String,
}

/// An adoption as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Adoption {
    /// What was, or will be, written.
    pub receipt: Receipt,
    /// How far it got.
    pub state: AdoptionState,
    /// The key of the request.
    pub idempotency_key: String,
    /// Why it failed.
    pub error: Option<String>,
}

/// What became of [`Store::begin_adoption`].
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one value a request, taken apart at once")]
pub enum Begun {
    /// The intent is noted: write the file now.
    New,
    /// The same request was made before: answer with this and write nothing.
    Repeated(Adoption),
}

const INSERT: &str = "INSERT INTO adoptions (id, run, skill, path, real_path, before_hash, backup, actor, \
     at_ms, idempotency_key, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'intended')";

impl Store {
    /// Notes the intent. Of several requests for one file only one may write at a time.
    ///
    /// # Errors
    /// [`AdoptionError::InProgress`] when another one writes the same file,
    /// [`AdoptionError::KeyReused`] when the key belongs to another request.
    pub async fn begin_adoption(&self, new: &NewAdoption) -> Result<Begun, AdoptionError> {
        let action = "begin an adoption";
        let mut tx = self.write(action).await?;
        if let Some(earlier) = by_key(&mut tx, &new.idempotency_key).await? {
            let receipt = &earlier.receipt;
            let is_same = receipt.run == new.run
                && receipt.after == new.skill
                && receipt.real_path == new.real_path;
            return if is_same {
                Ok(Begun::Repeated(earlier))
            } else {
                Err(AdoptionError::KeyReused { key: new.idempotency_key.clone() })
            };
        }
        if let Some(other) = open_for(&mut tx, &new.real_path).await? {
            let real_path = new.real_path.clone();
            return Err(AdoptionError::InProgress { real_path, other: other.receipt.id });
        }
        insert(&mut tx, new).await?;
        tx.commit().await.doing(action)?;
        Ok(Begun::New)
    }

    /// The file was written.
    ///
    /// # Errors
    /// [`AdoptionError::WrongState`] unless it was intended.
    pub async fn finish_adoption(&self, id: &AdoptionId) -> Result<Receipt, AdoptionError> {
        let action = "finish an adoption";
        let mut tx = self.write(action).await?;
        let adoption = in_state(&mut tx, id, AdoptionState::Intended).await?;
        sqlx::query("UPDATE adoptions SET state = 'done' WHERE id = ?")
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .doing(action)?;
        let receipt = adoption.receipt;
        audit::insert(&mut tx, &deed("adopt", &receipt, &receipt.actor, receipt.at_ms)).await?;
        tx.commit().await.doing(action)?;
        Ok(receipt)
    }

    /// The file was not written.
    ///
    /// # Errors
    /// [`AdoptionError::WrongState`] unless it was intended.
    pub async fn fail_adoption(&self, id: &AdoptionId, message: &str) -> Result<(), AdoptionError> {
        let action = "give up an adoption";
        let mut tx = self.write(action).await?;
        in_state(&mut tx, id, AdoptionState::Intended).await?;
        sqlx::query("UPDATE adoptions SET state = 'failed', error = ? WHERE id = ?")
            .bind(message)
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .doing(action)?;
        Ok(tx.commit().await.doing(action)?)
    }

    /// The file was put back.
    ///
    /// # Errors
    /// [`AdoptionError::WrongState`] unless it was done.
    pub async fn mark_reverted(
        &self,
        id: &AdoptionId,
        actor: &str,
        at_ms: u64,
    ) -> Result<Receipt, AdoptionError> {
        let action = "note a reverted adoption";
        let mut tx = self.write(action).await?;
        let adoption = in_state(&mut tx, id, AdoptionState::Done).await?;
        sqlx::query("UPDATE adoptions SET state = 'reverted', reverted_at_ms = ? WHERE id = ?")
            .bind(int(at_ms))
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .doing(action)?;
        let receipt = Receipt { reverted_at_ms: Some(at_ms), ..adoption.receipt };
        audit::insert(&mut tx, &deed("revert_adoption", &receipt, actor, at_ms)).await?;
        tx.commit().await.doing(action)?;
        Ok(receipt)
    }

    /// Adoptions of which nobody knows whether the file was written: their process is gone, or at work.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn open_adoptions(&self) -> Result<Vec<Adoption>, StoreFailure> {
        let rows = sqlx::query("SELECT * FROM adoptions WHERE state = 'intended' ORDER BY no")
            .fetch_all(self.reader())
            .await
            .doing("list open adoptions")?;
        rows.iter().map(adoption_of).collect()
    }

    /// One adoption.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn adoption(&self, id: &AdoptionId) -> Result<Option<Adoption>, StoreFailure> {
        let mut conn = self.read("read an adoption").await?;
        by_id(&mut conn, id).await
    }

    /// All adoptions, or those of one run, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn list_adoptions(&self, run: Option<&RunId>) -> Result<Vec<Adoption>, StoreFailure> {
        let rows = match run {
            Some(run) => {
                sqlx::query("SELECT * FROM adoptions WHERE run = ? ORDER BY no DESC")
                    .bind(run.as_str())
                    .fetch_all(self.reader())
                    .await
            }
            None => {
                sqlx::query("SELECT * FROM adoptions ORDER BY no DESC")
                    .fetch_all(self.reader())
                    .await
            }
        };
        rows.doing("list adoptions")?.iter().map(adoption_of).collect()
    }
}

async fn insert(conn: &mut SqliteConnection, new: &NewAdoption) -> Result<(), StoreFailure> {
    sqlx::query(INSERT)
        .bind(new.id.as_str())
        .bind(new.run.as_str())
        .bind(new.skill.as_str())
        .bind(new.path.as_str())
        .bind(new.real_path.as_str())
        .bind(new.before.as_ref().map(Sha256Hex::as_str))
        .bind(new.backup.as_deref())
        .bind(new.actor.as_str())
        .bind(int(new.at_ms))
        .bind(new.idempotency_key.as_str())
        .execute(conn)
        .await
        .doing("begin an adoption")
        .map(drop)
}

async fn by_key(conn: &mut SqliteConnection, key: &str) -> Result<Option<Adoption>, StoreFailure> {
    let row = sqlx::query("SELECT * FROM adoptions WHERE idempotency_key = ?")
        .bind(key)
        .fetch_optional(conn)
        .await
        .doing("look for an adoption")?;
    row.as_ref().map(adoption_of).transpose()
}

async fn open_for(
    conn: &mut SqliteConnection,
    real_path: &str,
) -> Result<Option<Adoption>, StoreFailure> {
    let row = sqlx::query("SELECT * FROM adoptions WHERE real_path = ? AND state = 'intended'")
        .bind(real_path)
        .fetch_optional(conn)
        .await
        .doing("look for an adoption")?;
    row.as_ref().map(adoption_of).transpose()
}

async fn by_id(
    conn: &mut SqliteConnection,
    id: &AdoptionId,
) -> Result<Option<Adoption>, StoreFailure> {
    let row = sqlx::query("SELECT * FROM adoptions WHERE id = ?")
        .bind(id.as_str())
        .fetch_optional(conn)
        .await
        .doing("look for an adoption")?;
    row.as_ref().map(adoption_of).transpose()
}

async fn in_state(
    conn: &mut SqliteConnection,
    id: &AdoptionId,
    wanted: AdoptionState,
) -> Result<Adoption, AdoptionError> {
    let adoption = by_id(conn, id)
        .await?
        .ok_or_else(|| StoreFailure::NotFound { what: "adoption", id: id.to_string() })?;
    if adoption.state == wanted {
        Ok(adoption)
    } else {
        Err(AdoptionError::WrongState { id: id.clone(), state: adoption.state })
    }
}

fn deed(action: &str, receipt: &Receipt, actor: &str, at_ms: u64) -> AuditRow {
    AuditRow {
        at_ms,
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: receipt.id.to_string(),
        detail: format!("{} into {}", receipt.after.short(), receipt.real_path),
    }
}

fn adoption_of(row: &SqliteRow) -> Result<Adoption, StoreFailure> {
    let id = row.text("id")?;
    let id = AdoptionId::parse(&id)
        .map_err(|err| StoreFailure::corrupt(format!("the adoption id {id:?}"), err))?;
    Ok(Adoption {
        receipt: Receipt {
            id,
            run: parse_id(&row.text("run")?)?,
            path: row.text("path")?,
            real_path: row.text("real_path")?,
            before: row.text_or_null("before_hash")?.as_deref().map(hash).transpose()?,
            after: hash(&row.text("skill")?)?,
            backup: row.text_or_null("backup")?,
            actor: row.text("actor")?,
            at_ms: count(row.int("at_ms")?),
            reverted_at_ms: row.int_or_null("reverted_at_ms")?.map(count),
        },
        state: AdoptionState::parse(&row.text("state")?)?,
        idempotency_key: row.text("idempotency_key")?,
        error: row.text_or_null("error")?,
    })
}
