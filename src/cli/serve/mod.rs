//! `acl serve`: the confirmation gateway over HTTP, with a page for people.
//!
//! In: calls, from who submits; words, from who decides. Out: an end for every call. The gateway itself is
//! `session/gateway`; here are its address, its roles and its shapes. Listens on loopback; another address needs tokens.

mod answer;
mod callback;
mod calls;
mod confirmations;
mod events;
mod listen;
mod logs;
mod metrics;
mod page;
mod people;
mod routes;
mod shown;
mod upkeep;

use super::audit::Audit;
use super::policies::Which;
use super::state::{Folder, clock, private_text};
use super::{Answer, Exit, Stop, output, policies};
use crate::matcher::Matcher;
use crate::session::gateway::{self, Gateway};
use crate::session::secrets::Secrets;
use crate::session::time;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Options of `acl serve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  acl serve --policy acl:recommended
  acl serve --listen 10.0.0.5:7878 --tokens tokens --host acl.example.org --store postgres://acl@db/acl

  curl -s localhost:7878/v1/calls -H 'Content-Type: application/json' \\
    -d '{\"id\":\"1\",\"session\":\"s\",\"tool\":\"bash\",\"args\":{\"command\":\"git push\"}}'
  curl -s 'localhost:7878/v1/calls/1?session=s&wait=30s'

A call that asks waits until a person decides, in the page at `/` or over HTTP; GET /v1/openapi.json describes all of it.
On loopback submitting needs no token. To decide, open the link that is printed: it counts once, and the next one is
printed when it was used. With --tokens every request needs a token of the file: `submit NAME TOKEN` or `decide NAME
TOKEN`, one a line. The password of a database comes from PGPASSWORD or ~/.pgpass.

Exit codes: 0 told to end; 2 it could not start.")]
pub struct Options {
    /// Address and port to listen on; one that is not loopback needs --tokens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Where calls and grants are kept: sqlite:PATH or postgres://USER@HOST/DATABASE [default: gateway.db in the state folder]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// File with the tokens of who submits and who decides; only you may read it
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Another name that this server is reached by (repeatable)
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// How long a person has to decide; then the call is denied
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
    /// How many calls may wait at once
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    most_pending: usize,
    /// How many calls of one session may wait at once
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    most_pending_of_session: usize,
    /// Addresses that may be called where a run is gone: those that start so (repeatable)
    #[arg(long, value_name = "URL")]
    callback: Vec<String>,
    /// File with the token that such a call carries
    #[arg(long, value_name = "FILE", requires = "callback")]
    callback_token: Option<PathBuf>,
    /// Facts and verdicts that come with a call count
    #[arg(long)]
    trust_facts: bool,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    audit: Audit,
}

/// `10m`
fn duration(text: &str) -> Result<Duration, String> {
    let millis = time::duration(text)?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// Where calls are taken to be made that do not say so.
struct Place {
    cwd: Option<String>,
    home: Option<String>,
    /// Set: it is above what calls say.
    workspace: Option<String>,
}

/// What every request has at hand.
struct Server {
    gateway: Gateway,
    people: people::People,
    hosts: routes::Hosts,
    callbacks: callback::Callbacks,
    metrics: Arc<metrics::Metrics>,
    logs: Arc<logs::Logs>,
    secrets: Arc<Secrets>,
    place: Place,
    which: Which,
    audit: Audit,
    trust_facts: bool,
    longest: Duration,
    address: String,
    page_policy: String,
    closing: watch::Receiver<bool>,
}

type Shared = Arc<Server>;

impl Server {
    /// Waits until the server is to end.
    async fn closed(&self) {
        let _ = self.closing.clone().wait_for(|closing| *closing).await;
    }
}

/// Runs it.
pub fn run(options: &Options) -> Answer {
    if options.tokens.is_none() && !options.listen.ip().is_loopback() {
        return Err(Stop::helped(
            format!(
                "{} is no loopback address, so everybody near could decide",
                options.listen
            ),
            "give `--tokens FILE`, or listen on 127.0.0.1",
        ));
    }
    let matcher = policies::compile(options.which.roots()?)?;
    let failing = matcher.check_examples();
    if !failing.is_empty() {
        return Err(Stop::Found(failing));
    }
    let people = people::People::new(options.tokens.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Stop::told(format!("cannot start: {why}")))?;
    room_for_connections();
    let answer = runtime.block_on(options.serve(matcher, people));
    runtime.shutdown_timeout(Duration::from_secs(5));
    answer
}

impl Options {
    async fn serve(&self, matcher: Matcher, people: people::People) -> Answer {
        let metrics = Arc::new(metrics::Metrics::default());
        let logs = Arc::new(logs::Logs::new(&self.audit, &matcher)?);
        let secrets = Arc::new(self.audit.secrets(Some(&matcher))?);
        let callbacks = self.callbacks()?;
        let told = |fault: gateway::Fault| Stop::told(fault.to_string());
        let store = gateway::open(&self.store()?).await.map_err(told)?;
        let options = gateway::Options {
            timeout: self.timeout,
            most_pending: self.most_pending,
            most_pending_of_session: self.most_pending_of_session,
            secrets: Some(Arc::clone(&secrets)),
            observer: Some(Arc::new(logs::Watcher {
                metrics: Arc::clone(&metrics),
                logs: Arc::clone(&logs),
            })),
            clock: Arc::new(clock),
            ..gateway::Options::default()
        };
        let gateway = Gateway::new(store, matcher, options);
        if !self.callback.is_empty() {
            gateway.bind(Arc::new(callbacks.clone()));
        }
        let waiting = gateway.recover().await.map_err(told)?;

        let listener = TcpListener::bind(self.listen).await;
        let listener = listener
            .map_err(|why| Stop::told(format!("cannot listen on {}: {why}", self.listen)))?;
        let own = listener.local_addr().unwrap_or(self.listen);
        let address = format!("http://{own}");
        let (close, closing) = watch::channel(false);
        let server = Arc::new(Server {
            gateway,
            hosts: routes::Hosts::new(own.ip(), &self.host),
            callbacks,
            metrics,
            logs: Arc::clone(&logs),
            secrets,
            place: self.place()?,
            which: self.which.clone(),
            audit: self.audit.clone(),
            trust_facts: self.trust_facts,
            longest: self.timeout,
            address: address.clone(),
            page_policy: page::policy(),
            closing: closing.clone(),
            people,
        });
        output::remark(&format!("acl: listening on {address}"));
        if waiting > 0 {
            output::remark(&format!("acl: {waiting} calls wait from before"));
        }
        match server.people.link()? {
            Some(code) => people::print_link(&address, &code, false),
            None => output::remark("acl: to decide, open it with a token of the role `decide`"),
        }
        let serving = tokio::spawn(listen::serve(listener, routes::router(server), closing));
        listen::told_to_end().await;
        output::remark("acl: ending");
        let _ = close.send(true);
        let _ = serving.await;
        // The log's last lines; other threads of the runtime are still there to wait on.
        let _ = tokio::task::spawn_blocking(move || logs.end()).await;
        Ok(Exit::Good)
    }

    fn store(&self) -> Result<String, Stop> {
        if let Some(store) = &self.store {
            return Ok(store.clone());
        }
        let folder = Folder::of(None)?;
        let made = folder.made();
        let file = folder.file("gateway.db");
        let shown = file.display();
        made.map_err(|why| Stop::told(format!("cannot make the folder of `{shown}`: {why}")))?;
        Ok(format!("sqlite:{shown}"))
    }

    fn callbacks(&self) -> Result<callback::Callbacks, Stop> {
        let token = self.callback_token.as_deref();
        let token = token.map(private_text).transpose().map_err(Stop::told)?;
        let token = token.map(|text| text.trim().to_owned());
        callback::Callbacks::new(&self.callback, token)
            .map_err(|why| Stop::told(format!("`--callback`: {why}")))
    }

    fn place(&self) -> Result<Place, Stop> {
        Ok(Place {
            cwd: Some(self.which.cwd()?),
            home: std::env::var("HOME")
                .ok()
                .filter(|home| home.starts_with('/')),
            workspace: self.which.workspace()?,
        })
    }
}

/// Each connection is a file of the process, and the usual 1,024 are few.
fn room_for_connections() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // As many as there are must do, then.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
