//! The common parts of issues and pull requests: comments, labels, assignees, and whether they are open.

use super::{
    super::{
        super::{
            state::{Issue, IssueState, Repository},
            users::Role,
            wire::time,
        },
        object::{Args, At, Out, Resolved},
        page::connection,
    },
    account::people,
    comment::CommentNode,
    label::labels,
    text::Text,
};

pub(super) const DESCRIPTION: &str = r"
interface Assignable { assignees: UserConnection! }
interface Closable { closed: Boolean! closedAt: DateTime viewerCanClose: Boolean! viewerCanReopen: Boolean! }
interface Labelable { labels(orderBy: LabelOrder): LabelConnection viewerCanLabel: Boolean! }
interface Lockable { activeLockReason: LockReason locked: Boolean! }
enum LockReason { OFF_TOPIC RESOLVED SPAM TOO_HEATED }
input IssueCommentOrder { direction: OrderDirection! field: IssueCommentOrderField! }
enum IssueCommentOrderField { UPDATED_AT }
type ProjectCard { column: ProjectColumn project: Project! }
type ProjectColumn { name: String! }
type Project { name: String! }
type Milestone { description: String dueOn: DateTime number: Int! title: String! url: URI! }
";

/// A field that issues and pull requests share; `None` for another one.
pub(super) fn field<'s>(
    at: &At<'s>,
    repo: &'s Repository,
    issue: &'s Issue,
    name: &str,
    args: &Args,
) -> Option<Resolved<'s>> {
    let below = || format!("/{}/{}", if issue.pull.is_some() { "pull" } else { "issues" }, issue.number);
    let open = issue.state == IssueState::Open;
    let reaches = |role| at.call.caller.is_some() && at.role(repo) >= role;
    let may_turn = at.is_viewer(&issue.author) || reaches(Role::Triage);
    Some(Ok(match name {
        "activeLockReason" => {
            let reason = issue.lock.as_ref().and_then(|lock| lock.reason.as_ref());
            Out::leaf(reason.map(|reason| reason.to_uppercase().replace([' ', '-'], "_")))
        }
        "assignees" => people("UserConnection", at, args, &issue.assignees),
        "closed" => Out::leaf(!open),
        "closedAt" => Out::leaf(issue.closed.as_ref().map(|(at, _)| time(*at))),
        "comments" => comments(args, repo, issue),
        "labels" => {
            let all = issue.labels.iter().filter_map(|id| repo.label_by_id(*id)).collect();
            labels(at, args, repo, all)
        }
        "locked" => Out::leaf(issue.lock.is_some()),
        // The forge has no milestones.
        "milestone" => Out::Null,
        "number" => Out::leaf(issue.number),
        "participants" => {
            let mut all = vec![&issue.author];
            for comment in &issue.comments {
                if !all.contains(&&comment.author) {
                    all.push(&comment.author);
                }
            }
            people("UserConnection", at, args, all)
        }
        // Nor projects.
        "projectCards" => connection("ProjectCardConnection", args, []),
        "resourcePath" => Out::leaf(format!("/{}{}", repo.name, below())),
        "title" => Out::leaf(issue.title.as_str()),
        "url" => Out::leaf(at.page(repo, &below())),
        "viewerCanClose" => Out::leaf(open && may_turn),
        "viewerCanLabel" => Out::leaf(reaches(Role::Triage)),
        "viewerCanReopen" => {
            Out::leaf(!open && may_turn && issue.pull.as_ref().is_none_or(|pull| pull.merged.is_none()))
        }
        _ => return Text::of_issue(repo, issue).field(at, name, args),
    }))
}

fn comments<'s>(args: &Args, repo: &'s Repository, issue: &'s Issue) -> Out<'s> {
    let mut all: Vec<_> = issue.comments.iter().collect();
    if let Some(order) = args.input("orderBy") {
        all.sort_by_key(|comment| (comment.updated_at, comment.id));
        if order.text("direction") == Some("DESC") {
            all.reverse();
        }
    }
    let node = |comment| Out::object(CommentNode { repo, issue, comment });
    connection("IssueCommentConnection", args, all.into_iter().map(|comment| (comment.id, node(comment))))
}
