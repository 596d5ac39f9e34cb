//! Whether the Job of a pass is at work: a pass ends with it.
//!
//! # Guarantees
//! - A Job that ended is known to have within [`KNOWN`]. One that nobody knows never was.
//! - While the cluster cannot be asked, what was last known counts; a Job that was never seen does not.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use hob_forge::Pass;
use parking_lot::Mutex;
use tokio::time::Instant;

/// How long an answer counts.
const KNOWN: Duration = Duration::from_secs(10);
/// Jobs that are remembered.
const MOST: usize = 1_024;

/// Asks whether the Job of a pass is still to work or at work. `None` if that cannot be looked up now.
pub type AskAtWork = dyn Fn(Pass) -> BoxFuture<'static, Option<bool>> + Send + Sync;

/// What is known of Jobs.
pub(super) struct Jobs {
    ask: Arc<AskAtWork>,
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Clone, Copy)]
struct Known {
    at: Instant,
    is_at_work: bool,
}

impl Jobs {
    pub(super) fn new(ask: Arc<AskAtWork>) -> Self {
        Self { ask, known: Mutex::default() }
    }

    /// Whether the pass's Job is at work. `None` if nothing is known of it.
    pub(super) async fn is_at_work(&self, pass: &Pass) -> Option<bool> {
        let known = self.known.lock().get(&pass.job).copied();
        if let Some(known) = known.filter(|known| known.at.elapsed() < KNOWN) {
            return Some(known.is_at_work);
        }
        let Some(is_at_work) = (self.ask)(pass.clone()).await else {
            return known.map(|known| known.is_at_work);
        };
        let mut all = self.known.lock();
        if all.len() >= MOST {
            all.retain(|_, known| known.at.elapsed() < KNOWN);
        }
        if all.len() < MOST {
            all.insert(pass.job.clone(), Known { at: Instant::now(), is_at_work });
        }
        Some(is_at_work)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use hob_domain::{IssueNumber, Timestamp};

    use super::*;

    fn pass(job: &str) -> Pass {
        let (repo, ends) = ("acme/site".parse().unwrap(), Timestamp::UNIX_EPOCH);
        Pass { repo, issue: IssueNumber(7), job: job.to_owned(), ends }
    }

    /// Jobs of a cluster that answers like this, and how often it was asked.
    fn jobs(answer: impl Fn() -> Option<bool> + Send + Sync + 'static) -> (Jobs, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::default());
        let count = Arc::clone(&asked);
        let ask = move |_pass| -> BoxFuture<'static, Option<bool>> {
            count.fetch_add(1, Ordering::Relaxed);
            Box::pin(std::future::ready(answer()))
        };
        (Jobs::new(Arc::new(ask)), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn the_cluster_is_asked_now_and_then_and_what_it_last_said_counts_while_it_is_away() {
        let said = Arc::new(Mutex::new(Some(true)));
        let answer = Arc::clone(&said);
        let (jobs, asked) = jobs(move || *answer.lock());
        for _ in 0..5 {
            assert_eq!(jobs.is_at_work(&pass("a")).await, Some(true));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        *said.lock() = None;
        tokio::time::advance(KNOWN).await;
        assert_eq!((jobs.is_at_work(&pass("a")).await, jobs.is_at_work(&pass("b")).await), (Some(true), None));
        *said.lock() = Some(false);
        assert_eq!(jobs.is_at_work(&pass("a")).await, Some(false), "as soon as it answers again");
        assert_eq!(asked.load(Ordering::Relaxed), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_jobs_are_remembered() {
        let (jobs, _asked) = jobs(|| Some(true));
        for n in 0..=MOST {
            assert_eq!(jobs.is_at_work(&pass(&n.to_string())).await, Some(true));
        }
        assert_eq!(jobs.known.lock().len(), MOST);
        tokio::time::advance(KNOWN).await;
        jobs.is_at_work(&pass("new")).await;
        assert_eq!(jobs.known.lock().len(), 1);
    }
}
