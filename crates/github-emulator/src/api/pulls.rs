//! Pull requests: list, get, create, update; their files and commits.

use git2::{Oid, Repository as Git};
use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        git::{Access, changes, emails, merge_base, patch_text, walk},
        measure::{follow_merge, measure, merge_is_stale, with_signatures},
        media::Media,
        page::paged,
        refusal::Refusal,
        route::{Route, get, patch, post},
        state::{EventKind, Issue, IssueState, Pull, Repository, State},
        users::Role,
        waiting_runs::hold,
        wire::{self, Measured},
    },
    issue_edit::Edit,
    issues::{BODY_MAX, TITLE_MAX, cross_reference, new_issue},
    pull_moods,
    refs::find,
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls", list).query(&["state", "head", "base", "sort", "direction"]),
    post("/repos/{owner}/{repo}/pulls", create).body(&[
        "title",
        "head",
        "base",
        "body",
        "draft",
        "maintainer_can_modify",
    ]),
    get("/repos/{owner}/{repo}/pulls/{number}", show).media(&[
        Media::Raw,
        Media::Text,
        Media::Html,
        Media::Full,
        Media::Diff,
        Media::Patch,
    ]),
    patch("/repos/{owner}/{repo}/pulls/{number}", update).body(&[
        "title",
        "body",
        "state",
        "base",
        "maintainer_can_modify",
    ]),
    get("/repos/{owner}/{repo}/pulls/{number}/files", files),
    get("/repos/{owner}/{repo}/pulls/{number}/commits", commits),
];

/// The pull request's half of the issue in the path.
pub(super) fn pull_of<'s>(call: &Call, repo: &'s Repository) -> Result<(&'s Issue, &'s Pull), Refusal> {
    let issue = call.issue(repo)?;
    issue.pull.as_ref().map(|pull| (issue, pull)).ok_or_else(Refusal::not_found)
}

/// The pull request's half of the issue in the path, to change it.
pub(super) fn pull_mut<'s>(call: &Call, state: &'s mut State, need: Role) -> Result<&'s mut Issue, Refusal> {
    let issue = call.issue_mut(call.repository_mut(state, need)?)?;
    if issue.pull.is_some() { Ok(issue) } else { Err(Refusal::not_found()) }
}

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let wanted = match call.choice("PullRequest", "state", &["open", "closed", "all"])? {
        "all" => None,
        "closed" => Some(IssueState::Closed),
        _ => Some(IssueState::Open),
    };
    // `OWNER:branch`; a bare branch is ignored, as on GitHub.
    let head = call.query("head").and_then(|head| head.split_once(':'));
    let ours = head.is_none_or(|(owner, _)| owner.eq_ignore_ascii_case(repo.name.owner()));
    let mut found: Vec<&Issue> = repo
        .issues
        .values()
        .filter(|issue| ours && wanted.is_none_or(|state| issue.state == state))
        .filter(|issue| {
            issue.pull.as_ref().is_some_and(|pull| {
                head.is_none_or(|(_, branch)| pull.head_ref == branch)
                    && call.query("base").is_none_or(|base| pull.base_ref == base)
            })
        })
        .collect();
    let sort = call.choice("PullRequest", "sort", &["created", "updated", "popularity"])?;
    match sort {
        "updated" => found.sort_by_key(|issue| (issue.updated_at, issue.number)),
        "popularity" => found.sort_by_key(|issue| (issue.comments.len(), issue.number)),
        _ => {}
    }
    let directions = if sort == "created" { ["desc", "asc"] } else { ["asc", "desc"] };
    if call.choice("PullRequest", "direction", &directions)? == "desc" {
        found.reverse();
    }
    let view = call.view(&state)?;
    Ok(paged(call, found, |issue| wire::pull(view, issue)))
}

fn show(call: &Call) -> Answer {
    let git = call.read_git()?;
    pull_moods::sees(call, pull_of(call, call.repository(&call.state(), Role::Read)?)?.0)?;
    let (base, head) = sides(call)?;
    match call.media {
        Media::Diff => Ok(Reply::raw("application/vnd.github.diff; charset=utf-8", patch_text(&git, base, head)?)),
        Media::Patch => Ok(Reply::raw("application/vnd.github.patch; charset=utf-8", emails(&git, base, head)?)),
        Media::Json
        | Media::Raw
        | Media::Text
        | Media::Html
        | Media::Full
        | Media::Object
        | Media::Sha
        | Media::Other => {
            let (shown, measured) = measured(call, &git)?;
            let number = call.number("number")?;
            if merge_is_stale(&git, number, &measured) {
                let id = call.repository(&call.state(), Role::Read)?.id;
                // Another request may have been quicker, and then there is nothing left to do.
                let git = call.forge.git.lock(id)?;
                follow_merge(&git, number, &measured)?;
            }
            Ok(Reply::ok(shown))
        }
    }
}

/// The pull request in the path, whole, with its test merge as `refs/pull/N/merge`. The caller holds the lock of the refs.
pub(super) fn whole(call: &Call, git: &Access) -> Result<Value, Refusal> {
    let (shown, measured) = measured(call, git)?;
    follow_merge(git, call.number("number")?, &measured)?;
    Ok(shown)
}

/// The pull request in the path, with the facts from git, which is asked before the state is locked.
pub(super) fn measured(call: &Call, git: &Git) -> Result<(Value, Measured), Refusal> {
    let (number, (base, head)) = (call.number("number")?, sides(call)?);
    let open_or_closed = call.issue(call.repository(&call.state(), Role::Read)?)?.state;
    let measured = measure(git, number, base, head, open_or_closed)?;
    let state = call.state();
    let measured = with_signatures(measured, git, base, head, &state.accounts)?;
    let view = call.view(&state)?;
    Ok((wire::whole_pull(view, pull_of(call, view.repo)?.0, measured), measured))
}

/// The tips of base and head of the pull request in the path.
pub(super) fn sides(call: &Call) -> Result<(Oid, Oid), Refusal> {
    let state = call.state();
    let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    Ok((Oid::from_str(&pull.base_sha)?, Oid::from_str(&pull.head_sha)?))
}

fn files(call: &Call) -> Answer {
    let git = call.read_git()?;
    let (base, head) = sides(call)?;
    let files = changes(&git, base, head)?;
    let state = call.state();
    let view = call.view(&state)?;
    Ok(paged(call, files, |file| wire::file_change(view, file, &head.to_string())))
}

fn commits(call: &Call) -> Answer {
    let git = call.read_git()?;
    let (base, head) = sides(call)?;
    let ids = walk(&git, Some(base), head)?;
    let state = call.state();
    let view = call.view(&state)?;
    Ok(paged(call, ids, |id| git.find_commit(*id).map_or(Value::Null, |commit| wire::commit(view, &commit))))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("PullRequest")?;
    // The refs stay as they are while the pull request comes into being.
    let git = call.write_git(Role::Write)?;
    let actor = call.actor()?;
    let title = fields.required("title")?;
    fields.limited("title", TITLE_MAX)?;
    let (pull, head) = new_pull(call, &git, &fields)?;
    pull_moods::sees_push(call, &pull.head_ref, &pull.base_ref)?;
    pull_moods::has_leisure(call, "PullRequest", "base")?;
    let number = {
        let mut state = call.state();
        let repo = call.repository_mut(&mut state, Role::Write)?;
        refuse_second(repo, &pull)?;
        let mut issue = new_issue(call, repo.next_number(), actor, title, fields.limited("body", BODY_MAX)?);
        issue.pull = Some(pull);
        let number = issue.number;
        repo.issues.insert(number, issue);
        cross_reference(call, repo, actor, number);
        hold(&call.forge, repo, actor, number);
        number
    };
    git.reference(&format!("refs/pull/{number}/head"), head, true, "")?;
    whole(&call.with_part("number", number.to_string()), &git).map(Reply::created)
}

fn new_pull(call: &Call, git: &Git, fields: &Fields) -> Result<(Pull, Oid), Refusal> {
    let (base, head) = (fields.required("base")?, fields.required("head")?);
    let head = match head.split_once(':') {
        Some((owner, branch)) if owner.eq_ignore_ascii_case(call.part("owner")) => branch.to_owned(),
        Some(_) => return Err(fields.invalid("head")),
        None => head,
    };
    let tip = |branch: &str, field| find(git, &format!("refs/heads/{branch}"))?.ok_or_else(|| fields.invalid(field));
    let (head_id, base_id) = (tip(&head, "head")?, tip(&base, "base")?);
    if merge_base(git, base_id, head_id)?.is_none() {
        let message = format!("The {head} branch has no history in common with {base}");
        return Err(Refusal::custom("PullRequest", "head", message));
    }
    if walk(git, Some(base_id), head_id)?.is_empty() {
        return Err(Refusal::custom("PullRequest", "head", format!("No commits between {base} and {head}")));
    }
    let pull = Pull {
        id: call.forge.next_id(),
        head_ref: head,
        head_sha: head_id.to_string(),
        base_ref: base,
        base_sha: base_id.to_string(),
        draft: fields.flag("draft")?.unwrap_or(false),
        maintainer_can_modify: fields.flag("maintainer_can_modify")?.unwrap_or(false),
        merged: None,
        reviews: Vec::new(),
        review_comments: Vec::new(),
        reviewers: Vec::new(),
    };
    Ok((pull, head_id))
}

/// One open pull request a head and base.
fn refuse_second(repo: &Repository, new: &Pull) -> Result<(), Refusal> {
    let same = |issue: &Issue| {
        let pull = issue.pull.as_ref();
        issue.state == IssueState::Open
            && pull.is_some_and(|p| p.head_ref == new.head_ref && p.base_ref == new.base_ref)
    };
    if repo.issues.values().any(same) {
        let head = format!("{}:{}", repo.name.owner(), new.head_ref);
        let message = format!("A pull request already exists for {head}.");
        return Err(Refusal::custom("PullRequest", "head", message));
    }
    Ok(())
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("PullRequest")?;
    let (actor, edit) = (call.actor()?, Edit::read(&fields)?);
    let own = {
        let state = call.state();
        pull_of(call, call.repository(&state, Role::Read)?)?.0.author.is(actor)
    };
    let need = if own { Role::Read } else { Role::Write };
    let git = call.write_git(need)?;
    let base = match fields.text("base")? {
        Some(base) => Some((find(&git, &format!("refs/heads/{base}"))?.ok_or_else(|| fields.invalid("base"))?, base)),
        None => None,
    };
    let may_modify = fields.flag("maintainer_can_modify")?;
    let reopens = fields.text("state")?.as_deref() == Some("open");
    let branch = pull_of(call, call.repository(&call.state(), need)?)?.1.head_ref.clone();
    let tip = find(&git, &format!("refs/heads/{branch}"))?;
    {
        let mut state = call.state();
        let (issue, pull) = pull_of(call, call.repository(&state, need)?)?;
        if reopens && issue.state == IssueState::Closed {
            if pull.merged.is_some() || tip.is_none() {
                let message = "state cannot be changed. The pull request cannot be reopened.";
                return Err(Refusal::custom("PullRequest", "state", message));
            }
            refuse_second(call.repository(&state, need)?, pull)?;
        }
        let issue = pull_mut(call, &mut state, need)?;
        // A reopened pull request has its branch's current tip.
        if let (true, Some(tip), Some(pull)) = (reopens, tip, issue.pull.as_mut()) {
            pull.head_sha = tip.to_string();
        }
        if let (Some((tip, base)), Some(pull)) = (base, issue.pull.as_mut()) {
            let moved = pull.base_ref != base;
            (pull.base_ref, pull.base_sha) = (base, tip.to_string());
            if moved {
                issue.record(call.forge.next_id(), actor, call.now, EventKind::BaseRefChanged);
            }
        }
        if let (Some(may), Some(pull)) = (may_modify, issue.pull.as_mut()) {
            pull.maintainer_can_modify = may;
        }
        let (number, is_open_again) = (issue.number, reopens && issue.state == IssueState::Closed);
        edit.apply(call, issue, actor);
        if is_open_again {
            hold(&call.forge, call.repository_mut(&mut state, need)?, actor, number);
        }
    }
    whole(call, &git).map(Reply::ok)
}
