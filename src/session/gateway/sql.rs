//! The statements of both stores, which understand the same SQL but for lists of keys.
//!
//! Indexes that hold only what is unsettled are used where a statement says `state <> 'settled'` in so many words.
//!
//! In: records and grants. Out: rows. Everything is a text or a number; what only the gateway reads of a record is JSON
//! in one column, so that a new field needs no migration.

use super::record::{Key, Record, State};
use super::{Fault, Granted};
use sqlx::error::BoxDynError;
use sqlx::migrate::{Migration, MigrationSource, MigrationType};
use std::borrow::Cow;

/// A record as it is read.
pub type Row = (
    String,
    String,
    i64,
    String,
    i64,
    Option<i64>,
    i64,
    Option<i64>,
    String,
    String,
);

/// A record of a row.
pub fn record(row: Row) -> Result<Record, Fault> {
    let (session, id, version, state, live_until, due, created_at, settled_at, writer, held) = row;
    let strange = |what: &str| Fault::Store(format!("a record that cannot be read: {what}"));
    Ok(Record {
        key: Key { session, id },
        version,
        state: State::parse(&state).ok_or_else(|| strange("its state"))?,
        live_until,
        due,
        created_at,
        settled_at,
        writer,
        held: serde_json::from_str(&held).map_err(|why| strange(&why.to_string()))?,
    })
}

/// A grant of a row.
pub fn granted((id, held): (String, String)) -> Result<Granted, Fault> {
    let grant = serde_json::from_str(&held)
        .map_err(|why| Fault::Store(format!("a grant that cannot be read: {why}")))?;
    Ok(Granted { id, grant })
}

/// What is kept as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|why| Fault::Store(why.to_string()))
}

/// Keys as a JSON list of pairs.
pub fn pairs(keys: &[Key]) -> String {
    let pairs = keys
        .iter()
        .map(|key| [key.session.as_str(), key.id.as_str()]);
    serde_json::Value::from_iter(pairs.map(|pair| pair.to_vec())).to_string()
}

/// Migrations that are part of the program.
#[derive(Debug)]
pub struct Migrations(pub &'static [(i64, &'static str, &'static str)]);

impl MigrationSource<'static> for Migrations {
    fn resolve(self) -> super::runner::Boxed<'static, Result<Vec<Migration>, BoxDynError>> {
        let all = self.0.iter().map(|(version, about, sql)| {
            let (about, sql) = (Cow::Borrowed(*about), Cow::Borrowed(*sql));
            Migration::new(*version, about, MigrationType::Simple, sql, false)
        });
        let all = all.collect();
        Box::pin(async { Ok(all) })
    }
}

/// Writes a store over a pool: `$store` has `reader() -> &Pool`, `writer(durable) -> connection`, `kept()` that waits for
/// the disk, `fault(sqlx::Error)`, `hear()`, and `$pairs` is a list of keys as SQL.
macro_rules! store {
    ($store:ty, $pairs:literal) => {
        impl Store for $store {
            fn add<'a>(&'a self, record: &'a Record) -> Answer<'a, Option<Record>> {
                Box::pin(async move {
                    let held = sql::json(&record.held)?;
                    // An end that nobody was asked about may be lost with the machine's power, a question may not.
                    let mut writer = self.writer(record.state != State::Settled).await?;
                    let added = sqlx::query(
                        "INSERT INTO calls (session, id, version, state, live_until, due, created_at, settled_at, writer, held)
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (session, id) DO NOTHING",
                    )
                    .bind(&record.key.session)
                    .bind(&record.key.id)
                    .bind(record.version)
                    .bind(record.state.name())
                    .bind(record.live_until)
                    .bind(record.due)
                    .bind(record.created_at)
                    .bind(record.settled_at)
                    .bind(&record.writer)
                    .bind(held)
                    .execute(&mut *writer)
                    .await;
                    drop(writer);
                    if record.state != State::Settled {
                        self.kept().await?;
                    }
                    match added.map_err(|why| self.fault(&why))?.rows_affected() {
                        0 => self.find(&record.key).await,
                        _ => Ok(None),
                    }
                })
            }

            fn find<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Record>> {
                Box::pin(async move {
                    let found = sqlx::query_as(
                        "SELECT session, id, version, state, live_until, due, created_at, settled_at, writer, held
                         FROM calls WHERE session = $1 AND id = $2",
                    )
                    .bind(&key.session)
                    .bind(&key.id)
                    .fetch_optional(self.reader())
                    .await;
                    let found = found.map_err(|why| self.fault(&why))?;
                    found.map(sql::record).transpose()
                })
            }

            fn replace<'a>(&'a self, record: &'a Record, grants: &'a [Granted]) -> Answer<'a, bool> {
                Box::pin(async move {
                    let held = sql::json(&record.held)?;
                    let fault = |why: sqlx::Error| self.fault(&why);
                    let mut writer = self.writer(true).await?;
                    let mut step = writer.begin().await.map_err(fault)?;
                    let replaced = sqlx::query(
                        "UPDATE calls SET version = $4, state = $5, due = $7, settled_at = $8, writer = $9, held = $10,
                         live_until = CASE WHEN $6 = 0 OR live_until < $6 THEN $6 ELSE live_until END
                         WHERE session = $1 AND id = $2 AND version = $3",
                    )
                    .bind(&record.key.session)
                    .bind(&record.key.id)
                    .bind(record.version.saturating_sub(1))
                    .bind(record.version)
                    .bind(record.state.name())
                    .bind(record.live_until)
                    .bind(record.due)
                    .bind(record.settled_at)
                    .bind(&record.writer)
                    .bind(held)
                    .execute(&mut *step)
                    .await
                    .map_err(fault)?;
                    if replaced.rows_affected() == 0 {
                        step.rollback().await.map_err(fault)?;
                        return Ok(false);
                    }
                    for granted in grants {
                        let held = sql::json(&granted.grant)?;
                        sqlx::query(
                            "INSERT INTO grants (id, owner, session, created_at, held) VALUES ($1, $2, $3, $4, $5)
                             ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, held = excluded.held",
                        )
                        .bind(&granted.id)
                        .bind(granted.grant.user.as_deref().unwrap_or_default())
                        .bind(granted.grant.session.as_deref())
                        .bind(granted.grant.created_at.unwrap_or_default())
                        .bind(held)
                        .execute(&mut *step)
                        .await
                        .map_err(fault)?;
                    }
                    step.commit().await.map_err(fault)?;
                    drop(writer);
                    self.kept().await?;
                    Ok(true)
                })
            }

            fn renew<'a>(
                &'a self,
                keys: &'a [Key],
                state: &'static str,
                until: i64,
            ) -> Answer<'a, Vec<Key>> {
                Box::pin(async move {
                    let mut writer = self.writer(false).await?;
                    let renewed = sqlx::query_as(concat!(
                        "UPDATE calls SET live_until = CASE WHEN live_until < $1 THEN $1 ELSE live_until END
                         WHERE state = $2 AND (session, id) IN (", $pairs, ") RETURNING session, id",
                    ))
                    .bind(until)
                    .bind(state)
                    .bind(sql::pairs(keys))
                    .fetch_all(&mut *writer)
                    .await;
                    let renewed: Vec<(String, String)> = renewed.map_err(|why| self.fault(&why))?;
                    let keys = renewed.into_iter().map(|(session, id)| Key { session, id });
                    Ok(keys.collect())
                })
            }

            fn unsettled<'a>(&'a self, session: Option<&'a str>) -> Answer<'a, Vec<Record>> {
                Box::pin(async move {
                    let found = sqlx::query_as(
                        "SELECT session, id, version, state, live_until, due, created_at, settled_at, writer, held
                         FROM calls WHERE state <> 'settled' AND ($1 IS NULL OR session = $1)
                         ORDER BY created_at, session, id",
                    )
                    .bind(session)
                    .fetch_all(self.reader())
                    .await;
                    let found = found.map_err(|why| self.fault(&why))?;
                    found.into_iter().map(sql::record).collect()
                })
            }

            // That it is not settled is what the index goes by.
            fn count<'a>(&'a self, session: &'a str) -> Answer<'a, (usize, usize)> {
                Box::pin(async move {
                    let count: Result<(i64, i64), _> = sqlx::query_as(
                        "SELECT count(*), count(CASE WHEN session = $1 THEN 1 END)
                         FROM calls WHERE state <> 'settled' AND state = 'pending'",
                    )
                    .bind(session)
                    .fetch_one(self.reader())
                    .await;
                    let (all, own) = count.map_err(|why| self.fault(&why))?;
                    let size = |count| usize::try_from(count).unwrap_or_default();
                    Ok((size(all), size(own)))
                })
            }

            fn due(&self, now: i64, bound: bool) -> Answer<'_, Vec<Record>> {
                Box::pin(async move {
                    let found = sqlx::query_as(
                        "SELECT session, id, version, state, live_until, due, created_at, settled_at, writer, held
                         FROM calls WHERE state <> 'settled' AND ((state = 'pending' AND due <= $1)
                         OR (state = 'running' AND live_until <= $1)
                         OR ($2 = 1 AND state = 'decided' AND live_until <= $1))
                         UNION ALL
                         SELECT session, id, version, state, live_until, due, created_at, settled_at, writer, held
                         FROM calls WHERE $2 = 1 AND state = 'settled' AND due <= $1
                         ORDER BY created_at, session, id LIMIT 200",
                    )
                    .bind(now)
                    .bind(i64::from(bound))
                    .fetch_all(self.reader())
                    .await;
                    let found = found.map_err(|why| self.fault(&why))?;
                    found.into_iter().map(sql::record).collect()
                })
            }

            fn put_off<'a>(&'a self, record: &'a Record, due: Option<i64>) -> Answer<'a, bool> {
                Box::pin(async move {
                    let mut writer = self.writer(true).await?;
                    let put_off = sqlx::query(
                        "UPDATE calls SET due = $4 WHERE session = $1 AND id = $2 AND state = 'settled' AND due = $3",
                    )
                    .bind(&record.key.session)
                    .bind(&record.key.id)
                    .bind(record.due)
                    .bind(due)
                    .execute(&mut *writer)
                    .await;
                    Ok(put_off.map_err(|why| self.fault(&why))?.rows_affected() > 0)
                })
            }

            fn prune(&self, before: i64) -> Answer<'_, u64> {
                Box::pin(async move {
                    let mut writer = self.writer(false).await?;
                    let pruned = sqlx::query(
                        "DELETE FROM calls WHERE state = 'settled' AND due IS NULL AND settled_at < $1",
                    )
                    .bind(before)
                    .execute(&mut *writer)
                    .await;
                    Ok(pruned.map_err(|why| self.fault(&why))?.rows_affected())
                })
            }

            fn holding<'a>(
                &'a self,
                user: Option<&'a str>,
                session: &'a str,
            ) -> Answer<'a, Vec<Grant>> {
                Box::pin(async move {
                    let found = sqlx::query_as(
                        "SELECT id, held FROM grants
                         WHERE owner = $1 AND (session IS NULL OR session = $2)
                         ORDER BY created_at, id",
                    )
                    .bind(user.unwrap_or_default())
                    .bind(session)
                    .fetch_all(self.reader())
                    .await;
                    let found = found.map_err(|why| self.fault(&why))?;
                    let found = found.into_iter().map(sql::granted);
                    found.map(|granted| granted.map(|granted| granted.grant)).collect()
                })
            }

            fn grants(&self) -> Answer<'_, Vec<Granted>> {
                Box::pin(async move {
                    let found = sqlx::query_as("SELECT id, held FROM grants ORDER BY created_at, id")
                        .fetch_all(self.reader())
                        .await;
                    let found = found.map_err(|why| self.fault(&why))?;
                    found.into_iter().map(sql::granted).collect()
                })
            }

            fn revoke<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Granted>> {
                Box::pin(async move {
                    let mut writer = self.writer(true).await?;
                    let revoked = sqlx::query_as("DELETE FROM grants WHERE id = $1 RETURNING id, held")
                        .bind(id)
                        .fetch_optional(&mut *writer)
                        .await;
                    drop(writer);
                    let revoked = revoked.map_err(|why| self.fault(&why))?;
                    self.kept().await?;
                    revoked.map(sql::granted).transpose()
                })
            }

            fn changes(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>> {
                Box::pin(self.hear())
            }
        }
    };
}
pub(super) use store;
