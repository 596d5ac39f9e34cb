//! The rate limits: requests an hour for each account, and searches a minute, answered in `x-ratelimit-*`; and, if it
//! is set, writes a minute, GitHub's secondary limit, which cannot be queried.

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

/// GitHub's limit for a user's token, for a job's in each repository, and for anonymous callers.
/// <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const SIGNED_IN: u32 = 5_000;
const JOB: u32 = 1_000;
const ANONYMOUS: u32 = 60;

/// GitHub's limits for searches, a minute.
/// <https://docs.github.com/rest/search/search#rate-limit>
const SEARCHES: u32 = 30;
const ANONYMOUS_SEARCHES: u32 = 10;

/// The limit of a meter that leaves everyone GitHub's own.
const UNSET: u32 = u32::MAX;

/// The account or address that a request is charged to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payer {
    name: String,
    /// The number of requests that GitHub grants it.
    own: u32,
    /// The time window of those requests.
    window: Window,
}

/// The time window in which requests count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    Hour,
    /// The window of searches, whose limit is always GitHub's own.
    Minute,
}

impl Window {
    fn length(self) -> TimeDelta {
        match self {
            Self::Hour => TimeDelta::hours(1),
            Self::Minute => TimeDelta::minutes(1),
        }
    }
}

impl Payer {
    /// The account that asks for this path: a job's has an hour in each repository.
    pub(super) fn account(login: &Login, token: TokenKind, path: &str) -> Self {
        let mut below = path.strip_prefix("/api/v3/repos/").unwrap_or_default().split('/');
        let (name, own) = match (token, below.next(), below.next()) {
            (TokenKind::Job, Some(owner), Some(name)) => (format!("{login} in {owner}/{name}"), JOB),
            (TokenKind::Job, _, _) => (login.to_string(), JOB),
            (TokenKind::Classic | TokenKind::FineGrained, _, _) => (login.to_string(), SIGNED_IN),
        };
        Self { name, own, window: Window::Hour }
    }

    /// An App that authenticates as itself.
    pub(super) fn app(id: u64) -> Self {
        Self { name: format!("app {id}"), own: SIGNED_IN, window: Window::Hour }
    }

    /// The same for GraphQL, which has its own hour.
    #[must_use]
    pub(super) fn of_graphql(mut self) -> Self {
        self.name.push_str(" (GraphQL)");
        self
    }

    /// The same for searches, which are counted by the minute, apart from the rest. `None` for an anonymous caller.
    pub(super) fn of_search(who: Option<Self>) -> Self {
        let (name, own) = who.map_or((String::new(), ANONYMOUS_SEARCHES), |who| (who.name, SEARCHES));
        Self { name: format!("{name} (search)"), own, window: Window::Minute }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// An account's use of its hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) limit: u32,
    pub(super) used: u32,
    pub(super) reset: Timestamp,
}

impl Reading {
    /// The remaining requests.
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

    /// Changes the limit.
    pub(super) fn set_limit(&self, limit: u32) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Sets an account's limit of writes a minute.
    pub(super) fn set_write_limit(&self, writes: u32) {
        self.writes_a_minute.store(writes, Ordering::Relaxed);
    }

    /// Whether the secondary limit admits this request, which counts if it writes.
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

    /// Resets all use.
    pub(super) fn forget(&self) {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The use of `who`.
    pub(super) fn read(&self, who: Option<&Payer>, now: Timestamp) -> Reading {
        self.turn(who, now, |_| ())
    }

    /// Counts one request, or refuses it, uncounted, if nothing is left.
    ///
    /// # Errors
    /// The reading, if the limit is used up.
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
            Some(Payer { window: Window::Minute, own, .. }) => *own,
            Some(Payer { window: Window::Hour, own, .. }) if limit == UNSET => *own,
            Some(_) => limit,
        }
    }

    fn turn(&self, who: Option<&Payer>, now: Timestamp, change: impl FnOnce(&mut u32)) -> Reading {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let end = now + who.map_or(Window::Hour, |who| who.window).length();
        let window = windows.entry(who.map(|who| who.name.to_ascii_lowercase())).or_insert((end, 0));
        if now >= window.0 {
            *window = (end, 0);
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

    #[test]
    fn searches_have_a_minute_of_their_own() {
        let (meter, now) = (Meter::new(Some(1)), Timestamp::UNIX_EPOCH);
        let [person, job] = [TokenKind::Classic, TokenKind::Job].map(|token| payer(&format!("{token:?}"), token, ""));
        let all = [(Some(person.clone()), SEARCHES), (Some(job), SEARCHES), (None, ANONYMOUS_SEARCHES)];
        for (who, limit) in all {
            let search = Payer::of_search(who);
            let granted = (0..limit + 5).filter(|_| meter.charge(Some(&search), now).is_ok()).count();
            assert_eq!(u32::try_from(granted), Ok(limit));
            assert!(meter.charge(Some(&search), now + TimeDelta::minutes(1)).is_ok());
        }
        assert!(meter.charge(Some(&person), now).is_ok());
    }
}
