//! The consequences of a moved ref, by the API or by push: pull requests take their new head, are closed or merged, and
//! commits on the default branch close issues.

use super::{
    forge::Forge,
    git::{RefMove, is_forced},
    measure::{follow_merge, measure},
    moods::Mood,
    refusal::Refusal,
    state::{Closing, EventKind, Issue, IssueState, Merged, Pull, Repository, StateReason, closes},
    waiting_runs::hold,
    webhook_events::{queue_push, queue_synchronize},
};
use crate::names::{Login, RepoName, Timestamp};

/// The most new commits on the default branch that are searched for closing keywords.
const COMMITS_READ: usize = 250;

/// The account that moved it, and the time.
#[derive(Debug, Clone, Copy)]
struct By<'a> {
    forge: &'a Forge,
    actor: &'a Login,
    now: Timestamp,
}

/// Brings the repository's issues and pull requests up to date with a ref that has moved. The caller still holds the
/// lock of the repository's refs.
pub(super) fn moved(
    forge: &Forge,
    repo: &git2::Repository,
    name: &RepoName,
    actor: &Login,
    change: &RefMove,
) -> Result<(), Refusal> {
    let by = By { forge, actor, now: forge.now() };
    let branch = change.reference.strip_prefix("refs/heads/");
    if branch.is_some() {
        let named = format!("{name} {}", change.reference).to_ascii_lowercase();
        forge.temper.note(Mood::PullLag, named, forge.clock.now());
    }
    let is_default = {
        let mut state = forge.state();
        let known = state.repositories.get_mut(name.owner(), name.name()).ok_or_else(Refusal::not_found)?;
        known.pushed_at = by.now;
        // The first branch that is pushed becomes the default one.
        if let (Some(branch), Some(_)) = (branch, change.new)
            && branch != known.default_branch
            && repo.find_reference(&format!("refs/heads/{}", known.default_branch)).is_err()
            && repo.references_glob("refs/heads/*")?.count() == 1
        {
            branch.clone_into(&mut known.default_branch);
            repo.set_head(&change.reference)?;
        }
        branch == Some(known.default_branch.as_str())
    };
    queue_push(forge, repo, name, actor, change)?;
    let Some(branch) = branch else { return Ok(()) };
    let texts = if is_default { new_messages(repo, change)? } else { Vec::new() };
    let contained = contained(forge, repo, name, branch, change)?;
    let forced = is_forced(repo, change);
    let heads = {
        let mut state = forge.state();
        let known = state.repositories.get_mut(name.owner(), name.name()).ok_or_else(Refusal::not_found)?;
        close_by_commits(by, known, &texts);
        let merged = change.new.map(|new| new.to_string()).unwrap_or_default();
        for number in contained {
            if let Some(issue) = known.issues.get_mut(&number) {
                mark_merged(by, issue, &merged);
            }
        }
        let heads = follow_head(by, known, branch, change, forced);
        for (number, _) in &heads {
            hold(forge, known, actor, *number);
        }
        heads
    };
    for (number, head) in heads {
        repo.reference(&format!("refs/pull/{number}/head"), head, true, "")?;
        follow_test_merge(forge, repo, name, number)?;
        queue_synchronize(forge, name, actor, number, change);
    }
    Ok(())
}

/// Lets the test merge of an open pull request follow its head. That of a moved base is made when it is looked at, as on
/// GitHub.
fn follow_test_merge(forge: &Forge, repo: &git2::Repository, name: &RepoName, number: u64) -> Result<(), Refusal> {
    let sides = {
        let state = forge.state();
        let known = state.repositories.get(name.owner(), name.name()).and_then(|repo| repo.issues.get(&number));
        known.and_then(|issue| issue.pull.as_ref()).map(|pull| (pull.base_sha.clone(), pull.head_sha.clone()))
    };
    if let Some((base, head)) = sides {
        let (base, head) = (git2::Oid::from_str(&base)?, git2::Oid::from_str(&head)?);
        let measured = measure(repo, number, base, head, IssueState::Open)?;
        follow_merge(repo, number, &measured)?;
    }
    Ok(())
}

/// The open pull requests to `branch` whose head it now contains.
fn contained(
    forge: &Forge,
    repo: &git2::Repository,
    name: &RepoName,
    branch: &str,
    change: &RefMove,
) -> Result<Vec<u64>, Refusal> {
    let Some(new) = change.new else { return Ok(Vec::new()) };
    let heads: Vec<(u64, String)> = {
        let state = forge.state();
        let known = state.repositories.get(name.owner(), name.name()).ok_or_else(Refusal::not_found)?;
        let open = known.issues.values().filter(|issue| issue.state == IssueState::Open);
        let pulls = open.filter_map(|issue| Some((issue.number, issue.pull.as_ref()?)));
        pulls.filter(|(_, pull)| pull.base_ref == branch).map(|(n, pull)| (n, pull.head_sha.clone())).collect()
    };
    let mut contained = Vec::new();
    for (number, head) in heads {
        let head = git2::Oid::from_str(&head)?;
        if head == new || repo.graph_descendant_of(new, head).unwrap_or(false) {
            contained.push(number);
        }
    }
    Ok(contained)
}

/// Makes the open pull requests from `branch` follow it; returns those whose head moved.
fn follow_head(
    by: By<'_>,
    repo: &mut Repository,
    branch: &str,
    change: &RefMove,
    forced: bool,
) -> Vec<(u64, git2::Oid)> {
    let mut heads = Vec::new();
    let concerns = |pull: &Pull| pull.head_ref == branch || pull.base_ref == branch;
    repo.issues.edit(
        |issue| issue.pull.as_ref().is_some_and(concerns),
        |issue| {
            let is_open = issue.state == IssueState::Open;
            if let (Some(pull), Some(new), true) = (issue.pull.as_mut(), change.new, is_open)
                && pull.base_ref == branch
            {
                pull.base_sha = new.to_string();
            }
            let Some(pull) = issue.pull.as_mut().filter(|pull| pull.head_ref == branch) else { return };
            match change.new {
                Some(new) if is_open => {
                    pull.head_sha = new.to_string();
                    heads.push((issue.number, new));
                    issue.updated_at = by.now;
                    if forced {
                        let after = new.to_string();
                        issue.record(by.forge.next_id(), by.actor, by.now, EventKind::HeadRefForcePushed { after });
                    }
                }
                Some(_) if change.old.is_none() => {
                    issue.record(by.forge.next_id(), by.actor, by.now, EventKind::HeadRefRestored);
                }
                Some(_) => {}
                None => {
                    issue.record(by.forge.next_id(), by.actor, by.now, EventKind::HeadRefDeleted);
                    issue.close(by.forge.next_id(), by.actor, by.now, Closing::completed());
                }
            }
        },
    );
    heads
}

fn mark_merged(by: By<'_>, issue: &mut Issue, sha: &str) {
    if let Some(pull) = issue.pull.as_mut() {
        pull.merged = Some(Merged { at: by.now, by: by.actor.clone(), sha: sha.to_owned() });
        issue.record(by.forge.next_id(), by.actor, by.now, EventKind::Merged { commit: sha.to_owned() });
        issue.close(by.forge.next_id(), by.actor, by.now, Closing::completed());
    }
}

fn close_by_commits(by: By<'_>, repo: &mut Repository, texts: &[(git2::Oid, String)]) {
    for (commit, text) in texts {
        for number in closes(text) {
            if let Some(issue) = repo.issues.get_mut(&number).filter(|issue| issue.pull.is_none()) {
                let why = Closing { reason: StateReason::Completed, commit: Some(commit.to_string()) };
                issue.close(by.forge.next_id(), by.actor, by.now, why);
            }
        }
    }
}

fn new_messages(repo: &git2::Repository, change: &RefMove) -> Result<Vec<(git2::Oid, String)>, git2::Error> {
    let (Some(old), Some(new)) = (change.old, change.new) else { return Ok(Vec::new()) };
    let mut walk = repo.revwalk()?;
    walk.push(new)?;
    walk.hide(old)?;
    walk.take(COMMITS_READ)
        .map(|id| {
            let id = id?;
            Ok((id, String::from_utf8_lossy(repo.find_commit(id)?.message_bytes()).into_owned()))
        })
        .collect()
}
