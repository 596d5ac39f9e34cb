//! Pods that have a pass instead of a token: what a dispatcher's listener asks the forge for them, and what it does not.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use hob_config::child_environment;
use hob_domain::{IssueNumber, RepoName};
use hob_forge::{Access, Connection, Pass};
use hob_web::{Facts, Known, Relay, Server};
use hob_workspace::GitRelay;
use http::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use crate::harness::{Gate, World, answer, get, run};

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A listener that forwards, with a connection of its own.
struct Dispatcher {
    server: Server,
    connection: Arc<Connection>,
    /// Whether the Jobs of all passes are over.
    is_over: Arc<AtomicBool>,
}

impl Dispatcher {
    async fn new(world: &World) -> Self {
        let facts = Facts { jobs: 1, state_dir: world.state_dir("dispatcher") };
        let server = Server::open(ANY_PORT, None, Arc::new(Known::new(facts))).unwrap();
        let connection = Arc::clone(world.bot(Access::ReadWrite).connection());
        // As its first poll does.
        connection.login().await.unwrap();
        let is_over = Arc::new(AtomicBool::default());
        let over = Arc::clone(&is_over);
        let relay = Relay::new(Arc::clone(&connection), GitRelay::new(&child_environment()), world.forge.server_url());
        let at_work = move |_pass| -> BoxFuture<'static, Option<bool>> {
            Box::pin(std::future::ready(Some(!over.load(Ordering::Relaxed))))
        };
        server.forward(Some(relay.pushing("hob/", Duration::from_secs(60)).of_jobs(Arc::new(at_work))));
        Self { server, connection, is_over }
    }

    /// A pass for the issue that lasts as many seconds.
    fn pass(&self, repo: &str, issue: u64, seconds: i64) -> String {
        let (repo, ends): (RepoName, _) = (repo.parse().unwrap(), self.connection.now() + TimeDelta::seconds(seconds));
        let pass = Pass { repo, issue: IssueNumber(issue), job: "hob-site".to_owned(), ends };
        self.connection.pass_key().sign(&pass).expose_secret().to_owned()
    }
}

/// What a pod asks, which shows a pass.
struct Pod {
    at: SocketAddr,
    shown: String,
}

impl Pod {
    fn of(dispatcher: &Dispatcher, issue: u64) -> Self {
        let shown = format!("Authorization: Bearer {}\n", dispatcher.pass("acme/site", issue, 600));
        Self { at: dispatcher.server.address(), shown }
    }

    /// The answer to a write.
    async fn writes(&self, method: &str, path: &str, body: Value) -> String {
        let (at, shown, body) = (self.at, &self.shown, body.to_string());
        let head = format!("{method} /forge{path} HTTP/1.1\nHost: {at}\n{shown}Content-Length: {}\n\n", body.len());
        answer(at, &format!("{head}{body}")).await
    }

    /// The status of the answer to a write below the repository.
    async fn status(&self, method: &str, path: &str, body: Value) -> u16 {
        status(&self.writes(method, &format!("/repos/acme/site/{path}"), body).await)
    }

    /// The issue that it opens with this mark.
    async fn opens(&self, mark: &str) -> Value {
        let body = json!({ "title": "Part", "body": format!("{mark}\nx") });
        let made = self.writes("POST", "/repos/acme/site/issues", body).await;
        serde_json::from_str(made.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

/// The status of an answer.
fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default()
}

#[tokio::test]
async fn a_pod_without_a_token_makes_its_pull_request_by_any_dispatcher() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    // The one that made the Job is another one than the one that is asked.
    let (made_it, asked) = (Dispatcher::new(&world).await, Dispatcher::new(&world).await);
    let at = asked.server.address();
    let pod = world.pod("pod", at, &made_it.pass("acme/site", issue, 600)).await;
    run(&pod).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let pull = world.pull().await;
    assert_eq!(pull["user"]["login"], "hob");
    let comments = world.call("ann", Method::GET, &format!("/issues/{issue}/comments"), json!(null)).await;
    for text in [&pull["body"], &comments] {
        assert!(!text.to_string().contains(&at.to_string()), "it links to the dispatcher: {text}");
    }
    let pushes = |all: &[github_emulator::LoggedRequest]| {
        all.iter().filter(|request| request.path.ends_with("/git-receive-pack")).count()
    };
    assert!(pushes(&world.forge.requests()) > 1, "branch and ledger are pushed");
    assert_eq!(looks(&world.forge.requests()), [""; 0], "what the pod wrote on was its own");
    asked.server.close().await;
    made_it.server.close().await;
    world.finish().await;
}

/// The paths that the forge was asked for to see what writes are about, as far as that counts.
fn looks(requests: &[github_emulator::LoggedRequest]) -> Vec<&str> {
    let is_look = |path: &str| path.contains("/issues/comments/") || path.contains("/matching-refs/heads/hob/1");
    let requests = requests.iter().filter(|request| request.method == "GET");
    let asked = requests.filter(|request| request.counted && is_look(&request.path));
    asked.map(|request| request.path.split("/acme/site/").last().unwrap_or_default()).collect()
}

/// Its dispatcher is another one than the one that saw the pull request made.
#[tokio::test]
async fn a_pod_works_on_a_review_by_a_dispatcher_that_knows_nothing_of_it() {
    let script = r#"if [ "$n" = 0 ]; then echo one > done.txt; echo '{"outcome":"done","summary":"Wrote it."}'; exit; fi
echo ONE > done.txt
printf '%s\n' '{"outcome":"done","summary":"Shouted.\n\nT1: Done."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly."), &[(1, "Louder.")]).await;
    world.forge.advance(Duration::from_secs(2));
    let dispatcher = Dispatcher::new(&world).await;
    let before = world.forge.requests().len();
    run(&world.pod("pod", dispatcher.server.address(), &dispatcher.pass("acme/site", issue, 600)).await).await;
    assert_eq!(
        (world.labels(issue).await, world.failures()),
        (vec!["code".to_owned(), "in-review".to_owned()], vec![])
    );
    let remarks = world.look(&format!("/pulls/{pull}/comments")).await;
    assert_eq!(remarks[1]["user"]["login"], "hob", "{remarks}");
    // The status comment, and the reviewed head's status: the new one's is known by its push.
    let asked = world.forge.requests().split_off(before);
    let looks = looks(&asked);
    assert_eq!(looks.len(), 2, "{looks:?}");
    dispatcher.server.close().await;
    world.finish().await;
}

/// One address for whichever dispatcher is there: each connection goes to the one that is named then.
async fn service(dispatcher: Arc<Mutex<SocketAddr>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let dispatcher = *dispatcher.lock().unwrap();
            tokio::spawn(async move {
                let mut dispatcher = TcpStream::connect(dispatcher).await?;
                copy_bidirectional(&mut client, &mut dispatcher).await
            });
        }
    });
    at
}

#[tokio::test]
async fn a_dispatcher_that_is_started_anew_while_an_agent_works_takes_the_same_pass() {
    let world = World::with_agent(&Gate::before("echo done > done.txt")).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let first = Dispatcher::new(&world).await;
    let there = Arc::new(Mutex::new(first.server.address()));
    let pod = world.pod("pod", service(Arc::clone(&there)).await, &first.pass("acme/site", issue, 600)).await;
    let mut gate = Gate::of(&world);
    let restart = async {
        gate.reached().await;
        first.server.close().await;
        let second = Dispatcher::new(&world).await;
        *there.lock().unwrap() = second.server.address();
        gate.open().await;
        second
    };
    let (_, second) = tokio::join!(run(&pod), restart);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    second.server.close().await;
    world.finish().await;
}

/// Attack corpus L163.
#[tokio::test]
async fn a_pass_opens_its_repository_for_its_time_and_nothing_else() {
    let world = World::fixing().start().await;
    world.another("acme/other", 0).await;
    let dispatcher = Dispatcher::new(&world).await;
    let at = dispatcher.server.address();
    let pass = dispatcher.pass("acme/site", 1, 600);
    let ended = dispatcher.pass("acme/site", 1, 0);
    let (other, said) = (dispatcher.pass("acme/other", 1, 600), pass.rsplit_once('.').unwrap().0.to_owned());
    let forged = format!("{said}.{}", other.rsplit_once('.').unwrap().1);
    let before = world.forge.requests().len();
    for (shown, path, expected) in [
        ("", "/repos/acme/site", 401),
        ("token-of-hob", "/repos/acme/site", 401),
        (&ended, "/repos/acme/site", 401),
        (&forged, "/repos/acme/site", 401),
        (&other, "/repos/acme/site", 403),
        (&pass, "/repos/acme/other", 403),
        (&pass, "/repos/acme/site/../other", 403),
        (&pass, "/repos/acme/site/%2e%2e/other", 403),
        (&pass, "/repos/acme/site/contents/..%2f..%2fother", 403),
        (&pass, "//repos/acme/site", 403),
        (&pass, "/installation/repositories", 403),
        (&pass, "/repos/acme/site/actions/secrets", 403),
        (&pass, "/git/acme/other.git/info/refs?service=git-upload-pack", 403),
        (&pass, "/git/acme/site.git/../other.git/info/refs?service=git-upload-pack", 403),
        (&pass, "/git/acme/site.git%2f..%2fother.git/info/refs?service=git-upload-pack", 403),
        (&pass, "/git/acme/site.git/info/refs", 403),
        (&pass, "/git/acme/site.git/HEAD", 403),
        ("", "/git/acme/site.git/info/refs?service=git-upload-pack", 401),
    ] {
        let answer = get(at, &format!("/forge{path}"), &format!("Authorization: Bearer {shown}\n")).await;
        assert_eq!(status(&answer), expected, "{shown} {path}: {answer}");
        assert!(!answer.contains("token-of-hob") && answer.contains("\"message\":"), "{answer}");
    }
    assert_eq!(world.forge.requests().len(), before, "the forge was asked");
    for (path, expected) in [("/repos/acme/site", 200), ("/git/acme/site.git/info/refs?service=git-upload-pack", 200)] {
        let answer = get(at, &format!("/forge{path}"), &format!("Authorization: Bearer {pass}\n")).await;
        assert_eq!(status(&answer), expected, "{path}: {answer}");
        assert!(!answer.contains("token-of-hob"), "{answer}");
    }
    dispatcher.server.close().await;
    world.finish().await;
}

/// Attack corpus L163.
#[tokio::test]
async fn a_pass_writes_no_other_branch_and_no_other_issues_ledger() {
    let world = World::fixing().start().await;
    let dispatcher = Dispatcher::new(&world).await;
    let pod = Pod::of(&dispatcher, 1);
    let (at, shown) = (pod.at, &pod.shown);
    let before = world.forge.requests().len();
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    for name in ["refs/heads/main", "refs/heads/hob/2-x", "refs/hob/issues/2", "refs/tags/v1"] {
        let line = format!("{one} {two} {name}\0 report-status");
        let body = format!("{:04x}{line}0000PACK", line.len() + 4);
        let head = format!("POST /forge/git/acme/site.git/git-receive-pack HTTP/1.1\nHost: {at}\n{shown}");
        let answer = answer(at, &format!("{head}Content-Length: {}\n\n{body}", body.len())).await;
        assert_eq!(status(&answer), 403, "{name}: {answer}");
    }
    for (method, path, body, expected) in [
        ("PATCH", "/repos/acme/site/git/refs/hob/issues/2", json!({ "sha": one }), 403),
        ("PATCH", "/repos/acme/site/git/refs/heads/main", json!({ "sha": one }), 403),
        ("PUT", "/repos/acme/site/pulls/1/merge", json!({}), 403),
        ("POST", "/app/installations/1/access_tokens", json!({}), 403),
        ("POST", "/graphql", json!({ "query": "query { viewer { login } }" }), 404),
        ("POST", "/repos/acme/site/issues/1/comments", json!({ "body": "x".repeat(1 << 20) }), 413),
    ] {
        let answer = pod.writes(method, path, body).await;
        assert_eq!(status(&answer), expected, "{method} {path}: {answer}");
    }
    assert_eq!(world.forge.requests().len(), before, "the forge was asked");
    dispatcher.server.close().await;
    world.finish().await;
}

/// Attack corpus L163. The dispatcher has seen nothing of the pod's work: it asks the forge what is the issue's.
#[tokio::test]
async fn a_pass_writes_on_its_own_issue_and_pull_request_alone() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let own = world.pull().await["number"].as_u64().unwrap();
    let other = world.opens("ann", "Another", "", &[]).await;
    let mut pulls = Vec::new();
    for branch in ["wil/fix".to_owned(), format!("hob/{other}-fix")] {
        let commit = world.pushes("wil", &branch, "fix.txt", "x").await;
        let pull = json!({ "title": "By hand", "head": branch, "base": "main", "body": "" });
        let made = world.call("wil", Method::POST, "/pulls", pull).await;
        pulls.push((made["number"].as_u64().unwrap(), branch, commit));
    }
    let said = async |on: u64| {
        world.comments("ann", on, "x").await;
        let all = world.call("ann", Method::GET, &format!("/issues/{on}/comments"), json!(null)).await;
        all.as_array().unwrap().last().unwrap()["id"].as_u64().unwrap()
    };
    let other_id = world.call("ann", Method::GET, &format!("/issues/{other}"), json!(null)).await["id"].clone();
    let (text, labels, proof) =
        (json!({ "body": "x" }), json!({ "labels": ["x"] }), json!({ "context": "hob/proof", "state": "success" }));
    let mut refused = vec![
        ("POST", format!("issues/{issue}/sub_issues"), json!({ "sub_issue_id": other_id })),
        ("POST", format!("issues/{other}/dependencies/blocked_by"), json!({ "issue_id": other_id })),
        ("POST", "issues".to_owned(), json!({ "title": "x", "body": format!("<!-- hob:part {other} a 1 -->") })),
        ("POST", "issues".to_owned(), json!({ "title": "" })),
        ("POST", "actions/runs/1/rerun-failed-jobs".to_owned(), json!({})),
    ];
    for (number, branch, commit) in &pulls {
        refused.extend([
            ("POST", "pulls".to_owned(), json!({ "title": "x", "head": branch, "base": "main" })),
            ("PATCH", format!("pulls/{number}"), text.clone()),
            ("POST", format!("pulls/{number}/requested_reviewers"), json!({ "reviewers": ["ann"] })),
            ("POST", format!("pulls/{number}/comments/1/replies"), text.clone()),
            ("POST", format!("statuses/{commit}"), proof.clone()),
        ]);
    }
    for number in pulls.iter().map(|(number, ..)| *number).chain([other]) {
        let comment = said(number).await;
        refused.extend([
            ("POST", format!("issues/{number}/comments"), text.clone()),
            ("POST", format!("issues/{number}/labels"), labels.clone()),
            ("DELETE", format!("issues/{number}/labels/x"), json!(null)),
            ("PATCH", format!("issues/comments/{comment}"), text.clone()),
            ("POST", format!("issues/comments/{comment}/reactions"), json!({ "content": "eyes" })),
        ]);
    }
    let dispatcher = Dispatcher::new(&world).await;
    let pod = Pod::of(&dispatcher, issue);
    let before = world.forge.requests().len();
    for (method, path, body) in refused {
        assert_eq!(pod.status(method, &path, body.clone()).await, 403, "{method} {path} {body}");
    }
    let asked = world.forge.requests().split_off(before);
    assert!(asked.iter().all(|asked| asked.method == "GET"), "{asked:?}");

    let comments = [said(issue).await, said(own).await];
    let pull = world.call("ann", Method::GET, &format!("/pulls/{own}"), json!(null)).await;
    let head = pull["head"]["sha"].as_str().unwrap().to_owned();
    let mut made = vec![
        ("PATCH", format!("pulls/{own}"), json!({ "title": "x" }), 200),
        ("POST", format!("statuses/{head}"), proof, 201),
        // It is gone: the pod is told as by the forge.
        ("PATCH", "issues/comments/999999".to_owned(), text.clone(), 404),
    ];
    for (number, comment) in [issue, own].into_iter().zip(comments) {
        made.extend([
            ("POST", format!("issues/{number}/comments"), text.clone(), 201),
            ("POST", format!("issues/{number}/labels"), labels.clone(), 200),
            ("POST", format!("issues/comments/{comment}/reactions"), json!({ "content": "eyes" }), 201),
        ]);
    }
    for (method, path, body, expected) in made {
        assert_eq!(pod.status(method, &path, body.clone()).await, expected, "{method} {path} {body}");
    }
    let said = world.call("ann", Method::GET, &format!("/issues/{issue}/comments"), json!(null)).await;
    let said = said.as_array().unwrap().last().unwrap();
    assert_eq!((&said["user"]["login"], &said["body"]), (&json!("hob"), &json!("x")));
    world.call("ann", Method::DELETE, &format!("/issues/comments/{}", said["id"]), json!(null)).await;
    dispatcher.server.close().await;
    world.finish().await;
}

#[tokio::test]
async fn a_pass_relates_the_issues_that_its_own_is_split_into() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make two things", "", &[]).await;
    let (first, second) = (Dispatcher::new(&world).await, Dispatcher::new(&world).await);
    let pod = Pod::of(&first, issue);
    let (one, two) = (pod.opens("<!-- hob:part 1 a 1 -->").await, pod.opens("<!-- hob:part 1 a 2 -->").await);
    // The other dispatcher has to ask the forge for them, and is asked second for the first relation.
    for (dispatcher, blocked, by) in [(&first, &two, &one), (&second, &one, &two)] {
        let (pod, before) = (Pod::of(dispatcher, issue), world.forge.requests().len());
        let path = format!("issues/{issue}/sub_issues");
        assert_eq!(pod.status("POST", &path, json!({ "sub_issue_id": blocked["id"] })).await, 201);
        let path = format!("issues/{}/dependencies/blocked_by", blocked["number"]);
        assert_ne!(pod.status("POST", &path, json!({ "issue_id": by["id"] })).await, 403);
        let asked = world.forge.requests().split_off(before);
        let counted = asked.iter().filter(|asked| asked.method == "GET" && asked.counted).count();
        assert_eq!(counted, usize::from(blocked["number"] == one["number"]), "{asked:?}");
        assert_eq!(asked.iter().filter(|asked| asked.method == "POST").count(), 2, "{asked:?}");
    }
    first.server.close().await;
    second.server.close().await;
    world.finish().await;
}

/// Attack corpus L163.
#[tokio::test]
async fn a_pass_ends_with_its_job() {
    let world = World::fixing().start().await;
    let dispatcher = Dispatcher::new(&world).await;
    dispatcher.is_over.store(true, Ordering::Relaxed);
    let shown = format!("Authorization: Bearer {}\n", dispatcher.pass("acme/site", 1, 600));
    let before = world.forge.requests().len();
    for path in ["/repos/acme/site", "/git/acme/site.git/info/refs?service=git-upload-pack"] {
        let answer = get(dispatcher.server.address(), &format!("/forge{path}"), &shown).await;
        assert_eq!(status(&answer), 401, "{path}: {answer}");
    }
    assert_eq!(world.forge.requests().len(), before, "the forge was asked");
    dispatcher.server.close().await;
    world.finish().await;
}

#[tokio::test]
async fn a_list_has_its_other_pages_here_and_an_answer_that_is_known_is_not_counted_again() {
    let world = World::fixing().start().await;
    for n in 1..=3 {
        world.call("ann", Method::POST, "/labels", json!({ "name": format!("l{n}"), "color": "ffffff" })).await;
    }
    let dispatcher = Dispatcher::new(&world).await;
    let at = dispatcher.server.address();
    let shown = format!("Authorization: Bearer {}\n", dispatcher.pass("acme/site", 1, 600));
    let path = "/forge/repos/acme/site/labels?per_page=2";
    let first = get(at, path, &shown).await;
    let link = format!("<http://{at}/forge/repos/acme/site/labels?per_page=2&page=2>; rel=\"next\"");
    assert!(first.contains(&link) && first.contains("date: "), "{first}");
    assert_eq!(status(&get(at, "/forge/repos/acme/site/labels?per_page=2&page=2", &shown).await), 200);
    let again = get(at, path, &shown).await;
    let counted = world.forge.requests().pop().unwrap();
    assert_eq!((status(&again), counted.status, counted.counted), (200, 304, false));
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&again), body(&first));
    assert!(again.contains(&link), "{again}");
    let tag = first.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    assert_eq!(status(&get(at, path, &format!("{shown}If-None-Match: {tag}\n")).await), 304);
    dispatcher.server.close().await;
    world.finish().await;
}

#[tokio::test]
async fn a_pod_waits_for_a_dispatcher_that_is_starting_and_one_that_forwards_nothing_says_so() {
    let world = World::fixing().start().await;
    let facts = Facts { jobs: 1, state_dir: world.state_dir("dispatcher") };
    let server = Server::open(ANY_PORT, None, Arc::new(Known::new(facts))).unwrap();
    let connection = Arc::clone(world.bot(Access::ReadWrite).connection());
    let ends = world.forge.now() + TimeDelta::seconds(600);
    let pass = Pass { repo: "acme/site".parse().unwrap(), issue: IssueNumber(1), job: "hob-site".to_owned(), ends };
    let shown = connection.pass_key().sign(&pass);
    let shown = format!("Authorization: Bearer {}\n", shown.expose_secret());
    let starts = async {
        tokio::task::yield_now().await;
        // Its connection has not asked the forge anything, and learns the time for the pass.
        let git = GitRelay::new(&child_environment());
        server.forward(Some(Relay::new(Arc::clone(&connection), git, world.forge.server_url())));
    };
    let (answered, ()) = tokio::join!(get(server.address(), "/forge/repos/acme/site", &shown), starts);
    assert_eq!(status(&answered), 200, "{answered}");
    server.forward(None);
    assert_eq!(status(&get(server.address(), "/forge/repos/acme/site", &shown).await), 404);
    server.close().await;
    world.finish().await;
}
