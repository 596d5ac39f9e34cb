//! The rest of the forge's quotas, one for each resource (`core`, `search`, …), as its answers say.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use hob_domain::Timestamp;
use serde::Serialize;

/// The most quotas that are kept; a forge has about a dozen.
const KEPT: usize = 50;

/// One quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// Its resource: `core`, `search`, `graphql`, …
    pub resource: String,
    /// Calls in each window.
    pub limit: u64,
    /// Calls left in the current window.
    pub remaining: u64,
    /// When the next window begins.
    pub reset: Timestamp,
}

/// The quotas that answers have named.
#[derive(Debug, Default)]
pub(super) struct Rates(Mutex<BTreeMap<String, Rate>>);

impl Rates {
    /// Records an answer's quota. Answers may arrive out of order: within a window, the smaller remainder is the newer
    /// one.
    pub(super) fn note(&self, rate: Rate) {
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newer = |known: &Rate| rate.reset > known.reset || rate.remaining <= known.remaining;
        let room = rates.len() < KEPT;
        if rates.get(&rate.resource).map_or(room, newer) {
            rates.insert(rate.resource.clone(), rate);
        }
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<Rate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// The quota that a call counts against, before any answer names it.
/// <https://docs.github.com/rest/rate-limit/rate-limit>
pub(super) fn resource_of(path: &str) -> &'static str {
    match path.split(['?', '/']).nth(1) {
        Some("search") if path.starts_with("/search/code") => "code_search",
        Some("search") => "search",
        Some("graphql") => "graphql",
        Some(_) | None => "core",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_has_its_own_quota_and_an_older_answer_changes_none() {
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).unwrap();
        let rate = |resource: &str, remaining, reset| Rate {
            resource: resource.to_owned(),
            limit: 30,
            remaining,
            reset: at(reset),
        };
        let rates = Rates::default();
        for noted in [rate("core", 9, 60), rate("search", 3, 60), rate("core", 10, 60), rate("search", 30, 120)] {
            rates.note(noted);
        }
        assert_eq!(rates.all(), [rate("core", 9, 60), rate("search", 30, 120)]);
    }

    #[test]
    fn a_path_names_its_resource() {
        for (path, resource) in [
            ("/repos/a/search/issues", "core"),
            ("/search/issues?q=x", "search"),
            ("/search/code?q=x", "code_search"),
            ("/graphql", "graphql"),
            ("", "core"),
        ] {
            assert_eq!(resource_of(path), resource, "{path}");
        }
    }
}
