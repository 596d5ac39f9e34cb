//! Search for issues and pull requests, with the qualifiers that `gh` writes. Another qualifier is refused by its name: to
//! leave it out would find what was not asked for.

use super::{
    super::{
        super::state::{Issue, IssueState, Repository},
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

/// What a search asks for: each qualifier with its value, and whether it is to hold.
struct Wanted {
    terms: Vec<(bool, String, String)>,
}

/// A page of what a search finds.
pub(super) fn search<'s>(at: &At<'s>, args: &Args) -> Resolved<'s> {
    let kind = args.needed("type");
    if kind != "ISSUE" {
        return Err(Problem::new("NOT_IMPLEMENTED", format!("the embedded forge has no search of type {kind}")));
    }
    let wanted = Wanted::read(args.needed("query"))?;
    let mut found: Vec<(&Repository, &Issue)> = Vec::new();
    for repo in at.repositories() {
        for issue in repo.issues.values() {
            if wanted.fits(at, repo, issue)? {
                found.push((repo, issue));
            }
        }
    }
    wanted.order(&mut found)?;
    let node = |repo, issue| match Of::issue(repo, issue) {
        Some(of) => Out::object(PullNode(of)),
        None => Out::object(IssueNode { repo, issue }),
    };
    let count = found.len();
    let nodes = found.into_iter().map(|(repo, issue)| (issue.id, node(repo, issue)));
    Ok(connection_with("SearchResultItemConnection", args, nodes, vec![("issueCount", Out::leaf(count))]))
}

impl Wanted {
    /// Reads the words of a query; quotes keep blanks together.
    fn read(query: &str) -> Result<Self, Problem> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in query.chars() {
            match c {
                '"' => quoted = !quoted,
                c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        words.push(word);
        let terms = words.into_iter().filter(|word| !word.is_empty()).map(|word| {
            let (holds, word) = word.strip_prefix('-').map_or((true, word.as_str()), |rest| (false, rest));
            let (name, value) = word.split_once(':').unwrap_or(("", word));
            (holds, name.to_owned(), value.to_owned())
        });
        Ok(Self { terms: terms.collect() })
    }

    fn fits(&self, at: &At<'_>, repo: &Repository, issue: &Issue) -> Result<bool, Problem> {
        for (holds, name, value) in &self.terms {
            if holds_for(at, repo, issue, name, value)? != *holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The newest first, unless the query says otherwise.
    fn order(&self, found: &mut [(&Repository, &Issue)]) -> Result<(), Problem> {
        let sort = self.terms.iter().find(|(_, name, _)| name == "sort").map_or("created-desc", |(_, _, value)| value);
        let (field, direction) = sort.split_once('-').unwrap_or((sort, "desc"));
        match field {
            "created" => found.sort_by_key(|(_, issue)| issue.id),
            "updated" => found.sort_by_key(|(_, issue)| (issue.updated_at, issue.id)),
            "comments" => found.sort_by_key(|(_, issue)| (issue.comments.len(), issue.id)),
            _ => return Err(unknown("sort", sort)),
        }
        if direction == "desc" {
            found.reverse();
        }
        Ok(())
    }
}

fn holds_for(at: &At<'_>, repo: &Repository, issue: &Issue, name: &str, value: &str) -> Result<bool, Problem> {
    let me = at.call.caller.as_ref();
    let is = |login: &crate::names::Login| match (value, me) {
        ("@me", Some(me)) => login.is(me),
        _ => login.is(&value.into()),
    };
    let (open, pull) = (issue.state == IssueState::Open, issue.pull.as_ref());
    let merged = pull.is_some_and(|pull| pull.merged.is_some());
    Ok(match (name, value) {
        ("", word) => {
            let text = format!("{}\n{}", issue.title, issue.body.as_deref().unwrap_or_default());
            text.to_lowercase().contains(&word.to_lowercase())
        }
        ("repo", name) => repo.name.to_string().eq_ignore_ascii_case(name),
        ("user" | "org", name) => repo.name.owner().eq_ignore_ascii_case(name),
        ("is" | "state", "open") => open,
        ("is" | "state", "closed") => !open,
        ("is" | "type", "issue") => pull.is_none(),
        ("is" | "type", "pr") => pull.is_some(),
        ("is", "merged") => merged,
        ("is", "unmerged") => pull.is_some() && !merged,
        ("is", "draft") => pull.is_some_and(|pull| pull.draft),
        ("draft", "true" | "false") => pull.is_some_and(|pull| pull.draft == (value == "true")),
        ("author", _) => is(&issue.author),
        ("assignee", _) => issue.assignees.iter().any(is),
        ("commenter", _) => issue.comments.iter().any(|comment| is(&comment.author)),
        // Several labels with commas between them: one is enough.
        ("label", names) => {
            names.split(',').any(|name| repo.label(name).is_some_and(|label| issue.labels.contains(&label.id)))
        }
        ("no", "label") => issue.labels.is_empty(),
        ("no", "assignee") => issue.assignees.is_empty(),
        ("head", branch) => pull.is_some_and(|pull| pull.head_ref == branch),
        ("base", branch) => pull.is_some_and(|pull| pull.base_ref == branch),
        ("review-requested", _) => pull.is_some_and(|pull| pull.reviewers.iter().any(is)),
        ("sort", _) => true,
        ("archived", "false") => true,
        (name, value) => return Err(unknown(name, value)),
    })
}

fn unknown(name: &str, value: &str) -> Problem {
    Problem::new("NOT_IMPLEMENTED", format!("the embedded forge's search has no qualifier `{name}:{value}`"))
}
