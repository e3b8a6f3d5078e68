//! The run table: filtered, sorted, page by page. A cursor holds the sort value of the last row, so that
//! runs that are added meanwhile neither repeat nor hide a row.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::runs::summary_of;
use crate::sql::{Column, Doing, count, from_json, to_json};
use serde::{Deserialize, Serialize};
use skillopt_domain::api::{Page, RunQuery, RunSummary};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite};

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;

impl Store {
    /// A page of runs. Without `sort` the newest come first; rows without a value come last.
    ///
    /// # Errors
    /// [`StoreFailure::BadQuery`] for an unknown sort or a cursor of another list, or the store cannot be read.
    pub async fn list_runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreFailure> {
        let action = "list runs";
        let sort = Sort::parse(query.sort.as_deref().unwrap_or("-created"))?;
        let after = query.cursor.as_deref().map(Cursor::parse).transpose()?;
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let mut conn = self.read(action).await?;

        let mut counting = QueryBuilder::<Sqlite>::new("SELECT count(*) FROM runs WHERE 1 ");
        push_filters(&mut counting, query);
        let total: i64 = counting.build_query_scalar().fetch_one(&mut *conn).await.doing(action)?;

        let mut select = QueryBuilder::<Sqlite>::new("SELECT no, ");
        select.push(sort.column.sql);
        // Sorted by small values first, so that only the rows of the page are read whole.
        select.push(
            " AS sort_value, summary_json, spend_json, progress_json FROM runs \
             WHERE no IN (SELECT no FROM runs WHERE 1 ",
        );
        push_filters(&mut select, query);
        if let Some(after) = &after {
            sort.push_after(&mut select, after)?;
        }
        sort.push_order(&mut select);
        select.push(" LIMIT ").push_bind(limit + 1).push(")");
        sort.push_order(&mut select);
        let rows = select.build().fetch_all(&mut *conn).await.doing(action)?;

        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let next = match rows.get(shown.saturating_sub(1)).filter(|_| rows.len() > shown) {
            Some(last) => Some(Cursor::of(last, sort.column)?.to_text()?),
            None => None,
        };
        let items = rows.iter().take(shown).map(summary_of).collect::<Result<_, _>>()?;
        Ok(Page { items, next, total: count(total) })
    }
}

fn push_filters(select: &mut QueryBuilder<Sqlite>, query: &RunQuery) {
    if let Some(status) = query.status {
        select.push(" AND status = ").push_bind(status.as_str());
    }
    if let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        select.push(" AND instr(search, ").push_bind(text.to_lowercase()).push(") > 0");
    }
}

/// A column that can be sorted by.
#[derive(Debug)]
struct SortColumn {
    name: &'static str,
    sql: &'static str,
    kind: ValueKind,
    /// Some rows have no value.
    is_nullable: bool,
}

#[derive(Clone, Copy, Debug)]
enum ValueKind {
    Int,
    Real,
    Text,
}

static COLUMNS: [SortColumn; 6] = [
    SortColumn { name: "created", sql: "created_at_ms", kind: ValueKind::Int, is_nullable: false },
    SortColumn {
        name: "name",
        sql: "name COLLATE NOCASE",
        kind: ValueKind::Text,
        is_nullable: false,
    },
    SortColumn { name: "best", sql: "best_score", kind: ValueKind::Real, is_nullable: true },
    SortColumn { name: "steps", sql: "n_steps", kind: ValueKind::Int, is_nullable: false },
    SortColumn { name: "status", sql: "status", kind: ValueKind::Text, is_nullable: false },
    SortColumn { name: "cost", sql: "cost_usd_micros", kind: ValueKind::Int, is_nullable: true },
];

#[derive(Debug)]
struct Sort {
    column: &'static SortColumn,
    is_falling: bool,
}

impl Sort {
    fn parse(text: &str) -> Result<Self, StoreFailure> {
        let (name, is_falling) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let column = COLUMNS.iter().find(|column| column.name == name);
        let names = || COLUMNS.each_ref().map(|column| column.name).join(", ");
        column.map(|column| Self { column, is_falling }).ok_or_else(|| StoreFailure::BadQuery {
            message: format!("cannot sort by {name:?}; choose one of {}", names()),
        })
    }

    fn push_order(&self, select: &mut QueryBuilder<Sqlite>) {
        let direction = if self.is_falling { " DESC" } else { " ASC" };
        select.push(" ORDER BY ");
        if self.column.is_nullable {
            select.push(self.column.sql).push(" IS NULL, ");
        }
        select.push(self.column.sql).push(direction).push(", no").push(direction);
    }

    /// Only rows that come after the cursor's.
    fn push_after(
        &self,
        select: &mut QueryBuilder<Sqlite>,
        after: &Cursor,
    ) -> Result<(), StoreFailure> {
        let sql = self.column.sql;
        let beyond = if self.is_falling { " < " } else { " > " };
        let value = match (self.column.kind, &after.value) {
            (_, Value::Null) if self.column.is_nullable => None,
            (ValueKind::Int, Value::Int(_))
            | (ValueKind::Real, Value::Real(_))
            | (ValueKind::Text, Value::Text(_)) => Some(&after.value),
            _ => return Err(bad_cursor()),
        };
        let Some(value) = value else {
            select.push(" AND ").push(sql).push(" IS NULL AND no").push(beyond).push_bind(after.no);
            return Ok(());
        };
        select.push(" AND (").push(sql).push(beyond);
        value.push_bind(select);
        select.push(" OR (").push(sql).push(" = ");
        value.push_bind(select);
        select.push(" AND no").push(beyond).push_bind(after.no).push(")");
        if self.column.is_nullable {
            select.push(" OR ").push(sql).push(" IS NULL");
        }
        select.push(")");
        Ok(())
    }
}

/// A sort value. Zero is a value; `Null` is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
}

impl Value {
    fn push_bind(&self, select: &mut QueryBuilder<Sqlite>) {
        match self {
            Self::Null => select.push("NULL"),
            Self::Int(value) => select.push_bind(*value),
            Self::Real(value) => select.push_bind(*value),
            Self::Text(value) => select.push_bind(value.clone()),
        };
    }
}

/// Where a page ended. Written as hex, so that it needs no escaping in an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cursor {
    value: Value,
    no: i64,
}

impl Cursor {
    fn of(row: &SqliteRow, column: &SortColumn) -> Result<Self, StoreFailure> {
        let value = match column.kind {
            ValueKind::Int => row.int_or_null("sort_value")?.map(Value::Int),
            ValueKind::Real => row.real_or_null("sort_value")?.map(Value::Real),
            ValueKind::Text => row.text_or_null("sort_value")?.map(Value::Text),
        };
        Ok(Self { value: value.unwrap_or(Value::Null), no: row.int("no")? })
    }

    fn to_text(&self) -> Result<String, StoreFailure> {
        Ok(to_json(self)?.bytes().map(|byte| format!("{byte:02x}")).collect())
    }

    fn parse(text: &str) -> Result<Self, StoreFailure> {
        let digits: Option<Vec<u8>> = text
            .as_bytes()
            .chunks(2)
            .map(|pair| {
                let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
                u8::from_str_radix(pair, 16).ok()
            })
            .collect();
        let json = digits.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(bad_cursor)?;
        from_json("a cursor", &json).map_err(|_| bad_cursor())
    }
}

fn bad_cursor() -> StoreFailure {
    StoreFailure::BadQuery { message: "the cursor does not belong to this list".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_exactly() {
        for value in [
            Value::Null,
            Value::Int(i64::MAX),
            Value::Real(0.1 + 0.2),
            Value::Real(0.0),
            Value::Text("ä & %".into()),
        ] {
            let cursor = Cursor { value, no: 7 };
            assert_eq!(Cursor::parse(&cursor.to_text().unwrap()).unwrap(), cursor);
        }
    }

    #[test]
    fn nonsense_is_no_cursor() {
        for text in ["", "zz", "7b", "7", "ää"] {
            assert!(Cursor::parse(text).is_err(), "{text}");
        }
    }
}
