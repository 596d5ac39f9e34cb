//! The list of calls that may be made with one of Hob's tokens; all others are never sent. The live check, which no
//! worker makes, has its own list (`live_permitted.rs`).
//!
//! # Guarantees
//! - No call merges or approves. Auto-merge, by which GitHub merges one exact head, is switched on by the owner's settings alone. The only
//!   change of a pull request's state marks a draft as ready; no call changes the
//!   state of an issue, a branch, a release, a setting or an account, apart from the dashboard's text.
//! - The only refs that are written are those of a ledger, and the only commit status that is set is `hob/proof`.
//! - The only issues that are opened are the dashboard and those that an issue is split into. The one other call that
//!   could has an empty title, which every forge refuses; it tests the permission.
//! - GraphQL is read, and makes six changes: marking a draft as ready, auto-merge on and off, resolving review threads, reacting,
//!   what shows an issue's state, with whom its pull request asks for a review, and what ends a round in review.

use hob_domain::{DASHBOARD_MARK, DASHBOARD_TITLE, IssueNumber, PROOF_CONTEXT, SUB_ISSUE_MARK};
use http::Method;
use serde_json::Value;

use crate::{
    Reaction,
    mutations::{Commenting, Parts, SWITCH_OFF, SWITCH_ON, add_reaction, resolve_threads, show},
    tips::{FINISHED, issue_number},
};

/// The path of GraphQL among those of the API's calls.
pub(super) const GRAPHQL: &str = "/graphql";

/// Marks a draft as ready for review.
pub(super) const MARK_READY: &str =
    "mutation($pull:ID!){markPullRequestReadyForReview(input:{pullRequestId:$pull}){pullRequest{isDraft}}}";

/// Reads below `/repos/OWNER/NAME`. `*` is one segment of a path, and `**` all that follow.
const READS: [&str; 34] = [
    "",
    "actions/jobs/*",
    "actions/jobs/*/logs",
    "actions/workflows/*",
    "actions/workflows/*/runs",
    "branches/*",
    "check-runs/*/annotations",
    "collaborators/*/permission",
    "commits/*/check-runs",
    "commits/*/check-suites",
    "commits/*/statuses",
    "compare/**",
    "contents",
    "contents/**",
    "dependency-graph/compare/*",
    "git/commits/*",
    "git/matching-refs/**",
    "git/ref/**",
    "git/trees/*",
    "installation",
    "issues",
    "issues/*",
    "issues/*/comments",
    "issues/*/dependencies/blocked_by",
    "issues/*/events",
    "issues/*/sub_issues",
    "issues/comments/*",
    "issues/comments/*/reactions",
    "labels",
    "pulls",
    "pulls/*",
    "pulls/*/comments",
    "pulls/*/reviews",
    "rules/branches/*",
];

/// Writes below `/repos/OWNER/NAME`, and the members that their bodies may have.
const WRITES: [(Method, &str, &[&str]); 15] = [
    (Method::POST, "actions/runs/*/rerun-failed-jobs", &[]),
    (Method::POST, "issues/*/comments", &["body"]),
    (Method::PATCH, "issues/comments/*", &["body"]),
    (Method::POST, "issues/comments/*/reactions", &["content"]),
    (Method::POST, "issues/*/dependencies/blocked_by", &["issue_id"]),
    (Method::POST, "issues/*/sub_issues", &["sub_issue_id"]),
    (Method::POST, "issues/*/labels", &["labels"]),
    (Method::DELETE, "issues/*/labels/*", &[]),
    (Method::POST, "labels", &["name", "color", "description"]),
    (Method::POST, "git/commits", &["message", "tree", "parents"]),
    (Method::POST, "git/refs", &["ref", "sha"]),
    (Method::POST, "pulls", &["head", "base", "title", "body", "draft", "maintainer_can_modify"]),
    (Method::PATCH, "pulls/*", &["title", "body", "base", "state"]),
    (Method::POST, "pulls/*/comments/*/replies", &["body"]),
    (Method::POST, "pulls/*/requested_reviewers", &["reviewers", "team_reviewers"]),
];

/// Writes below `/repos/OWNER/NAME` whose bodies are inspected, too: only refs of ledgers move, only Hob's own issues are opened
/// and edited, and only the status of its own name is set.
const MOVE_REF: (Method, &str, &[&str]) = (Method::PATCH, "git/refs/**", &["sha", "force"]);
const DELETE_REF: (Method, &str, &[&str]) = (Method::DELETE, "git/refs/**", &[]);
const OPEN_ISSUE: (Method, &str, &[&str]) = (Method::POST, "issues", &["title", "body"]);
const EDIT_ISSUE: (Method, &str, &[&str]) = (Method::PATCH, "issues/*", &["body"]);
const SET_STATUS: (Method, &str, &[&str]) =
    (Method::POST, "statuses/*", &["state", "context", "description", "target_url"]);

/// Calls about an account.
const OF_ACCOUNTS: [(Method, &str); 7] = [
    (Method::GET, "rate_limit"),
    (Method::GET, "user"),
    (Method::GET, "users/*"),
    (Method::GET, "installation/repositories"),
    (Method::GET, "app"),
    (Method::GET, "app/installations"),
    (Method::POST, "app/installations/*/access_tokens"),
];

/// A kind of call that Hob makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermittedCall {
    /// The method.
    pub method: Method,
    /// The path below the API's base: `*` is one segment, and `**` all that follow.
    pub path: String,
    /// The members that its body may have.
    pub members: &'static [&'static str],
}

/// All kinds of calls that Hob makes, including GraphQL's only path.
pub fn permitted_calls() -> impl Iterator<Item = PermittedCall> {
    let below = |path: &str| format!("/repos/*/*/{path}").trim_end_matches('/').to_owned();
    let reads = READS.into_iter().map(move |path| (Method::GET, below(path), &[][..]));
    let writes = WRITES.into_iter().chain([MOVE_REF, DELETE_REF, OPEN_ISSUE, EDIT_ISSUE, SET_STATUS]);
    let writes = writes.map(move |(method, path, members)| (method, below(path), members));
    let of_accounts = OF_ACCOUNTS.into_iter().map(|(method, path)| (method, format!("/{path}"), &[][..]));
    let graphql = [(Method::POST, GRAPHQL.to_owned(), &["query", "variables"][..])];
    let all = reads.chain(writes).chain(of_accounts).chain(graphql);
    all.map(|(method, path, members)| PermittedCall { method, path, members })
}

/// Whether Hob makes this call.
pub(super) fn is_permitted(method: &Method, path: &str, body: Option<&Value>) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    if path == GRAPHQL {
        let query = body.and_then(|body| body["query"].as_str()).unwrap_or_default();
        let asks = query.starts_with("query") && !query.contains("mutation");
        let resolves = || query == resolve_threads(query.matches("resolveReviewThread").count());
        let reacts = |reaction| query == add_reaction(reaction, query.matches("addReaction").count());
        let is_one = [MARK_READY, SWITCH_ON, SWITCH_OFF].contains(&query);
        let shows = |commenting| query == show(commenting, Parts::of(query));
        return method == Method::POST
            && (asks
                || is_one
                || resolves()
                || [Reaction::Eyes, Reaction::Confused].into_iter().any(reacts)
                || [Commenting::Writes, Commenting::Edits].into_iter().any(shows));
    }
    let Some(parts) = path.strip_prefix('/').and_then(parts_of) else { return false };
    match parts.as_slice() {
        ["repos", _owner, _name, rest @ ..] => is_of_a_repository(method, rest, body),
        // Addresses of a list's next pages, or of a repository that has moved.
        ["repositories", _id, rest @ ..] => method == Method::GET && is_of_a_repository(method, rest, body),
        _ => OF_ACCOUNTS.iter().any(|(known, pattern)| known == method && fits(&parts, pattern)),
    }
}

/// The segments of a path without detours.
pub(super) fn parts_of(path: &str) -> Option<Vec<&str>> {
    // Refs and files may be listed by a prefix that ends with a slash.
    let parts: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let is_plain = |part: &&str| !matches!(part.to_ascii_lowercase().as_str(), "" | "." | ".." | "%2e" | "%2e%2e");
    parts.iter().all(is_plain).then_some(parts)
}

fn is_of_a_repository(method: &Method, parts: &[&str], body: Option<&Value>) -> bool {
    if method == Method::GET {
        return READS.iter().any(|pattern| fits(parts, pattern));
    }
    if let ["git", "refs", name @ ..] = parts
        && !name.is_empty()
    {
        let moves = method == Method::PATCH && has_only(body, MOVE_REF.2);
        return (moves || method == Method::DELETE) && is_of_a_ledger(name);
    }
    let begins_with = |mark| body.and_then(|body| body["body"].as_str()).is_some_and(|text| text.starts_with(mark));
    let is_dashboard = || begins_with(DASHBOARD_MARK);
    match parts {
        ["issues"] => {
            let asks = body.is_some_and(|body| *body == serde_json::json!({ "title": "" }));
            let is_its_title = || body.is_some_and(|body| body["title"] == DASHBOARD_TITLE);
            let opens = || is_dashboard() && is_its_title() || begins_with(SUB_ISSUE_MARK);
            return method == Method::POST && (asks || has_only(body, OPEN_ISSUE.2) && opens());
        }
        ["issues", _number] => return method == Method::PATCH && has_only(body, EDIT_ISSUE.2) && is_dashboard(),
        ["statuses", _sha] => {
            let is_its_own = body.is_some_and(|body| body["context"] == PROOF_CONTEXT);
            return method == Method::POST && has_only(body, SET_STATUS.2) && is_its_own;
        }
        _ => {}
    }
    if body.is_some_and(|body| body.get("state").is_some_and(|state| state != "closed")) {
        return false;
    }
    let named = body.and_then(|body| body["ref"].as_str()).map(|name| name.split('/').skip(1).collect::<Vec<_>>());
    let makes_ledgers = named.is_none_or(|name| is_of_a_ledger(&name));
    let is_it = |(known, pattern, members): &(Method, &str, &[&str])| {
        known == method && fits(parts, pattern) && has_only(body, members)
    };
    makes_ledgers && WRITES.iter().any(is_it)
}

/// Whether a ref with this full name may be moved by a push of ledgers.
pub(super) fn is_own_ref(name: &str) -> bool {
    let parts = name.strip_prefix("refs/").and_then(parts_of);
    parts.is_some_and(|parts| is_of_a_ledger(&parts))
}

/// Whether a ref's name, without `refs/`, is one of those that Hob keeps: of an issue, of the repository, the list of
/// finished ones, or the one that `hob doctor` tries.
fn is_of_a_ledger(name: &[&str]) -> bool {
    let of_none =
        || matches!(name, ["hob", last] if *last == "repository" || *last == FINISHED || last.starts_with("doctor-"));
    issue_of(name).is_some() || of_none()
}

/// The issue that Hob keeps a ref of this name for, without `refs/`.
fn issue_of(name: &[&str]) -> Option<IssueNumber> {
    match name {
        ["hob", "issues", number] | ["hob", "unsigned" | "kept", "issues", number] => issue_number(number),
        _ => None,
    }
}

/// Whether a ref with this full name is one of those that Hob keeps for this issue, or for the repository.
pub(super) fn is_ledger_for(issue: IssueNumber, name: &str) -> bool {
    let parts = name.strip_prefix("refs/").and_then(parts_of);
    parts.is_some_and(|parts| issue_of(&parts) == Some(issue) || parts == ["hob", "repository"])
}

/// Whether a body has only these members.
pub(super) fn has_only(body: Option<&Value>, members: &[&str]) -> bool {
    match body {
        None | Some(Value::Null) => true,
        Some(Value::Object(body)) => body.keys().all(|member| members.contains(&member.as_str())),
        Some(_other) => false,
    }
}

/// Whether the segments of a path match the pattern.
pub(super) fn fits(parts: &[&str], pattern: &str) -> bool {
    let mut wanted = pattern.split('/').filter(|part| !part.is_empty());
    let mut parts = parts.iter();
    loop {
        match (wanted.next(), parts.next()) {
            (None, None) | (Some("**"), Some(_)) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(part)) if wanted == *part => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sends(method: &str, path: &str, body: &Value) -> bool {
        is_permitted(&method.parse().unwrap(), path, Some(body))
    }

    /// Another program's status is not Hob's to set.
    #[test]
    fn the_one_status_that_is_set_is_that_of_the_proof() {
        let sets = |status: Value| sends("POST", "/repos/a/b/statuses/1", &status);
        assert!(sets(json!({"state": "success", "context": "hob/proof", "description": "x"})));
        assert!(!sets(json!({"state": "success"})) && !sets(json!({"state": "success", "context": "ci/test"})));
        assert!(!sends("POST", "/repos/a/b/check-runs", &json!({"name": "hob/proof", "head_sha": "1"})));
    }

    #[test]
    fn auto_merge_is_switched_on_for_one_head_alone() {
        let asks = |query: &str| sends("POST", "/graphql", &json!({"query": query, "variables": {"pull": "x"}}));
        assert!(asks(SWITCH_ON) && asks(SWITCH_OFF));
        assert!(!asks(&SWITCH_ON.replace(",expectedHeadOid:$head", "")));
        assert!(!asks(&SWITCH_OFF.replace("disablePullRequestAutoMerge", "mergePullRequest")));
    }

    #[test]
    fn an_issues_state_is_shown_by_one_mutation() {
        let asks = |query: &str| sends("POST", "/graphql", &json!({"query": query, "variables": {"body": "x"}}));
        let round = Parts { seen: 1, replies: 2, says: 1, done: 2, asks: true, adds: true, removes: true };
        let all = show(Commenting::Edits, round);
        assert!(asks(&all));
        assert!(asks(&show(Commenting::Writes, Parts { adds: true, ..Parts::default() })));
        assert!(asks(&show(Commenting::Writes, Parts { says: 3, ..Parts::default() })));
        assert!(asks(&show(Commenting::Edits, Parts { removes: true, done: 1, ..Parts::default() })));
        for other in [
            all.replace("updateIssueComment", "deleteIssueComment"),
            all.replace("addLabels", "clearLabels"),
            all.replace(", union: true", ""),
            all.replace("requestReviews", "mergePullRequest"),
            all.replace("addComment", "addPullRequestReview"),
            all.replace("resolveReviewThread", "unresolveReviewThread"),
            all.replace("EYES", "HEART"),
            all.replace("reply1:", "reply7:"),
            all.replace("subjectId: $pull,", "subjectId: $issue,"),
            format!("{all} mutation {{ x }}"),
            all.replace("{ seen0:", "{ x: closeIssue(input: {issueId: $issue}) { clientMutationId } seen0:"),
        ] {
            assert!(!asks(&other), "{other}");
        }
    }

    /// Attack corpus H88, H89, H90.
    #[test]
    fn no_call_but_those_of_the_list_is_made() {
        for (method, path, body) in [
            ("GET", "/repos/a/b", json!(null)),
            ("GET", "/repos/a/b/issues?state=open&labels=code", json!(null)),
            ("GET", "/repositories/7/issues?page=3", json!(null)),
            ("GET", "/repos/a/b/contents/.github/hob.toml?ref=1", json!(null)),
            ("GET", "/repos/a/b/contents/?ref=1", json!(null)),
            ("GET", "/repos/a/b/git/matching-refs/hob/", json!(null)),
            ("GET", "/rate_limit", json!(null)),
            ("PATCH", "/repos/a/b/git/refs/hob/issues/7", json!({"sha": "1", "force": false})),
            ("POST", "/repos/a/b/git/refs", json!({"ref": "refs/hob/repository", "sha": "1"})),
            ("DELETE", "/repos/a/b/git/refs/hob/doctor-1", json!(null)),
            ("PATCH", "/repos/a/b/pulls/7", json!({"title": "x", "body": "x"})),
            ("GET", "/repos/a/b/git/trees/1?recursive=1", json!(null)),
            ("POST", "/repos/a/b/issues", json!({"title": ""})),
            ("POST", "/repos/a/b/issues", json!({"title": DASHBOARD_TITLE, "body": format!("{DASHBOARD_MARK}\nx")})),
            ("PATCH", "/repos/a/b/issues/7", json!({"body": format!("{DASHBOARD_MARK}\nx")})),
            ("POST", "/repos/a/b/issues", json!({"title": "x", "body": format!("{SUB_ISSUE_MARK}7 1 1 -->\nx")})),
            ("POST", "/repos/a/b/issues/7/sub_issues", json!({"sub_issue_id": 1})),
            ("POST", "/repos/a/b/issues/8/dependencies/blocked_by", json!({"issue_id": 1})),
            ("POST", "/graphql", json!({"query": "query($a: Int!) { x }", "variables": {"a": "mutation"}})),
            ("POST", "/graphql", json!({"query": resolve_threads(3), "variables": {"t0": "a", "t1": "b", "t2": "c"}})),
            (
                "POST",
                "/graphql",
                json!({"query": add_reaction(Reaction::Eyes, 2), "variables": {"s0": "a", "s1": "b"}}),
            ),
            ("POST", "/graphql", json!({"query": add_reaction(Reaction::Confused, 1), "variables": {"s0": "a"}})),
            ("POST", "/repos/a/b/actions/runs/7/rerun-failed-jobs", json!({})),
            ("POST", "/graphql", json!({"query": MARK_READY, "variables": {"pull": "x"}})),
            ("PATCH", "/repos/a/b/pulls/7", json!({"title": "x", "body": "x", "base": "release"})),
            ("PATCH", "/repos/a/b/pulls/7", json!({"state": "closed"})),
            ("POST", "/app/installations/1/access_tokens", json!(null)),
        ] {
            assert!(sends(method, path, &body), "{method} {path} {body}");
        }
        for (method, path, body) in [
            // Approving, merging, marking as ready, and the like.
            ("POST", "/repos/a/b/pulls/7/reviews", json!({"event": "APPROVE"})),
            ("PUT", "/repos/a/b/pulls/7/merge", json!({})),
            ("POST", "/repos/a/b/merges", json!({"base": "main", "head": "x"})),
            ("PATCH", "/repos/a/b/pulls/7", json!({"draft": false})),
            ("POST", "/graphql", json!({"query": "mutation { markPullRequestReadyForReview }"})),
            ("POST", "/graphql", json!({"query": "query { x } mutation { mergePullRequest }"})),
            ("POST", "/graphql", json!({"query": format!("{} mutation {{ x }}", resolve_threads(1))})),
            ("POST", "/graphql", json!({"query": resolve_threads(1).replace("resolve", "unresolve")})),
            ("POST", "/repos/a/b/actions/runs/7/rerun", json!({})),
            ("POST", "/repos/a/b/actions/runs/7/rerun-failed-jobs", json!({"enable_debug_logging": true})),
            // Another state or branch.
            ("PATCH", "/repos/a/b/pulls/7", json!({"state": "open"})),
            ("PATCH", "/repos/a/b/issues/7", json!({"state": "closed"})),
            ("PATCH", "/repos/a/b/git/refs/heads/main", json!({"sha": "1", "force": true})),
            ("PATCH", "/repos/a/b/git/refs/heads/repository", json!({"sha": "1"})),
            ("POST", "/repos/a/b/git/refs", json!({"ref": "refs/tags/v1", "sha": "1"})),
            ("POST", "/repos/a/b/git/refs", json!({"ref": "refs/heads/hob-ledger/issues/7", "sha": "1"})),
            ("PATCH", "/repos/a/b/git/refs/other/issues/7", json!({"sha": "1", "force": false})),
            ("DELETE", "/repos/a/b/git/refs/heads/hob/7-fix", json!(null)),
            ("PUT", "/repos/a/b/contents/x", json!({"content": "x"})),
            ("POST", "/repos/a/b/git/trees", json!({"tree": []})),
            ("POST", "/repos/a/b/issues", json!({"title": "x"})),
            ("POST", "/repos/a/b/issues", json!({"title": "", "body": "x"})),
            ("POST", "/repos/a/b/issues", json!({"title": "x", "body": DASHBOARD_MARK})),
            ("POST", "/repos/a/b/issues", json!({"title": "x", "body": SUB_ISSUE_MARK, "labels": ["code"]})),
            ("POST", "/repos/a/b/issues/7/sub_issues", json!({"sub_issue_id": 1, "replace_parent": true})),
            ("PATCH", "/repos/a/b/issues/7", json!({"body": SUB_ISSUE_MARK})),
            ("PATCH", "/repos/a/b/issues/7", json!({"body": "x"})),
            ("PATCH", "/repos/a/b/issues/7", json!({"body": DASHBOARD_MARK, "title": "x"})),
            ("POST", "/repos/a/b/issues", json!(null)),
            // Another repository through a detour, settings, accounts.
            ("DELETE", "/repos/a/b", json!(null)),
            ("GET", "/repos/a/b/contents/../../../c/d/actions/secrets", json!(null)),
            ("GET", "/repos/a/b/contents//x", json!(null)),
            ("DELETE", "/repos/a/b/git/refs/%2E%2E/issues/7", json!(null)),
            ("POST", "/repos/a/b/forks", json!({})),
            ("POST", "/repositories/7/issues/1/comments", json!({"body": "x"})),
            ("PUT", "/repos/a/b/collaborators/evil", json!({"permission": "admin"})),
            ("POST", "/repos/a/b/hooks", json!({})),
            ("POST", "/user/keys", json!({"key": "x"})),
            ("POST", "/gists", json!({})),
            ("GET", "repos/a/b", json!(null)),
        ] {
            assert!(!sends(method, path, &body), "{method} {path} {body}");
        }
    }
}
