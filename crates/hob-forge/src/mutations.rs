//! The GraphQL mutations; `permitted` compares requests with these literally.

use crate::Reaction;

/// Reacts to this many comments and reviews, `$s0` and following.
/// <https://docs.github.com/graphql/reference/mutations#addreaction>
pub(super) fn add_reaction(reaction: Reaction, subjects: usize) -> String {
    let content = reaction.name();
    let parameters: Vec<String> = (0..subjects).map(|index| format!("$s{index}: ID!")).collect();
    let fields = (0..subjects).map(|index| {
        format!(
            " s{index}: addReaction(input: {{subjectId: $s{index}, content: {content}}}) {{ reaction {{ content }} }}"
        )
    });
    format!("mutation({}) {{{} }}", parameters.join(", "), fields.collect::<String>())
}

/// Resolves this many threads, `$t0` and following.
/// <https://docs.github.com/graphql/reference/mutations#resolvereviewthread>
pub(super) fn resolve_threads(threads: usize) -> String {
    let parameters: Vec<String> = (0..threads).map(|index| format!("$t{index}: ID!")).collect();
    let fields = (0..threads)
        .map(|index| format!(" t{index}: resolveReviewThread(input: {{threadId: $t{index}}}) {{ thread {{ id }} }}"));
    format!("mutation({}) {{{} }}", parameters.join(", "), fields.collect::<String>())
}
