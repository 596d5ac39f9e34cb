//! A run of the live check: its requests, the objects that it has created so far, and its results.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    hide::Names,
    report::{Found, Outcome},
    seen::{NoAnswer, Seen, Waited},
};
use crate::{Forge, call::Call, purpose::Purpose};

/// How long to wait for a fresh object.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(500);
/// Tries of a read that fails in the server.
const TRIES: u32 = 3;
/// The pause before the next try.
const PAUSE_OF_FAILURE: Duration = Duration::from_secs(1);

/// The objects that a run has created and has to close or delete.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Refs, without `refs/`.
    pub(super) refs: Vec<String>,
    /// Whether the label exists.
    pub(super) label: bool,
    /// Issues, by number.
    pub(super) issues: Vec<u64>,
    /// Pull requests, by number.
    pub(super) pulls: Vec<u64>,
    /// Whether the outcome of a write that opens an issue or pull request is unknown.
    pub(super) unknown: bool,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It tests, until it is asked to stop.
    Trying,
    /// It closes and deletes what it created.
    Cleaning,
}

/// The state of a run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    forge: &'a Forge,
    cancel: &'a CancellationToken,
    pub(super) phase: Phase,
    /// The beginning of all names.
    pub(super) name: String,
    pub(super) made: Made,
    pub(super) found: Found,
    pub(super) names: Names,
    /// Queries without an answer; `queries` counts all of them.
    pub(super) unanswered: Vec<String>,
    pub(super) queries: usize,
    /// The headers that identify the server.
    pub(super) server: Option<String>,
}

impl<'a> Run<'a> {
    pub(super) fn new(forge: &'a Forge, cancel: &'a CancellationToken, name: &str) -> Self {
        let mut names = Names::default();
        let repo = forge.repo();
        names.add(&repo.to_string(), "OWNER/NAME");
        names.add(repo.owner(), "OWNER");
        names.add(repo.name(), "NAME");
        Self {
            forge,
            cancel,
            phase: Phase::Trying,
            name: name.to_owned(),
            made: Made::default(),
            found: Found::default(),
            names,
            unanswered: Vec::new(),
            queries: 0,
            server: None,
        }
    }

    /// The client.
    pub(super) fn forge(&self) -> &'a Forge {
        self.forge
    }

    /// Whether it was asked to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reads below the repository.
    ///
    /// # Errors
    /// The reason if there is no answer.
    pub(super) async fn get(&mut self, path: &str) -> Result<Seen, NoAnswer> {
        self.get_if(path, None).await
    }

    /// The same, if it has changed since the answer with this tag.
    pub(super) async fn get_if(&mut self, path: &str, etag: Option<&str>) -> Result<Seen, NoAnswer> {
        let path = self.forge.path(path);
        self.read(Call { etag, ..Call::get(&path, Purpose::without_permission("read what was made")) }).await
    }

    /// A read, with retries if the server fails.
    pub(super) async fn read(&mut self, call: Call<'_>) -> Result<Seen, NoAnswer> {
        let mut tried = 1;
        loop {
            let seen = self.once(call).await;
            if tried == TRIES || !seen.as_ref().is_ok_and(|seen| seen.status >= 500) {
                return seen;
            }
            tried += 1;
            self.pause(PAUSE_OF_FAILURE).await;
        }
    }

    /// Writes below the repository, once.
    ///
    /// # Errors
    /// The reason if there is no answer; the write may have had its effect.
    pub(super) async fn write(&mut self, method: Method, path: &str, body: Value) -> Result<Seen, NoAnswer> {
        let (path, purpose) = (self.forge.path(path), Purpose::without_permission("write what is tried"));
        let _turn = self.forge.write_turn(purpose).await?;
        let body = Some(&body).filter(|body| !body.is_null());
        self.once(Call { method: &method, body, ..Call::get(&path, purpose) }).await
    }

    /// One call. It is not cancelled, because its result has to be known.
    pub(super) async fn once(&mut self, call: Call<'_>) -> Result<Seen, NoAnswer> {
        if self.phase == Phase::Trying && self.is_stopped() {
            return Err(NoAnswer::Interrupted);
        }
        let connection = self.forge.connection();
        let reply = connection.send(call).await?;
        if self.server.is_none() {
            let version = reply.text("x-github-enterprise-version").map(|version| format!("GHES {version}"));
            self.server = version.or_else(|| reply.text("server").map(str::to_owned));
        }
        if reply.limit(connection.now(), 0).is_some() {
            // Closes the gate for the following calls.
            return Err(connection.transport.failure(&reply, call.path, call.purpose).into());
        }
        Ok(Seen::new(&reply))
    }

    /// Reads until the answer is as wanted, at most ten seconds. `since` is when the object was created.
    pub(super) async fn until(
        &mut self,
        path: &str,
        since: Instant,
        wanted: impl Fn(&Seen) -> bool,
    ) -> Result<Waited, NoAnswer> {
        let mut asked = 0;
        loop {
            let seen = self.get(path).await?;
            asked += 1;
            let (after, came) = (since.elapsed(), wanted(&seen));
            if came || after >= PATIENCE || self.is_stopped() {
                return Ok(Waited { asked, after, seen, came });
            }
            self.pause(PAUSE).await;
        }
    }

    /// Writes until the answer is no longer about an object that is too young to be seen, at most ten seconds.
    pub(super) async fn write_until(
        &mut self,
        method: Method,
        path: &str,
        body: &Value,
        is_too_young: impl Fn(&Seen) -> bool,
    ) -> Result<Waited, NoAnswer> {
        let (since, mut asked) = (Instant::now(), 0);
        loop {
            let seen = self.write(method.clone(), path, body.clone()).await?;
            asked += 1;
            let (after, came) = (since.elapsed(), !is_too_young(&seen));
            if came || after >= PATIENCE || self.is_stopped() {
                return Ok(Waited { asked, after, seen, came });
            }
            self.pause(PAUSE).await;
        }
    }

    /// Waits, unless the run is asked to stop.
    pub(super) async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.cancel.cancelled() => {}
        }
    }

    /// Records the result for an assumption.
    pub(super) fn note(&mut self, id: &'static str, outcome: Outcome) {
        self.found.note(id, outcome);
    }

    /// Records what an answer shows about an assumption; returns the answer if it is a success.
    pub(super) fn judge(
        &mut self,
        id: &'static str,
        asked: Result<Seen, NoAnswer>,
        judged: impl FnOnce(&Seen) -> Outcome,
    ) -> Option<Seen> {
        match asked {
            Ok(seen) => {
                self.note(id, judged(&seen));
                Some(seen).filter(Seen::is_success)
            }
            Err(why) => {
                self.note(id, Outcome::NotTried(why.to_string()));
                None
            }
        }
    }

    /// Records whether the awaited object was visible at once; returns the answer if it became visible.
    pub(super) fn judge_wait(&mut self, id: &'static str, waited: Result<Waited, NoAnswer>) -> Option<Seen> {
        match waited {
            Ok(waited) => {
                self.note(id, waited.is_at_once());
                Some(waited.seen).filter(|_| waited.came)
            }
            Err(why) => {
                self.note(id, Outcome::NotTried(why.to_string()));
                None
            }
        }
    }
}
