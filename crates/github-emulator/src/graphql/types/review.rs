//! Reviews of a pull request, and their comments on lines of the diff.

use super::{
    super::{
        super::{
            state::{Issue, Pull, Repository, Review, ReviewComment, ReviewState},
            users::Role,
            wire::{node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, unresolved},
        page::connection,
    },
    commit::commit_of,
    text::Text,
};

pub(super) const DESCRIPTION: &str = r"
type PullRequestReview implements Comment & Node & Reactable & Updatable {
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    body: String!
    comments: PullRequestReviewCommentConnection!
    commit: Commit
    createdAt: DateTime!
    createdViaEmail: Boolean!
    databaseId: Int
    editor: Actor
    fullDatabaseId: BigInt
    id: ID!
    includesCreatedEdit: Boolean!
    lastEditedAt: DateTime
    publishedAt: DateTime
    pullRequest: PullRequest!
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    repository: Repository!
    resourcePath: URI!
    state: PullRequestReviewState!
    submittedAt: DateTime
    updatedAt: DateTime!
    url: URI!
    userContentEdits: UserContentEditConnection
    viewerCanDelete: Boolean!
    viewerCanReact: Boolean!
    viewerCanUpdate: Boolean!
    viewerDidAuthor: Boolean!
}
type PullRequestReviewComment implements Comment & Minimizable & Node & Reactable & Updatable {
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    body: String!
    commit: Commit
    createdAt: DateTime!
    createdViaEmail: Boolean!
    databaseId: Int
    diffHunk: String!
    editor: Actor
    fullDatabaseId: BigInt
    id: ID!
    includesCreatedEdit: Boolean!
    isMinimized: Boolean!
    lastEditedAt: DateTime
    line: Int
    minimizedReason: String
    originalCommit: Commit
    originalLine: Int
    originalStartLine: Int
    outdated: Boolean!
    path: String!
    publishedAt: DateTime
    pullRequest: PullRequest!
    pullRequestReview: PullRequestReview
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    replyTo: PullRequestReviewComment
    repository: Repository!
    resourcePath: URI!
    startLine: Int
    state: PullRequestReviewCommentState!
    subjectType: PullRequestReviewThreadSubjectType!
    updatedAt: DateTime!
    url: URI!
    userContentEdits: UserContentEditConnection
    viewerCanDelete: Boolean!
    viewerCanMinimize: Boolean!
    viewerCanReact: Boolean!
    viewerCanUpdate: Boolean!
    viewerDidAuthor: Boolean!
}
enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
enum PullRequestReviewCommentState { PENDING SUBMITTED }
enum PullRequestReviewThreadSubjectType { FILE LINE }
enum DiffSide { LEFT RIGHT }
";

/// The pull request that a review or a comment is of.
#[derive(Clone, Copy)]
pub(super) struct Of<'s> {
    pub(super) repo: &'s Repository,
    pub(super) issue: &'s Issue,
    pub(super) pull: &'s Pull,
}

impl<'s> Of<'s> {
    /// The pull request's part of an issue; `None` for an issue that is not one.
    pub(super) fn issue(repo: &'s Repository, issue: &'s Issue) -> Option<Self> {
        issue.pull.as_ref().map(|pull| Self { repo, issue, pull })
    }

    /// The pull request itself.
    pub(super) fn node(&self) -> Out<'s> {
        Out::Node(node_id("PullRequest", self.pull.id))
    }

    /// Whether the caller may see the parts of this review: a pending one is its author's alone.
    pub(super) fn shows(&self, at: &At<'s>, review: &Review) -> bool {
        review.state != ReviewState::Pending || at.is_viewer(&review.author)
    }

    /// The reviews that the caller may see.
    pub(super) fn reviews(&self, at: &At<'s>) -> Vec<&'s Review> {
        self.pull.reviews.iter().filter(|review| self.shows(at, review)).collect()
    }

    /// The comments on the diff that the caller may see.
    pub(super) fn comments(&self, at: &At<'s>) -> Vec<&'s ReviewComment> {
        let review_of = |id| self.pull.reviews.iter().find(|review| review.id == id);
        let shown =
            |comment: &&ReviewComment| comment.review.and_then(review_of).is_none_or(|review| self.shows(at, review));
        self.pull.review_comments.iter().filter(shown).collect()
    }
}

/// A review.
#[derive(Clone, Copy)]
pub(super) struct ReviewNode<'s> {
    pub(super) of: Of<'s>,
    pub(super) review: &'s Review,
}

impl<'s> Object<'s> for ReviewNode<'s> {
    fn kind(&self) -> &str {
        "PullRequestReview"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Self { of, review } = *self;
        let text = Text {
            repo: of.repo,
            id: ("PullRequestReview", review.id),
            author: &review.author,
            body: &review.body,
            created_at: review.at,
            updated_at: review.at,
            history: None,
            minimized: None,
            reactions: &review.reactions,
            change: Role::Write,
        };
        let below = format!("/pull/{}#pullrequestreview-{}", of.issue.number, review.id);
        Ok(match name {
            "comments" => {
                let own = of.comments(at).into_iter().filter(|comment| comment.review == Some(review.id));
                comments(args, of, own)
            }
            "commit" => commit_of(at, of.repo, &review.commit),
            "pullRequest" => of.node(),
            "resourcePath" => Out::leaf(format!("/{}{below}", of.repo.name)),
            "state" => Out::leaf(review.state.name()),
            "submittedAt" => Out::leaf((review.state != ReviewState::Pending).then(|| time(review.at))),
            "url" => Out::leaf(at.page(of.repo, &below)),
            _ => return text.field(at, name, args).unwrap_or_else(|| unresolved("PullRequestReview", name)),
        })
    }
}

/// A page of comments on the diff.
pub(super) fn comments<'s>(args: &Args, of: Of<'s>, all: impl IntoIterator<Item = &'s ReviewComment>) -> Out<'s> {
    let node = |comment| Out::object(ReviewCommentNode { of, comment });
    let nodes = all.into_iter().map(|comment| (comment.id, node(comment)));
    connection("PullRequestReviewCommentConnection", args, nodes)
}

/// A comment on a line of the diff.
#[derive(Clone, Copy)]
pub(super) struct ReviewCommentNode<'s> {
    pub(super) of: Of<'s>,
    pub(super) comment: &'s ReviewComment,
}

impl<'s> Object<'s> for ReviewCommentNode<'s> {
    fn kind(&self) -> &str {
        "PullRequestReviewComment"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Self { of, comment } = *self;
        let text = Text {
            repo: of.repo,
            id: ("PullRequestReviewComment", comment.id),
            author: &comment.author,
            body: &comment.body,
            created_at: comment.created_at,
            updated_at: comment.updated_at,
            history: Some(&comment.history),
            minimized: comment.minimized.as_deref(),
            reactions: &comment.reactions,
            change: Role::Write,
        };
        let below = format!("/pull/{}#discussion_r{}", of.issue.number, comment.id);
        let review = comment.review.and_then(|id| of.pull.reviews.iter().find(|review| review.id == id));
        let pending = review.is_some_and(|review| review.state == ReviewState::Pending);
        Ok(match name {
            "commit" | "originalCommit" => commit_of(at, of.repo, &comment.commit),
            "diffHunk" => Out::leaf(comment.hunk.as_str()),
            "line" | "originalLine" => Out::leaf(comment.line),
            "originalStartLine" | "startLine" => Out::leaf(comment.start.as_ref().map(|(line, _)| *line)),
            "outdated" => Out::leaf(comment.commit != of.pull.head_sha),
            "path" => Out::leaf(comment.path.as_str()),
            "pullRequest" => of.node(),
            "pullRequestReview" => {
                review.map_or(Out::Null, |review| Out::Node(node_id("PullRequestReview", review.id)))
            }
            "replyTo" => comment.reply_to.map_or(Out::Null, |id| Out::Node(node_id("PullRequestReviewComment", id))),
            "resourcePath" => Out::leaf(format!("/{}{below}", of.repo.name)),
            "state" => Out::leaf(if pending { "PENDING" } else { "SUBMITTED" }),
            "subjectType" => Out::leaf(if comment.line.is_some() { "LINE" } else { "FILE" }),
            "url" => Out::leaf(at.page(of.repo, &below)),
            _ => return text.field(at, name, args).unwrap_or_else(|| unresolved("PullRequestReviewComment", name)),
        })
    }
}
