//! The end of a round in review: the work is pushed, and each thread, review and request is answered once.
//!
//! # Guarantees
//! The answers are in the ledger before the first of them is posted, and each begins with a mark that names what it
//! answers: a worker that takes the round over posts only the missing ones.

use futures_util::future::BoxFuture;
use hob_config::Limits;
use hob_domain::{
    AccountKind, BlockReason, ChangeText, EventAnswer, IssueNumber, Login, Proof, ProofStatus, PullNumber, ReviewEvent,
    ReviewLog, Reviewers, RoundKind, Sha, Transition, events_in_words,
};
use hob_words::{answered_by, round_answers, status_line, told_first, undone_first};

use hob_forge::{ForgeError, Look, once};

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
        say(worker, job, look).await?;
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
    say(worker, job, Look::First).await?;
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
    } else {
        ask_again(worker, job, pull).await;
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

/// Posts the answers in the ledger, each once.
async fn say(worker: &Worker, job: &Job<'_>, look: Look) -> Result<(), WorkError> {
    let (lease, record) = (&job.held.lease, job.held.lease.record());
    let Some(pull) = record.pull.number else { return Ok(()) };
    worker.activity(job.number(), &format!("answering on pull request {pull}"));
    let answers_there = || async {
        let own = worker.forge.comments().own_account(lease).await?;
        own_answers(worker, own.as_ref(), pull).await
    };
    let said = if look == Look::First { answers_there().await? } else { Vec::new() };
    for answer in record.review.answers.iter().filter(|answer| !has_answer(&said, answer)) {
        let find = || -> BoxFuture<'_, _> {
            Box::pin(async { Ok(has_answer(&answers_there().await?, answer).then_some(())) })
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
        match once(&worker.forge, lease, Look::AfterFailure, find, write).await {
            // The comment that it answers was deleted.
            Err(error) if error.is_not_found() => {}
            written => written?,
        }
    }
    resolve(worker, job, pull).await;
    Ok(())
}

/// Resolves the threads that were followed. Others stay open, and if it fails, people resolve them.
async fn resolve(worker: &Worker, job: &Job<'_>, pull: PullNumber) {
    if !worker.settings.review.resolve {
        return;
    }
    let lease = &job.held.lease;
    let answers = lease.record().review.answers;
    let first: Vec<u64> = answers.iter().filter(|answer| answer.resolves).filter_map(|answer| answer.thread).collect();
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

/// Asks the reviewers who requested changes for another review. Nothing depends on it.
async fn ask_again(worker: &Worker, job: &Job<'_>, pull: PullNumber) {
    let events = job.held.lease.record().review.round;
    if !events.iter().any(|event| matches!(event, ReviewEvent::Review(_))) {
        return;
    }
    let asked = async {
        let reviews = worker.forge.reviews(pull).all().await?;
        let of_round = reviews.into_iter().filter(|review| events.contains(&ReviewEvent::Review(review.id)));
        let people = of_round.filter_map(|review| review.author).filter(|author| author.kind == AccountKind::User);
        let mut reviewers: Vec<Login> = people.map(|author| author.login).collect();
        reviewers.dedup();
        match reviewers.is_empty() {
            true => Ok(()),
            false => {
                let reviewers = Reviewers { users: reviewers, teams: Vec::new() };
                worker.forge.reviews(pull).ask(&job.held.lease, &reviewers).await
            }
        }
    };
    if let Err(error) = asked.await {
        tracing::warn!(issue = job.number().0, %error, "no new review was requested: {error}");
    }
}
