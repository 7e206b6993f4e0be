//! The store in one file: SQLite, in write-ahead mode.
//!
//! In: a path, or `:memory:`. Out: a store for one gateway. It writes through one connection, and never waits for the
//! disk while it holds it: what was asked or said is brought to the disk after its commit, together with whatever else
//! was committed by then; an end that nobody was asked about is at the next checkpoint, which is made in the background.

use super::record::{Key, Record, State};
use super::store::{Answer, Change, Store};
use super::{Fault, Granted, sql};
use crate::call::Grant;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlitePool};
use std::fs::{File, OpenOptions};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, mpsc};
use tokio::task::JoinHandle;

const MIGRATIONS: &[(i64, &str, &str)] = &[(
    1,
    "calls and grants",
    include_str!("migrations/sqlite-1.sql"),
)];

/// How often a checkpoint is made.
const CHECKPOINTS: Duration = Duration::from_millis(500);

/// From how many pages on a writer makes a checkpoint itself, should the one in the background not get there.
const MOST_PAGES: &str = "20000";

/// The store.
#[derive(Debug)]
pub struct Sqlite {
    readers: SqlitePool,
    writer: SqlitePool,
    /// SQLite has one writer at a time: who waits here need not ask again and again.
    turn: Mutex<()>,
    log: Option<Log>,
    checkpoints: Option<JoinHandle<()>>,
}

/// The write-ahead log, as a file to be brought to the disk.
#[derive(Debug)]
struct Log {
    file: Arc<File>,
    /// How many commits want to be on the disk.
    wanted: AtomicU64,
    /// How many of them are.
    there: Mutex<u64>,
}

impl Log {
    /// Brings all commits to the disk that were made before this is called. Who comes while the disk works goes with the
    /// next one.
    async fn kept(&self) -> std::io::Result<()> {
        let mine = self.wanted.fetch_add(1, Ordering::SeqCst) + 1;
        let mut there = self.there.lock().await;
        if *there >= mine {
            return Ok(());
        }
        let all = self.wanted.load(Ordering::SeqCst);
        let file = Arc::clone(&self.file);
        tokio::task::spawn_blocking(move || file.sync_data()).await??;
        *there = all;
        Ok(())
    }
}

/// The connection that writes.
struct Writer<'s> {
    connection: PoolConnection<sqlx::Sqlite>,
    _turn: MutexGuard<'s, ()>,
}

impl Deref for Writer<'_> {
    type Target = sqlx::SqliteConnection;

    fn deref(&self) -> &Self::Target {
        &self.connection
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.connection
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.abort();
        }
    }
}

impl Sqlite {
    /// Opens a file, or makes it; only its owner may read a new one.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub async fn open(path: &str) -> Result<Self, Fault> {
        let path = path.strip_prefix("//").unwrap_or(path);
        let options = SqliteConnectOptions::new()
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        if path == ":memory:" {
            let only = pool(1, options.in_memory(true)).await?;
            migrated(&only).await?;
            return Ok(Self {
                readers: only.clone(),
                writer: only,
                turn: Mutex::new(()),
                log: None,
                checkpoints: None,
            });
        }
        private(path)?;
        let options = options
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .pragma("wal_autocheckpoint", MOST_PAGES);
        let writer = pool(1, options.clone()).await?;
        migrated(&writer).await?;
        let log = OpenOptions::new().write(true).open(format!("{path}-wal"));
        let log = log.map_err(|why| Fault::Store(format!("`{path}-wal`: {why}")))?;
        let checkpoints = pool(1, options.clone()).await?;
        Ok(Self {
            readers: pool(4, options).await?,
            writer,
            turn: Mutex::new(()),
            log: Some(Log {
                file: Arc::new(log),
                wanted: AtomicU64::new(0),
                there: Mutex::new(0),
            }),
            checkpoints: Some(tokio::spawn(async move {
                loop {
                    tokio::time::sleep(CHECKPOINTS).await;
                    let checkpoint = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)");
                    // One that fails is made up for by the next.
                    let _ = checkpoint.execute(&checkpoints).await;
                }
            })),
        })
    }

    const fn reader(&self) -> &SqlitePool {
        &self.readers
    }

    async fn writer(&self, _durable: bool) -> Result<Writer<'_>, Fault> {
        let turn = self.turn.lock().await;
        Ok(Writer {
            connection: self.writer.acquire().await.map_err(|why| fault(&why))?,
            _turn: turn,
        })
    }

    /// Waits until what was committed is on the disk.
    async fn kept(&self) -> Result<(), Fault> {
        match &self.log {
            Some(log) => log
                .kept()
                .await
                .map_err(|why| Fault::Store(why.to_string())),
            None => Ok(()),
        }
    }

    #[expect(
        clippy::unused_self,
        reason = "what the statements of both stores call"
    )]
    fn fault(&self, why: &sqlx::Error) -> Fault {
        fault(why)
    }

    /// Nobody tells: other gateways of one file look again from time to time.
    #[expect(clippy::unused_async, reason = "the other store waits here")]
    async fn hear(&self) -> Result<Option<mpsc::Receiver<Change>>, Fault> {
        Ok(None)
    }
}

async fn pool(most: u32, options: SqliteConnectOptions) -> Result<SqlitePool, Fault> {
    let pool = SqlitePoolOptions::new()
        .max_connections(most)
        .min_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(10));
    pool.connect_with(options).await.map_err(|why| fault(&why))
}

async fn migrated(pool: &SqlitePool) -> Result<(), Fault> {
    let migrator = sqlx::migrate::Migrator::new(sql::Migrations(MIGRATIONS)).await;
    let migrated = match migrator {
        Ok(migrator) => migrator.run(pool).await,
        Err(why) => Err(why),
    };
    migrated.map_err(|why| Fault::Store(why.to_string()))
}

fn fault(why: &sqlx::Error) -> Fault {
    Fault::Store(why.to_string())
}

/// Makes a file that only its owner may read, where there is none: it will hold the arguments of calls.
fn private(path: &str) -> Result<(), Fault> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let made = options.open(path);
    made.map(drop)
        .map_err(|why| Fault::Store(format!("`{path}`: {why}")))
}

sql::store!(
    Sqlite,
    "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each($3)"
);
