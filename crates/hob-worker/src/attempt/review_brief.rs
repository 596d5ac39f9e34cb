//! What a round in review is about: what people wrote on the pull request, and which checks failed.

use std::collections::BTreeMap;

use hob_domain::{
    FailedForgeCheck, ForgeCheckState, LineComment, OWN_MARK, Record, ReviewBrief, ReviewEvent, Sha, ThreadBrief,
};
use hob_forge::{HeadCheck, LineRemark, ReviewVerdict};

use crate::{
    WorkError, Worker,
    authorize::authorize,
    pull_facts::{head_checks, requests},
};

/// What the round under way is about, as its pull request has it now; nothing where none is under way.
pub(super) async fn review_brief(worker: &Worker, record: &Record) -> Result<ReviewBrief, WorkError> {
    let (Some(pull), events) = (record.pull_request.filter(|_| record.review.is_under_way()), &record.review.round)
    else {
        return Ok(ReviewBrief::default());
    };
    let of = |kind: fn(&ReviewEvent) -> bool| events.iter().any(kind);
    let mut brief = ReviewBrief::default();
    if of(|event| matches!(event, ReviewEvent::Review(_))) {
        for review in worker.forge.reviews(pull).all().await? {
            let asks = review.verdict == ReviewVerdict::ChangesRequested;
            if let Some(author) = review.author.filter(|_| asks && events.contains(&ReviewEvent::Review(review.id))) {
                brief.reviews.push((review.id, author.login, review.body));
            }
        }
    }
    if of(|event| matches!(event, ReviewEvent::Comment(_))) {
        for comment in requests(worker, pull).await? {
            let id = comment.id.0;
            if let Some(author) = comment.author.filter(|_| events.contains(&ReviewEvent::Comment(id))) {
                let said = comment.body.trim_start().split_at_checked("/hob".len()).map_or("", |(_, said)| said);
                brief.comments.push((id, author.login, said.trim().to_owned()));
            }
        }
    }
    if of(|event| matches!(event, ReviewEvent::Line(_))) {
        brief.threads = threads(worker, worker.forge.reviews(pull).remarks().await?, events).await?;
    }
    brief.checks = failed_checks(worker, events).await?;
    Ok(brief)
}

/// The threads that one of the events is in, with what authorized accounts and Hob said in them.
async fn threads(
    worker: &Worker,
    remarks: Vec<LineRemark>,
    events: &[ReviewEvent],
) -> Result<Vec<ThreadBrief>, WorkError> {
    let mut threads: BTreeMap<u64, Vec<LineRemark>> = BTreeMap::new();
    for remark in remarks {
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
            let Some(author) = remark.author else { continue };
            let is_own = worker.own_login().await?.is_some_and(|own| author.login.is(own));
            if is_own || authorize(worker, &author).await?.is_ok() {
                let body = match remark.body.split_once("-->") {
                    Some((mark, said)) if is_own && mark.starts_with(OWN_MARK) => said.trim().to_owned(),
                    _ => remark.body,
                };
                comments.push(LineComment { author: author.login, body });
            }
        }
        briefs.push(ThreadBrief { first, newest, path, line, hunk, comments });
    }
    Ok(briefs)
}

/// What the forge tells of the checks that failed. They are all of the head that the round began at.
async fn failed_checks(worker: &Worker, events: &[ReviewEvent]) -> Result<Vec<FailedForgeCheck>, WorkError> {
    let failed: Vec<(&Sha, &String)> = events
        .iter()
        .filter_map(|event| if let ReviewEvent::Check { head, name } = event { Some((head, name)) } else { None })
        .collect();
    let Some((head, _)) = failed.first() else { return Ok(Vec::new()) };
    let checks = head_checks(worker, head).await?;
    let log = |name: &String| {
        let is_it = |check: &&HeadCheck| check.name == *name && check.state == ForgeCheckState::Failed;
        checks.iter().find(is_it).map(|check| check.says.clone()).unwrap_or_default()
    };
    let told = |(_, name): (&Sha, &String)| FailedForgeCheck { name: name.clone(), step: None, log: log(name) };
    Ok(failed.into_iter().map(told).collect())
}
