//! What the holder of a [`Pass`] may ask the forge for through the dispatcher: of the calls that Hob makes, those about the pass's
//! repository.
//!
//! # Guarantees
//! - A path names the repository by its name, and has no detour in it, neither written out nor encoded.
//! - Ledgers of other issues are not written.
//! - GraphQL is read by Hob's own queries, by their whole text, each of which names its repository.
//!
//! # Caveats
//! Comments, labels and pull requests of other issues of the repository are in reach: their numbers are not those of the issue.
//! GraphQL's changes are not: they name things by ids of which no text says whose they are.

use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::{
    Pass, before_claim,
    comment_batch::ISSUES,
    edits, first_look,
    ledger_batch::COMMITS,
    open_pulls::PULLS,
    permitted::{GRAPHQL, fits, has_only, is_ledger_for, is_permitted, parts_of},
    threads,
};

/// Why a request is not forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The path leads elsewhere than it seems.
    #[error("the path has a detour in it")]
    Detour,
    /// It is not on the list.
    #[error("Hob makes no such call for an issue")]
    NotOfHob,
    /// It is about another repository, or about none.
    #[error("the pass is for another repository")]
    OtherRepository,
    /// It writes a ledger of another issue.
    #[error("the pass is for another issue")]
    OtherIssue,
    /// GraphQL that is not forwarded: a client that is told so asks the REST API.
    #[error("this query is not forwarded")]
    Query,
}

/// Calls that are about no repository.
const OF_NO_REPOSITORY: [&str; 3] = ["rate_limit", "user", "users/*"];

/// Lets a call pass, or says why not.
pub(super) fn permit(pass: &Pass, method: &Method, path: &str, body: Option<&Value>) -> Result<(), Denied> {
    let plain = path.split('?').next().unwrap_or_default();
    let parts = plain.strip_prefix('/').and_then(parts_of).filter(|parts| parts.iter().all(|part| is_straight(part)));
    let parts = parts.ok_or(Denied::Detour)?;
    if plain == GRAPHQL {
        return permit_query(pass, method, body);
    }
    if !is_permitted(method, path, body) {
        return Err(Denied::NotOfHob);
    }
    match parts.as_slice() {
        ["repos", owner, name, rest @ ..] => {
            if (*owner, *name) != (pass.repo.owner(), pass.repo.name()) {
                return Err(Denied::OtherRepository);
            }
            if *method == Method::GET || may_write(pass, rest, body) { Ok(()) } else { Err(Denied::OtherIssue) }
        }
        _ if *method == Method::GET && OF_NO_REPOSITORY.iter().any(|known| fits(&parts, known)) => Ok(()),
        _other => Err(Denied::OtherRepository),
    }
}

/// Whether a segment of a path is one wherever it is decoded. Names of branches and files have encoded slashes.
fn is_straight(part: &str) -> bool {
    let Ok(decoded) = percent_decode_str(part).decode_utf8() else { return false };
    // What a second decoding would change might lead elsewhere then.
    let again = percent_decode_str(&decoded).decode_utf8_lossy();
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.chars().any(char::is_control);
    again == decoded && decoded.split(['/', '\\']).all(is_name)
}

/// Whether a write below the repository leaves the ledgers of other issues alone.
fn may_write(pass: &Pass, rest: &[&str], body: Option<&Value>) -> bool {
    match rest {
        ["git", "refs"] => {
            body.and_then(|body| body["ref"].as_str()).is_some_and(|name| is_ledger_for(pass.issue, name))
        }
        ["git", "refs", name @ ..] => is_ledger_for(pass.issue, &format!("refs/{}", name.join("/"))),
        _other => true,
    }
}

/// Lets one of Hob's own queries about the repository pass.
fn permit_query(pass: &Pass, method: &Method, body: Option<&Value>) -> Result<(), Denied> {
    let Some(body) = body.filter(|body| *method == Method::POST && has_only(Some(body), &["query", "variables"]))
    else {
        return Err(Denied::NotOfHob);
    };
    let query = body["query"].as_str().unwrap_or_default();
    let is_own = [before_claim::QUERY, edits::QUERY, edits::TEXTS, threads::QUERY].contains(&query)
        || first_look::is_asked_by(query)
        || [COMMITS, PULLS, ISSUES].iter().any(|objects| objects.is_asked_by(query));
    if !is_own {
        return Err(Denied::Query);
    }
    let is_it = |name: &str, value: &str| body["variables"][name] == value;
    let is_of_it = is_it("owner", pass.repo.owner()) && is_it("name", pass.repo.name());
    if is_of_it { Ok(()) } else { Err(Denied::OtherRepository) }
}

#[cfg(test)]
mod tests {
    use hob_domain::{IssueNumber, Timestamp};
    use serde_json::json;

    use super::*;
    use crate::{
        mutations::{Commenting, Parts, show},
        permitted::MARK_READY,
        permitted_calls,
    };

    fn pass() -> Pass {
        let repo = "acme/site".parse().unwrap();
        Pass { repo, issue: IssueNumber(7), job: "hob-site-7".to_owned(), ends: Timestamp::UNIX_EPOCH }
    }

    fn asked(method: &str, path: &str, body: &Value) -> Result<(), Denied> {
        permit(&pass(), &method.parse().unwrap(), path, Some(body))
    }

    #[test]
    fn a_pass_opens_its_repository() {
        for (method, path, body) in [
            ("GET", "/repos/acme/site", json!(null)),
            ("GET", "/repos/acme/site/issues/7/comments?per_page=100&page=2", json!(null)),
            ("GET", "/repos/acme/site/contents/.github/hob.toml?ref=1", json!(null)),
            ("GET", "/repos/acme/site/branches/feature%2Fx", json!(null)),
            ("GET", "/repos/acme/site/contents/a%20b/100%25.txt", json!(null)),
            ("GET", "/repos/acme/site/git/matching-refs/hob/", json!(null)),
            ("POST", "/repos/acme/site/issues/9/comments", json!({"body": "x"})),
            ("POST", "/repos/acme/site/pulls", json!({"head": "hob/7", "base": "main", "title": "x"})),
            ("PATCH", "/repos/acme/site/git/refs/hob/issues/7", json!({"sha": "1", "force": false})),
            ("POST", "/repos/acme/site/git/refs", json!({"ref": "refs/hob/repository", "sha": "1"})),
            ("DELETE", "/repos/acme/site/git/refs/hob/unsigned/issues/7", json!(null)),
            ("GET", "/user", json!(null)),
            ("GET", "/users/ann", json!(null)),
            ("GET", "/rate_limit", json!(null)),
        ] {
            assert_eq!(asked(method, path, &body), Ok(()), "{method} {path}");
        }
    }

    #[test]
    fn a_pass_opens_nothing_else() {
        use Denied::{Detour, NotOfHob, OtherIssue, OtherRepository};
        for (method, path, body, why) in [
            ("GET", "/repos/acme/other", json!(null), OtherRepository),
            ("GET", "/repos/other/site/issues", json!(null), OtherRepository),
            ("GET", "/repos/acme/SITE", json!(null), OtherRepository),
            ("GET", "/repositories/7/issues?page=2", json!(null), OtherRepository),
            ("GET", "/installation/repositories", json!(null), OtherRepository),
            ("GET", "/app", json!(null), OtherRepository),
            ("POST", "/app/installations/1/access_tokens", json!(null), OtherRepository),
            ("GET", "/repos/acme/site/../other/issues", json!(null), Detour),
            ("GET", "/repos/acme/site/%2e%2E/other/issues", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/..%2f..%2fother", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/%2e%2e%2fother", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/..%5cother", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/%252e%252e%252fother", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/a%00", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/a%0d%0aHost:x", json!(null), Detour),
            ("GET", "/repos/acme/site/contents/%ff", json!(null), Detour),
            ("GET", "//acme/site", json!(null), Detour),
            ("GET", "repos/acme/site", json!(null), Detour),
            ("GET", "http://elsewhere.test/repos/acme/site", json!(null), Detour),
            ("GET", "", json!(null), Detour),
            ("PUT", "/repos/acme/site/pulls/7/merge", json!({}), NotOfHob),
            ("DELETE", "/repos/acme/site", json!(null), NotOfHob),
            ("GET", "/repos/acme/site/actions/secrets", json!(null), NotOfHob),
            ("PATCH", "/repos/acme/site/git/refs/heads/main", json!({"sha": "1"}), NotOfHob),
            ("PATCH", "/repos/acme/site/git/refs/hob/issues/8", json!({"sha": "1"}), OtherIssue),
            ("DELETE", "/repos/acme/site/git/refs/hob/issues/8", json!(null), OtherIssue),
            ("DELETE", "/repos/acme/site/git/refs/hob/doctor-1", json!(null), OtherIssue),
            ("POST", "/repos/acme/site/git/refs", json!({"ref": "refs/hob/issues/8", "sha": "1"}), OtherIssue),
            ("POST", "/repos/acme/site/git/refs", json!({"sha": "1"}), OtherIssue),
            ("POST", "/user", json!(null), NotOfHob),
        ] {
            assert_eq!(asked(method, path, &body), Err(why), "{method} {path}");
        }
    }

    /// A later call gets onto the list of the client: it is then forwarded only if it is one of the pass's repository.
    #[test]
    fn of_the_clients_list_only_calls_of_the_repository_pass() {
        for call in permitted_calls().filter(|call| !call.path.starts_with("/repos/*/*") && call.path != GRAPHQL) {
            let path = call.path.replace('*', "1");
            let may = ["/rate_limit", "/user", "/users/1"].contains(&path.as_str());
            assert_eq!(permit(&pass(), &call.method, &path, None).is_ok(), may, "{path}");
        }
    }

    #[test]
    fn only_hobs_own_queries_about_the_repository_pass() {
        let at = |query: &str, owner: &str, name: &str| {
            let variables = json!({ "owner": owner, "name": name, "number": 7, "c0": "1", "p0": 1, "path": "x" });
            asked("POST", "/graphql", &json!({ "query": query, "variables": variables }))
        };
        let own = [
            before_claim::QUERY.to_owned(),
            edits::QUERY.to_owned(),
            edits::TEXTS.to_owned(),
            threads::QUERY.to_owned(),
            first_look::query(0),
            first_look::query(3),
            COMMITS.query(3),
            PULLS.query(2),
            ISSUES.query(2),
        ];
        for query in &own {
            assert_eq!(at(query, "acme", "site"), Ok(()), "{query}");
            assert_eq!(at(query, "acme", "other"), Err(Denied::OtherRepository), "{query}");
            assert_eq!(at(query, "other", "site"), Err(Denied::OtherRepository), "{query}");
            let wider = query.replacen(
                "repository(",
                "x: viewer { repositories(first: 100) { nodes { name } } } repository(",
                1,
            );
            assert_eq!(at(&wider, "acme", "site"), Err(Denied::Query), "{wider}");
        }
        for query in [
            "query { viewer { login } }",
            "query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { owner { id } } }",
            MARK_READY,
            &show(Commenting::Writes, Parts { asks: false, adds: true, removes: false }),
            "",
        ] {
            assert_eq!(at(query, "acme", "site"), Err(Denied::Query), "{query}");
        }
        let named =
            json!({ "query": edits::QUERY, "operationName": "x", "variables": { "owner": "acme", "name": "site" } });
        assert_eq!(asked("POST", "/graphql", &named), Err(Denied::NotOfHob));
        assert_eq!(asked("GET", "/graphql", &json!({ "query": edits::QUERY })), Err(Denied::NotOfHob));
        assert_eq!(asked("POST", "/graphql", &json!({ "query": edits::QUERY })), Err(Denied::OtherRepository));
    }
}
