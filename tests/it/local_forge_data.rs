//! The embedded forge's data folder: its contents after the process was killed, and that a forge is complete from its
//! first answer on.

use std::path::Path;

use futures_util::future::join_all;
use github_emulator::{Options, serve};
use hob_config::child_environment;
use hob_process::Program;
use http::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    sync::mpsc,
};

use crate::local_forge::Fixture;

/// A forge in its own process.
struct Process {
    child: Child,
    api: String,
    client: reqwest::Client,
}

impl Process {
    async fn start(data: &Path) -> Self {
        let data = data.display().to_string();
        let args = ["forge", "serve", "--data", &data, "--user", "ada:ta:admin", "--rate-limit", "100000"];
        let mut child = Program::of_hob(env!("CARGO_BIN_EXE_hob"), &child_environment()).args(args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        rustls::crypto::ring::default_provider().install_default().ok();
        Self { child, api: ready["api_url"].as_str().unwrap().to_owned(), client: reqwest::Client::new() }
    }

    /// The answer's body if it is a success; `None` if the connection broke.
    async fn send(&self, method: Method, path: &str, body: Value) -> Option<Value> {
        let request = self.client.request(method, format!("{}{path}", self.api)).header("authorization", "Bearer ta");
        let request = if body.is_null() { request } else { request.body(body.to_string()) };
        let answer = request.send().await.ok()?;
        let status = answer.status();
        let text = answer.text().await.ok()?;
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).ok()
    }

    fn kill(&self) {
        let pid = Pid::from_raw(self.child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
}

/// Opens issues and moves its own ref until the forge is gone; reports each answered issue.
async fn write_on(forge: &Process, writer: usize, head: &str, told: mpsc::UnboundedSender<u64>) {
    let at = format!("/repos/ada/site/git/refs/hob/w{writer}");
    for number in 0.. {
        let title = format!("{writer}/{number}");
        let Some(issue) = forge.send(Method::POST, "/repos/ada/site/issues", json!({"title": title})).await else {
            return;
        };
        told.send(issue["number"].as_u64().unwrap()).unwrap();
        let commit = json!({"message": title, "tree": head, "parents": []});
        let Some(commit) = forge.send(Method::POST, "/repos/ada/site/git/commits", commit).await else { return };
        let moved = json!({"sha": commit["sha"], "force": true});
        if forge.send(Method::PATCH, &at, moved).await.is_none() {
            return;
        }
    }
}

#[tokio::test]
async fn a_killed_forge_has_every_answered_issue_and_free_refs() {
    let folder = tempfile::tempdir().unwrap();
    let mut forge = Process::start(folder.path()).await;
    forge.send(Method::POST, "/user/repos", json!({"name": "site", "auto_init": true})).await.unwrap();
    let head = forge.send(Method::GET, "/repos/ada/site/commits/main", Value::Null).await.unwrap();
    for writer in 0..4 {
        let body = json!({"ref": format!("refs/hob/w{writer}"), "sha": head["sha"]});
        forge.send(Method::POST, "/repos/ada/site/git/refs", body).await.unwrap();
    }
    let tree = head["commit"]["tree"]["sha"].as_str().unwrap();
    let (sender, mut told) = mpsc::unbounded_channel();
    let mut answered = Vec::new();
    for round in 1..=4 {
        let writers = join_all((0..4).map(|writer| write_on(&forge, writer, tree, sender.clone())));
        let kill = async {
            // In the midst of the writing, at another place in each round.
            for _ in 0..20 * round {
                answered.push(told.recv().await.unwrap());
            }
            forge.kill();
        };
        futures_util::join!(writers, kill);
        while let Ok(number) = told.try_recv() {
            answered.push(number);
        }
        forge.child.wait().await.unwrap();
        forge = Process::start(folder.path()).await;
        for number in &answered {
            let at = format!("/repos/ada/site/issues/{number}");
            assert!(forge.send(Method::GET, &at, Value::Null).await.is_some(), "{number}");
        }
    }
    assert!(answered.len() >= 200);
    forge.kill();
    forge.child.wait().await.unwrap();
}

#[tokio::test]
async fn a_lock_that_a_killed_forge_left_holds_no_ref() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::start_in(Some(folder.path().to_owned())).await;
    let at = "/repos/acme/site/git/refs/hob/issues/1";
    let made = json!({"ref": "refs/hob/issues/1", "sha": fixture.head});
    assert_eq!(fixture.post("tw", "/repos/acme/site/git/refs", made).await.status, 201);
    fixture.forge = serve(Options::default()).await.unwrap();
    let repositories = folder.path().join("repositories").read_dir().unwrap();
    for repository in repositories.map(|entry| entry.unwrap().path()) {
        for lock in ["refs/hob/issues/1.lock", "packed-refs.lock"] {
            std::fs::write(repository.join(lock), "").unwrap();
        }
    }
    let (users, data) = (vec!["wil:tw".parse().unwrap()], Some(folder.path().to_owned()));
    fixture.forge = serve(Options { users, data, ..Options::default() }).await.unwrap();
    let next = fixture.commit("next", &[&fixture.head]).await;
    let moved = fixture.send("tw", Method::PATCH, at, json!({"sha": next})).await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    assert_eq!(fixture.send("tw", Method::DELETE, at, Value::Null).await.status, 204);
}

#[tokio::test]
async fn a_folder_is_for_one_forge_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { data: Some(folder.path().to_owned()), ..Options::default() };
    let first = serve(options()).await.unwrap();
    let refused = serve(options()).await.unwrap_err();
    assert_eq!(std::error::Error::source(&refused).unwrap().to_string(), "another process uses this folder");
    first.shutdown().await;
    serve(options()).await.unwrap().shutdown().await;
}

/// A client that has waited for the forge's address asks in its first millisecond.
#[tokio::test]
async fn an_account_is_known_from_the_first_answer_on() {
    // An address that no other test listens on, so that its port stays free.
    let listener = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    let listen = listener.local_addr().unwrap();
    drop(listener);
    // Enough accounts that there would be time to be too early.
    let mut users: Vec<_> = (0..2_000).map(|n| format!("u{n}:t{n}").parse().unwrap()).collect();
    users.push("wil:tw".parse().unwrap());
    let early = async move {
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = reqwest::Client::new();
        loop {
            let asked = client.get(format!("http://{listen}/api/v3/user")).header("authorization", "Bearer tw");
            if let Ok(answer) = asked.send().await {
                return answer.status().as_u16();
            }
        }
    };
    let early = tokio::spawn(early);
    let forge = serve(Options { listen, users, ..Options::default() }).await.unwrap();
    assert_eq!(early.await.unwrap(), 200);
    forge.shutdown().await;
}
