//! Stores for tests: a new one of each kind, and one that fails when told to.

use acl::call::Grant;
use acl::session::gateway::record::{Key, Record, State};
use acl::session::gateway::store::{Answer, Change};
use acl::session::gateway::{Fault, Granted, Store, open};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The kinds that can be tested here, by name; says which they are.
pub fn kinds() -> Vec<Kind> {
    let postgres = std::env::var("ACL_TEST_POSTGRES").ok();
    let mut kinds = vec![Kind::Sqlite];
    match postgres.filter(|address| !address.is_empty()) {
        Some(address) => kinds.push(Kind::Postgres(address)),
        None => eprintln!("ran on SQLite only: ACL_TEST_POSTGRES is not set"),
    }
    kinds
}

#[derive(Clone, Debug)]
pub enum Kind {
    Sqlite,
    Postgres(String),
}

impl Kind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// The address of a new store: a file, or a database that is made.
    pub async fn address(&self) -> Place {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("acl_test_{}_{count}", std::process::id());
        match self {
            Self::Sqlite => {
                let path = std::env::temp_dir().join(format!("{name}.sqlite"));
                Place {
                    address: format!("sqlite:{}", path.display()),
                    made: None,
                }
            }
            Self::Postgres(address) => {
                administer(address, &format!("CREATE DATABASE {name}")).await;
                let mut url = url::Url::parse(address).expect("an address");
                url.set_path(&name);
                Place {
                    address: url.to_string(),
                    made: Some((address.clone(), name)),
                }
            }
        }
    }
}

async fn administer(address: &str, statement: &str) {
    use sqlx::Connection;
    let mut admin = sqlx::PgConnection::connect(address)
        .await
        .expect("PostgreSQL");
    sqlx::raw_sql(statement)
        .execute(&mut admin)
        .await
        .expect(statement);
}

/// A store's place, which is removed.
#[derive(Debug)]
pub struct Place {
    pub address: String,
    made: Option<(String, String)>,
}

impl Place {
    pub async fn open(&self) -> Arc<dyn Store> {
        open(&self.address).await.expect("a store")
    }

    /// Breaks every connection to a database.
    pub async fn disconnect(&self) {
        let (address, name) = self.made.as_ref().expect("a database");
        let all = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        administer(address, &all).await;
    }

    pub async fn remove(self) {
        match &self.made {
            Some((address, name)) => {
                administer(address, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
            }
            None => {
                let path = self.address.trim_start_matches("sqlite:");
                for more in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{path}{more}"));
                }
            }
        }
    }
}

/// A store that fails when told to.
pub struct Failing {
    inner: Arc<dyn Store>,
    how: AtomicU8,
}

/// Nothing fails.
pub const SOUND: u8 = 0;
/// Everything fails.
pub const BROKEN: u8 = 1;
/// Only a new question cannot be stored.
pub const NO_QUESTION: u8 = 2;
/// A new question is stored, but that is not heard.
pub const UNHEARD: u8 = 3;

impl Failing {
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            how: AtomicU8::new(SOUND),
        }
    }

    pub fn fail(&self, how: u8) {
        self.how.store(how, Ordering::SeqCst);
    }

    fn how(&self) -> u8 {
        self.how.load(Ordering::SeqCst)
    }

    fn through<'a, T: Send + 'a>(&self, answer: Answer<'a, T>) -> Answer<'a, T> {
        match self.how() {
            BROKEN => Box::pin(async { Err(Fault::Store("it is broken".into())) }),
            _ => answer,
        }
    }
}

impl Store for Failing {
    fn add<'a>(&'a self, record: &'a Record) -> Answer<'a, Option<Record>> {
        let answer = self.inner.add(record);
        match (self.how(), record.state) {
            (NO_QUESTION, State::Pending) => {
                Box::pin(async { Err(Fault::Store("no question".into())) })
            }
            (UNHEARD, State::Pending) => Box::pin(async {
                answer.await?;
                Err(Fault::Store("unheard".into()))
            }),
            _ => self.through(answer),
        }
    }

    fn find<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Record>> {
        self.through(self.inner.find(key))
    }

    fn replace<'a>(&'a self, record: &'a Record, grants: &'a [Granted]) -> Answer<'a, bool> {
        self.through(self.inner.replace(record, grants))
    }

    fn renew<'a>(
        &'a self,
        keys: &'a [Key],
        state: &'static str,
        until: i64,
    ) -> Answer<'a, Vec<Key>> {
        self.through(self.inner.renew(keys, state, until))
    }

    fn unsettled<'a>(&'a self, session: Option<&'a str>) -> Answer<'a, Vec<Record>> {
        self.through(self.inner.unsettled(session))
    }

    fn count<'a>(&'a self, session: &'a str) -> Answer<'a, (usize, usize)> {
        self.through(self.inner.count(session))
    }

    fn due(&self, now: i64, bound: bool) -> Answer<'_, Vec<Record>> {
        self.through(self.inner.due(now, bound))
    }

    fn put_off<'a>(&'a self, record: &'a Record, due: Option<i64>) -> Answer<'a, bool> {
        self.through(self.inner.put_off(record, due))
    }

    fn prune(&self, before: i64) -> Answer<'_, u64> {
        self.through(self.inner.prune(before))
    }

    fn holding<'a>(&'a self, user: Option<&'a str>, session: &'a str) -> Answer<'a, Vec<Grant>> {
        self.through(self.inner.holding(user, session))
    }

    fn grants(&self) -> Answer<'_, Vec<Granted>> {
        self.through(self.inner.grants())
    }

    fn revoke<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Granted>> {
        self.through(self.inner.revoke(id))
    }

    fn changes(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>> {
        self.inner.changes()
    }
}
