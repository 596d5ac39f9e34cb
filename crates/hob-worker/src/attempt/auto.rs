//! The agent that `agent = "auto"` chooses: its candidates are those that could run here, and what came of earlier work is what polls
//! read of the ledgers.

use hob_agent::Machine;
use hob_config::RepositorySettings;
use hob_domain::{AutoChoice, AutoIssue, Brings, Choice, Claims, IssueKind, Record, WorkedBy, auto_agent};

use crate::{
    Worker,
    agent::{agents_for_auto, build_agent, counts_money, is_auto},
};

/// The agent for the issue. `None` if a person, the process or the repository names one, or if the work does not bring a change: nobody
/// merges a comment. An earlier choice stays as long as its agent could run.
pub(super) async fn auto(
    worker: &Worker,
    rules: &RepositorySettings,
    record: &Record,
    claims: &Claims,
    choice: &Choice,
) -> Option<AutoChoice> {
    if !is_auto(worker, rules) || claims.name_an_agent() || choice.brings != Brings::Change {
        return None;
    }
    let agents = usable(worker, rules).await;
    let before = record.work.auto.clone();
    if let Some(before) = before.filter(|before| agents.iter().any(|by| by.agent == before.agent)) {
        return Some(before);
    }
    let route = choice.route.as_ref().or(record.route.as_ref());
    let kind = IssueKind {
        profile: route.and_then(|route| route.profile.as_ref()),
        complexity: route.map_or(0, |route| route.complexity),
    };
    let (repo, issue) = (worker.forge.repo(), record.issue);
    auto_agent(&agents, &worker.memory.trials.others(issue), AutoIssue { repo, issue, kind })
}

/// The agents that could run on this machine.
async fn usable(worker: &Worker, rules: &RepositorySettings) -> Vec<WorkedBy> {
    let costs_count = counts_money(&worker.settings);
    let machine = Machine { environment: &worker.children.environment, sandbox: &worker.children.sandbox, costs_count };
    let mut usable = Vec::new();
    for agent in agents_for_auto(worker, rules) {
        let Ok(built) = build_agent(worker, rules, agent.clone()).await else { continue };
        match built.ready(&machine).await {
            Ok(()) => usable.push(WorkedBy { agent, model: built.model(0) }),
            Err(error) => tracing::debug!(agent, %error, "`agent = \"auto\"` leaves the agent `{agent}` out: {error}"),
        }
    }
    usable
}
