//! Merges the base of a pull request into its branch. GitHub does it after its answer, this forge before.

use git2::Oid;
use serde_json::json;

use super::{
    super::{
        branch_guard::Tip,
        call::{Answer, Call, Reply},
        git::RefMove,
        refusal::Refusal,
        route::{Route, put},
        state::IssueState,
        users::Role,
    },
    objects::signature,
    pulls::pull_of,
    refs::{find, follow, guard_move},
};

pub(super) const ROUTES: &[Route] =
    &[put("/repos/{owner}/{repo}/pulls/{number}/update-branch", update).body(&["expected_head_sha"])];

fn update(call: &Call) -> Answer {
    let expected = call.fields("PullRequest")?.text("expected_head_sha")?;
    let git = call.write_git(Role::Write)?;
    let (head_ref, base_ref, head) = {
        let state = call.state();
        let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
        if issue.state == IssueState::Closed {
            return Err(Refusal::unprocessable("Cannot update the branch of a closed pull request."));
        }
        (pull.head_ref.clone(), pull.base_ref.clone(), Oid::from_str(&pull.head_sha)?)
    };
    if expected.is_some_and(|sha| sha != head.to_string()) {
        return Err(Refusal::unprocessable("expected head sha didn’t match current head ref."));
    }
    let base = find(&git, &format!("refs/heads/{base_ref}"))?.ok_or_else(Refusal::not_found)?;
    if head == base || git.graph_descendant_of(head, base)? {
        return Err(Refusal::unprocessable("There are no new commits on the base branch."));
    }
    let reference = format!("refs/heads/{head_ref}");
    guard_move(call, &git, &reference, Some(head), Tip::New)?;
    let (ours, theirs) = (git.find_commit(head)?, git.find_commit(base)?);
    let mut index = git.merge_commits(&ours, &theirs, None)?;
    if index.has_conflicts() {
        return Err(Refusal::unprocessable("merge conflict between base and head"));
    }
    let tree = git.find_tree(index.write_tree_to(&git)?)?;
    let who = signature(call, None)?;
    let message = format!("Merge branch '{base_ref}' into {head_ref}");
    let new = git.commit(None, &who, &who, &message, &tree, &[&ours, &theirs])?;
    git.reference(&reference, new, true, "")?;
    follow(call, &git, RefMove { reference, old: Some(head), new: Some(new) })?;
    let state = call.state();
    let url = call.view(&state)?.api(&format!("/pulls/{}", call.number("number")?));
    let body = json!({"message": "Updating pull request branch.", "url": url});
    Ok(Reply::json(http::StatusCode::ACCEPTED, body))
}
