//! A request to the API, before its token is added.

use http::Method;

use crate::purpose::Purpose;

/// The media type of a call that names no other.
const JSON: &str = "application/vnd.github+json";

/// A request to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) body: Option<&'a serde_json::Value>,
    pub(super) etag: Option<&'a str>,
    pub(super) accept: &'static str,
    pub(super) purpose: Purpose<'a>,
}

impl<'a> Call<'a> {
    /// An unconditional read.
    pub(super) fn get(path: &'a str, purpose: Purpose<'a>) -> Self {
        Self { method: &Method::GET, path, body: None, etag: None, accept: JSON, purpose }
    }

    /// A write.
    pub(super) fn write(method: &'a Method, path: &'a str, body: &'a serde_json::Value, purpose: Purpose<'a>) -> Self {
        Self { method, body: Some(body), ..Self::get(path, purpose) }
    }
}
