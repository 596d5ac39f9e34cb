//! Hand-offs: another profile continues the work, in the same attempt.
//!
//! # Flow
//! [`hand_off()`] checks what the agent says, commits and keeps its work, writes the hand-off to the ledger, and
//! starts the next profile with the same lease, folder, branch and budget, and another session.
//!
//! # Guarantees
//! - A rejected hand-off ends the chain: the work so far goes through its checks, and is published if it passes.
//! - The ledger has a hand-off before the next agent starts: after a crash, the profile that had the work continues.

use std::time::Duration;

use hob_domain::{
    BlockReason, Candidate, Catalog, ChangeText, Choice, HandOff, PassedOn, ProfileName, Received, Record,
    RefusedHandOff, RoutedText, Router, RunId, Sha, Transition, investigation::next_left,
};
use hob_text::{clip, visible};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    WorkError, Worker,
    attempt::{
        active_profile::ActiveProfile,
        branch::{commit, is_reviewed, keep, policy_violations, work_so_far},
        breaker::note_failed_load,
        job::Job,
        loaded_agent::{carry_out, targets},
        proof::{Proof, Proven, prove},
        remaining_allowance::remaining_allowance,
    },
    metrics::METRICS,
};

/// The most bytes of a report that a hand-off passes on, which leaves room for the rest of it.
const CONTEXT_MAX: usize = 12 * 1024;

/// The result of a hand-off.
pub(super) enum Passed {
    /// The next profile continues.
    On,
    /// The chain ends: this is the work that was done.
    Ended(String),
    /// The work so far breaks a rule.
    Blocked(BlockReason),
}

/// Accepts a hand-off, or ends the chain with the work so far.
pub(super) async fn hand_off(worker: &Worker, job: &Job<'_>, given: HandOff) -> Result<Passed, WorkError> {
    let (from, number) = (job.active.now().loaded.name.clone(), number(&job.held.lease.record()));
    // An agent's text may be anything: its target becomes a field only once it is known to be a name.
    let span = tracing::error_span!("hand_off", from, number, bytes = given.bytes(), to = tracing::field::Empty);
    pass_on(worker, job, given).instrument(span).await
}

async fn pass_on(worker: &Worker, job: &Job<'_>, given: HandOff) -> Result<Passed, WorkError> {
    let (began, active, record) = (Instant::now(), job.active.now(), job.held.lease.record());
    let profile = active.loaded.profile.as_ref();
    let targets = profile.map(|profile| profile.hand_off_to.as_slice()).unwrap_or_default();
    let secrets = worker.forge.connection().secrets().redaction();
    let checked = given.check(profile.map(|profile| &profile.name), targets, &secrets);
    let (from, to) = match (profile, checked) {
        (Some(profile), Ok(to)) => {
            tracing::Span::current().record("to", to.as_str());
            (profile.name.clone(), to)
        }
        (_, Err(refused @ RefusedHandOff::Secret(_))) => {
            // Nothing of it is passed on.
            let done = format!("The work of `{}` so far.", active.loaded.name);
            return Ok(ended(worker, job, &refused.to_string(), &done));
        }
        (_, Err(refused)) => return Ok(ended(worker, job, &refused.to_string(), said(&given))),
        (None, Ok(_)) => return Ok(ended(worker, job, "only a profile can hand off", said(&given))),
    };
    commit(worker, job, &ChangeText::said(None, said(&given))).await?;
    if let Some((head, diff)) = work_so_far(job).await?
        && let Some(reason) = policy_violations(worker, job, &head, &diff).await?
    {
        return Ok(Passed::Blocked(reason));
    }
    // Only finished work is for people to look at.
    if !is_reviewed(job) {
        keep(worker, job).await?;
    }
    let head = job.checkout.tip().await?;
    if let Err(end) = record.chain.may_go_on(&given, &to, &head) {
        return Ok(ended(worker, job, &end.to_string(), said(&given)));
    }
    if remaining_allowance(worker, job).is_err() || Instant::now() >= job.limits.ends {
        return Ok(ended(worker, job, "no budget or time is left", said(&given)));
    }
    worker.progress(job.number(), &format!("handing off from `{from}` to `{to}`"));
    let choice = Choice::handed_over(&job.catalog, &to, job.held.lease.record().route);
    let next = carry_out(worker, job.held, &job.rules, &job.catalog, &choice).await?;
    if next.profile.is_none() {
        note_failed_load(worker, job.held).await;
    }
    let received = Received { from: from.clone(), to: to.clone(), hand_off: given, switched: false };
    let passed = passed_on(job, &record, received, head.clone());
    let (percent, spend, session) = (passed.percent, passed.spend, passed.session.clone());
    worker.forge.ledger().transition(&job.held.lease, Transition::HandOff(Box::new(passed))).await?;
    tracing::info!(
        issue = job.number().0,
        from = from.as_str(),
        to = to.as_str(),
        agent = next.name,
        number = number(&record),
        percent,
        usd_micros = spend.usd_micros,
        seconds = spend.wall_seconds,
        duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "profile `{from}` handed off issue {} to `{to}`",
        job.number()
    );
    note_time(job, &from, &to, began.elapsed());
    let next = ActiveProfile {
        loaded: next,
        run: session.clone(),
        session,
        took_over_at: Some(head),
        candidate: active.candidate,
    };
    next.report(worker, job.held, percent);
    job.active.begin(next);
    Ok(Passed::On)
}

/// Hands an investigation's conclusion off to the profile that continues; `false` if that is rejected.
pub(super) async fn hand_on(worker: &Worker, job: &Job<'_>, to: &ProfileName, report: &str) -> Result<bool, WorkError> {
    let (began, active, record, issue) = (Instant::now(), job.active.now(), job.held.lease.record(), job.number());
    let Some(profile) = &active.loaded.profile else { return Ok(false) };
    let given = HandOff {
        to: to.to_string(),
        reason: "the investigation is concluded, and something is to be changed".to_owned(),
        done: "The investigation. Its report is the context.".to_owned(),
        left: next_left(report),
        context: clip(&visible(report).0, CONTEXT_MAX),
        evidence: Vec::new(),
    };
    let known: Vec<ProfileName> = targets(&job.catalog, profile).into_iter().map(|target| target.name).collect();
    let secrets = worker.forge.connection().secrets().redaction();
    if let Err(refused) = given.check(Some(&profile.name), &known, &secrets) {
        worker.progress(issue, &format!("no hand-off after the investigation: {refused}"));
        return Ok(false);
    }
    let received = Received { from: profile.name.clone(), to: to.clone(), hand_off: given, switched: false };
    let passed = passed_on(job, &record, received, job.checkout.tip().await?);
    worker.forge.ledger().transition(&job.held.lease, Transition::HandOff(Box::new(passed))).await?;
    worker.progress(issue, &format!("handing off from `{}` to `{to}`", profile.name));
    note_time(job, &profile.name, to, began.elapsed());
    Ok(true)
}

fn note_time(job: &Job<'_>, from: &ProfileName, to: &ProfileName, took: Duration) {
    METRICS.profiles.handed_over(from.as_str(), to.as_str(), took);
    job.held.durations().hand_offs.push(took);
}

/// A hand-off with the work at `head`, as the ledger takes it.
fn passed_on(job: &Job<'_>, record: &Record, received: Received, head: Sha) -> PassedOn {
    let percent = likely(&job.catalog, &received.hand_off, &received.to);
    let spend = record.spend.since(record.chain.billed().unwrap_or(job.limits.began));
    let session = RunId(format!("{}-h{}", job.run, number(record)));
    PassedOn { received, percent, spend, head, session }
}

/// The number of the next hand-off in its chain, from 1.
fn number(record: &Record) -> usize {
    record.chain.chain().len() + 1
}

/// Reports the end of a chain as progress.
fn ended(worker: &Worker, job: &Job<'_>, why: &str, done: &str) -> Passed {
    let issue = job.number();
    METRICS.profiles.chain_ended();
    tracing::warn!(issue = issue.0, "hand-off rejected, keeping the work so far: {why}");
    worker.progress(issue, &format!("hand-off rejected, keeping the work so far: {why}"));
    Passed::Ended(done.to_owned())
}

/// The work of a chain whose time is over, if it passes its checks.
pub(super) async fn out_of_time(worker: &Worker, job: &Job<'_>) -> Result<Option<Box<Proven>>, WorkError> {
    let record = job.held.lease.record();
    let Some(received) = record.chain.received() else { return Ok(None) };
    if job.active.now().took_over_at.is_none() || Instant::now() < job.limits.ends {
        return Ok(None);
    }
    worker.progress(job.number(), "out of time: keeping the work so far if it passes its checks");
    let change = ChangeText::untitled(said(&received.hand_off));
    commit(worker, job, &change).await?;
    Ok(match prove(worker, job, change).await? {
        Proof::Passed(proven) => Some(proven),
        Proof::Failed(_) | Proof::Conflicted(_) | Proof::Blocked(_) => None,
    })
}

/// The agent's own description of what was done.
fn said(given: &HandOff) -> &str {
    [&given.done, &given.reason].into_iter().map(|text| text.trim()).find(|text| !text.is_empty()).unwrap_or_default()
}

/// How well the rest of the work fits the next profile, by the router, in percent.
fn likely(catalog: &Catalog, given: &HandOff, to: &ProfileName) -> Option<u8> {
    let candidates: Vec<Candidate> = catalog.profiles().map(Into::into).collect();
    let text = RoutedText { title: &given.reason, body: &given.left, labels: &[] };
    Router::new(&candidates).route(text).percent_of(to)
}
