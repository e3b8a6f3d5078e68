//! Leases: one process works on a run, says so every few seconds, and loses the run when it stops.

use crate::error::{LeaseError, StoreFailure, TransitionError};
use crate::fold::{self, RunHead};
use crate::lifecycle::{Author, Change, Command};
use crate::live::Signal;
use crate::open::Store;
use crate::runs::parse_id;
use crate::script::Script;
use crate::sql::{Column, Doing, count, int, to_json};
use skillopt_domain::event::Progress;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunTransition;
use skillopt_domain::spend::SpendByRole;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// Who works on a run and for how long without a sign of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseTerm {
    /// Names the process; unique among all that live.
    pub owner: String,
    /// Time until the lease runs out unless it is renewed, in milliseconds.
    pub ttl_ms: u64,
}

/// A lease that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The process.
    pub owner: String,
    /// When it runs out, in milliseconds since 1970-01-01 UTC.
    pub until_ms: u64,
}

impl Lease {
    /// Reads the columns `lease_owner` and `lease_until_ms`.
    pub(crate) fn of(row: &SqliteRow) -> Result<Option<Self>, StoreFailure> {
        let until_ms = row.int_or_null("lease_until_ms")?.map(count).unwrap_or_default();
        Ok(row.text_or_null("lease_owner")?.map(|owner| Self { owner, until_ms }))
    }
}

/// A sign of life.
#[derive(Clone, Debug)]
pub struct Beat<'a> {
    /// The process.
    pub owner: &'a str,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub now_ms: u64,
    /// Time until the lease runs out, in milliseconds.
    pub ttl_ms: u64,
    /// Working time of the run so far, earlier attempts included.
    pub active_ms: Option<u64>,
    /// Live counts, when there are new ones.
    pub progress: Option<Progress>,
}

impl Store {
    /// Takes the lease of a run. A lease that ran out is taken over; commands that were meant for
    /// the owner before are dropped.
    ///
    /// # Errors
    /// [`LeaseError::Held`] when another process holds it.
    pub async fn acquire_lease(
        &self,
        run: &RunId,
        term: &LeaseTerm,
        now_ms: u64,
    ) -> Result<(), LeaseError> {
        let action = "take a lease";
        let mut tx = self.write(action).await?;
        let head = RunHead::load(&mut tx, run).await?;
        if let Some(Lease { owner, until_ms }) = head.lease
            && owner != term.owner
            && until_ms >= now_ms
        {
            return Err(LeaseError::Held { owner, until_ms });
        }
        sqlx::query(
            "UPDATE runs SET lease_owner = ?, lease_until_ms = ?, command = NULL WHERE no = ?",
        )
        .bind(term.owner.as_str())
        .bind(int(now_ms + term.ttl_ms))
        .bind(head.no)
        .execute(&mut *tx)
        .await
        .doing(action)?;
        Ok(tx.commit().await.doing(action)?)
    }

    /// Renews the lease, keeps live counts, and hands out what a person asked for, once.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] when the lease was taken away.
    pub async fn heartbeat(
        &self,
        run: &RunId,
        beat: &Beat<'_>,
    ) -> Result<Option<Command>, LeaseError> {
        let action = "renew a lease";
        let mut tx = self.write(action).await?;
        let head = owned(&mut tx, run, beat.owner).await?;
        let command: Option<String> = sqlx::query_scalar("SELECT command FROM runs WHERE no = ?")
            .bind(head.no)
            .fetch_one(&mut *tx)
            .await
            .doing(action)?;
        sqlx::query(
            "UPDATE runs SET lease_until_ms = ?, command = NULL, active_ms = coalesce(?, active_ms) \
             WHERE no = ?",
        )
        .bind(int(beat.now_ms + beat.ttl_ms))
        .bind(beat.active_ms.map(int))
        .bind(head.no)
        .execute(&mut *tx)
        .await
        .doing(action)?;
        if let Some(progress) = &beat.progress {
            store_progress(&mut tx, &head, progress).await?;
        }
        tx.commit().await.doing(action)?;
        Ok(command.as_deref().map(Command::parse).transpose()?)
    }

    /// Keeps the totals of all attempts when one ends.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] when the lease was taken away.
    pub async fn set_totals(
        &self,
        run: &RunId,
        owner: &str,
        spend: &SpendByRole,
        active_ms: u64,
    ) -> Result<(), LeaseError> {
        let action = "store a run's totals";
        let mut tx = self.write(action).await?;
        let head = owned(&mut tx, run, owner).await?;
        let mut script = Script::default();
        fold::store_spend(&mut script, head.no, spend)?;
        script
            .statement("UPDATE runs SET active_ms = ? WHERE no = ?")
            .bind(int(active_ms))
            .bind(head.no);
        fold::touch(&mut script, head.no, head.seq);
        script.run(&mut tx, action).await?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.clone()));
        Ok(())
    }

    /// Gives the lease back. Nothing happens when another process holds it.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn release_lease(&self, run: &RunId, owner: &str) -> Result<(), StoreFailure> {
        let action = "release a lease";
        let mut tx = self.write(action).await?;
        sqlx::query(
            "UPDATE runs SET lease_owner = NULL, lease_until_ms = NULL WHERE id = ? AND lease_owner = ?",
        )
        .bind(run.as_str())
        .bind(owner)
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)
    }

    /// Finds runs whose owner is gone and makes them `interrupted`. Returns them.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn reap_orphans(&self, now_ms: u64) -> Result<Vec<RunId>, StoreFailure> {
        let ids: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM runs WHERE status IN ('running', 'pausing', 'paused', 'cancelling') \
             AND (lease_owner IS NULL OR lease_until_ms < ?1) \
             UNION ALL SELECT id FROM runs WHERE status = 'queued' AND lease_until_ms < ?1",
        )
        .bind(int(now_ms))
        .fetch_all(self.reader())
        .await
        .doing("look for orphans")?;
        let mut reaped = Vec::new();
        for id in &ids {
            let run = parse_id(id)?;
            if self.reap(&run, now_ms).await? {
                reaped.push(run);
            }
        }
        Ok(reaped)
    }

    /// Looks again under the write lock: the owner may have come back, another process may have reaped.
    async fn reap(&self, run: &RunId, now_ms: u64) -> Result<bool, StoreFailure> {
        let action = "reap an orphan";
        let mut tx = self.write(action).await?;
        let head = RunHead::load(&mut tx, run).await?;
        if head.lease.as_ref().is_some_and(|lease| lease.until_ms >= now_ms) {
            return Ok(false);
        }
        let change = Change {
            transition: RunTransition::LoseOwner,
            detail: Some("the process that worked on it is gone".into()),
            by: Author::System,
            at_ms: now_ms,
        };
        match crate::lifecycle::change_status(&mut tx, run, &head, &change).await {
            Ok(_) => {}
            Err(TransitionError::Store(failure)) => return Err(failure),
            Err(TransitionError::Forbidden(_) | TransitionError::LeaseLost { .. }) => {
                return Ok(false);
            }
        }
        sqlx::query("UPDATE runs SET lease_owner = NULL, lease_until_ms = NULL WHERE no = ?")
            .bind(head.no)
            .execute(&mut *tx)
            .await
            .doing(action)?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.clone()));
        Ok(true)
    }
}

/// The run, provided that `owner` holds its lease. A lease that ran out and that nobody took still counts.
pub(crate) async fn owned(
    conn: &mut SqliteConnection,
    run: &RunId,
    owner: &str,
) -> Result<RunHead, LeaseError> {
    let head = RunHead::load(conn, run).await?;
    if head.is_owned_by(owner) { Ok(head) } else { Err(LeaseError::Lost { run: run.clone() }) }
}

async fn store_progress(
    conn: &mut SqliteConnection,
    head: &RunHead,
    progress: &Progress,
) -> Result<(), StoreFailure> {
    let mut script = Script::default();
    fold::store_spend(&mut script, head.no, &progress.spend)?;
    script
        .statement("UPDATE runs SET progress_json = ? WHERE no = ?")
        .bind(to_json(progress)?)
        .bind(head.no);
    fold::touch(&mut script, head.no, head.seq);
    script.run(conn, "store live counts").await
}
