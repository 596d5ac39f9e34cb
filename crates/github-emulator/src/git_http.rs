//! Git over smart HTTP: `git upload-pack` and `git receive-pack` as children, the input from a file, the output streamed.
//!
//! # Flow
//! A push's body is first written to a file, so that its size costs no memory. Then the repository's refs are locked,
//! the commands at its start are checked against role and protection, and the child runs to its end. Only then do pull
//! requests follow their branches, and the lock is released: to the API, a push is one step.
//!
//! # Caveats
//! A push whose body is compressed is refused: git compresses fetches only. A compressed fetch goes to
//! `git http-backend`, which can unpack it and costs two more processes.

use std::{ffi::OsString, path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Path as UrlPath, Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts};
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    process,
};

use super::{
    branch_guard::{Source, Tip, binding, forbids, mover},
    envelope::{http_date, sign_in},
    forge::{Forge, LoggedRequest},
    git::{Command, RefMove, feed, packet, parse_commands, program, refuse, spawn},
    large_files::hooks,
    moods::Mood,
    permission::Needed,
    ref_moves::moved,
    refusal::Refusal,
    state::{Access, Account, Grant, Repository, Visibility},
    users::Role,
    webhook_events::queue_new_events,
};
use crate::names::{Login, RepoName};

/// The largest push: GitHub's own limit of a push is 2 GB.
const PUSH_MAX: u64 = 2 << 30;
/// The most a fetch's negotiation may say.
const FETCH_MAX: usize = 64 << 20;
/// The most bytes of a push's commands.
const COMMANDS_MAX: u64 = 4 << 20;
/// The most bytes of a push's report and messages.
const REPORT_MAX: u64 = 16 << 20;
/// The deadline of one git child.
const DEADLINE: Duration = Duration::from_secs(600);

/// The target of a git request.
#[derive(Debug, Clone)]
struct Target {
    id: u64,
    name: RepoName,
    role: Role,
    login: Option<Login>,
}

/// The git service of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Upload,
    Receive,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Upload => "git-upload-pack",
            Self::Receive => "git-receive-pack",
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Upload => "upload-pack",
            Self::Receive => "receive-pack",
        }
    }
}

/// The routes of git's smart HTTP.
pub(super) fn routes(forge: &Arc<Forge>) -> Router {
    Router::new()
        .route("/{owner}/{repo}/info/refs", get(advertise))
        .route("/{owner}/{repo}/git-upload-pack", post(upload))
        .route("/{owner}/{repo}/git-receive-pack", post(receive))
        .with_state(Arc::clone(forge))
}

async fn advertise(
    State(forge): State<Arc<Forge>>,
    UrlPath((owner, repo)): UrlPath<(String, String)>,
    request: Request,
) -> Response {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let (need, service) = match query.as_str() {
        "service=git-upload-pack" => (Role::Read, Service::Upload),
        "service=git-receive-pack" => (Role::Write, Service::Receive),
        _ => return plain(StatusCode::FORBIDDEN, "this forge speaks git's smart protocol only"),
    };
    let target = match target(&forge, &owner, &repo, request.headers(), need) {
        Ok(target) => target,
        Err(response) => return *response,
    };
    let program = direct(&forge, &target, service, request.headers(), &["--http-backend-info-refs"]);
    let (parts, _) = request.into_parts();
    let version = parts.headers.get("git-protocol").and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Version 2 leaves the announcement out.
    let announcement = if service == Service::Upload && version.contains("version=2") {
        Vec::new()
    } else {
        [packet(format!("# service={}\n", service.name()).as_bytes()), b"0000".to_vec()].concat()
    };
    let head = Head::Known(format!("application/x-{}-advertisement", service.name()), announcement);
    let answer = stream(program, None, head).await;
    finish(&forge, &parts, &target, answer)
}

async fn upload(
    State(forge): State<Arc<Forge>>,
    UrlPath((owner, repo)): UrlPath<(String, String)>,
    request: Request,
) -> Response {
    let target = match target(&forge, &owner, &repo, request.headers(), Role::Read) {
        Ok(target) => target,
        Err(response) => return *response,
    };
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, FETCH_MAX).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large or incomplete");
    };
    let answer = if parts.headers.contains_key(header::CONTENT_ENCODING) {
        stream(unpacking(&forge, &target, &parts.headers, body.len()), Some(body), Head::Cgi).await
    } else {
        let head = Head::Known("application/x-git-upload-pack-result".to_owned(), Vec::new());
        let program = direct(&forge, &target, Service::Upload, &parts.headers, &[]);
        stream(program, Some(body), head).await
    };
    finish(&forge, &parts, &target, answer)
}

async fn receive(
    State(forge): State<Arc<Forge>>,
    UrlPath((owner, repo)): UrlPath<(String, String)>,
    request: Request,
) -> Response {
    let target = match target(&forge, &owner, &repo, request.headers(), Role::Write) {
        Ok(target) => target,
        Err(response) => return *response,
    };
    let (parts, body) = request.into_parts();
    let headers = parts.headers.clone();
    if headers.contains_key(header::CONTENT_ENCODING) {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a push may not be compressed");
    }
    let spooled = match spool(&forge, body).await {
        Ok(spooled) => spooled,
        Err(error) => return plain(StatusCode::BAD_REQUEST, &format!("the push did not arrive whole: {error}")),
    };
    // The rest runs to its end even if the client goes away: a push is done or not done, never half noted.
    let work = tokio::spawn({
        let (forge, target) = (Arc::clone(&forge), target.clone());
        async move { apply(&forge, &target, &headers, spooled.path()).await }
    });
    let answer = work.await.unwrap_or_else(|died| Err(std::io::Error::other(died)));
    finish(&forge, &parts, &target, answer)
}

/// Runs a push whose body is in `spooled`, with the repository's refs locked.
async fn apply(forge: &Arc<Forge>, target: &Target, headers: &HeaderMap, spooled: &Path) -> std::io::Result<Response> {
    let mut file = File::open(spooled).await?;
    let length = file.metadata().await?.len();
    let mut start = Vec::new();
    (&mut file).take(COMMANDS_MAX.min(length)).read_to_end(&mut start).await?;
    let Some((commands, capabilities)) = parse_commands(&start) else {
        return Ok(plain(StatusCode::BAD_REQUEST, "the push makes no sense"));
    };
    drop(start);
    let _active = forge.activity.read().await;
    let held = forge.git.lock_of(target.id).lock_owned().await;
    if let Some((reason, message)) = objection(forge, target, &commands) {
        let body = refuse(&commands, &capabilities, reason, &message);
        return Ok(result(body));
    }
    let mut service = direct(forge, target, Service::Receive, headers, &[]);
    let mut settings = Vec::new();
    if only_forward(forge, target, &commands) {
        settings.push(("receive.denyNonFastForwards", "true".into()));
    }
    if forge.temper.is(Mood::LargeFiles) {
        settings.push(("core.hooksPath", hooks(forge.git.folder()).await?.into_os_string()));
    }
    set(&mut service, settings);
    let mut child = spawn(service)?;
    let input = File::open(spooled).await?;
    feed(&mut child, input);
    let run = async {
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(REPORT_MAX).read_to_end(&mut output).await?;
        }
        child.wait().await?;
        Ok::<_, std::io::Error>(output)
    };
    let output = tokio::time::timeout(DEADLINE, run).await.map_err(std::io::Error::other)??;
    let (forge, target) = (Arc::clone(forge), target.clone());
    let noted = tokio::task::spawn_blocking(move || {
        let outcome = note_moves(&forge, &target, &commands);
        let outcome = outcome.and_then(|()| forge.save().map_err(Refusal::internal));
        queue_new_events(&forge);
        drop(held);
        outcome
    });
    if let Err(refusal) = noted.await.map_err(std::io::Error::other)? {
        return Ok(refusal.into_response());
    }
    Ok(result(output))
}

/// Sets the options of one run of git.
fn set(program: &mut process::Command, settings: Vec<(&str, OsString)>) {
    program.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (index, (key, value)) in settings.into_iter().enumerate() {
        program.env(format!("GIT_CONFIG_KEY_{index}"), key).env(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
}

/// The result of a push, in git's words.
fn result(report: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/x-git-receive-pack-result")], report).into_response()
}

/// Why this push is refused, if it is: the reason for git and the sentence for the person.
fn objection(forge: &Forge, target: &Target, commands: &[Command]) -> Option<(&'static str, String)> {
    let git = forge.git.open(target.id).ok()?;
    let state = forge.state();
    let repo = state.repositories.get(target.name.owner(), target.name.name())?;
    for command in commands {
        let name = &command.reference;
        if repo.protects(name) && target.role < Role::Maintain {
            let message = format!(
                "GH006: Protected branch update failed for {name}. Changes must be made through a pull request."
            );
            return Some(("protected branch hook declined", message));
        }
        if name.starts_with("refs/pull/") {
            return Some(("deny updating a hidden ref", format!("{name} is the forge's own")));
        }
        let oid = |text: &str| git2::Oid::from_str(text).ok().filter(|oid| !oid.is_zero());
        let tip = match oid(&command.new) {
            None => Tip::Gone,
            // The commits of a push do not exist before it is let in.
            Some(new) if git.find_commit(new).is_err() => Tip::New,
            Some(new) => Tip::Is(new),
        };
        let branch = name.strip_prefix("refs/heads/").unwrap_or_default();
        let mover = mover(forge, &state.accounts, target.login.as_ref(), target.role);
        let rules = binding(repo, branch, mover);
        match forbids(&git, repo, &state.accounts, rules, oid(&command.old), tip) {
            Some((Source::Protection, sentence)) => {
                let message = format!("GH006: Protected branch update failed for {name}. {sentence}");
                return Some(("protected branch hook declined", message));
            }
            Some((Source::Ruleset, sentence)) => {
                let message = format!("GH013: Repository rule violations found for {name}. {sentence}");
                return Some(("push declined due to repository rule violations", message));
            }
            None => {}
        }
    }
    None
}

/// Whether git itself must refuse moves that are not fast-forwards: for a push to a branch with rules.
fn only_forward(forge: &Forge, target: &Target, commands: &[Command]) -> bool {
    let state = forge.state();
    let repo = state.repositories.get(target.name.owner(), target.name.name());
    let mover = mover(forge, &state.accounts, target.login.as_ref(), target.role);
    let has_rules = |command: &Command| {
        let branch = command.reference.strip_prefix("refs/heads/").unwrap_or_default();
        repo.is_some_and(|repo| binding(repo, branch, mover).any(|(_, rules)| rules.non_fast_forward))
    };
    commands.iter().any(has_rules)
}

/// Compares the commands with the current refs, and makes the rest of the forge follow.
fn note_moves(forge: &Forge, target: &Target, commands: &[Command]) -> Result<(), Refusal> {
    let repo = forge.git.open(target.id)?;
    let actor = target.login.as_ref().ok_or_else(Refusal::anonymous)?;
    let oid = |text: &str| git2::Oid::from_str(text).ok().filter(|oid| !oid.is_zero());
    for command in commands {
        let (old, new) = (oid(&command.old), oid(&command.new));
        let now = repo.refname_to_id(&command.reference).ok();
        if now == new && old != new {
            let change = RefMove { reference: command.reference.clone(), old, new };
            moved(forge, &repo, &target.name, actor, &change)?;
        }
    }
    Ok(())
}

/// Finds the repository and checks that the caller may do this; the refusal is in git's manner, as text.
fn target(forge: &Forge, owner: &str, repo: &str, headers: &HeaderMap, need: Role) -> Result<Target, Box<Response>> {
    let challenge = || {
        let mut response = plain(StatusCode::UNAUTHORIZED, "Authentication required");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"GitHub\""));
        Box::new(response)
    };
    let signed_in = sign_in(forge, headers).map_err(|_| challenge())?;
    let grant = signed_in.as_ref().and_then(|signed_in| signed_in.grant.clone());
    let login = signed_in.map(|signed_in| signed_in.login);
    let state = forge.state();
    let name = repo.strip_suffix(".git").unwrap_or(repo);
    let account = login.as_ref().and_then(|login| state.accounts.get(login.as_str()));
    // Git follows a repository to its new name by itself: the old name is answered like the new one.
    let found = state.repositories.now_or_before(owner, name);
    let found = found.map(|repo| (repo, granted(repo, account, grant.as_ref(), need)));
    match found {
        Some((repo, role)) if repo.archived && role >= Role::Write && need >= Role::Write => {
            Err(Box::new(plain(StatusCode::FORBIDDEN, "This repository was archived so it is read-only.")))
        }
        Some((repo, role)) if role >= need => Ok(Target { id: repo.id, name: repo.name.clone(), role, login }),
        // As on GitHub, anonymous callers do not learn what exists.
        Some(_) | None if login.is_none() => Err(challenge()),
        Some((repo, role)) if role >= Role::Read => {
            let who = login.map_or_else(|| "anonymous".to_owned(), |login| login.to_string());
            let text = format!("Permission to {}.git denied to {who}.", repo.name);
            Err(Box::new(plain(StatusCode::FORBIDDEN, &text)))
        }
        Some(_) | None => Err(Box::new(plain(StatusCode::NOT_FOUND, "Repository not found."))),
    }
}

/// The caller's access to a repository with git: the account's role, as far as an installation's token has the
/// permission.
fn granted(repo: &Repository, account: Option<&Account>, grant: Option<&Grant>, need: Role) -> Role {
    let Some(grant) = grant else { return repo.role(account) };
    let access = if need >= Role::Write { Access::Write } else { Access::Read };
    let is_public = repo.visibility == Visibility::Public;
    let allowed = grant.includes(repo.id) && Needed::of_git(access).is_met(grant, is_public);
    if allowed { repo.role(account) } else { repo.role(None) }
}

/// A git child for one request, with the request's protocol version.
fn git(forge: &Forge, headers: &HeaderMap) -> process::Command {
    let mut program = program(&forge.git.root());
    if let Some(version) = headers.get("git-protocol").and_then(|value| value.to_str().ok()) {
        program.env("GIT_PROTOCOL", version);
    }
    program
}

/// The service itself, without a CGI program before it, in the repository of `target`.
fn direct(forge: &Forge, target: &Target, service: Service, headers: &HeaderMap, options: &[&str]) -> process::Command {
    let who = target.login.as_ref().map_or("anonymous", Login::as_str);
    let mut program = git(forge, headers);
    program.args([service.command(), "--stateless-rpc"]).args(options).arg(forge.git.path(target.id));
    program.env("GIT_COMMITTER_NAME", who).env("GIT_COMMITTER_EMAIL", format!("{who}@localhost"));
    program
}

/// A fetch whose body, of this length, is compressed.
fn unpacking(forge: &Forge, target: &Target, headers: &HeaderMap, length: usize) -> process::Command {
    let mut program = git(forge, headers);
    program
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", forge.git.root())
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", format!("/{}.git/git-upload-pack", target.id))
        .env("REQUEST_METHOD", "POST")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("REMOTE_USER", target.login.as_ref().map_or("", Login::as_str))
        .env("CONTENT_LENGTH", length.to_string());
    let passed = [(header::CONTENT_TYPE, "CONTENT_TYPE"), (header::CONTENT_ENCODING, "HTTP_CONTENT_ENCODING")];
    for (header, variable) in passed {
        if let Some(value) = headers.get(header).and_then(|value| value.to_str().ok()) {
            program.env(variable, value);
        }
    }
    program
}

/// The source of an answer's head.
enum Head {
    /// The child, a CGI program.
    Cgi,
    /// This type of content; these bytes precede the child's output.
    Known(String, Vec<u8>),
}

/// Runs the child and streams its body; the child is killed when the client goes away.
async fn stream(program: process::Command, input: Option<bytes::Bytes>, head: Head) -> std::io::Result<Response> {
    let mut child = spawn(program)?;
    match input {
        Some(bytes) => feed(&mut child, std::io::Cursor::new(bytes)),
        None => drop(child.stdin.take()),
    }
    let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no output"))?;
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    let (head, first) = match head {
        Head::Cgi => (read_head(&mut stdout).await?, Vec::new()),
        Head::Known(kind, first) => (format!("Content-Type: {kind}\r\n").into_bytes(), first),
    };
    let ends_at = tokio::time::Instant::now() + DEADLINE;
    let chunks = futures_util::stream::unfold((stdout, child), move |(mut stdout, child)| async move {
        let mut buffer = vec![0; 64 << 10];
        let read = tokio::time::timeout_at(ends_at, stdout.read(&mut buffer)).await;
        let chunk = match read.unwrap_or_else(|late| Err(std::io::Error::other(late))) {
            Ok(0) => return None,
            Ok(count) => {
                buffer.truncate(count);
                Ok(bytes::Bytes::from(buffer))
            }
            Err(error) => Err(error),
        };
        Some((chunk, (stdout, child)))
    });
    let first = futures_util::stream::iter((!first.is_empty()).then(|| Ok(bytes::Bytes::from(first))));
    Ok(answer(&head, Body::from_stream(first.chain(chunks))))
}

async fn read_head(stdout: &mut (impl tokio::io::AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < (16 << 10) {
        head.push(stdout.read_u8().await?);
    }
    Ok(head)
}

/// Writes a body to a file that goes away with the answer.
async fn spool(forge: &Forge, body: Body) -> std::io::Result<tempfile::NamedTempFile> {
    let named = tempfile::NamedTempFile::new_in(forge.git.spool())?;
    let mut file = File::from_std(named.reopen()?);
    let (mut chunks, mut length) = (body.into_data_stream(), 0_u64);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(std::io::Error::other)?;
        length += chunk.len() as u64;
        if length > PUSH_MAX {
            return Err(std::io::Error::other("it is larger than 2 GB"));
        }
        file.write_all(&chunk).await?;
    }
    file.flush().await?;
    Ok(named)
}

/// An answer of a CGI program's head and this body.
fn answer(head: &[u8], body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    for line in String::from_utf8_lossy(head).lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().and_then(|code| code.parse().ok());
            *response.status_mut() = code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        } else if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn finish(forge: &Forge, request: &Parts, target: &Target, answer: std::io::Result<Response>) -> Response {
    let mut response = answer.unwrap_or_else(|error| {
        tracing::error!(%error, "git over HTTP failed: {error}");
        plain(StatusCode::INTERNAL_SERVER_ERROR, "git failed")
    });
    if let Ok(date) = HeaderValue::from_str(&http_date(forge.now())) {
        response.headers_mut().insert(header::DATE, date);
    }
    let path = request.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let (method, status) = (request.method.to_string(), response.status().as_u16());
    forge.note(LoggedRequest { method, path, status, login: target.login.clone(), counted: false });
    response
}

fn plain(status: StatusCode, text: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{text}\n")).into_response()
}
