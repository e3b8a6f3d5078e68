//! The SQL of many calls at once. Each batch is one command for SQLite's thread: waking it costs more than the
//! statements do.

use super::prepared::Prepared;
use super::reply_of;
use crate::blobs::Blob;
use crate::error::StoreFailure;
use crate::sql::{Column, Doing, int};
use futures::TryStreamExt;
use skillopt_domain::hash::Sha256Hex;
use skillopt_engine::ports::{ChatReply, Finish, StoreError};
use sqlx::{Executor, QueryBuilder, Sqlite, SqliteConnection};
use std::collections::{HashMap, HashSet};

/// Rows of one statement.
const CHUNK: usize = 32;

const BLOBS: &str = "INSERT INTO blobs (hash, codec, size, bytes) SELECT * FROM (";
const CALLS: &str = "INSERT INTO calls (key, role, purpose, model, finish, reply, messages, prompt_tokens, \
     completion_tokens, cost_usd_micros, latency_ms, attempts, adaptations, \
     cached_prompt_tokens, reasoning_tokens, beside, run) SELECT * FROM (";
/// Leaves out the rows that only fill a statement up. What is there already stays.
const NEW_ONLY: &str = ") WHERE column1 IS NOT NULL ON CONFLICT DO NOTHING;";

/// The recorded replies among these keys. One that cannot be read fails alone, by its key.
pub(super) async fn find(
    conn: &mut SqliteConnection,
    keys: &[&Sha256Hex],
) -> Result<HashMap<String, Result<ChatReply, StoreError>>, StoreFailure> {
    let mut found = HashMap::new();
    for chunk in keys.chunks(CHUNK) {
        let mut select = QueryBuilder::<Sqlite>::new(super::FIND);
        select.push(" IN (");
        let mut list = select.separated(", ");
        for key in filled(chunk) {
            list.push_bind(key.map(|key| key.as_str()));
        }
        select.push(")");
        let rows = select.build().fetch_all(&mut *conn).await.doing("look for calls")?;
        for row in rows {
            let key = row.text("key")?;
            let reply = reply_of(&row)
                .map_err(|error| StoreError { message: format!("call {key}: {error}") });
            found.insert(key, reply);
        }
    }
    Ok(found)
}

/// Writes calls whose keys are new with their texts, all or none, and counts them.
pub(super) async fn record(
    conn: &mut SqliteConnection,
    calls: &[Prepared],
) -> Result<u64, sqlx::Error> {
    let mut sql = QueryBuilder::<Sqlite>::new("BEGIN IMMEDIATE;");
    let mut seen = HashSet::new();
    let blobs: Vec<&Blob> =
        calls.iter().flat_map(|call| &call.blobs).filter(|blob| seen.insert(&blob.hash)).collect();
    let mut before_calls = 1;
    for chunk in blobs.chunks(CHUNK) {
        push_blobs(&mut sql, chunk);
        before_calls += 1;
    }
    let mut of_calls = 0;
    for chunk in calls.chunks(CHUNK) {
        push_calls(&mut sql, chunk);
        of_calls += 1;
    }
    sql.push("COMMIT");
    let written: Result<Vec<u64>, sqlx::Error> = (&mut *conn)
        .fetch_many(sql.build())
        .try_filter_map(async |done| Ok(done.left().map(|done| done.rows_affected())))
        .try_collect()
        .await;
    match written {
        Ok(written) => Ok(written.iter().skip(before_calls).take(of_calls).sum()),
        Err(error) => {
            // Fails when nothing was begun; then there is nothing to take back.
            let _ = sqlx::query("ROLLBACK").execute(conn).await;
            Err(error)
        }
    }
}

fn push_blobs(sql: &mut QueryBuilder<Sqlite>, blobs: &[&Blob]) {
    sql.push(BLOBS);
    sql.push_values(filled(blobs), |mut row, blob| {
        row.push_bind(blob.map(|blob| blob.hash.as_str()))
            .push_bind(blob.map(|blob| blob.codec))
            .push_bind(blob.map(|blob| blob.size))
            .push_bind(blob.map(|blob| blob.bytes.as_slice()));
    });
    sql.push(NEW_ONLY);
}

fn push_calls(sql: &mut QueryBuilder<Sqlite>, calls: &[Prepared]) {
    sql.push(CALLS);
    sql.push_values(filled(calls), |mut row, call| {
        let reply = call.map(|call| &call.reply);
        let usage = reply.and_then(|reply| reply.usage);
        row.push_bind(call.map(|call| call.key.as_str()))
            .push_bind(call.map(|call| call.role))
            .push_bind(call.map(|call| call.purpose))
            .push_bind(call.map(|call| call.model.as_str()))
            .push_bind(reply.map(|reply| finish_word(reply.finish)))
            .push_bind(call.map(|call| call.reply_hash.as_str()))
            .push_bind(call.map(|call| call.messages_json.as_str()))
            .push_bind(usage.map(|usage| int(usage.prompt_tokens)))
            .push_bind(usage.map(|usage| int(usage.completion_tokens)))
            .push_bind(reply.and_then(|reply| reply.cost_usd_micros).map(int))
            .push_bind(reply.map(|reply| int(reply.latency_ms)))
            .push_bind(reply.map(|reply| reply.attempts))
            .push_bind(call.map(|call| call.adaptations_json.as_str()))
            .push_bind(usage.and_then(|usage| usage.cached_prompt_tokens).map(int))
            .push_bind(usage.and_then(|usage| usage.reasoning_tokens).map(int))
            .push_bind(call.and_then(|call| call.beside_json.as_deref()))
            .push_bind(call.and_then(|call| call.run.as_deref()));
    });
    sql.push(NEW_ONLY);
}

/// Rows filled up to a power of two with empty ones, so that few different statements are prepared.
fn filled<T>(rows: &[T]) -> impl Iterator<Item = Option<&T>> {
    let empty = rows.len().next_power_of_two() - rows.len();
    rows.iter().map(Some).chain(std::iter::repeat_n(None, empty))
}

fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Refused => "refused",
    }
}
