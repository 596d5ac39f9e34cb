//! Auto-merge: pull requests that are merged as soon as nothing keeps them from it. GraphQL switches it on and off.

use serde_json::json;

use super::{
    super::{
        call::Call,
        merge_method::MergeMethod,
        merge_state::{MergeState, merge_state},
        refusal::Refusal,
        state::{AutoMerge, IssueState},
        users::Role,
    },
    merge::{allowed, merge},
    pulls::{measured, pull_of},
};
use crate::names::{Login, RepoName};

/// Switches it on for the pull request in the path. As on GitHub, there has to be something to wait for.
///
/// # Errors
/// 422 where it is not allowed or there is nothing to wait for, in GitHub's words.
pub(in super::super) fn switch_on(call: &Call, auto: AutoMerge, expected: Option<&str>) -> Result<(), Refusal> {
    let number = call.number("number")?;
    let standing = standing(call)?;
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Write)?;
    if !repo.merging.allow_auto_merge {
        return Err(Refusal::unprocessable("Auto merge is not allowed for this repository"));
    }
    allowed(repo, auto.method)?;
    let (issue, pull) = pull_of(call, repo)?;
    if issue.state == IssueState::Closed {
        return Err(Refusal::unprocessable("Can't enable auto-merge for this pull request."));
    }
    if expected.is_some_and(|expected| expected != pull.head_sha) {
        return Err(Refusal::unprocessable("Head branch was modified. Review and try the merge again."));
    }
    match standing {
        MergeState::Blocked | MergeState::Behind => {}
        MergeState::Unknown | MergeState::Dirty | MergeState::Draft | MergeState::Unstable | MergeState::Clean => {
            let message = format!("Pull request Pull request is in {} status", standing.name());
            return Err(Refusal::unprocessable(message));
        }
    }
    repo.auto_merges.insert(number, auto);
    Ok(())
}

/// Switches it off.
///
/// # Errors
/// 422 if it is not on.
pub(in super::super) fn switch_off(call: &Call) -> Result<(), Refusal> {
    let number = call.number("number")?;
    let mut state = call.state();
    let gone = call.repository_mut(&mut state, Role::Write)?.auto_merges.remove(&number);
    gone.map(drop).ok_or_else(|| Refusal::unprocessable("Can't disable auto-merge for this pull request."))
}

/// Merges the pull requests that wait for nothing any more. What is closed or a draft waits no longer.
pub(in super::super) fn merge_the_ready(call: &Call) {
    let waiting: Vec<Waiting> = {
        let state = call.state();
        let all = state
            .repositories
            .all()
            .flat_map(|repo| repo.auto_merges.iter().map(move |(number, auto)| (repo, number, auto)));
        all.map(|(repo, number, auto)| Waiting { repo: repo.name.clone(), number: *number, auto: auto.clone() })
            .collect()
    };
    for waiting in waiting {
        if let Err(refusal) = look_at(call, &waiting) {
            tracing::debug!("pull request {} of {} is not merged yet: {refusal}", waiting.number, waiting.repo);
        }
    }
}

struct Waiting {
    repo: RepoName,
    number: u64,
    auto: AutoMerge,
}

fn look_at(call: &Call, waiting: &Waiting) -> Result<(), Refusal> {
    let Waiting { repo, number, auto } = waiting;
    let mut call = as_account(call, &auto.by, repo).with_part("number", number.to_string());
    let is_over = {
        let state = call.state();
        let (issue, pull) = pull_of(&call, call.repository(&state, Role::Read)?)?;
        issue.state == IssueState::Closed || pull.draft
    };
    if is_over {
        return switch_off(&call);
    }
    match standing(&call)? {
        MergeState::Clean | MergeState::Unstable => {}
        MergeState::Unknown | MergeState::Dirty | MergeState::Draft | MergeState::Blocked | MergeState::Behind => {
            return Ok(());
        }
    }
    let body = json!({"merge_method": auto.method.name(), "commit_title": auto.title, "commit_message": auto.body});
    call.body = body.to_string().into();
    merge(&call)?;
    switch_off(&call)
}

/// The call as one of this account about this repository.
fn as_account(call: &Call, account: &Login, repo: &RepoName) -> Call {
    let mut call = call.with_part("owner", repo.owner()).with_part("repo", repo.name());
    (call.caller, call.grant) = (Some(account.clone()), None);
    (call.query, call.raw_query) = (std::collections::BTreeMap::new(), String::new());
    call
}

fn standing(call: &Call) -> Result<MergeState, Refusal> {
    let git = call.read_git()?;
    let (_, measured) = measured(call, &git)?;
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    Ok(merge_state(repo, &state.accounts, call.issue(repo)?, measured.fit()))
}

/// The method of this name in GraphQL's words.
pub(in super::super) fn method(name: &str) -> MergeMethod {
    // The schema admits no other.
    MergeMethod::named(&name.to_lowercase()).unwrap_or(MergeMethod::Merge)
}
