//! One repository on a connection, and the writes that a lease fences. Each resource has a handle of its own that borrows
//! this client; `resources.rs` lists them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hob_config::ForgeSettings;
use hob_domain::{FailureClass, RepoName, Timestamp, remaining};
use http::Method;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Connection, ForgeError, HeldLease, RepositoryEntry, TokenPermission, pages::all, purpose::Purpose,
    throttle::WriteTurn, wait::wait,
};

/// The client of one repository. Clones share the connection.
#[derive(Debug, Clone)]
pub struct Forge {
    connection: Arc<Connection>,
    pub(super) repo: RepoName,
    /// Where the ledger's refs stand.
    pub(super) prefix: String,
    pub(super) repository: Arc<Mutex<KnownRepository>>,
}

/// What is known of the repository's ledger, and of what the token may see there.
#[derive(Debug, Default)]
pub(super) struct KnownRepository {
    /// The record as it was read or written last.
    pub(super) entry: Option<RepositoryEntry>,
    /// When it was last found to be written by another worker.
    pub(super) others_wrote: Option<Timestamp>,
    /// When the token was last found not to see checks, by the permission that it lacks.
    pub(super) hidden_at: BTreeMap<TokenPermission, Timestamp>,
}

impl Forge {
    /// A client of `repo`; `prefix` is where the ledger's refs stand.
    pub fn new(connection: Arc<Connection>, repo: RepoName, prefix: &str) -> Self {
        Self { connection, repo, prefix: prefix.to_owned(), repository: Arc::default() }
    }

    /// The repository.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// The connection it is on.
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The forge's time now; the epoch before its first answer.
    pub fn now(&self) -> Timestamp {
        self.connection.now()
    }

    pub(super) fn settings(&self) -> &ForgeSettings {
        self.connection.settings()
    }

    /// What an error means that a call about the repository as a whole failed with.
    pub(super) async fn of_repository(&self, error: ForgeError) -> ForgeError {
        match error {
            error if error.is_not_found() => ForgeError::NoRepository(self.repo.clone()),
            // What GitHub says of the refs of a repository without a commit.
            ref error if error.is_refusal(409, "is empty") => ForgeError::EmptyRepository(self.repo.clone()),
            ForgeError::Moved { what, to: None } => {
                ForgeError::Moved { what, to: self.connection.present_name(&self.path("")).await }
            }
            error => error,
        }
    }

    /// The path below this repository.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.repo)
    }

    pub(super) async fn get<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.connection.get(path, purpose).await
    }

    pub(super) async fn get_once<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.connection.get_once(path, purpose).await
    }

    pub(super) async fn get_all<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
        advice: &str,
    ) -> Result<Vec<T>, ForgeError> {
        all(&self.connection, path, purpose, advice).await
    }

    pub(super) async fn write_turn(&self, purpose: Purpose<'_>) -> Result<WriteTurn<'_>, ForgeError> {
        self.connection.write_turn(purpose).await
    }

    pub(super) async fn write_in<T: DeserializeOwned>(
        &self,
        turn: &WriteTurn<'_>,
        request: (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.connection.write_in(turn, request, body, purpose).await
    }

    /// Waits for the turn to write, and writes once.
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        let turn = self.write_turn(purpose).await?;
        self.write_in(&turn, (method, path), body, purpose).await
    }

    /// How long to wait before the call that failed so is tried once more (`forge.retries`, `forge.patience`); none: it is not.
    pub fn pause_after(&self, error: &ForgeError, tried: u32) -> Option<Duration> {
        self.connection.transport.pause_after(error, tried)
    }

    /// Whether what is left of the lease covers a write that may take `deadline`.
    ///
    /// # Errors
    /// [`ForgeError::LeaseTooShort`] when it does not: the caller writes nothing.
    pub fn permit(&self, lease: &HeldLease, deadline: Duration, what: &str) -> Result<(), ForgeError> {
        if lease.lost().is_cancelled() || remaining(&lease.record(), self.now()) <= deadline {
            return Err(ForgeError::LeaseTooShort { what: what.to_owned() });
        }
        Ok(())
    }

    /// A visible write, fenced by the lease, that may be made twice because the second has no further effect. A failure
    /// that may pass is waited out.
    pub(super) async fn write_held<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        request: (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.repeat(lease, request, body, purpose, |_error| true).await
    }

    /// A visible write, fenced by the lease, that makes something. Only a limit is waited out: whatever else fails may have
    /// had its effect, and the caller looks before it tries again.
    pub(super) async fn create_held<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        request: (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.repeat(lease, request, body, purpose, |error| !error.outcome_is_unknown()).await
    }

    async fn repeat<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        (method, path): (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
        may_repeat: impl Fn(&ForgeError) -> bool,
    ) -> Result<T, ForgeError> {
        let mut tried = 0;
        loop {
            let error = match self.write_once(lease, (method.clone(), path), body, purpose).await {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            let pause = self.pause_within(lease, &error, tried).filter(|_| may_repeat(&error));
            let Some(pause) = pause else { return Err(error) };
            self.wait(&error, pause).await;
            tried += 1;
        }
    }

    async fn write_once<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        request: (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        // The wait for the turn is over before the lease is looked at.
        let turn = self.write_turn(purpose).await?;
        self.permit(lease, self.settings().timeout, purpose.what)?;
        self.write_in(&turn, request, body, purpose).await
    }

    /// How long to wait before a write under the lease that failed so is tried again; none: it is not. A limit is waited
    /// out beyond `forge.patience` too, where the lease lasts longer. A token that could acquire the lease is not believed to
    /// be refused for good at once: a forge that is being mended refuses it for seconds.
    pub fn pause_within(&self, lease: &HeldLease, error: &ForgeError, tried: u32) -> Option<Duration> {
        self.pause_after(error, tried).or_else(|| {
            let settings = self.settings();
            let is_refusal =
                matches!(error, ForgeError::Unauthorized | ForgeError::App(_) | ForgeError::Forbidden { .. });
            if is_refusal && !error.is_known_denial() {
                return (tried < settings.retries).then(|| settings.retry_base.saturating_mul(1 << tried.min(10)));
            }
            let FailureClass::Transient { retry_after: Some(wait) } = error.class() else { return None };
            // A step of the ledger is three calls at most.
            let needed = wait.saturating_add(self.settings().timeout.saturating_mul(3));
            let lasts = needed < remaining(&lease.record(), self.now());
            (tried < self.settings().retries && lasts).then_some(wait)
        })
    }

    /// Waits before another try, and tells of a wait that people would notice.
    pub async fn wait(&self, error: &ForgeError, pause: Duration) {
        wait(error, pause).await;
    }

    /// The ledger's prefix without `refs/`, as the API's paths have it.
    pub(super) fn ref_space(&self) -> &str {
        self.prefix.trim_start_matches("refs/")
    }
}
