//! What a process that knows nothing of a repository asks first, in one GraphQL query: branch and file, the issues, what was said on those
//! that wait for an answer, and their ledgers. Beside the list of the refs, a run with nothing to do asks nothing else.
//!
//! # Caveats
//! - It is never answered with 304: a process that stays reads all of it over the REST API from then on. What the query does not
//!   tell plainly is left to the REST API, whose answers say what is wrong: [`first_look`] then is `None`.
//! - GraphQL does not say what blocks an issue: [`FirstLook::issues`] have a `blocked_by` of 0, and their assignees are people only.

use std::collections::BTreeMap;

use hob_domain::{Actor, ClosedAs, IssueNumber, IssueStatus, Login, Sha, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    BaseBranch, Comment, Forge, Issue, RepositoryDetails,
    TokenPermission::ContentsRead,
    comment_batch::{CommentsWire, ISSUES},
    edits::EditorWire,
    ledger_batch::{COMMITS, learn},
    objects::object_name,
    open_pulls::List,
};

/// The most issues: bodies and comments are long, and the answer has to come within `forge.timeout`. With two lists and four lists of each
/// issue the query asks for 146 at most, which is one point of GitHub's; from 150 on it would be two.
const ISSUES_MAX: usize = 36;

/// The kind of an entry that is a file, and the part of its mode that says so: a link has another.
const FILE: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct FirstQuestion<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The label of the issues.
    pub label: &'a str,
    /// The label of those among them that wait for an answer.
    pub blocked: &'a str,
    /// The tips of ledgers. The caller bounds their number.
    pub ledgers: &'a [&'a Sha],
}

/// A repository, its base branch and a file there, and its issues.
#[derive(Debug, Clone)]
pub struct FirstLook {
    /// The repository's own data.
    pub details: RepositoryDetails,
    /// The branch that work starts from.
    pub base: BaseBranch,
    /// The text of the file. `None` if the commit has none.
    pub file: Option<String>,
    /// The open issues with the label, oldest first. `None` if there are more than the query tells.
    pub issues: Option<Vec<Issue>>,
    /// The comments on open issues that wait for an answer, oldest first, of each all or none.
    pub comments: BTreeMap<IssueNumber, Vec<Comment>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryWire {
    name_with_owner: String,
    is_archived: bool,
    has_issues_enabled: bool,
    is_private: bool,
    /// `None` for an App's token, or a job's.
    viewer_permission: Option<String>,
    /// `None` of a repository without commits.
    default_branch_ref: Option<BranchWire>,
    labelled: List<IssueWire>,
    blocked: List<SaidWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueWire {
    id: String,
    number: IssueNumber,
    title: String,
    body: String,
    url: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    author: Option<EditorWire>,
    labels: Option<List<LabelWire>>,
    assignees: List<PersonWire>,
    comments: CountWire,
}

#[derive(Deserialize)]
struct LabelWire {
    name: String,
}

#[derive(Deserialize)]
struct PersonWire {
    login: Login,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountWire {
    total_count: u64,
}

#[derive(Deserialize)]
struct SaidWire {
    number: IssueNumber,
    #[serde(flatten)]
    said: CommentsWire,
}

#[derive(Deserialize)]
struct BranchWire {
    name: String,
    target: Option<CommitWire>,
}

#[derive(Deserialize)]
struct CommitWire {
    oid: Sha,
    tree: TreeWire,
    file: Option<EntryWire>,
}

#[derive(Deserialize)]
struct TreeWire {
    oid: Sha,
}

#[derive(Deserialize)]
struct EntryWire {
    mode: u32,
    object: Option<BlobWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlobWire {
    text: Option<String>,
    is_truncated: Option<bool>,
}

impl EntryWire {
    /// The whole text. `None` if it is not a file, or its text is not here as it is.
    fn text(self) -> Option<String> {
        let whole = self.object.filter(|blob| self.mode & KIND == FILE && blob.is_truncated == Some(false));
        whole?.text.filter(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }
}

impl IssueWire {
    /// The issue. `None` if some of its labels or assignees are not here.
    fn into_issue(self) -> Option<Issue> {
        Some(Issue {
            number: self.number,
            title: self.title,
            body: self.body,
            status: IssueStatus::Open,
            labels: self.labels?.whole()?.into_iter().map(|label| label.name).collect(),
            author: self.author.map(|author| Actor::from(author).login),
            created_at: self.created_at,
            updated_at: self.updated_at,
            html_url: self.url,
            node: self.id,
            assignees: self.assignees.whole()?.into_iter().map(|person| person.login).collect(),
            blocked_by: 0,
            comments: self.comments.total_count,
            closed_as: ClosedAs::Completed,
            closed_by: None,
        })
    }
}

/// The query that asks for so many ledgers.
pub(super) fn query(ledgers: usize) -> String {
    let (parameters, objects) = (COMMITS.parameters(ledgers), COMMITS.fields(ledgers, "ledger"));
    let ledger = if ledgers == 0 { String::new() } else { COMMITS.fragment("ledger") };
    let said = ISSUES.fragment("said");
    format!(
        "query($owner: String!, $name: String!, $path: String!, $label: String!, $blocked: String!{parameters}) {{ \
         repository(owner: $owner, name: $name) {{ nameWithOwner isArchived hasIssuesEnabled isPrivate viewerPermission \
         defaultBranchRef {{ name target {{ ... on Commit {{ oid tree {{ oid }} \
         file(path: $path) {{ mode object {{ ... on Blob {{ text isTruncated }} }} }} }} }} }} \
         labelled: issues(first: {ISSUES_MAX}, states: [OPEN], labels: [$label], \
         orderBy: {{field: CREATED_AT, direction: ASC}}) {{ pageInfo {{ hasNextPage }} nodes {{ \
         id number title body url createdAt updatedAt author {{ login __typename }} \
         labels(first: 100) {{ pageInfo {{ hasNextPage }} nodes {{ name }} }} \
         assignees(first: 100) {{ pageInfo {{ hasNextPage }} nodes {{ login }} }} comments {{ totalCount }} }} }} \
         blocked: issues(first: {ISSUES_MAX}, states: [OPEN], labels: [$blocked], \
         orderBy: {{field: CREATED_AT, direction: ASC}}) {{ nodes {{ number ...said }} }}{objects} }} }} {said} {ledger}"
    )
}

/// Whether this is the whole text of the query, for any number of ledgers.
pub(super) fn is_asked_by(asked: &str) -> bool {
    asked == query(COMMITS.count_in(asked))
}

/// What one query tells. `None` if it does not tell repository, branch and file. The ledgers are known from then on.
pub async fn first_look(forge: &Forge, question: FirstQuestion<'_>) -> Option<FirstLook> {
    let (repo, FirstQuestion { path, label, blocked, ledgers }) = (forge.repo(), question);
    let mut variables =
        json!({ "owner": repo.owner(), "name": repo.name(), "path": path, "label": label, "blocked": blocked });
    for (index, ledger) in ledgers.iter().enumerate() {
        variables[object_name(index)] = ledger.as_str().into();
    }
    let purpose = ContentsRead.to("look at the repository for the first time");
    let asked = forge.connection().query(&query(ledgers.len()), variables, purpose).await;
    let asked = asked.map_err(|error| tracing::debug!(%error, "the repository is read over the REST API: {error}"));
    // Of a file that there is not, GitHub says that as an error beside the rest.
    let mut answered = asked.ok().filter(|answered| answered.lacks_at_most("file"))?;
    let mut repository = answered.data["repository"].take();
    let commits: Vec<Value> = (0..ledgers.len()).map(|index| repository[object_name(index)].take()).collect();
    let wire = RepositoryWire::deserialize(repository).ok()?;
    // A repository that was renamed is an error of the REST API, which says its new name.
    if !wire.name_with_owner.eq_ignore_ascii_case(&repo.to_string()) {
        return None;
    }
    let branch = wire.default_branch_ref?;
    let commit = branch.target?;
    let file = match commit.file {
        Some(entry) => Some(entry.text()?),
        None => None,
    };
    let may_not_push = matches!(wire.viewer_permission.as_deref(), Some("READ" | "TRIAGE"));
    let details = RepositoryDetails {
        default_branch: branch.name.clone(),
        is_read_only: may_not_push && forge.connection().is_of_a_person().await.ok()?,
        archived: wire.is_archived,
        has_issues: wire.has_issues_enabled,
        is_public: !wire.is_private,
    };
    for (ledger, told) in ledgers.iter().zip(&commits) {
        learn(forge, ledger, told);
    }
    let base = BaseBranch { name: branch.name, sha: commit.oid, tree: commit.tree.oid };
    let issues = wire.labelled.whole().and_then(|all| all.into_iter().map(IssueWire::into_issue).collect());
    let comments = wire.blocked.entries().filter_map(|wire| Some((wire.number, wire.said.whole()?))).collect();
    Some(FirstLook { details, base, file, issues, comments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_of_a_file_counts() {
        let text = |mode: u32, text: Option<&str>, is_truncated: Option<bool>| {
            let object = Some(BlobWire { text: text.map(str::to_owned), is_truncated });
            EntryWire { mode, object }.text()
        };
        assert_eq!(text(0o100_644, Some("a"), Some(false)).as_deref(), Some("a"));
        assert_eq!(text(0o100_755, Some("a"), Some(false)).as_deref(), Some("a"));
        for (what, found) in [
            ("a link's target", text(0o120_000, Some("../hob.toml"), Some(false))),
            ("a part", text(0o100_644, Some("a"), Some(true))),
            ("what may be a part", text(0o100_644, Some("a"), None)),
            ("a binary file", text(0o100_644, None, Some(false))),
            ("a text that is not UTF-8", text(0o100_644, Some("a\u{fffd}"), Some(false))),
            ("a folder", EntryWire { mode: 0o040_000, object: None }.text()),
        ] {
            assert_eq!(found, None, "{what}");
        }
    }

    /// An issue with some fields replaced.
    fn issue(more: &Value) -> Option<Issue> {
        let mut wire = json!({ "id": "I_1", "number": 7, "title": "Paint", "body": "Blue.", "url": "https://example.com/7",
            "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-03T03:04:05Z", "comments": { "totalCount": 3 },
            "author": { "login": "renovate", "__typename": "Bot" },
            "labels": { "pageInfo": { "hasNextPage": false }, "nodes": [{ "name": "code" }, { "name": "blocked" }] },
            "assignees": { "pageInfo": { "hasNextPage": false }, "nodes": [{ "login": "ann" }] } });
        for (name, value) in more.as_object().unwrap() {
            wire[name] = value.clone();
        }
        IssueWire::deserialize(wire).ok()?.into_issue()
    }

    #[test]
    fn an_issue_is_as_the_rest_api_has_it_or_not_told() {
        let told = issue(&json!({})).unwrap();
        assert_eq!((told.number.0, told.labels.join(" ").as_str(), told.comments), (7, "code blocked", 3));
        assert_eq!((told.author, told.assignees), (Some("renovate[bot]".into()), vec!["ann".into()]));
        assert_eq!(issue(&json!({ "author": null })).unwrap().author, None, "the account is gone");
        let more = |nodes: Value| json!({ "pageInfo": { "hasNextPage": true }, "nodes": nodes });
        let hidden = json!({ "pageInfo": { "hasNextPage": false }, "nodes": [null] });
        for part in [
            json!({ "labels": null }),
            json!({ "labels": more(json!([{ "name": "code" }])) }),
            json!({ "labels": hidden }),
            json!({ "assignees": more(json!([{ "login": "ann" }])) }),
            json!({ "assignees": hidden }),
        ] {
            assert!(issue(&part).is_none(), "{part}");
        }
    }
}
