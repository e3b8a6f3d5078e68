//! Copilot CLI: the database `~/.copilot/session-store.db`.

use super::database::{self, Head, Schema, text, time};
use super::files::Known;
use super::report::DropReason;
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Source, Yielded};
use rusqlite::Connection;

/// Reads the store of Copilot CLI.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    match &options.homes.copilot_cli {
        Some(path) => database::harvest(Source::CopilotCli, &CopilotCli, path, rules, known),
        None => Yielded::not_configured(Source::CopilotCli),
    }
}

struct CopilotCli;

impl Schema for CopilotCli {
    fn needs(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[
            ("sessions", &["id", "cwd", "branch", "created_at", "updated_at"]),
            ("turns", &["session_id", "turn_index", "user_message", "assistant_response"]),
            ("session_files", &["session_id", "file_path", "tool_name"]),
        ]
    }

    fn heads(&self, database: &Connection) -> rusqlite::Result<Vec<Head>> {
        let mut statement = database.prepare("SELECT id, updated_at FROM sessions")?;
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
        let mut session = database.prepare_cached(
            "SELECT cwd, branch, created_at, updated_at FROM sessions WHERE id = ?1",
        )?;
        let (cwd, created, updated) = session.query_row([id], |row| {
            draft.branch = text(row, 1);
            Ok((text(row, 0), time(row, 2), time(row, 3)))
        })?;
        if cwd.is_empty() {
            return Ok(Err(DropReason::NoProject));
        }
        draft.enter(&cwd);
        draft.see(created);
        draft.see(updated);
        read_turns(database, &mut draft, id, rules)?;
        read_files(database, &mut draft, id)?;
        Ok(Ok(draft))
    }
}

fn read_turns(
    database: &Connection,
    draft: &mut Draft,
    id: &str,
    rules: &Rules,
) -> rusqlite::Result<()> {
    let mut turns = database.prepare_cached(
        "SELECT substr(user_message, 1, ?2), substr(assistant_response, 1, ?2)
         FROM turns WHERE session_id = ?1 ORDER BY turn_index",
    )?;
    let mut rows = turns.query((id, rules.record_limit()))?;
    while let Some(row) = rows.next()? {
        draft.ask(Turn { text: &text(row, 0), ..Turn::default() }, rules);
        let answer = text(row, 1);
        if !answer.trim().is_empty() {
            draft.answer(Turn { text: &answer, ..Turn::default() }, rules);
        }
    }
    Ok(())
}

fn read_files(database: &Connection, draft: &mut Draft, id: &str) -> rusqlite::Result<()> {
    let mut files = database.prepare_cached(
        "SELECT file_path, tool_name FROM session_files WHERE session_id = ?1 ORDER BY rowid",
    )?;
    let mut rows = files.query([id])?;
    while let Some(row) = rows.next()? {
        draft.file(&text(row, 0));
        draft.tool(&text(row, 1));
    }
    Ok(())
}
