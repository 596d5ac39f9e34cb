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

use crate::names::Timestamp;

/// GitHub's limit for a user's token, and for who has none.
/// <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const SIGNED_IN: u32 = 5_000;
const ANONYMOUS: u32 = 60;

/// GitHub's limits for searches, a minute.
/// <https://docs.github.com/rest/search/search#rate-limit>
const SEARCHES: u32 = 30;
const ANONYMOUS_SEARCHES: u32 = 10;
/// What ends the name under which an account's searches are counted.
const SEARCH: &str = " (search)";

/// The name under which an account's GraphQL is counted: GitHub gives it an hour of its own.
pub(super) fn graphql(login: &str) -> String {
    format!("{login} (GraphQL)")
}

/// The name under which searches are counted, of an account or of who is not signed in: by the minute, apart from the rest.
pub(super) fn search(login: Option<&str>) -> String {
    format!("{}{SEARCH}", login.unwrap_or_default())
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
            limit: AtomicU32::new(limit.unwrap_or(SIGNED_IN)),
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
    pub(super) fn admits(&self, method: &Method, who: Option<&str>, now: Timestamp) -> bool {
        if method.is_safe() {
            return true;
        }
        let mut windows = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry(who.map(str::to_ascii_lowercase)).or_insert((now + TimeDelta::minutes(1), 0));
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
    pub(super) fn read(&self, who: Option<&str>, now: Timestamp) -> Reading {
        self.turn(who, now, |_| ())
    }

    /// Counts one request; refuses, uncounted, where nothing is left.
    ///
    /// # Errors
    /// The reading, when the limit is used up.
    pub(super) fn charge(&self, who: Option<&str>, now: Timestamp) -> Result<Reading, Reading> {
        let mut granted = true;
        let limit = self.limit_of(who);
        let reading = self.turn(who, now, |used| {
            granted = *used < limit;
            *used += u32::from(granted);
        });
        if granted { Ok(reading) } else { Err(reading) }
    }

    /// Gives one request back: it turned out to cost nothing.
    pub(super) fn refund(&self, who: Option<&str>, now: Timestamp) -> Reading {
        self.turn(who, now, |used| *used = used.saturating_sub(1))
    }

    fn limit_of(&self, who: Option<&str>) -> u32 {
        let limit = self.limit.load(Ordering::Relaxed);
        match who {
            None => limit.min(ANONYMOUS),
            Some(SEARCH) => ANONYMOUS_SEARCHES,
            Some(name) if name.ends_with(SEARCH) => SEARCHES,
            Some(_) => limit,
        }
    }

    fn turn(&self, who: Option<&str>, now: Timestamp, change: impl FnOnce(&mut u32)) -> Reading {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let is_search = who.is_some_and(|name| name.ends_with(SEARCH));
        let end = now + if is_search { TimeDelta::minutes(1) } else { TimeDelta::hours(1) };
        let window = windows.entry(who.map(str::to_ascii_lowercase)).or_insert((end, 0));
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

    #[test]
    fn the_limit_holds_for_an_hour_and_for_each_account() {
        let (meter, now) = (Meter::new(Some(2)), Timestamp::UNIX_EPOCH);
        assert_eq!(meter.charge(Some("a"), now).unwrap().remaining(), 1);
        assert_eq!(meter.charge(Some("A"), now).unwrap().remaining(), 0);
        assert!(meter.charge(Some("a"), now).is_err() && meter.charge(Some("b"), now).is_ok());
        meter.refund(Some("a"), now);
        assert!(meter.charge(Some("a"), now).is_ok());
        assert!(meter.charge(Some("a"), now + TimeDelta::hours(1)).is_ok());
    }

    #[test]
    fn searches_have_a_minute_of_their_own() {
        let (meter, now) = (Meter::new(Some(1)), Timestamp::UNIX_EPOCH);
        for (who, limit) in [(Some("a"), SEARCHES), (None, ANONYMOUS_SEARCHES)] {
            let name = search(who);
            let granted = (0..limit + 5).filter(|_| meter.charge(Some(&name), now).is_ok()).count();
            assert_eq!(u32::try_from(granted), Ok(limit));
            assert!(meter.charge(Some(&name), now + TimeDelta::minutes(1)).is_ok());
        }
        assert!(meter.charge(Some("a"), now).is_ok());
    }
}
