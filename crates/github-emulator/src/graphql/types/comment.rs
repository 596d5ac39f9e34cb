//! Comments on issues and pull requests.

use super::{
    super::{
        super::{
            state::{Comment, Issue, Repository},
            users::Role,
            wire::node_id,
        },
        object::{Args, At, Object, Out, Resolved, unresolved},
    },
    text::Text,
};

pub(super) const DESCRIPTION: &str = r"
type IssueComment implements Comment & Minimizable & Node & Reactable & Updatable {
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    body: String!
    createdAt: DateTime!
    createdViaEmail: Boolean!
    databaseId: Int
    editor: Actor
    fullDatabaseId: BigInt
    id: ID!
    includesCreatedEdit: Boolean!
    isMinimized: Boolean!
    issue: Issue!
    lastEditedAt: DateTime
    minimizedReason: String
    publishedAt: DateTime
    pullRequest: PullRequest
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    repository: Repository!
    resourcePath: URI!
    updatedAt: DateTime!
    url: URI!
    userContentEdits: UserContentEditConnection
    viewerCanDelete: Boolean!
    viewerCanMinimize: Boolean!
    viewerCanReact: Boolean!
    viewerCanUpdate: Boolean!
    viewerDidAuthor: Boolean!
}
";

/// A comment on an issue.
#[derive(Clone, Copy)]
pub(super) struct CommentNode<'s> {
    pub(super) repo: &'s Repository,
    pub(super) issue: &'s Issue,
    pub(super) comment: &'s Comment,
}

impl<'s> Object<'s> for CommentNode<'s> {
    fn kind(&self) -> &str {
        "IssueComment"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Self { repo, issue, comment } = *self;
        let text = Text {
            repo,
            id: ("IssueComment", comment.id),
            author: &comment.author,
            body: &comment.body,
            created_at: comment.created_at,
            updated_at: comment.updated_at,
            history: Some(&comment.history),
            minimized: comment.minimized.as_deref(),
            reactions: &comment.reactions,
            change: Role::Write,
        };
        let folder = if issue.pull.is_some() { "pull" } else { "issues" };
        let below = format!("/{folder}/{}#issuecomment-{}", issue.number, comment.id);
        Ok(match name {
            "issue" => Out::Node(node_id("Issue", issue.id)),
            "pullRequest" => issue.pull.as_ref().map_or(Out::Null, |pull| Out::Node(node_id("PullRequest", pull.id))),
            "resourcePath" => Out::leaf(format!("/{}{below}", repo.name)),
            "url" => Out::leaf(at.page(repo, &below)),
            _ => return text.field(at, name, args).unwrap_or_else(|| unresolved("IssueComment", name)),
        })
    }
}
