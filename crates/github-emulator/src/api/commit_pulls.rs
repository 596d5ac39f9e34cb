//! The pull requests of a commit.

use git2::{Oid, Repository as Git};

use super::{
    super::{
        call::{Answer, Call},
        git::walk,
        page::paged,
        refusal::Refusal,
        state::IssueState,
        users::Role,
        wire,
    },
    compare::commit_of,
    pulls::sides,
};

/// The merged pull request of a commit on the default branch, or the open ones that have the commit.
/// <https://docs.github.com/rest/commits/commits#list-pull-requests-associated-with-a-commit>
///
/// After a merge by rebase, only the last commit of the branch is known to be the pull request's.
pub(super) fn list(call: &Call) -> Answer {
    let git = call.read_git()?;
    let absent = || Refusal::unprocessable(format!("No commit found for SHA: {}", call.part("sha")));
    let commit = commit_of(&git, call.part("sha")).map_err(|_| absent())?;
    let (default, candidates) = {
        let state = call.state();
        let repo = call.repository(&state, Role::Read)?;
        let pulls = repo.issues.values().filter_map(|issue| Some((issue, issue.pull.as_ref()?)));
        let merged = |sha: Option<&str>| sha.map(Oid::from_str).transpose();
        let all = pulls.map(|(issue, pull)| {
            let sha = merged(pull.merged.as_ref().map(|merged| merged.sha.as_str()))?;
            Ok((issue.number, sha, issue.state))
        });
        (repo.default_branch.clone(), all.collect::<Result<Vec<_>, git2::Error>>()?)
    };
    let tip = git.refname_to_id(&format!("refs/heads/{default}")).ok();
    let is_in = tip.is_some_and(|tip| tip == commit || git.graph_descendant_of(tip, commit).unwrap_or(false));
    let mut numbers = Vec::new();
    for (number, merged, state) in candidates {
        let counts = if is_in { merged.is_some() } else { state == IssueState::Open };
        if counts && (merged == Some(commit) || has(call, &git, number, commit)?) {
            numbers.push(number);
        }
    }
    let state = call.state();
    let view = call.view(&state)?;
    let found = numbers.iter().filter_map(|number| view.repo.issues.get(number)).collect();
    Ok(paged(call, found, |issue| wire::pull(view, issue)))
}

/// Whether the commit is one of the pull request's own.
fn has(call: &Call, git: &Git, number: u64, commit: Oid) -> Result<bool, Refusal> {
    let (base, head) = sides(&call.with_part("number", number.to_string()))?;
    Ok(walk(git, Some(base), head)?.contains(&commit))
}
