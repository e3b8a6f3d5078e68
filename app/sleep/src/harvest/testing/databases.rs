//! Databases of Copilot CLI and OpenCode.

use super::{PROJECT, ago, instant_ago};
use rusqlite::{Connection, params};
use serde_json::json;
use std::path::Path;

pub(super) fn write_copilot_cli(path: &Path) -> rusqlite::Result<()> {
    let database = Connection::open(path)?;
    database.execute_batch(
        "CREATE TABLE sessions(id TEXT, cwd TEXT, repository TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
         CREATE TABLE turns(session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT);
         CREATE TABLE session_files(session_id TEXT, file_path TEXT, tool_name TEXT);",
    )?;
    let spaced = |minutes| ago(minutes).replace('T', " ").replace('Z', "");
    for (id, cwd) in
        [("cli-1", "/w/app"), ("cli-nowhere", ""), ("cli-own", "/tmp/skillopt-call-x3")]
    {
        database.execute(
            "INSERT INTO sessions VALUES (?1, ?2, 'r', 'dev', ?3, ?4)",
            params![id, cwd, spaced(28), spaced(26)],
        )?;
        database.execute("INSERT INTO turns VALUES (?1, 1, 'Works now, thanks', NULL)", [id])?;
        database.execute("INSERT INTO turns VALUES (?1, 0, 'Add a flag --fast', 'Added')", [id])?;
    }
    database.execute("INSERT INTO session_files VALUES ('cli-1', 'src/cli.rs', 'edit')", [])?;
    Ok(())
}

pub(super) fn write_opencode(path: &Path) -> rusqlite::Result<()> {
    let database = Connection::open(path)?;
    database.execute_batch(
        "CREATE TABLE session(id TEXT, parent_id TEXT, directory TEXT, agent TEXT, time_created INTEGER, time_updated INTEGER, metadata TEXT);
         CREATE TABLE message(id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE part(id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);",
    )?;
    let own = format!("skillopt-sleep-{}", "0123456789abcdef".repeat(2));
    for (id, parent, agent) in [
        ("oc-1", None, "build"),
        ("oc-child", Some("oc-1"), "build"),
        ("oc-own", None, own.as_str()),
        ("oc-bad", None, "build"),
    ] {
        database.execute(
            "INSERT INTO session VALUES (?1, ?2, '/w/app', ?3, ?4, ?5, ?6)",
            params![
                id,
                parent,
                agent,
                instant_ago(25).as_ms(),
                instant_ago(22).as_ms(),
                r#"{"gitBranch":"oc"}"#
            ],
        )?;
        say(&database, id, 0, json!({"role": "user"}), "Write the docs")?;
        say(
            &database,
            id,
            1,
            json!({"role": "assistant", "error": {"name": "Aborted"}}),
            "Written",
        )?;
    }
    let hidden = json!({"type": "text", "text": "hidden", "synthetic": true}).to_string();
    database.execute("INSERT INTO part VALUES ('z', 'oc-1-0', 'oc-1', 9, ?1)", [hidden])?;
    let tool =
        json!({"type": "tool", "tool": "edit", "state": {"output": "planted result"}}).to_string();
    database.execute("INSERT INTO part VALUES ('y', 'oc-1-1', 'oc-1', 9, ?1)", [tool])?;
    let thought = json!({"type": "reasoning", "text": "planted thought"}).to_string();
    database.execute("INSERT INTO part VALUES ('x', 'oc-1-1', 'oc-1', 9, ?1)", [thought])?;
    database.execute("UPDATE message SET data = '{cut' WHERE session_id = 'oc-bad'", [])?;
    Ok(())
}

/// Makes the sessions of both those of another project.
pub(super) fn move_to(copilot_cli: &Path, opencode: &Path, project: &str) -> rusqlite::Result<()> {
    let cli = "UPDATE sessions SET cwd = replace(cwd, ?1, ?2)";
    Connection::open(copilot_cli)?.execute(cli, [PROJECT, project])?;
    let code = "UPDATE session SET directory = replace(directory, ?1, ?2)";
    Connection::open(opencode)?.execute(code, [PROJECT, project])?;
    Ok(())
}

fn say(
    database: &Connection,
    session: &str,
    n: i64,
    data: serde_json::Value,
    text: &str,
) -> rusqlite::Result<()> {
    let message = format!("{session}-{n}");
    let at = instant_ago(24 - n).as_ms();
    database.execute(
        "INSERT INTO message VALUES (?1, ?2, ?3, ?4)",
        params![message, session, at, data.to_string()],
    )?;
    let part = json!({"type": "text", "text": text}).to_string();
    database.execute(
        "INSERT INTO part VALUES (?1, ?2, ?3, 1, ?4)",
        params![format!("{message}-p"), message, session, part],
    )?;
    Ok(())
}
