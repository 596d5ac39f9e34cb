//! GitHub's secondary limit of points: 900 a minute for REST, 2,000 for GraphQL; a request that reads is one point, one that writes five.
//! Answers that nothing has changed count, too: they are free of the primary limit only.
//!
//! Source: <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits>

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::Method;
use tokio::time::Instant;

use crate::{purpose::Share, window::Window};

const MINUTE: Duration = Duration::from_secs(60);
const OF_REST: u32 = 900;
const OF_GRAPHQL: u32 = 2_000;
const OF_A_WRITE: usize = 5;

/// The points of the last minute. Reads wait for room and leave a fifth of it to writes, which are paced by themselves and
/// must not wait longer than the lease that they were checked against.
#[derive(Debug)]
pub(super) struct Points {
    rest: Mutex<Window>,
    graphql: Mutex<Window>,
}

impl Default for Points {
    fn default() -> Self {
        let window = |most| Mutex::new(Window::new(MINUTE, most));
        Self { rest: window(OF_REST), graphql: window(OF_GRAPHQL) }
    }
}

impl Points {
    /// Counts a request, if it has room or is a write.
    ///
    /// # Errors
    /// How long it has to wait; nothing is counted then.
    pub(super) fn take(&self, method: &Method, path: &str, body: Option<&serde_json::Value>) -> Result<(), Duration> {
        let is_graphql = path.ends_with("/graphql");
        let is_write = match body.filter(|_| is_graphql) {
            Some(body) => body["query"].as_str().is_some_and(|query| query.trim_start().starts_with("mutation")),
            None => *method != Method::GET,
        };
        let window = if is_graphql { &self.graphql } else { &self.rest };
        let (mut window, now) = (window.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        let wait = window.wait(now, Share::Common);
        if !is_write && !wait.is_zero() {
            return Err(wait);
        }
        (0..if is_write { OF_A_WRITE } else { 1 }).for_each(|_| window.count(now));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn reads_wait_for_room_and_writes_have_a_part_of_their_own() {
        let points = Points::default();
        let get = || points.take(&Method::GET, "/repos/a/b/issues", None);
        let post = || points.take(&Method::POST, "/repos/a/b/issues", Some(&json!({})));
        for _ in 0..100 {
            assert_eq!((get(), post()), (Ok(()), Ok(())));
        }
        tokio::time::advance(Duration::from_secs(20)).await;
        let reads = (0..1_000).take_while(|_| get().is_ok()).count();
        assert_eq!(reads, 720 - 600);
        assert_eq!((get(), post()), (Err(Duration::from_secs(40)), Ok(())));
        let graphql = |query: &str| points.take(&Method::POST, "/graphql", Some(&json!({ "query": query })));
        let queries = (0..3_000).take_while(|_| graphql("query { viewer { login } }").is_ok()).count();
        assert_eq!((queries, graphql("mutation { x }")), (1_600, Ok(())));
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!((get(), graphql("query { viewer { login } }").is_err()), (Ok(()), true));
    }
}
