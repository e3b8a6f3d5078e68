//! OpenCode: the database `opencode.db`. Sessions below others, hidden parts and results of tools are left out.

use super::database::{self, Head, Schema, text, time};
use super::files::Known;
use super::json::{Scalar, Shape};
use super::report::DropReason;
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Instant, Source, Yielded, own};
use rusqlite::Connection;
use serde::Deserialize;

/// Reads the store of OpenCode.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    match &options.homes.opencode {
        Some(path) => database::harvest(Source::Opencode, &Opencode, path, rules, known),
        None => Yielded::not_configured(Source::Opencode),
    }
}

struct Opencode;

/// What a message says of itself.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    #[serde(borrow)]
    error: Shape<'a, Empty>,
}

#[derive(Default, Deserialize)]
struct Empty {}

/// A part of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    #[serde(borrow)]
    text: Scalar<'a>,
    #[serde(borrow)]
    tool: Scalar<'a>,
    #[serde(borrow)]
    synthetic: Scalar<'a>,
    #[serde(borrow)]
    ignored: Scalar<'a>,
}

/// What is kept beside a session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    git_branch: Scalar<'a>,
}

impl Schema for Opencode {
    fn needs(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[
            ("session", &["id", "parent_id", "directory", "agent", "time_created", "time_updated"]),
            ("message", &["id", "session_id", "time_created", "data"]),
            ("part", &["id", "message_id", "session_id", "time_created", "data"]),
        ]
    }

    fn heads(&self, database: &Connection) -> rusqlite::Result<Vec<Head>> {
        let mut statement = database.prepare("SELECT id, time_updated FROM session")?;
        let heads = statement.query_map([], |row| {
            Ok(Head { id: text(row, 0), modified: time(row, 1).unwrap_or_default() })
        })?;
        heads.collect()
    }

    fn read(
        &self,
        database: &Connection,
        mut draft: Draft,
        id: &str,
        rules: &Rules,
    ) -> rusqlite::Result<Result<Draft, DropReason>> {
        let row = session(database, id)?;
        if !row.parent.is_empty() {
            return Ok(Err(DropReason::Subagent));
        }
        if own::is_own_agent(&row.agent) {
            return Ok(Err(DropReason::OwnCall));
        }
        if !is_absolute(&row.directory) {
            return Ok(Err(DropReason::NoProject));
        }
        let (Some(created), Some(updated)) = (row.created, row.updated) else {
            return Ok(Err(DropReason::Broken));
        };
        draft.enter(&row.directory);
        draft.see(Some(created));
        draft.see(Some(updated));
        draft.branch = branch(database, id).unwrap_or_default();
        let is_whole = read_messages(database, &mut draft, id, rules)?;
        Ok(if is_whole { Ok(draft) } else { Err(DropReason::Broken) })
    }
}

struct Session {
    parent: String,
    directory: String,
    agent: String,
    created: Option<Instant>,
    updated: Option<Instant>,
}

fn session(database: &Connection, id: &str) -> rusqlite::Result<Session> {
    let mut statement = database.prepare_cached(
        "SELECT parent_id, directory, agent, time_created, time_updated FROM session WHERE id = ?1",
    )?;
    statement.query_row([id], |row| {
        Ok(Session {
            parent: text(row, 0),
            directory: text(row, 1),
            agent: text(row, 2),
            created: time(row, 3),
            updated: time(row, 4),
        })
    })
}

/// Newer versions only have the column.
fn branch(database: &Connection, id: &str) -> Option<String> {
    let mut statement =
        database.prepare_cached("SELECT metadata FROM session WHERE id = ?1").ok()?;
    let metadata = statement.query_row([id], |row| Ok(text(row, 0))).ok()?;
    let metadata: Metadata<'_> = serde_json::from_str(&metadata).ok()?;
    Some(metadata.git_branch.text().to_owned())
}

/// Whether each message is what it should be.
fn read_messages(
    database: &Connection,
    draft: &mut Draft,
    id: &str,
    rules: &Rules,
) -> rusqlite::Result<bool> {
    let mut messages = database.prepare_cached(
        "SELECT id, time_created, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
    )?;
    let mut rows = messages.query([id])?;
    while let Some(row) = rows.next()? {
        let (message_id, at, data) = (text(row, 0), time(row, 1), text(row, 2));
        let Ok(message) = serde_json::from_str::<Message<'_>>(&data) else { return Ok(false) };
        let Some(words) = read_parts(database, draft, &message_id, rules)? else {
            return Ok(false);
        };
        let turn = Turn { text: &words, at, id: &message_id, ..Turn::default() };
        match message.role.text() {
            "user" => {
                draft.ask(turn, rules);
            }
            "assistant" => draft.answer(turn, rules),
            _ => {}
        }
        if !matches!(message.error, Shape::Other) {
            draft.signal("neg:opencode_message_error");
        }
    }
    Ok(true)
}

/// The text of a message's parts; none when one is broken.
fn read_parts(
    database: &Connection,
    draft: &mut Draft,
    message: &str,
    rules: &Rules,
) -> rusqlite::Result<Option<String>> {
    let mut parts = database
        .prepare_cached("SELECT data FROM part WHERE message_id = ?1 AND length(data) <= ?2 ORDER BY time_created, id")?;
    let mut rows = parts.query((message, rules.record_limit()))?;
    let mut words: Vec<String> = Vec::new();
    while let Some(row) = rows.next()? {
        let data = text(row, 0);
        let Ok(part) = serde_json::from_str::<Part<'_>>(&data) else { return Ok(None) };
        match part.kind.text() {
            "tool" => draft.tool(part.tool.text()),
            "text" if !part.synthetic.is_true() && !part.ignored.is_true() => {
                words.push(part.text.text().to_owned());
            }
            _ => {}
        }
    }
    Ok(Some(words.join("\n\n")))
}

fn is_absolute(path: &str) -> bool {
    let mut chars = path.chars();
    path.starts_with('/')
        || path.starts_with("\\\\")
        || (chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && chars.next().is_some_and(|c| matches!(c, '/' | '\\')))
}
