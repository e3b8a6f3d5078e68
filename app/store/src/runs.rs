//! Runs: made once, found by id or by run folder.

use crate::audit::{self, AuditRow};
use crate::error::StoreFailure;
use crate::fold::{self, Before, NewEvent, RunHead};
use crate::lease::{Lease, LeaseTerm};
use crate::lifecycle::Command;
use crate::live::Signal;
use crate::open::Store;
use crate::origins;
use crate::sql::{Column, Doing, count, from_json, int, to_json};
use skillopt_domain::api::RunSummary;
use skillopt_domain::config::{ModelRole, Resolved, RunConfig};
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::{OriginKind, RunOrigin};
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_domain::spend::{Role, SpendByRole};
use skillopt_domain::view::RunView;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A run to be made.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// A name for people.
    pub name: String,
    /// The checked config.
    pub config: Resolved,
    /// Where the run folder is.
    pub out_root: String,
    /// Who starts it.
    pub actor: String,
    /// The word of `--fresh`.
    pub fresh: Option<String>,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// Takes the lease at once, so that nobody else picks the run up.
    pub lease: Option<LeaseTerm>,
}

/// What a host needs to know to run it, first or again.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// Its name.
    pub name: String,
    /// The state.
    pub status: RunStatus,
    /// Why, where there is something to say.
    pub detail: Option<String>,
    /// The checked config.
    pub config: Resolved,
    /// Where the run folder is.
    pub out_root: String,
    /// Who started it.
    pub actor: String,
    /// The word of `--fresh`.
    pub fresh: Option<String>,
    /// When it was made.
    pub created_at_ms: u64,
    /// Spend of all attempts so far.
    pub spend: SpendByRole,
    /// Working time of all attempts so far, in milliseconds.
    pub active_ms: u64,
    /// Who works on it.
    pub lease: Option<Lease>,
    /// What a person asked for and the owner has not taken yet.
    pub command: Option<Command>,
    /// Number of the last event.
    pub seq: u64,
}

const INSERT: &str = "INSERT INTO runs (id, name, status, created_at_ms, search, changed, lease_owner, \
     lease_until_ms, out_root, actor, fresh, spend_json, summary_json) \
     VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(changed), 0) + 1 FROM runs), ?, ?, ?, ?, ?, ?, ?)";

impl Store {
    /// Makes a run in the state `queued`.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn create_run(&self, run: &NewRun) -> Result<(), StoreFailure> {
        self.create(run, None).await
    }

    /// Makes a run in the state `queued` that starts from another one.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn create_run_from(
        &self,
        run: &NewRun,
        origin: &RunOrigin,
    ) -> Result<(), StoreFailure> {
        self.create(run, Some(origin)).await
    }

    async fn create(&self, run: &NewRun, origin: Option<&RunOrigin>) -> Result<(), StoreFailure> {
        let action = "create a run";
        let mut tx = self.write(action).await?;
        let run_no = insert(&mut tx, run).await?;
        if let Some(origin) = origin {
            origins::insert(&mut tx, run_no, origin).await?;
        }
        let queued = EventKind::Status { status: RunStatus::Queued, detail: None };
        let event = NewEvent { key: "status/1", kind: &queued, at_ms: run.created_at_ms };
        let (head, before) = Before::load(&mut tx, &run.id, event).await?;
        fold::append(&mut tx, (&head, &before), event, None).await?;
        let row = AuditRow {
            at_ms: run.created_at_ms,
            actor: run.actor.clone(),
            action: match origin.map(|origin| origin.kind) {
                None => "create_run",
                Some(OriginKind::Rerun) => "rerun",
                Some(OriginKind::Fork) => "fork_run",
            }
            .into(),
            subject: run.id.to_string(),
            detail: match origin {
                None => run.name.clone(),
                Some(origin) => format!("{}: {} ({})", run.name, origin.words(), origin.run),
            },
        };
        audit::insert(&mut tx, &row).await?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.id.clone()));
        Ok(())
    }

    /// A run as its host needs it.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn run_row(&self, run: &RunId) -> Result<RunRow, StoreFailure> {
        let row = sqlx::query(
            "SELECT runs.*, run_documents.config_json FROM runs \
             JOIN run_documents ON run_documents.run_no = runs.no WHERE runs.id = ?",
        )
        .bind(run.as_str())
        .fetch_optional(self.reader())
        .await
        .doing("read a run")?;
        row_of(&row.ok_or_else(|| StoreFailure::no_run(run))?)
    }

    /// Puts another config in the place of a run's own, such as one with higher caps. Says `false`, and writes
    /// nothing, when the run cannot start from its state, another process has its lease, or its config is not the
    /// one that the change was made from.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read or written.
    pub async fn replace_config(
        &self,
        run: &RunId,
        (old, config): (&Resolved, &Resolved),
        owner: &str,
        audit: &AuditRow,
    ) -> Result<bool, StoreFailure> {
        let action = "change a run's config";
        let mut tx = self.write(action).await?;
        let head = RunHead::load(&mut tx, run).await?;
        let is_held = head
            .lease
            .as_ref()
            .is_some_and(|lease| lease.owner != owner && lease.until_ms >= audit.at_ms);
        let stored: String =
            sqlx::query_scalar("SELECT config_json FROM run_documents WHERE run_no = ?")
                .bind(head.no)
                .fetch_one(&mut *tx)
                .await
                .doing(action)?;
        let stored: Resolved = from_json("a run's config", &stored)?;
        if is_held || head.status.after(RunTransition::Start).is_err() || stored != *old {
            return Ok(false);
        }
        sqlx::query("UPDATE run_documents SET config_json = ? WHERE run_no = ?")
            .bind(to_json(config)?)
            .bind(head.no)
            .execute(&mut *tx)
            .await
            .doing(action)?;
        audit::insert(&mut tx, audit).await?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(run.clone()));
        Ok(true)
    }

    /// The newest run of a run folder.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn find_run_by_out_root(
        &self,
        out_root: &str,
    ) -> Result<Option<RunId>, StoreFailure> {
        let id: Option<String> =
            sqlx::query_scalar("SELECT id FROM runs WHERE out_root = ? ORDER BY no DESC LIMIT 1")
                .bind(out_root)
                .fetch_optional(self.reader())
                .await
                .doing("look for a run folder")?;
        id.as_deref().map(parse_id).transpose()
    }

    /// The row of the run table.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn run_summary(&self, run: &RunId) -> Result<RunSummary, StoreFailure> {
        let row =
            sqlx::query("SELECT summary_json, spend_json, progress_json FROM runs WHERE id = ?")
                .bind(run.as_str())
                .fetch_optional(self.reader())
                .await
                .doing("read a run")?;
        summary_of(&row.ok_or_else(|| StoreFailure::no_run(run))?)
    }
}

/// Reads the columns `summary_json`, `spend_json` and `progress_json`.
pub(crate) fn summary_of(row: &SqliteRow) -> Result<RunSummary, StoreFailure> {
    let mut summary: RunSummary = from_json("a run's row", &row.text("summary_json")?)?;
    summary.spend = from_json("a run's spend", &row.text("spend_json")?)?;
    if let Some(progress) = progress_of(row)?.filter(|_| summary.status.is_live()) {
        summary.phase = Some(progress.phase);
    }
    Ok(summary)
}

pub(crate) fn progress_of(row: &SqliteRow) -> Result<Option<Progress>, StoreFailure> {
    let text = row.text_or_null("progress_json")?;
    text.map(|text| from_json("a run's progress", &text)).transpose()
}

pub(crate) fn parse_id(text: &str) -> Result<RunId, StoreFailure> {
    RunId::parse(text).map_err(|err| StoreFailure::corrupt(format!("the run id {text:?}"), err))
}

pub(crate) fn parse_status(word: &str) -> Result<RunStatus, StoreFailure> {
    RunStatus::parse(word)
        .ok_or_else(|| StoreFailure::corrupt("a run's state", format!("{word:?}")))
}

/// What the search box looks in.
pub(crate) fn search_text(summary: &RunSummary) -> String {
    [&summary.name, &summary.benchmark, &summary.target_model, &summary.optimizer_model]
        .map(|text| text.to_lowercase())
        .join("\n")
}

/// Inserts the row of a run in the state `queued`, without an event, and says its number.
pub(crate) async fn insert(conn: &mut SqliteConnection, run: &NewRun) -> Result<i64, StoreFailure> {
    let action = "create a run";
    let summary = first_summary(run);
    let until_ms = run.lease.as_ref().map(|term| int(run.created_at_ms + term.ttl_ms));
    let no = sqlx::query(INSERT)
        .bind(run.id.as_str())
        .bind(run.name.as_str())
        .bind(RunStatus::Queued.as_str())
        .bind(int(run.created_at_ms))
        .bind(search_text(&summary))
        .bind(run.lease.as_ref().map(|term| term.owner.as_str()))
        .bind(until_ms)
        .bind(run.out_root.as_str())
        .bind(run.actor.as_str())
        .bind(run.fresh.as_deref())
        .bind(to_json(&summary.spend)?)
        .bind(to_json(&summary)?)
        .execute(&mut *conn)
        .await
        .doing(action)?
        .last_insert_rowid();
    sqlx::query("INSERT INTO run_documents (run_no, config_json, view_json) VALUES (?, ?, ?)")
        .bind(no)
        .bind(to_json(&run.config)?)
        .bind(to_json(&RunView::default())?)
        .execute(conn)
        .await
        .doing(action)?;
    Ok(no)
}

/// The row before anything happened: models and benchmark as the config names them.
fn first_summary(run: &NewRun) -> RunSummary {
    let config = RunConfig::from_resolved(&run.config).ok();
    let model = |role| config.as_ref().map(|config| config.role(role));
    let name = |role| model(role).map(|model| model.model.clone()).unwrap_or_default();
    let is_simulated = |role| model(role).is_some_and(ModelRole::is_simulated);
    RunSummary {
        id: run.id.clone(),
        name: run.name.clone(),
        status: RunStatus::Queued,
        detail: None,
        benchmark: config.as_ref().map(|config| config.env.name.clone()).unwrap_or_default(),
        target_model: name(Role::Target),
        optimizer_model: name(Role::Optimizer),
        target_simulated: is_simulated(Role::Target),
        optimizer_simulated: is_simulated(Role::Optimizer),
        created_at_ms: run.created_at_ms,
        started_at_ms: None,
        ended_at_ms: None,
        phase: None,
        n_steps: 0,
        total_steps: None,
        n_accepted: 0,
        n_rejected: 0,
        baseline_score: None,
        best_score: None,
        n_selection: None,
        test_initial: None,
        test_best: None,
        spark: Vec::new(),
        spend: SpendByRole::default(),
        out_root: run.out_root.clone(),
        actor: run.actor.clone(),
    }
}

fn row_of(row: &SqliteRow) -> Result<RunRow, StoreFailure> {
    let summary: RunSummary = from_json("a run's row", &row.text("summary_json")?)?;
    Ok(RunRow {
        id: summary.id,
        name: summary.name,
        status: parse_status(&row.text("status")?)?,
        detail: summary.detail,
        config: from_json("a run's config", &row.text("config_json")?)?,
        out_root: summary.out_root,
        actor: summary.actor,
        fresh: row.text_or_null("fresh")?,
        created_at_ms: summary.created_at_ms,
        spend: from_json("a run's spend", &row.text("spend_json")?)?,
        active_ms: count(row.int("active_ms")?),
        lease: Lease::of(row)?,
        command: row.text_or_null("command")?.as_deref().map(Command::parse).transpose()?,
        seq: count(row.int("seq")?),
    })
}
