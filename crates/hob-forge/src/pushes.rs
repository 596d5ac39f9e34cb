//! Whether ledgers move by push, and the push: in turn, counted, and not tried for a while where the server does not take it.
//!
//! A push moves a ref to a new commit in one exchange, and uses nothing of the API's quotas; over the API that is two writes. GitHub
//! recommends at most six pushes a minute to a repository, so what is more goes over the API (`forge.pushes_per_minute`).
//! <https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits>

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use hob_domain::FailureClass;
use http::StatusCode;
use tokio::time::Instant;

use crate::{
    Forge, ForgeError,
    connection::Access,
    permitted::is_own_ref,
    purpose::{Purpose, Share},
    ref_push::{Report, Update, report, request},
    transport::unreachable,
    window::Window,
};

/// How long the API is used after a push that the server did not take.
const PAUSE: Duration = Duration::from_secs(600);

/// What a connection knows of pushes to its git server.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// The server's web address; unset if ledgers move over the API only.
    server: OnceLock<String>,
    given_up_at: Mutex<Option<Instant>>,
}

impl Pushes {
    fn server(&self) -> Option<&str> {
        let given_up_at = *self.given_up_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_paused = given_up_at.is_some_and(|at| at.elapsed() < PAUSE);
        self.server.get().filter(|_| !is_paused).map(String::as_str)
    }
}

impl Forge {
    /// Lets ledgers move by push, at this web address of the forge's git server, for example `https://github.com`.
    pub fn push_ledgers_to(&self, server: &str) {
        // Each worker of the connection says the same.
        self.connection().pushes.server.get_or_init(|| server.trim_end_matches('/').to_owned());
    }

    /// Whether the next move of a ledger may be a push.
    pub(super) fn may_push(&self, share: Share) -> bool {
        let connection = self.connection();
        let has_room = || {
            let known = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
            known.pushes.as_ref().is_none_or(|pushes| pushes.wait(Instant::now(), share).is_zero())
        };
        let is_on = connection.access() == Access::ReadWrite && self.settings().pushes_per_minute > 0;
        is_on && connection.pushes.server().is_some() && has_room()
    }

    /// Uses the API for a while.
    pub(super) fn give_up_pushes(&self, why: &ForgeError) {
        tracing::info!("ledgers move over the API for {} minutes: {why}", PAUSE.as_secs() / 60);
        *self.connection().pushes.given_up_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Moves refs of ledgers, all or none.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] with status 422 and the server's reason, like the API's, if a ref is not where it was read, or may not
    /// move. [`ForgeError`] of the exchange.
    pub(super) async fn push(&self, updates: &[Update<'_>], purpose: Purpose<'_>) -> Result<(), ForgeError> {
        let (connection, what) = (self.connection(), purpose.what);
        let Some(server) = connection.pushes.server().filter(|_| updates.iter().all(|update| is_own_ref(update.name)))
        else {
            return Err(ForgeError::NotPermitted { what: what.to_owned() });
        };
        let address = format!("{server}/{}/{}.git", self.repo().owner(), self.repo().name());
        let body = request(updates).map_err(|error| unreachable(what, error))?;
        let transport = &connection.transport;
        let turn = transport.push_turn(purpose).await?;
        if let Some(retry_after) = transport.closed_to_all() {
            return Err(ForgeError::Limited { what: what.to_owned(), retry_after });
        }
        self.count_push();
        let token = connection.token(Duration::ZERO).await?;
        let reply = transport.push(&address, body, &token, what).await;
        drop(turn);
        let failed = match reply {
            Ok(reply) if reply.status == StatusCode::OK => match report(&reply.body, updates) {
                Some(Report::Done) => return Ok(()),
                Some(Report::Refused(message)) => {
                    return Err(ForgeError::Refused { what: what.to_owned(), status: 422, message });
                }
                // Its effect is unknown.
                None => unreachable(what, "the git server's answer is no report of a push"),
            },
            Ok(reply) => transport.failure(&reply, "", purpose),
            Err(error) => error,
        };
        if !matches!(failed.class(), FailureClass::Transient { retry_after: Some(_) }) {
            self.give_up_pushes(&failed);
        }
        Err(failed)
    }

    fn count_push(&self) {
        if self.connection().transport.counts() {
            let mut known = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
            let most = self.settings().pushes_per_minute;
            known.pushes.get_or_insert_with(|| Window::new(Duration::from_secs(60), most)).count(Instant::now());
        }
    }
}
