//! Problems in GitHub's GraphQL format: a sentence, a type or a code, the place in the query and in the answer.

use async_graphql_parser::Pos;
use serde_json::{Map, Value, json};

use super::super::refusal::Refusal;

/// One entry of an answer's `errors`.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) message: String,
    /// GitHub's name of the problem with the data, such as `NOT_FOUND`.
    kind: Option<&'static str>,
    /// The problem with the query itself.
    extensions: Option<Value>,
    locations: Vec<Pos>,
    path: Vec<Value>,
}

impl Problem {
    /// A problem with the data of an answer.
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: Some(kind), extensions: None, locations: Vec::new(), path: Vec::new() }
    }

    /// The object does not exist, or is hidden from this account.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new("NOT_FOUND", message)
    }

    /// A global id that names nothing.
    pub(super) fn no_node(id: &str) -> Self {
        Self::not_found(format!("Could not resolve to a node with the global id of '{id}'"))
    }

    /// A problem with the query: nothing of it runs. `more` goes beside the code.
    pub(super) fn query(code: &str, message: impl Into<String>, at: Pos, more: &[(&str, &str)]) -> Self {
        let mut extensions = Map::from_iter([("code".to_owned(), json!(code))]);
        extensions.extend(more.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        let extensions = Some(Value::Object(extensions));
        Self { message: message.into(), kind: None, extensions, locations: vec![at], path: Vec::new() }
    }

    /// Adds the place in the query and in the answer.
    pub(super) fn at(mut self, location: Pos, path: &[Value]) -> Self {
        self.locations = vec![location];
        self.path = path.to_vec();
        self
    }

    /// The entry of `errors`.
    pub(super) fn json(&self) -> Value {
        let places: Vec<Value> =
            self.locations.iter().map(|pos| json!({"line": pos.line, "column": pos.column})).collect();
        let mut shown = Map::from_iter([("message".to_owned(), json!(self.message))]);
        if let Some(kind) = self.kind {
            shown.insert("type".to_owned(), json!(kind));
        }
        if !self.path.is_empty() {
            shown.insert("path".to_owned(), json!(self.path));
        }
        if let Some(extensions) = &self.extensions {
            shown.insert("extensions".to_owned(), extensions.clone());
        }
        if !places.is_empty() {
            shown.insert("locations".to_owned(), json!(places));
        }
        Value::Object(shown)
    }
}

impl From<Refusal> for Problem {
    /// A mutation passes on the refusal of its REST endpoint.
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.status.as_u16() {
            401 | 403 => "FORBIDDEN",
            404 => "NOT_FOUND",
            500.. => "INTERNAL",
            _ => "UNPROCESSABLE",
        };
        Self::new(kind, refusal.sentence_of())
    }
}

impl From<git2::Error> for Problem {
    fn from(error: git2::Error) -> Self {
        Refusal::from(error).into()
    }
}
