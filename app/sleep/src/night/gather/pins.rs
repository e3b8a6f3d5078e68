//! What the first round of a night that a person answers pins, so that every later round asks the same. Other nights pin
//! nothing.

use super::{Gathered, Harvested};
use crate::handoff::{Handoff, HandoffError, Pinned};
use crate::night::work::Work;
use crate::night::{NightFailure, TaskSource, beside};
use crate::task::TaskRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// What is told of given tasks that changed while the night waited.
pub const TASKS_CHANGED: &str = "the given tasks are others than those that the night began with: it goes on with those, \
                                 and the change is for the next night";

impl Work<'_> {
    /// The tasks that a night which a person answers began with; one that began with tasks from elsewhere is no such night.
    pub(super) async fn pinned_tasks(&self) -> Result<Option<Gathered>, NightFailure> {
        let is_given = matches!(self.plan.tasks, TaskSource::Given(_));
        let pinned: Option<Gathered> = self.pinned(Pinned::Tasks).await?;
        let was_given = match &pinned {
            Some(begun) => begun.harvest.is_none(),
            // Sessions are pinned before there are tasks.
            None => is_given && self.pinned::<Harvested>(Pinned::Digests).await?.is_none(),
        };
        if is_given == was_given {
            return Ok(pinned);
        }
        let Some(handoff) = &self.plan.handoff else { return Ok(pinned) };
        let (dir, to_remove) = (handoff.dir().to_owned(), handoff.to_remove());
        let began_with = if was_given { "a file" } else { "sessions" };
        Err(HandoffError::OtherTasks { dir, began_with, to_remove }.into())
    }

    /// Those that the night began with, in a night that goes on.
    pub(super) async fn given(
        &self,
        tasks: &[TaskRecord],
        pinned: Option<Gathered>,
        anew: Option<String>,
    ) -> Result<Gathered, NightFailure> {
        if let Some(mut begun) = pinned {
            let change = have_changed(&begun.tasks, tasks).then(|| TASKS_CHANGED.to_owned());
            begun.notes.extend(change);
            return Ok(begun);
        }
        let mut gathered = super::given(tasks);
        gathered.notes.extend(anew);
        if !gathered.tasks.is_empty() {
            self.pin(Pinned::Tasks, &gathered).await?;
        }
        Ok(gathered)
    }

    /// What is told of pins that this machine did not write.
    pub(super) async fn foreign_pins(&self) -> Result<Option<String>, NightFailure> {
        let Some(handoff) = self.plan.handoff.clone() else { return Ok(None) };
        Ok(beside("read what is pinned", move || handoff.foreign_pins()).await??)
    }

    /// What the first round of a night that a person answers saw; `None` in that round, and in all other nights.
    pub(super) async fn pinned<T: DeserializeOwned>(
        &self,
        what: Pinned,
    ) -> Result<Option<T>, NightFailure> {
        let Some(handoff) = self.plan.handoff.clone() else { return Ok(None) };
        let value = beside("read what is pinned", move || handoff.pinned(what)).await??;
        let damaged = |err: serde_json::Error| NightFailure::Handoff(self.damaged(what, &err));
        value.map(serde_json::from_value).transpose().map_err(damaged)
    }

    pub(super) async fn pin(
        &self,
        what: Pinned,
        value: &impl Serialize,
    ) -> Result<(), NightFailure> {
        let Some(handoff) = self.plan.handoff.clone() else { return Ok(()) };
        let value = serde_json::to_value(value).map_err(|err| self.damaged(what, &err))?;
        Ok(beside("pin the sessions", move || handoff.pin(what, &value)).await??)
    }

    fn damaged(&self, what: Pinned, err: &serde_json::Error) -> HandoffError {
        let dir = self.plan.handoff.as_ref().map(|handoff| handoff.dir().to_owned());
        let path = dir.unwrap_or_default().join(what.file_name());
        HandoffError::Damaged { path, reason: err.to_string() }
    }
}

/// The given tasks that a night which a person answers began with; `None` before its first round.
///
/// # Errors
/// [`HandoffError`] when what is pinned cannot be read or understood.
pub fn tasks_begun_with(handoff: &Handoff) -> Result<Option<Vec<TaskRecord>>, HandoffError> {
    let Some(value) = handoff.pinned(Pinned::Tasks)? else { return Ok(None) };
    let begun: Gathered = serde_json::from_value(value).map_err(|err| HandoffError::Damaged {
        path: handoff.dir().join(Pinned::Tasks.file_name()),
        reason: err.to_string(),
    })?;
    Ok(Some(begun).filter(|begun| begun.harvest.is_none()).map(|begun| begun.tasks))
}

/// The given tasks are others than those that the night began with, which are pinned as files have them.
#[must_use]
pub fn have_changed(begun: &[TaskRecord], now: &[TaskRecord]) -> bool {
    let now: Vec<TaskRecord> = now.iter().map(TaskRecord::redacted).collect();
    json!(begun) != json!(now)
}
