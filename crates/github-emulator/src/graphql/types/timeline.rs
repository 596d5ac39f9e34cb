//! The events of a pull request that GraphQL serves: the merge queue. The REST API has the whole timeline.

use super::{
    super::{
        super::{
            state::{Event, EventKind},
            wire::{node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, unresolved},
        page::connection,
        problem::Problem,
    },
    account::actor,
    review::Of,
};

pub(super) const DESCRIPTION: &str = r"
union PullRequestTimelineItems = AddedToMergeQueueEvent | RemovedFromMergeQueueEvent
enum PullRequestTimelineItemsItemType { ADDED_TO_MERGE_QUEUE_EVENT REMOVED_FROM_MERGE_QUEUE_EVENT }
type AddedToMergeQueueEvent implements Node {
    actor: Actor
    createdAt: DateTime!
    id: ID!
    pullRequest: PullRequest
}
type RemovedFromMergeQueueEvent implements Node {
    actor: Actor
    createdAt: DateTime!
    id: ID!
    pullRequest: PullRequest
    reason: String
}
";

/// A page of the events of the requested kinds.
///
/// # Errors
/// If none are requested: that means all, and most of them are not here.
pub(super) fn items<'s>(args: &Args, of: Of<'s>) -> Resolved<'s> {
    let Some(wanted) = args.texts("itemTypes") else {
        let message = "the embedded forge has no `timelineItems` without `itemTypes`: it has some kinds only";
        return Err(Problem::new("UNPROCESSABLE", message));
    };
    let found = of.issue.events.iter().filter_map(|event| Some((event, kind(event)?)));
    let asked = found.filter(|(_, (_, item))| wanted.contains(item));
    let nodes = asked.map(|(event, (kind, _))| (event.id, Out::object(ItemNode { of, event, kind })));
    Ok(connection("PullRequestTimelineItemsConnection", args, nodes))
}

/// One event of a pull request; `None` if GraphQL does not have it.
pub(super) fn entry<'s>(of: Of<'s>, event: &'s Event) -> Option<Out<'s>> {
    kind(event).map(|(kind, _)| Out::object(ItemNode { of, event, kind }))
}

/// The name of its type and of the item.
fn kind(event: &Event) -> Option<(&'static str, &'static str)> {
    if matches!(event.kind, EventKind::AddedToMergeQueue) {
        return Some(("AddedToMergeQueueEvent", "ADDED_TO_MERGE_QUEUE_EVENT"));
    }
    let removed = matches!(event.kind, EventKind::RemovedFromMergeQueue { .. });
    removed.then_some(("RemovedFromMergeQueueEvent", "REMOVED_FROM_MERGE_QUEUE_EVENT"))
}

struct ItemNode<'s> {
    of: Of<'s>,
    event: &'s Event,
    kind: &'static str,
}

impl<'s> Object<'s> for ItemNode<'s> {
    fn kind(&self) -> &str {
        self.kind
    }

    fn field(&self, at: &At<'s>, name: &str, _: &Args) -> Resolved<'s> {
        if let ("reason", EventKind::RemovedFromMergeQueue { reason }) = (name, &self.event.kind) {
            return Ok(Out::leaf(reason.name()));
        }
        Ok(match name {
            "actor" => actor(at, &self.event.actor),
            "createdAt" => Out::leaf(time(self.event.at)),
            "id" => Out::leaf(node_id(self.kind, self.event.id)),
            "pullRequest" => self.of.node(),
            _ => return unresolved(self.kind, name),
        })
    }
}
