//! The workspace against git over HTTP: the token reaches the server and nothing else, failures are told apart.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use hob_config::{WorkspaceSettings, child_environment};
use hob_domain::{FailureClass, IssueNumber, RepoName, Sha, Timestamp};
use hob_process::Program;
use hob_workspace::{Along, BranchName, Checkout, Leftover, Remote, Workspace, WorkspaceError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::harness::{script, strict_fence};

mod attacks;

/// `x-access-token:s3cret` in base64.
const CREDENTIALS: &str = "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0";

/// The server's treatment of the next requests.
#[derive(Clone)]
enum Mood {
    Serve,
    Answer(u16),
    Redirect(String),
    /// The first request whose path ends with this waits at the gate, and is served then.
    Hold(&'static str, Arc<Mutex<Option<Arrival>>>),
}

/// Notified when a request waits; the message lets the request go on.
type Arrival = oneshot::Sender<oneshot::Sender<()>>;

#[derive(Clone)]
struct Served {
    folder: PathBuf,
    mood: Arc<Mutex<Mood>>,
    seen: Arc<Mutex<Vec<Option<String>>>>,
}

/// One request, handed to git's own server program.
async fn answer(State(served): State<Served>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    served.seen.lock().unwrap().push(headers.get("authorization").map(|value| value.to_str().unwrap().to_owned()));
    let mood = served.mood.lock().unwrap().clone();
    match mood {
        Mood::Serve | Mood::Hold(..) if header("authorization") != CREDENTIALS => {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        Mood::Serve => {}
        Mood::Hold(end, gate) => {
            let arrival = if uri.path().ends_with(end) { gate.lock().unwrap().take() } else { None };
            if let Some(arrival) = arrival {
                let (go, wait) = oneshot::channel();
                arrival.send(go).unwrap();
                wait.await.ok();
            }
        }
        Mood::Answer(status) => return StatusCode::from_u16(status).unwrap().into_response(),
        Mood::Redirect(to) => return (StatusCode::MOVED_PERMANENTLY, [("location", to)]).into_response(),
    }
    let finished = Program::of_hob("git", &child_environment())
        .args(["-c", "http.receivepack=true", "http-backend"])
        .env("GIT_PROJECT_ROOT", &served.folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method.as_str())
        .env("PATH_INFO", uri.path())
        .env("QUERY_STRING", uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(body.to_vec())
        .output_cap(64 << 20)
        .run(&CancellationToken::new())
        .await
        .unwrap();
    let output = finished.stdout.whole().unwrap();
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let mut reply = Response::builder();
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        reply = match name {
            "Status" => reply.status(value[..3].parse::<u16>().unwrap()),
            _ => reply.header(name, value),
        };
    }
    reply.body(output[end + 4..].to_vec().into()).unwrap()
}

struct Yard {
    home: tempfile::TempDir,
    address: String,
    served: Served,
    workspace: Workspace,
}

impl Yard {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let script = "git init -q --bare -b main acme/site.git && cd acme/site.git && git config uploadpack.allowFilter true
            tree=$(printf '100644 blob %s\\ta.txt\\n' $(echo one | git hash-object -w --stdin) | git mktree)
            commit=$(git -c user.name=Ada -c user.email=a@b commit-tree -m first $tree) && git update-ref refs/heads/main $commit";
        let made = Program::of_hob("sh", &child_environment()).args(["-ec", script]).dir(home.path());
        assert!(made.run(&CancellationToken::new()).await.unwrap().exit.is_success());
        let served =
            Served { folder: home.path().to_owned(), mood: Arc::new(Mutex::new(Mood::Serve)), seen: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(served.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let workspace = open(&home, WorkspaceSettings::default()).await;
        Self { home, address, served, workspace }
    }

    fn remote(&self, token: Option<&str>) -> Remote {
        Remote::server(repo(), &self.address, token.map(Into::into)).unwrap()
    }

    fn feel(&self, mood: Mood) {
        *self.served.mood.lock().unwrap() = mood;
    }

    /// Has the next request wait whose path ends with `end`; the receiver is notified when it arrives.
    fn hold(&self, end: &'static str) -> oneshot::Receiver<oneshot::Sender<()>> {
        let (arrival, arrived) = oneshot::channel();
        self.feel(Mood::Hold(end, Arc::new(Mutex::new(Some(arrival)))));
        arrived
    }

    async fn failure(&self, remote: &Remote) -> (FailureClass, String) {
        let error = self.workspace.fetch(remote, &branch("main")).await.unwrap_err();
        (error.class(), error.to_string())
    }
}

async fn open(home: &tempfile::TempDir, settings: WorkspaceSettings) -> Workspace {
    Workspace::open(home.path().join("state"), settings, child_environment().into()).await.unwrap()
}

fn repo() -> RepoName {
    "acme/site".parse().unwrap()
}

fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

#[tokio::test]
async fn the_token_opens_fetch_checkout_and_push_and_stays_out_of_every_file() {
    let yard = Yard::new().await;
    let remote = yard.remote(Some("s3cret"));
    let base = yard.workspace.fetch(&remote, &branch("main")).await.unwrap();
    let checkout =
        yard.workspace.prepare(&remote, IssueNumber(7), &branch("hob/7"), &base, Leftover::Remove).await.unwrap();
    assert_eq!(fs::read_to_string(checkout.folder().join("a.txt")).unwrap(), "one\n");
    fs::write(checkout.folder().join("a.txt"), "two\n").unwrap();
    let hob = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    let head = checkout.commit(&strict_fence(), "Fix", &hob, Timestamp::UNIX_EPOCH).await.unwrap().unwrap();
    yard.workspace.push(&checkout, &remote, &head, None, None).await.unwrap();
    assert_eq!(yard.workspace.remote_tip(&remote, checkout.branch()).await.unwrap(), Some(head.clone()));
    let error = yard.workspace.push(&checkout, &remote, &base, Some(&base), None).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::LeaseLost { .. }), "{error}");

    assert!(yard.served.seen.lock().unwrap().iter().all(|seen| seen.as_deref() == Some(CREDENTIALS)));
    let search = "grep -rlaE 's3cret|eC1hY2Nlc3MtdG9rZW46czNjcmV0' state || true";
    let found = Program::of_hob("sh", &child_environment()).args(["-c", search]).dir(yard.home.path());
    assert_eq!(found.run(&CancellationToken::new()).await.unwrap().stdout.text(), "");
}

/// Git asks with an empty list first, and sends such a push in chunks.
#[tokio::test]
async fn a_push_that_is_sent_in_chunks_arrives_whole() {
    let yard = Yard::new().await;
    let remote = yard.remote(Some("s3cret"));
    let (checkout, head) = work(&yard, &remote, 3 << 20).await;
    yard.workspace.push(&checkout, &remote, &head, None, None).await.unwrap();
    let show = Program::of_hob("git", &child_environment()).args(["-C", "acme/site.git", "cat-file", "-s"]);
    let size =
        show.arg(format!("{head}:noise.bin")).dir(yard.home.path()).run(&CancellationToken::new()).await.unwrap();
    assert_eq!(size.stdout.text().trim(), (3 << 20).to_string());
}

#[tokio::test]
async fn each_refusal_has_its_class_and_its_advice() {
    let yard = Yard::new().await;
    let remote = yard.remote(Some("s3cret"));
    let later = FailureClass::Transient { retry_after: None };
    for (status, class, advice) in [
        (401, FailureClass::Misconfigured, "wrong or has expired"),
        (403, FailureClass::Misconfigured, "contents: write"),
        (404, FailureClass::Misconfigured, "no such repository"),
        (429, later.clone(), "429"),
        (503, later.clone(), "503"),
    ] {
        yard.feel(Mood::Answer(status));
        let (found, text) = yard.failure(&remote).await;
        assert!(found == class && text.contains(advice), "{status}: {found:?} {text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
    yard.feel(Mood::Serve);
    assert_eq!(yard.failure(&yard.remote(None)).await.0, FailureClass::Misconfigured);
    let nobody = Remote::server(repo(), "http://127.0.0.1:1", None).unwrap();
    let (class, text) = yard.failure(&nobody).await;
    assert!(class == later && text.contains("'http://127.0.0.1:1/acme/site.git'"), "{text}");
    assert!(text.contains("Connection refused"), "the cause is told: {text}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_carries_no_token_away() {
    let (yard, elsewhere) = (Yard::new().await, Yard::new().await);
    yard.feel(Mood::Redirect(format!("{}/acme/site.git/info/refs?service=git-upload-pack", elsewhere.address)));
    let (class, text) = yard.failure(&yard.remote(Some("s3cret"))).await;
    assert!(class == FailureClass::Misconfigured && text.contains("has moved"), "{text}");
    assert!(elsewhere.served.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_full_disk_is_named_with_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let git = home.path().join("git");
    script(&git, "echo 'fatal: write error: No space left on device' >&2; exit 128");
    let settings = WorkspaceSettings { git: git.display().to_string(), ..WorkspaceSettings::default() };
    let remote = Remote::server(repo(), "https://forge.test", None).unwrap();
    let error = open(&home, settings).await.fetch(&remote, &branch("main")).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Unfinished);
    let said = error.to_string();
    assert!(said.contains("the disk is full: make room for") && said.contains("state/acme/site"), "{said}");
}

#[tokio::test]
async fn git_gets_a_nonce_by_environment_and_inherits_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let git = home.path().join("git");
    script(&git, "printf '%s\\n' \"$@\" > \"${0%git}arguments\"; env > \"${0%git}environment\"; exit 1");
    let settings = WorkspaceSettings { git: git.display().to_string(), ..WorkspaceSettings::default() };
    let remote = Remote::server(repo(), "https://forge.test", Some("s3cret".into())).unwrap();
    open(&home, settings).await.remote_tip(&remote, &branch("main")).await.unwrap_err();

    let arguments = fs::read_to_string(home.path().join("arguments")).unwrap();
    assert!(arguments.contains("ls-remote\nhttp://127.0.0.1:"), "{arguments}");
    assert!(arguments.ends_with("/acme/site.git\nrefs/heads/main\n"), "{arguments}");
    let environment = fs::read_to_string(home.path().join("environment")).unwrap();
    for text in [&arguments, &environment] {
        assert!(!text.contains("s3cret") && !text.contains(CREDENTIALS.strip_prefix("Basic ").unwrap()), "{text}");
    }
    let nonces: Vec<_> = environment.lines().filter(|line| line.contains("Bearer ")).collect();
    assert!(nonces.len() == 1 && nonces[0].starts_with("GIT_CONFIG_VALUE_"), "{nonces:?}");
    let nonce = nonces[0].rsplit_once(' ').unwrap().1;
    assert!(nonce.len() == 32 && !arguments.contains(nonce), "others may read arguments: {arguments}");
    let known = ["GIT_", "LC_ALL=C", "SSH_ASKPASS=false", "HOME=", "NO_PROXY=*", "PWD=", "SHLVL=", "_="];
    let inherited = child_environment();
    let strange = environment.lines().filter(|line| {
        let name = line.split('=').next().unwrap();
        !known.iter().any(|known| line.starts_with(known)) && !inherited.contains_key(std::ffi::OsStr::new(name))
    });
    assert_eq!(strange.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[tokio::test]
async fn the_way_to_a_server_leads_through_the_proxy_of_the_environment() {
    let yard = Yard::new().await;
    let remote = Remote::server(repo(), "https://forge.test", Some("s3cret".into())).unwrap();
    let mut environment = child_environment();
    environment.insert("HTTPS_PROXY".into(), yard.address.clone().into());
    let place = yard.home.path().join("other");
    let through = Workspace::open(place, WorkspaceSettings::default(), environment.into()).await.unwrap();
    let error = through.remote_tip(&remote, &branch("main")).await.unwrap_err();
    assert!(error.to_string().contains("unable to access 'https://forge.test/acme/site.git'"), "{error}");
    assert_eq!(*yard.served.seen.lock().unwrap(), [None], "it was asked for a tunnel, and not told the token");
}

/// The next commit of a ledger that is at the base, and where the server has it.
async fn next_step(yard: &Yard, name: &str) -> Along {
    let script = format!(
        "cd acme/site.git && old=$(git rev-parse refs/heads/main) && git update-ref {name} $old
        new=$(git -c user.name=Ada -c user.email=a@b commit-tree -p $old -m step $old^{{tree}}) && echo $old $new
        echo $new | git pack-objects --quiet --stdout > ../step.pack && rm objects/$(echo $new | sed 's|^..|&/|')"
    );
    let told = shell(yard, &script).await;
    let (old, new) = told.trim().split_once(' ').unwrap();
    let pack = fs::read(yard.home.path().join("acme/step.pack")).unwrap();
    Along { name: name.to_owned(), old: old.into(), new: new.into(), packed: pack[12..pack.len() - 20].to_vec() }
}

async fn shell(yard: &Yard, script: &str) -> String {
    let program = Program::of_hob("sh", &child_environment()).args(["-ec", script]).dir(yard.home.path());
    let ended = program.run(&CancellationToken::new()).await.unwrap();
    assert!(ended.exit.is_success(), "{}", ended.stderr.text());
    ended.stdout.text()
}

/// A checkout with a commit, of this many bytes that do not compress.
async fn work(yard: &Yard, remote: &Remote, bytes: usize) -> (Checkout, Sha) {
    let base = yard.workspace.fetch(remote, &branch("main")).await.unwrap();
    let checkout =
        yard.workspace.prepare(remote, IssueNumber(7), &branch("hob/7"), &base, Leftover::Remove).await.unwrap();
    let mut noise = Vec::new();
    let mut number = 1_u64;
    while noise.len() < bytes {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        noise.extend_from_slice(&(number >> 32).to_le_bytes()[..4]);
    }
    fs::write(checkout.folder().join("noise.bin"), noise).unwrap();
    let hob = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    let head = checkout.commit(&strict_fence(), "Fix", &hob, Timestamp::UNIX_EPOCH).await.unwrap().unwrap();
    (checkout, head)
}

const LEDGER: &str = "refs/hob/issues/7";
const TIPS: &str = "git -C acme/site.git for-each-ref --format='%(objectname)' refs/hob/issues/7 refs/heads/hob/7";

/// Small, and so large that git sends it in chunks.
#[tokio::test]
async fn a_branch_and_its_ledger_move_in_one_push() {
    for bytes in [10, 3 << 20] {
        let yard = Yard::new().await;
        let remote = yard.remote(Some("s3cret"));
        let (checkout, head) = work(&yard, &remote, bytes).await;
        let step = next_step(&yard, LEDGER).await;
        let push = yard.workspace.push(&checkout, &remote, &head, None, Some(step.clone()));
        assert!(push.await.unwrap());
        assert_eq!(shell(&yard, TIPS).await, format!("{head}\n{}\n", step.new));
        shell(&yard, "git -C acme/site.git fsck --strict").await;
        // A branch that is there already is not pushed again.
        let again = yard.workspace.push(&checkout, &remote, &head, Some(&head), Some(step));
        assert!(!again.await.unwrap());
    }
}

/// Of a worker that was frozen while it pushed, and whose lease another took over meanwhile.
#[tokio::test]
async fn a_late_push_whose_ledger_moved_moves_nothing() {
    let yard = Yard::new().await;
    let remote = yard.remote(Some("s3cret"));
    let (checkout, head) = work(&yard, &remote, 10).await;
    let step = next_step(&yard, LEDGER).await;
    let arrived = yard.hold("/git-receive-pack");
    let takes_over = async {
        let goes_on = arrived.await.unwrap();
        let taken = format!(
            "cd acme/site.git && new=$(git -c user.name=Bo -c user.email=b@b commit-tree -p {0} -m taken {0}^{{tree}})
            git update-ref {LEDGER} $new {0} && echo $new",
            step.old
        );
        let taken = shell(&yard, &taken).await;
        yard.feel(Mood::Serve);
        goes_on.send(()).unwrap();
        taken
    };
    let push = yard.workspace.push(&checkout, &remote, &head, None, Some(step.clone()));
    let (pushed, taken) = tokio::join!(push, takes_over);
    let refused = pushed.unwrap_err().to_string();
    assert!(refused.contains("atomic"), "{refused}");
    assert_eq!(shell(&yard, TIPS).await, taken);
    // Alone, the branch would have moved.
    assert!(!yard.workspace.push(&checkout, &remote, &head, None, None).await.unwrap());
    assert_eq!(shell(&yard, TIPS).await, format!("{head}\n{taken}"));
}

#[tokio::test]
async fn a_server_that_makes_each_update_by_itself_is_sent_none_of_two() {
    let yard = Yard::new().await;
    let remote = yard.remote(Some("s3cret"));
    shell(&yard, "git -C acme/site.git config receive.advertiseAtomic false").await;
    let (checkout, head) = work(&yard, &remote, 10).await;
    let step = next_step(&yard, LEDGER).await;
    let before = shell(&yard, TIPS).await;
    let error = yard.workspace.push(&checkout, &remote, &head, None, Some(step)).await.unwrap_err();
    assert!(error.to_string().contains("does not support --atomic"), "{error}");
    assert_eq!(shell(&yard, TIPS).await, before);
}
