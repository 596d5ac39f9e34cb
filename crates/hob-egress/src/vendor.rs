//! The interfaces of model services, and the form of each one's errors.

use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use crate::shared::{Body, full};

/// The interface of a model service: its paths, its errors and its counts of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's messages.
    Anthropic,
    /// Chat completions, responses and embeddings as OpenAI has them.
    OpenAi,
    /// Google's `generateContent`.
    Gemini,
}

impl Api {
    /// An error in the service's own form, so that its clients show the sentence.
    pub(crate) fn error(self, status: StatusCode, kind: &str, message: &str) -> Response<Body> {
        let value = match self {
            Self::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
            Self::OpenAi => json!({"error": {"type": kind, "code": kind, "message": message, "param": null}}),
            Self::Gemini => {
                json!({"error": {"code": status.as_u16(), "status": kind, "type": kind, "message": message}})
            }
        };
        let mut answer = Response::new(full(value.to_string()));
        *answer.status_mut() = status;
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }
}
