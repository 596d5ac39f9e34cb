//! The agents that are there without settings: what each does, and what it says where it cannot.

use axum::{Router, routing::get};
use hob_domain::FailureClass;
use hob_sandbox::{Tier, probe};
use serde_json::{Value, json};

use super::*;

/// A registry whose model replies from `replies`.
fn with_replies(place: &Path, replies: &Value, settings: &str) -> Registry {
    let file = place.join("cassette.json");
    fs::write(&file, json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    registry(&format!("{settings}\n[model]\ndefault = 'cassette/{}'", file.display()))
}

/// Replies with these calls of programs, a reply each, and the end of the run.
fn replies(calls: &[(&str, &str)]) -> Value {
    let calls =
        calls.iter().map(|(tool, line)| json!({ "calls": [{ "name": tool, "arguments": { "arguments": line } }] }));
    calls.chain([json!({ "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] })]).collect()
}

/// Runs the agent `name` with these calls; what each answered.
async fn answers(bench: &Bench, name: &str, calls: &[(&str, &str)], settings: &str) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let agent = with_replies(place.path(), &replies(calls), settings).get(name).unwrap();
    let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
    let sessions = Sessions::new(place.path().join("sessions"), settings.sessions);
    let executor = Executor::new(sessions.clone(), settings.agent);
    executor.run(name, agent.as_ref(), &bench.request, &bench.context).await.unwrap();
    let lines = sessions.read(&bench.request.session).unwrap().lines.into_iter();
    let answers = lines.filter_map(|line| match line.event {
        SessionEvent::Result { text, .. } => Some(text),
        _ => None,
    });
    answers.take(calls.len()).collect()
}

/// Requirement S6: what the agent lacks is said before a model is asked, with the setting to write.
#[tokio::test]
async fn the_agent_for_servers_says_at_its_start_that_it_needs_hosts() {
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    // It has no reply: a model that were asked would fail otherwise.
    let registry = with_replies(place.path(), &json!([]), "");
    let error = registry.get("http").unwrap().run(&bench.request, &bench.context).await.unwrap_err();
    assert_eq!(error.failure, FailureClass::Misconfigured);
    let said = "`curl` can reach no server: the sandbox closes the network (`sandbox.network`). List the hosts in Hob's \
                settings: `[agents.http] hosts = [\"example.org\"]`";
    assert_eq!(error.reason, said);
    let sandbox = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::load(None, std::collections::HashMap::new(), &set).unwrap().sandbox
    };
    assert_eq!(registry.lacks("http", &sandbox(&[])).as_deref(), Some(said));
    assert_eq!(registry.lacks("http", &sandbox(&[("sandbox.network", "open")])), None);
    assert_eq!(registry.lacks("file", &sandbox(&[])), None);
    let listed = with_replies(place.path(), &json!([]), "[agents.http]\nhosts = ['example.org']");
    assert_eq!(listed.lacks("http", &sandbox(&[])), None);
}

/// Requirement S6: with hosts it works, and reaches no other.
#[tokio::test]
async fn the_agent_for_servers_asks_the_hosts_that_it_is_given() {
    if let Some(missing) = probe(Tier::Box).missing {
        eprintln!("skipped: no box can be made here: {missing}");
        return;
    }
    // Not 127.0.0.1, which in a box is the box itself.
    let listener = tokio::net::TcpListener::bind("127.0.0.2:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let pages = Router::new().route("/status", get(|| async { "all is well" }));
    let server = tokio::spawn(async move { axum::serve(listener, pages).await.unwrap() });
    let bench = Bench::new(&[]);
    let (there, elsewhere) = (format!("-sS http://{address}/status"), "-sSf http://127.0.0.3:9/status");
    let settings = format!("[agents.http]\nhosts = ['{address}']");
    let said = answers(&bench, "http", &[("curl", &there), ("curl", elsewhere)], &settings).await;
    assert!(said[0].contains("[exit code 0]\nall is well"), "{said:?}");
    assert!(!said[1].contains("[exit code 0]"), "{said:?}");
    server.abort();
}
