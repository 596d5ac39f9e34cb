//! An agent that people name in plain words, in an answer or a review: it is chosen as by `/hob agent`.

use std::collections::HashMap;

use hob_config::RepositorySettings;
use hob_domain::{ChosenAgent, Login, Message, Sha, Timestamp, Transition, named_in_words};
use hob_words::ReviewBrief;

use crate::{
    WorkError, Worker,
    agent::{agent_names, is_agent},
    held_issue::HeldIssue,
    inbox::Conversation,
    profiles::known_profiles,
};

/// Words that name an agent.
struct Worded {
    name: String,
    by: Login,
    at: Timestamp,
}

/// What authorized people said before the attempt.
pub(super) struct Said<'a> {
    pub(super) conversation: &'a Conversation,
    /// On the issue.
    pub(super) comments: &'a [Message],
    /// On its pull request.
    pub(super) review: &'a ReviewBrief,
}

/// Chooses the agent or profile that the newest such words name, if it exists and no newer command chose another.
/// Everything else that people say is left to the router.
pub(super) async fn choose_by_words(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    base: &Sha,
    said: Said<'_>,
) -> Result<(), WorkError> {
    let Said { conversation, comments, review } = said;
    let record = held.lease.record();
    let chosen = record.commands.agent.as_ref().map(|agent| agent.at);
    let mut worded = in_reviews(worker, conversation, review).await?;
    for message in comments {
        let Some(name) = named_in_words(&message.body) else { continue };
        // An edited comment does not show who wrote which part of it.
        if !conversation.is_edited(worker, message.id()).await? {
            worded.push(Worded { name: name.to_owned(), by: message.author.login.clone(), at: message.at });
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

/// The words of the round's reviews and comments. That they are by authorized people was seen when the round began.
async fn in_reviews(
    worker: &Worker,
    conversation: &Conversation,
    brief: &ReviewBrief,
) -> Result<Vec<Worded>, WorkError> {
    let mut worded = Vec::new();
    let named = named(&brief.reviews);
    if !named.is_empty() {
        worded.extend(conversation.reviews(worker).await?.iter().filter_map(|review| {
            let name = (*named.get(&review.id)?).to_owned();
            Some(Worded { name, by: review.author.clone()?.login, at: review.submitted_at })
        }));
    }
    let named = self::named(&brief.comments);
    if !named.is_empty() {
        worded.extend(conversation.on_pull(worker).await?.iter().filter_map(|comment| {
            let name = (*named.get(&comment.id.0)?).to_owned();
            Some(Worded { name, by: comment.author.clone()?.login, at: comment.created_at })
        }));
    }
    Ok(worded)
}

/// The agents that these name, by the id of what names them.
fn named(said: &[(u64, Login, String)]) -> HashMap<u64, &str> {
    said.iter().filter_map(|(id, _, body)| Some((*id, named_in_words(body)?))).collect()
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
