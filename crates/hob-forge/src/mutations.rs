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
    let (pull, asked) = if asks { (", $pull: ID!, $reviewers: [ID!]!", ASK) } else { ("", "") };
    let (add, added) = labels(adds, "add", "addLabelsToLabelable");
    let (remove, removed) = labels(removes, "remove", "removeLabelsFromLabelable");
    format!(
        "mutation($issue: ID!, $body: String!{parameter}{pull}{add}{remove}) {{ comment: {comment}{asked}{added}{removed} }}"
    )
}

/// Asks for reviews. Without `union` those who were asked already, such as owners of the code, would be asked no more.
const ASK: &str =
    " ask: requestReviews(input: {pullRequestId: $pull, userIds: $reviewers, union: true}) { clientMutationId }";

/// Ends a round in review: comments on the pull request, `$c0` and following, then threads that are resolved, `$t0` and following, and
/// who is asked for another review.
pub(super) fn end_round(RoundParts { comments, resolved, asks }: RoundParts) -> String {
    let mut parameters: Vec<String> = Vec::new();
    let mut fields = String::new();
    if comments > 0 || asks {
        parameters.push("$pull: ID!".to_owned());
    }
    for index in 0..comments {
        parameters.push(format!("$c{index}: String!"));
        let input = format!("{{subjectId: $pull, body: $c{index}}}");
        fields.push_str(&format!(" c{index}: addComment(input: {input}) {{ clientMutationId }}"));
    }
    for index in 0..resolved {
        parameters.push(format!("$t{index}: ID!"));
        fields
            .push_str(&format!(" t{index}: resolveReviewThread(input: {{threadId: $t{index}}}) {{ thread {{ id }} }}"));
    }
    if asks {
        parameters.push("$reviewers: [ID!]!".to_owned());
        fields.push_str(ASK);
    }
    format!("mutation({}) {{{fields} }}", parameters.join(", "))
}

/// What [`end_round`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundParts {
    pub(super) comments: usize,
    pub(super) resolved: usize,
    pub(super) asks: bool,
}

impl RoundParts {
    /// Those that a mutation of [`end_round`] may have.
    pub(super) fn of(query: &str) -> Self {
        let [comments, resolved, asks] =
            ["addComment", "resolveReviewThread", "requestReviews"].map(|part| query.matches(part).count());
        Self { comments, resolved, asks: asks > 0 }
    }
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
