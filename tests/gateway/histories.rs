//! Random histories of calls, words, restarts and time-outs, on a clock that is set by hand: each call has one end, an
//! event or a settlement; nothing that was approved is lost, and nothing runs more often than somebody said yes.

use crate::stores::{Kind, kinds};
use crate::support::{Hands, Notebook, Witness, call, ended, matcher, submission};
use acl::session::gateway::wire::{Basis, Path, Remember, Terminal};
use acl::session::gateway::{Fault, Gateway, Options, Store, Submitted, Word};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(20);
const CALLS: usize = 6;

const POLICIES: [&str; 3] = [
    "version = 1\n[tiers]\nask = [\"t\"]\nallow = [\"u\"]\ndeny = [\"v\"]\n",
    "version = 1\n[tiers]\ndeny = [\"t\"]\nallow = [\"u\"]\nask = [\"v\"]\n",
    "version = 1\n[tiers]\nallow = [\"t\", \"u\"]\ndeny = [\"v\"]\n",
];

#[derive(Clone, Debug)]
enum Op {
    Submit(usize),
    Wait(usize),
    Decide(usize, bool, Remember),
    /// Two words at once.
    Both(usize),
    Cancel(usize),
    Gone,
    TimeOut,
    Tick,
    /// Another gateway takes the place of this one, whose work in the background goes on.
    Restart,
    Reload(usize),
    Unsure(bool),
    Deaf(bool),
    Pause,
}

fn op() -> impl Strategy<Value = Op> {
    let id = 0..CALLS;
    let remember = prop_oneof![
        6 => Just(Remember::None),
        1 => Just(Remember::Session),
        1 => Just(Remember::Global),
    ];
    prop_oneof![
        6 => id.clone().prop_map(Op::Submit),
        4 => id.clone().prop_map(Op::Wait),
        6 => (id.clone(), any::<bool>(), remember).prop_map(|(id, yes, remember)| Op::Decide(id, yes, remember)),
        1 => id.clone().prop_map(Op::Both),
        1 => id.prop_map(Op::Cancel),
        3 => Just(Op::Gone),
        1 => Just(Op::TimeOut),
        2 => Just(Op::Tick),
        2 => Just(Op::Restart),
        1 => (0..POLICIES.len()).prop_map(Op::Reload),
        1 => any::<bool>().prop_map(Op::Unsure),
        1 => any::<bool>().prop_map(Op::Deaf),
        1 => Just(Op::Pause),
    ]
}

/// What was said to and heard of a call.
#[derive(Debug, Default)]
struct Heard {
    submitted: bool,
    yes: usize,
    no: usize,
    cancelled: bool,
    ends: Vec<Terminal>,
    /// Its run was told to run it.
    told_to_run: bool,
}

struct World {
    store: Arc<dyn Store>,
    hands: Hands,
    notebook: Arc<Notebook>,
    witness: Arc<Witness>,
    gateway: Gateway,
    policy: usize,
    restarted: bool,
    heard: BTreeMap<usize, Heard>,
}

impl World {
    fn new(store: Arc<dyn Store>) -> Self {
        let (hands, witness) = (Hands::new(), Arc::new(Witness::default()));
        let notebook = Arc::new(Notebook::default());
        Self {
            gateway: gateway(&store, 0, &hands, &witness, &notebook),
            store,
            hands,
            notebook,
            witness,
            policy: 0,
            restarted: false,
            heard: BTreeMap::new(),
        }
    }

    async fn submit(&mut self, id: usize) -> Result<(), String> {
        let tool = ["t", "t", "t", "t", "u", "v"][id];
        let call = call(session(id), &name(id), tool, json!({"n": id}));
        let submitted = self.gateway.submit(submission(call)).await;
        self.heard.entry(id).or_default().submitted = true;
        self.hear(id, submitted)
    }

    fn hear(&mut self, id: usize, said: Result<Submitted, Fault>) -> Result<(), String> {
        match said {
            Ok(Submitted::Pending(_)) | Err(Fault::NotFound | Fault::RunActive) => Ok(()),
            Ok(Submitted::Settled(end)) => {
                let heard = self.heard.entry(id).or_default();
                heard.told_to_run |= end.to_run();
                heard.ends.push(end);
                Ok(())
            }
            Err(why) => Err(format!("{}: {why}", name(id))),
        }
    }

    async fn decide(
        &mut self,
        id: usize,
        approved: bool,
        remember: Remember,
    ) -> Result<(), String> {
        let word = Word {
            approved,
            remember,
            by: None,
        };
        let decided = self.gateway.decide(session(id), &name(id), word).await;
        self.word(id, approved, decided)
    }

    fn word(&mut self, id: usize, yes: bool, path: Result<Path, Fault>) -> Result<(), String> {
        let heard = self.heard.entry(id).or_default();
        match path {
            Ok(_) if yes => heard.yes += 1,
            Ok(_) => heard.no += 1,
            Err(Fault::NotFound | Fault::RunActive) => {}
            Err(why) => return Err(format!("{}: {why}", name(id))),
        }
        Ok(())
    }

    async fn does(&mut self, op: &Op) -> Result<(), String> {
        match *op {
            Op::Submit(id) => self.submit(id).await?,
            Op::Wait(id) => {
                let brief = Duration::from_millis(1);
                let said = self.gateway.wait(session(id), &name(id), brief).await;
                self.hear(id, said)?;
            }
            Op::Decide(id, yes, remember) => self.decide(id, yes, remember).await?,
            Op::Both(id) => {
                let say = |approved| {
                    let word = Word {
                        approved,
                        ..Word::default()
                    };
                    let gateway = self.gateway.clone();
                    async move { gateway.decide(session(id), &name(id), word).await }
                };
                let (one, other) = tokio::join!(say(true), say(false));
                if one.is_ok() && other.is_ok() {
                    return Err(format!("{}: both words count", name(id)));
                }
                self.word(id, true, one)?;
                self.word(id, false, other)?;
            }
            Op::Cancel(id) => {
                let end = self.gateway.cancel(session(id), &name(id)).await;
                if end.is_ok() {
                    self.heard.entry(id).or_default().cancelled = true;
                }
                self.hear(id, end.map(Submitted::Settled))?;
            }
            Op::Gone => self.hands.forward(LEASE + Duration::from_secs(1)),
            Op::TimeOut => self.hands.forward(Duration::from_secs(600)),
            Op::Tick => self.tick().await?,
            Op::Restart => {
                self.restarted = true;
                let (store, notebook) = (&self.store, &self.notebook);
                self.gateway = gateway(store, self.policy, &self.hands, &self.witness, notebook);
            }
            Op::Reload(policy) => {
                self.policy = policy;
                self.gateway.reload(matcher(POLICIES[policy]));
            }
            Op::Unsure(unsure) => self.notebook.unsure.store(unsure, Ordering::SeqCst),
            Op::Deaf(deaf) => self.notebook.deaf.store(deaf, Ordering::SeqCst),
            Op::Pause => tokio::time::sleep(Duration::from_millis(3)).await,
        }
        Ok(())
    }

    async fn tick(&self) -> Result<(), String> {
        self.gateway.tick().await.map_err(|why| why.to_string())
    }

    /// Brings everything to its end: the runs are gone, and a person says no to whatever is asked.
    async fn ends(&mut self) -> Result<(), String> {
        self.notebook.unsure.store(false, Ordering::SeqCst);
        self.notebook.deaf.store(false, Ordering::SeqCst);
        for round in 0..200 {
            self.hands.forward(LEASE + Duration::from_secs(1));
            self.tick().await?;
            tokio::time::sleep(Duration::from_millis(2)).await;
            let mut open = 0;
            for id in 0..CALLS {
                if !self.heard.get(&id).is_some_and(|heard| heard.submitted) {
                    continue;
                }
                match self.gateway.look(session(id), &name(id)).await {
                    Ok(Submitted::Settled(_)) => {}
                    Ok(Submitted::Pending(_)) => {
                        open += 1;
                        self.decide(id, false, Remember::None).await?;
                    }
                    Err(why) => return Err(format!("{} is lost: {why}", name(id))),
                }
            }
            let resumed = self.store.due(i64::MAX, true).await;
            let resumed = resumed.map_err(|why| why.to_string())?.is_empty();
            if open == 0 && resumed {
                return Ok(());
            }
            if round == 199 {
                return Err(format!("{open} without an end"));
            }
        }
        Ok(())
    }

    async fn check(&self) -> Result<(), String> {
        for (id, heard) in self.heard.iter().filter(|(_, heard)| heard.submitted) {
            let name = name(*id);
            let end = match self.gateway.look(session(*id), &name).await {
                Ok(Submitted::Settled(end)) => end,
                other => return Err(format!("{name}: {other:?}")),
            };
            let wrong = |what: &str| Err(format!("{name}: {what}: {end:?}, {heard:?}"));
            for other in &heard.ends {
                let same = Terminal {
                    basis: end.basis,
                    ..other.clone()
                };
                let repeats = other.basis == end.basis || other.basis == Basis::Duplicate;
                if same != end || !repeats {
                    return wrong("it had two ends");
                }
            }
            let events = self.witness.ended.lock().unwrap();
            let events = events
                .iter()
                .filter(|(event, _)| event.call == name)
                .count();
            if events + usize::from(end.path.is_some()) != 1 {
                return wrong(&format!("{events} events"));
            }
            let runs = self.notebook.runs.lock().unwrap();
            let runs = runs.iter().filter(|run| **run == name).count();
            let by_host = usize::from(heard.told_to_run && end.basis == Basis::Approval);
            if runs + by_host > heard.yes {
                return wrong(&format!("{runs} runs"));
            }
            let resumed = self.notebook.resumed.lock().unwrap();
            let resumed: Vec<_> = resumed.iter().filter(|(id, _)| *id == name).collect();
            match end.path {
                Some(Path::Recovery) if end.allowed && runs == 0 => return wrong("it did not run"),
                // A gateway that was replaced may be starting one when the next finds that none has started.
                Some(Path::Recovery)
                    if resumed.is_empty()
                        || (resumed.len() > 1 && !self.restarted)
                        || resumed.iter().any(|(_, told)| *told != end) =>
                {
                    return wrong(&format!("{} continuations", resumed.len()));
                }
                None | Some(Path::Live) if !resumed.is_empty() => return wrong("a continuation"),
                _ => {}
            }
            if end.basis == Basis::Refusal && heard.no == 0 {
                return wrong("nobody said no");
            }
        }
        Ok(())
    }
}

fn name(id: usize) -> String {
    format!("c{id}")
}

fn session(id: usize) -> &'static str {
    if id.is_multiple_of(2) { "s0" } else { "s1" }
}

fn gateway(
    store: &Arc<dyn Store>,
    policy: usize,
    hands: &Hands,
    witness: &Arc<Witness>,
    notebook: &Arc<Notebook>,
) -> Gateway {
    let options = Options {
        lease: LEASE,
        clock: hands.clock(),
        observer: Some(Arc::clone(witness) as Arc<_>),
        ..Options::default()
    };
    let gateway = Gateway::new(Arc::clone(store), matcher(POLICIES[policy]), options);
    gateway.bind(Arc::clone(notebook) as Arc<_>);
    gateway
}

async fn history(kind: &Kind, ops: &[Op]) -> Result<(), String> {
    let place = kind.address().await;
    let mut world = World::new(place.open().await);
    let mut lived = Ok(());
    for op in ops {
        lived = world.does(op).await;
        if lived.is_err() {
            break;
        }
    }
    if lived.is_ok() {
        lived = world.ends().await;
    }
    if lived.is_ok() {
        lived = world.check().await;
    }
    let told: Vec<String> = {
        let ended = world.witness.ended.lock().unwrap();
        ended
            .iter()
            .map(|(event, end)| format!("{} {}", event.call, self::ended(end)))
            .collect()
    };
    drop(world);
    place.remove().await;
    lived.map_err(|why| format!("{why}; events: {told:?}"))
}

#[test]
fn one_end_each() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let count = std::env::var("ACL_HISTORIES").ok();
    let count = count.and_then(|count| count.parse().ok());
    for kind in kinds() {
        let cases = count.unwrap_or(match kind {
            Kind::Sqlite => 150,
            Kind::Postgres(_) => 40,
        });
        let config = Config {
            cases,
            failure_persistence: None,
            max_shrink_iters: 200,
            ..Config::default()
        };
        let mut runner = TestRunner::new(config);
        let ran = runner.run(&prop::collection::vec(op(), 1..50), |ops| {
            let lived = runtime.block_on(history(&kind, &ops));
            lived.map_err(TestCaseError::fail)
        });
        assert!(ran.is_ok(), "{}: {}", kind.name(), ran.unwrap_err());
        eprintln!("{cases} histories on {}", kind.name());
    }
}
