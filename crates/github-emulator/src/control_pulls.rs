//! The operations of a test in any language on the merge queue, which GitHub's API cannot manage here, and a short way to
//! set what a ruleset requires of one branch.

use super::{
    branch_rules::BranchRules,
    call::{Answer, Call, Reply},
    control::{admin, named},
    forge::Forge,
    merge_queue::RemovalReason,
    refusal::Refusal,
    route::{Route, post, put},
    rulesets::Ruleset,
    state::{EventKind, IssueState},
};
use crate::names::{Login, RepoName};

pub(super) const ROUTES: &[Route] = &[
    put("/_forge/rulesets", ruleset).body(&["repository", "branch", "rules"]),
    post("/_forge/merge-queue", queue).body(&["repository", "number", "action", "reason"]),
];

/// A ruleset's requirements of a branch; without rules it requires nothing.
fn ruleset(call: &Call) -> Answer {
    admin(call)?;
    let (name, sent) = named(call)?;
    let branch = call.fields("Ruleset")?.required("branch")?;
    let rules: Option<BranchRules> =
        serde_json::from_value(sent["rules"].clone()).map_err(|error| Refusal::unprocessable(error.to_string()))?;
    set_ruleset(&call.forge, &name, &branch, rules)?;
    Ok(Reply::empty())
}

/// Sets what the ruleset with a branch's name requires of it.
///
/// # Errors
/// 422 if there is no such repository.
pub(super) fn set_ruleset(
    forge: &Forge,
    name: &RepoName,
    branch: &str,
    rules: Option<BranchRules>,
) -> Result<(), Refusal> {
    let mut state = forge.state();
    let repo = state.repositories.get_mut(name.owner(), name.name()).ok_or_else(|| absent(name))?;
    repo.rulesets.retain(|known| known.name != branch);
    repo.rulesets.extend(rules.map(|rules| Ruleset::of_branch(forge.next_id(), branch, rules, forge.now())));
    Ok(())
}

fn queue(call: &Call) -> Answer {
    admin(call)?;
    let (name, sent) = named(call)?;
    let fields = call.fields("MergeQueue")?;
    let number = fields.number("number")?.ok_or_else(|| fields.missing("number"))?;
    let kind = match fields.required("action")?.as_str() {
        "add" if sent["reason"].is_null() => EventKind::AddedToMergeQueue,
        "remove" => {
            let reason: Option<RemovalReason> =
                serde_json::from_value(sent["reason"].clone()).map_err(|_| fields.invalid("reason"))?;
            EventKind::RemovedFromMergeQueue { reason: reason.unwrap_or_default() }
        }
        "add" => return Err(fields.invalid("reason")),
        _ => return Err(fields.invalid("action")),
    };
    record(&call.forge, &name, number, call.actor()?, kind)?;
    Ok(Reply::empty())
}

/// Notes that an open pull request was added to the merge queue or removed from it.
///
/// # Errors
/// 422 if there is no such open pull request.
pub(super) fn record(
    forge: &Forge,
    name: &RepoName,
    number: u64,
    actor: &Login,
    kind: EventKind,
) -> Result<(), Refusal> {
    let (id, now) = (forge.next_id(), forge.now());
    let mut state = forge.state();
    let repo = state.repositories.get_mut(name.owner(), name.name()).ok_or_else(|| absent(name))?;
    let open = |issue: &&mut super::state::Issue| issue.pull.is_some() && issue.state == IssueState::Open;
    let issue = repo.issues.get_mut(&number).filter(open);
    let none = || Refusal::unprocessable(format!("there is no open pull request {number} in {name}"));
    issue.ok_or_else(none)?.record(id, actor, now, kind);
    Ok(())
}

fn absent(name: &RepoName) -> Refusal {
    Refusal::unprocessable(format!("there is no repository {name}"))
}
