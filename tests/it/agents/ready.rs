//! The agents that exist without settings: what each does, and its error if it cannot.

use axum::{Router, routing::get};
use hob_domain::FailureClass;
use hob_sandbox::{Tier, probe};
use serde_json::{Value, json};

use super::*;
use crate::harness::{needs, skipped};

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
    let sessions = Sessions::new(place.path().join("sessions"), settings.state);
    let executor = Executor::new(sessions.clone(), settings.runs);
    executor.run(name, agent.as_ref(), &bench.request, &bench.context).await.unwrap();
    let lines = sessions.read(&bench.request.session).unwrap().lines.into_iter();
    let answers = lines.filter_map(|line| match line.event {
        SessionEvent::Result { text, .. } => Some(text),
        _ => None,
    });
    answers.take(calls.len()).collect()
}

/// Requirement S6: the agent's unmet needs are reported before a model is asked, with the setting to write.
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
        skipped(&format!("no box can be made here: {missing}"));
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

/// Puts the folder of a program on the path of the run.
fn on_path(bench: &mut Bench, program: &str) {
    let path = hob_config::child_environment().remove(std::ffi::OsStr::new("PATH")).unwrap_or_default();
    let folder = std::env::split_paths(&path).find(|folder| folder.join(program).is_file()).unwrap();
    bench.context.environment.insert("PATH".into(), format!("{}:/usr/bin:/bin", folder.display()).into());
}

/// Requirement S6: it shows a repository, and none of its options writes a file or starts a program.
#[tokio::test]
async fn the_agent_for_git_looks_at_a_repository_and_does_no_more() {
    let mut bench = Bench::new(&[("a", "one\n")]);
    on_path(&mut bench, "git");
    let made = "git init -q -b main && git add a && git -c user.name=A -c user.email=a@example.org commit -qm First && \
                git branch other && echo two >> a";
    let made = hob_process::Program::of_hob("sh", &bench.context.environment).args(["-c", made]).dir(bench.path());
    assert!(made.run(&CancellationToken::new()).await.unwrap().exit.is_success());
    let looks = [
        ("git_log", "--oneline", "First"),
        ("git_show", "HEAD:a", "one"),
        ("git_diff", "", "+two"),
        ("git_status", "--short", " M a"),
        ("git_blame", "-L 1,1 a", "one"),
        ("git_grep", "-n two", "a:2:two"),
        ("git_ls_files", "", "a"),
        ("git_branch", "-a", "other"),
    ];
    let said = answers(&bench, "git", &looks.map(|(tool, line, _)| (tool, line)), "").await;
    for ((tool, _, shows), said) in looks.iter().zip(&said) {
        assert!(said.starts_with("[exit code 0]\n") && said.contains(shows), "{tool}: {said}");
    }
    let acts = [
        ("git_log", "--output=made"),
        ("git_blame", "--output=made a"),
        ("git_diff", "--ext-diff"),
        ("git_show", "--textconv"),
        ("git_grep", "--open=./made two"),
        ("git_grep", "-nO./made two"),
        ("git_branch", "new -f"),
        ("git_branch", "-D other"),
    ];
    // More failed actions than it may have by itself.
    let settings = "[agents.git]\nconsecutive_errors = 50\nrecent_errors = 50";
    for (acts, said) in acts.iter().zip(answers(&bench, "git", &acts, settings).await) {
        assert!(said.contains("not run: its impact is "), "{acts:?}: {said}");
    }
    assert!(!bench.path().join("made").exists());
}

/// Requirement S6: calls of the registry are left out if it cannot be reached, and the agent says so.
#[tokio::test]
async fn the_agent_for_npm_shows_what_is_installed_and_says_what_it_cannot_ask() {
    needs!("npm");
    let files = [
        ("package.json", r#"{"name": "site", "version": "1.0.0", "dependencies": {"left": "^1.0.0"}}"#),
        ("node_modules/left/package.json", r#"{"name": "left", "version": "1.2.3"}"#),
    ];
    let mut bench = Bench::new(&files);
    on_path(&mut bench, "npm");
    let calls = [("npm_ls", ""), ("npm_explain", "left"), ("npm_view", "left"), ("npm_ls", "--script-shell=./x")];
    let said = answers(&bench, "npm", &calls, "").await;
    assert!(said[0].contains("[exit code 0]") && said[0].contains("left@1.2.3"), "{said:?}");
    assert!(said[1].contains("left@\"^1.0.0\" from the root project"), "{said:?}");
    assert!(said[2].contains("there is no tool `npm_view`"), "{said:?}");
    assert!(said[3].contains("not run: its impact is medium"), "{said:?}");
    let told = bench.said();
    let lack = "`npm_view`, `npm_outdated` can reach no server: the sandbox closes the network (`sandbox.network`). List the hosts \
                in Hob's settings: `[agents.npm] hosts = [\"example.org\"]`";
    assert!(told.iter().any(|line| line == lack), "{told:?}");
}

/// Requirement S6: the sandbox closes Docker's socket, and the agent says so before a model is asked.
#[tokio::test]
async fn the_agent_for_docker_says_at_its_start_that_it_needs_the_socket() {
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    let agent = with_replies(place.path(), &json!([]), "").get("docker").unwrap();
    let error = agent.run(&bench.request, &bench.context).await.unwrap_err();
    assert_eq!(error.failure, FailureClass::Misconfigured);
    let tools = "`docker_ps`, `docker_images`, `docker_inspect`, `docker_logs` cannot reach Docker";
    assert!(error.reason.starts_with(tools), "{error}");
    assert!(error.reason.contains("`sandbox.write = [\"/var/run/docker.sock\"]`"), "{error}");
}

/// Requirement S6: it reads pages of the forge's API, without a key, and has no other tool.
#[tokio::test]
async fn the_agent_for_the_forge_reads_its_public_pages() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let issue = |headers: axum::http::HeaderMap| async move {
        let title = if headers.contains_key("authorization") { "with a key" } else { "Fix the greeting" };
        axum::Json(json!({ "number": 7, "title": title }))
    };
    let pages = Router::new().route("/repos/acme/site/issues/7", get(issue));
    let server = tokio::spawn(async move { axum::serve(listener, pages).await.unwrap() });
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    let mut settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
    settings.at_forge(&address);
    let fetch = json!({ "name": "fetch", "arguments": { "url": format!("{address}/repos/acme/site/issues/7") } });
    let replies = json!([
        { "calls": [fetch] },
        { "expect": ["Fix the greeting"], "calls": [{ "name": "shell", "arguments": { "command": "ls" } }] },
        { "expect": ["there is no tool `shell`: use fetch, plan, ask, hand_off, done"],
          "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] },
    ]);
    let file = place.path().join("cassette.json");
    fs::write(&file, json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    settings.model.default = Some(format!("cassette/{}", file.display()));
    let Settings { agents, tools, model, .. } = settings;
    let registry = Registry::new(AgentParts { agents, tools, model, ..AgentParts::default() }).unwrap();
    let report = bench.run(&registry.get("github").unwrap()).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    server.abort();
}
