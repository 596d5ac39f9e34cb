//! What stands on an open pull request: who said what on it, how its checks ended, and whether it still goes together with its
//! base.
//!
//! Each read is answered 304 and not counted while nothing changes, so a pull request that waits costs nothing.

use std::{collections::HashMap, sync::atomic::Ordering};

use hob_domain::{
    Actor, AskedInReview, ForgeCheck, ForgeCheckState, IssueNumber, Login, MergeState, OWN_MARK, PullFacts, PullNumber,
    Record, ReviewEvent, ReviewLog, Said, Sha, asked_in_review,
};
use hob_forge::{Comment, ForgeError, HeadCheck, Pull, ReviewVerdict};

use crate::{WorkError, Worker, authorize::authorize, commands::commands_among, found_pulls::Found};

/// What stands on the pull request now; none: it is gone.
pub(super) async fn pull_facts(
    worker: &Worker,
    number: PullNumber,
    record: &Record,
) -> Result<Option<PullFacts>, WorkError> {
    let Some(pull) = pull(worker, number, record.branch.as_deref()).await? else { return Ok(None) };
    let comments = worker.forge.comments().of(IssueNumber(number.0)).await?;
    let has_command = !commands_among(worker, record, number, &comments).await?.is_empty();
    let said = said(worker, number, &record.review, comments).await?;
    let checks = head_checks(worker, &pull.head).await?;
    let has_red = checks.iter().any(|check| check.state == ForgeCheckState::Failed);
    let on_base = if has_red { head_checks(worker, &pull.base).await? } else { Vec::new() };
    let is_red = |name: &str| on_base.iter().any(|check| check.name == name && check.state == ForgeCheckState::Failed);
    let checks = checks.into_iter().map(|check| {
        let red_on_base = check.state == ForgeCheckState::Failed && is_red(&check.name);
        ForgeCheck { name: check.name, state: check.state, red_on_base }
    });
    let (head, base, checks) = (pull.head, pull.base, checks.collect());
    Ok(Some(PullFacts { head, base, merge: pull.merge, said, checks, has_command }))
}

async fn pull(worker: &Worker, number: PullNumber, branch: Option<&str>) -> Result<Option<Pull>, WorkError> {
    let tip = async |name: &str| worker.forge.repository().tip(name.to_owned()).await.map(|branch| branch.sha);
    // One list for all pull requests.
    let heads = worker.forge.repository().tips(&worker.settings.workspace.branch_prefix).await.unwrap_or_default();
    if let (Some(found), Some(branch)) = (worker.found_pulls.get(number), branch)
        && found.pull.merge != MergeState::Unknown
        && heads.get(branch) == Some(&found.pull.head)
        && tip(&found.pull.base_name).await.is_ok_and(|now| now == found.tip)
    {
        return Ok(Some(found.pull.clone()));
    }
    let Some(pull) = worker.forge.pulls().get(number).await? else { return Ok(None) };
    if let Ok(tip) = tip(&pull.base_name).await {
        worker.found_pulls.note(Found { pull: pull.clone(), tip });
    }
    Ok(Some(pull))
}

/// What authorized accounts said that no round has handled yet.
async fn said(
    worker: &Worker,
    number: PullNumber,
    log: &ReviewLog,
    comments: Vec<Comment>,
) -> Result<Vec<Said>, WorkError> {
    let mut found: Vec<(Option<Actor>, Said)> = Vec::new();
    for review in worker.forge.reviews(number).all().await? {
        if review.verdict == ReviewVerdict::ChangesRequested {
            found.push((review.author, Said { event: ReviewEvent::Review(review.id), at: review.submitted_at }));
        }
    }
    for remark in worker.forge.reviews(number).remarks().await? {
        if !remark.body.starts_with(OWN_MARK) {
            found.push((remark.author, Said { event: ReviewEvent::Line(remark.id), at: remark.created_at }));
        }
    }
    for comment in comments.into_iter().filter(is_request) {
        found.push((comment.author, Said { event: ReviewEvent::Comment(comment.id.0), at: comment.created_at }));
    }
    let mut judged: HashMap<Login, bool> = HashMap::new();
    let mut said = Vec::new();
    for (author, one) in found {
        let Some(author) = author.filter(|_| !log.handled.contains(&one.event)) else { continue };
        let counts = match judged.get(&author.login) {
            Some(counts) => *counts,
            None => {
                let is_own = worker.own_login().await?.is_some_and(|own| author.login.is(own));
                let counts = !is_own && authorize(worker, &author).await?.is_ok();
                judged.insert(author.login, counts);
                counts
            }
        };
        if counts {
            said.push(one);
        }
    }
    Ok(said)
}

/// The comments in the pull request's conversation that ask for work on it.
pub(super) async fn requests(worker: &Worker, number: PullNumber) -> Result<Vec<Comment>, WorkError> {
    let comments = worker.forge.comments().of(IssueNumber(number.0)).await?;
    Ok(comments.into_iter().filter(is_request).collect())
}

fn is_request(comment: &Comment) -> bool {
    asked_in_review(&comment.body) == Some(AskedInReview::Work)
}

/// The forge's checks on a commit; none where the token may not see them, which is asked once.
pub(super) async fn head_checks(worker: &Worker, sha: &Sha) -> Result<Vec<HeadCheck>, WorkError> {
    if worker.checks_are_hidden.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    match worker.forge.head_checks(sha).all().await {
        Err(error @ ForgeError::Forbidden { .. }) => {
            worker.checks_are_hidden.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "no round begins for checks of the forge that fail: {error}");
            Ok(Vec::new())
        }
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        found => Ok(found?),
    }
}
