//! Two gateways on one store: a word said at one wakes the call that waits at the other, and counts once.

use crate::stores::{Kind, Place, kinds};
use crate::support::{Notebook, Witness, call, ended, matcher, submission, words};
use acl::session::gateway::wire::{Path, Remember, Terminal};
use acl::session::gateway::{Event, Fault, Gateway, Options, Submitted, Word, open};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

const POLICY: &str = "version = 1\n[tiers]\nask = [\"t\"]\nallow = [\"u\"]\n";

struct Two {
    place: Place,
    gateways: [Gateway; 2],
    notebook: Arc<Notebook>,
    witness: Arc<Witness>,
}

impl Two {
    /// Two gateways, each with its own connections.
    async fn new(kind: &Kind, lease: Duration) -> Self {
        let place = kind.address().await;
        let (notebook, witness) = (Arc::new(Notebook::default()), Arc::new(Witness::default()));
        let mut gateways = Vec::new();
        for _ in 0..2 {
            let options = Options {
                lease,
                observer: Some(Arc::clone(&witness) as Arc<_>),
                ..Options::default()
            };
            let gateway = Gateway::new(place.open().await, matcher(POLICY), options);
            gateway.bind(Arc::clone(&notebook) as Arc<_>);
            gateway.recover().await.unwrap();
            gateways.push(gateway);
        }
        Self {
            place,
            gateways: gateways.try_into().unwrap(),
            notebook,
            witness,
        }
    }

    async fn submitted(&self, id: &str) {
        let call = call("s1", id, "t", json!({}));
        let submitted = self.gateways[0].submit(submission(call)).await.unwrap();
        assert_eq!(words(&submitted), "pending");
    }

    fn waiting(&self, id: &str) -> tokio::task::JoinHandle<Result<Submitted, Fault>> {
        let (gateway, id) = (self.gateways[0].clone(), id.to_owned());
        tokio::spawn(async move { gateway.wait("s1", &id, Duration::from_secs(30)).await })
    }

    async fn removed(self) {
        drop(self.gateways);
        self.place.remove().await;
    }
}

fn yes() -> Word {
    Word {
        approved: true,
        remember: Remember::Global,
        by: Some("ada".into()),
    }
}

/// The first end that is told.
async fn told(events: &mut broadcast::Receiver<Event>) -> Terminal {
    loop {
        let event = tokio::time::timeout(Duration::from_secs(10), events.recv()).await;
        if let Event::Settled(end) = event.expect("no event").unwrap() {
            return end;
        }
    }
}

#[test]
fn a_word_said_elsewhere_wakes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in kinds() {
        runtime.block_on(async {
            let two = Two::new(&kind, Duration::from_secs(4)).await;
            let mut elsewhere = two.gateways[1].events();
            two.submitted("c1").await;
            let waiting = two.waiting("c1");
            // Well past the lease of the submission: that it waits is seen at the other, too.
            tokio::time::sleep(Duration::from_secs(6)).await;
            let listed = two.gateways[1]
                .pending(Some("s1"), usize::MAX)
                .await
                .map(|(listed, _)| listed)
                .unwrap();
            assert_eq!(listed.len(), 1);
            assert!(listed[0].live, "its lease is renewed for all to see");
            let started = Instant::now();
            let path = two.gateways[1].decide("s1", "c1", yes()).await;
            assert_eq!(path, Ok(Path::Live));
            let woken = waiting.await.unwrap().unwrap();
            assert_eq!(words(&woken), "allow approval live");
            let took = started.elapsed();
            if matches!(kind, Kind::Postgres(_)) {
                assert!(
                    took < Duration::from_millis(500),
                    "woken, not found: {took:?}"
                );
                // What happens at one is told at the other; only where it happens, it is an event for the observer.
                let Event::Pending(asked) = elsewhere.recv().await.unwrap() else {
                    panic!("no question")
                };
                assert_eq!(asked.confirmation_id, "c1");
                assert_eq!(ended(&told(&mut elsewhere).await), "allow approval live");
            }
            eprintln!("{}: woken after {took:?}", kind.name());
            // What is remembered counts everywhere.
            let again = two.gateways[1].submit(submission(call("s2", "c1", "t", json!({}))));
            assert_eq!(words(&again.await.unwrap()), "allow grant");
            assert_eq!(two.witness.ended.lock().unwrap().len(), 1);
            two.removed().await;
        });
    }
}

#[test]
fn of_two_words_one_counts() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in kinds() {
        runtime.block_on(async {
            // Nobody waits, and the lease is over at once: each word that counted would run it.
            let two = Two::new(&kind, Duration::from_millis(400)).await;
            for round in 0..10 {
                let id = format!("c{round}");
                two.submitted(&id).await;
                tokio::time::sleep(Duration::from_millis(450)).await;
                let say = |at: usize| {
                    let (gateway, id) = (two.gateways[at].clone(), id.clone());
                    tokio::spawn(async move { gateway.decide("s1", &id, yes()).await })
                };
                let all = [say(0), say(1), say(0), say(1)];
                let mut counted = Vec::new();
                for said in all {
                    match said.await.unwrap() {
                        Ok(path) => counted.push(path),
                        Err(why) => {
                            assert!(matches!(why, Fault::NotFound | Fault::RunActive), "{why}")
                        }
                    }
                }
                assert_eq!(counted.len(), 1, "{counted:?}");
                let settled = two.gateways[0]
                    .wait("s1", &id, Duration::from_secs(10))
                    .await;
                assert!(words(&settled.unwrap()).starts_with("allow approval"));
                for grant in two.gateways[0].grants().await.unwrap() {
                    two.gateways[1].revoke(&grant.id).await.unwrap();
                }
            }
            let runs = two.notebook.runs.lock().unwrap().clone();
            let mut once = runs.clone();
            once.dedup();
            assert_eq!(runs, once);
            eprintln!(
                "{}: 10 rounds, {} of them runs in the place of a run",
                kind.name(),
                runs.len()
            );
            two.removed().await;
        });
    }
}

/// The database lets go of every connection: the gateways connect anew, and nothing that waits is forgotten.
#[test]
fn connections_break() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in kinds() {
        if !matches!(kind, Kind::Postgres(_)) {
            continue;
        }
        runtime.block_on(async {
            let two = Two::new(&kind, Duration::from_secs(4)).await;
            for round in 0..3 {
                let id = format!("c{round}");
                two.submitted(&id).await;
                let waiting = two.waiting(&id);
                tokio::time::sleep(Duration::from_millis(100)).await;
                two.place.disconnect().await;
                let mut decided = Err(Fault::NotFound);
                for _ in 0..50 {
                    let word = Word {
                        remember: Remember::None,
                        ..yes()
                    };
                    decided = two.gateways[1].decide("s1", &id, word).await;
                    // A connection that broke is told once, to whoever used it first.
                    if !matches!(decided, Err(Fault::Store(_))) {
                        break;
                    }
                }
                assert_eq!(decided, Ok(Path::Live));
                let woken = match waiting.await.unwrap() {
                    Err(Fault::Store(_)) => two.waiting(&id).await.unwrap(),
                    woken => woken,
                };
                assert_eq!(words(&woken.unwrap()), "allow approval live");
            }
            two.removed().await;
        });
    }
}

/// The password of an address is in no error.
#[test]
fn no_secret_is_told() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let addresses = [
        "postgres://acl:hunter2%21@127.0.0.1:1/none",
        "postgres://acl:hunter2%21@127.0.0.1:notaport/none",
        "postgres://127.0.0.1:1/none?user=acl&password=hunter2!",
        "mysql://acl:hunter2!@127.0.0.1/none",
        "acl:hunter2!",
    ];
    for address in addresses {
        let opened = runtime.block_on(open(address));
        let why = opened.err().expect(address);
        let told = format!("{why} {why:?}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}
