//! The meaning of an error of a model's service: whether another try can help, and when.

use std::time::Duration;

use chrono::DateTime;
use hob_domain::FailureClass;
use http::HeaderMap;
use serde_json::Value;

use crate::model::ModelError;

/// Characters of a service's message that are kept.
const MESSAGE_MAX: usize = 500;

/// Reads an answer whose status is an error.
///
/// Sources: OpenAI's "Error codes" (429 is a rate limit or, with `insufficient_quota`, an empty account) and Anthropic's
/// "Errors" (529 is an overload; an empty account is a 400 whose message names the credit balance).
pub(super) fn status_error(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    // 413 means nothing else, in any words.
    if status == 413 || status == 400 && is_too_long(body) {
        return ModelError::TooLong(message(body));
    }
    let failure = if is_unpaid(body) {
        FailureClass::Misconfigured
    } else {
        match status {
            408 | 409 | 425 | 429 | 500.. => FailureClass::Transient { retry_after: retry_after(headers) },
            // 401 and 403: the key; 402: the bill; 404: the model's name or the address.
            401..=404 => FailureClass::Misconfigured,
            // Redirects are not followed, so that a key reaches no other host: the address is wrong.
            300..=399 => FailureClass::Misconfigured,
            _ => FailureClass::Permanent,
        }
    };
    ModelError::Status { status, message: message(body), failure }
}

/// Reads the object `error` that a service sends in the middle of a stream.
pub(super) fn stream_error(error: &Value) -> ModelError {
    let body = error.to_string();
    let kind = error.get("type").or_else(|| error.get("code")).and_then(Value::as_str).unwrap_or_default();
    if kind == "request_too_large" || is_too_long(&body) {
        return ModelError::TooLong(message(&body));
    }
    let failure = match kind {
        _ if is_unpaid(&body) => FailureClass::Misconfigured,
        "authentication_error" | "permission_error" | "not_found_error" => FailureClass::Misconfigured,
        "invalid_request_error" => FailureClass::Permanent,
        // Overloads, rate limits, server errors, and unknown errors: another try is bounded and may work.
        _ => FailureClass::Transient { retry_after: None },
    };
    ModelError::Status { status: 200, message: message(&body), failure }
}

/// Whether the account has no money or no quota left: waiting does not help.
fn is_unpaid(body: &str) -> bool {
    ["insufficient_quota", "billing_hard_limit_reached", "billing_error", "credit balance is too low"]
        .iter()
        .any(|sign| body.contains(sign))
}

/// Whether an error says that the request is longer than the model's window. Services have no common code for it: these
/// are the words of OpenAI, Anthropic, Gemini, vLLM and llama.cpp.
fn is_too_long(body: &str) -> bool {
    let body = body.to_lowercase();
    [
        "context length",
        "context_length",
        "context window",
        "context limit",
        "context size",
        "context_size",
        "too long",
        "too large",
        "too many tokens",
        "maximum number of tokens",
    ]
    .iter()
    .any(|sign| body.contains(sign))
}

/// The wait a service asks for: `retry-after-ms`, or `retry-after` in seconds or as a date, by the service's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let date = |name: &str| DateTime::parse_from_rfc2822(text(name)?).ok();
    match number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after")) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => (date("retry-after")? - date("date")?).to_std().ok(),
    }
}

/// The message in a JSON body, otherwise the beginning of the body, without control characters.
fn message(body: &str) -> String {
    let json = serde_json::from_str::<Value>(body).ok();
    let error = json.as_ref().map(|json| json.get("error").unwrap_or(json));
    let said = error.and_then(|error| error.get("message").unwrap_or(error).as_str()).unwrap_or(body);
    let words = said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MESSAGE_MAX).collect::<String>();
    if words.trim().is_empty() { "nothing more".to_owned() } else { words.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(http::HeaderName::from_static(name), http::HeaderValue::from_static(value))])
    }

    /// Requirement G3.
    #[test]
    fn each_error_has_its_class() {
        let transient = |retry_after| FailureClass::Transient { retry_after };
        for (status, body, failure) in [
            (429, "{}", transient(None)),
            (500, "oops", transient(None)),
            (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#, transient(None)),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, FailureClass::Misconfigured),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, FailureClass::Misconfigured),
            (401, "", FailureClass::Misconfigured),
            (404, "", FailureClass::Misconfigured),
            (302, "", FailureClass::Misconfigured),
            (400, r#"{"error":{"message":"context length exceeded"}}"#, FailureClass::Permanent),
            (413, "", FailureClass::Permanent),
        ] {
            assert_eq!(status_error(status, &HeaderMap::new(), body).failure(), failure, "{status} {body}");
        }
    }

    #[test]
    fn a_request_that_is_too_long_is_told_in_many_words() {
        for body in [
            r#"{"error":{"code":"context_length_exceeded","message":"Input tokens exceed the configured limit"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8"}}"#,
            r#"{"type":"error","error":{"message":"input length and `max_tokens` exceed context limit: 9 + 9 > 10"}}"#,
            r#"{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens)"}}"#,
            r#"{"object":"error","message":"This model's maximum context length is 8 tokens. However, you requested 9"}"#,
        ] {
            assert!(status_error(400, &HeaderMap::new(), body).is_too_long(), "{body}");
            assert!(!status_error(500, &HeaderMap::new(), body).is_too_long(), "{body}");
        }
        assert!(stream_error(&serde_json::json!({ "message": "the context window is full" })).is_too_long());
        assert!(
            stream_error(&serde_json::json!({ "type": "request_too_large", "message": "too many bytes" }))
                .is_too_long()
        );
        for body in [
            "",
            "<html>Request Entity Too Large</html>",
            r#"{"error":{"type":"request_too_large","message":"over 32 MB"}}"#,
        ] {
            assert!(status_error(413, &HeaderMap::new(), body).is_too_long(), "{body}");
        }
        assert!(!status_error(400, &HeaderMap::new(), "no such field").is_too_long());
    }

    #[test]
    fn the_wait_that_is_asked_for_is_read() {
        for (name, value, wait) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after-ms", "250", Some(Duration::from_millis(250))),
            ("retry-after", "-1", None),
            ("retry-after", "1e300", None),
            ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None),
        ] {
            let failure = status_error(429, &headers(name, value), "").failure();
            assert_eq!(failure, FailureClass::Transient { retry_after: wait }, "{value}");
        }
        let mut dated = headers("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT");
        dated.extend(headers("date", "Wed, 21 Oct 2026 07:26:30 GMT"));
        let wait = Some(Duration::from_secs(90));
        assert_eq!(status_error(503, &dated, "").failure(), FailureClass::Transient { retry_after: wait });
    }

    #[test]
    fn a_message_is_short_and_plain() {
        assert_eq!(message(r#"{"error":{"message":"no\u001b[31m"}}"#), "no [31m");
        assert_eq!(message(r#"{"error":"not loaded"}"#), "not loaded");
        assert_eq!(message(&"x".repeat(9_000)).len(), MESSAGE_MAX);
        assert_eq!(message(" "), "nothing more");
    }
}
