//! Following commands under a lease: each one takes effect in the ledger before its comment gets the receipt.

use hob_config::{AdapterName, REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{Asked, Command, FollowRules, GivenCommand, Note, follow};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker, agent::agent_names, held_issue::HeldIssue, profiles::known_profiles, receipts::give_receipts,
};

/// The rules for following these commands. `explanation` says what the state of the issue is.
pub(super) async fn follow_rules(
    worker: &Worker,
    base: &BaseBranch,
    given: &[GivenCommand],
    explanation: String,
) -> Result<FollowRules, WorkError> {
    let asked: Vec<&str> = given.iter().filter_map(asked_agent).collect();
    let ready_agents = AdapterName::ALL.map(|name| name.as_str().to_owned()).to_vec();
    let mut rules =
        FollowRules { ready_agents, budgets: worker.settings.limits.budgets(), explanation, ..FollowRules::default() };
    if !asked.is_empty() {
        let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base.sha).await?.unwrap_or_default();
        // Problems in the file are reported at the next attempt.
        rules.agents = agent_names(worker, &RepositorySettings::parse(&text).unwrap_or_default());
        let is_agent = |name: &&str| rules.agents.iter().chain(&rules.ready_agents).any(|known| known == name);
        let unknown: Vec<&str> = asked.into_iter().filter(|name| !is_agent(name)).collect();
        let known = known_profiles(worker, &base.sha, &unknown).await?;
        (rules.profiles, rules.damaged) = (known.names, known.damaged);
    }
    Ok(rules)
}

/// The agent or profile that a command names.
fn asked_agent(given: &GivenCommand) -> Option<&str> {
    match &given.asked {
        Asked::Known(Command::Agent(name)) => Some(name),
        Asked::Known(_) | Asked::Unknown(_) | Asked::Edited => None,
    }
}

/// Follows commands one after the other, as long as the work continues: the caller handles requests to pause or end it.
/// They were found when the issue had `comments` comments.
pub(super) async fn follow_each(
    worker: &Worker,
    held: &HeldIssue,
    given: &[GivenCommand],
    rules: &FollowRules,
    comments: u64,
) -> Result<(), WorkError> {
    for given in given {
        let record = held.lease.record();
        if record.request.is_some() {
            return give_receipts(worker, &held.lease, &held.receipts).await;
        }
        if record.commands.has_handled(given.comment) {
            continue;
        }
        let transition = follow(&record, given, rules, worker.forge.now());
        worker.forge.ledger().transition(&held.lease, transition).await?;
    }
    // Not before, so that a worker that takes over looks for the others.
    held.lease.note(Note::Looked(comments)).await;
    give_receipts(worker, &held.lease, &held.receipts).await
}
