//! Two commits against each other: `base...head`.

use git2::{Oid, Repository};
use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    git::{changes, commit_named, emails, merge_base, patch_text, walk},
    media::Media,
    refusal::Refusal,
    route::{Route, get},
    wire,
};

pub(super) const ROUTES: &[Route] =
    &[get("/repos/{owner}/{repo}/compare/{*basehead}", compare).media(&[Media::Diff, Media::Patch])];

fn compare(call: &Call) -> Answer {
    let git = call.read_git()?;
    let (base, head) = call.part("basehead").split_once("...").ok_or_else(Refusal::not_found)?;
    let (base_id, head_id) = (resolve(call, &git, base)?, resolve(call, &git, head)?);
    let fork = merge_base(&git, base_id, head_id)?;
    let fork = fork.ok_or_else(|| {
        Refusal::new(http::StatusCode::NOT_FOUND, format!("No common ancestor between {base} and {head}."))
    })?;
    if call.media == Media::Diff {
        return Ok(Reply::raw("application/vnd.github.diff; charset=utf-8", patch_text(&git, base_id, head_id)?));
    }
    if call.media == Media::Patch {
        return Ok(Reply::raw("application/vnd.github.patch; charset=utf-8", emails(&git, base_id, head_id)?));
    }
    let (ahead, behind) = git.graph_ahead_behind(head_id, base_id)?;
    let status = match (ahead, behind) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        (_, _) => "diverged",
    };
    let (files, commits) = (changes(&git, base_id, head_id)?, walk(&git, Some(base_id), head_id)?);
    let state = call.state();
    let view = call.view(&state)?;
    let sha = head_id.to_string();
    let show = |id: Oid| git.find_commit(id).map(|commit| wire::commit(view, &commit));
    let commits = commits.into_iter().map(show).collect::<Result<Value, _>>()?;
    let page = view.html(&format!("/compare/{base}...{head}"));
    Ok(Reply::ok(json!({
        "url": view.api(&format!("/compare/{base}...{head}")),
        "html_url": page,
        "permalink_url": view.html(&format!("/compare/{base_id}...{head_id}")),
        "diff_url": format!("{page}.diff"),
        "patch_url": format!("{page}.patch"),
        "base_commit": show(base_id)?,
        "merge_base_commit": show(fork)?,
        "status": status,
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": commits,
        "files": files.iter().map(|file| wire::file_change(view, file, &sha)).collect::<Value>(),
    })))
}

/// A branch, tag or commit; `OWNER:` before it may name this repository's owner.
fn resolve(call: &Call, git: &Repository, name: &str) -> Result<Oid, Refusal> {
    let name = match name.split_once(':') {
        Some((owner, rest)) if owner.eq_ignore_ascii_case(call.part("owner")) => rest,
        Some(_) => return Err(Refusal::not_found()),
        None => name,
    };
    commit_of(git, name)
}

/// The commit that a branch, tag or id names.
pub(super) fn commit_of(git: &Repository, name: &str) -> Result<Oid, Refusal> {
    commit_named(git, name).ok_or_else(Refusal::not_found)
}
