//! Review threads: a comment on the diff with its replies, open until it is resolved.

use super::{
    super::{
        super::{state::ReviewComment, users::Role, wire::node_id},
        object::{Args, At, Object, Out, Resolved, unresolved},
        page::connection,
    },
    account::user,
    review::{Of, comments},
};

pub(super) const DESCRIPTION: &str = r"
type PullRequestReviewThread implements Node {
    comments(skip: Int): PullRequestReviewCommentConnection!
    diffSide: DiffSide!
    id: ID!
    isCollapsed: Boolean!
    isOutdated: Boolean!
    isResolved: Boolean!
    line: Int
    originalLine: Int
    originalStartLine: Int
    path: String!
    pullRequest: PullRequest!
    repository: Repository!
    resolvedBy: User
    startDiffSide: DiffSide
    startLine: Int
    subjectType: PullRequestReviewThreadSubjectType!
    viewerCanReply: Boolean!
    viewerCanResolve: Boolean!
    viewerCanUnresolve: Boolean!
}
";

/// The thread that this comment begins.
#[derive(Clone, Copy)]
pub(super) struct ThreadNode<'s> {
    pub(super) of: Of<'s>,
    pub(super) first: &'s ReviewComment,
}

/// A page of the threads of a pull request.
pub(super) fn threads<'s>(at: &At<'s>, args: &Args, of: Of<'s>) -> Out<'s> {
    let begin = of.comments(at).into_iter().filter(|comment| comment.reply_to.is_none());
    let nodes = begin.map(|first| (first.id, Out::object(ThreadNode { of, first })));
    connection("PullRequestReviewThreadConnection", args, nodes)
}

impl<'s> ThreadNode<'s> {
    /// The comment that begins the thread of this one: replies may be to replies.
    fn begin(self, comment: &ReviewComment) -> u64 {
        let mut id = comment.id;
        let mut reply_to = comment.reply_to;
        while let Some(to) = reply_to {
            id = to;
            reply_to =
                self.of.pull.review_comments.iter().find(|other| other.id == to).and_then(|other| other.reply_to);
        }
        id
    }
}

impl<'s> Object<'s> for ThreadNode<'s> {
    fn kind(&self) -> &str {
        "PullRequestReviewThread"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Self { of, first } = *self;
        let resolved = first.resolved_by.is_some();
        // As on GitHub: the author of the pull request, and accounts that may write.
        let may = at.call.caller.is_some() && (at.role(of.repo) >= Role::Write || at.is_viewer(&of.issue.author));
        Ok(match name {
            "comments" => {
                let skip = args.int("skip").and_then(|skip| usize::try_from(skip).ok()).unwrap_or(0);
                let own = of.comments(at).into_iter().filter(|comment| self.begin(comment) == first.id);
                comments(args, of, own.skip(skip))
            }
            "diffSide" => Out::leaf(first.side.as_str()),
            "id" => Out::leaf(node_id("PullRequestReviewThread", first.id)),
            "isCollapsed" | "isResolved" => Out::leaf(resolved),
            "isOutdated" => Out::leaf(first.commit != of.pull.head_sha),
            "line" | "originalLine" => Out::leaf(first.line),
            "path" => Out::leaf(first.path.as_str()),
            "pullRequest" => of.node(),
            "repository" => Out::Node(node_id("Repository", of.repo.id)),
            "resolvedBy" => first.resolved_by.as_ref().map_or(Out::Null, |login| user(at, login)),
            "originalStartLine" | "startLine" => Out::leaf(first.start.as_ref().map(|(line, _)| *line)),
            "startDiffSide" => Out::leaf(first.start.as_ref().map(|(_, side)| side.as_str())),
            "subjectType" => Out::leaf(if first.line.is_some() { "LINE" } else { "FILE" }),
            "viewerCanReply" => Out::leaf(at.call.caller.is_some()),
            "viewerCanResolve" => Out::leaf(may && !resolved),
            "viewerCanUnresolve" => Out::leaf(may && resolved),
            _ => return unresolved("PullRequestReviewThread", name),
        })
    }
}
