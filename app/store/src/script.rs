//! Several writes in one command for SQLite's thread: waking it costs more than most statements do.

use crate::error::StoreFailure;
use crate::sql::Doing;
use sqlx::encode::Encode;
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Sqlite, SqliteConnection, Type};

/// Statements and their values, in order. Run it within a transaction.
#[derive(Debug, Default)]
pub(crate) struct Script {
    sql: String,
    values: SqliteArguments,
    /// The first value that could not be encoded.
    broken: Option<BoxDynError>,
}

impl Script {
    /// Adds a statement; its values follow with [`Script::bind`].
    pub(crate) fn statement(&mut self, sql: &'static str) -> &mut Self {
        self.sql.push_str(sql);
        self.sql.push(';');
        self
    }

    /// Adds the next value.
    pub(crate) fn bind<'t>(&mut self, value: impl Encode<'t, Sqlite> + Type<Sqlite>) -> &mut Self {
        if let Err(error) = self.values.add(value) {
            self.broken.get_or_insert(error);
        }
        self
    }

    /// Runs all statements, up to the first that fails.
    pub(crate) async fn run(
        self,
        conn: &mut SqliteConnection,
        action: &'static str,
    ) -> Result<(), StoreFailure> {
        if let Some(error) = self.broken {
            return Err(sqlx::Error::Encode(error)).doing(action);
        }
        // Only texts of this crate stand in the SQL; everything else is a bound value.
        let script = sqlx::query_with(AssertSqlSafe(self.sql), self.values);
        script.execute(conn).await.doing(action).map(drop)
    }
}
