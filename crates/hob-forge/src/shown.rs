//! A transition as people see it, in one GraphQL request instead of a dozen calls of the REST API: what a round in review has to tell on
//! the pull request and whom it asks for a review, then the status comment and the labels of the issue.
//!
//! # Guarantees
//! The parts are made in their order, the labels last. One that fails stops none of the others, so what was made is told part by part:
//! the caller makes the rest over REST.
//!
//! # Assumptions
//! A reply in a thread is published at once, unless its account has a review that it has not submitted: then it joins that one, and
//! nobody sees it (`docs/design/github.md`, `graphql.show`). So nothing is sent where there is such a review.
//!
//! # Caveats
//! GraphQL names everything by ids of its own. What has one is known from lists that were read anyway, and from the comment's last write
//! under the lease, and those of an earlier comment, of threads and of reviewers are asked for; where one is missing, nothing is sent.
//! GitHub does not say whether several mutations in one request count as several writes in its secondary limits, so they do here.

use std::{
    collections::BTreeSet,
    sync::{MutexGuard, PoisonError, atomic::Ordering},
};

use hob_domain::{CommentId, EventAnswer, LabelChange, Login, Note, PullNumber};
use http::Method;
use serde_json::{Map, Value, json};

use crate::{
    Comments, ForgeError, HeldLease, Issue,
    TokenPermission::{IssuesWrite, PullRequestsRead},
    graphql::{AnswerWire, ProblemWire},
    mutations::{Commenting, Parts, numbered, show},
    permitted::GRAPHQL,
    threads::{THREADS, threads},
};

/// What a server may lack.
const SHOW: &str = "show an issue's state";
const ROUND: &str = "end a round in review";

/// What is to be seen on an issue and its pull request.
#[derive(Debug, Clone, Copy)]
pub struct Showing<'a> {
    /// The issue.
    pub issue: &'a Issue,
    /// Its status comment; without one it is written.
    pub comment: Option<CommentId>,
    /// The text of the status comment.
    pub body: &'a str,
    /// The labels that change.
    pub changes: &'a [LabelChange],
    /// What people said that is seen, by the forge's ids for GraphQL.
    pub seen: &'a [String],
    /// What is to be seen on a pull request, if there is anything.
    pub on_pull: Option<(PullNumber, OnPull<'a>)>,
}

/// What is to be seen on a pull request.
#[derive(Debug, Clone, Copy, Default)]
pub struct OnPull<'a> {
    /// Answers in threads and in the conversation.
    pub answers: &'a [EventAnswer],
    /// The threads that are resolved, by their first comments.
    pub resolved: &'a [u64],
    /// Who is asked for a review.
    pub reviewers: &'a [Login],
}

/// What of it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Whether anything was sent.
    pub sent: bool,
    /// The status comment, if it says so now.
    pub comment: Option<CommentId>,
    /// Whether all labels are right.
    pub labels: bool,
    /// Whether all that people said is seen.
    pub seen: bool,
    /// Whether all replies and comments were written.
    pub told: bool,
    /// Whether all threads are resolved.
    pub resolved: bool,
    /// Whether all reviewers were asked.
    pub asked: bool,
}

/// The ids of what is named on a pull request.
#[derive(Default)]
struct PullIds {
    pull: String,
    reviewers: Vec<String>,
    /// Of the threads with replies.
    replied: Vec<String>,
    /// Of the open ones among those that are resolved.
    resolved: Vec<String>,
}

impl Comments<'_> {
    /// Shows a transition in one request, as far as that can be done. Nothing that may be there already is looked for.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; its outcome may be unknown.
    pub async fn show(self, lease: &HeldLease, showing: Showing<'_>) -> Result<Shown, ForgeError> {
        let what = if showing.tells() { ROUND } else { SHOW };
        if !self.may_send(what) || showing.issue.node.is_empty() {
            return Ok(Shown::default());
        }
        if let Some(id) = showing.comment.filter(|id| lease.node_of(*id).is_none()) {
            self.learn_node(lease, id).await;
        }
        let on_pull = match showing.on_pull {
            Some((pull, on_pull)) => self.ids_of(pull, on_pull).await,
            None => None,
        };
        // Whom the forge does not know is asked over REST, which says why not. Answers wait for their threads.
        if on_pull.is_none() && showing.tells() {
            return Ok(Shown::default());
        }
        let is_asking = on_pull.as_ref().is_some_and(|ids| !ids.reviewers.is_empty());
        let Some((body, count)) = self.request_of(lease, showing, on_pull.unwrap_or_default()) else {
            return Ok(Shown::default());
        };
        if showing.comment.is_none() {
            lease.comment_tried().store(true, Ordering::Relaxed);
        }
        let answer = self.in_parts(lease, what, &body, count).await?;
        let comment = self.note_comment(lease, showing, &answer.data).await;
        let is_made = |kinds: &[&str]| answer.has_made(kinds);
        Ok(Shown {
            sent: true,
            comment,
            labels: is_made(&["add", "remove"]),
            seen: is_made(&["seen"]),
            told: is_made(&["reply", "say"]),
            resolved: is_made(&["done"]),
            asked: is_asking && is_made(&["ask"]),
        })
    }

    /// Takes in the status comment as the answer to a request has it.
    async fn note_comment(self, lease: &HeldLease, showing: Showing<'_>, data: &Value) -> Option<CommentId> {
        let node = match showing.comment {
            Some(_) => &data["comment"]["issueComment"],
            None => &data["comment"]["commentEdge"]["node"],
        };
        // GraphQL writes such a number as text.
        let comment = node["fullDatabaseId"].as_str().and_then(|id| id.parse().ok()).map(CommentId);
        if let (Some(id), Some(node)) = (comment, node["id"].as_str()) {
            lease.know_comment(id, node.to_owned());
            // The ledger counts the comments that there are, so that one of a person is news.
            if showing.comment.is_none() {
                lease.note(Note::Commented).await;
            }
        }
        comment
    }

    /// Whether the server may have the mutations that this needs.
    fn may_send(&self, what: &str) -> bool {
        self.forge.settings().pushes_per_minute > 0 && !self.lacking().contains(what)
    }

    /// Sends several mutations in one request, and remembers if the server lacks one of those that `what` needs.
    async fn in_parts(
        self,
        lease: &HeldLease,
        what: &str,
        body: &Value,
        count: usize,
    ) -> Result<AnswerWire, ForgeError> {
        let purpose = format!("show the state of issue {}", lease.issue());
        let purpose = IssuesWrite.to(&purpose).counting(count);
        let answered = self.forge.create_held::<AnswerWire>(lease, Method::POST, GRAPHQL, body, purpose).await;
        let is_lacking = match &answered {
            Ok(answer) => answer.errors.iter().any(ProblemWire::is_of_the_schema),
            Err(error) => error.is_not_found(),
        };
        if is_lacking {
            self.lacking().insert(what.to_owned());
        }
        for ProblemWire { message, .. } in answered.iter().flat_map(|answer| &answer.errors) {
            tracing::debug!(issue = lease.issue().0, "a part is made over REST (asked to {what}): {message}");
        }
        answered
    }

    /// The ids of what is named on a pull request. `None` if they could not all be read, or a reply would be part of a review that this
    /// account has not submitted.
    async fn ids_of(self, pull: PullNumber, on_pull: OnPull<'_>) -> Option<PullIds> {
        let OnPull { answers, resolved, reviewers } = on_pull;
        let replied: Vec<u64> = answers.iter().filter_map(|answer| answer.thread).collect();
        let mut variables = json!({ "owner": self.forge.repo.owner(), "name": self.forge.repo.name(), "number": pull });
        let (mut parameters, mut users) = (String::new(), String::new());
        for (index, login) in reviewers.iter().enumerate() {
            parameters.push_str(&format!(", $u{index}: String!"));
            users.push_str(&format!(" u{index}: user(login: $u{index}) {{ id }}"));
            variables[format!("u{index}")] = login.as_str().into();
        }
        let has_threads = !replied.is_empty() || !resolved.is_empty();
        // Nobody sees the pending reviews of others.
        let of_threads = if has_threads {
            format!(" reviews(last: 1, states: [PENDING]) {{ totalCount }} {THREADS}")
        } else {
            String::new()
        };
        let query = format!(
            "query($owner: String!, $name: String!, $number: Int!{parameters}) {{ repository(owner: $owner, name: $name) {{ \
             pullRequest(number: $number) {{ id{of_threads} }} }}{users} }}"
        );
        let purpose = PullRequestsRead.to("find what is named on a pull request");
        let answered = self.forge.connection().query(&query, variables, purpose).await;
        let data = answered.inspect_err(|error| tracing::debug!(%error, "it is told over REST: {error}")).ok()?.data;
        let id = |node: &Value| node["id"].as_str().map(str::to_owned);
        let wanted = (0..reviewers.len()).map(|index| id(&data[format!("u{index}")]));
        let (threads, drafts) = match has_threads {
            true => (threads(&data).ok()?, data["repository"]["pullRequest"]["reviews"]["totalCount"].as_u64()?),
            false => (Vec::new(), 0),
        };
        let begun_by = |first: &u64| Some(threads.iter().find(|thread| thread.first == Some(*first))?.id.clone());
        let open = threads.iter().filter(|thread| thread.is_open_among(resolved));
        (drafts == 0 || replied.is_empty()).then_some(PullIds {
            pull: id(&data["repository"]["pullRequest"])?,
            reviewers: wanted.collect::<Option<_>>()?,
            replied: replied.iter().map(begun_by).collect::<Option<_>>()?,
            resolved: open.map(|thread| thread.id.clone()).collect(),
        })
    }

    fn lacking(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.forge.connection().lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The body of the request, and how many writes it is. `None` if an id is not known.
    fn request_of(self, lease: &HeldLease, showing: Showing<'_>, ids: PullIds) -> Option<(Value, usize)> {
        let Showing { issue, comment, body, changes, seen, on_pull } = showing;
        let on_pull = on_pull.map(|(_, on_pull)| on_pull).unwrap_or_default();
        let known = self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let node = |name: &String| known.label_nodes.get(&name.to_lowercase()).filter(|node| !node.is_empty()).cloned();
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                LabelChange::Add(name) => add.push(node(name)?),
                LabelChange::Remove(name) => remove.push(node(name)?),
            }
        }
        let parts = Parts {
            seen: seen.len(),
            replies: ids.replied.len(),
            says: on_pull.comments().count(),
            done: ids.resolved.len(),
            asks: !ids.reviewers.is_empty(),
            adds: !add.is_empty(),
            removes: !remove.is_empty(),
        };
        let mut variables = Map::from_iter([("issue".to_owned(), json!(issue.node)), ("body".to_owned(), json!(body))]);
        let commenting = match comment {
            Some(id) => {
                variables.insert("comment".to_owned(), lease.node_of(id)?.into());
                Commenting::Edits
            }
            None => Commenting::Writes,
        };
        if parts.says > 0 || parts.asks {
            variables.insert("pull".to_owned(), ids.pull.into());
        }
        variables.extend(numbered("seen", seen));
        variables.extend(numbered("thread", &ids.replied));
        variables.extend(numbered("reply", on_pull.replies()));
        variables.extend(numbered("say", on_pull.comments()));
        variables.extend(numbered("done", &ids.resolved));
        for (name, nodes) in [("reviewers", ids.reviewers), ("add", add), ("remove", remove)] {
            if !nodes.is_empty() {
                variables.insert(name.to_owned(), nodes.into());
            }
        }
        let body = json!({ "query": show(commenting, parts), "variables": variables });
        Some((body, 1 + parts.count()))
    }
}

impl Showing<'_> {
    /// Whether it has answers to people.
    fn tells(&self) -> bool {
        self.on_pull.is_some_and(|(_, on_pull)| !on_pull.answers.is_empty())
    }
}

impl<'a> OnPull<'a> {
    fn replies(&self) -> impl Iterator<Item = &'a str> {
        self.answers.iter().filter(|answer| answer.thread.is_some()).map(|answer| answer.text.as_str())
    }

    fn comments(&self) -> impl Iterator<Item = &'a str> {
        self.answers.iter().filter(|answer| answer.thread.is_none()).map(|answer| answer.text.as_str())
    }
}

impl AnswerWire {
    /// Whether all parts of these kinds were made. A problem of no part is one of all.
    fn has_made(&self, kinds: &[&str]) -> bool {
        let is_of = |part: &str| kinds.contains(&part.trim_end_matches(|letter: char| letter.is_ascii_digit()));
        let spares = |problem: &ProblemWire| problem.part().is_some_and(|part| !is_of(part));
        !self.data.is_null() && self.errors.iter().all(spares)
    }
}
