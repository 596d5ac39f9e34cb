//! The end of a round in review: the work is pushed, and the ledger has with it what people are told.

use std::sync::atomic::Ordering;

use hob_config::Limits;
use hob_domain::{
    AccountKind, BlockReason, ChangeText, Due, EventAnswer, Login, ProofStatus, PullNumber, Record, ReviewEvent,
    ReviewLog, RoundKind, Sha, Transition, events_in_words,
};
use hob_words::{round_answers, status_line, told_first, undone_first};

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        branch::push_with, end::AttemptEnd, job::Job, merges_itself::may_merge_itself, proof::Proven,
        statement::proof_of,
    },
    auto_merge::{MergesItself, set_auto_merge},
    proof_status::set_proof,
};

/// The reason to ask a person if the pull request has used up its rounds. A base that moves is nobody's to answer: its
/// rounds wait longer each time instead.
pub(super) fn rounds_used_up(limits: &Limits, log: &ReviewLog) -> Option<BlockReason> {
    let limit = limits.rounds;
    log.kinds().filter(|kind| *kind != RoundKind::Base).find_map(|kind| {
        (log.count(kind) > limit).then(|| BlockReason::RoundsUsedUp {
            kind,
            limit,
            wanted: events_in_words(&log.round),
        })
    })
}

/// Pushes the round's work, with what it has to tell people in the ledger.
pub(super) async fn publish_round(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<AttemptEnd, WorkError> {
    let (lease, head) = (&job.held.lease, &proven.head);
    let record = lease.record();
    let Some(pull) = record.pull.number else { return Ok(AttemptEnd::Withdrawn) };
    let (shown, tally) = (&proven.shown, proven.evidence.tally());
    let status = ProofStatus::of(head.clone(), shown, tally, &status_line(shown));
    let is_unchanged = record.review.is_unchanged(head);
    if is_unchanged {
        worker.progress(job.number(), "the round changed no file");
    }
    // The same work fails in the same way.
    if is_unchanged && record.review.kinds().any(|kind| kind != RoundKind::Review) {
        Box::pin(set_proof(worker, lease, pull, status)).await?;
        let (wanted, said) = (events_in_words(&record.review.round), proven.change.summary.clone());
        return Ok(AttemptEnd::Blocked(BlockReason::RoundChangedNothing { wanted, said }));
    }
    // What people asked for is theirs to see.
    let asked = record.review.kinds().any(|kind| kind == RoundKind::Review);
    let unattended = !asked && may_merge_itself(worker, job, proven, &proven.notable);
    let wanted = unattended.then_some(MergesItself { head, base: &job.base.branch });
    if wanted.is_none() {
        set_auto_merge(worker, lease, pull, None).await;
    }
    let due = Due {
        status: Some(status),
        answers: answers(job, proven, &record).await?,
        asks: reviewers_of(worker, job, pull, head).await,
    };
    let proof = Some(proof_of(worker, job, proven, pull).await?);
    let publish = Transition::Publish { head: head.clone(), pull, proof, due: Box::new(due) };
    let why = push_with(worker, job, head, publish).await?;
    job.held.is_untold.store(true, Ordering::Relaxed);
    if wanted.is_some() {
        set_auto_merge(worker, lease, pull, wanted).await;
    }
    let url = format!("{}/pull/{pull}", worker.repo_url());
    worker.emit(&WorkEvent::Published { issue: job.number(), pull, url, spend: lease.record().spend });
    Ok(AttemptEnd::RoundEnded(why))
}

/// The answers to each thread, review and request of the round.
async fn answers(job: &Job<'_>, proven: &Proven, record: &Record) -> Result<Vec<EventAnswer>, WorkError> {
    let has_changed = !record.review.is_unchanged(&proven.head);
    let change = if has_changed { proven.change.clone() } else { what_is_new(job, &proven.change).await? };
    let commit = Some(&proven.head).filter(|_| has_changed);
    let first = undone_first(&proven.notable);
    let mut answers = round_answers(&job.review, &change, commit, &first);
    if answers.is_empty() {
        answers.extend(record.review.round.first().and_then(|event| told_first(event, &change, commit, &first)));
    }
    Ok(answers)
}

/// What the agent said, without a summary that it gave before, which answers nothing that people say now.
async fn what_is_new(job: &Job<'_>, change: &ChangeText) -> Result<ChangeText, WorkError> {
    let record = job.held.lease.record();
    let Some(published) = record.work.proof.as_ref().map(|proof| proof.head()) else {
        return Ok(change.clone());
    };
    // The commit is gone if a person replaced it.
    let before = job.checkout.message(published).await.unwrap_or_default();
    let is_old = change.repeats(&job.held.issue.title, &before);
    Ok(if is_old { ChangeText { summary: String::new(), ..change.clone() } } else { change.clone() })
}

/// The people who asked for changes in the round, if `head` has any. Nothing depends on it.
async fn reviewers_of(worker: &Worker, job: &Job<'_>, pull: PullNumber, head: &Sha) -> Vec<Login> {
    let review = job.held.lease.record().review;
    let is_of_round = |id| review.round.contains(&ReviewEvent::Review(id));
    let has_reviews = review.round.iter().any(|event| matches!(event, ReviewEvent::Review(_)));
    if !has_reviews || review.is_unchanged(head) {
        return Vec::new();
    }
    let reviews = match worker.forge.reviews(pull).all().await {
        Ok(reviews) => reviews,
        Err(error) => {
            tracing::warn!(issue = job.number().0, %error, "no new review was requested: {error}");
            return Vec::new();
        }
    };
    let authors = reviews.into_iter().filter(|review| is_of_round(review.id)).filter_map(|review| review.author);
    let mut people: Vec<Login> =
        authors.filter(|author| author.kind == AccountKind::User).map(|author| author.login).collect();
    people.dedup();
    people
}
