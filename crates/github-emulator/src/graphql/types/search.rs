//! Search for issues and pull requests, with the qualifiers of the forge's searches.

use super::{
    super::{
        super::{
            search::{Unknown, Wanted},
            state::{Issue, Repository},
        },
        object::{Args, At, Out, Resolved},
        page::connection_with,
        problem::Problem,
    },
    issue::IssueNode,
    pull::PullNode,
    review::Of,
};

pub(super) const DESCRIPTION: &str = r"
enum SearchType { DISCUSSION ISSUE REPOSITORY USER }
union SearchResultItem = Issue | PullRequest
type SearchResultItemConnection {
    edges: [SearchResultItemEdge]
    issueCount: Int!
    nodes: [SearchResultItem]
    pageInfo: PageInfo!
}
";

/// A page of a search's results.
pub(super) fn search<'s>(at: &At<'s>, args: &Args) -> Resolved<'s> {
    let kind = args.needed("type");
    if kind != "ISSUE" {
        return Err(Problem::new("NOT_IMPLEMENTED", format!("the embedded forge has no search of type {kind}")));
    }
    let wanted = Wanted::read(args.needed("query"));
    let mut found: Vec<(&Repository, &Issue)> = Vec::new();
    for repo in at.repositories() {
        for issue in repo.issues.values() {
            if wanted.fits(at.call.caller.as_ref(), repo, issue)? {
                found.push((repo, issue));
            }
        }
    }
    wanted.order(&mut found, None)?;
    let node = |repo, issue| match Of::issue(repo, issue) {
        Some(of) => Out::object(PullNode(of)),
        None => Out::object(IssueNode { repo, issue }),
    };
    let count = found.len();
    let nodes = found.into_iter().map(|(repo, issue)| (issue.id, node(repo, issue)));
    Ok(connection_with("SearchResultItemConnection", args, nodes, vec![("issueCount", Out::leaf(count))]))
}

impl From<Unknown> for Problem {
    fn from(unknown: Unknown) -> Self {
        Self::new("NOT_IMPLEMENTED", unknown.to_string())
    }
}
