//! Commands take effect under a lease: each one in the ledger, before its comment gets the receipt.

use hob_config::{AdapterName, REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{Command, FollowRules, Following, Message, Note, follow};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker, agent::agent_names, held_issue::HeldIssue, inbox::receipts::give_receipts,
    profiles::known_profiles,
};

/// The rules for following these commands. `explanation` says what the state of the issue is.
pub(crate) async fn follow_rules(
    worker: &Worker,
    base: &BaseBranch,
    commands: &[Message],
    explanation: String,
) -> Result<FollowRules, WorkError> {
    let asked: Vec<String> = commands.iter().filter_map(asked_agent).collect();
    let ready_agents = AdapterName::ALL.map(|name| name.as_str().to_owned()).to_vec();
    let (budgets, plain_comments) = (worker.settings.budgets(), worker.settings.review.plain_comments);
    let mut rules = FollowRules { ready_agents, budgets, explanation, plain_comments, ..FollowRules::default() };
    if !asked.is_empty() {
        let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base.sha).await?.unwrap_or_default();
        // Problems in the file are reported at the next attempt.
        rules.agents = agent_names(worker, &RepositorySettings::parse(&text).unwrap_or_default());
        let is_agent = |name: &str| rules.agents.iter().chain(&rules.ready_agents).any(|known| known == name);
        let unknown: Vec<&str> = asked.iter().map(String::as_str).filter(|name| !is_agent(name)).collect();
        let known = known_profiles(worker, &base.sha, &unknown).await?;
        (rules.profiles, rules.damaged) = (known.names, known.damaged);
    }
    Ok(rules)
}

/// The agent or profile that a command names.
fn asked_agent(message: &Message) -> Option<String> {
    if let Some(Command::Agent(name)) = message.command() { Some(name) } else { None }
}

/// Follows commands one after the other, as long as the work continues: the caller handles requests to pause or end it.
/// They were found when the issue had `comments` comments.
pub(crate) async fn take_effect(
    worker: &Worker,
    held: &HeldIssue,
    commands: &[Message],
    rules: &FollowRules,
    comments: u64,
) -> Result<(), WorkError> {
    for (at, message) in commands.iter().enumerate() {
        let record = held.lease.record();
        if record.request().is_some() {
            // What was written after it is looked for again, also where no look has been noted before.
            let unread = commands[at..].iter().filter(|left| left.pull.is_none()).count() as u64;
            held.lease.note(Note::Looked(comments.saturating_sub(unread))).await;
            return give_receipts(worker, &held.lease, &held.receipts).await;
        }
        match follow(&record, message, rules, worker.forge.now()) {
            Following::Command(transition) => {
                worker.forge.ledger().transition(&held.lease, *transition).await?;
            }
            // It was followed when the lease was acquired.
            Following::Nothing
            | Following::Round
            | Following::Answer { .. }
            | Following::End(_)
            | Following::Refused(_) => {}
        }
    }
    // Not before, so that a worker that takes over looks for the others.
    held.lease.note(Note::Looked(comments)).await;
    give_receipts(worker, &held.lease, &held.receipts).await
}
