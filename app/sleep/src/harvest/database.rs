//! Databases of other programs, opened so that their owners never notice: read-only, no file made, no lock that a
//! writer would wait for. What is in them is the source's.

use super::files::{self, Known};
use super::listing::Candidate;
use super::report::{DropReason, SourceReport, SourceState};
use super::rules::Rules;
use super::session::Draft;
use super::state::{Outcome, Seen};
use super::{Instant, Source, Yielded};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a reader waits for a writer.
const PATIENCE: Duration = Duration::from_millis(200);

/// A session in a database, before it is read.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) modified: Instant,
}

/// How one kind of database is read.
pub(crate) trait Schema {
    /// Tables with the columns that are needed.
    fn needs(&self) -> &'static [(&'static str, &'static [&'static str])];

    /// All sessions.
    ///
    /// # Errors
    /// What the database says.
    fn heads(&self, database: &Connection) -> rusqlite::Result<Vec<Head>>;

    /// One session, or why it is none.
    ///
    /// # Errors
    /// What the database says.
    fn read(
        &self,
        database: &Connection,
        draft: Draft,
        id: &str,
        rules: &Rules,
    ) -> rusqlite::Result<Result<Draft, DropReason>>;
}

/// Reads the sessions of a database, newest first.
pub(crate) fn harvest(
    source: Source,
    schema: &dyn Schema,
    path: &Path,
    rules: &Rules,
    known: Known<'_>,
) -> Yielded {
    if !path.is_file() {
        return Yielded::missing(source, path);
    }
    let before = stamp(path);
    let opened = open(path).and_then(|database| {
        let mut report = SourceReport::new(source, path);
        report.files = 1;
        if let Some(missing) = missing_part(&database, schema)? {
            let why = format!("{source}'s database has no {missing}: its version is not known");
            return Ok(Yielded::without(source, path, SourceState::Unsupported, why));
        }
        collect(schema, &database, report, rules, known)
    });
    match opened {
        Ok(_) if stamp(path) != before => {
            let why =
                format!("{source}'s database changed while it was read: the next harvest takes it");
            Yielded::without(source, path, SourceState::Locked, why)
        }
        Ok(yielded) => yielded,
        Err(error) => refused(source, path, &error),
    }
}

/// The text in a column, or an empty one.
pub(crate) fn text(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Real(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The time in a column, as text or as a number.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Option<Instant> {
    Instant::parse(&text(row, column))
}

/// A log of writes beside the database means that it has an owner now: then it is read through SQLite's own protocol
/// for many readers. Else nobody writes, and it is read as if it could not change: without any lock or file of ours.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    if beside(path, "-journal") {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            None,
        ));
    }
    let how = if beside(path, "-wal") { "mode=ro" } else { "mode=ro&immutable=1" };
    let escaped =
        path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(format!("file:{escaped}?{how}"), flags)?;
    database.busy_timeout(PATIENCE)?;
    database.execute_batch("PRAGMA query_only = 1; BEGIN")?;
    Ok(database)
}

fn beside(path: &Path, ending: &str) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    fs::metadata(PathBuf::from(name)).is_ok_and(|meta| meta.len() > 0)
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    if beside(path, "-wal") {
        return None;
    }
    let meta = fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn missing_part(database: &Connection, schema: &dyn Schema) -> rusqlite::Result<Option<String>> {
    for (table, columns) in schema.needs() {
        let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
        let names = names.collect::<rusqlite::Result<Vec<String>>>()?;
        if let Some(column) =
            columns.iter().find(|column| !names.iter().any(|name| name == **column))
        {
            return Ok(Some(format!("{table}.{column}")));
        }
    }
    Ok(None)
}

fn collect(
    schema: &dyn Schema,
    database: &Connection,
    mut report: SourceReport,
    rules: &Rules,
    known: Known<'_>,
) -> rusqlite::Result<Yielded> {
    let mut heads = schema.heads(database)?;
    heads.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
    let mut kept = Vec::new();
    let mut seen = BTreeMap::new();
    for head in heads {
        let key = format!("{}#{}", report.root, head.id);
        let candidate =
            Candidate { path: PathBuf::from(&key), bytes: 0, modified: head.modified, inode: 0 };
        if let Some((was, reason)) = known
            .and_then(|known| known.get(&key))
            .and_then(|was| files::still(was, &candidate, rules))
        {
            report.sessions += 1;
            files::recount(&mut report, &candidate, was, reason);
            seen.insert(key, was.clone());
            continue;
        }
        let mut was = Seen::new(&candidate);
        if rules.limits.max_sessions.is_some_and(|max| kept.len() >= max) {
            report.sessions += 1;
            report.count_dropped(DropReason::OverLimit);
        } else {
            let draft = Draft::new(&head.id, &key).waiting(files::waits(known, &key));
            match schema.read(database, draft, &head.id, rules)? {
                // Counted where it is noted.
                Ok(draft) => {
                    let judged = draft.judge(report.source, head.modified, rules);
                    files::note(&mut report, judged, &mut was, &mut kept);
                }
                Err(reason) => {
                    report.sessions += 1;
                    report.count_dropped(reason);
                    was.outcome = Outcome::Dropped(reason);
                }
            }
        }
        seen.insert(key, was);
    }
    let digests = super::copies::without_copies(kept, &mut report, &mut seen);
    Ok(Yielded { digests, report, seen: Some(seen) })
}

fn refused(source: Source, path: &Path, error: &rusqlite::Error) -> Yielded {
    let (state, why) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            SourceState::Locked,
            format!("{source} is writing to its database: the next harvest takes it"),
        ),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            (SourceState::Unsupported, format!("{source}'s database is damaged or is none"))
        }
        _ => (SourceState::Failed, format!("{source}'s database cannot be read: {error}")),
    };
    Yielded::without(source, path, state, why)
}
