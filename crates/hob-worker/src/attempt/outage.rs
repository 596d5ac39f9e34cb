//! Services that fail an attempt: how long it waits, when a person is asked, and which issue asks a model that is down.
//!
//! # Guarantees
//! What a service does costs no attempt. A person is asked once `limits.patience` is over; of a model that all issues use, once for
//! all of them.

use std::time::Duration;

use hob_domain::{BlockReason, Note, Outage, RepositoryRecord, ServiceOutage, Timestamp, Transition};
use hob_forge::Changed;

use crate::{
    Worker,
    attempt::{end::AttemptEnd, job::Job},
    held_issue::HeldIssue,
};

/// What failed an attempt through no fault of the work.
pub(super) struct Service {
    /// Its name, as people know it.
    pub(super) name: String,
    /// Whether the issues of the repository share its circuit breaker.
    pub(super) is_shared: bool,
}

impl Service {
    /// What the agent that works asks; none: it asks nobody that Hob knows.
    pub(super) fn asked_by(job: &Job<'_>) -> Option<Self> {
        job.active.now().loaded.agent.service().map(|name| Self { name, is_shared: true })
    }

    /// A service that one issue's trouble says nothing about.
    pub(super) fn alone(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_shared: false }
    }
}

/// The wait that a service asked for, if it did.
pub(super) enum Wanted {
    /// A pause. Whether the service is back then is not known.
    Pause(Option<Duration>),
    /// The time until it is back.
    Back(Option<Duration>),
}

/// The end of an attempt that a service failed: a later one, which does not count, or a question to a person when `limits.patience` is
/// over.
pub(super) async fn postpone(
    worker: &Worker,
    held: &HeldIssue,
    service: Service,
    failure: String,
    wanted: Wanted,
) -> Transition {
    let (now, limits) = (worker.forge.now(), &worker.settings.limits);
    let (wanted, back) = match wanted {
        Wanted::Pause(wanted) => (wanted, None),
        Wanted::Back(wanted) => (wanted, wanted.map(|wanted| now + wanted)),
    };
    let outage = Outage::after(held.lease.record().failure.outage.as_ref(), &service.name, back, now);
    let pause = outage.pause(limits.retry_delay, held.issue.number).max(wanted.unwrap_or_default());
    held.lease.note(Note::Outage(outage.clone())).await;
    let asks = match service.is_shared {
        true => note_failure(worker, held, &outage, pause).await,
        false => outage.outlasts(limits.patience, now),
    };
    match asks {
        true => Transition::Block(BlockReason::ServiceDown { outage, failure }),
        false => Transition::Postpone { failure, until: worker.forge.now() + pause },
    }
}

/// Notes for all issues of the repository that a service failed; whether a person is to be asked about it.
async fn note_failure(worker: &Worker, held: &HeldIssue, outage: &Outage, pause: Duration) -> bool {
    let (issue, patience) = (held.issue.number, worker.settings.limits.patience);
    let noted = worker.forge.repository_ledger().change_unless(&held.base.tree, |before, nonce, now| {
        let next = RepositoryRecord::next(before, nonce, now);
        let (outages, asks) = next.outages.failed(issue, outage, now + pause, patience, now);
        let sentence = format!("{} failed issue {issue}", outage.service);
        Ok::<_, ()>((RepositoryRecord { outages, ..next }, sentence, asks))
    });
    match noted.await {
        Ok(Changed::Written(asks)) => asks,
        Ok(Changed::Refused(())) => false,
        Err(error) => {
            tracing::warn!(issue = issue.0, %error, "the failure of {} is not recorded for other issues: {error}", outage.service);
            outage.outlasts(patience, worker.forge.now())
        }
    }
}

/// Where the agent's model is down: whether this issue is the one that asks whether it is back. The attempt's end, where it is not.
pub(super) async fn ask_first(worker: &Worker, job: &Job<'_>) -> Option<AttemptEnd> {
    let service = Service::asked_by(job)?.name;
    if is_wanted_at_once(job) || !is_down(worker, &service, ServiceOutage::is_open) {
        return None;
    }
    let (issue, pause) = (job.number(), worker.settings.limits.retry_delay);
    let asked = worker.forge.repository_ledger().change_unless(&job.held.base.tree, |before, nonce, now| {
        let next = RepositoryRecord::next(before, nonce, now);
        match next.outages.ask(&service, issue, pause, now) {
            Ok(Some(outages)) => {
                Ok((RepositoryRecord { outages, ..next }, format!("issue {issue} tries {service}"), ()))
            }
            Ok(None) => Err(None),
            Err(until) => Err(Some(until)),
        }
    });
    let until: Timestamp = match asked.await {
        Ok(Changed::Refused(Some(until))) => until,
        Ok(Changed::Written(()) | Changed::Refused(None)) => return None,
        Err(error) => {
            tracing::warn!(issue = issue.0, %error, "cannot tell whether another issue is trying {service}: {error}");
            return None;
        }
    };
    if job.held.lease.record().failure.outage.is_none() {
        job.held.lease.note(Note::Outage(Outage::after(None, &service, None, worker.forge.now()))).await;
    }
    let failure = format!("{service} is down; another issue is trying it");
    Some(AttemptEnd::Postponed(Transition::Postpone { failure, until }))
}

/// Notes for all issues of the repository that the agent's model answers, where it was noted that it failed.
pub(super) async fn note_answer(worker: &Worker, job: &Job<'_>) {
    let Some(service) = Service::asked_by(job).map(|service| service.name) else { return };
    if !is_down(worker, &service, |down| down.back.is_none()) {
        return;
    }
    let noted = worker.forge.repository_ledger().change_unless(&job.held.base.tree, |before, nonce, now| {
        let next = RepositoryRecord::next(before, nonce, now);
        match next.outages.answered(&service, now) {
            Some(outages) => Ok((RepositoryRecord { outages, ..next }, format!("{service} answers again"), ())),
            // Another issue has noted it.
            None => Err(()),
        }
    });
    if let Err(error) = noted.await {
        tracing::warn!(issue = job.number().0, %error, "the recovery of {service} is not recorded: {error}");
    }
}

fn is_down(worker: &Worker, service: &str, how: impl Fn(&ServiceOutage) -> bool) -> bool {
    worker.forge.repository_ledger().known().is_some_and(|record| record.outages.of(service).is_some_and(how))
}

/// Whether a person said after the last failure that it is to be tried again.
fn is_wanted_at_once(job: &Job<'_>) -> bool {
    job.held.lease.record().failure.outage.is_some_and(|outage| outage.failures == 0)
}
