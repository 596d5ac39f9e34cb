//! A server on loopback that gives GitHub's recorded answers: status, headers and body, with GitHub's host names
//! replaced by its own address. `@octokit/fixtures` has the recordings.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    response::Response,
};
use hob_config::Settings;
use hob_domain::{Claimant, IssueNumber, Sha};
use hob_forge::{Access, Authentication, Connection, Forge, HeldLease};
use hob_text::KnownSecrets;
use http::{Method, header};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{
    asked::{Asked, call, text},
    packages::read,
};
use crate::harness::claim;

/// GitHub's API, as recorded headers and bodies have it.
const API: &str = "https://api.github.com";
/// Headers that belong to a connection and not to the answer.
const OF_CONNECTIONS: [&str; 4] = ["connection", "content-encoding", "content-length", "transfer-encoding"];
/// Recordings of calls like Hob's that Hob does not make so.
const OTHERWISE: [(&str, &str); 1] = [("/contents/README.md", "it was asked for raw, and Hob asks for JSON")];

/// One exchange as it was recorded.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) method: Method,
    /// With its query.
    pub(super) path: String,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// A text if it is not JSON.
    pub(super) body: Value,
}

impl Exchange {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether it answers a call that Hob makes, and as Hob makes it.
    pub(super) fn is_of_hob(&self) -> bool {
        call(&self.method, &self.path).is_some() && !OTHERWISE.iter().any(|(end, _why)| self.path.ends_with(end))
    }

    fn is_asked_by(&self, asked: &Asked) -> bool {
        let plain = |path: &str| path.split('?').next().unwrap_or_default().to_owned();
        let page = |path: &str| path.split(['?', '&']).find(|part| part.starts_with("page=")).map(str::to_owned);
        self.method == asked.method && plain(&self.path) == plain(&asked.path) && page(&self.path) == page(&asked.path)
    }
}

/// The names of all recorded scenarios.
pub(super) fn scenarios(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("fixtures/scenarios/api.github.com")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The exchanges that were recorded in a scenario, in order.
pub(super) fn exchanges(folder: &Path, scenario: &str) -> Vec<Exchange> {
    let recorded = read(&folder.join(format!("fixtures/scenarios/api.github.com/{scenario}/raw-fixture.json")));
    let recorded = recorded.as_array().unwrap().iter().filter(|one| one["scope"] == format!("{API}:443"));
    let exchange = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        let headers: Vec<&str> = one["rawHeaders"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let headers = headers.chunks(2).map(|pair| (pair[0].to_ascii_lowercase(), pair[1].to_owned()));
        Exchange {
            method: text("method").to_ascii_uppercase().parse().unwrap(),
            path: text("path"),
            status: one["status"].as_u64().unwrap().try_into().unwrap(),
            headers: headers.collect(),
            body: one["response"].clone(),
        }
    };
    recorded.map(exchange).collect()
}

/// The server's answers.
struct Known {
    url: String,
    exchanges: Vec<Exchange>,
    /// Paths that Hob asks for in place of recorded ones.
    aliases: Vec<(&'static str, &'static str)>,
    /// Answers of calls without a recording, by the end of the path.
    made_up: Vec<(Method, &'static str, Value)>,
    served: Mutex<BTreeSet<usize>>,
    asked: Mutex<Vec<Asked>>,
}

/// The server of one scenario. [`Replay::end`] ends it.
pub(super) struct Replay {
    pub(super) forge: Forge,
    known: Arc<Known>,
    server: JoinHandle<()>,
}

impl Replay {
    /// Starts a server of this scenario and a client of its repository. `aliases` are paths of Hob's that replace
    /// recorded ones, which follow them.
    pub(super) async fn of(folder: &Path, scenario: &str, aliases: &[(&'static str, &'static str)]) -> Self {
        // Another test may have been first; there is one provider a process.
        rustls::crypto::ring::default_provider().install_default().ok();
        let exchanges = exchanges(folder, scenario);
        let of_repository = exchanges.iter().find_map(|one| one.path.strip_prefix("/repos/"));
        let name: Vec<&str> = of_repository.unwrap().split(['/', '?']).take(2).collect();
        let repo = name.join("/").parse().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let commit = json!({ "sha": "7638417db6d59f3c431d3e1f261cc637155684cd" });
        let known = Arc::new(Known {
            url: url.clone(),
            aliases: aliases.to_vec(),
            made_up: vec![
                (Method::POST, "/git/commits", commit.clone()),
                (Method::POST, "/git/refs", json!({ "ref": "refs/hob/issues/1", "object": commit })),
                (Method::GET, "/git/ref/hob/issues/1", json!({ "ref": "refs/hob/issues/1", "object": commit })),
                (Method::GET, "/check-runs", json!({ "total_count": 0, "check_runs": [] })),
            ],
            exchanges,
            served: Mutex::default(),
            asked: Mutex::default(),
        });
        let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&known));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let set = [("testing.forge.write_interval_ms".to_owned(), "0".to_owned())];
        let settings = Settings::load(None, std::collections::HashMap::new(), &set).unwrap().forge;
        let identity = Authentication::Token("t".to_owned().into());
        let connection =
            Connection::new(&url, identity, &settings, Access::ReadWrite, KnownSecrets::default()).unwrap();
        let forge = Forge::new(connection, repo);
        Self { forge, known, server }
    }

    /// The recording of this call, the first of several.
    pub(super) fn recorded(&self, method: &Method, end: &str) -> &Exchange {
        self.all_recorded(method, end).next().unwrap_or_else(|| panic!("no recording of {method} …{end}"))
    }

    /// The recordings of this call.
    pub(super) fn all_recorded<'a>(&'a self, method: &Method, end: &str) -> impl Iterator<Item = &'a Exchange> {
        let found = self.known.exchanges.iter().filter(move |one| {
            one.method == method && one.path.split('?').next().is_some_and(|path| path.ends_with(end))
        });
        found.collect::<Vec<_>>().into_iter()
    }

    /// A lease on issue 1; its commit is made up, and so is its ref if none was recorded.
    pub(super) async fn lease(&self) -> HeldLease {
        let hour = std::time::Duration::from_secs(3_600);
        let claimant = Claimant { worker: "w1".into(), nonce: "n".into(), duration: hour, skew: hour, bill: None };
        // The first answer tells the time, which a lease needs.
        self.forge.ledger().tip(IssueNumber(1)).await.unwrap();
        let tree = Sha::from("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        self.forge.ledger().acquire(IssueNumber(1), None, &claimant, &tree, claim("Chore")).await.unwrap()
    }

    /// The requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.known.asked.lock().unwrap().clone()
    }

    /// Fails if the scenario has an answer to a call of Hob's that the client did not get.
    pub(super) fn end(self) {
        self.server.abort();
        let served = self.known.served.lock().unwrap();
        let missed =
            self.known.exchanges.iter().enumerate().filter(|(index, one)| one.is_of_hob() && !served.contains(index));
        let missed: Vec<_> = missed.map(|(_, one)| format!("{} {}", one.method, one.path)).collect();
        assert!(missed.is_empty(), "recorded, and not replayed: {missed:?}");
    }
}

async fn answer(State(known): State<Arc<Known>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let mut path = parts.uri.path_and_query().unwrap().to_string();
    for (asked, recorded) in &known.aliases {
        path = path.replace(asked, recorded);
    }
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let asked = Asked {
        method: parts.method.clone(),
        path,
        accept: text(&parts.headers, header::ACCEPT).unwrap_or_default(),
        tag: text(&parts.headers, header::IF_NONE_MATCH),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    known.asked.lock().unwrap().push(asked.clone());
    let mut served = known.served.lock().unwrap();
    let fitting: Vec<usize> =
        (0..known.exchanges.len()).filter(|&index| known.exchanges[index].is_asked_by(&asked)).collect();
    let unchanged = fitting
        .iter()
        .find(|&&index| asked.tag.is_some() && known.exchanges[index].header("etag") == asked.tag.as_deref());
    let chosen = unchanged.or_else(|| fitting.iter().find(|index| !served.contains(index))).or(fitting.last());
    let Some(&chosen) = chosen else {
        let made_up = known.made_up.iter().find(|(method, end, _)| {
            *method == asked.method && asked.path.split('?').next().is_some_and(|path| path.ends_with(end))
        });
        let (_, _, body) = made_up.unwrap_or_else(|| panic!("nobody recorded {asked:?}"));
        let date = known.exchanges[0].header("date").unwrap();
        return Response::builder().header(header::DATE, date).body(Body::from(body.to_string())).unwrap();
    };
    served.insert(chosen);
    let exchange = &known.exchanges[chosen];
    let mut response = Response::builder().status(if unchanged.is_some() { 304 } else { exchange.status });
    for (name, value) in exchange.headers.iter().filter(|(name, _)| !OF_CONNECTIONS.contains(&name.as_str())) {
        response = response.header(name, value.replace(API, &known.url));
    }
    let text = match &exchange.body {
        _ if unchanged.is_some() => String::new(),
        Value::String(text) => text.clone(),
        json => json.to_string().replace(API, &known.url),
    };
    response.body(Body::from(text)).unwrap()
}
