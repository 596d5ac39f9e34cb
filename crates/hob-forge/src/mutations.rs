//! The GraphQL mutations; `permitted` compares requests with these literally.

use serde_json::{Map, Value};

use crate::Reaction;

/// Switches auto-merge on for one head of a pull request.
/// <https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge>
pub(super) const SWITCH_ON: &str = "mutation($pull:ID!,$head:GitObjectID!,$method:PullRequestMergeMethod!){enablePullRequestAutoMerge(input:{pullRequestId:$pull,expectedHeadOid:$head,mergeMethod:$method}){clientMutationId}}";
/// Switches it off.
/// <https://docs.github.com/graphql/reference/mutations#disablepullrequestautomerge>
pub(super) const SWITCH_OFF: &str =
    "mutation($pull:ID!){disablePullRequestAutoMerge(input:{pullRequestId:$pull}){clientMutationId}}";

/// Reacts to this many comments and reviews, `$s0` and following.
/// <https://docs.github.com/graphql/reference/mutations#addreaction>
pub(super) fn add_reaction(reaction: Reaction, subjects: usize) -> String {
    let content = reaction.name();
    for_each("s", subjects, |subject| {
        format!("addReaction(input: {{subjectId: ${subject}, content: {content}}}) {{ reaction {{ content }} }}")
    })
}

/// Resolves this many threads, `$t0` and following.
/// <https://docs.github.com/graphql/reference/mutations#resolvereviewthread>
pub(super) fn resolve_threads(threads: usize) -> String {
    for_each("t", threads, |thread| {
        format!("resolveReviewThread(input: {{threadId: ${thread}}}) {{ thread {{ id }} }}")
    })
}

/// Shows a transition on an issue: its comment, written or edited, then, each if it is wanted, who reviews its pull request, a label to
/// put on and labels to take off.
/// <https://docs.github.com/graphql/reference/mutations#addcomment>
/// <https://docs.github.com/graphql/reference/mutations#requestreviews>
pub(super) fn show(comment: Commenting, Parts { asks, adds, removes }: Parts) -> String {
    let node = "fullDatabaseId id";
    let (parameter, comment) = match comment {
        Commenting::Writes => (
            "",
            format!("addComment(input: {{subjectId: $issue, body: $body}}) {{ commentEdge {{ node {{ {node} }} }} }}"),
        ),
        Commenting::Edits => (
            ", $comment: ID!",
            format!("updateIssueComment(input: {{id: $comment, body: $body}}) {{ issueComment {{ {node} }} }}"),
        ),
    };
    let labels = |wanted: bool, name: &str, mutation: &str| {
        let field =
            format!(" {name}: {mutation}(input: {{labelableId: $issue, labelIds: ${name}}}) {{ clientMutationId }}");
        if wanted { (format!(", ${name}: [ID!]!"), field) } else { Default::default() }
    };
    // Without `union` those who were asked already, such as owners of the code, would be asked no more.
    let (pull, asked) = match asks {
        true => (
            ", $pull: ID!, $reviewers: [ID!]!",
            " ask: requestReviews(input: {pullRequestId: $pull, userIds: $reviewers, union: true}) { clientMutationId }",
        ),
        false => ("", ""),
    };
    let (add, added) = labels(adds, "add", "addLabelsToLabelable");
    let (remove, removed) = labels(removes, "remove", "removeLabelsFromLabelable");
    format!(
        "mutation($issue: ID!, $body: String!{parameter}{pull}{add}{remove}) {{ comment: {comment}{asked}{added}{removed} }}"
    )
}

/// What [`show`] does beside the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) asks: bool,
    pub(super) adds: bool,
    pub(super) removes: bool,
}

impl Parts {
    /// Those that a mutation of [`show`] may have.
    pub(super) fn of(query: &str) -> Self {
        let [asks, adds, removes] = ["requestReviews", "addLabels", "removeLabels"].map(|part| query.contains(part));
        Self { asks, adds, removes }
    }
}

/// How [`show`] brings the comment up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commenting {
    Writes,
    Edits,
}

/// The values of the variables of a mutation of [`for_each`] kind.
pub(super) fn numbered(name: &str, ids: &[String]) -> Value {
    ids.iter()
        .enumerate()
        .map(|(index, id)| (format!("{name}{index}"), id.as_str().into()))
        .collect::<Map<_, _>>()
        .into()
}

/// One field for each of this many ids, named as its variable.
fn for_each(name: &str, ids: usize, field: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = (0..ids).map(|index| format!("{name}{index}")).collect();
    let parameters: Vec<String> = names.iter().map(|name| format!("${name}: ID!")).collect();
    let fields: String = names.iter().map(|name| format!(" {name}: {}", field(name))).collect();
    format!("mutation({}) {{{fields} }}", parameters.join(", "))
}
