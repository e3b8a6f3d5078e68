//! Schedules of nights: one a project, the day that is taken care of as compare-and-set, and what became of nights
//! that were due.

mod outcomes;
mod rows;
#[cfg(test)]
mod tests;

pub use outcomes::{OldClaims, OutcomeRow};
pub use rows::{
    AddScheduleError, NewSchedule, ScheduleEdit, ScheduleRow, ScheduleTerms, ScheduleTime,
};

use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Doing, int};
use skillopt_domain::ids::ScheduleId;

/// A server takes the nights of a schedule on, up to a day.
#[derive(Clone, Debug)]
pub struct ScheduleClaim {
    /// The schedule.
    pub id: ScheduleId,
    /// Its revision as it was read.
    pub revision: u64,
    /// The day that was taken care of when it was read.
    pub before: String,
    /// The day that is taken care of with this.
    pub after: String,
    /// What becomes of the nights in between, oldest first.
    pub outcomes: Vec<OutcomeRow>,
}

impl Store {
    /// Takes nights on. `false` when somebody else did meanwhile, or when the schedule was changed, switched off or
    /// removed; nothing is written then.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn claim_schedule(&self, claim: &ScheduleClaim) -> Result<bool, StoreFailure> {
        let action = "take a scheduled night on";
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE schedules SET served = ? WHERE id = ? AND served = ? AND revision = ? AND is_enabled = 1",
        )
        .bind(claim.after.as_str())
        .bind(claim.id.as_str())
        .bind(claim.before.as_str())
        .bind(int(claim.revision))
        .execute(&mut *tx)
        .await
        .doing(action)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        outcomes::insert(&mut tx, &claim.id, &claim.outcomes).await?;
        tx.commit().await.doing(action)?;
        Ok(true)
    }
}
