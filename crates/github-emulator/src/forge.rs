//! The forge itself: state behind one lock, repositories on disk, ids, tokens, the clock and the request log.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sha2::{Digest, Sha256};

use super::{
    apps::App,
    clock::Clock,
    faults::Faults,
    git::Store,
    meter::Meter,
    state::State,
    state_file::{StateFile, StateFileError, realign, snapshot},
    webhooks::Webhooks,
};
use crate::names::{Login, Timestamp};

/// How many answered requests the log keeps.
const LOG_CAP: usize = 100_000;

/// One answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, below the server's address.
    pub path: String,
    /// The status that was answered.
    pub status: u16,
    /// Who asked; none: nobody signed in.
    pub login: Option<Login>,
    /// Whether it counted against the rate limit.
    pub counted: bool,
}

/// The forge that all requests share.
#[derive(Debug)]
pub(super) struct Forge {
    pub(super) clock: Clock,
    pub(super) git: Store,
    pub(super) meter: Meter,
    pub(super) faults: Faults,
    pub(super) webhooks: Option<Arc<Webhooks>>,
    pub(super) apps: Vec<App>,
    pub(super) started: Timestamp,
    pub(super) server: OnceLock<String>,
    state: Mutex<State>,
    tokens: Mutex<HashMap<[u8; 32], (Login, Timestamp)>>,
    ids: AtomicU64,
    log: Mutex<Vec<LoggedRequest>>,
    state_file: Option<StateFile>,
}

impl Forge {
    /// An empty forge with its repositories below `root`, stored in `state_file` if there is one.
    pub(super) fn new(root: PathBuf, rate_limit: Option<u32>, state_file: Option<StateFile>) -> Self {
        Self {
            clock: Clock::default(),
            git: Store::new(root),
            meter: Meter::new(rate_limit),
            faults: Faults::default(),
            webhooks: None,
            apps: Vec::new(),
            started: Clock::default().now(),
            server: OnceLock::new(),
            state: Mutex::default(),
            tokens: Mutex::default(),
            ids: AtomicU64::new(1_000),
            log: Mutex::default(),
            state_file,
        }
    }

    /// Loads the stored state.
    pub(super) fn resume(&self) -> Result<(), StateFileError> {
        let Some((next_id, mut state)) = self.state_file.as_ref().map(StateFile::load).transpose()?.flatten() else {
            return Ok(());
        };
        realign(&mut state, |id, branch| {
            let target = self.git.open(id).and_then(|repo| repo.refname_to_id(&format!("refs/heads/{branch}")));
            target.ok().map(|target| target.to_string())
        });
        self.ids.store(next_id, Ordering::Relaxed);
        *self.state() = state;
        Ok(())
    }

    /// Stores the state, where there is a file for it.
    pub(super) fn save(&self) -> std::io::Result<()> {
        let Some(state_file) = &self.state_file else { return Ok(()) };
        state_file.save(|| snapshot(self.ids.load(Ordering::Relaxed), &self.state()))
    }

    /// The state, to read or change: held for a moment, never over an await or the wait for a
    /// repository's refs (who needs both takes the refs first).
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An id that nothing on this forge had before.
    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// The time by the forge's clock, in whole seconds as GitHub's API has it.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.clock.now();
        chrono::SubsecRound::trunc_subsecs(now, 0)
    }

    /// The server's address, without a slash at its end.
    pub(super) fn server(&self) -> &str {
        self.server.get().map_or("http://forge.invalid", String::as_str)
    }

    /// Lets `token` sign in as `login`, for good.
    pub(super) fn admit(&self, token: &str, login: Login) {
        self.admit_until(token, login, Timestamp::MAX_UTC);
    }

    /// Lets `token` sign in as `login` until then.
    pub(super) fn admit_until(&self, token: &str, login: Login, until: Timestamp) {
        let now = self.now();
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, (_, until)| *until > now);
        tokens.insert(digest(token), (login, until));
    }

    /// Whose token this is.
    pub(super) fn owner_of(&self, token: &str) -> Option<Login> {
        let now = self.now();
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.get(&digest(token)).filter(|(_, until)| *until > now).map(|(login, _)| login.clone())
    }

    /// Notes an answered request.
    pub(super) fn note(&self, request: LoggedRequest) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() >= LOG_CAP {
            log.drain(..LOG_CAP / 2);
        }
        log.push(request);
    }

    /// The answered requests, oldest first.
    pub(super) fn requests(&self) -> Vec<LoggedRequest> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
