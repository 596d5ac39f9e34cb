//! One repository on a connection, and the writes that a lease fences. Each resource has its own handle that borrows
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
use serde_json::{Value, json};

use crate::{
    Connection, ForgeError, HeldLease, RepositoryEntry, StepListener, TokenPermission,
    call::Call,
    graphql::{AnswerWire, ProblemWire},
    lease::Leases,
    pages::all,
    permitted::GRAPHQL,
    purpose::Purpose,
    throttle::WriteTurn,
    wait::wait,
};

/// The refs below which ledgers are. It is not a setting: a worker that looked elsewhere would not see what others work on, and would
/// work on it, too.
pub const LEDGER_PREFIX: &str = "refs/hob/";

/// [`LEDGER_PREFIX`] without `refs/`, as in the API's paths.
pub(super) const REF_SPACE: &str = "hob/";

/// The client of one repository. Clones share the connection.
#[derive(Debug, Clone)]
pub struct Forge {
    connection: Arc<Connection>,
    /// Who hears of each step that is written to an issue's ledger.
    pub(super) listener: StepListener,
    pub(super) repo: RepoName,
    pub(super) repository: Arc<Mutex<KnownRepository>>,
    pub(super) leases: Arc<Leases>,
}

/// What is known about the repository's ledger, and what the token may see there.
#[derive(Debug, Default)]
pub(super) struct KnownRepository {
    /// The record as it was last read or written.
    pub(super) entry: Option<RepositoryEntry>,
    /// When it was last found to be another worker's write.
    pub(super) others_wrote: Option<Timestamp>,
    /// When each permission to see checks, or to set a status, was last found missing.
    pub(super) hidden_at: BTreeMap<TokenPermission, Timestamp>,
    /// The ids of its labels in GraphQL, by their names in lower case.
    pub(super) label_nodes: BTreeMap<String, String>,
    /// Whether it refused to review dependencies.
    pub(super) reviews_no_dependencies: bool,
}

impl Forge {
    /// A client of `repo`.
    pub fn new(connection: Arc<Connection>, repo: RepoName) -> Self {
        Self { connection, listener: StepListener::default(), repo, repository: Arc::default(), leases: Arc::default() }
    }

    /// The same client, whose steps in issues' ledgers are told.
    #[must_use]
    pub fn telling(self, listener: StepListener) -> Self {
        Self { listener, ..self }
    }

    /// The repository.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// Its connection.
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The forge's current time; the epoch before its first answer.
    pub fn now(&self) -> Timestamp {
        self.connection.now()
    }

    /// Lets ledgers move by push, at this web address of the forge's git server, for example `https://github.com`.
    pub fn push_ledgers_to(&self, server: &str) {
        self.connection.pushes.go_to(server);
    }

    pub(super) fn settings(&self) -> &ForgeSettings {
        self.connection.settings()
    }

    /// The meaning of an error for a call about the whole repository.
    pub(super) async fn of_repository(&self, error: ForgeError) -> ForgeError {
        match error {
            error if error.is_not_found() => ForgeError::NoRepository(self.repo.clone()),
            // GitHub's answer about the refs of a repository without commits.
            ref error if error.is_refusal(409, "is empty") => ForgeError::EmptyRepository(self.repo.clone()),
            ForgeError::Moved { what, to: None } => {
                ForgeError::Moved { what, to: self.connection.present_name(&self.path("")).await }
            }
            error => error,
        }
    }

    /// A path below this repository.
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
        call: Call<'_>,
    ) -> Result<T, ForgeError> {
        self.connection.write_in(turn, call).await
    }

    /// Waits for a turn to write, and writes once.
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        let turn = self.write_turn(purpose).await?;
        self.write_in(&turn, Call::write(&method, path, body, purpose)).await
    }

    /// How long to wait before a retry of the failed call (`forge.retries`, `forge.patience`). `None` if it is not
    /// retried.
    pub fn pause_after(&self, error: &ForgeError, tried: u32) -> Option<Duration> {
        self.connection.transport.pause_after(error, tried)
    }

    /// Checks that the rest of the lease covers a write that may take `deadline`.
    ///
    /// # Errors
    /// [`ForgeError::LeaseTooShort`] if it does not; the caller must not write.
    pub fn permit(&self, lease: &HeldLease, deadline: Duration, what: &str) -> Result<(), ForgeError> {
        if lease.lost().is_cancelled() || remaining(&lease.record(), self.now()) <= deadline {
            return Err(ForgeError::LeaseTooShort { what: what.to_owned() });
        }
        Ok(())
    }

    /// Makes the rest of the lease cover a write that may take `deadline`: renews it where it does not. A holder that was suspended,
    /// or slow, goes on if nobody has taken the issue over.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker has the lease now; [`ForgeError::LeaseTooShort`] if it is shorter than the write even so.
    /// The caller must not write.
    pub async fn cover(&self, lease: &HeldLease, deadline: Duration, what: &str) -> Result<(), ForgeError> {
        if self.permit(lease, deadline, what).is_ok() {
            return Ok(());
        }
        if !lease.lost().is_cancelled() {
            Box::pin(self.ledger().renew(lease)).await?;
        }
        self.permit(lease, deadline, what)
    }

    /// A visible, idempotent write, fenced by the lease. Failures that may be transient are waited out.
    pub(super) async fn write_held<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.repeat(lease, Call::write(&method, path, body, purpose), |_error| true).await
    }

    /// A visible write, fenced by the lease, that creates something. Only a limit is waited out: after any other
    /// failure it may have had its effect, so the caller looks before it retries.
    pub(super) async fn create_held<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.repeat(lease, Call::write(&method, path, body, purpose), |error| !error.outcome_is_unknown()).await
    }

    /// Sends a mutation, fenced by the lease.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; [`ForgeError::Refused`] with the first failure.
    pub(super) async fn mutate(
        &self,
        lease: &HeldLease,
        query: &str,
        variables: Value,
        purpose: Purpose<'_>,
    ) -> Result<(), ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        let answer: AnswerWire = self.write_held(lease, Method::POST, GRAPHQL, &body, purpose).await?;
        match answer.errors.into_iter().next() {
            None => Ok(()),
            Some(ProblemWire { message, .. }) => {
                Err(ForgeError::Refused { what: purpose.what.to_owned(), status: 200, message })
            }
        }
    }

    async fn repeat<T: DeserializeOwned>(
        &self,
        lease: &HeldLease,
        call: Call<'_>,
        may_repeat: impl Fn(&ForgeError) -> bool,
    ) -> Result<T, ForgeError> {
        let mut tried = 0;
        loop {
            let error = match self.write_once(lease, call).await {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            let pause = self.pause_within(lease, &error, tried).filter(|_| may_repeat(&error));
            let Some(pause) = pause else { return Err(error) };
            self.wait(&error, pause).await;
            tried += 1;
        }
    }

    async fn write_once<T: DeserializeOwned>(&self, lease: &HeldLease, call: Call<'_>) -> Result<T, ForgeError> {
        let (timeout, what) = (self.settings().timeout, call.purpose.what);
        // Wait for the turn before checking the lease.
        let mut turn = self.write_turn(call.purpose).await?;
        if self.permit(lease, timeout, what).is_err() {
            // A renewal may need a turn of its own.
            drop(turn);
            self.cover(lease, timeout, what).await?;
            turn = self.write_turn(call.purpose).await?;
            self.permit(lease, timeout, what)?;
        }
        self.write_in(&turn, call).await
    }

    /// How long to wait before a retry of a write under the lease. `None` if it is not retried. A limit is also waited
    /// out beyond `forge.patience` if the lease lasts longer. A refusal of a token that could acquire the lease is not
    /// believed at once, because a forge under repair refuses valid tokens for seconds.
    pub fn pause_within(&self, lease: &HeldLease, error: &ForgeError, tried: u32) -> Option<Duration> {
        self.pause_after(error, tried).or_else(|| {
            let settings = self.settings();
            let is_refusal =
                matches!(error, ForgeError::Unauthorized | ForgeError::App(_) | ForgeError::Forbidden { .. });
            if is_refusal && !error.is_known_denial() {
                return (tried < settings.retries).then(|| settings.retry_base.saturating_mul(1 << tried.min(10)));
            }
            let FailureClass::Transient { retry_after: Some(wait) } = error.class() else { return None };
            // A step of the ledger is at most three calls.
            let needed = wait.saturating_add(self.settings().timeout.saturating_mul(3));
            let lasts = needed < remaining(&lease.record(), self.now());
            (tried < self.settings().retries && lasts).then_some(wait)
        })
    }

    /// Waits before another try, and logs a wait that people would notice.
    pub async fn wait(&self, error: &ForgeError, pause: Duration) {
        wait(error, pause).await;
    }
}
