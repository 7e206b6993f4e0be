//! The store of several gateways: PostgreSQL.
//!
//! In: an address. Out: a store in the schema `acl` of its database. A trigger tells every gateway which call made a
//! step. No secret of the address is in what it says of itself.

use super::record::{Key, Record, State};
use super::store::{Answer, Change, Store};
use super::{Fault, Granted, sql};
use crate::call::Grant;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};
use std::str::FromStr;
use std::time::Duration;
use tokio::sync::mpsc;

const MIGRATIONS: &[(i64, &str, &str)] = &[(
    1,
    "calls and grants",
    include_str!("migrations/postgres-1.sql"),
)];

/// Where the trigger tells.
const CHANNEL: &str = "acl_calls";

/// The store.
pub struct Postgres {
    pool: PgPool,
    /// Does not wait for the disk.
    swift: PgPool,
    secrets: Vec<String>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to a database, and makes the schema where it is not there.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub async fn open(address: &str) -> Result<Self, Fault> {
        let wrong = || Fault::Invalid("the address of the store is no PostgreSQL address".into());
        let options = PgConnectOptions::from_str(address).map_err(|_| wrong())?;
        let options = options
            .application_name("acl")
            .options([("search_path", "acl"), ("statement_timeout", "15s")])
            .disable_statement_logging();
        let pool = PgPoolOptions::new().acquire_timeout(Duration::from_secs(5));
        let swift = options.clone().options([("synchronous_commit", "off")]);
        let store = Self {
            pool: pool.clone().max_connections(10).connect_lazy_with(options),
            swift: pool.max_connections(6).connect_lazy_with(swift),
            secrets: secrets(address),
        };
        store.schema().await?;
        let migrator = sqlx::migrate::Migrator::new(sql::Migrations(MIGRATIONS)).await;
        let migrated = match migrator {
            Ok(migrator) => migrator.run(&store.pool).await,
            Err(why) => Err(why),
        };
        migrated.map_err(|why| store.told(&why.to_string()))?;
        Ok(store)
    }

    /// Who may not make schemas may use one that is there. Two that make it at once: the slower finds it made.
    async fn schema(&self) -> Result<(), Fault> {
        let there = "SELECT 1 FROM pg_namespace WHERE nspname = 'acl'";
        for _ in 0..2 {
            let found = sqlx::query(there).fetch_optional(&self.pool).await;
            if found.map_err(|why| self.fault(&why))?.is_some() {
                return Ok(());
            }
            // Whether it is there now is asked once more.
            let _ = sqlx::query("CREATE SCHEMA acl").execute(&self.pool).await;
        }
        let made = sqlx::query("CREATE SCHEMA IF NOT EXISTS acl");
        let made = made.execute(&self.pool).await;
        made.map(drop).map_err(|why| self.fault(&why))
    }

    const fn reader(&self) -> &PgPool {
        &self.pool
    }

    async fn writer(&self, durable: bool) -> Result<PoolConnection<sqlx::Postgres>, Fault> {
        let pool = if durable { &self.pool } else { &self.swift };
        pool.acquire().await.map_err(|why| self.fault(&why))
    }

    /// It is on the disk as soon as it is committed.
    #[expect(clippy::unused_async, reason = "the other store waits here")]
    async fn kept(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn fault(&self, why: &sqlx::Error) -> Fault {
        self.told(&why.to_string())
    }

    fn told(&self, why: &str) -> Fault {
        let mut told = why.to_owned();
        for secret in &self.secrets {
            told = told.replace(secret, "***");
        }
        Fault::Store(told)
    }

    async fn hear(&self) -> Result<Option<mpsc::Receiver<Change>>, Fault> {
        let fault = |why: sqlx::Error| self.fault(&why);
        let mut listener = PgListener::connect_with(&self.pool).await.map_err(fault)?;
        listener.listen(CHANNEL).await.map_err(fault)?;
        let (sender, receiver) = mpsc::channel(1024);
        tokio::spawn(async move {
            loop {
                let change = tokio::select! {
                    () = sender.closed() => return,
                    heard = listener.try_recv() => match heard {
                        Ok(Some(told)) => read(told.payload()),
                        // The connection is gone, and made anew by the next call: what was told meanwhile is lost.
                        Ok(None) => Change::Missed,
                        Err(_) => {
                            tokio::time::sleep(Duration::from_secs(1)).await;
                            Change::Missed
                        }
                    },
                };
                if sender.send(change).await.is_err() {
                    return;
                }
            }
        });
        Ok(Some(receiver))
    }
}

/// What the trigger tells: session, id and writer.
fn read(payload: &str) -> Change {
    match serde_json::from_str(payload) {
        Ok((session, id, writer)) => Change::Step {
            key: Key { session, id },
            writer,
        },
        Err(_) => Change::Missed,
    }
}

/// What of an address must not be told: its passwords, as they stand there and as they are meant.
fn secrets(address: &str) -> Vec<String> {
    let Ok(url) = url::Url::parse(address) else {
        return Vec::new();
    };
    let mut secrets = Vec::new();
    if let Some(raw) = url.password() {
        let meant = percent_encoding::percent_decode_str(raw);
        secrets.push(meant.decode_utf8_lossy().into_owned());
        secrets.push(raw.to_owned());
    }
    let named = url.query_pairs().filter(|(name, _)| name == "password");
    secrets.extend(named.map(|(_, value)| value.into_owned()));
    secrets.retain(|secret| !secret.is_empty());
    secrets
}

sql::store!(
    Postgres,
    "SELECT pair ->> 0, pair ->> 1 FROM json_array_elements($3::json) AS pair"
);
