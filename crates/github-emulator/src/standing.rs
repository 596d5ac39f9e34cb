//! Whether a repository accepts a request at all: under its former name, archived, or without issues.

use http::StatusCode;
use serde_json::json;

use super::{
    call::{Call, Reply},
    refusal::Refusal,
    users::Role,
};

/// The pattern of everything below a repository.
const REPOSITORY: &str = "/repos/{owner}/{repo}";

/// Refuses writes that the repository in the path no longer accepts.
///
/// # Errors
/// 403 for a write to an archived repository, 410 for issues if they are disabled. A repository that the caller may not
/// see is the handler's to refuse.
pub(super) fn takes(call: &Call, verb: &str, pattern: &str) -> Result<(), Refusal> {
    let Some(below) = pattern.strip_prefix(REPOSITORY) else { return Ok(()) };
    let state = call.state();
    let Ok(repo) = call.repository(&state, Role::Read) else { return Ok(()) };
    // The repository itself can still be changed: that is how it is unarchived.
    if repo.archived && verb != "GET" && !below.is_empty() {
        return Err(Refusal::archived());
    }
    let is_issues = below == "/issues" || below.starts_with("/issues/{number}");
    if is_issues && !repo.has_issues {
        // A pull request is an issue, too.
        let is_pull = call.issue(repo).is_ok_and(|issue| issue.pull.is_some());
        if !is_pull {
            return Err(Refusal::new(StatusCode::GONE, "Issues are disabled for this repo"));
        }
    }
    Ok(())
}

/// The new address of a repository that the call names by a former name; `None` if the name is unknown, or hidden.
pub(super) fn moved(call: &Call, verb: &str, pattern: &str) -> Option<Reply> {
    pattern.strip_prefix(REPOSITORY)?;
    let state = call.state();
    let (owner, name) = (call.part("owner"), call.part("repo"));
    let repo = state.repositories.now_or_before(owner, name).filter(|repo| !repo.name.is(owner, name))?;
    if call.role(&state, repo) < Role::Read {
        return None;
    }
    let rest = call.location.splitn(7, '/').nth(6).map_or_else(String::new, |rest| format!("/{rest}"));
    let query = if call.raw_query.is_empty() { String::new() } else { format!("?{}", call.raw_query) };
    let url = format!("{}/api/v3/repositories/{}{rest}{query}", call.forge.server(), repo.id);
    let (status, message) = match verb {
        "GET" => (StatusCode::MOVED_PERMANENTLY, "Moved Permanently"),
        // With this one, clients send the same method again.
        _ => (StatusCode::TEMPORARY_REDIRECT, "Temporary Redirect"),
    };
    let body = json!({"message": message, "url": url, "documentation_url": "https://docs.github.com/rest"});
    Some(Reply::json(status, body).at(url))
}
