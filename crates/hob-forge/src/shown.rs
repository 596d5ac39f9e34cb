//! A transition as people see it, the status comment, whom its pull request asks for a review, and the labels, in one GraphQL request
//! instead of up to four calls of the REST API.
//!
//! # Guarantees
//! The parts are made in their order, the comment first. One that fails stops none of the others, so what was made is told part by part:
//! the caller makes the rest over REST.
//!
//! # Caveats
//! GraphQL names everything by ids of its own. What has one is known from lists that were read anyway, and from the comment's last write
//! under the lease, and those of an earlier comment and of reviewers are asked for; where one is missing, nothing is sent. GitHub does not say whether several mutations in one request count as several
//! writes in its secondary limits, so they do here.

use std::{
    collections::BTreeSet,
    sync::{MutexGuard, PoisonError, atomic::Ordering},
};

use hob_domain::{CommentId, LabelChange, Login, Note, PullNumber};
use http::Method;
use serde_json::{Value, json};

use crate::{
    Comments, ForgeError, HeldLease, Issue,
    TokenPermission::{IssuesWrite, PullRequestsRead},
    graphql::{AnswerWire, ProblemWire},
    mutations::{Commenting, Parts, show},
    permitted::GRAPHQL,
    purpose::Purpose,
};

/// What a server may lack.
const SHOW: &str = "show an issue's state";

/// What is to be seen on an issue.
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
    /// Whom a pull request asks for a review, if there is anyone.
    pub reviewers: Option<(PullNumber, &'a [Login])>,
}

/// What of it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// The status comment, if it says so now.
    pub comment: Option<CommentId>,
    /// Whether all labels are right.
    pub labels: bool,
    /// Whether all reviewers were asked.
    pub asked: bool,
}

/// Whom to ask, by ids of GraphQL.
pub(super) struct Asking {
    pub(super) pull: String,
    pub(super) users: Vec<String>,
}

impl Comments<'_> {
    /// Shows a transition in one request, as far as that can be done. The comment is not looked for first.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; its outcome may be unknown.
    pub async fn show(self, lease: &HeldLease, showing: Showing<'_>) -> Result<Shown, ForgeError> {
        if !self.has_mutations(showing.issue) {
            return Ok(Shown::default());
        }
        if let Some(id) = showing.comment.filter(|id| lease.node_of(*id).is_none()) {
            self.learn_node(lease, id).await;
        }
        let asking = match showing.reviewers {
            Some((pull, users)) => self.asking(pull, users).await,
            None => None,
        };
        let asks = asking.is_some();
        let Some((query, variables)) = self.request_of(lease, showing, asking) else { return Ok(Shown::default()) };
        let parts = 1 + showing.changes.len() + usize::from(asks);
        let body = json!({ "query": query, "variables": variables });
        let what = format!("show the state of issue {}", lease.issue());
        let purpose = IssuesWrite.to(&what).counting(parts);
        if showing.comment.is_none() {
            lease.comment_tried().store(true, Ordering::Relaxed);
        }
        let AnswerWire { data, errors } = self.in_parts(lease, SHOW, &body, purpose).await?;
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
        let is_of = |problem: &ProblemWire, parts: &[&str]| problem.part().is_some_and(|part| parts.contains(&part));
        let labels = !data.is_null() && errors.iter().all(|problem| is_of(problem, &["comment", "ask"]));
        let asked =
            asks && !data.is_null() && errors.iter().all(|problem| is_of(problem, &["comment", "add", "remove"]));
        Ok(Shown { comment, labels, asked })
    }

    /// Whether an issue's state can be shown in one request.
    fn has_mutations(self, issue: &Issue) -> bool {
        self.may_send(SHOW) && !issue.node.is_empty()
    }

    /// Whether the server may have the mutations that this needs.
    pub(super) fn may_send(&self, what: &str) -> bool {
        self.forge.settings().pushes_per_minute > 0 && !self.lacking().contains(what)
    }

    /// Sends several mutations in one request, and remembers if the server lacks one of those that `what` needs. Parts that failed are
    /// made over REST.
    pub(super) async fn in_parts(
        self,
        lease: &HeldLease,
        what: &str,
        body: &Value,
        purpose: Purpose<'_>,
    ) -> Result<AnswerWire, ForgeError> {
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

    /// The ids of a pull request and of these accounts. `None` if they could not all be read: whom the forge does not know is asked over
    /// REST, which says why not.
    pub(super) async fn asking(self, pull: PullNumber, users: &[Login]) -> Option<Asking> {
        let mut variables = json!({ "owner": self.forge.repo.owner(), "name": self.forge.repo.name(), "number": pull });
        let (mut parameters, mut fields) = (String::new(), String::new());
        for (index, login) in users.iter().enumerate() {
            parameters.push_str(&format!(", $u{index}: String!"));
            fields.push_str(&format!(" u{index}: user(login: $u{index}) {{ id }}"));
            variables[format!("u{index}")] = login.as_str().into();
        }
        let query = format!(
            "query($owner: String!, $name: String!, $number: Int!{parameters}) {{ repository(owner: $owner, name: $name) {{ \
             pullRequest(number: $number) {{ id }} }}{fields} }}"
        );
        let purpose = PullRequestsRead.to("find whom to ask for a review");
        let answered = self.forge.connection().query(&query, variables, purpose).await;
        let data =
            answered.inspect_err(|error| tracing::debug!(%error, "reviewers are asked over REST: {error}")).ok()?.data;
        let id = |node: &Value| node["id"].as_str().map(str::to_owned);
        let users = (0..users.len()).map(|index| id(&data[format!("u{index}")])).collect::<Option<_>>()?;
        Some(Asking { pull: id(&data["repository"]["pullRequest"])?, users })
    }

    fn lacking(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.forge.connection().lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mutation and its variables. `None` if an id is not known.
    fn request_of(self, lease: &HeldLease, showing: Showing<'_>, asking: Option<Asking>) -> Option<(String, Value)> {
        let Showing { issue, comment, body, changes, reviewers: _ } = showing;
        let known = self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let node = |name: &String| known.label_nodes.get(&name.to_lowercase()).filter(|node| !node.is_empty()).cloned();
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                LabelChange::Add(name) => add.push(node(name)?),
                LabelChange::Remove(name) => remove.push(node(name)?),
            }
        }
        let mut variables = json!({ "issue": issue.node, "body": body });
        let commenting = match comment {
            Some(id) => {
                variables["comment"] = lease.node_of(id)?.into();
                Commenting::Edits
            }
            None => Commenting::Writes,
        };
        let parts = Parts { asks: asking.is_some(), adds: !add.is_empty(), removes: !remove.is_empty() };
        let query = show(commenting, parts);
        if let Some(Asking { pull, users }) = asking {
            variables["pull"] = pull.into();
            variables["reviewers"] = users.into();
        }
        for (name, nodes) in [("add", add), ("remove", remove)].into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
            variables[name] = nodes.into();
        }
        Some((query, variables))
    }
}
