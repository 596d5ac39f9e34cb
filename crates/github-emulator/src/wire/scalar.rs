//! Ids for GraphQL and times over the wire.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::names::Timestamp;

/// An opaque id for GraphQL, as GitHub gives one beside each id.
pub(in super::super) fn node_id(kind: &str, id: impl std::fmt::Display) -> String {
    BASE64_STANDARD.encode(format!("{kind}:{id}"))
}

/// A time as GitHub's API writes it.
pub(in super::super) fn time(at: Timestamp) -> Value {
    json!(at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}
