//! What the holder of a [`Pass`] may ask the forge for through the dispatcher: of the calls that Hob makes, those about the pass's
//! repository.
//!
//! # Guarantees
//! - A path names the repository by its name, and has no detour in it, neither written out nor encoded.
//! - Ledgers of other issues are not written. Each other write has [`Subject`]s, which [`Reach`](crate::Reach) has to find to be the
//!   issue's. A write that is not among those of [`subjects`] is refused.
//! - GraphQL is read by Hob's own queries, by their whole text, each of which names its repository.
//!
//! # Caveats
//! All of the repository can be read. GraphQL's changes are not in reach: they name things by ids of which no text says whose they are.

use hob_domain::{IssueNumber, SUB_ISSUE_MARK};
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
    tips::issue_number,
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
    /// It writes on another issue, or on a pull request that is not the issue's.
    #[error("the pass is for another issue")]
    OtherIssue,
    /// It is about another branch, or about a commit or a run that is not on the issue's.
    #[error("the pass is for the branch of another issue")]
    OtherBranch,
    /// Hob makes this call, but not for an issue that it works on.
    #[error("no Job makes this call")]
    NotOfJobs,
    /// GraphQL that is not forwarded: a client that is told so asks the REST API.
    #[error("this query is not forwarded")]
    Query,
}

/// Calls that are about no repository.
const OF_NO_REPOSITORY: [&str; 3] = ["rate_limit", "user", "users/*"];

/// What a write is about, if only the forge knows whose that is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// The issue or pull request with this number.
    Number(IssueNumber),
    /// The comment with this id.
    Comment(u64),
    /// The issue with this number, one of those that the pass's is split into.
    Part(IssueNumber),
    /// The same, by the id that links use.
    PartId(u64),
    /// The branch with this name.
    Branch(String),
    /// The commit with this id.
    Commit(String),
    /// The run of a workflow with this id.
    Run(u64),
}

impl Subject {
    /// Why a write about it is refused if it is not the issue's.
    pub(super) fn denied(&self) -> Denied {
        match self {
            Self::Number(_) | Self::Comment(_) | Self::Part(_) | Self::PartId(_) => Denied::OtherIssue,
            Self::Branch(_) | Self::Commit(_) | Self::Run(_) => Denied::OtherBranch,
        }
    }
}

/// Lets a call pass if all of these subjects are the issue's, or says why not.
pub(super) fn permit(pass: &Pass, method: &Method, path: &str, body: Option<&Value>) -> Result<Vec<Subject>, Denied> {
    let plain = path.split('?').next().unwrap_or_default();
    let parts = plain.strip_prefix('/').and_then(parts_of).filter(|parts| parts.iter().all(|part| is_straight(part)));
    let parts = parts.ok_or(Denied::Detour)?;
    if plain == GRAPHQL {
        return permit_query(pass, method, body).map(|()| Vec::new());
    }
    if !is_permitted(method, path, body) {
        return Err(Denied::NotOfHob);
    }
    match parts.as_slice() {
        ["repos", owner, name, rest @ ..] => {
            if (*owner, *name) != (pass.repo.owner(), pass.repo.name()) {
                return Err(Denied::OtherRepository);
            }
            if *method == Method::GET { Ok(Vec::new()) } else { subjects(pass, rest, body) }
        }
        _ if *method == Method::GET && OF_NO_REPOSITORY.iter().any(|known| fits(&parts, known)) => Ok(Vec::new()),
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

/// What a write below the repository is about, or why a pass never opens it.
fn subjects(pass: &Pass, rest: &[&str], body: Option<&Value>) -> Result<Vec<Subject>, Denied> {
    let text = |member: &str| body.and_then(|body| body[member].as_str()).unwrap_or_default();
    let id = |member: &str| body.and_then(|body| body[member].as_u64()).map(Subject::PartId);
    let is_own = |number: &&&str| issue_number(number) == Some(pass.issue);
    let subjects = match rest {
        ["git", "refs"] => is_ledger_for(pass.issue, text("ref")).then(Vec::new),
        ["git", "refs", name @ ..] => is_ledger_for(pass.issue, &format!("refs/{}", name.join("/"))).then(Vec::new),
        // A commit is nothing until a ref names it, and the forge makes a label that it lacks when an issue gets it.
        ["git", "commits"] | ["labels"] => Some(Vec::new()),
        ["issues"] => {
            let part = text("body").strip_prefix(SUB_ISSUE_MARK).ok_or(Denied::NotOfJobs)?;
            part.starts_with(&format!("{} ", pass.issue)).then(Vec::new)
        }
        ["issues", "comments", id, ..] => id.parse().ok().map(|id| vec![Subject::Comment(id)]),
        ["issues", number, "sub_issues"] => Some(number).filter(is_own).and(id("sub_issue_id")).map(|part| vec![part]),
        ["issues", number, "dependencies", "blocked_by"] => {
            let part = issue_number(number).map(Subject::Part);
            part.zip(id("issue_id")).map(|(part, other)| vec![part, other])
        }
        ["issues", number, "comments" | "labels", ..] | ["pulls", number, ..] => {
            issue_number(number).map(|number| vec![Subject::Number(number)])
        }
        ["pulls"] => Some(vec![Subject::Branch(text("head").to_owned())]),
        ["statuses", commit] => Some(vec![Subject::Commit((*commit).to_owned())]),
        ["actions", "runs", run, ..] => run.parse().ok().map(|run| vec![Subject::Run(run)]),
        _other => return Err(Denied::NotOfJobs),
    };
    subjects.ok_or(Denied::OtherIssue)
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
    use hob_domain::{DASHBOARD_MARK, DASHBOARD_TITLE, Timestamp};
    use serde_json::json;

    use super::*;
    use crate::{
        mutations::{Commenting, Parts, show},
        permitted::{MARK_READY, PermittedCall},
        permitted_calls,
    };

    fn pass() -> Pass {
        let repo = "acme/site".parse().unwrap();
        Pass { repo, issue: IssueNumber(7), job: "hob-site-7".to_owned(), ends: Timestamp::UNIX_EPOCH }
    }

    fn asked(method: &str, path: &str, body: &Value) -> Result<Vec<Subject>, Denied> {
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
            ("POST", "/repos/acme/site/git/commits", json!({"message": "x", "tree": "1", "parents": []})),
            ("POST", "/repos/acme/site/labels", json!({"name": "code"})),
            ("POST", "/repos/acme/site/issues", json!({"title": "x", "body": "<!-- hob:part 7 a 1 -->\nx"})),
            ("PATCH", "/repos/acme/site/git/refs/hob/issues/7", json!({"sha": "1", "force": false})),
            ("POST", "/repos/acme/site/git/refs", json!({"ref": "refs/hob/repository", "sha": "1"})),
            ("DELETE", "/repos/acme/site/git/refs/hob/unsigned/issues/7", json!(null)),
            ("GET", "/user", json!(null)),
            ("GET", "/users/ann", json!(null)),
            ("GET", "/rate_limit", json!(null)),
        ] {
            assert_eq!(asked(method, path, &body), Ok(Vec::new()), "{method} {path}");
        }
    }

    #[test]
    fn other_writes_are_about_something_that_has_to_be_the_issues() {
        use Subject::{Branch, Comment, Commit, Number, Part, PartId, Run};
        let number = |number| Number(IssueNumber(number));
        for (method, path, body, about) in [
            ("POST", "issues/7/comments", json!({"body": "x"}), vec![number(7)]),
            ("POST", "issues/9/comments", json!({"body": "x"}), vec![number(9)]),
            ("POST", "issues/9/labels", json!({"labels": ["x"]}), vec![number(9)]),
            ("DELETE", "issues/9/labels/x", json!(null), vec![number(9)]),
            ("PATCH", "issues/comments/3", json!({"body": "x"}), vec![Comment(3)]),
            ("POST", "issues/comments/3/reactions", json!({"content": "eyes"}), vec![Comment(3)]),
            ("POST", "issues/7/sub_issues", json!({"sub_issue_id": 5}), vec![PartId(5)]),
            ("POST", "issues/9/dependencies/blocked_by", json!({"issue_id": 5}), vec![Part(IssueNumber(9)), PartId(5)]),
            ("POST", "pulls", json!({"head": "hob/7", "base": "main", "title": "x"}), vec![Branch("hob/7".to_owned())]),
            ("PATCH", "pulls/9", json!({"title": "x"}), vec![number(9)]),
            ("POST", "pulls/9/comments/3/replies", json!({"body": "x"}), vec![number(9)]),
            ("POST", "pulls/9/requested_reviewers", json!({"reviewers": ["ann"]}), vec![number(9)]),
            ("POST", "statuses/abc", json!({"context": "hob/proof"}), vec![Commit("abc".to_owned())]),
            ("POST", "actions/runs/3/rerun-failed-jobs", json!({}), vec![Run(3)]),
        ] {
            assert_eq!(asked(method, &format!("/repos/acme/site/{path}"), &body), Ok(about), "{method} {path}");
        }
    }

    /// A later write gets onto the list of the client: it is forwarded once it is known what it is about.
    #[test]
    fn of_each_write_of_the_clients_list_it_is_known_what_it_is_about() {
        let is_write = |call: &PermittedCall| call.method != Method::GET && call.path.starts_with("/repos/*/*/");
        for call in permitted_calls().filter(is_write) {
            let path = call.path.replace('*', "7");
            let rest: Vec<&str> = path.split('/').skip(4).collect();
            let is_for_none = subjects(&pass(), &rest, None) == Err(Denied::NotOfJobs);
            // An issue that is opened is told by its text.
            assert_eq!(is_for_none, ["issues", "issues/7"].contains(&rest.join("/").as_str()), "{path}");
        }
    }

    #[test]
    fn a_pass_opens_nothing_else() {
        use Denied::{Detour, NotOfHob, NotOfJobs, OtherIssue, OtherRepository};
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
            ("POST", "/repos/acme/site/issues/8/sub_issues", json!({"sub_issue_id": 5}), OtherIssue),
            ("POST", "/repos/acme/site/issues/07/comments", json!({"body": "x"}), OtherIssue),
            ("POST", "/repos/acme/site/issues", json!({"title": "x", "body": "<!-- hob:part 70 a 1 -->"}), OtherIssue),
            ("POST", "/repos/acme/site/issues", json!({"title": ""}), NotOfJobs),
            ("POST", "/repos/acme/site/issues", json!({"title": DASHBOARD_TITLE, "body": DASHBOARD_MARK}), NotOfJobs),
            ("PATCH", "/repos/acme/site/issues/7", json!({"body": DASHBOARD_MARK}), NotOfJobs),
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
            assert_eq!(at(query, "acme", "site"), Ok(Vec::new()), "{query}");
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
            &show(Commenting::Writes, Parts { adds: true, ..Parts::default() }),
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
