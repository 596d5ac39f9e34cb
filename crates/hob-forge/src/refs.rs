//! The store of the ledgers: refs that move by compare-and-set, and commits that have records. Nothing above it knows how a forge
//! keeps them (`docs/design/protocol.md`, "Another forge").
//!
//! # Assumptions
//! - A refused move had no effect. GitHub reports a lost race for a ref in several wordings, and occasionally uses the
//!   same ones although nobody moved the ref (`docs/design/github.md`, `ref.race`). A refusal therefore proves nothing; the
//!   tip decides.
//! - A fresh commit or ref may be missing for about a second (`ref.lag`).

use std::time::Duration;

use hob_domain::{FailureClass, Nonce, Sha, Timestamp};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError,
    TokenPermission::{ContentsRead, ContentsWrite},
    client::REF_SPACE,
    connection::Access,
    permitted::is_own_ref,
    purpose::{Purpose, Share},
    ref_push::{LedgerCommit, Report, Update, Updates, report, request},
    transport::unreachable,
};

/// The most consecutive refusals of a move although the ref is where it was read. If a forge refuses one move in five
/// for no reason, one in ten million gets this far.
const TRIES_MAX: u32 = 10;
/// What to do if there are more ledgers than are listed. GitHub returns matching refs in one piece; other forges may
/// not.
const LEDGERS_ADVICE: &str = "delete the ledgers of issues that were closed long ago";
/// Tries of a write that depends on a write just before it.
const YOUNG_MAX: u32 = 5;
/// The first pause between tries; it doubles.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(2);

#[derive(Serialize, Deserialize)]
pub(super) struct RefWire {
    #[serde(rename = "ref")]
    pub(super) name: String,
    pub(super) object: ObjectWire,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ObjectWire {
    pub(super) sha: Sha,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CommitWire {
    pub(super) sha: Sha,
    pub(super) message: String,
    pub(super) author: AuthorWire,
    pub(super) tree: ObjectWire,
    #[serde(default)]
    pub(super) parents: Vec<ObjectWire>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AuthorWire {
    pub(super) date: Timestamp,
}

/// The refs below the ledger's prefix, by their full names.
pub(super) async fn list_refs(forge: &Forge) -> Result<Vec<RefWire>, ForgeError> {
    let (path, purpose) =
        (forge.path(&format!("/git/matching-refs/{REF_SPACE}")), ContentsRead.to("list the ledger's refs"));
    match forge.get_all::<RefWire>(&path, purpose, LEDGERS_ADVICE).await {
        Ok(refs) => Ok(refs),
        Err(error) => Err(forge.of_repository(error).await),
    }
}

/// A commit of a ledger. It never changes, so it is read once.
pub(super) async fn read_commit(forge: &Forge, commit: &Sha, what: &str) -> Result<CommitWire, ForgeError> {
    forge.get_once(&commit_path(forge, commit), ContentsRead.to(what)).await
}

/// Where the cache has a commit.
pub(super) fn commit_path(forge: &Forge, commit: &Sha) -> String {
    forge.path(&format!("/git/commits/{commit}"))
}

/// The outcome of a ref's move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// The ref is at the new commit.
    Made,
    /// Another writer moved the ref, or deleted it.
    Lost,
}

/// The next commit of a ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// The ref's name below the ledger's prefix.
    pub(super) name: &'a str,
    /// Where the ref was read: the commit's parent.
    pub(super) from: Option<&'a Sha>,
    pub(super) tree: &'a Sha,
    pub(super) message: &'a str,
    /// Completes "asked to …" for the commit, and for the move.
    pub(super) write: &'a str,
    pub(super) advance: &'a str,
}

/// Writes a ledger's next commit and moves its ref there, in one push or over the API. `None` if another writer was faster.
///
/// # Errors
/// As for [`move_ref`].
pub(super) async fn advance(forge: &Forge, step: Step<'_>, share: Share) -> Result<Option<Sha>, ForgeError> {
    // Boxed: every future that writes a ledger holds this one.
    let refused = match Box::pin(push(forge, step, share)).await? {
        Pushed::To(commit) => return Ok(Some(commit)),
        Pushed::Lost => return Ok(None),
        Pushed::Not(refused) => refused,
    };
    let commit = write_commit(forge, step, share).await?;
    let moved = move_ref(forge, step.name, step.from, &commit, step.advance, share).await?;
    if let (Move::Made, Some(refused)) = (moved, refused) {
        // The ref was where it was read, so no race was the reason.
        forge.connection().pushes.give_up(&refused);
    }
    Ok((moved == Move::Made).then_some(commit))
}

/// What became of one ref of a push.
pub(super) enum Pushed {
    To(Sha),
    Lost,
    /// It was not tried, or refused for this reason, and the ref seems to be where it was read.
    Not(Option<ForgeError>),
}

/// Pushes one step.
async fn push(forge: &Forge, step: Step<'_>, share: Share) -> Result<Pushed, ForgeError> {
    let pushes = if step.from.is_none() { Share::Lease } else { Share::Common };
    let mut pushed = push_all(forge, &[step], Updates::Independent, Shares { pushes, writes: share }).await?;
    Ok(pushed.pop().unwrap_or(Pushed::Not(None)))
}

/// The shares that a push may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Of a minute's pushes. What is reserved of six is one, for a claim or the renewal of several leases: the other steps of an issue are
    /// five at most, and over the API they only take longer.
    pub(super) pushes: Share,
    /// Of the writes.
    pub(super) writes: Share,
}

/// Pushes these steps in one exchange, if pushes are on: what became of each, in their order.
///
/// # Errors
/// [`ForgeError::Limited`] and [`ForgeError::ReadOnly`]: nothing was sent. Another [`ForgeError`] if the outcome of a step is unknown.
pub(super) async fn push_all(
    forge: &Forge,
    steps: &[Step<'_>],
    kind: Updates,
    shares: Shares,
) -> Result<Vec<Pushed>, ForgeError> {
    let untried = || steps.iter().map(|_| Pushed::Not(None)).collect();
    let Some(server) = server(forge, shares.pushes) else { return Ok(untried()) };
    let redaction = forge.connection().secrets().redaction();
    let made = steps.iter().map(|step| {
        let name = format!("refs/{REF_SPACE}{}", step.name);
        let commit = LedgerCommit::new(step.from, step.tree, &redaction.text(step.message), forge.now())?;
        Some((name, commit))
    });
    let Some(made) = made.collect::<Option<Vec<_>>>() else { return Ok(untried()) };
    let updates = steps.iter().zip(&made).map(|(step, (name, to))| Update { name, from: step.from, to });
    let updates: Vec<_> = updates.collect();
    let what = steps.first().map_or("move ledgers", |step| step.advance);
    let reports = match exchange(forge, server, &updates, kind, ContentsWrite.to(what).with(shares.writes)).await {
        Err(error @ (ForgeError::Limited { .. } | ForgeError::ReadOnly { .. })) => return Err(error),
        reports => reports,
    };
    let (reports, mut error) = reports.map_or_else(|error| (Vec::new(), Some(error)), |reports| (reports, None));
    let mut reports = reports.into_iter();
    let mut pushed = Vec::new();
    for (step, (_, commit)) in steps.iter().zip(made) {
        let refused = match reports.next() {
            Some(Report::Done) => {
                pushed.push(Pushed::To(commit.sha));
                continue;
            }
            Some(Report::Refused(message)) => {
                Some(ForgeError::Refused { what: step.advance.to_owned(), status: 422, message })
            }
            None => None,
        };
        pushed.push(match read_ref(forge, step.name, "look where the ledger's ref is").await? {
            Some(tip) if tip == commit.sha => Pushed::To(tip),
            Some(tip) if Some(&tip) != step.from => Pushed::Lost,
            _unmoved => match error.take() {
                // A push that was cut off may still take effect, so its caller decides again.
                Some(error) if error.outcome_is_unknown() => return Err(error),
                error => Pushed::Not(refused.or(error)),
            },
        });
    }
    Ok(pushed)
}

/// Where ledgers are pushed to, if pushes are on and one more fits into this share of the minute.
pub(super) fn server(forge: &Forge, share: Share) -> Option<&str> {
    let pushes = &forge.connection().pushes;
    pushes.server().filter(|_| pushes.has_room(forge.repo(), share) && may_push(forge))
}

/// Whether the settings and the access of the process let ledgers be pushed.
pub(super) fn may_push(forge: &Forge) -> bool {
    forge.settings().pushes_per_minute > 0 && forge.connection().access() == Access::ReadWrite
}

/// Pushes updates to `server`, and gives pushes up for a while if it does not take them; its report on each.
///
/// # Errors
/// [`ForgeError`] of the exchange.
async fn exchange(
    forge: &Forge,
    server: &str,
    updates: &[Update<'_>],
    kind: Updates,
    purpose: Purpose<'_>,
) -> Result<Vec<Report>, ForgeError> {
    let (connection, what) = (forge.connection(), purpose.what);
    if !updates.iter().all(|update| is_own_ref(update.name)) {
        return Err(ForgeError::NotPermitted { what: what.to_owned() });
    }
    let (address, body) = (forge.repo().on_git_server(server), request(updates, kind));
    let transport = &connection.transport;
    let turn = transport.push_turn(purpose).await?;
    if let Some(retry_after) = transport.closed_to_all() {
        return Err(ForgeError::Limited { what: what.to_owned(), retry_after });
    }
    let token = connection.token(Duration::ZERO).await?;
    count_push(forge);
    let reply = transport.push(&address, body, &token, what).await;
    drop(turn);
    let failed = match reply {
        Ok(reply) if reply.status == StatusCode::OK => {
            match report(&reply.body, updates.iter().map(|update| update.name)) {
                Some(reports) => return Ok(reports),
                // Its effect is unknown.
                None => unreachable(what, "the git server's answer is not a report of a push"),
            }
        }
        Ok(reply) => transport.failure(&reply, "", purpose),
        Err(error) => error,
    };
    if !matches!(failed.class(), FailureClass::Transient { retry_after: Some(_) }) {
        connection.pushes.give_up(&failed);
    }
    Err(failed)
}

pub(super) fn count_push(forge: &Forge) {
    // Without a pause between writes, nothing is counted.
    if forge.settings().write_interval_ms > 0 {
        forge.connection().pushes.count(forge.repo(), forge.settings().pushes_per_minute);
    }
}

/// Writes a commit of a ledger.
async fn write_commit(forge: &Forge, step: Step<'_>, share: Share) -> Result<Sha, ForgeError> {
    let parents: Vec<_> = step.from.into_iter().collect();
    let commit = json!({ "message": step.message, "tree": step.tree, "parents": parents });
    let (path, purpose) = (forge.path("/git/commits"), ContentsWrite.to(step.write).with(share));
    let mut tried = 0;
    loop {
        let error = match forge.write::<ObjectWire>(Method::POST, &path, &commit, purpose).await {
            Ok(made) => return Ok(made.sha),
            // Its parent may be too young to be seen. A commit without a ref is harmless.
            Err(error) if is_doubtful(&error) && tried < YOUNG_MAX => error,
            Err(error) => return Err(error),
        };
        tried += 1;
        forge.wait(&error, pause_before(tried)).await;
    }
}

/// Deletes the ref `name` below the ledger's prefix.
pub(super) async fn delete_ref(forge: &Forge, name: &str, what: &str) -> Result<(), ForgeError> {
    let path = forge.path(&format!("/git/refs/{REF_SPACE}{name}"));
    let mut tried = 0;
    loop {
        let sent = forge.write::<serde_json::Value>(Method::DELETE, &path, &json!(null), ContentsWrite.to(what)).await;
        let error = match sent {
            Ok(_) => return Ok(()),
            // It may be too young to be seen, or already deleted by a write whose answer was lost.
            Err(error) if is_doubtful(&error) => error,
            Err(error) => return Err(error),
        };
        tried += 1;
        if tried == YOUNG_MAX {
            return match read_ref(forge, name, what).await? {
                None => Ok(()),
                Some(_) => Err(error),
            };
        }
        forge.wait(&error, pause_before(tried)).await;
    }
}

/// The commit of the ref `name` below the ledger's prefix. `None` if there is no such ref.
pub(super) async fn read_ref(forge: &Forge, name: &str, what: &str) -> Result<Option<Sha>, ForgeError> {
    let path = forge.path(&format!("/git/ref/{REF_SPACE}{name}"));
    // It settles who has a lease.
    match forge.get::<RefWire>(&path, ContentsRead.to(what).with(Share::Lease)).await {
        Ok(found) => Ok(Some(found.object.sha)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the ref `name` below the ledger's prefix, or moves it forwards from `from`, the parent of `to`.
///
/// # Errors
/// [`ForgeError::Obstructed`] if the ref does not move although it is where it was read; otherwise [`ForgeError`] of a
/// call. If its outcome is unknown, the ref was read and had not moved.
pub(super) async fn move_ref(
    forge: &Forge,
    name: &str,
    from: Option<&Sha>,
    to: &Sha,
    what: &str,
    share: Share,
) -> Result<Move, ForgeError> {
    let full = format!("{REF_SPACE}{name}");
    let (method, path, body) = match from {
        None => (Method::POST, forge.path("/git/refs"), json!({ "ref": format!("refs/{full}"), "sha": to })),
        Some(_) => (Method::PATCH, forge.path(&format!("/git/refs/{full}")), json!({ "sha": to, "force": false })),
    };
    let (purpose, mut tried) = (ContentsWrite.to(what).with(share), 0);
    loop {
        let sent = forge.write::<serde_json::Value>(method.clone(), &path, &body, purpose).await;
        let error = match sent {
            Ok(_) => return Ok(Move::Made),
            Err(error) if is_lost_race(&error) => return Ok(Move::Lost),
            Err(error) if is_doubtful(&error) || error.outcome_is_unknown() => error,
            Err(error) => return Err(error),
        };
        let tip = read_ref(forge, name, "look where the ledger's ref is").await?;
        let is_unmoved = tip.as_ref() == from;
        match tip {
            Some(tip) if tip == *to => return Ok(Move::Made),
            // A ref that seems to be gone may only be too young to be read.
            Some(_) if !is_unmoved => return Ok(Move::Lost),
            Some(_) | None => {}
        }
        // A write that was cut off may still take effect, so its caller decides again.
        if error.outcome_is_unknown() {
            return Err(error);
        }
        tried += 1;
        if tried == TRIES_MAX || is_lasting(&error) {
            return if is_unmoved { Err(obstructed(error, &full)) } else { Ok(Move::Lost) };
        }
        forge.wait(&error, pause_before(tried)).await;
    }
}

/// The pause before another try, after this many.
fn pause_before(tried: u32) -> Duration {
    PAUSE.saturating_mul(1 << tried.saturating_sub(1).min(10)).min(PAUSE_MAX)
}

/// Whether the answer says that another writer was faster.
fn is_lost_race(error: &ForgeError) -> bool {
    error.is_refusal(422, "already exists") || error.is_refusal(422, "not a fast forward")
}

/// Whether only the ref's tip can tell why a move was refused.
fn is_doubtful(error: &ForgeError) -> bool {
    matches!(error, ForgeError::Refused { status: 409 | 422, .. } | ForgeError::NotFound { .. })
}

/// Whether the answer names a rule or an invalid ref name, so that every further try would be refused.
fn is_lasting(error: &ForgeError) -> bool {
    let ForgeError::Refused { message, .. } = error else { return false };
    let message = message.to_ascii_lowercase();
    ["rule violation", "protected", "not well formed", "valid ref name", "cannot be created"]
        .iter()
        .any(|words| message.contains(words))
}

fn obstructed(error: ForgeError, name: &str) -> ForgeError {
    match error {
        ForgeError::Refused { what, status, message } => {
            ForgeError::Obstructed { what, reference: format!("refs/{name}"), status, message }
        }
        // Reading succeeds, so the missing right is the one to write.
        error => error,
    }
}

/// A unique nonce: 128 random bits.
pub fn fresh_nonce() -> Nonce {
    Nonce(format!("{:032x}", rand::random::<u128>()))
}
