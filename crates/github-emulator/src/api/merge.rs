//! Merging a pull request: as a merge commit, squashed, or rebased, without a working folder.

use git2::{Oid, Repository as Git};
use serde_json::json;

use super::{
    super::{
        branch_guard::mover,
        call::{Answer, Call, Reply},
        fields::Fields,
        git::{Access, RefMove, walk},
        merge_method::MergeMethod,
        merge_state::{Fit, forbids},
        refusal::Refusal,
        route::{Route, get, put},
        state::{Closing, EventKind, IssueState, Merged, Repository, StateReason, closes},
        users::Role,
        verification::all_verified,
    },
    objects::signature,
    pulls::pull_of,
    refs::{find, follow, guard},
};

pub(super) const ROUTES: &[Route] = &[
    put("/repos/{owner}/{repo}/pulls/{number}/merge", merge).body(&[
        "commit_title",
        "commit_message",
        "sha",
        "merge_method",
    ]),
    get("/repos/{owner}/{repo}/pulls/{number}/merge", is_merged),
];

/// The facts about a pull request that a merge needs.
struct Plan {
    number: u64,
    title: String,
    head_ref: String,
    base_ref: String,
    head: Oid,
    method: MergeMethod,
}

fn is_merged(call: &Call) -> Answer {
    let state = call.state();
    let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    if pull.merged.is_some() { Ok(Reply::empty()) } else { Err(Refusal::not_found()) }
}

pub(super) fn merge(call: &Call) -> Answer {
    let fields = call.fields("PullRequest")?;
    let git = call.write_git(Role::Write)?;
    let plan = plan(call, &fields)?;
    let reference = format!("refs/heads/{}", plan.base_ref);
    guard(call, &reference)?;
    let base = find(&git, &reference)?.ok_or_else(not_mergeable)?;
    rules_allow(call, &git, &plan, base)?;
    let sha = make(call, &git, &plan, base, &fields)?;
    git.reference(&reference, sha, true, "")?;
    note(call, &plan, sha)?;
    follow(call, &git, RefMove { reference, old: Some(base), new: Some(sha) })?;
    delete_head(call, &git, &plan)?;
    Ok(Reply::ok(json!({"sha": sha.to_string(), "merged": true, "message": "Pull Request successfully merged"})))
}

fn plan(call: &Call, fields: &Fields) -> Result<Plan, Refusal> {
    let method = fields.text("merge_method")?.unwrap_or_else(|| MergeMethod::Merge.name().to_owned());
    let method = MergeMethod::named(&method).ok_or_else(|| fields.invalid("merge_method"))?;
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    allowed(repo, method)?;
    let (issue, pull) = pull_of(call, repo)?;
    if issue.state == IssueState::Closed {
        return Err(not_mergeable());
    }
    if pull.draft {
        return Err(Refusal::new(http::StatusCode::METHOD_NOT_ALLOWED, "Pull Request is still a draft"));
    }
    if fields.text("sha")?.is_some_and(|sha| sha != pull.head_sha) {
        let message = "Head branch was modified. Review and try the merge again.";
        return Err(Refusal::new(http::StatusCode::CONFLICT, message));
    }
    Ok(Plan {
        number: issue.number,
        title: issue.title.clone(),
        head_ref: pull.head_ref.clone(),
        base_ref: pull.base_ref.clone(),
        head: Oid::from_str(&pull.head_sha)?,
        method,
    })
}

/// Refuses a method that the repository does not allow.
pub(super) fn allowed(repo: &Repository, method: MergeMethod) -> Result<(), Refusal> {
    let (allowed, what) = match method {
        MergeMethod::Merge => (repo.merging.allow_merge_commit, "Merge commits"),
        MergeMethod::Squash => (repo.merging.allow_squash_merge, "Squash merges"),
        MergeMethod::Rebase => (repo.merging.allow_rebase_merge, "Rebase merges"),
    };
    let refusal =
        || Refusal::new(http::StatusCode::METHOD_NOT_ALLOWED, format!("{what} are not allowed on this repository."));
    if allowed { Ok(()) } else { Err(refusal()) }
}

/// Refuses merges that the rules of the base branch forbid.
fn rules_allow(call: &Call, git: &Git, plan: &Plan, base: Oid) -> Result<(), Refusal> {
    let behind = plan.head != base && !git.graph_descendant_of(plan.head, base)?;
    let state = call.state();
    let verified = all_verified(git, base, plan.head, &state.accounts)?;
    let repo = call.repository(&state, Role::Read)?;
    let fit = Fit { mergeable: Some(true), behind, verified };
    let issue = repo.issues.get(&plan.number).ok_or_else(Refusal::not_found)?;
    let mover = mover(&call.forge, &state.accounts, call.caller.as_ref(), call.role(&state, repo));
    match forbids(repo, &state.accounts, issue, fit, mover, plan.method) {
        Some(sentence) => Err(Refusal::new(http::StatusCode::METHOD_NOT_ALLOWED, sentence)),
        None => Ok(()),
    }
}

fn make(call: &Call, git: &Git, plan: &Plan, base: Oid, fields: &Fields) -> Result<Oid, Refusal> {
    let who = signature(call, None)?;
    let (ours, theirs) = (git.find_commit(base)?, git.find_commit(plan.head)?);
    if plan.method == MergeMethod::Rebase {
        let mut tip = ours;
        for id in walk(git, Some(base), plan.head)? {
            let commit = git.find_commit(id)?;
            if commit.parent_count() != 1 {
                return Err(not_mergeable());
            }
            let mut index = git.cherrypick_commit(&commit, &tip, 0, None)?;
            if index.has_conflicts() {
                return Err(not_mergeable());
            }
            let tree = git.find_tree(index.write_tree_to(git)?)?;
            let message = String::from_utf8_lossy(commit.message_raw_bytes()).into_owned();
            tip = git.find_commit(git.commit(None, &commit.author(), &who, &message, &tree, &[&tip])?)?;
        }
        return Ok(tip.id());
    }
    let mut index = git.merge_commits(&ours, &theirs, None)?;
    if index.has_conflicts() {
        return Err(not_mergeable());
    }
    let tree = git.find_tree(index.write_tree_to(git)?)?;
    let merges = plan.method == MergeMethod::Merge;
    let title = match fields.text("commit_title")? {
        Some(title) => title,
        None if merges => format!("Merge pull request #{} from {}/{}", plan.number, call.part("owner"), plan.head_ref),
        None => format!("{} (#{})", plan.title, plan.number),
    };
    let text =
        fields.text("commit_message")?.unwrap_or_else(|| if merges { plan.title.clone() } else { String::new() });
    let message = format!("{title}\n\n{text}").trim_end().to_owned();
    let parents = if merges { vec![&ours, &theirs] } else { vec![&ours] };
    Ok(git.commit(None, &who, &who, &message, &tree, &parents)?)
}

/// Deletes the merged branch, if the repository is configured so and nothing else protects it.
fn delete_head(call: &Call, git: &Access, plan: &Plan) -> Result<(), Refusal> {
    let reference = format!("refs/heads/{}", plan.head_ref);
    let keeps = {
        let state = call.state();
        let repo = call.repository(&state, Role::Read)?;
        !repo.merging.delete_branch_on_merge
            || plan.head_ref == repo.default_branch
            || repo.is_protected(&plan.head_ref)
    };
    if let (false, Some(old)) = (keeps, find(git, &reference)?) {
        git.find_reference(&reference)?.delete()?;
        follow(call, git, RefMove { reference, old: Some(old), new: None })?;
    }
    Ok(())
}

/// Notes the merge, and closes the issues that the pull request's text fixes, if it went to the default branch.
fn note(call: &Call, plan: &Plan, sha: Oid) -> Result<(), Refusal> {
    let (actor, id) = (call.actor()?, || call.forge.next_id());
    let mut state = call.state();
    let repo: &mut Repository = call.repository_mut(&mut state, Role::Write)?;
    let commit = sha.to_string();
    let mut fixed = Vec::new();
    if let Some(issue) = repo.issues.get_mut(&plan.number) {
        if let Some(pull) = issue.pull.as_mut() {
            pull.merged = Some(Merged { at: call.now, by: actor.clone(), sha: commit.clone() });
        }
        issue.record(id(), actor, call.now, EventKind::Merged { commit: commit.clone() });
        issue.close(id(), actor, call.now, Closing::completed());
        fixed = closes(issue.body.as_deref().unwrap_or_default());
    }
    if plan.base_ref == repo.default_branch {
        for number in fixed {
            if let Some(issue) = repo.issues.get_mut(&number).filter(|issue| issue.pull.is_none()) {
                let why = Closing { reason: StateReason::Completed, commit: None };
                issue.close(id(), actor, call.now, why);
            }
        }
    }
    Ok(())
}

fn not_mergeable() -> Refusal {
    Refusal::new(http::StatusCode::METHOD_NOT_ALLOWED, "Pull Request is not mergeable")
}
