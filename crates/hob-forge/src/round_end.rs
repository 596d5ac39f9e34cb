//! The end of a round in review as people see it, but for the replies in threads: the comments on the pull request, the threads that are
//! resolved, and who is asked for another review, in one GraphQL request.
//!
//! # Guarantees
//! The parts are made in their order, the comments first. One that fails stops none of the others, and what was made is told.
//!
//! # Caveats
//! As for what shows an issue's state (`shown.rs`): where an id cannot be read, nothing is sent, and several mutations count as several
//! writes. Replies in threads are not among them: whether GitHub publishes such a reply at once is not recorded.

use hob_domain::Login;
use serde_json::{Value, json};

use crate::{
    ForgeError, HeldLease, Reviews,
    TokenPermission::PullRequestsWrite,
    graphql::{AnswerWire, ProblemWire},
    mutations::{RoundParts, end_round},
    shown::Asking,
};

/// What a server may lack.
const END: &str = "end a round in review";

/// What ends a round.
#[derive(Debug, Clone, Copy)]
pub struct RoundEnd<'a> {
    /// Comments on the pull request.
    pub comments: &'a [&'a str],
    /// The threads that are resolved, by their first comments.
    pub threads: &'a [u64],
    /// Who is asked for another review.
    pub reviewers: &'a [Login],
}

/// What of it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    /// Whether all comments were written.
    pub commented: bool,
    /// Whether all threads are resolved.
    pub resolved: bool,
    /// Whether all reviewers were asked.
    pub asked: bool,
}

impl Reviews<'_> {
    /// Ends a round in one request, or `None` if nothing was sent. Nothing is looked for first.
    ///
    /// # Errors
    /// [`ForgeError`] of a query or the write, whose outcome may be unknown.
    pub async fn end_round(self, lease: &HeldLease, end: RoundEnd<'_>) -> Result<Option<Ended>, ForgeError> {
        let RoundEnd { comments, threads, reviewers } = end;
        let shown = self.forge.comments();
        if !shown.may_send(END) {
            return Ok(None);
        }
        let Some(Asking { pull, users }) = shown.asking(self.pull, reviewers).await else {
            return Ok(None);
        };
        let open = if threads.is_empty() { Vec::new() } else { self.open_threads(self.pull, threads).await? };
        let parts = RoundParts { comments: comments.len(), resolved: open.len(), asks: !users.is_empty() };
        let count = parts.comments + parts.resolved + usize::from(parts.asks);
        if count == 0 {
            return Ok(Some(Ended { commented: true, resolved: true, asked: true }));
        }
        let body = json!({ "query": end_round(parts), "variables": variables(&pull, comments, &open, users) });
        let purpose = PullRequestsWrite.to(END).counting(count);
        let AnswerWire { data, errors } = shown.in_parts(lease, END, &body, purpose).await?;
        // A problem of no part is one of all.
        let is_made = |kind: &str| {
            let spares = |problem: &ProblemWire| problem.part().is_some_and(|part| !part.starts_with(kind));
            !data.is_null() && errors.iter().all(spares)
        };
        Ok(Some(Ended { commented: is_made("c"), resolved: is_made("t"), asked: is_made("ask") }))
    }
}

/// The variables of the mutation, without those that it does not name.
fn variables(pull: &str, comments: &[&str], threads: &[String], reviewers: Vec<String>) -> Value {
    let mut variables = json!({});
    if !comments.is_empty() || !reviewers.is_empty() {
        variables["pull"] = pull.into();
    }
    for (index, text) in comments.iter().enumerate() {
        variables[format!("c{index}")] = (*text).into();
    }
    for (index, thread) in threads.iter().enumerate() {
        variables[format!("t{index}")] = thread.as_str().into();
    }
    if !reviewers.is_empty() {
        variables["reviewers"] = reviewers.into();
    }
    variables
}
