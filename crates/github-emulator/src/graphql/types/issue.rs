//! Issues, and pages of them.

use super::{
    super::{
        super::{
            state::{Issue, IssueState, Repository, StateReason, closes},
            wire::node_id,
        },
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        page::connection,
    },
    conversation, linked,
};
use crate::names::Timestamp;

pub(super) const DESCRIPTION: &str = r"
type Issue implements Assignable & Closable & Comment & Labelable & Lockable & Node & Reactable & UniformResourceLocatable & Updatable {
    activeLockReason: LockReason
    assignees: UserConnection!
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    body: String!
    closed: Boolean!
    closedAt: DateTime
    closedByPullRequestsReferences(includeClosedPrs: Boolean = false): PullRequestConnection
    comments(orderBy: IssueCommentOrder): IssueCommentConnection!
    createdAt: DateTime!
    createdViaEmail: Boolean!
    databaseId: Int
    editor: Actor
    fullDatabaseId: BigInt
    id: ID!
    includesCreatedEdit: Boolean!
    isPinned: Boolean
    issueType: IssueType
    labels(orderBy: LabelOrder): LabelConnection
    linkedBranches: LinkedBranchConnection!
    lastEditedAt: DateTime
    locked: Boolean!
    milestone: Milestone
    number: Int!
    parent: Issue
    participants: UserConnection!
    projectCards: ProjectCardConnection!
    publishedAt: DateTime
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    repository: Repository!
    resourcePath: URI!
    state: IssueState!
    stateReason(enableDuplicate: Boolean = false): IssueStateReason
    subIssues: IssueConnection!
    subIssuesSummary: SubIssuesSummary!
    title: String!
    updatedAt: DateTime!
    url: URI!
    userContentEdits: UserContentEditConnection
    viewerCanClose: Boolean!
    viewerCanDelete: Boolean!
    viewerCanLabel: Boolean!
    viewerCanReact: Boolean!
    viewerCanReopen: Boolean!
    viewerCanUpdate: Boolean!
    viewerDidAuthor: Boolean!
}
type IssueType { color: String! description: String id: ID! name: String! }
type SubIssuesSummary { completed: Int! percentCompleted: Int! total: Int! }
enum IssueState { CLOSED OPEN }
enum IssueStateReason { COMPLETED DUPLICATE NOT_PLANNED REOPENED }
enum IssueClosedStateReason { COMPLETED DUPLICATE NOT_PLANNED }
enum IssueOrderField { COMMENTS CREATED_AT UPDATED_AT }
input IssueOrder { direction: OrderDirection! field: IssueOrderField! }
input IssueFilters {
    assignee: String
    createdBy: String
    labels: [String!]
    mentioned: String
    since: DateTime
    states: [IssueState!]
}
";

/// An issue that is not a pull request.
#[derive(Clone, Copy)]
pub(super) struct IssueNode<'s> {
    pub(super) repo: &'s Repository,
    pub(super) issue: &'s Issue,
}

impl<'s> Object<'s> for IssueNode<'s> {
    fn kind(&self) -> &str {
        "Issue"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Self { repo, issue } = *self;
        let node = |issue: &Issue| Out::Node(node_id("Issue", issue.id));
        let children = || issue.children.iter().filter_map(|number| repo.issues.get(number));
        Ok(match name {
            "closedByPullRequestsReferences" => {
                let closed_too = args.flag("includeClosedPrs").unwrap_or(false);
                let all = repo.issues.values().filter_map(|other| Some((other, other.pull.as_ref()?)));
                let fixing = all.filter(|(other, pull)| {
                    let live = other.state == IssueState::Open || pull.merged.is_some();
                    // GitHub reads the keywords of a pull request into the default branch only.
                    (closed_too || live)
                        && pull.base_ref == repo.default_branch
                        && closes(other.body.as_deref().unwrap_or_default()).contains(&issue.number)
                });
                let nodes = fixing.map(|(_, pull)| (pull.id, Out::Node(node_id("PullRequest", pull.id))));
                connection("PullRequestConnection", args, nodes)
            }
            "isPinned" => Out::leaf(false),
            // The forge has no types of issues.
            "issueType" => Out::Null,
            "linkedBranches" => linked::branches(at, args, repo, issue),
            "parent" => {
                let parent = repo.issues.values().find(|other| other.children.contains(&issue.number));
                parent.map_or(Out::Null, node)
            }
            "state" => Out::leaf(issue.state.name().to_uppercase()),
            "stateReason" => {
                let duplicates = args.flag("enableDuplicate").unwrap_or(false);
                let told = |reason| {
                    if reason == StateReason::Duplicate && !duplicates { StateReason::NotPlanned } else { reason }
                };
                Out::leaf(issue.reason.map(|reason| told(reason).name().to_uppercase()))
            }
            "subIssues" => connection("IssueConnection", args, children().map(|child| (child.id, node(child)))),
            "subIssuesSummary" => {
                let total = children().count();
                let completed = children().filter(|child| child.state == IssueState::Closed).count();
                let percent = (completed * 100).checked_div(total).unwrap_or(0);
                made(
                    "SubIssuesSummary",
                    [
                        ("completed", Out::leaf(completed)),
                        ("percentCompleted", Out::leaf(percent)),
                        ("total", Out::leaf(total)),
                    ],
                )
            }
            _ => {
                let shared = conversation::field(at, repo, issue, name, args);
                return shared.unwrap_or_else(|| unresolved("Issue", name));
            }
        })
    }
}

/// A page of the issues of a repository, as the arguments filter and order them.
pub(super) fn issues<'s>(at: &At<'s>, args: &Args, repo: &'s Repository) -> Out<'s> {
    let filter = args.input("filterBy").unwrap_or_default();
    let states = args.texts("states").or(filter.texts("states"));
    let labels = args.texts("labels").or(filter.texts("labels"));
    let since = filter.text("since").and_then(|since| since.parse::<Timestamp>().ok());
    let me = at.call.caller.as_ref().map_or("", |login| login.as_str());
    let named = |name: &'static str| filter.text(name).map(|login| if login == "@me" { me } else { login }.to_owned());
    let (author, assignee, mentioned) = (named("createdBy"), named("assignee"), named("mentioned"));
    let says = |issue: &Issue, login: &str| {
        let texts = issue.comments.iter().map(|comment| comment.body.as_str()).chain(issue.body.as_deref());
        texts.into_iter().any(|text| text.contains(&format!("@{login}")))
    };
    let mut found: Vec<&Issue> = repo
        .issues
        .values()
        .filter(|issue| issue.pull.is_none())
        .filter(|issue| {
            states.as_ref().is_none_or(|states| states.contains(&issue.state.name().to_uppercase().as_str()))
        })
        // One of the labels is enough, unlike in the REST API.
        .filter(|issue| {
            let ids =
                labels.as_ref().map(|names| names.iter().filter_map(|name| repo.label(name)).map(|label| label.id));
            ids.is_none_or(|mut ids| ids.any(|id| issue.labels.contains(&id)))
        })
        .filter(|issue| since.is_none_or(|since| issue.updated_at >= since))
        .filter(|issue| author.as_ref().is_none_or(|login| issue.author.is(&login.as_str().into())))
        .filter(|issue| match assignee.as_deref() {
            None => true,
            Some("*") => !issue.assignees.is_empty(),
            Some(login) => issue.assignees.iter().any(|assignee| assignee.is(&login.into())),
        })
        .filter(|issue| mentioned.as_ref().is_none_or(|login| says(issue, login)))
        .collect();
    ordered(args, &mut found);
    let nodes = found.into_iter().map(|issue| (issue.id, Out::object(IssueNode { repo, issue })));
    connection("IssueConnection", args, nodes)
}

/// Puts issues in the order that is asked for: by creation, the oldest first, without one.
pub(super) fn ordered(args: &Args, found: &mut [&Issue]) {
    let order = args.input("orderBy").unwrap_or_default();
    match order.text("field") {
        Some("UPDATED_AT") => found.sort_by_key(|issue| (issue.updated_at, issue.number)),
        Some("COMMENTS") => found.sort_by_key(|issue| (issue.comments.len(), issue.number)),
        Some(_) | None => found.sort_by_key(|issue| (issue.created_at, issue.number)),
    }
    if order.text("direction") == Some("DESC") {
        found.reverse();
    }
}

/// The numbers of the issues that the text of a pull request closes, of those that are there.
pub(super) fn closing<'s>(repo: &'s Repository, text: &str) -> Vec<&'s Issue> {
    let numbers = closes(text);
    numbers.iter().filter_map(|number| repo.issues.get(number)).filter(|issue| issue.pull.is_none()).collect()
}
