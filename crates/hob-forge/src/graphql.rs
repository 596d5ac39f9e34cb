//! GraphQL: many things in one request, where the REST API has a request for each.
//!
//! # Caveats
//! A query is never answered 304, so each one counts, against a quota of its own. It pays for what is not known yet and
//! for nothing that is read again and again.

use std::sync::atomic::Ordering;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Connection, ForgeError, permitted::GRAPHQL, purpose::Purpose, reply::decode, transport::Call};

#[derive(Deserialize)]
struct AnswerWire {
    #[serde(default)]
    data: Value,
    #[serde(default)]
    errors: Vec<ProblemWire>,
}

#[derive(Deserialize)]
struct ProblemWire {
    message: String,
}

impl Connection {
    /// The data that a query answers, once. A part that the forge could not answer is null.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where there is no data at all; the status is then 200.
    pub(super) async fn query(&self, query: &str, variables: Value, purpose: Purpose<'_>) -> Result<Value, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        let call = Call { method: &Method::POST, body: Some(&body), ..Call::get(GRAPHQL, purpose) };
        let reply = self.send(call).await?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        if !reply.status.is_success() {
            return Err(self.transport.failure(&reply, GRAPHQL, purpose));
        }
        let AnswerWire { data, errors } = decode(&reply.body, purpose.what)?;
        if data.is_null() {
            let message = errors.into_iter().next().map_or_else(|| "no reason given".to_owned(), |first| first.message);
            return Err(ForgeError::Refused { what: purpose.what.to_owned(), status: 200, message });
        }
        Ok(data)
    }
}
