//! Trajectories: rows by filter, and one with its conversation.

use crate::error::StoreFailure;
use crate::imports;
use crate::open::Store;
use crate::outcomes;
use crate::reading::run_no;
use crate::sql::{Column, Doing, count, hash, int, small};
use skillopt_domain::api::{
    Page, Trajectory, TrajectoryMessage, TrajectoryPage, TrajectoryPair, TrajectoryQuery,
    TrajectoryRow, TrajectoryStep,
};
use skillopt_domain::diff::diff;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::{OutcomeCounts, OutcomeKind};
use skillopt_engine::ports::{AgentStep, RecordedCall, Speaker};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;
const ROW: &str = "SELECT outcomes.*, rollout_sets.key AS set_key, rollout_sets.skill AS skill \
     FROM outcomes JOIN rollout_sets ON rollout_sets.id = outcomes.set_id ";

impl Store {
    /// Rows that match, in the order in which they were kept, with counts for the outcome filter.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], [`StoreFailure::BadQuery`] for a wrong cursor, or the store cannot be read.
    pub async fn trajectories(
        &self,
        run: &RunId,
        query: &TrajectoryQuery,
    ) -> Result<TrajectoryPage, StoreFailure> {
        let mut conn = self.read("read trajectories").await?;
        let run_no = run_no(&mut conn, run).await?;
        let by_kind = count_by_kind(&mut conn, run_no, query).await?;
        let total = by_kind
            .iter()
            .filter(|(kind, _)| query.outcome.is_none_or(|wanted| wanted.kinds().contains(kind)))
            .map(|(_, n)| *n)
            .sum();
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let mut items = read_page(&mut conn, run_no, query, limit + 1).await?;
        let more = items.len() > usize::try_from(limit).unwrap_or(usize::MAX);
        items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let next = items.last().filter(|_| more).map(|row| row.id.to_string());
        Ok(TrajectoryPage { page: Page { items, next, total }, counts: counts_of(&by_kind) })
    }

    /// One trajectory with its conversation.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`] for an unknown run or number, or the store cannot be read.
    pub async fn trajectory(&self, run: &RunId, id: u64) -> Result<Trajectory, StoreFailure> {
        let mut conn = self.read("read a trajectory").await?;
        let run_no = run_no(&mut conn, run).await?;
        let mut select = QueryBuilder::<Sqlite>::new(ROW);
        select.push("WHERE outcomes.run_no = ").push_bind(run_no);
        select.push(" AND outcomes.id = ").push_bind(int(id));
        let row = select.build().fetch_optional(&mut *conn).await.doing("read a trajectory")?;
        let row =
            row.ok_or_else(|| StoreFailure::NotFound { what: "trajectory", id: id.to_string() })?;
        let row = row_of(&row)?;
        let messages = match row.outcome.call {
            Some(_) => Vec::new(),
            None => imports::conversation(&mut conn, int(row.id)).await?,
        };
        drop(conn);
        let call = match &row.outcome.call {
            Some(key) => self.find_call(key).await?,
            None => None,
        };
        Ok(with_call(row, messages, call))
    }

    /// Two attempts at one task, with the difference of the skills in use.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`] for an unknown run or number, [`StoreFailure::BadQuery`] for attempts at different
    /// tasks, or the store cannot be read.
    pub async fn trajectory_pair(
        &self,
        run: &RunId,
        left: u64,
        right: u64,
    ) -> Result<TrajectoryPair, StoreFailure> {
        let (left, right) = (self.trajectory(run, left).await?, self.trajectory(run, right).await?);
        let (one, other) = (&left.row.outcome.task, &right.row.outcome.task);
        if one != other {
            let message = format!(
                "the trajectories are of the tasks {one} and {other}; two of one task are compared"
            );
            return Err(StoreFailure::BadQuery { message });
        }
        let old = self.skill_text(&left.row.skill).await?;
        let new = self.skill_text(&right.row.skill).await?;
        let skill = old.zip(new).map(|(old, new)| diff(&old, &new));
        Ok(TrajectoryPair { same: same_messages(&left, &right), left, right, skill })
    }
}

/// Places of the messages that are the same in both, from 0.
fn same_messages(left: &Trajectory, right: &Trajectory) -> Vec<u32> {
    let pairs = (0..).zip(left.messages.iter().zip(&right.messages));
    pairs.filter(|(_, (left, right))| left == right).map(|(at, _)| at).collect()
}

async fn count_by_kind(
    conn: &mut SqliteConnection,
    run_no: i64,
    query: &TrajectoryQuery,
) -> Result<Vec<(OutcomeKind, u64)>, StoreFailure> {
    let mut select = QueryBuilder::<Sqlite>::new("SELECT kind, count(*) FROM outcomes ");
    push_filters(&mut select, run_no, query);
    select.push(" GROUP BY kind");
    let rows: Vec<(String, i64)> =
        select.build_query_as().fetch_all(conn).await.doing("count trajectories")?;
    rows.into_iter()
        .map(|(word, n)| {
            let kind = OutcomeKind::parse(&word)
                .ok_or_else(|| StoreFailure::corrupt("an outcome", format!("kind {word:?}")))?;
            Ok((kind, count(n)))
        })
        .collect()
}

fn counts_of(by_kind: &[(OutcomeKind, u64)]) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    for (kind, n) in by_kind {
        let n = u32::try_from(*n).unwrap_or(u32::MAX);
        match kind {
            OutcomeKind::Passed => counts.passed += n,
            OutcomeKind::Failed => counts.failed += n,
            OutcomeKind::Refused => counts.refused += n,
            OutcomeKind::InfraError | OutcomeKind::JudgeError => counts.errors += n,
        }
    }
    counts
}

async fn read_page(
    conn: &mut SqliteConnection,
    run_no: i64,
    query: &TrajectoryQuery,
    limit: u32,
) -> Result<Vec<TrajectoryRow>, StoreFailure> {
    let mut select = QueryBuilder::<Sqlite>::new(ROW);
    push_filters(&mut select, run_no, query);
    if let Some(wanted) = query.outcome {
        let mut kinds = select.push(" AND outcomes.kind IN (").separated(", ");
        for kind in wanted.kinds() {
            kinds.push_bind(kind.as_str());
        }
        select.push(")");
    }
    if let Some(cursor) = &query.cursor {
        let after: i64 = cursor.parse().map_err(|_| StoreFailure::BadQuery {
            message: format!("{cursor:?} is no cursor of this list"),
        })?;
        select.push(" AND outcomes.id > ").push_bind(after);
    }
    select.push(" ORDER BY outcomes.id LIMIT ").push_bind(limit);
    let rows = select.build().fetch_all(conn).await.doing("read trajectories")?;
    rows.iter().map(row_of).collect()
}

/// All filters but the outcome's.
fn push_filters(select: &mut QueryBuilder<Sqlite>, run_no: i64, query: &TrajectoryQuery) {
    select.push("WHERE outcomes.run_no = ").push_bind(run_no);
    if let Some(purpose) = query.purpose {
        select.push(" AND outcomes.purpose = ").push_bind(purpose.as_str());
    }
    if let Some(step) = query.step {
        select.push(" AND outcomes.step = ").push_bind(step);
    }
    if let Some(task) = &query.task {
        select.push(" AND outcomes.task = ").push_bind(task.clone());
    }
    if let Some(set) = &query.set {
        select
            .push(" AND outcomes.set_id = (SELECT id FROM rollout_sets WHERE run_no = ")
            .push_bind(run_no)
            .push(" AND key = ")
            .push_bind(set.clone())
            .push(")");
    }
    if let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        let pattern = format!("%{}%", escape_like(text));
        select
            .push(" AND (outcomes.task LIKE ")
            .push_bind(pattern.clone())
            .push(" ESCAPE '\\' OR outcomes.title LIKE ")
            .push_bind(pattern.clone())
            .push(" ESCAPE '\\' OR outcomes.predicted LIKE ")
            .push_bind(pattern)
            .push(" ESCAPE '\\')");
    }
}

pub(crate) fn escape_like(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn row_of(row: &SqliteRow) -> Result<TrajectoryRow, StoreFailure> {
    Ok(TrajectoryRow {
        id: count(row.int("id")?),
        set: row.text("set_key")?,
        purpose: outcomes::purpose(row)?,
        step: small(row.int("step")?),
        skill: hash(&row.text("skill")?)?,
        outcome: outcomes::task_outcome(row)?,
    })
}

/// `said` is what an imported attempt brought along.
fn with_call(
    row: TrajectoryRow,
    said: Vec<TrajectoryMessage>,
    call: Option<RecordedCall>,
) -> Trajectory {
    let Some(call) = call else {
        return Trajectory {
            row,
            messages: said,
            steps: Vec::new(),
            prompt_tokens: None,
            completion_tokens: None,
            latency_ms: None,
            attempts: None,
        };
    };
    let mut messages: Vec<TrajectoryMessage> = call
        .messages
        .into_iter()
        .map(|message| TrajectoryMessage {
            role: speaker_word(message.role).to_owned(),
            content: message.content,
        })
        .collect();
    messages.push(TrajectoryMessage {
        role: speaker_word(Speaker::Assistant).to_owned(),
        content: call.reply.text,
    });
    let steps = call.reply.steps.into_iter();
    let steps = steps
        .map(|AgentStep { kind, text, result }| TrajectoryStep { kind, text, result })
        .collect();
    Trajectory {
        row,
        messages,
        steps,
        prompt_tokens: call.reply.usage.map(|usage| usage.prompt_tokens),
        completion_tokens: call.reply.usage.map(|usage| usage.completion_tokens),
        latency_ms: Some(call.reply.latency_ms),
        attempts: Some(call.reply.attempts),
    }
}

fn speaker_word(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    }
}
