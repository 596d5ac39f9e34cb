//! Which of many repositories have news: one GraphQL query for a hundred of them, instead of two calls of the REST API for each.
//!
//! # Caveats
//! It shows what touches an issue, a pull request or the base branch. A check that ends touches none of them.

use chrono::Utc;
use hob_domain::{RepoName, Sha, Timestamp};
use serde_json::{Map, Value};

use crate::{Connection, ForgeError, TokenPermission::IssuesRead};

/// The most repositories of one query.
pub const NEWS_MAX: usize = 100;

/// What is asked of each.
const FIELDS: &str = "fragment f on Repository { \
    issues(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { totalCount nodes { updatedAt } } \
    pullRequests(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { totalCount nodes { updatedAt } } \
    defaultBranchRef { target { oid } } }";

/// A repository from afar: the same as before unless something came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    issues: Latest,
    pulls: Latest,
    tip: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Latest {
    count: u64,
    at: Option<Timestamp>,
}

impl Outline {
    /// When an issue or a pull request last changed.
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.issues.at.max(self.pulls.at)
    }

    fn of(repository: &Value) -> Option<Self> {
        let latest = |list: &Value| {
            let at = list["nodes"][0]["updatedAt"].as_str();
            let at = at.and_then(|at| chrono::DateTime::parse_from_rfc3339(at).ok()).map(|at| at.with_timezone(&Utc));
            Some(Latest { count: list["totalCount"].as_u64()?, at })
        };
        let tip = repository["defaultBranchRef"]["target"]["oid"].as_str().map(|oid| Sha(oid.to_owned()));
        Some(Self { issues: latest(&repository["issues"])?, pulls: latest(&repository["pullRequests"])?, tip })
    }
}

/// The outlines of these repositories, [`NEWS_MAX`] at most, in their order. `None` of one that the token may not see.
///
/// # Errors
/// [`ForgeError`] of the query.
pub async fn outlines(connection: &Connection, repos: &[RepoName]) -> Result<Vec<Option<Outline>>, ForgeError> {
    let (mut parameters, mut fields, mut variables) = (Vec::new(), Vec::new(), Map::new());
    for (index, repo) in repos.iter().enumerate() {
        parameters.push(format!("$o{index}: String!, $n{index}: String!"));
        fields.push(format!("r{index}: repository(owner: $o{index}, name: $n{index}) {{ ...f }}"));
        variables.insert(format!("o{index}"), repo.owner().into());
        variables.insert(format!("n{index}"), repo.name().into());
    }
    let query = format!("query({}) {{ {} }} {FIELDS}", parameters.join(", "), fields.join(" "));
    let answered =
        connection.query(&query, Value::Object(variables), IssuesRead.to("see which repositories have news"));
    let data = answered.await?.data;
    Ok((0..repos.len()).map(|index| Outline::of(&data[format!("r{index}")])).collect())
}
