//! Branches and commits, to look at.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        git::changes_between,
        page::paged,
        refusal::Refusal,
        route::{Handler, Route, get},
        users::Role,
        wire,
    },
    checks,
    refs::is_unborn,
    statuses,
};

/// How many commits of a history are listed.
const HISTORY_MAX: usize = 10_000;

/// What GitHub has below a commit, and this forge not.
const NOT_HERE: [&str; 4] = ["/branches-where-head", "/check-suites", "/comments", "/pulls"];

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/branches", list),
    get("/repos/{owner}/{repo}/branches/{*branch}", show),
    get("/repos/{owner}/{repo}/commits", commits),
    get("/repos/{owner}/{repo}/commits/{*sha}", commit_or_below),
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
    let protects = |name: &str| view.repo.protects(&format!("refs/heads/{name}"));
    if let Some(wanted) = call.query("protected") {
        found.retain(|(name, _)| protects(name) == (wanted == "true"));
    }
    Ok(paged(call, found, |(name, target)| {
        let url = view.api(&format!("/commits/{target}"));
        json!({"name": name, "commit": {"sha": target.to_string(), "url": url}, "protected": protects(name)})
    }))
}

fn show(call: &Call) -> Answer {
    let git = call.read_git()?;
    let name = call.part("branch");
    let absent = || match name.contains("/protection") {
        true => Refusal::not_here(&format!("GET {}", call.location)),
        false => Refusal::new(http::StatusCode::NOT_FOUND, "Branch not found"),
    };
    let target = git.refname_to_id(&format!("refs/heads/{name}")).map_err(|_| absent())?;
    let commit = git.find_commit(target)?;
    let state = call.state();
    let view = call.view(&state)?;
    let protected = view.repo.protects(&format!("refs/heads/{name}"));
    let own = view.api(&format!("/branches/{name}"));
    Ok(Reply::ok(&json!({
        "name": name,
        "commit": wire::commit(view, &commit),
        "_links": {"self": own, "html": view.html(&format!("/tree/{name}"))},
        "protected": protected,
        "protection": {"enabled": protected, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}},
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
    let mut walk = git.revwalk()?;
    walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::TIME)?;
    walk.push(start.id())?;
    let ids = walk.take(HISTORY_MAX).collect::<Result<Vec<_>, _>>()?;
    let state = call.state();
    let view = call.view(&state)?;
    Ok(paged(call, ids, |id| git.find_commit(*id).map_or(Value::Null, |commit| wire::commit(view, &commit))))
}

/// A commit, or what hangs on it. One pattern for all, because the name of a branch may have slashes in it.
fn commit_or_below(call: &Call) -> Answer {
    let below: [(&str, Handler); 3] =
        [("/check-runs", checks::list), ("/statuses", statuses::list), ("/status", statuses::combined)];
    let named = call.part("sha");
    if NOT_HERE.iter().any(|end| named.ends_with(end)) {
        return Err(Refusal::not_here(&format!("GET {}", call.location)));
    }
    let found = below.iter().find_map(|(end, handler)| Some((named.strip_suffix(end)?, handler)));
    found.map_or_else(|| commit(call), |(sha, handler)| handler(&call.with_part("sha", sha)))
}

fn commit(call: &Call) -> Answer {
    let git = call.read_git()?;
    let absent = || Refusal::unprocessable(format!("No commit found for SHA: {}", call.part("sha")));
    let commit =
        git.revparse_single(call.part("sha")).and_then(|object| object.peel_to_commit()).map_err(|_| absent())?;
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
    Ok(Reply::ok(&shown))
}
