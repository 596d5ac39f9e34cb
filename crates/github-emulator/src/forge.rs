//! The forge itself: state behind one lock, repositories on disk, ids, tokens, the clock and the request log.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ring::hmac;
use sha2::{Digest, Sha256};

use super::{
    advisory::KnownAdvisory,
    apps::App,
    clock::Clock,
    faults::Faults,
    git::Store,
    meter::Meter,
    points::Points,
    seed::Seed,
    state::{Grant, State},
    state_file::{StateFile, realign},
    temper::Temper,
    users::{TokenKind, User},
    webhooks::Webhooks,
};
use crate::names::{Login, Timestamp};

/// The most answered requests in the log.
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
    /// The caller; `None` if anonymous.
    pub login: Option<Login>,
    /// Whether it counted against the rate limit.
    pub counted: bool,
}

/// A file attached to a text.
#[derive(Debug, Clone)]
pub(super) struct Attachment {
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// The account that a token authenticates.
#[derive(Debug, Clone)]
pub(super) struct SignedIn {
    pub(super) login: Login,
    /// The kind of token.
    pub(super) kind: TokenKind,
    /// The token's digest.
    pub(super) digest: String,
    /// The permissions of an installation's token; any other has those of its account.
    pub(super) grant: Option<Grant>,
}

/// The forge that all requests share.
#[derive(Debug)]
pub(super) struct Forge {
    pub(super) clock: Clock,
    pub(super) git: Store,
    pub(super) meter: Meter,
    pub(super) points: Points,
    pub(super) faults: Faults,
    pub(super) temper: Temper,
    pub(super) webhooks: Option<Arc<Webhooks>>,
    pub(super) apps: Vec<App>,
    pub(super) users: Vec<User>,
    pub(super) seed: Seed,
    /// Held by each request that may write, and exclusively by operations for which the forge must not change.
    pub(super) activity: tokio::sync::RwLock<()>,
    pub(super) started: Timestamp,
    pub(super) server: OnceLock<String>,
    /// Signs the addresses of logs.
    pub(super) log_key: hmac::Key,
    advisories: Mutex<Vec<KnownAdvisory>>,
    attachments: Mutex<HashMap<String, Attachment>>,
    state: Mutex<State>,
    /// Accounts, and the kind of their token, by its digest. An installation's tokens are in the state.
    tokens: Mutex<HashMap<String, (Login, TokenKind)>>,
    pub(super) ids: AtomicU64,
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
            points: Points::default(),
            faults: Faults::default(),
            temper: Temper::default(),
            webhooks: None,
            apps: Vec::new(),
            users: Vec::new(),
            seed: Seed::default(),
            activity: tokio::sync::RwLock::default(),
            started: Clock::default().now(),
            server: OnceLock::new(),
            log_key: hmac::Key::new(hmac::HMAC_SHA256, &rand::random::<[u8; 32]>()),
            advisories: Mutex::default(),
            attachments: Mutex::default(),
            state: Mutex::default(),
            tokens: Mutex::default(),
            ids: AtomicU64::new(1_000),
            log: Mutex::default(),
            state_file,
        }
    }

    /// Loads a stored state, if there is one, and makes the folder fit it: unfinished work of a killed process is
    /// removed.
    pub(super) fn resume(&self, stored: Option<(u64, State)>) -> std::io::Result<()> {
        if let Some((next_id, mut state)) = stored {
            realign(&mut state, |id, branch| {
                let target = self.git.open(id).and_then(|repo| repo.refname_to_id(&format!("refs/heads/{branch}")));
                target.ok().map(|target| target.to_string())
            });
            self.ids.store(next_id, Ordering::Relaxed);
            *self.state() = state;
        }
        let known = self.state().repositories.ids().collect();
        self.git.sweep(&known)
    }

    /// Stores the changes of the state, if there is a file for it.
    pub(super) fn save(&self) -> std::io::Result<()> {
        let Some(state_file) = &self.state_file else { return Ok(()) };
        state_file.save(|| self.ids.load(Ordering::Relaxed), &self.state)
    }

    /// Stores the whole state again, if there is a file for it.
    pub(super) fn store_whole(&self) -> std::io::Result<()> {
        let Some(state_file) = &self.state_file else { return Ok(()) };
        state_file.replace(self.ids.load(Ordering::Relaxed), &self.state())
    }

    /// Stores nothing from now on, and lets another process have the folder.
    pub(super) fn close(&self) {
        if let Some(state_file) = &self.state_file {
            state_file.close();
        }
    }

    /// The state, to read or change: locked for a moment, never over an await or the wait for a repository's refs (a
    /// caller that needs both takes the refs first).
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The advisories that are known.
    pub(super) fn advisories(&self) -> MutexGuard<'_, Vec<KnownAdvisory>> {
        self.advisories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attached files, by id.
    pub(super) fn attachments(&self) -> MutexGuard<'_, HashMap<String, Attachment>> {
        self.attachments.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(super) fn admit(&self, token: &str, login: Login, kind: TokenKind) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(digest(token), (login, kind));
    }

    /// Whether it is an account of jobs of Actions: one that signs in with their token.
    pub(super) fn is_of_jobs(&self, login: &Login) -> bool {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.values().any(|(known, kind)| *kind == TokenKind::Job && known.is(login))
    }

    /// Renames an account, which its tokens authenticate from now on; `false` if there is no such account.
    pub(super) fn rename_account(&self, from: &Login, to: &Login) -> serde_json::Result<bool> {
        if !self.state().rename_account(from, to)? {
            return Ok(false);
        }
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        for (login, _) in tokens.values_mut().filter(|(login, _)| login.is(from)) {
            *login = to.clone();
        }
        Ok(true)
    }

    /// Gives `token` the rights of `grant`.
    pub(super) fn admit_granted(&self, token: &str, grant: Grant) {
        let now = self.now();
        let mut state = self.state();
        state.tokens.retain(|known| known.until > now);
        state.tokens.insert(digest(token), grant);
    }

    /// The account of this token.
    pub(super) fn owner_of(&self, token: &str) -> Option<SignedIn> {
        let digest = digest(token);
        let known = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        if let Some((login, kind)) = known {
            return Some(SignedIn { login, kind, digest, grant: None });
        }
        let grant = self.state().tokens.get(&digest).cloned().filter(|grant| grant.until > self.now())?;
        Some(SignedIn { login: grant.login.clone(), kind: TokenKind::Classic, digest, grant: Some(grant) })
    }

    /// The path of the object of `/repositories/ID` in the API, below the repository's own name.
    pub(super) fn named_path(&self, path: &str) -> Option<String> {
        let below = path.strip_prefix("/api/v3/repositories/")?;
        let (id, rest) = below.find('/').map_or((below, ""), |at| below.split_at(at));
        let state = self.state();
        let repo = state.repositories.by_id(id.parse().ok()?)?;
        Some(format!("/api/v3/repos/{}{rest}", repo.name))
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

fn digest(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
