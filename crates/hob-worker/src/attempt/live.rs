//! The agent's checklist in the status comment while it works.
//!
//! # Guarantees
//! At most one edit per `status.live`, under the lease, and only if something changed. A failed edit is dropped: the
//! next one says more. Neither the agent nor the heartbeat waits for one; the end of a run waits for an edit in flight,
//! so that it does not arrive after the final text.

use std::time::Duration;

use hob_domain::{Checklist, Note, StatusRules};
use hob_words::status_body;
use tokio::{sync::watch, time::sleep};

use crate::{WorkError, Worker, attempt::job::Job};

/// Shows what comes in, until nothing more can come; then the ledger gets the last of it.
pub(super) async fn follow_checklist(worker: &Worker, job: &Job<'_>, mut steps: watch::Receiver<Option<Checklist>>) {
    let (every, mut shown) = (worker.settings.status.live, None);
    while let Some(checklist) = next_due(&mut steps, every, shown.as_ref()).await {
        if let Err(error) = show(worker, job, &checklist).await {
            tracing::debug!(issue = job.number().0, %error, "the checklist is not shown: {error}");
        }
        shown = Some(checklist);
    }
    let last = steps.borrow().clone();
    if let Some(last) = last {
        job.held.lease.note(Note::Checklist(last)).await;
    }
}

/// The newest checklist, after `every` at the earliest, and only once it differs from the shown one. `None` if the
/// sender is gone, or if `every` is 0 and it is gone.
async fn next_due(
    steps: &mut watch::Receiver<Option<Checklist>>,
    every: Duration,
    shown: Option<&Checklist>,
) -> Option<Checklist> {
    if every.is_zero() {
        ended(steps).await;
        return None;
    }
    tokio::select! {
        () = sleep(every) => {}
        () = ended(steps) => return None,
    }
    let news = steps.wait_for(|now| now.is_some() && now.as_ref() != shown).await;
    news.ok().and_then(|now| now.clone())
}

/// Returns when nothing more can come.
async fn ended(steps: &mut watch::Receiver<Option<Checklist>>) {
    while steps.changed().await.is_ok() {}
}

/// Edits the status comment, if the ledger knows it.
async fn show(worker: &Worker, job: &Job<'_>, checklist: &Checklist) -> Result<(), WorkError> {
    let (lease, url) = (&job.held.lease, worker.repo_url());
    let record = lease.record();
    let Some(id) = record.comments.status else { return Ok(()) };
    let rules = StatusRules { checklist: Some(checklist), ..worker.settings.status_rules(&url) };
    Ok(worker.forge.comments().edit(lease, id, &status_body(&record, &rules)).await?)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use hob_domain::StepState;
    use tokio::time::Instant;

    use super::*;

    const EVERY: Duration = Duration::from_secs(30);

    fn at_step(number: u64) -> Option<Checklist> {
        Checklist::new([(format!("step {number}"), StepState::Doing)])
    }

    /// The checklists that are shown, each with its second, if these are sent at these seconds and the run ends at the
    /// last second.
    async fn shown(every: Duration, told: &[(u64, u64)], ends: u64) -> Vec<(u64, String)> {
        let (news, mut steps) = watch::channel(None);
        let began = Instant::now();
        let shown = RefCell::new(Vec::new());
        let tells = async {
            for (second, number) in told {
                tokio::time::sleep_until(began + Duration::from_secs(*second)).await;
                news.send_replace(at_step(*number));
            }
            tokio::time::sleep_until(began + Duration::from_secs(ends)).await;
            drop(news);
        };
        let follows = async {
            let mut last = None;
            while let Some(checklist) = next_due(&mut steps, every, last.as_ref()).await {
                let told = (0..100).find(|number| at_step(*number).as_ref() == Some(&checklist));
                shown.borrow_mut().push((began.elapsed().as_secs(), format!("step {}", told.unwrap())));
                last = Some(checklist);
            }
        };
        tokio::join!(tells, follows);
        shown.take()
    }

    #[tokio::test(start_paused = true)]
    async fn fast_news_is_one_edit_in_its_time() {
        let step = |second, number: u64| (second, format!("step {number}"));
        for (told, ends, expected) in [
            (&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)][..], 40, vec![step(30, 5)]),
            (&[(1, 1), (31, 2), (32, 3), (59, 4)], 70, vec![step(30, 1), step(60, 4)]),
            // A late checklist is shown at once; an unchanged one is not shown.
            (&[(45, 1), (46, 2)], 100, vec![step(45, 1), step(75, 2)]),
            (&[(1, 1), (40, 1), (50, 1)], 200, vec![step(30, 1)]),
            // A short run ends without an edit.
            (&[(1, 1), (2, 2)], 29, vec![]),
            (&[], 100, vec![]),
        ] {
            assert_eq!(shown(EVERY, told, ends).await, expected, "{told:?}");
        }
        assert_eq!(shown(Duration::ZERO, &[(1, 1), (50, 2)], 100).await, []);
    }
}
