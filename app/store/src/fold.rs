//! Appending an event: the journal row, the fold and everything that is derived from it change in one
//! transaction, so that no reader ever sees one without the other.

pub(crate) mod costs;
mod summary;
mod tables;

use crate::error::StoreFailure;
use crate::lease::Lease;
use crate::runs::parse_status;
use crate::script::Script;
use crate::sql::{Column, Doing, count, from_json, int, to_json};
use skillopt_domain::event::{EventKind, RunEvent};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::view::RunView;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::HashSet;

/// What a write needs to know about its run.
#[derive(Debug)]
pub(crate) struct RunHead {
    pub(crate) no: i64,
    pub(crate) seq: u64,
    pub(crate) status: RunStatus,
    pub(crate) lease: Option<Lease>,
}

impl RunHead {
    pub(crate) async fn load(
        conn: &mut SqliteConnection,
        run: &RunId,
    ) -> Result<Self, StoreFailure> {
        let row = sqlx::query(
            "SELECT no, seq, status, lease_owner, lease_until_ms FROM runs WHERE id = ?",
        )
        .bind(run.as_str())
        .fetch_optional(conn)
        .await
        .doing("read a run")?
        .ok_or_else(|| StoreFailure::no_run(run))?;
        Self::of(&row)
    }

    fn of(row: &SqliteRow) -> Result<Self, StoreFailure> {
        Ok(Self {
            no: row.int("no")?,
            seq: count(row.int("seq")?),
            status: parse_status(&row.text("status")?)?,
            lease: Lease::of(row)?,
        })
    }

    pub(crate) fn is_owned_by(&self, owner: &str) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.owner == owner)
    }
}

/// An event without its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) key: &'a str,
    pub(crate) kind: &'a EventKind,
    pub(crate) at_ms: u64,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appended {
    New,
    /// The key was there already: nothing changed.
    Known,
}

/// What is there before an event is appended.
#[derive(Debug)]
pub(crate) struct Before {
    is_known: bool,
    /// The fold and the row of the run table, where the event changes them.
    folded: Option<(String, String)>,
}

impl Before {
    const COLUMNS: &str = "SELECT no, seq, status, lease_owner, lease_until_ms, \
         EXISTS (SELECT 1 FROM events WHERE run_no = runs.no AND key = ?1) AS is_known, \
         CASE WHEN ?2 THEN view_json END AS view_json, CASE WHEN ?2 THEN summary_json END AS summary_json \
         FROM runs JOIN run_documents ON run_documents.run_no = runs.no WHERE runs.id = ?3";

    /// Reads it together with the run's head.
    pub(crate) async fn load(
        conn: &mut SqliteConnection,
        run: &RunId,
        event: NewEvent<'_>,
    ) -> Result<(RunHead, Self), StoreFailure> {
        let row = sqlx::query(Self::COLUMNS)
            .bind(event.key)
            .bind(is_folded(event.kind))
            .bind(run.as_str())
            .fetch_optional(conn)
            .await
            .doing("read a run")?
            .ok_or_else(|| StoreFailure::no_run(run))?;
        let folded = row.text_or_null("view_json")?.zip(row.text_or_null("summary_json")?);
        Ok((RunHead::of(&row)?, Self { is_known: row.int("is_known")? != 0, folded }))
    }
}

/// Appends an event once and updates what is folded from it. `spend` is the run's total, when known. `head` and
/// `before` must have been read in the transaction of `conn`.
pub(crate) async fn append(
    conn: &mut SqliteConnection,
    (head, before): (&RunHead, &Before),
    event: NewEvent<'_>,
    spend: Option<&SpendByRole>,
) -> Result<Appended, StoreFailure> {
    if before.is_known {
        return Ok(Appended::Known);
    }
    let (seq, mut script) = (head.seq + 1, Script::default());
    insert_event(&mut script, head.no, seq, event)?;
    if let Some(spend) = spend {
        store_spend(&mut script, head.no, spend)?;
    }
    touch(&mut script, head.no, seq);
    if let Some((view, summary)) = &before.folded {
        let event = RunEvent {
            seq,
            at_ms: event.at_ms,
            key: event.key.to_owned(),
            kind: event.kind.clone(),
        };
        let mut view: RunView = from_json("a run's fold", view)?;
        fold(&mut script, head.no, &mut view, &event)?;
        summary::store(conn, &mut script, (head.no, summary), &view, &event).await?;
    }
    script.run(conn, "append an event").await?;
    Ok(Appended::New)
}

/// Events whose statements run together.
const CHUNK: usize = 32;

/// Appends many events of a run that nobody works on, each once, with one load of the fold and one write of it. Of events with
/// the same key the first counts. Says how many were new.
pub(crate) async fn append_all(
    conn: &mut SqliteConnection,
    run: &RunId,
    events: &[NewEvent<'_>],
) -> Result<u32, StoreFailure> {
    let action = "append events";
    let head = RunHead::load(conn, run).await?;
    let known = known_keys(conn, run).await?;
    let mut seen = HashSet::new();
    let is_new =
        |event: &&NewEvent<'_>| !known.contains(event.key) && seen.insert(event.key.to_owned());
    let new: Vec<&NewEvent<'_>> = events.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(0);
    }
    let mut view = stored_view(conn, head.no).await?;
    let mut seq = head.seq;
    for chunk in new.chunks(CHUNK) {
        let mut script = Script::default();
        for event in chunk {
            seq += 1;
            insert_event(&mut script, head.no, seq, **event)?;
            if is_folded(event.kind) {
                let (key, kind) = (event.key.to_owned(), event.kind.clone());
                let event = RunEvent { seq, at_ms: event.at_ms, key, kind };
                apply(&mut script, head.no, &mut view, &event)?;
            }
        }
        script.run(conn, action).await?;
    }
    let mut script = Script::default();
    store_view(&mut script, head.no, &view)?;
    summary::store_whole(conn, &mut script, head.no, &view).await?;
    touch(&mut script, head.no, seq);
    script.run(conn, action).await?;
    Ok(u32::try_from(new.len()).unwrap_or(u32::MAX))
}

/// Keys of the journal of a run; none when there is no such run.
pub(crate) async fn known_keys(
    conn: &mut SqliteConnection,
    run: &RunId,
) -> Result<HashSet<String>, StoreFailure> {
    let keys: Vec<String> = sqlx::query_scalar(
        "SELECT key FROM events WHERE run_no = (SELECT no FROM runs WHERE id = ?)",
    )
    .bind(run.as_str())
    .fetch_all(conn)
    .await
    .doing("read a run's journal")?;
    Ok(keys.into_iter().collect())
}

/// The fold as stored: without steps, versions, spend and progress, which have their own places.
pub(crate) async fn stored_view(
    conn: &mut SqliteConnection,
    run_no: i64,
) -> Result<RunView, StoreFailure> {
    let text: String = sqlx::query_scalar("SELECT view_json FROM run_documents WHERE run_no = ?")
        .bind(run_no)
        .fetch_one(conn)
        .await
        .doing("read a run's fold")?;
    from_json("a run's fold", &text)
}

pub(crate) fn store_spend(
    script: &mut Script,
    run_no: i64,
    spend: &SpendByRole,
) -> Result<(), StoreFailure> {
    script
        .statement("UPDATE runs SET spend_json = ?, cost_usd_micros = ? WHERE no = ?")
        .bind(to_json(spend)?)
        .bind(spend.total().known_cost_usd_micros().map(int))
        .bind(run_no);
    Ok(())
}

/// Notes that the run changed, for those who poll.
pub(crate) fn touch(script: &mut Script, run_no: i64, seq: u64) {
    script
        .statement(
            "UPDATE runs SET seq = ?, changed = (SELECT max(changed) + 1 FROM runs) WHERE no = ?",
        )
        .bind(int(seq))
        .bind(run_no);
}

fn insert_event(
    script: &mut Script,
    run_no: i64,
    seq: u64,
    event: NewEvent<'_>,
) -> Result<(), StoreFailure> {
    script
        .statement(
            "INSERT INTO events (run_no, seq, key, at_ms, type, step, kind_json) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(run_no)
        .bind(int(seq))
        .bind(event.key)
        .bind(int(event.at_ms))
        .bind(type_word(event.kind))
        .bind(event.kind.step())
        .bind(to_json(event.kind)?);
    Ok(())
}

/// Events that the fold looks at. The others only take a number.
fn is_folded(kind: &EventKind) -> bool {
    match kind {
        EventKind::Status { .. }
        | EventKind::Planned(_)
        | EventKind::PhaseStarted(_)
        | EventKind::Baseline(_)
        | EventKind::StepFinished(_)
        | EventKind::Compared(_)
        | EventKind::SlowUpdated(_)
        | EventKind::MetaSkillWritten(_)
        | EventKind::FinalSelected(_)
        | EventKind::Tested { .. }
        | EventKind::Adapted { .. }
        | EventKind::EndpointDown(_)
        | EventKind::EndpointUp { .. }
        | EventKind::Warning { .. } => true,
        EventKind::PromptsChosen { .. }
        | EventKind::PreflightPassed { .. }
        | EventKind::RolledOut { .. }
        | EventKind::Reflected { .. }
        | EventKind::Aggregated { .. }
        | EventKind::LrDecided { .. }
        | EventKind::Selected { .. }
        | EventKind::Rewritten { .. }
        | EventKind::Noted { .. }
        | EventKind::Updated { .. }
        | EventKind::Gated { .. } => false,
    }
}

fn type_word(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Status { .. } => "status",
        EventKind::Planned(_) => "planned",
        EventKind::PromptsChosen { .. } => "prompts_chosen",
        EventKind::PreflightPassed { .. } => "preflight_passed",
        EventKind::PhaseStarted(_) => "phase_started",
        EventKind::Baseline(_) => "baseline",
        EventKind::RolledOut { .. } => "rolled_out",
        EventKind::Reflected { .. } => "reflected",
        EventKind::Aggregated { .. } => "aggregated",
        EventKind::LrDecided { .. } => "lr_decided",
        EventKind::Selected { .. } => "selected",
        EventKind::Rewritten { .. } => "rewritten",
        EventKind::Noted { .. } => "noted",
        EventKind::Compared(_) => "compared",
        EventKind::SlowUpdated(_) => "slow_updated",
        EventKind::MetaSkillWritten(_) => "meta_skill_written",
        EventKind::FinalSelected(_) => "final_selected",
        EventKind::Updated { .. } => "updated",
        EventKind::Gated { .. } => "gated",
        EventKind::StepFinished(_) => "step_finished",
        EventKind::Tested { .. } => "tested",
        EventKind::Adapted { .. } => "adapted",
        EventKind::EndpointDown(_) => "endpoint_down",
        EventKind::EndpointUp { .. } => "endpoint_up",
        EventKind::Warning { .. } => "warning",
    }
}

/// Applies an event to the fold and writes what comes of it, the row of the run table left out.
fn fold(
    script: &mut Script,
    run_no: i64,
    view: &mut RunView,
    event: &RunEvent,
) -> Result<(), StoreFailure> {
    apply(script, run_no, view, event)?;
    store_view(script, run_no, view)
}

/// Applies an event to the fold and writes the rows that come of it.
fn apply(
    script: &mut Script,
    run_no: i64,
    view: &mut RunView,
    event: &RunEvent,
) -> Result<(), StoreFailure> {
    view.apply(event);
    // The stored fold has no versions, so what is there now is new.
    for version in std::mem::take(&mut view.versions) {
        tables::insert_version(script, run_no, &version);
    }
    view.steps.clear();
    match &event.kind {
        EventKind::Baseline(measured) => {
            tables::measure_first_version(script, run_no, measured);
        }
        EventKind::StepFinished(step) => tables::insert_step(script, run_no, step)?,
        _ => {}
    }
    Ok(())
}

fn store_view(script: &mut Script, run_no: i64, view: &RunView) -> Result<(), StoreFailure> {
    script
        .statement("UPDATE run_documents SET view_json = ? WHERE run_no = ?")
        .bind(to_json(view)?)
        .bind(run_no);
    Ok(())
}
