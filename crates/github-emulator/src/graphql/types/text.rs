//! Texts by people, on issues, pull requests and in comments: the text, its author, and its edit history.

use super::{
    super::{
        super::{
            moods::Mood,
            state::{History, Issue, Reaction, Repository, Revision},
            touched::updated,
            users::Role,
            wire::{View, node_id, time},
        },
        object::{Args, At, Out, Resolved, made},
        page::connection,
    },
    account::actor,
    reaction::{groups, reactions},
};
use crate::names::{Login, Timestamp};

pub(super) const DESCRIPTION: &str = r"
interface Comment {
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    body: String!
    createdAt: DateTime!
    createdViaEmail: Boolean!
    editor: Actor
    id: ID!
    includesCreatedEdit: Boolean!
    lastEditedAt: DateTime
    publishedAt: DateTime
    updatedAt: DateTime!
    userContentEdits: UserContentEditConnection
    viewerDidAuthor: Boolean!
}
interface Minimizable { isMinimized: Boolean! minimizedReason: String viewerCanMinimize: Boolean! }
enum CommentAuthorAssociation {
    COLLABORATOR CONTRIBUTOR FIRST_TIMER FIRST_TIME_CONTRIBUTOR MANNEQUIN MEMBER NONE OWNER
}
type UserContentEdit implements Node {
    createdAt: DateTime!
    deletedAt: DateTime
    deletedBy: Actor
    diff: String
    editedAt: DateTime!
    editor: Actor
    id: ID!
    updatedAt: DateTime!
}
";

/// The parts that the resolvers of all texts share.
#[derive(Clone, Copy)]
pub(super) struct Text<'s> {
    pub(super) repo: &'s Repository,
    /// The type and the number of its global id.
    pub(super) id: (&'static str, u64),
    pub(super) author: &'s Login,
    pub(super) body: &'s str,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    /// `None` if this forge has no way to change it.
    pub(super) history: Option<&'s History>,
    pub(super) minimized: Option<&'s str>,
    pub(super) reactions: &'s [Reaction],
    /// The role that another account needs to change it.
    pub(super) change: Role,
}

impl<'s> Text<'s> {
    /// The text of an issue, or of the pull request that it is.
    pub(super) fn of_issue(repo: &'s Repository, issue: &'s Issue) -> Self {
        Self {
            repo,
            id: issue.pull.as_ref().map_or(("Issue", issue.id), |pull| ("PullRequest", pull.id)),
            author: &issue.author,
            body: issue.body.as_deref().unwrap_or_default(),
            created_at: issue.created_at,
            updated_at: issue.updated_at,
            history: Some(&issue.history),
            minimized: None,
            reactions: &issue.reactions,
            change: Role::Triage,
        }
    }

    /// A field that all texts have; `None` for another one.
    pub(super) fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Option<Resolved<'s>> {
        let view = View { server: at.call.forge.server(), accounts: &at.state.accounts, repo: self.repo };
        let edit = self.history.and_then(History::last_edit);
        let revisions = self.history.map_or(&[][..], History::revisions);
        let mine = at.is_viewer(self.author);
        let signed_in = at.call.caller.is_some();
        Some(Ok(match name {
            "author" => actor(at, self.author),
            "authorAssociation" => Out::leaf(view.association(self.author)),
            "body" => Out::leaf(self.body),
            "createdAt" | "publishedAt" => Out::leaf(time(self.created_at)),
            "createdViaEmail" => Out::leaf(false),
            "databaseId" => Out::leaf(self.id.1),
            "fullDatabaseId" => Out::leaf(self.id.1.to_string()),
            "editor" => edit.map_or(Out::Null, |edit| actor(at, &edit.editor)),
            "id" => Out::leaf(node_id(self.id.0, self.id.1)),
            "includesCreatedEdit" => Out::leaf(!revisions.is_empty()),
            "isMinimized" => Out::leaf(self.minimized.is_some()),
            "lastEditedAt" => Out::leaf(edit.map(|edit| time(edit.at))),
            "minimizedReason" => Out::leaf(self.minimized.map(|reason| reason.to_lowercase().replace('_', "-"))),
            "reactionGroups" => groups(self.reactions),
            "reactions" => reactions(at, args, self.reactions),
            "repository" => Out::Node(node_id("Repository", self.repo.id)),
            "updatedAt" => Out::leaf(time(self.shown_update(at))),
            // The newest first, as on GitHub.
            "userContentEdits" if self.hides_edits(at) => Out::Null,
            "userContentEdits" => {
                let edits = revisions.iter().rev().map(|revision| (revision.id, object(at, revision)));
                connection("UserContentEditConnection", args, edits)
            }
            "viewerCanDelete" | "viewerCanUpdate" => {
                Out::leaf(signed_in && self.history.is_some() && (mine || at.role(self.repo) >= self.change))
            }
            "viewerCanMinimize" => Out::leaf(signed_in && (mine || at.role(self.repo) >= Role::Write)),
            "viewerCanReact" => Out::leaf(signed_in),
            "viewerDidAuthor" => Out::leaf(mine),
            _ => return None,
        }))
    }

    /// The time at which it is shown as updated. The mood leaves issues and pull requests alone, which much else
    /// updates.
    fn shown_update(&self, at: &At<'s>) -> Timestamp {
        match self.id.0 {
            "Issue" | "PullRequest" => self.updated_at,
            kind => {
                let id = node_id(kind, self.id.1);
                updated(&at.call.forge.temper, &id, self.created_at, self.updated_at, at.call.now)
            }
        }
    }

    /// Whether its edit history is `null`, as the public schema allows.
    fn hides_edits(&self, at: &At<'s>) -> bool {
        at.call.forge.temper.always_hits(Mood::Queries, &node_id(self.id.0, self.id.1)).is_some()
    }
}

/// A revision as an edit: GitHub's `diff` is the whole text after it.
pub(super) fn object<'s>(at: &At<'s>, revision: &'s Revision) -> Out<'s> {
    let when = || Out::leaf(time(revision.at));
    made(
        "UserContentEdit",
        [
            ("createdAt", when()),
            ("deletedAt", Out::Null),
            ("deletedBy", Out::Null),
            ("diff", Out::leaf(revision.text.as_str())),
            ("editedAt", when()),
            ("editor", actor(at, &revision.editor)),
            ("id", Out::leaf(node_id("UserContentEdit", revision.id))),
            ("updatedAt", when()),
        ],
    )
}
