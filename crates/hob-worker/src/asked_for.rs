//! What a person asked for in the round under way: a question that comes up in it is asked there.

use hob_domain::{AccountKind, Actor, IssueNumber, Record, ReviewEvent, asked_work};
use hob_words::AskedFor;

use crate::{WorkError, Worker, authorize::Authorizer};

/// The first request of the round by a person whose answer counts, one with words if there is one. `None` if nobody asked
/// for the round.
pub(super) async fn asked_for(
    worker: &Worker,
    authorizer: &Authorizer,
    record: &Record,
) -> Result<Option<AskedFor>, WorkError> {
    let (Some(pull), events) = (record.pull.number, &record.review.round) else { return Ok(None) };
    let mut said: Vec<(Option<Actor>, ReviewEvent, String)> = Vec::new();
    if events.iter().any(|event| matches!(event, ReviewEvent::Review(_))) {
        let reviews = worker.forge.reviews(pull).all().await?;
        said.extend(reviews.into_iter().map(|review| (review.author, ReviewEvent::Review(review.id), review.body)));
    }
    if events.iter().any(|event| matches!(event, ReviewEvent::Comment(_))) {
        for comment in worker.forge.comments().of(IssueNumber(pull.0)).await? {
            let words = asked_work(&comment.body).unwrap_or(&comment.body).to_owned();
            said.push((comment.author, ReviewEvent::Comment(comment.id.0), words));
        }
    }
    if events.iter().any(|event| matches!(event, ReviewEvent::Line(_))) {
        let remarks = worker.forge.reviews(pull).remarks().await?;
        said.extend(remarks.into_iter().map(|remark| (remark.author, ReviewEvent::Line(remark.id), remark.body)));
    }
    let mut silent = None;
    for (author, event, body) in said {
        let Some(author) = author.filter(|author| author.kind == AccountKind::User && events.contains(&event)) else {
            continue;
        };
        if authorizer.judge(worker, &author).await?.is_granted() {
            let found = AskedFor { by: author.login, event, body };
            if !found.body.trim().is_empty() {
                return Ok(Some(found));
            }
            silent.get_or_insert(found);
        }
    }
    Ok(silent)
}
