//! Reactions to an issue or a comment.

use super::{
    super::{
        super::{
            state::Reaction,
            wire::{node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        page::connection,
    },
    account::{people, user},
};

pub(super) const DESCRIPTION: &str = r"
interface Reactable {
    databaseId: Int
    id: ID!
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    viewerCanReact: Boolean!
}
enum ReactionContent { CONFUSED EYES HEART HOORAY LAUGH ROCKET THUMBS_DOWN THUMBS_UP }
type Reaction implements Node { content: ReactionContent! createdAt: DateTime! databaseId: Int id: ID! user: User }
type ReactionGroup {
    content: ReactionContent!
    createdAt: DateTime
    users: ReactingUserConnection!
    viewerHasReacted: Boolean!
}
type ReactingUserConnection {
    edges: [ReactingUserEdge]
    nodes: [User]
    pageInfo: PageInfo!
    totalCount: Int!
}
type ReactingUserEdge { cursor: String! node: User! }
";

/// GraphQL's names of the contents, in the order of its groups, with those of the REST API.
const CONTENTS: [(&str, &str); 8] = [
    ("THUMBS_UP", "+1"),
    ("THUMBS_DOWN", "-1"),
    ("LAUGH", "laugh"),
    ("HOORAY", "hooray"),
    ("CONFUSED", "confused"),
    ("HEART", "heart"),
    ("ROCKET", "rocket"),
    ("EYES", "eyes"),
];

/// The REST API's name of a content.
pub(in super::super) fn content(name: &str) -> &'static str {
    CONTENTS.iter().find(|(graphql, _)| *graphql == name).map_or("", |(_, rest)| rest)
}

/// The reactions of one content.
struct Group<'s> {
    name: &'static str,
    reactions: Vec<&'s Reaction>,
}

impl<'s> Object<'s> for Group<'s> {
    fn kind(&self) -> &str {
        "ReactionGroup"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        Ok(match name {
            "content" => Out::leaf(self.name),
            "createdAt" => Out::leaf(self.reactions.first().map(|reaction| time(reaction.at))),
            "users" => {
                people("ReactingUserConnection", at, args, self.reactions.iter().map(|reaction| &reaction.author))
            }
            "viewerHasReacted" => Out::leaf(self.reactions.iter().any(|reaction| at.is_viewer(&reaction.author))),
            _ => return unresolved("ReactionGroup", name),
        })
    }
}

/// The eight groups, the empty ones too, as on GitHub.
pub(super) fn groups(reactions: &[Reaction]) -> Out<'_> {
    let group = |(name, rest): (&'static str, &'static str)| {
        let reactions = reactions.iter().filter(|reaction| reaction.content == rest).collect();
        Out::object(Group { name, reactions })
    };
    Out::List(CONTENTS.into_iter().map(group).collect())
}

/// A page of reactions.
pub(super) fn reactions<'s>(at: &At<'s>, args: &Args, all: &'s [Reaction]) -> Out<'s> {
    let wanted = args.text("content").map(content);
    let found = all.iter().filter(|reaction| wanted.is_none_or(|wanted| reaction.content == wanted));
    connection("ReactionConnection", args, found.map(|reaction| (reaction.id, object(at, reaction))))
}

/// One reaction.
pub(super) fn object<'s>(at: &At<'s>, reaction: &'s Reaction) -> Out<'s> {
    let name = CONTENTS.iter().find(|(_, rest)| *rest == reaction.content).map(|(graphql, _)| *graphql);
    made(
        "Reaction",
        [
            ("content", Out::leaf(name)),
            ("createdAt", Out::leaf(time(reaction.at))),
            ("databaseId", Out::leaf(reaction.id)),
            ("id", Out::leaf(node_id("Reaction", reaction.id))),
            ("user", user(at, &reaction.author)),
        ],
    )
}
