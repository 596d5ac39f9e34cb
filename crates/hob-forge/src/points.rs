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

use crate::{call::Call, window::Window};

const MINUTE: Duration = Duration::from_secs(60);
const OF_REST: u32 = 900;
const OF_GRAPHQL: u32 = 2_000;
const OF_A_WRITE: usize = 5;

/// The part of the points that polls may use, in percent, before the next one waits: the rest is for work that goes on.
const OF_POLLS: usize = 60;

/// The points of the last minute. Reads wait for room and leave a fifth of it to reads that keep a lease and to writes, which are
/// paced by themselves and must not wait longer than the lease that they were checked against.
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
    pub(super) fn take(&self, call: Call<'_>) -> Result<(), Duration> {
        let is_graphql = call.path.ends_with("/graphql");
        let is_write = match call.body.filter(|_| is_graphql) {
            Some(body) => body["query"].as_str().is_some_and(|query| query.trim_start().starts_with("mutation")),
            None => *call.method != Method::GET,
        };
        let window = if is_graphql { &self.graphql } else { &self.rest };
        let (mut window, now) = (window.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        let wait = window.wait(now, call.purpose.share);
        if !is_write && !wait.is_zero() {
            return Err(wait);
        }
        (0..if is_write { OF_A_WRITE } else { 1 }).for_each(|_| window.count(now));
        Ok(())
    }

    /// How long the next poll waits.
    pub(super) fn wait_of_polls(&self) -> Duration {
        let wait = |window: &Mutex<Window>| {
            window.lock().unwrap_or_else(PoisonError::into_inner).wait_below(OF_POLLS, Instant::now())
        };
        wait(&self.rest).max(wait(&self.graphql))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{TokenPermission::ContentsRead, purpose::Share};

    #[tokio::test(start_paused = true)]
    async fn reads_wait_for_room_and_writes_have_a_part_of_their_own() {
        let (points, purpose) = (Points::default(), ContentsRead.to("look"));
        let get = || points.take(Call::get("/repos/a/b/issues", purpose));
        let post = || points.take(Call::write(&Method::POST, "/repos/a/b/issues", &json!({}), purpose));
        for _ in 0..100 {
            assert_eq!((get(), post()), (Ok(()), Ok(())));
        }
        tokio::time::advance(Duration::from_secs(20)).await;
        let reads = (0..1_000).take_while(|_| get().is_ok()).count();
        assert_eq!(reads, 720 - 600);
        assert_eq!((get(), post()), (Err(Duration::from_secs(40)), Ok(())));
        assert_eq!(points.take(Call::get("/repos/a/b/git/ref/hob/issues/1", purpose.with(Share::Lease))), Ok(()));
        let graphql =
            |query: &str| points.take(Call::write(&Method::POST, "/graphql", &json!({ "query": query }), purpose));
        let queries = (0..3_000).take_while(|_| graphql("query { viewer { login } }").is_ok()).count();
        assert_eq!((queries, graphql("mutation { x }")), (1_600, Ok(())));
        assert_eq!(points.wait_of_polls(), Duration::from_secs(60));
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!(points.wait_of_polls(), Duration::from_secs(20));
        assert_eq!((get(), graphql("query { viewer { login } }").is_err()), (Ok(()), true));
    }
}
