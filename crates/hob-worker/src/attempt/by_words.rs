//! An agent that people name in plain words, in an answer or a review: it is chosen as by `/hob agent`.

use hob_config::RepositorySettings;
use hob_domain::{ChosenAgent, Login, Sha, Timestamp, Transition, named_in_words};
use hob_words::ReviewBrief;

use crate::{
    WorkError, Worker,
    agent::{agent_names, is_agent},
    authorize::AuthorizedComment,
    held_issue::HeldIssue,
    profiles::known_profiles,
};

/// Words that name an agent.
struct Worded {
    name: String,
    by: Login,
    at: Timestamp,
}

/// Chooses the agent or profile that the newest such words name, if it exists and no newer command chose another.
/// Everything else that people say is left to the router.
pub(super) async fn choose_by_words(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    base: &Sha,
    comments: &[AuthorizedComment],
    review: &ReviewBrief,
) -> Result<(), WorkError> {
    let record = held.lease.record();
    let chosen = record.commands.agent.as_ref().map(|agent| agent.at);
    let mut worded = in_reviews(worker, held, review).await?;
    for AuthorizedComment { author, comment } in comments {
        let Some(name) = named_in_words(&comment.body) else { continue };
        // An edited comment does not show who wrote which part of it.
        if !worker.forge.comments().is_edited(comment).await? {
            worded.push(Worded { name: name.to_owned(), by: author.clone(), at: comment.created_at });
        }
    }
    worded.retain(|one| one.at >= record.commands_since() && chosen.is_none_or(|chosen| one.at > chosen));
    worded.sort_by_key(|one| std::cmp::Reverse(one.at));
    for Worded { name, by, at } in worded {
        let Some(name) = known(worker, rules, base, name).await? else { continue };
        worker.progress(held.issue.number, &format!("{by} chose `{name}` in plain words"));
        let choice = Transition::ChooseAgent(ChosenAgent { name, by, at });
        worker.forge.ledger().transition(&held.lease, choice).await?;
        return Ok(());
    }
    Ok(())
}

/// The words of the round's reviews. That they are by authorized people was seen when the round began.
async fn in_reviews(worker: &Worker, held: &HeldIssue, brief: &ReviewBrief) -> Result<Vec<Worded>, WorkError> {
    let named: Vec<(u64, &str)> =
        brief.reviews.iter().filter_map(|(id, _, body)| Some((*id, named_in_words(body)?))).collect();
    let Some(pull) = held.lease.record().pull_request.filter(|_| !named.is_empty()) else { return Ok(Vec::new()) };
    let reviews = worker.forge.reviews(pull).all().await?;
    let worded = reviews.into_iter().filter_map(|review| {
        let (_, name) = named.iter().find(|(id, _)| *id == review.id)?;
        Some(Worded { name: (*name).to_owned(), by: review.author?.login, at: review.submitted_at })
    });
    Ok(worded.collect())
}

/// The exact name of the agent or profile; `None` if there is neither.
async fn known(
    worker: &Worker,
    rules: &RepositorySettings,
    base: &Sha,
    name: String,
) -> Result<Option<String>, WorkError> {
    let agents = agent_names(worker, rules);
    if is_agent(&agents, &name) {
        return Ok(Some(name));
    }
    let name = name.to_lowercase();
    if is_agent(&agents, &name) {
        return Ok(Some(name));
    }
    let known = known_profiles(worker, base, &[&name]).await?;
    let is_there = known.names.contains(&name) || known.damaged.iter().any(|(damaged, _)| *damaged == name);
    Ok(is_there.then_some(name))
}
