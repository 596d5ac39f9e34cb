//! Whether ledgers move by push, and where: what a connection knows of its git server.
//!
//! A push moves a ref to a new commit in one exchange, and uses nothing of the API's quotas; over the API that is two writes. GitHub
//! recommends at most six pushes a minute to a repository, so what is more goes over the API (`forge.pushes_per_minute`).
//! <https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits>

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use hob_domain::RepoName;
use tokio::time::Instant;

use crate::{ForgeError, purpose::Share, window::Window};

/// How long the API is used after a push that the server did not take.
const PAUSE: Duration = Duration::from_secs(600);

/// The git server of a connection, and when it last did not take a push.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// Its web address; unset if ledgers move over the API only.
    server: OnceLock<String>,
    given_up_at: Mutex<Option<Instant>>,
    steps_given_up_at: Mutex<Option<Instant>>,
    /// The pushes of the last minute to each repository, by its name in lower case.
    counted: Mutex<HashMap<String, Window>>,
}

impl Pushes {
    /// Lets ledgers move by push, at this web address, for example `https://github.com`.
    pub(super) fn go_to(&self, server: &str) {
        // Each worker of the connection says the same.
        self.server.get_or_init(|| server.to_owned());
    }

    /// The server's address, if it is to be pushed to now.
    pub(super) fn server(&self) -> Option<&str> {
        self.server.get().filter(|_| !is_paused(&self.given_up_at)).map(String::as_str)
    }

    /// Whether one more push to the repository fits into this share of the minute.
    pub(super) fn has_room(&self, repo: &RepoName, share: Share) -> bool {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let window = counted.get(&repo.to_string().to_ascii_lowercase());
        window.is_none_or(|window| window.wait(Instant::now(), share).is_zero())
    }

    /// Counts a push to the repository, of which a minute has at most `most`.
    pub(super) fn count(&self, repo: &RepoName, most: u32) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let window = counted.entry(repo.to_string().to_ascii_lowercase());
        window.or_insert_with(|| Window::new(Duration::from_secs(60), most)).count(Instant::now());
    }

    /// Whether a push of a branch may take a ledger's step along now.
    pub(super) fn take_steps(&self) -> bool {
        self.server().is_some() && !is_paused(&self.steps_given_up_at)
    }

    /// Pushes branches alone for a while.
    pub(super) fn give_steps_up(&self, why: &dyn std::error::Error) {
        tracing::info!("branches are pushed without their ledgers for {} minutes: {why}", PAUSE.as_secs() / 60);
        *self.steps_given_up_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Uses the API for a while.
    pub(super) fn give_up(&self, why: &ForgeError) {
        tracing::info!("ledgers move over the API for {} minutes: {why}", PAUSE.as_secs() / 60);
        *self.given_up_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

fn is_paused(given_up_at: &Mutex<Option<Instant>>) -> bool {
    given_up_at.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < PAUSE)
}
