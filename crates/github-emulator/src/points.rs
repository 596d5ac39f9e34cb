//! The mood `points`: GitHub's secondary limits, by account. An answer 304 counts, too.
//! <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits>

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::TimeDelta;
use http::Method;

use crate::names::Timestamp;

/// The most concurrent requests of an account.
const AT_ONCE_MAX: u32 = 100;

/// The last part of the addresses whose POST notifies people: GitHub's description warns of each.
const CONTENT: [&str; 9] =
    ["blocked_by", "comments", "events", "issues", "pulls", "replies", "requested_reviewers", "reviews", "sub_issues"];

/// A limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Budget {
    Rest,
    GraphQl,
    ContentOfMinute,
    ContentOfHour,
}

impl Budget {
    fn limit(self) -> u32 {
        match self {
            Self::Rest => 900,
            Self::GraphQl => 2_000,
            Self::ContentOfMinute => 80,
            Self::ContentOfHour => 500,
        }
    }

    fn length(self) -> TimeDelta {
        match self {
            Self::Rest | Self::GraphQl | Self::ContentOfMinute => TimeDelta::minutes(1),
            Self::ContentOfHour => TimeDelta::hours(1),
        }
    }
}

/// The cost of a request to each budget.
#[derive(Debug)]
pub(super) struct Cost(Vec<(Budget, u32)>);

impl Cost {
    /// A request to the REST API.
    pub(super) fn rest(method: &Method, path: &str) -> Self {
        let mut cost = vec![(Budget::Rest, if method.is_safe() { 1 } else { 5 })];
        let last = path.rsplit('/').next().unwrap_or_default();
        if method == Method::POST && CONTENT.contains(&last) {
            cost.extend([(Budget::ContentOfMinute, 1), (Budget::ContentOfHour, 1)]);
        }
        Self(cost)
    }

    /// A query of GraphQL.
    pub(super) fn query() -> Self {
        Self(vec![(Budget::GraphQl, 1)])
    }

    /// A mutation of GraphQL.
    pub(super) fn mutation() -> Self {
        Self(vec![(Budget::GraphQl, 5), (Budget::ContentOfMinute, 1), (Budget::ContentOfHour, 1)])
    }
}

/// The use of every account.
#[derive(Debug, Default)]
pub(super) struct Points {
    used: Mutex<HashMap<(String, Budget), (Timestamp, u32)>>,
    under_way: Mutex<HashMap<String, u32>>,
}

/// A request under way; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct UnderWay<'p> {
    points: &'p Points,
    who: String,
}

impl Points {
    /// Whether `who` can pay; charges the cost if so, and nothing otherwise.
    pub(super) fn pay(&self, who: &str, cost: &Cost, now: Timestamp) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut window = |budget: Budget| {
            let window = used.entry((who.to_ascii_lowercase(), budget)).or_insert((now + budget.length(), 0));
            if now >= window.0 {
                *window = (now + budget.length(), 0);
            }
            window.1
        };
        if cost.0.iter().any(|(budget, points)| window(*budget) + points > budget.limit()) {
            return false;
        }
        for (budget, points) in &cost.0 {
            if let Some(window) = used.get_mut(&(who.to_ascii_lowercase(), *budget)) {
                window.1 += points;
            }
        }
        true
    }

    /// Begins a request. `None` if too many are under way.
    pub(super) fn begin(&self, who: &str) -> Option<UnderWay<'_>> {
        let who = who.to_ascii_lowercase();
        let mut under_way = self.under_way();
        let count = under_way.entry(who.clone()).or_default();
        if *count >= AT_ONCE_MAX {
            return None;
        }
        *count += 1;
        drop(under_way);
        Some(UnderWay { points: self, who })
    }

    /// Resets all use.
    pub(super) fn forget(&self) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.points.under_way().get_mut(&self.who) {
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_900_points_of_which_a_write_takes_five() {
        let (points, now) = (Points::default(), Timestamp::UNIX_EPOCH);
        let (read, write) = (Cost::rest(&Method::GET, "/x"), Cost::rest(&Method::PATCH, "/x"));
        assert_eq!((0..1_000).filter(|_| points.pay("ann", &write, now)).count(), 180);
        assert!(!points.pay("Ann", &read, now) && points.pay("bob", &read, now));
        assert!(points.pay("ann", &read, now + TimeDelta::minutes(1)));
        assert_eq!((0..1_000).filter(|_| points.pay("ann", &Cost::mutation(), now)).count(), 80);
    }

    #[test]
    fn content_has_a_limit_of_the_minute_and_of_the_hour() {
        let (points, start) = (Points::default(), Timestamp::UNIX_EPOCH);
        let comment = Cost::rest(&Method::POST, "/api/v3/repos/a/b/issues/1/comments");
        let in_minute =
            |minute| (0..200).filter(|_| points.pay("ann", &comment, start + TimeDelta::minutes(minute))).count();
        assert_eq!((0..8).map(in_minute).collect::<Vec<_>>(), [80, 80, 80, 80, 80, 80, 20, 0]);
    }

    #[test]
    fn a_hundred_requests_are_under_way_at_once() {
        let points = Points::default();
        let mut all: Vec<_> = (0..100).map(|_| points.begin("ann").unwrap()).collect();
        assert!(points.begin("ann").is_none() && points.begin("bob").is_some());
        all.pop();
        assert!(points.begin("ann").is_some());
    }
}
