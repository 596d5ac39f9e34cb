//! The end of a round in review: the work is pushed, and each thread, review and request is answered once.
//!
//! # Guarantees
//! The answers are in the ledger before the first of them is posted, and each begins with a mark that names what it
//! answers: a worker that takes the round over posts only the missing ones.

use futures_util::future::BoxFuture;
use hob_config::Limits;
use hob_domain::{
    AccountKind, BlockReason, ChangeText, EventAnswer, FailureClass, IssueNumber, Login, Proof, ProofStatus,
    PullNumber, ReviewEvent, ReviewLog, Reviewers, RoundKind, Sha, Transition, events_in_words,
};
use hob_words::{answered_by, round_answers, status_line, told_first, undone_first};

use hob_forge::{Ended, ForgeError, HeldLease, Look, RoundEnd, once};

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        branch::push_new, end::AttemptEnd, job::Job, merges_itself::may_merge_itself, proof::Proven,
        statement::proof_of,
    },
    auto_merge::{MergesItself, set_auto_merge},
    inbox::Conversation,
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

/// Pushes the round's work and reports it.
pub(super) async fn publish_round(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<AttemptEnd, WorkError> {
    let lease = &job.held.lease;
    let Some(pull) = lease.record().pull.number else { return Ok(AttemptEnd::Withdrawn) };
    push_new(worker, job, &proven.head).await?;
    let (shown, tally) = (&proven.shown, proven.evidence.tally());
    let status = ProofStatus::of(proven.head.clone(), shown, tally, &status_line(shown));
    // What people asked for is theirs to see.
    let asked = lease.record().review.kinds().any(|kind| kind == RoundKind::Review);
    let unattended = !asked && may_merge_itself(worker, job, proven, &proven.notable);
    let wanted = unattended.then_some(MergesItself { head: &proven.head, base: &job.base.branch });
    set_auto_merge(worker, lease, pull, wanted).await;
    Box::pin(set_proof(worker, lease, pull, status)).await?;
    let proof = proof_of(worker, job, proven, pull).await?;
    let has_changed = lease.record().review.from.as_ref() != Some(&proven.head);
    let change = if has_changed { proven.change.clone() } else { what_is_new(job, &proven.change).await? };
    let commit = Some(&proven.head).filter(|_| has_changed);
    let first = undone_first(&proven.notable);
    let mut answers = round_answers(&job.review, &change, commit, &first);
    if answers.is_empty() {
        let round = lease.record().review.round;
        answers.extend(round.first().and_then(|event| told_first(event, &change, commit, &first)));
    }
    let head = proven.head.clone();
    if !answers.is_empty() {
        // An earlier worker may have died or failed in the middle of them, and a person said to go on.
        let look = if lease.record().review.may_be_said { Look::First } else { Look::AfterFailure };
        let answer = Transition::Answer { head: head.clone(), proof: Some(proof.clone()), answers };
        worker.forge.ledger().transition(lease, answer).await?;
        say(worker, job, look, &head).await?;
    } else {
        ask(worker, job, pull, &reviewers_of(worker, job, pull, &head).await).await;
    }
    end_round(worker, job, head, Some(proof), &proven.change.summary).await
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

/// Answers for a round whose work was pushed before its worker died.
pub(super) async fn resume_answers(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let record = job.held.lease.record();
    let Some(head) = record.work.head.or_else(|| job.pushed()) else {
        return Ok(AttemptEnd::Blocked(BlockReason::NoChanges { said: String::new() }));
    };
    say(worker, job, Look::First, &head).await?;
    end_round(worker, job, head, None, "").await
}

async fn end_round(
    worker: &Worker,
    job: &Job<'_>,
    head: Sha,
    proof: Option<Box<Proof>>,
    said: &str,
) -> Result<AttemptEnd, WorkError> {
    let record = job.held.lease.record();
    let Some(pull) = record.pull.number else { return Ok(AttemptEnd::Withdrawn) };
    let is_unchanged = record.review.from.as_ref() == Some(&head);
    if is_unchanged {
        worker.progress(job.number(), "the round changed no file");
    }
    // The same work fails in the same way.
    if is_unchanged && record.review.kinds().any(|kind| kind != RoundKind::Review) {
        let wanted = events_in_words(&record.review.round);
        return Ok(AttemptEnd::Blocked(BlockReason::RoundChangedNothing { wanted, said: said.to_owned() }));
    }
    let url = format!("{}/pull/{pull}", worker.repo_url());
    worker.emit(&WorkEvent::Published { issue: job.number(), pull, url, spend: record.spend });
    Ok(AttemptEnd::Published { head, pull, proof })
}

/// Posts the answers in the ledger, each once, resolves the threads that were followed, and asks for another review of `head`.
async fn say(worker: &Worker, job: &Job<'_>, look: Look, head: &Sha) -> Result<(), WorkError> {
    let (lease, record) = (&job.held.lease, job.held.lease.record());
    let Some(pull) = record.pull.number else { return Ok(()) };
    worker.activity(job.number(), &format!("answering on pull request {pull}"));
    let said = if look == Look::First { answers_there(worker, lease, pull).await? } else { Vec::new() };
    let left: Vec<&EventAnswer> = record.review.answers.iter().filter(|answer| !has_answer(&said, answer)).collect();
    let (replies, comments): (Vec<_>, Vec<_>) = left.into_iter().partition(|answer| answer.thread.is_some());
    for answer in replies {
        post(worker, lease, answer, Look::AfterFailure).await?;
    }
    let reviewers = reviewers_of(worker, job, pull, head).await;
    let ended = match look {
        Look::AfterFailure => end_at_once(worker, job, pull, &comments, &reviewers).await?,
        Look::First => None,
    };
    let Ended { commented, resolved, asked } = ended.unwrap_or_default();
    if !commented {
        // What was sent may have been made in part.
        let look = if ended.is_some() { Look::First } else { Look::AfterFailure };
        for answer in comments {
            post(worker, lease, answer, look).await?;
        }
    }
    if !resolved {
        resolve(worker, job, pull).await;
    }
    if !asked {
        ask(worker, job, pull, &reviewers).await;
    }
    Ok(())
}

/// Posts one answer.
async fn post(worker: &Worker, lease: &HeldLease, answer: &EventAnswer, look: Look) -> Result<(), WorkError> {
    let Some(pull) = lease.record().pull.number else { return Ok(()) };
    let find = || -> BoxFuture<'_, _> {
        Box::pin(async { Ok(has_answer(&answers_there(worker, lease, pull).await?, answer).then_some(())) })
    };
    let write = || -> BoxFuture<'_, _> {
        Box::pin(async {
            match answer.thread {
                Some(first) => worker.forge.reviews(pull).reply(lease, first, &answer.text).await,
                None => {
                    let on = IssueNumber(pull.0);
                    worker.forge.comments().create_on(lease, on, &answer.text).await.map(drop)
                }
            }
        })
    };
    match once(&worker.forge, lease, look, find, write).await {
        // The comment that it answers was deleted.
        Err(error) if error.is_not_found() => Ok(()),
        written => Ok(written?),
    }
}

/// What the lease's own account said on the pull request.
async fn answers_there(worker: &Worker, lease: &HeldLease, pull: PullNumber) -> Result<Vec<String>, ForgeError> {
    let own = worker.forge.comments().own_account(lease).await?;
    own_answers(worker, own.as_ref(), pull).await
}

/// Makes all that follows the replies in one request; what of it was made. `None` if nothing was sent.
async fn end_at_once(
    worker: &Worker,
    job: &Job<'_>,
    pull: PullNumber,
    comments: &[&EventAnswer],
    reviewers: &[Login],
) -> Result<Option<Ended>, WorkError> {
    let (comments, threads): (Vec<&str>, _) =
        (comments.iter().map(|answer| answer.text.as_str()).collect(), followed(worker, job));
    // One part alone is one call, too.
    if usize::from(!threads.is_empty()) + usize::from(!reviewers.is_empty()) + comments.len() < 2 {
        return Ok(None);
    }
    let end = RoundEnd { comments: &comments, threads: &threads, reviewers };
    match worker.forge.reviews(pull).end_round(&job.held.lease, end).await {
        Ok(ended) => Ok(ended),
        Err(error) if error.class() == FailureClass::Cancelled => Err(error.into()),
        Err(error) => {
            tracing::debug!(issue = job.number().0, %error, "the round ends part by part: {error}");
            Ok(Some(Ended::default()))
        }
    }
}

/// The threads that were followed, by their first comments, if such are resolved.
fn followed(worker: &Worker, job: &Job<'_>) -> Vec<u64> {
    let answers = job.held.lease.record().review.answers;
    let resolves = |answer: &&EventAnswer| worker.settings.review.resolve && answer.resolves;
    answers.iter().filter(resolves).filter_map(|answer| answer.thread).collect()
}

/// Resolves the threads that were followed. Others stay open, and if it fails, people resolve them.
async fn resolve(worker: &Worker, job: &Job<'_>, pull: PullNumber) {
    let (lease, first) = (&job.held.lease, followed(worker, job));
    if first.is_empty() {
        return;
    }
    if let Err(error) = worker.forge.reviews(pull).resolve(lease, &first).await {
        tracing::warn!(issue = job.number().0, %error, "threads that were followed stay open: {error}");
    }
}

fn has_answer(said: &[String], answer: &EventAnswer) -> bool {
    said.iter().any(|body| answered_by(body, &answer.to))
}

/// The answers of Hob's own account on the pull request; empty if that account is unknown, because anyone can write the
/// marks.
pub(crate) async fn own_answers(
    worker: &Worker,
    own: Option<&Login>,
    pull: PullNumber,
) -> Result<Vec<String>, ForgeError> {
    let Some(own) = own else { return Ok(Vec::new()) };
    let is_own = |author: Option<&Login>| author.is_some_and(|author| author.is(own));
    let conversation = Conversation::on(Some(pull));
    let remarks = conversation.remarks(worker).await?.iter().map(|remark| (&remark.author, &remark.body));
    let comments = conversation.on_pull(worker).await?.iter().map(|comment| (&comment.author, &comment.body));
    let all = remarks.chain(comments).filter(|(author, _)| is_own(author.as_ref().map(|author| &author.login)));
    Ok(all.map(|(_, body)| body.clone()).collect())
}

/// The people who asked for changes in the round, if `head` has any. Nothing depends on it.
async fn reviewers_of(worker: &Worker, job: &Job<'_>, pull: PullNumber, head: &Sha) -> Vec<Login> {
    let review = job.held.lease.record().review;
    let is_of_round = |id| review.round.contains(&ReviewEvent::Review(id));
    let has_reviews = review.round.iter().any(|event| matches!(event, ReviewEvent::Review(_)));
    if !has_reviews || review.from.as_ref() == Some(head) {
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

/// Asks these people for another review. Nothing depends on it.
async fn ask(worker: &Worker, job: &Job<'_>, pull: PullNumber, reviewers: &[Login]) {
    if reviewers.is_empty() {
        return;
    }
    let reviewers = Reviewers { users: reviewers.to_vec(), teams: Vec::new() };
    if let Err(error) = worker.forge.reviews(pull).ask(&job.held.lease, &reviewers).await {
        tracing::warn!(issue = job.number().0, %error, "no new review was requested: {error}");
    }
}
