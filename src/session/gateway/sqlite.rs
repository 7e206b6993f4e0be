//! The store in one file: SQLite, in write-ahead mode.
//!
//! In: a path, or `:memory:`. Out: a store for one gateway. It writes through one connection at a time; a person's word,
//! and what is asked, is on the disk before it counts, an end that nobody was asked about at the next checkpoint.

use super::record::{Key, Record, State};
use super::store::{Answer, Change, Store};
use super::{Fault, Granted, sql};
use crate::call::Grant;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlitePool};
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, mpsc};

const MIGRATIONS: &[(i64, &str, &str)] = &[(
    1,
    "calls and grants",
    include_str!("migrations/sqlite-1.sql"),
)];

/// The store.
#[derive(Debug)]
pub struct Sqlite {
    readers: SqlitePool,
    /// Waits for the disk.
    careful: SqlitePool,
    /// Leaves that to the next checkpoint.
    swift: SqlitePool,
    /// SQLite has one writer at a time: who waits here need not ask again and again.
    turn: Mutex<()>,
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

impl Sqlite {
    /// Opens a file, or makes it; only its owner may read a new one.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub async fn open(path: &str) -> Result<Self, Fault> {
        let path = path.strip_prefix("//").unwrap_or(path);
        let pool = |most| {
            SqlitePoolOptions::new()
                .max_connections(most)
                .min_connections(1)
                .idle_timeout(None)
                .max_lifetime(None)
                .acquire_timeout(Duration::from_secs(10))
        };
        let options = SqliteConnectOptions::new()
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        let (readers, careful, swift) = if path == ":memory:" {
            let options = options.in_memory(true);
            let only = pool(1)
                .connect_with(options)
                .await
                .map_err(|why| fault(&why))?;
            (only.clone(), only.clone(), only)
        } else {
            private(path)?;
            let options = options.filename(path).journal_mode(SqliteJournalMode::Wal);
            let full = options.clone().synchronous(SqliteSynchronous::Full);
            let normal = options.synchronous(SqliteSynchronous::Normal);
            let careful = pool(1)
                .connect_with(full)
                .await
                .map_err(|why| fault(&why))?;
            let swift = pool(1)
                .connect_with(normal.clone())
                .await
                .map_err(|why| fault(&why))?;
            let reading = pool(4)
                .connect_with(normal)
                .await
                .map_err(|why| fault(&why))?;
            (reading, careful, swift)
        };
        let migrator = sqlx::migrate::Migrator::new(sql::Migrations(MIGRATIONS)).await;
        let migrated = match migrator {
            Ok(migrator) => migrator.run(&careful).await,
            Err(why) => Err(why),
        };
        migrated.map_err(|why| Fault::Store(why.to_string()))?;
        Ok(Self {
            readers,
            careful,
            swift,
            turn: Mutex::new(()),
        })
    }

    const fn reader(&self) -> &SqlitePool {
        &self.readers
    }

    async fn writer(&self, durable: bool) -> Result<Writer<'_>, Fault> {
        let turn = self.turn.lock().await;
        let pool = if durable { &self.careful } else { &self.swift };
        Ok(Writer {
            connection: pool.acquire().await.map_err(|why| fault(&why))?,
            _turn: turn,
        })
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

fn fault(why: &sqlx::Error) -> Fault {
    Fault::Store(why.to_string())
}

/// Makes a file that only its owner may read, where there is none: it will hold the arguments of calls.
fn private(path: &str) -> Result<(), Fault> {
    let mut options = std::fs::OpenOptions::new();
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
