//! The state of a run changes here and nowhere else, together with its journal and the audit log.

use crate::audit::{self, AuditRow};
use crate::error::{StoreFailure, TransitionError};
use crate::fold::{self, Before, NewEvent, RunHead};
use crate::live::Signal;
use crate::open::Store;
use crate::sql::Doing;
use skillopt_domain::event::EventKind;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::{RunStatus, RunTransition};
use sqlx::SqliteConnection;

/// Who changes a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author<'a> {
    /// A person; goes into the audit log.
    Person(&'a str),
    /// The process that works on the run; must hold its lease.
    Owner(&'a str),
    /// The program itself.
    System,
}

/// A wanted change of state.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// What happens.
    pub transition: RunTransition,
    /// Why, where there is something to say.
    pub detail: Option<String>,
    /// Who.
    pub by: Author<'a>,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// What a person can ask the owner of a run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Finish the calls in flight and wait.
    Pause,
    /// Go on.
    Unpause,
    /// Finish the calls in flight and end.
    Cancel,
}

impl Command {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Unpause => "unpause",
            Self::Cancel => "cancel",
        }
    }

    pub(crate) fn parse(word: &str) -> Result<Self, StoreFailure> {
        [Self::Pause, Self::Unpause, Self::Cancel]
            .into_iter()
            .find(|command| command.as_str() == word)
            .ok_or_else(|| StoreFailure::corrupt("a command", format!("{word:?}")))
    }

    fn transition(self) -> RunTransition {
        match self {
            Self::Pause => RunTransition::AskPause,
            Self::Unpause => RunTransition::Unpause,
            Self::Cancel => RunTransition::AskCancel,
        }
    }

    /// The run is there, or on its way, already.
    fn is_satisfied_by(self, status: RunStatus) -> bool {
        match self {
            Self::Pause => matches!(status, RunStatus::Pausing | RunStatus::Paused),
            Self::Unpause => status == RunStatus::Running,
            Self::Cancel => matches!(status, RunStatus::Cancelling | RunStatus::Cancelled),
        }
    }
}

impl Store {
    /// Changes the state of a run as [`RunStatus::after`] allows it.
    ///
    /// # Errors
    /// [`TransitionError`] when the state does not know the step, or the owner lost its lease.
    pub async fn transition(
        &self,
        run: &RunId,
        change: Change<'_>,
    ) -> Result<RunStatus, TransitionError> {
        let action = "change a run's state";
        let mut tx = self.write(action).await?;
        let head = RunHead::load(&mut tx, run).await?;
        let status = change_status(&mut tx, run, &head, &change).await?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.clone()));
        Ok(status)
    }

    /// A person asks for something: the state changes, and the owner finds the command at its next
    /// heartbeat. Asking again for what was asked for already changes nothing.
    ///
    /// # Errors
    /// [`TransitionError::Forbidden`] when the state does not know it.
    pub async fn request(
        &self,
        run: &RunId,
        command: Command,
        actor: &str,
        at_ms: u64,
    ) -> Result<RunStatus, TransitionError> {
        let action = "ask for something";
        let mut tx = self.write(action).await?;
        let head = RunHead::load(&mut tx, run).await?;
        if command.is_satisfied_by(head.status) {
            return Ok(head.status);
        }
        let change = Change {
            transition: command.transition(),
            detail: Some(format!("asked by {actor}")),
            by: Author::Person(actor),
            at_ms,
        };
        let status = change_status(&mut tx, run, &head, &change).await?;
        // After the change of state: an end clears commands, but a queued run with an owner must still
        // be told that it was cancelled.
        sqlx::query("UPDATE runs SET command = ? WHERE no = ? AND lease_owner IS NOT NULL")
            .bind(command.as_str())
            .bind(head.no)
            .execute(&mut *tx)
            .await
            .doing(action)?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.clone()));
        self.signal(Signal::Command { run: run.clone() });
        Ok(status)
    }
}

pub(crate) async fn change_status(
    conn: &mut SqliteConnection,
    run: &RunId,
    head: &RunHead,
    change: &Change<'_>,
) -> Result<RunStatus, TransitionError> {
    if let Author::Owner(owner) = change.by
        && !head.is_owned_by(owner)
    {
        return Err(TransitionError::LeaseLost { run: run.clone() });
    }
    let status = head.status.after(change.transition)?;
    let kind = EventKind::Status { status, detail: change.detail.clone() };
    // Each change of state is news, also in a resumed run: the number makes the key unique.
    let key = format!("status/{}", head.seq + 1);
    let event = NewEvent { key: &key, kind: &kind, at_ms: change.at_ms };
    let (_, before) = Before::load(conn, run, event).await?;
    fold::append(conn, (head, &before), event, None).await?;
    if let Author::Person(actor) = change.by {
        let row = AuditRow {
            at_ms: change.at_ms,
            actor: actor.to_owned(),
            action: word(change.transition).to_owned(),
            subject: run.to_string(),
            detail: change.detail.clone().unwrap_or_default(),
        };
        audit::insert(conn, &row).await?;
    }
    Ok(status)
}

fn word(transition: RunTransition) -> &'static str {
    match transition {
        RunTransition::Start => "start",
        RunTransition::AskPause => "ask_pause",
        RunTransition::ConfirmPause => "confirm_pause",
        RunTransition::Unpause => "unpause",
        RunTransition::AskCancel => "ask_cancel",
        RunTransition::ConfirmCancel => "confirm_cancel",
        RunTransition::Finish => "finish",
        RunTransition::Fail => "fail",
        RunTransition::Cap => "cap",
        RunTransition::LoseOwner => "lose_owner",
    }
}
