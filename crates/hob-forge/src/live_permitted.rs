//! The calls of the [live check](crate::live_check): its own list beside the worker's. All others are never sent.
//!
//! # Guarantees
//! - Each ref, label, file, title or text that is written begins with [`TEST_PREFIX`] and the nonce of this list.
//! - An issue or pull request is edited or closed only if it has such a title, and a comment only if it has such a
//!   text, as the forge has confirmed in an answer to this connection.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use http::Method;
use serde_json::Value;

use crate::permitted::{GRAPHQL, PermittedCall, fits, has_only, parts_of};

/// The beginning of every name that the live check creates.
pub const TEST_PREFIX: &str = "hob-live-check-";

/// When a comment was edited.
pub(super) const ASK_COMMENT: &str =
    "query($id: ID!) { node(id: $id) { ... on IssueComment { createdAt updatedAt lastEditedAt } } }";
/// Who edited the body of an issue.
pub(super) const ASK_EDITS: &str = "query($id: ID!) { node(id: $id) { ... on Issue { lastEditedAt \
    userContentEdits(first: 20) { nodes { editedAt diff editor { login } } } } } }";
/// The checks of a commit.
pub(super) const ASK_ROLLUP: &str = "query($owner: String!, $name: String!, $oid: GitObjectID!) { repository(owner: $owner, name: $name) { \
    object(oid: $oid) { ... on Commit { statusCheckRollup { contexts(first: 100) { nodes { __typename } } } } } } }";
/// A field that does not exist.
pub(super) const ASK_UNKNOWN: &str = "query { hobLiveCheck }";

/// All its queries.
const QUERIES: [&str; 4] = [ASK_COMMENT, ASK_EDITS, ASK_ROLLUP, ASK_UNKNOWN];

/// Reads below `/repos/OWNER/NAME`. `*` is one segment of a path, and `**` all that follow.
const READS: [&str; 12] = [
    "",
    "branches/*",
    "commits/*/check-runs",
    "commits/*/statuses",
    "git/commits/*",
    "git/ref/**",
    "installation",
    "issues",
    "issues/*",
    "issues/*/comments",
    "issues/*/events",
    "pulls/*",
];

/// Writes below `/repos/OWNER/NAME`, and the members that their bodies may have.
const WRITES: [(Method, &str, &[&str]); 15] = [
    (Method::POST, "git/trees", &["base_tree", "tree"]),
    (Method::POST, "git/commits", &["message", "tree", "parents"]),
    (Method::POST, "git/refs", &["ref", "sha"]),
    (Method::PATCH, "git/refs/**", &["sha", "force"]),
    (Method::DELETE, "git/refs/**", &[]),
    (Method::POST, "labels", &["name", "color", "description"]),
    (Method::DELETE, "labels/*", &[]),
    (Method::POST, "issues", &["title", "body"]),
    (Method::PATCH, "issues/*", &["body", "state"]),
    (Method::POST, "issues/*/labels", &["labels"]),
    (Method::DELETE, "issues/*/labels/*", &[]),
    (Method::POST, "issues/*/comments", &["body"]),
    (Method::PATCH, "issues/comments/*", &["body"]),
    (Method::POST, "pulls", &["head", "base", "title", "body", "draft"]),
    (Method::PATCH, "pulls/*", &["title", "body", "state"]),
];

/// Calls about an account.
const OF_ACCOUNTS: [(Method, &str); 5] = [
    (Method::GET, "rate_limit"),
    (Method::GET, "user"),
    (Method::GET, "app"),
    (Method::GET, "app/installations"),
    (Method::POST, "app/installations/*/access_tokens"),
];

/// All kinds of calls that the live check makes, including GraphQL's only path.
pub fn live_calls() -> impl Iterator<Item = PermittedCall> {
    let below = |path: &str| format!("/repos/*/*/{path}").trim_end_matches('/').to_owned();
    let reads = READS.into_iter().map(move |path| (Method::GET, below(path), &[][..]));
    let writes = WRITES.into_iter().map(move |(method, path, members)| (method, below(path), members));
    let of_accounts = OF_ACCOUNTS.into_iter().map(|(method, path)| (method, format!("/{path}"), &[][..]));
    let graphql = [(Method::POST, GRAPHQL.to_owned(), &["query", "variables"][..])];
    let all = reads.chain(writes).chain(of_accounts).chain(graphql);
    all.map(|(method, path, members)| PermittedCall { method, path, members })
}

/// The calls that one run may make.
#[derive(Debug)]
pub(super) struct LiveList {
    /// The beginning of all its names.
    name: String,
    made: Mutex<Made>,
}

/// What this run created, as confirmed by the forge.
#[derive(Debug, Default)]
struct Made {
    /// Numbers of issues and pull requests.
    numbers: BTreeSet<u64>,
    /// Ids of comments.
    comments: BTreeSet<u64>,
}

impl Default for LiveList {
    /// A list with a secret nonce.
    fn default() -> Self {
        Self { name: format!("{TEST_PREFIX}{:08x}", rand::random::<u32>()), made: Mutex::default() }
    }
}

impl LiveList {
    /// The beginning of every name that this run creates.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether this run may make the call.
    pub(super) fn permits(&self, method: &Method, path: &str, body: Option<&Value>) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        if path == GRAPHQL {
            let query = body.and_then(|body| body["query"].as_str());
            return method == Method::POST && query.is_some_and(|query| QUERIES.contains(&query));
        }
        let Some(parts) = path.strip_prefix('/').and_then(parts_of) else { return false };
        match parts.as_slice() {
            ["repos", _owner, _name, rest @ ..] if method == Method::GET => {
                READS.iter().any(|pattern| fits(rest, pattern))
            }
            ["repos", _owner, _name, rest @ ..] => {
                let is_it = |(known, pattern, members): &(Method, &str, &[&str])| {
                    known == method && fits(rest, pattern) && has_only(body, members)
                };
                WRITES.iter().any(is_it) && self.is_own(rest, body.unwrap_or(&Value::Null))
            }
            _ => OF_ACCOUNTS.iter().any(|(known, pattern)| known == method && fits(&parts, pattern)),
        }
    }

    /// Whether a write changes something that this run created, or creates something.
    fn is_own(&self, parts: &[&str], body: &Value) -> bool {
        let named = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(&self.name));
        let absent_or = |value: &Value, is_it: bool| value.is_null() || is_it;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = |number: &str| number.parse().is_ok_and(|number| made.numbers.contains(&number));
        let texts =
            || absent_or(&body["body"], named(&body["body"])) && absent_or(&body["title"], named(&body["title"]));
        let closes = || absent_or(&body["state"], body["state"] == "closed");
        match parts {
            ["git", "trees"] => {
                body["tree"].as_array().is_some_and(|entries| entries.iter().all(|one| is_file(one, named)))
            }
            ["git", "commits"] => named(&body["message"]),
            ["git", "refs"] => {
                let name = body["ref"].as_str().and_then(|name| name.strip_prefix("refs/")).and_then(parts_of);
                name.is_some_and(|name| self.is_ref(&name))
            }
            ["git", "refs", name @ ..] => self.is_ref(name) && absent_or(&body["force"], body["force"] == false),
            ["labels"] => named(&body["name"]),
            ["labels", name] => name.starts_with(&self.name),
            ["issues"] => named(&body["title"]) && named(&body["body"]),
            ["issues", "comments", id] => {
                id.parse().is_ok_and(|id| made.comments.contains(&id)) && named(&body["body"])
            }
            ["issues", number] => is_ours(number) && texts() && closes(),
            ["issues", number, "labels"] => {
                is_ours(number) && body["labels"].as_array().is_some_and(|labels| labels.iter().all(named))
            }
            ["issues", number, "labels", name] => is_ours(number) && name.starts_with(&self.name),
            ["issues", number, "comments"] => is_ours(number) && named(&body["body"]),
            ["pulls"] => named(&body["head"]) && named(&body["title"]) && named(&body["body"]),
            ["pulls", number] => is_ours(number) && texts() && closes(),
            _ => false,
        }
    }

    /// Whether a ref's name, without `refs/`, ends with a name of this run.
    fn is_ref(&self, name: &[&str]) -> bool {
        name.len() > 1 && name.last().is_some_and(|last| last.starts_with(&self.name))
    }

    /// Records what this run created, from an answer.
    pub(super) fn note(&self, answer: &[u8]) {
        let Ok(answer) = serde_json::from_slice::<Value>(answer) else { return };
        let one = std::slice::from_ref(&answer);
        let named = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(&self.name));
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        for thing in answer.as_array().map_or(one, Vec::as_slice) {
            match (thing["number"].as_u64(), thing["id"].as_u64()) {
                (Some(number), _) if named(&thing["title"]) => drop(made.numbers.insert(number)),
                (None, Some(id)) if named(&thing["body"]) => drop(made.comments.insert(id)),
                _of_others => {}
            }
        }
    }
}

/// Whether an entry of a tree is a plain file of this run.
fn is_file(entry: &Value, named: impl Fn(&Value) -> bool) -> bool {
    let members = ["path", "mode", "type", "content"];
    let has_only = entry.as_object().is_some_and(|entry| entry.keys().all(|member| members.contains(&member.as_str())));
    let is_in_a_folder = entry["path"].as_str().is_some_and(|path| path.contains('/'));
    has_only && named(&entry["path"]) && !is_in_a_folder && entry["mode"] == "100644" && entry["type"] == "blob"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OWN: &str = "hob-live-check-1";

    /// The list of a run that has created the issue 7, the pull request 9 and the comment 70.
    fn after_some_answers() -> LiveList {
        let list = LiveList { name: format!("{TEST_PREFIX}1"), made: Mutex::default() };
        list.note(json!({"number": 7, "title": format!("{OWN}: x")}).to_string().as_bytes());
        list.note(json!([{"number": 8, "title": "Another's"}, {"number": 9, "title": OWN}]).to_string().as_bytes());
        list.note(json!({"id": 70, "body": format!("{OWN}: x")}).to_string().as_bytes());
        list.note(json!({"id": 80, "body": "Another's"}).to_string().as_bytes());
        list
    }

    fn lets_pass(list: &LiveList, (method, path, body): (&str, &str, &Value)) -> bool {
        let path = path.replace("R/", "/repos/a/b/");
        list.permits(&method.parse().unwrap(), &path, Some(body).filter(|body| !body.is_null()))
    }

    #[test]
    fn the_live_check_may_do_what_it_needs_with_what_it_made() {
        let list = after_some_answers();
        let file = json!({"path": format!("{OWN}.txt"), "mode": "100644", "type": "blob", "content": "x"});
        for (method, path, body) in [
            ("GET", "R/branches/main", json!(null)),
            ("GET", "R/issues?creator=x", json!(null)),
            ("GET", "/rate_limit", json!(null)),
            ("POST", "R/git/trees", json!({"base_tree": "1", "tree": [file]})),
            ("POST", "R/git/commits", json!({"message": OWN, "tree": "1", "parents": ["1"]})),
            ("POST", "R/git/refs", json!({"ref": format!("refs/heads/{OWN}"), "sha": "1"})),
            ("POST", "R/git/refs", json!({"ref": format!("refs/hob/{OWN}"), "sha": "1"})),
            ("PATCH", "R/git/refs/hob/hob-live-check-1", json!({"sha": "1", "force": false})),
            ("DELETE", "R/git/refs/heads/hob-live-check-1", json!(null)),
            ("POST", "R/labels", json!({"name": OWN, "color": "ededed"})),
            ("DELETE", "R/labels/hob-live-check-1", json!(null)),
            ("POST", "R/issues", json!({"title": OWN, "body": OWN})),
            ("PATCH", "R/issues/7", json!({"body": OWN, "state": "closed"})),
            ("POST", "R/issues/7/labels", json!({"labels": [OWN]})),
            ("DELETE", "R/issues/7/labels/hob-live-check-1", json!(null)),
            ("POST", "R/issues/9/comments", json!({"body": OWN})),
            ("PATCH", "R/issues/comments/70", json!({"body": OWN})),
            ("POST", "R/pulls", json!({"head": OWN, "base": "main", "title": OWN, "body": OWN, "draft": true})),
            ("PATCH", "R/pulls/9", json!({"state": "closed", "body": OWN})),
            ("POST", "/graphql", json!({"query": QUERIES[0], "variables": {}})),
        ] {
            assert!(lets_pass(&list, (method, path, &body)), "{method} {path} {body}");
        }
    }

    /// Attack corpus H88, H89, H90: the live check may do no more either.
    #[test]
    fn no_call_of_the_live_check_touches_what_it_did_not_make() {
        let list = after_some_answers();
        for (method, path, body) in [
            // Refs of others, and moves by force.
            ("POST", "R/git/refs", json!({"ref": "refs/heads/main", "sha": "1"})),
            ("POST", "R/git/refs", json!({"ref": format!("refs/heads/{OWN}/x"), "sha": "1"})),
            ("POST", "R/git/refs", json!({"ref": format!("refs/heads/../{OWN}"), "sha": "1"})),
            ("POST", "R/git/refs", json!({"ref": "refs/heads/hob-live-check-2", "sha": "1"})),
            ("POST", "R/git/refs", json!({"ref": format!("refs/{OWN}"), "sha": "1"})),
            ("POST", "R/git/refs", json!({"sha": "1"})),
            ("PATCH", "R/git/refs/heads/main", json!({"sha": "1", "force": false})),
            ("PATCH", "R/git/refs/hob/issues/7", json!({"sha": "1", "force": false})),
            ("PATCH", "R/git/refs/heads/hob-live-check-1", json!({"sha": "1", "force": true})),
            ("DELETE", "R/git/refs/heads/main", json!(null)),
            ("DELETE", "R/git/refs/hob/repository", json!(null)),
            // Files in folders, such as workflows, and other kinds of entries.
            (
                "POST",
                "R/git/trees",
                json!({"tree": [{"path": ".github/workflows/x.yml", "mode": "100644", "type": "blob", "content": "x"}]}),
            ),
            (
                "POST",
                "R/git/trees",
                json!({"tree": [{"path": format!("{OWN}/x"), "mode": "100644", "type": "blob", "content": "x"}]}),
            ),
            ("POST", "R/git/trees", json!({"tree": [{"path": OWN, "mode": "120000", "type": "blob", "content": "x"}]})),
            ("POST", "R/git/trees", json!({"tree": [{"path": OWN, "mode": "100644", "type": "blob", "sha": null}]})),
            ("POST", "R/git/commits", json!({"message": "x", "tree": "1", "parents": []})),
            ("POST", "R/git/commits", json!({"message": OWN, "tree": "1", "author": {}})),
            // Issues, comments, labels and pull requests of others.
            ("POST", "R/issues", json!({"title": "x", "body": OWN})),
            ("POST", "R/issues", json!({"title": OWN, "body": OWN, "labels": ["code"]})),
            ("PATCH", "R/issues/8", json!({"body": OWN})),
            ("PATCH", "R/issues/7", json!({"state": "open"})),
            ("PATCH", "R/issues/7", json!({"title": OWN})),
            ("POST", "R/issues/8/comments", json!({"body": OWN})),
            ("POST", "R/issues/7/comments", json!({"body": "/hob retry"})),
            ("PATCH", "R/issues/comments/80", json!({"body": OWN})),
            ("POST", "R/issues/7/labels", json!({"labels": ["code"]})),
            ("DELETE", "R/issues/8/labels/hob-live-check-1", json!(null)),
            ("POST", "R/labels", json!({"name": "code"})),
            ("DELETE", "R/labels/code", json!(null)),
            ("POST", "R/pulls", json!({"head": "main", "base": "x", "title": OWN, "body": OWN})),
            ("PATCH", "R/pulls/8", json!({"state": "closed"})),
            ("PATCH", "R/pulls/7", json!({"base": "main"})),
            // Calls that no part of Hob makes.
            ("PUT", "R/pulls/7/merge", json!({})),
            ("POST", "R/pulls/7/reviews", json!({"event": "APPROVE"})),
            ("PUT", "R/contents/x", json!({"content": "x"})),
            ("DELETE", "R/issues/comments/70", json!(null)),
            ("GET", "R/contents/x", json!(null)),
            ("GET", "R/branches/..", json!(null)),
            ("POST", "/graphql", json!({"query": "mutation { mergePullRequest }"})),
            ("POST", "/graphql", json!({"query": format!("{} mutation {{ x }}", QUERIES[0])})),
            ("DELETE", "/repos/a/b", json!(null)),
            ("POST", "/user/keys", json!({"key": "x"})),
        ] {
            assert!(!lets_pass(&list, (method, path, &body)), "{method} {path} {body}");
        }
    }
}
