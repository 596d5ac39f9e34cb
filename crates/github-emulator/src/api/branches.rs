//! Branches and commits, to look at.

use std::path::Path;

use git2::{Commit, Signature};
use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        git::{changes_between, email_of, patch_between},
        media::Media,
        page::paged,
        refusal::Refusal,
        route::{Route, get},
        users::Role,
        wire,
    },
    check_suites, checks, commit_pulls,
    refs::is_unborn,
    statuses,
};
use crate::names::Timestamp;

/// The most commits of a history that are listed.
const HISTORY_MAX: usize = 10_000;

/// Paths that GitHub has below a commit, and this forge does not.
const NOT_HERE: [&str; 2] = ["/branches-where-head", "/comments"];

/// The media types of a commit, and those of texts, for its sub-resources.
const COMMIT_MEDIA: &[Media] =
    &[Media::Raw, Media::Text, Media::Html, Media::Full, Media::Diff, Media::Patch, Media::Sha];

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/branches", list).query(&["protected"]),
    get("/repos/{owner}/{repo}/commits", commits).query(&["sha", "path", "author", "committer", "since", "until"]),
    get("/repos/{owner}/{repo}/commits/{*sha}", commit_or_below)
        .query(&["app_id", "check_name", "status", "filter"])
        .media(COMMIT_MEDIA),
];

fn list(call: &Call) -> Answer {
    let git = call.read_git()?;
    let mut found = Vec::new();
    for reference in git.references_glob("refs/heads/*")? {
        let reference = reference?;
        if let (Ok(name), Some(target)) = (reference.name(), reference.target()) {
            found.push((name.trim_start_matches("refs/heads/").to_owned(), target));
        }
    }
    found.sort();
    let state = call.state();
    let view = call.view(&state)?;
    let protects = |name: &str| view.repo.is_protected(name);
    match call.choice("Branch", "protected", &["", "true", "false"])? {
        "" => {}
        wanted => found.retain(|(name, _)| protects(name) == (wanted == "true")),
    }
    Ok(paged(call, found, |(name, target)| {
        let url = view.api(&format!("/commits/{target}"));
        json!({"name": name, "commit": {"sha": target.to_string(), "url": url}, "protected": protects(name)})
    }))
}

/// A branch.
pub(super) fn show(call: &Call) -> Answer {
    let git = call.read_git()?;
    let name = call.part("branch");
    let absent = || Refusal::new(http::StatusCode::NOT_FOUND, "Branch not found");
    let target = git.refname_to_id(&format!("refs/heads/{name}")).map_err(|_| absent())?;
    let commit = git.find_commit(target)?;
    let state = call.state();
    let view = call.view(&state)?;
    let own = view.api(&format!("/branches/{name}"));
    Ok(Reply::ok(json!({
        "name": name,
        "commit": wire::commit(view, &commit),
        "_links": {"self": own, "html": view.html(&format!("/tree/{name}"))},
        "protected": view.repo.is_protected(name),
        "protection": wire::short_protection(view, name),
        "protection_url": format!("{own}/protection"),
    })))
}

fn commits(call: &Call) -> Answer {
    let git = call.read_git()?;
    let default = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    let from = call.query("sha").unwrap_or(&default);
    let start = git.revparse_single(from).and_then(|object| object.peel_to_commit());
    let Ok(start) = start else {
        let empty = is_unborn(&git)?;
        let text = if empty { "Git Repository is empty." } else { "Not Found" };
        let status = if empty { http::StatusCode::CONFLICT } else { http::StatusCode::NOT_FOUND };
        return Err(Refusal::new(status, text));
    };
    let wanted = Wanted::read(call)?;
    let mut walk = git.revwalk()?;
    walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::TIME)?;
    walk.push(start.id())?;
    let mut ids = Vec::new();
    for id in walk.take(HISTORY_MAX) {
        let commit = git.find_commit(id?)?;
        if wanted.includes(call, &commit)? {
            ids.push(commit.id());
        }
    }
    let state = call.state();
    let view = call.view(&state)?;
    Ok(paged(call, ids, |id| git.find_commit(*id).map_or(Value::Null, |commit| wire::commit(view, &commit))))
}

/// The requested commits of a history.
struct Wanted<'c> {
    path: Option<&'c str>,
    author: Option<&'c str>,
    committer: Option<&'c str>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl<'c> Wanted<'c> {
    fn read(call: &'c Call) -> Result<Self, Refusal> {
        Ok(Self {
            path: call.query("path").map(|path| path.trim_matches('/')).filter(|path| !path.is_empty()),
            author: call.query("author"),
            committer: call.query("committer"),
            since: call.time("Commit", "since")?,
            until: call.time("Commit", "until")?,
        })
    }

    fn includes(&self, call: &Call, commit: &Commit<'_>) -> Result<bool, Refusal> {
        let by = |wanted: Option<&str>, who: &Signature<'_>| {
            wanted.is_none_or(|wanted| {
                let account = wire::account_of(call.forge.server(), &call.state().accounts, who);
                let login = account["login"].as_str().unwrap_or_default();
                who.email_bytes() == wanted.as_bytes() || login.eq_ignore_ascii_case(wanted)
            })
        };
        let at = commit.committer().when().seconds();
        let in_time = self.since.is_none_or(|since| at >= since.timestamp())
            && self.until.is_none_or(|until| at <= until.timestamp());
        Ok(in_time
            && by(self.author, &commit.author())
            && by(self.committer, &commit.committer())
            && self.path.map_or(Ok(true), |path| changes_path(commit, path))?)
    }
}

/// Whether the entry at `path` differs from that of each parent.
fn changes_path(commit: &Commit<'_>, path: &str) -> Result<bool, git2::Error> {
    let at = |commit: &Commit<'_>| {
        let entry = commit.tree()?.get_path(Path::new(path));
        Ok::<_, git2::Error>(entry.ok().map(|entry| (entry.id(), entry.filemode())))
    };
    let own = at(commit)?;
    if commit.parent_count() == 0 {
        return Ok(own.is_some());
    }
    for parent in commit.parents() {
        if at(&parent)? == own {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A commit, or a sub-resource of it. One pattern for all, because the name of a branch may have slashes in it.
fn commit_or_below(call: &Call) -> Answer {
    let below: [(&str, Route); 5] = [
        (
            "/check-runs",
            get("/repos/{owner}/{repo}/check-runs", checks::list).query(&["app_id", "check_name", "status", "filter"]),
        ),
        (
            "/check-suites",
            get("/repos/{owner}/{repo}/check-suites", check_suites::list).query(&["app_id", "check_name"]),
        ),
        ("/pulls", get("/repos/{owner}/{repo}/pulls", commit_pulls::list)),
        ("/statuses", get("/repos/{owner}/{repo}/statuses", statuses::list)),
        ("/status", get("/repos/{owner}/{repo}/statuses", statuses::combined)),
    ];
    let named = call.part("sha");
    if NOT_HERE.iter().any(|end| named.ends_with(end)) {
        return Err(Refusal::not_here(&format!("GET {}", call.location)));
    }
    let found = below.iter().find_map(|(end, handler)| Some((named.strip_suffix(end)?, handler)));
    match found {
        Some((sha, route)) => route.serve(&call.with_part("sha", sha)),
        None => get("/repos/{owner}/{repo}/commits/{sha}", commit).media(COMMIT_MEDIA).serve(call),
    }
}

fn commit(call: &Call) -> Answer {
    let git = call.read_git()?;
    let absent = || Refusal::unprocessable(format!("No commit found for SHA: {}", call.part("sha")));
    let commit =
        git.revparse_single(call.part("sha")).and_then(|object| object.peel_to_commit()).map_err(|_| absent())?;
    if let Some(reply) = as_text(call, &git, &commit)? {
        return Ok(reply);
    }
    let files = changes_between(&git, commit.parent_ids().next(), commit.id())?;
    let state = call.state();
    let view = call.view(&state)?;
    let mut shown = wire::commit(view, &commit);
    if let Value::Object(fields) = &mut shown {
        let (plus, minus) = files.iter().fold((0, 0), |(p, m), file| (p + file.additions, m + file.deletions));
        let sha = commit.id().to_string();
        fields.insert("stats".to_owned(), json!({"additions": plus, "deletions": minus, "total": plus + minus}));
        fields.insert("files".to_owned(), files.iter().map(|file| wire::file_change(view, file, &sha)).collect());
    }
    Ok(Reply::ok(shown))
}

/// The commit as its id, its difference or an email, if one of these is requested.
fn as_text(call: &Call, git: &git2::Repository, commit: &Commit<'_>) -> Result<Option<Reply>, Refusal> {
    let difference = || patch_between(git, commit.parent_ids().next(), commit.id());
    Ok(match call.media {
        Media::Sha => Some(Reply::raw("application/vnd.github.sha; charset=utf-8", commit.id().to_string())),
        Media::Diff => Some(Reply::raw("application/vnd.github.diff; charset=utf-8", difference()?)),
        Media::Patch => Some(Reply::raw("application/vnd.github.patch; charset=utf-8", email_of(commit)?)),
        Media::Json | Media::Raw | Media::Text | Media::Html | Media::Full | Media::Object | Media::Other => None,
    })
}
