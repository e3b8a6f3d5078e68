//! The store's handle: opening the file, migrating it, connections for reading and the one for writing.

use crate::error::{OpenError, StoreFailure};
use crate::fold;
use crate::ledger::{Clerk, KnownBlobs};
use crate::live::Signal;
use crate::sql::Doing;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use std::fs::{DirBuilder, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

const FILE: &str = "skillopt.db";
const LOCK: &str = "skillopt.lock";
const READERS: u32 = 4;
/// Other processes hold the write lock for milliseconds; ten seconds mean that something hangs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const SIGNALS: usize = 1024;

/// The store. Clones share one set of connections.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    /// One connection: writers of this process queue here, in order, instead of polling SQLite's lock.
    writer: SqlitePool,
    reader: SqlitePool,
    pub(crate) ledger: Clerk,
    pub(crate) known_blobs: Arc<KnownBlobs>,
    pub(crate) signals: broadcast::Sender<Signal>,
}

impl Store {
    /// Opens the store of a data directory, which is made when it is missing (mode 0700).
    ///
    /// # Errors
    /// [`OpenError`] when the directory cannot be used or the store is of a newer version.
    pub async fn open(data_dir: &Path) -> Result<Self, OpenError> {
        let path = data_dir.join(FILE);
        make_dir(data_dir).map_err(|source| io(data_dir, source))?;
        make_private(&path).map_err(|source| io(&path, source))?;
        // Two processes that start at once must not both create the schema.
        let _lock = lock(data_dir.join(LOCK)).await?;
        let options = options()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal);
        let writer = connect(&path, options.clone(), 1).await?;
        migrate(&path, &writer).await?;
        let costs = fold::costs::complete(&writer).await;
        costs.map_err(|source| OpenError::Sql { path: path.clone(), source: source.into() })?;
        let reader = connect(&path, options.pragma("query_only", "ON"), READERS).await?;
        Ok(Self::of(writer, reader))
    }

    /// A store that lives as long as its handles, for tests.
    ///
    /// # Errors
    /// [`OpenError`] when SQLite refuses.
    pub async fn in_memory() -> Result<Self, OpenError> {
        let path = Path::new(":memory:");
        let pool = connect(path, options().filename(path), 1).await?;
        migrate(path, &pool).await?;
        Ok(Self::of(pool.clone(), pool))
    }

    /// Writes what is queued and closes the connections. Later calls fail with [`StoreFailure::Closed`].
    pub async fn close(&self) {
        self.inner.ledger.stop().await;
        self.inner.reader.close().await;
        self.inner.writer.close().await;
    }

    fn of(writer: SqlitePool, reader: SqlitePool) -> Self {
        let known_blobs = Arc::new(KnownBlobs::default());
        let ledger = Clerk::start(writer.clone(), known_blobs.clone());
        let (signals, _) = broadcast::channel(SIGNALS);
        Self { inner: Arc::new(Inner { writer, reader, ledger, known_blobs, signals }) }
    }

    /// Connections for reading.
    pub(crate) fn reader(&self) -> &SqlitePool {
        &self.inner.reader
    }

    /// Several reads that see one moment.
    pub(crate) async fn read(
        &self,
        action: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StoreFailure> {
        self.inner.reader.begin().await.doing(action)
    }

    /// A write that holds the lock from its first statement on, so that what it reads stays true.
    pub(crate) async fn write(
        &self,
        action: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StoreFailure> {
        begin_write(&self.inner.writer).await.doing(action)
    }
}

/// Takes SQLite's write lock at once: a deferred transaction that turns into a write may fail at a busy
/// moment without waiting.
pub(crate) async fn begin_write(
    pool: &SqlitePool,
) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
    pool.begin_with("BEGIN IMMEDIATE").await
}

fn options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(256)
        .row_buffer_size(1024)
        .pragma("temp_store", "MEMORY")
}

async fn connect(
    path: &Path,
    options: SqliteConnectOptions,
    connections: u32,
) -> Result<SqlitePool, OpenError> {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .min_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        // A local file needs no ping.
        .test_before_acquire(false)
        .connect_with(options)
        .await
        .map_err(|source| OpenError::Sql { path: path.to_owned(), source: source.into() })
}

async fn migrate(path: &Path, pool: &SqlitePool) -> Result<(), OpenError> {
    let path = path.to_owned();
    MIGRATIONS.run(pool).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => OpenError::Newer { path, version },
        MigrateError::VersionMismatch(version) => OpenError::Differs { path, version },
        source => OpenError::Sql { path, source: source.into() },
    })
}

async fn lock(path: PathBuf) -> Result<File, OpenError> {
    let shown = path.clone();
    let locking = tokio::task::spawn_blocking(move || {
        make_private(&path)?;
        let file = File::open(&path)?;
        file.lock()?;
        Ok(file)
    });
    let locked = match locking.await {
        Ok(locked) => locked,
        Err(stopped) => Err(std::io::Error::other(stopped)),
    };
    locked.map_err(|source| io(&shown, source))
}

fn io(path: &Path, source: std::io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), source }
}

fn make_dir(path: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes an empty file that only its owner can read, unless it is there. SQLite gives the same mode to
/// the files beside it.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
