//! The brief of a round in review: what people wrote on the pull request, and which checks failed.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use hob_domain::{ForgeCheckState, OWN_MARK, Record, ReviewEvent, SEEN_MAX, Sha, asked_work};
use hob_forge::{ForgeError, HeadCheck, Issue, JobFailure, LineRemark};
use hob_words::{FailedForgeCheck, LineComment, ReviewBrief, ThreadBrief};

use crate::{
    WorkError, Worker,
    held_issue::HeldIssue,
    inbox::{Conversation, Inbox},
    pull_facts::head_checks,
};

/// What people said, as an attempt reads it. Reads can lag: if a list is not found or lacks what the round under way is about, all of
/// them are read anew, and what is still missing then was deleted.
pub(super) async fn conversation(worker: &Worker, record: &Record, issue: &Issue) -> Result<Conversation, ForgeError> {
    let first = Conversation::on(record.pull.number);
    Ok(match shows_round(worker, &first, record, issue).await {
        Ok(true) => first,
        Err(error) if !error.is_not_found() => return Err(error),
        Ok(false) | Err(_) => Conversation::on(record.pull.number),
    })
}

/// Whether the lists have all that people said of the round under way.
async fn shows_round(
    worker: &Worker,
    conversation: &Conversation,
    record: &Record,
    issue: &Issue,
) -> Result<bool, ForgeError> {
    for event in &record.review.round {
        let is_there = match event {
            ReviewEvent::Review(id) => conversation.reviews(worker).await?.iter().any(|review| review.id == *id),
            ReviewEvent::Line(id) => conversation.remarks(worker).await?.iter().any(|remark| remark.id == *id),
            ReviewEvent::Comment(id) => {
                conversation.on_pull(worker).await?.iter().any(|comment| comment.id.0 == *id)
                    || conversation.on_issue(worker, issue, None).await?.iter().any(|comment| comment.id.0 == *id)
            }
            ReviewEvent::Check { .. }
            | ReviewEvent::Conflict { .. }
            | ReviewEvent::Behind { .. }
            | ReviewEvent::Ejected(_) => true,
        };
        if !is_there {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What people said in reviews of the round under way, and have no reaction to yet, by the forge's ids for GraphQL.
async fn unseen(inbox: &Inbox<'_>) -> Result<Vec<String>, ForgeError> {
    let Inbox { worker, conversation, record, .. } = *inbox;
    if record.pull.number.is_none() {
        return Ok(Vec::new());
    }
    let (events, mut nodes) = (&record.review.round, Vec::new());
    // What came while all jobs were busy has its reaction.
    let has_taken = |event: &ReviewEvent| event.said_in_review().is_some_and(|said| record.commands.has_taken(said));
    let is_unseen = |event: &ReviewEvent| events.contains(event) && !has_taken(event);
    if events.iter().any(|event| matches!(event, ReviewEvent::Review(_))) {
        let reviews = conversation.reviews(worker).await?.iter();
        let of_round = reviews.filter(|review| is_unseen(&ReviewEvent::Review(review.id)));
        nodes.extend(of_round.map(|review| review.node.clone()));
    }
    if events.iter().any(|event| matches!(event, ReviewEvent::Line(_))) {
        let remarks = conversation.remarks(worker).await?.iter();
        let of_round = remarks.filter(|remark| is_unseen(&ReviewEvent::Line(remark.id)));
        nodes.extend(of_round.map(|remark| remark.node.clone()));
    }
    nodes.retain(|node| !node.is_empty());
    nodes.truncate(SEEN_MAX);
    Ok(nodes)
}

/// Notes what the round under way is about, to show people that it was seen; returns its brief, which is empty if there is none.
pub(super) async fn begin_round(inbox: &Inbox<'_>, held: &HeldIssue) -> Result<ReviewBrief, WorkError> {
    *held.unseen.lock() = unseen(inbox).await?;
    review_brief(inbox, &held.issue).await
}

/// The brief of the round under way, from its pull request's current state; empty if none is under way.
async fn review_brief(inbox: &Inbox<'_>, issue: &Issue) -> Result<ReviewBrief, WorkError> {
    let Inbox { worker, conversation, record, .. } = *inbox;
    if record.pull.number.is_none() || !record.review.is_under_way() {
        return Ok(ReviewBrief::default());
    }
    let events = &record.review.round;
    let of = |kind: fn(&ReviewEvent) -> bool| events.iter().any(kind);
    let mut brief = ReviewBrief::default();
    if of(|event| matches!(event, ReviewEvent::Review(_))) {
        for review in conversation.reviews(worker).await? {
            let is_of_round = review.asks_for_work() && events.contains(&ReviewEvent::Review(review.id));
            if let Some(author) = review.author.as_ref().filter(|_| is_of_round) {
                brief.reviews.push((review.id, author.login.clone(), review.body.clone()));
            }
        }
    }
    if of(|event| matches!(event, ReviewEvent::Comment(_))) {
        for said in inbox.on_pull().await? {
            let (id, is_of_round) = (said.comment.0, events.contains(&ReviewEvent::Comment(said.comment.0)));
            let Some(words) = asked_work(&said.body).filter(|_| is_of_round) else { continue };
            // An edited one asks for nothing, as with commands: another account may have changed its words.
            if !conversation.is_edited(worker, said.comment.into()).await? {
                brief.comments.push((id, said.author.login.clone(), words.to_owned()));
            }
        }
        // Also those that an earlier attempt gave to its agent: it may have ended before the words had an effect.
        for said in inbox.for_brief(issue).await? {
            if events.contains(&ReviewEvent::Comment(said.comment.0)) {
                brief.comments.push((said.comment.0, said.author.login, said.body));
            }
        }
    }
    if of(|event| matches!(event, ReviewEvent::Line(_))) {
        brief.threads = threads(inbox, events).await?;
    }
    brief.checks = failed_checks(worker, events).await?;
    brief.is_ejected = of(|event| matches!(event, ReviewEvent::Ejected(_)));
    Ok(brief)
}

/// The threads of the events, with the comments of authorized accounts and Hob.
async fn threads(inbox: &Inbox<'_>, events: &[ReviewEvent]) -> Result<Vec<ThreadBrief>, WorkError> {
    let worker = inbox.worker;
    let mut threads: BTreeMap<u64, Vec<&LineRemark>> = BTreeMap::new();
    for remark in inbox.conversation.remarks(worker).await? {
        threads.entry(remark.first()).or_default().push(remark);
    }
    let is_of_round = |remark: &LineRemark| events.contains(&ReviewEvent::Line(remark.id));
    let mut briefs = Vec::new();
    for (first, remarks) in threads {
        let Some(newest) = remarks.iter().filter(|remark| is_of_round(remark)).map(|remark| remark.id).max() else {
            continue;
        };
        let (mut path, mut line, mut hunk, mut comments) = (String::new(), None, String::new(), Vec::new());
        for remark in remarks {
            if remark.thread.is_none() || path.is_empty() {
                (path, line, hunk) = (remark.path.clone(), remark.line, remark.hunk.clone());
            }
            let Some(author) = &remark.author else { continue };
            let is_own = worker.own_login().await?.is_some_and(|own| author.login.is(&own));
            if is_own || inbox.authorizer.judge(worker, author).await?.is_granted() {
                let body = match remark.body.split_once("-->") {
                    Some((mark, said)) if is_own && mark.starts_with(OWN_MARK) => said.trim().to_owned(),
                    _ => remark.body.clone(),
                };
                comments.push(LineComment { author: author.login.clone(), body });
            }
        }
        briefs.push(ThreadBrief { first, newest, path, line, hunk, comments });
    }
    Ok(briefs)
}

/// The number of failed checks whose log or annotations are read. They may have one cause, and each costs two calls.
const READ_CLOSELY: usize = 4;

/// The forge's details of the failed checks. They are all of the head that the round began at.
async fn failed_checks(worker: &Worker, events: &[ReviewEvent]) -> Result<Vec<FailedForgeCheck>, WorkError> {
    let failed: Vec<(&Sha, &String)> = events
        .iter()
        .filter_map(|event| if let ReviewEvent::Check { head, name } = event { Some((head, name)) } else { None })
        .collect();
    let Some(head) = failed.first().map(|(head, _)| *head) else { return Ok(Vec::new()) };
    let mut checks = head_checks(worker, head).await?;
    checks.retain(|check| check.state == ForgeCheckState::Failed);
    let mut told = Vec::new();
    for (index, (_, name)) in failed.into_iter().enumerate() {
        let name = name.clone();
        let Some(check) = checks.iter().find(|check| check.name == name) else {
            told.push(FailedForgeCheck { name, step: None, log: String::new() });
            continue;
        };
        let failure = if index < READ_CLOSELY { read_closely(worker, head, check).await? } else { None };
        let JobFailure { step, log } = failure.unwrap_or_else(|| JobFailure { step: None, log: check.says.clone() });
        told.push(FailedForgeCheck { name, step, log });
    }
    Ok(told)
}

/// The log of a failed job, or another check's annotations of lines; `None` if there is neither.
async fn read_closely(worker: &Worker, head: &Sha, check: &HeadCheck) -> Result<Option<JobFailure>, WorkError> {
    let Some(run) = check.run else { return Ok(None) };
    if check.is_job && !worker.memory.logs_are_hidden.load(Ordering::Relaxed) {
        match worker.forge.failed_job(run).failure().await {
            Ok(failure) if !failure.log.trim().is_empty() => return Ok(Some(failure)),
            Ok(_empty) => {}
            Err(error) => {
                let is_hidden = matches!(error, ForgeError::Forbidden { .. });
                worker.memory.logs_are_hidden.fetch_or(is_hidden, Ordering::Relaxed);
                tracing::warn!(check = check.name, %error, "the agent does not get the log of a failed job: {error}");
            }
        }
    }
    if check.annotations == 0 {
        return Ok(None);
    }
    let lines = worker.forge.head_checks(head).annotations(run).await?;
    let log = [check.says.clone(), lines.join("\n")].join("\n\n").trim().to_owned();
    Ok(Some(JobFailure { step: None, log }))
}
