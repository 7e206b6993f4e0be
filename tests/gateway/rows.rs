//! The rows of `lifecycle.jsonl`: a policy, and steps, each with what must come of it.
//!
//! `submit c1 t`, `decide c1 yes session`, `gone` … on the left, what must come of it on the right; `World::step` lists
//! them all. Each row starts with an empty store; its clock stands still, but for `gone` and `time-out`.

use crate::stores::{BROKEN, Failing, Kind, NO_QUESTION, Place, SOUND, UNHEARD, kinds};
use crate::support::{Hands, Notebook, Witness, call, ended, matcher, submission, word, words};
use acl::call::{Call, Said};
use acl::session::gateway::wire::{Path, Remember};
use acl::session::gateway::{Fault, Gateway, Options, Submitted, Word};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinHandle;

const LEASE: Duration = Duration::from_secs(20);
const TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// As the system that this follows names it, where it does.
    name: String,
    /// Why it is otherwise than there.
    #[serde(default)]
    #[allow(dead_code, reason = "for whoever reads the rows")]
    note: String,
    /// Tier → tools.
    #[serde(default)]
    tiers: BTreeMap<String, Value>,
    /// More of the policy.
    #[serde(default)]
    policy: String,
    /// What authorities say of each call.
    #[serde(default)]
    verdicts: BTreeMap<String, String>,
    #[serde(default = "yes")]
    grants: bool,
    steps: Vec<(String, String)>,
}

fn yes() -> bool {
    true
}

struct World {
    place: Place,
    store: Arc<Failing>,
    hands: Hands,
    notebook: Arc<Notebook>,
    witness: Arc<Witness>,
    gateway: Gateway,
    policy: String,
    verdicts: BTreeMap<String, String>,
    grants: bool,
    waiting: BTreeMap<String, JoinHandle<Result<Submitted, Fault>>>,
    texts: BTreeMap<String, String>,
}

fn policy(row: &Row) -> String {
    let mut text = String::from("version = 1\n[tiers]\n");
    for (tier, tools) in &row.tiers {
        writeln!(text, "{tier} = {tools}").unwrap();
    }
    text + &row.policy
}

impl World {
    async fn new(kind: &Kind, row: &Row) -> Self {
        let place = kind.address().await;
        let store = Arc::new(Failing::new(place.open().await));
        let (hands, witness) = (Hands::new(), Arc::new(Witness::default()));
        let policy = policy(row);
        let mut world = Self {
            gateway: gateway(&store, &policy, row.grants, &hands, &witness),
            place,
            store,
            hands,
            notebook: Arc::default(),
            witness,
            policy,
            verdicts: row.verdicts.clone(),
            grants: row.grants,
            waiting: BTreeMap::new(),
            texts: BTreeMap::new(),
        };
        world.bind();
        world
    }

    fn bind(&mut self) {
        let notebook = Arc::clone(&self.notebook);
        self.gateway.bind(notebook);
    }

    fn call(&self, id: &str, words: &[&str]) -> Call {
        let tool = words.first().copied().unwrap_or("t");
        let session = words.iter().position(|word| *word == "in");
        let session = session.and_then(|at| words.get(at + 1)).unwrap_or(&"s1");
        let args = words.iter().find(|word| word.starts_with('{'));
        let args = args.map_or(json!({}), |args| serde_json::from_str(args).unwrap());
        let said = self.verdicts.iter();
        let said = said.map(|(name, said)| (name.clone(), Said::parse(said).unwrap()));
        Call {
            verdicts: said.collect(),
            ..call(session, id, tool, args)
        }
    }

    /// Does a step; what came of it.
    async fn step(&mut self, step: &str, want: &str) -> String {
        let words: Vec<&str> = step.split_whitespace().collect();
        let id = words.get(1).copied().unwrap_or_default().to_owned();
        let rest = words.get(2..).unwrap_or_default();
        let session = rest.iter().position(|word| *word == "in");
        let session = session
            .and_then(|at| rest.get(at + 1))
            .unwrap_or(&"s1")
            .to_string();
        let gateway = self.gateway.clone();
        match words[0] {
            "submit" => {
                let submitted = gateway.submit(submission(self.call(&id, rest))).await;
                self.said(&id, submitted)
            }
            "waiting" => {
                let task =
                    async move { gateway.wait(&session, &id, Duration::from_secs(20)).await };
                let id = words[1].to_owned();
                self.waiting.insert(id, tokio::spawn(task));
                // Long enough to sit down.
                tokio::time::sleep(Duration::from_millis(30)).await;
                String::new()
            }
            "woken" => {
                let waiting = self.waiting.remove(&id).expect("nobody waits");
                let submitted = waiting.await.unwrap();
                self.said(&id, submitted)
            }
            "wait" => {
                let submitted = gateway.wait(&session, &id, Duration::from_millis(5)).await;
                self.said(&id, submitted)
            }
            // As it is once whatever goes on in the background is done.
            "look" => {
                let mut submitted = gateway.look(&session, &id).await;
                for _ in 0..1000 {
                    if submitted.as_ref().map_or_else(fault, self::words) == want {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    submitted = gateway.look(&session, &id).await;
                }
                self.said(&id, submitted)
            }
            "decide" => {
                let remember = match rest.get(1) {
                    Some(&"session") => Remember::Session,
                    Some(&"global") => Remember::Global,
                    _ => Remember::None,
                };
                let by = rest.iter().position(|word| *word == "by");
                let word = Word {
                    approved: rest[0] == "yes",
                    remember,
                    by: by
                        .and_then(|at| rest.get(at + 1))
                        .map(|by| (*by).to_owned()),
                };
                decided(gateway.decide(&session, &id, word).await)
            }
            "both" => {
                let say = |approved| {
                    let word = Word {
                        approved,
                        ..Word::default()
                    };
                    gateway.decide("s1", &id, word)
                };
                let (one, other) = tokio::join!(say(true), say(false));
                let mut both = [decided(one), decided(other)];
                both.sort();
                both.join(", ")
            }
            "cancel" => {
                let end = gateway.cancel(&session, &id).await;
                self.said(&id, end.map(Submitted::Settled))
            }
            "gone" => {
                self.hands.forward(LEASE + Duration::from_secs(1));
                String::new()
            }
            "time-out" => {
                self.hands.forward(TIMEOUT);
                gateway.tick().await.unwrap();
                String::new()
            }
            "tick" => gateway
                .tick()
                .await
                .as_ref()
                .map_or_else(fault, |()| String::new()),
            "restart" | "unbound" => {
                self.store.fail(SOUND);
                self.gateway = self::gateway(
                    &self.store,
                    &self.policy,
                    self.grants,
                    &self.hands,
                    &self.witness,
                );
                if words[0] == "restart" {
                    self.bind();
                }
                self.gateway.tick().await.unwrap();
                String::new()
            }
            "bind" => {
                self.bind();
                String::new()
            }
            "reload" => {
                let tiers = step.trim_start_matches("reload ");
                gateway.reload(matcher(&format!("version = 1\n[tiers]\n{tiers}")));
                String::new()
            }
            "store" => {
                self.store.fail(match id.as_str() {
                    "breaks" => BROKEN,
                    "takes-no-question" => NO_QUESTION,
                    "is-unheard" => UNHEARD,
                    _ => SOUND,
                });
                String::new()
            }
            "runner" => {
                let notebook = &self.notebook;
                match id.as_str() {
                    "misses" => drop(notebook.missing.lock().unwrap().insert(rest[0].into())),
                    "active" => notebook.active.store(true, Ordering::SeqCst),
                    "free" => notebook.active.store(false, Ordering::SeqCst),
                    "unsure" => notebook.unsure.store(true, Ordering::SeqCst),
                    "sure" => notebook.unsure.store(false, Ordering::SeqCst),
                    "deaf" => notebook.deaf.store(true, Ordering::SeqCst),
                    "hears" => notebook.deaf.store(false, Ordering::SeqCst),
                    "stuck" => notebook.stuck.store(true, Ordering::SeqCst),
                    "goes-on" => notebook.stuck.store(false, Ordering::SeqCst),
                    other => panic!("a runner that is {other}"),
                }
                String::new()
            }
            "observer" => {
                self.witness.panics.store(true, Ordering::SeqCst);
                String::new()
            }
            // Soon: a word that leads nowhere is put back in the background.
            "pending" => {
                for _ in 0..200 {
                    if self.listed().await == want {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                self.listed().await
            }
            "remembers" => {
                let listed = gateway
                    .pending(None, usize::MAX)
                    .await
                    .map(|(listed, _)| listed)
                    .unwrap();
                joined(listed.iter().flat_map(|listed| listed.remembers.clone()))
            }
            "grants" => {
                let grants = gateway.grants().await.unwrap();
                joined(grants.iter().map(|granted| {
                    let grant = &granted.grant;
                    let of = grant.rule.as_ref().or(grant.tool.as_ref()).unwrap();
                    let session = grant.session.as_deref().unwrap_or("all");
                    format!("{of} {session} by {}", grant.created_by.as_deref().unwrap())
                }))
            }
            "revoke" => {
                let grants = gateway.grants().await.unwrap();
                for granted in grants {
                    gateway.revoke(&granted.id).await.unwrap();
                }
                String::new()
            }
            "events" => {
                let ended = self.witness.ended.lock().unwrap();
                joined(ended.iter().map(|(event, end)| {
                    assert_eq!(*event, end.event().unwrap());
                    format!("{} {}", event.call, self::ended(end))
                }))
            }
            "runs" | "continuations" => {
                let mut last = String::new();
                for _ in 0..1000 {
                    last = match words[0] {
                        "runs" => joined(self.notebook.runs.lock().unwrap().iter().cloned()),
                        _ => {
                            let resumed = self.notebook.resumed.lock().unwrap();
                            joined(resumed.iter().map(|(id, _)| id.clone()))
                        }
                    };
                    if last == want {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                last
            }
            "text" => self.texts.get(&id).cloned().unwrap_or_default(),
            "texts" => {
                let texts = [id.as_str(), rest[0]].map(|id| self.texts[id].clone());
                let same = texts[0] == texts[1];
                if same {
                    "the same".into()
                } else {
                    texts.join(" | ")
                }
            }
            other => panic!("no step `{other}`"),
        }
    }

    async fn listed(&self) -> String {
        match self
            .gateway
            .pending(None, usize::MAX)
            .await
            .map(|(listed, _)| listed)
        {
            Ok(listed) => joined(listed.iter().map(|listed| {
                let live = if listed.live { "live" } else { "gone" };
                let note = if listed.note.is_some() { " note" } else { "" };
                format!("{} {live}{note}", listed.confirmation.confirmation_id)
            })),
            Err(why) => fault(&why),
        }
    }

    fn said(&mut self, id: &str, submitted: Result<Submitted, Fault>) -> String {
        if let Ok(Submitted::Settled(end)) = &submitted {
            let text = end.result.clone().or(end.text.clone());
            self.texts.insert(id.to_owned(), text.unwrap_or_default());
        }
        submitted.as_ref().map_or_else(fault, words)
    }
}

fn gateway(
    store: &Arc<Failing>,
    policy: &str,
    grants: bool,
    hands: &Hands,
    witness: &Arc<Witness>,
) -> Gateway {
    let options = Options {
        timeout: TIMEOUT,
        lease: LEASE,
        grants,
        clock: hands.clock(),
        observer: Some(Arc::clone(witness) as Arc<_>),
        most_pending: 5,
        ..Options::default()
    };
    Gateway::new(Arc::clone(store) as Arc<_>, matcher(policy), options)
}

fn joined(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

fn decided(path: Result<Path, Fault>) -> String {
    path.as_ref().map_or_else(fault, word)
}

fn fault(why: &Fault) -> String {
    match why {
        Fault::NotFound => "not-found",
        Fault::NotBound => "not-bound",
        Fault::RunActive => "run-active",
        Fault::Full => "full",
        Fault::Invalid(_) => "invalid",
        Fault::Store(_) => "store",
    }
    .into()
}

/// Whether what came is what was wanted: all of it, or, after `~`, a part.
fn is(came: &str, want: &str) -> bool {
    match want.strip_prefix('~') {
        Some(part) => came.contains(part),
        None => came == want,
    }
}

async fn run(kind: &Kind, row: &Row) -> Result<(), String> {
    let mut world = World::new(kind, row).await;
    let mut came_of = Ok(());
    for (at, (step, want)) in row.steps.iter().enumerate() {
        let came = world.step(step, want).await;
        if !is(&came, want) {
            let failed = world.witness.failed.lock().unwrap().join("; ");
            came_of = Err(format!(
                "{}, {}: step {at}, `{step}`: wanted `{want}`, came `{came}` ({failed})",
                kind.name(),
                row.name
            ));
            break;
        }
    }
    drop(world.gateway);
    drop(world.store);
    world.place.remove().await;
    came_of
}

#[test]
fn lifecycle() {
    std::panic::set_hook(Box::new({
        let usual = std::panic::take_hook();
        move |info| {
            if !info.to_string().contains("as it was told to") {
                usual(info);
            }
        }
    }));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut wrong = Vec::new();
    let rows = include_str!("lifecycle.jsonl").lines();
    let rows = rows.map(|line| {
        serde_json::from_str::<Row>(line).unwrap_or_else(|why| panic!("{why}: {line}"))
    });
    let rows: Vec<Row> = rows.collect();
    for kind in kinds() {
        for row in &rows {
            wrong.extend(runtime.block_on(run(&kind, row)).err());
        }
        eprintln!("{} rows on {}", rows.len(), kind.name());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: Map<String, Value> = rows
        .iter()
        .map(|row| (row.name.clone(), Value::Null))
        .collect();
    assert_eq!(names.len(), rows.len(), "each name once");
}
