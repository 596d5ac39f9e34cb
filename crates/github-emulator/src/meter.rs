//! The rate limits: so many requests an hour for each account, answered in `x-ratelimit-*`; and, where it is set, so many
//! writes a minute, GitHub's secondary limit, which nobody can query.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use chrono::TimeDelta;
use http::Method;

use super::users::TokenKind;
use crate::names::{Login, Timestamp};

/// GitHub's limit for a user's token, for a job's in each repository, and for who has none.
/// <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const SIGNED_IN: u32 = 5_000;
const JOB: u32 = 1_000;
const ANONYMOUS: u32 = 60;

/// The limit of a meter that leaves everyone GitHub's own.
const UNSET: u32 = u32::MAX;

/// Whose hour a request counts against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payer {
    name: String,
    /// How many requests GitHub gives it.
    own: u32,
}

impl Payer {
    /// The account that asks for this path: a job's has an hour in each repository.
    pub(super) fn account(login: &Login, token: TokenKind, path: &str) -> Self {
        let mut below = path.strip_prefix("/api/v3/repos/").unwrap_or_default().split('/');
        match (token, below.next(), below.next()) {
            (TokenKind::Job, Some(owner), Some(name)) => Self { name: format!("{login} in {owner}/{name}"), own: JOB },
            (TokenKind::Job, _, _) => Self { name: login.to_string(), own: JOB },
            (TokenKind::Classic | TokenKind::FineGrained, _, _) => Self { name: login.to_string(), own: SIGNED_IN },
        }
    }

    /// An App that signs for itself.
    pub(super) fn app(id: u64) -> Self {
        Self { name: format!("app {id}"), own: SIGNED_IN }
    }

    /// The same for GraphQL, which has an hour of its own.
    #[must_use]
    pub(super) fn of_graphql(mut self) -> Self {
        self.name.push_str(" (GraphQL)");
        self
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// What an account has used of its hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) limit: u32,
    pub(super) used: u32,
    pub(super) reset: Timestamp,
}

impl Reading {
    /// What is left.
    pub(super) fn remaining(&self) -> u32 {
        self.limit.saturating_sub(self.used)
    }
}

/// Counts requests an account and hour.
#[derive(Debug)]
pub(super) struct Meter {
    limit: AtomicU32,
    windows: Mutex<HashMap<Option<String>, (Timestamp, u32)>>,
    writes_a_minute: AtomicU32,
    writes: Mutex<HashMap<Option<String>, (Timestamp, u32)>>,
}

impl Meter {
    /// A meter with this limit for accounts; GitHub's own without one.
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self {
            limit: AtomicU32::new(limit.unwrap_or(UNSET)),
            windows: Mutex::default(),
            writes_a_minute: AtomicU32::new(u32::MAX),
            writes: Mutex::default(),
        }
    }

    /// Sets the limit anew.
    pub(super) fn set_limit(&self, limit: u32) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Sets how many writes a minute an account has.
    pub(super) fn set_write_limit(&self, writes: u32) {
        self.writes_a_minute.store(writes, Ordering::Relaxed);
    }

    /// Whether the secondary limit admits this request, which counts where it writes.
    pub(super) fn admits(&self, method: &Method, who: Option<&Payer>, now: Timestamp) -> bool {
        if method.is_safe() {
            return true;
        }
        let mut windows = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let window =
            windows.entry(who.map(|who| who.name.to_ascii_lowercase())).or_insert((now + TimeDelta::minutes(1), 0));
        if now >= window.0 {
            *window = (now + TimeDelta::minutes(1), 0);
        }
        let admitted = window.1 < self.writes_a_minute.load(Ordering::Relaxed);
        window.1 += u32::from(admitted);
        admitted
    }

    /// Forgets what everybody has used.
    pub(super) fn forget(&self) {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What `who` has used.
    pub(super) fn read(&self, who: Option<&Payer>, now: Timestamp) -> Reading {
        self.turn(who, now, |_| ())
    }

    /// Counts one request; refuses, uncounted, where nothing is left.
    ///
    /// # Errors
    /// The reading, when the limit is used up.
    pub(super) fn charge(&self, who: Option<&Payer>, now: Timestamp) -> Result<Reading, Reading> {
        let mut granted = true;
        let limit = self.limit_of(who);
        let reading = self.turn(who, now, |used| {
            granted = *used < limit;
            *used += u32::from(granted);
        });
        if granted { Ok(reading) } else { Err(reading) }
    }

    /// Gives one request back: it turned out to cost nothing.
    pub(super) fn refund(&self, who: Option<&Payer>, now: Timestamp) -> Reading {
        self.turn(who, now, |used| *used = used.saturating_sub(1))
    }

    fn limit_of(&self, who: Option<&Payer>) -> u32 {
        let limit = self.limit.load(Ordering::Relaxed);
        match who {
            None => limit.min(ANONYMOUS),
            Some(who) if limit == UNSET => who.own,
            Some(_) => limit,
        }
    }

    fn turn(&self, who: Option<&Payer>, now: Timestamp, change: impl FnOnce(&mut u32)) -> Reading {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window =
            windows.entry(who.map(|who| who.name.to_ascii_lowercase())).or_insert((now + TimeDelta::hours(1), 0));
        if now >= window.0 {
            *window = (now + TimeDelta::hours(1), 0);
        }
        change(&mut window.1);
        Reading { limit: self.limit_of(who), used: window.1, reset: window.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payer(login: &str, token: TokenKind, path: &str) -> Payer {
        Payer::account(&login.into(), token, path)
    }

    #[test]
    fn the_limit_holds_for_an_hour_and_for_each_account() {
        let (meter, now) = (Meter::new(Some(2)), Timestamp::UNIX_EPOCH);
        let [lower, upper, other] = ["a", "A", "b"].map(|login| payer(login, TokenKind::Classic, ""));
        assert_eq!(meter.charge(Some(&lower), now).unwrap().remaining(), 1);
        assert_eq!(meter.charge(Some(&upper), now).unwrap().remaining(), 0);
        assert!(meter.charge(Some(&lower), now).is_err() && meter.charge(Some(&other), now).is_ok());
        meter.refund(Some(&lower), now);
        assert!(meter.charge(Some(&lower), now).is_ok());
        assert!(meter.charge(Some(&lower), now + TimeDelta::hours(1)).is_ok());
    }

    #[test]
    fn a_job_has_a_thousand_requests_in_each_repository() {
        let (meter, now) = (Meter::new(None), Timestamp::UNIX_EPOCH);
        let job = |path| payer("ci[bot]", TokenKind::Job, path);
        let (one, other) = (job("/api/v3/repos/a/one/issues"), job("/api/v3/repos/a/other"));
        assert_eq!(meter.charge(Some(&one), now).unwrap().remaining(), 999);
        assert_eq!(meter.charge(Some(&job("/api/v3/repos/A/one")), now).unwrap().remaining(), 998);
        assert_eq!(meter.charge(Some(&other), now).unwrap().remaining(), 999);
        assert_eq!(meter.charge(Some(&payer("a", TokenKind::FineGrained, "")), now).unwrap().limit, 5_000);
        meter.set_limit(7);
        assert_eq!(meter.read(Some(&one), now).limit, 7, "the forge's own limit is everyone's");
    }
}
