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

/// Shows a transition: what the round in review has to tell on the pull request, then the comment, written or edited, a label
/// to put on and labels to take off. Each part is as often there as `parts` says, and the parts of a kind are numbered.
/// <https://docs.github.com/graphql/reference/mutations#addpullrequestreviewthreadreply>
/// <https://docs.github.com/graphql/reference/mutations#addcomment>
/// <https://docs.github.com/graphql/reference/mutations#requestreviews>
pub(super) fn show(comment: Commenting, parts: Parts) -> String {
    let mut all = Fields::default();
    all.takes("issue", "ID!");
    all.takes("body", "String!");
    if parts.says > 0 || parts.asks {
        all.takes("pull", "ID!");
    }
    for name in numbers("seen", parts.seen) {
        all.takes(&name, "ID!");
        all.has(&name, &format!("addReaction(input: {{subjectId: ${name}, content: EYES}})"), NOTHING);
    }
    for (name, thread) in numbers("reply", parts.replies).zip(numbers("thread", parts.replies)) {
        all.takes(&thread, "ID!");
        all.takes(&name, "String!");
        let input = format!("{{pullRequestReviewThreadId: ${thread}, body: ${name}}}");
        all.has(&name, &format!("addPullRequestReviewThreadReply(input: {input})"), NOTHING);
    }
    for name in numbers("say", parts.says) {
        all.takes(&name, "String!");
        all.has(&name, &format!("addComment(input: {{subjectId: $pull, body: ${name}}})"), NOTHING);
    }
    for name in numbers("done", parts.done) {
        all.takes(&name, "ID!");
        all.has(&name, &format!("resolveReviewThread(input: {{threadId: ${name}}})"), NOTHING);
    }
    if parts.asks {
        all.takes("reviewers", "[ID!]!");
        // Without `union` those who were asked already, such as owners of the code, would be asked no more.
        let input = "{pullRequestId: $pull, userIds: $reviewers, union: true}";
        all.has("ask", &format!("requestReviews(input: {input})"), NOTHING);
    }
    match comment {
        Commenting::Writes => {
            let node = "commentEdge { node { fullDatabaseId id } }";
            all.has("comment", "addComment(input: {subjectId: $issue, body: $body})", node);
        }
        Commenting::Edits => {
            all.takes("comment", "ID!");
            let edit = "updateIssueComment(input: {id: $comment, body: $body})";
            all.has("comment", edit, "issueComment { fullDatabaseId id }");
        }
    }
    for (name, mutation, is_wanted) in
        [("add", "addLabelsToLabelable", parts.adds), ("remove", "removeLabelsFromLabelable", parts.removes)]
    {
        if is_wanted {
            all.takes(name, "[ID!]!");
            all.has(name, &format!("{mutation}(input: {{labelableId: $issue, labelIds: ${name}}})"), NOTHING);
        }
    }
    all.mutation()
}

/// What a mutation answers whose answer is of no use.
const NOTHING: &str = "clientMutationId";

/// A mutation as it is put together.
#[derive(Default)]
struct Fields {
    variables: Vec<String>,
    fields: String,
}

impl Fields {
    fn takes(&mut self, name: &str, kind: &str) {
        self.variables.push(format!("${name}: {kind}"));
    }

    fn has(&mut self, name: &str, mutation: &str, answers: &str) {
        self.fields.push_str(&format!(" {name}: {mutation} {{ {answers} }}"));
    }

    fn mutation(&self) -> String {
        format!("mutation({}) {{{} }}", self.variables.join(", "), self.fields)
    }
}

/// The names of this many parts of a kind.
fn numbers(name: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |index| format!("{name}{index}"))
}

/// What [`show`] does beside the comment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// What people said that is seen.
    pub(super) seen: usize,
    /// Replies in threads.
    pub(super) replies: usize,
    /// Comments on the pull request.
    pub(super) says: usize,
    /// Threads that are resolved.
    pub(super) done: usize,
    pub(super) asks: bool,
    pub(super) adds: bool,
    pub(super) removes: bool,
}

impl Parts {
    /// Those that a mutation of [`show`] may have.
    pub(super) fn of(query: &str) -> Self {
        let count = |part: &str| query.matches(part).count();
        Self {
            seen: count("addReaction"),
            replies: count("addPullRequestReviewThreadReply"),
            says: count("subjectId: $pull,"),
            done: count("resolveReviewThread"),
            asks: query.contains("requestReviews"),
            adds: query.contains("addLabels"),
            removes: query.contains("removeLabels"),
        }
    }

    pub(super) fn count(self) -> usize {
        let Self { seen, replies, says, done, asks, adds, removes } = self;
        seen + replies + says + done + [asks, adds, removes].into_iter().map(usize::from).sum::<usize>()
    }
}

/// How [`show`] brings the comment up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commenting {
    Writes,
    Edits,
}

/// The values of the variables of a kind.
pub(super) fn numbered(name: &str, values: impl IntoIterator<Item = impl AsRef<str>>) -> Map<String, Value> {
    let values = values.into_iter().enumerate();
    values.map(|(index, value)| (format!("{name}{index}"), value.as_ref().into())).collect()
}

/// One field for each of this many ids, named as its variable.
fn for_each(name: &str, ids: usize, field: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = numbers(name, ids).collect();
    let parameters: Vec<String> = names.iter().map(|name| format!("${name}: ID!")).collect();
    let fields: String = names.iter().map(|name| format!(" {name}: {}", field(name))).collect();
    format!("mutation({}) {{{fields} }}", parameters.join(", "))
}
