//! GraphQL: many objects in one request, instead of one REST request for each.
//!
//! # Assumptions
//! Errors come with status 200, beside data or instead of it (`docs/design/github.md`, `graphql.errors`). An error that says
//! that the server lacks an object is remembered, and the query is not repeated; any other error may be gone the next
//! time.
//!
//! # Caveats
//! A query is never answered with 304, so each one counts against a separate quota. It is worthwhile for unknown
//! objects, not for those that are read again and again.

use std::{sync::PoisonError, time::Duration};

use hob_text::clip;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Connection, ForgeError,
    call::Call,
    permitted::GRAPHQL,
    purpose::Purpose,
    reply::{Reply, decode, exhausted},
    wait::wait,
};

/// The wait after a limit without a time. Source: GitHub, "Rate limits and query limits for the GraphQL API".
const LIMIT_PAUSE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
pub(super) struct AnswerWire {
    #[serde(default)]
    pub(super) data: Value,
    #[serde(default)]
    pub(super) errors: Vec<ProblemWire>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProblemWire {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Names of fields and indices of lists.
    #[serde(default)]
    path: Option<Vec<Value>>,
}

/// The answer to a query.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// The data; null for parts that the forge could not answer.
    pub(super) data: Value,
    /// Why parts of it are null.
    problems: Vec<ProblemWire>,
}

impl Answered {
    /// Whether a part of `field` below `of` is hidden from the token.
    pub(super) fn hides(&self, of: &str, field: &str) -> bool {
        let hidden = self.problems.iter().filter(|problem| problem.is("FORBIDDEN"));
        let mut paths = hidden.filter_map(|problem| problem.path.as_ref());
        paths.any(|path| path.iter().any(|part| part == of) && path.iter().any(|part| part == field))
    }

    /// Whether nothing is missing of the entry at `index` of a list at the top.
    pub(super) fn is_whole_at(&self, index: usize) -> bool {
        let is_of_it = |path: &Vec<Value>| path.get(1).is_none_or(|part| part.as_u64() == Some(index as u64));
        !self.problems.iter().any(|problem| problem.path.as_ref().is_none_or(is_of_it))
    }

    /// Whether nothing is missing but what `field` should be, because there is no such thing.
    pub(super) fn lacks_at_most(&self, field: &str) -> bool {
        let is_of_it = |path: &Vec<Value>| path.last().is_some_and(|part| part == field);
        let is_it = |problem: &ProblemWire| problem.is("NOT_FOUND") && problem.path.as_ref().is_some_and(is_of_it);
        self.problems.iter().all(is_it)
    }
}

impl ProblemWire {
    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// The part of the request that failed. `None` if all of it did.
    pub(super) fn part(&self) -> Option<&str> {
        self.path.as_ref()?.first()?.as_str()
    }

    /// Whether it says that the server's schema lacks a requested field.
    pub(super) fn is_of_the_schema(&self) -> bool {
        self.message.contains("doesn't exist on type") || self.is("undefinedField")
    }
}

impl Connection {
    /// The data that a query returns, with retries if a failure may be transient.
    ///
    /// # Errors
    /// [`ForgeError::NotFound`] if the server lacks GraphQL or these fields, which is asked only once;
    /// [`ForgeError::Refused`] if there is no data at all for another reason. The status is then 200.
    pub(super) async fn query(
        &self,
        query: &str,
        variables: Value,
        purpose: Purpose<'_>,
    ) -> Result<Answered, ForgeError> {
        let lacking = || self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        if lacking().contains(purpose.what) {
            return Err(ForgeError::NotFound { what: purpose.what.to_owned() });
        }
        let mut tried = 0;
        loop {
            let error = match self.query_once(query, &variables, purpose).await {
                Ok(answered) => return Ok(answered),
                Err(error) => error,
            };
            if error.is_not_found() {
                lacking().insert(purpose.what.to_owned());
            }
            let Some(pause) = self.transport.pause_after(&error, tried) else { return Err(error) };
            tried += 1;
            wait(&error, pause).await;
        }
    }

    async fn query_once(&self, query: &str, variables: &Value, purpose: Purpose<'_>) -> Result<Answered, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        let call = Call::write(&Method::POST, GRAPHQL, &body, purpose);
        let reply = self.send(call).await?;
        self.count_read();
        if !reply.status.is_success() {
            return Err(self.transport.failure(&reply, GRAPHQL, purpose));
        }
        let AnswerWire { data, errors } = decode(&reply.body, purpose.what)?;
        if data.is_null() {
            return Err(self.problem(&reply, errors, purpose));
        }
        Ok(Answered { data, problems: errors })
    }

    /// Why a query was answered without data.
    fn problem(&self, reply: &Reply, errors: Vec<ProblemWire>, purpose: Purpose<'_>) -> ForgeError {
        let what = purpose.what.to_owned();
        if errors.iter().any(|problem| problem.is("RATE_LIMITED")) {
            let retry_after = exhausted(reply, self.now()).unwrap_or(LIMIT_PAUSE);
            return ForgeError::Limited { what, retry_after };
        }
        if errors.iter().any(ProblemWire::is_of_the_schema) {
            return ForgeError::NotFound { what };
        }
        let first = errors.into_iter().next();
        // A timeout or a failure of the server is an error without a kind.
        let is_failure = |problem: &ProblemWire| problem.message.starts_with("Something went wrong");
        match first {
            Some(problem) if is_failure(&problem) => ForgeError::Server { what, status: 200, retry_after: None },
            Some(problem) => ForgeError::Refused { what, status: 200, message: clip(&problem.message, 500) },
            None => ForgeError::Refused { what, status: 200, message: "no reason given".to_owned() },
        }
    }
}
