//! The reach of a process of the same user, such as one that outlived an agent, while Hob's git talks to the server.

use std::io::{Read, Seek, SeekFrom};

use hob_domain::Sha;
use hob_workspace::Checkout;

use super::*;

/// Both forms of the token, which only Hob and the server have.
const SECRETS: [&str; 2] = ["s3cret", "eC1hY2Nlc3MtdG9rZW46czNjcmV0"];

/// A process of Hob's git, as another process of the same user sees it.
struct Seen {
    id: String,
    arguments: String,
    environment: String,
}

/// The processes whose home is the state folder: git's, and their children.
fn git_processes(yard: &Yard) -> Vec<Seen> {
    let home = format!("HOME={}\0", yard.home.path().join("state").display());
    let read = |id: &str, file: &str| {
        let bytes = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let ids = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let seen = ids.filter(|id| id.parse::<u32>().is_ok()).map(|id| {
        let (arguments, environment) = (read(&id, "cmdline"), read(&id, "environ"));
        Seen { id, arguments, environment }
    });
    seen.filter(|process| process.environment.contains(&home)).collect()
}

/// The content of the process's writable memory.
fn memory(process: &Seen) -> Vec<u8> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.id)).unwrap();
    let mut file = fs::File::open(format!("/proc/{}/mem", process.id)).unwrap();
    let mut found = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let (from, to) = (u64::from_str_radix(from, 16).unwrap(), u64::from_str_radix(to, 16).unwrap());
        file.seek(SeekFrom::Start(from)).unwrap();
        // The end of a mapping may be unreadable: the part before it is kept.
        (&mut file).take(to - from).read_to_end(&mut found).ok();
    }
    found
}

fn holds(memory: &[u8], text: &str) -> bool {
    memory.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The data that such a process can take over: the address, and the header that opens it.
struct Taken {
    url: String,
    header: String,
}

fn taken(yard: &Yard) -> Taken {
    let processes = git_processes(yard);
    let variables = processes.iter().flat_map(|process| process.environment.split('\0'));
    let values: Vec<_> = variables.filter_map(|line| line.split_once('=')).map(|(_, value)| value).collect();
    let url = values.iter().find_map(|value| value.strip_prefix("http.")?.strip_suffix(".extraHeader")).unwrap();
    let header = values.iter().find_map(|value| value.strip_prefix("Authorization: ")).unwrap();
    Taken { url: url.to_owned(), header: header.to_owned() }
}

impl Taken {
    /// The answer's status; `None` if nothing listens.
    async fn ask(&self, method: &str, service: &str, body: impl Into<reqwest::Body>) -> Option<u16> {
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let request = client.request(method.parse().unwrap(), format!("{}{service}", self.url));
        let answer = request.header("authorization", &self.header).body(body).send().await;
        answer.ok().map(|answer| answer.status().as_u16())
    }
}

fn packet(line: &str) -> String {
    format!("{:04x}{line}", line.len() + 4)
}

/// A checkout with a commit that is not pushed yet.
async fn work(yard: &Yard) -> (Checkout, Sha, Sha) {
    let remote = yard.remote(Some("s3cret"));
    let base = yard.workspace.fetch(&remote, &branch("main")).await.unwrap();
    let checkout =
        yard.workspace.prepare(&remote, IssueNumber(7), &branch("hob/7"), &base, Leftover::Remove).await.unwrap();
    fs::write(checkout.folder().join("a.txt"), "two\n").unwrap();
    let hob = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    let head = checkout.commit(&strict_fence(), "Fix", &hob, Timestamp::UNIX_EPOCH).await.unwrap().unwrap();
    (checkout, base, head)
}

/// Attack corpus J122, G80: a look into the processes of a push finds no token, not even in their memory.
#[tokio::test]
async fn no_process_of_a_push_holds_the_token() {
    let yard = Yard::new().await;
    let (checkout, _, head) = work(&yard).await;
    let remote = yard.remote(Some("s3cret"));
    let arrived = yard.hold("/git-receive-pack");
    let push = yard.workspace.push(&checkout, &remote, &head, None, None);
    let look = async {
        let go = arrived.await.unwrap();
        let processes = git_processes(&yard);
        let nonce = taken(&yard).header.strip_prefix("Bearer ").unwrap().to_owned();
        assert!(processes.iter().any(|process| process.arguments.contains("remote-http")), "the push is under way");
        for process in &processes {
            let memory = memory(process);
            assert!(holds(&memory, &nonce), "{} is looked into", process.arguments);
            assert!(!process.arguments.contains(&nonce), "every account can read {}", process.arguments);
            for secret in SECRETS {
                let Seen { arguments, environment, .. } = process;
                assert!(!arguments.contains(secret), "{arguments}");
                assert!(!environment.contains(secret), "{arguments}: {environment}");
                assert!(!holds(&memory, secret), "{arguments} holds the token");
            }
        }
        go.send(()).unwrap();
    };
    let (pushed, ()) = tokio::join!(push, look);
    pushed.unwrap();
    assert_eq!(yard.workspace.remote_tip(&remote, checkout.branch()).await.unwrap(), Some(head));
}

/// Attack corpus J122, D46: secrets from a push's process open nothing but that push.
#[tokio::test]
async fn a_nonce_moves_no_other_ref_and_opens_no_other_repository() {
    let yard = Yard::new().await;
    let (checkout, base, head) = work(&yard).await;
    let remote = yard.remote(Some("s3cret"));
    let arrived = yard.hold("/git-receive-pack");
    let push = yard.workspace.push(&checkout, &remote, &head, None, None);
    let misuse = async {
        let go = arrived.await.unwrap();
        let (taken, seen) = (taken(&yard), yard.served.seen.lock().unwrap().len());
        let zero = "0".repeat(40);
        for line in [
            format!("{base} {head} refs/heads/main"),
            format!("{base} {zero} refs/heads/main"),
            format!("{zero} {base} refs/heads/hob/7"),
            format!("{zero} {head} refs/tags/v1"),
        ] {
            let body = packet(&format!("{line}\0 report-status")) + "0000";
            assert_eq!(taken.ask("POST", "/git-receive-pack", body).await, Some(403), "{line}");
        }
        let more = packet(&format!("{zero} {head} refs/heads/hob/7\0 report-status"))
            + &packet(&format!("{base} {zero} refs/heads/main"))
            + "0000";
        // In pieces, the second update last.
        let pieces: Vec<Result<_, std::io::Error>> =
            more.as_bytes().chunks(7).map(|part| Ok(Bytes::copy_from_slice(part))).collect();
        let body = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
        assert_eq!(taken.ask("POST", "/git-receive-pack", body).await, Some(403));
        let other = Taken { url: taken.url.replace("acme/site", "acme/other"), header: taken.header.clone() };
        assert_eq!(other.ask("GET", "/info/refs?service=git-upload-pack", "").await, Some(404));
        let guessed = Taken { header: format!("Bearer {}", "0".repeat(32)), url: taken.url.clone() };
        assert_eq!(guessed.ask("GET", "/info/refs?service=git-upload-pack", "").await, Some(403));
        assert_eq!(yard.served.seen.lock().unwrap().len(), seen, "none of it reached the server");
        go.send(()).unwrap();
        taken
    };
    let (pushed, old) = tokio::join!(push, misuse);
    pushed.unwrap();
    assert_eq!(yard.workspace.remote_tip(&remote, &branch("main")).await.unwrap(), Some(base.clone()));

    // The command has ended: nothing listens there, and the next one has another nonce.
    assert_ne!(old.ask("GET", "/info/refs?service=git-upload-pack", "").await, Some(200));
    let arrived = yard.hold("/info/refs");
    let main = branch("main");
    let fetch = yard.workspace.fetch(&remote, &main);
    let misuse = async {
        let go = arrived.await.unwrap();
        let now = taken(&yard);
        let stale = Taken { header: old.header.clone(), url: now.url.clone() };
        assert_eq!(stale.ask("GET", "/info/refs?service=git-upload-pack", "").await, Some(403));
        assert_eq!(now.ask("GET", "/info/refs?service=git-upload-pack", "").await, Some(200), "what the fetch may");
        assert_eq!(now.ask("GET", "/info/refs?service=git-receive-pack", "").await, Some(403));
        let body = packet(&format!("{head} {base} refs/heads/hob/7\0 report-status")) + "0000";
        assert_eq!(now.ask("POST", "/git-receive-pack", body).await, Some(403));
        go.send(()).unwrap();
    };
    let (fetched, ()) = tokio::join!(fetch, misuse);
    fetched.unwrap();
    assert_eq!(yard.workspace.remote_tip(&remote, checkout.branch()).await.unwrap(), Some(head));
}

/// Attack corpus J123: a proxy that is written into git's settings at the last moment sees nothing.
#[tokio::test]
async fn a_proxy_in_the_settings_of_a_git_directory_is_not_used() {
    let (yard, elsewhere) = (Yard::new().await, Yard::new().await);
    let git = yard.home.path().join("git");
    let proxy = &elsewhere.address;
    // Behind Hob's back, between its look at the settings and git's.
    script(
        &git,
        &format!(
            "d=${{1#--git-dir=}}; case $d in *git)
                for key in http.proxy http.http://127.0.0.1.proxy remote.origin.proxy; do
                    git config -f \"$d/config\" $key {proxy}; done
                git config -f \"$d/config\" http.sslVerify false; touch \"${{0%git}}wrote\" ;; esac
            exec git \"$@\""
        ),
    );
    let settings = WorkspaceSettings { git: git.display().to_string(), ..WorkspaceSettings::default() };
    let mut environment = child_environment();
    environment.insert("HTTP_PROXY".into(), proxy.into());
    let workspace = Workspace::open(yard.home.path().join("state"), settings, environment.into()).await.unwrap();
    let yard = Yard { workspace, ..yard };
    let (checkout, _, head) = work(&yard).await;
    yard.workspace.push(&checkout, &yard.remote(Some("s3cret")), &head, None, None).await.unwrap();
    yard.workspace.fetch(&yard.remote(Some("s3cret")), &branch("main")).await.unwrap();
    assert!(yard.home.path().join("wrote").exists());
    assert!(elsewhere.served.seen.lock().unwrap().is_empty());
}

/// Attack corpus J123: a git directory that is made where Hob has none.
#[tokio::test]
async fn a_git_directory_in_the_place_of_none_is_not_opened() {
    let (yard, elsewhere) = (Yard::new().await, Yard::new().await);
    let remote = yard.remote(Some("s3cret"));
    let place = yard.home.path().join("state");
    let lead = format!("url.{}.insteadOf", elsewhere.address);
    let make = format!("git init -q --bare . && git config -f config {lead} http://127.0.0.1:");
    let made = Program::of_hob("sh", &child_environment()).args(["-ec", &make]).dir(&place);
    assert!(made.run(&CancellationToken::new()).await.unwrap().exit.is_success());
    assert!(yard.workspace.remote_tip(&remote, &branch("main")).await.unwrap().is_some());
    yard.workspace.reach(&remote).await.unwrap();
    assert!(elsewhere.served.seen.lock().unwrap().is_empty());
}
