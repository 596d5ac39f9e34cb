//! What one query shows of an issue before it is claimed: who changed its text, and what people have begun on it.

use hob_domain::{Actor, ClosingPull, IssueNumber, OthersWork, PullNumber, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ForgeError, Issues,
    TokenPermission::IssuesRead,
    edits::{EditorWire, body_edits},
};

/// The edits are those of `edits.rs`. A person opens no more than a few pull requests for one issue.
pub(super) const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    issue(number: $number) { lastEditedAt userContentEdits(first: 100) { nodes { editedAt editor { login __typename } } } \
    closedByPullRequestsReferences(first: 20) { nodes { number state headRefName repository { nameWithOwner } \
        author { login __typename } } } \
    linkedBranches(first: 20) { nodes { ref { name } } } } } }";

/// Completes "asked to …".
const ASKED: &str = "read what people have begun on the issue";

/// An issue before it is claimed.
#[derive(Debug, Default)]
pub struct BeforeClaim {
    /// The accounts that edited its title or its body; `None` for an account that is gone.
    pub editors: Vec<Option<Actor>>,
    /// The pull requests that close it, and its branches.
    pub others: OthersWork,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LinksWire {
    closed_by_pull_requests_references: Option<List<PullWire>>,
    linked_branches: Option<List<BranchWire>>,
}

#[derive(Deserialize)]
struct List<T> {
    // The list, and an entry that the token may not see, may be null.
    nodes: Option<Vec<Option<T>>>,
}

impl<T> List<T> {
    fn entries(list: Option<Self>) -> impl Iterator<Item = T> {
        list.and_then(|list| list.nodes).into_iter().flatten().flatten()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullWire {
    number: PullNumber,
    state: String,
    head_ref_name: String,
    repository: RepositoryWire,
    author: Option<EditorWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryWire {
    name_with_owner: String,
}

#[derive(Deserialize)]
struct BranchWire {
    #[serde(rename = "ref")]
    reference: Option<RefWire>,
}

#[derive(Deserialize)]
struct RefWire {
    name: String,
}

impl Issues<'_> {
    /// Who changed an issue in the second `since` or later, and what people have begun on it. A server that does not
    /// know of the latter shows none of it.
    ///
    /// # Errors
    /// [`ForgeError`] of the reads; the caller must not assume that there were no edits.
    pub async fn before_claim(self, number: IssueNumber, since: Timestamp) -> Result<BeforeClaim, ForgeError> {
        let issue = match self.asked(number).await {
            Err(error) if error.is_not_found() => {
                let editors = self.editors_since(number, since).await?;
                return Ok(BeforeClaim { editors, ..BeforeClaim::default() });
            }
            issue => issue?,
        };
        let mut editors = body_edits(&issue, ASKED)?.editors_since(since);
        editors.extend(self.renamers_since(number, since).await?);
        Ok(BeforeClaim { editors, others: self.links(&issue)? })
    }

    /// The open pull requests that close an issue, and its linked branches.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn others_work(self, number: IssueNumber) -> Result<OthersWork, ForgeError> {
        match self.asked(number).await {
            Err(error) if error.is_not_found() => Ok(OthersWork::default()),
            issue => self.links(&issue?),
        }
    }

    async fn asked(self, number: IssueNumber) -> Result<Value, ForgeError> {
        let repo = self.forge.repo();
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": number.0 });
        let mut answered = self.forge.connection().query(QUERY, variables, IssuesRead.to(ASKED)).await?;
        Ok(answered.data["repository"]["issue"].take())
    }

    fn links(self, issue: &Value) -> Result<OthersWork, ForgeError> {
        let read = LinksWire::deserialize(issue);
        let links = read.map_err(|error| ForgeError::Unreadable { what: ASKED.to_owned(), source: error.into() })?;
        let own = self.forge.repo().to_string();
        let pull = |wire: PullWire| ClosingPull {
            number: wire.number,
            repository: Some(wire.repository.name_with_owner).filter(|of| !of.eq_ignore_ascii_case(&own)),
            branch: wire.head_ref_name,
            author: wire.author.map(Actor::from),
        };
        let pulls = List::entries(links.closed_by_pull_requests_references);
        let branches = List::entries(links.linked_branches).filter_map(|branch| branch.reference);
        Ok(OthersWork {
            pulls: pulls.filter(|wire| wire.state == "OPEN").map(pull).collect(),
            branches: branches.map(|reference| reference.name).collect(),
        })
    }
}
