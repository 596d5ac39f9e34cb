//! The meaning of an error of a model's service: whether another try can help, and when.

use std::{sync::LazyLock, time::Duration};

use chrono::DateTime;
use hob_domain::FailureClass;
use http::HeaderMap;
use regex::Regex;
use serde_json::Value;

use crate::model::ModelError;

/// Characters of a service's message that are kept.
const MESSAGE_MAX: usize = 500;

/// Reads an answer whose status is an error.
///
/// Sources: OpenAI's "Error codes" (429 is a rate limit or, with `insufficient_quota`, an empty account) and Anthropic's
/// "Errors" (529 is an overload; an empty account is a 400 whose message names the credit balance).
pub(super) fn status_error(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let is_too_long = match status {
        // It means nothing else, in any words.
        413 => true,
        400 | 422 => is_too_long(body),
        // More than the account may send in a minute: no wait makes room for it.
        429 => body.contains("Request too large"),
        // llama.cpp's server of some versions.
        500 => body.contains("exceeds the available context size"),
        _ => false,
    };
    if is_too_long {
        return ModelError::TooLong(message(body));
    }
    let failure = if is_unpaid(body) {
        FailureClass::Misconfigured
    } else {
        match status {
            // 498: no room at Groq's.
            408 | 409 | 425 | 429 | 498 | 500.. => {
                FailureClass::Transient { retry_after: retry_after(headers).or_else(|| hint(body)) }
            }
            400 if body.contains("overloaded") => FailureClass::Transient { retry_after: None },
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
        _ => FailureClass::Transient { retry_after: hint(&body) },
    };
    ModelError::Status { status: 200, message: message(&body), failure }
}

/// Whether the account has no money or no quota left: waiting does not help. The words of OpenAI, Anthropic, DeepSeek, Moonshot
/// and Zhipu.
fn is_unpaid(body: &str) -> bool {
    [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_error",
        "credit balance is too low",
        "nsufficient balance",
        "nsufficient Balance",
        "exceeded_current_quota_error",
    ]
    .iter()
    .any(|sign| body.contains(sign))
}

/// Whether an error says that the request is longer than the model's window. Services have no common code for it: these
/// are the words of OpenAI, Anthropic, Gemini, xAI, Moonshot, Zhipu, DashScope, GitHub, vLLM, llama.cpp and TGI.
fn is_too_long(body: &str) -> bool {
    let body = body.to_lowercase();
    let has_one = |signs: &[&str]| signs.iter().any(|sign| body.contains(sign));
    let says_so = [
        "context length",
        "context_length",
        "context window",
        "context limit",
        "context size",
        "context_size",
        "too many tokens",
        "maximum number of tokens",
        "maximum prompt length",
        "max prompt length",
        "model token limit",
        "prompt exceeds max length",
        "range of input length",
        "prompt_tokens_exceeded",
        "`inputs` tokens + `max_new_tokens`",
    ];
    // A picture, or one member, may be too large as well.
    let other = ["image", "string too long", "array too long"];
    has_one(&says_so) || has_one(&["too long", "too large"]) && !has_one(&other)
}

/// The wait that the words of an error name: `try again in 1m2.5s` of OpenAI and Groq, `retryDelay` of Google, `resets_in_seconds` of
/// codex' service.
fn hint(body: &str) -> Option<Duration> {
    static WAITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""retryDelay":\s*"([\d.]+)s"|"resets_in_seconds":\s*(\d+)|(?:try again|retry) in ([\d.hms]+)"#)
            .ok()
    });
    static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([\d.]+)(ms|h|m|s)").ok());
    let found = WAITS.as_ref()?.captures(body)?;
    if let Some(seconds) = found.get(1).or_else(|| found.get(2)) {
        return Duration::try_from_secs_f64(seconds.as_str().parse().ok()?).ok();
    }
    let words = found.get(3)?.as_str();
    let seconds = PARTS.as_ref()?.captures_iter(words).filter_map(|part| {
        let unit = match &part[2] {
            "h" => 3_600.0,
            "m" => 60.0,
            "ms" => 0.001,
            _ => 1.0,
        };
        part[1].parse::<f64>().ok().map(|number| number * unit)
    });
    Duration::try_from_secs_f64(seconds.sum()).ok().filter(|wait| !wait.is_zero())
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

/// The message in a JSON body, with the words of the service behind OpenRouter; otherwise the beginning of the body. Without control
/// characters.
fn message(body: &str) -> String {
    let json = serde_json::from_str::<Value>(body).ok();
    // Google's interface has a list of one.
    let json = json.as_ref().map(|json| json.get(0).unwrap_or(json));
    let error = json.map(|json| json.get("error").unwrap_or(json));
    let said = error.and_then(|error| error.get("message").unwrap_or(error).as_str()).unwrap_or(body);
    let behind = error.and_then(|error| error.pointer("/metadata/raw")).and_then(Value::as_str);
    let said = behind.map_or_else(|| said.to_owned(), |behind| format!("{said}: {behind}"));
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
            (429, r#"{"error":{"type":"exceeded_current_quota_error","message":"x"}}"#, FailureClass::Misconfigured),
            (
                429,
                r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package."}}"#,
                FailureClass::Misconfigured,
            ),
            (400, r#"{"error":{"message":"The engine is currently overloaded"}}"#, transient(None)),
            (498, "capacity exceeded", transient(None)),
            (429, "Please try again in 2.5s.", transient(Some(Duration::from_millis(2_500)))),
            (429, "Please try again in 7h12m0s.", transient(Some(Duration::from_secs(25_920)))),
            (429, "Please try again in 250ms.", transient(Some(Duration::from_millis(250)))),
            (429, "Please try again in a while.", transient(None)),
            (429, r#"[{"error":{"details":[{"retryDelay":"34s"}]}}]"#, transient(Some(Duration::from_secs(34)))),
            (
                429,
                r#"{"error":{"type":"usage_limit_reached","resets_in_seconds":7200}}"#,
                transient(Some(Duration::from_secs(7_200))),
            ),
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
            assert!(!status_error(503, &HeaderMap::new(), body).is_too_long(), "{body}");
        }
        for (status, body) in [
            (
                400,
                r#"{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
            ),
            (400, r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144"}}"#),
            (400, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#),
            (
                400,
                r#"{"error":{"message":"prompt token count of 9 exceeds the limit of 8","code":"model_max_prompt_tokens_exceeded"}}"#,
            ),
            (
                422,
                r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 6000"}"#,
            ),
            (422, r#"{"message":"Prompt contains 9 tokens, too large for model with 8 maximum context length"}"#),
            (400, r#"{"error":{"message":"Range of input length should be [1, 30720]"}}"#),
            (500, r#"{"error":{"code":500,"message":"the request exceeds the available context size"}}"#),
            (429, r#"{"error":{"message":"Request too large for x on tokens per min (TPM): Limit 3, Requested 6."}}"#),
            (
                400,
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"maximum context length is 8 tokens"}}}"#,
            ),
            (
                400,
                r#"[{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]"#,
            ),
        ] {
            assert!(status_error(status, &HeaderMap::new(), body).is_too_long(), "{body}");
        }
        for other in ["the image is too large", "Invalid 'tools[0].description': string too long", "Rate limit reached"]
        {
            assert!(!status_error(400, &HeaderMap::new(), other).is_too_long(), "{other}");
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
        assert_eq!(message(r#"[{"error":{"message":"a","metadata":{"raw":"b"}}}]"#), "a: b");
        assert_eq!(message(&"x".repeat(9_000)).len(), MESSAGE_MAX);
        assert_eq!(message(" "), "nothing more");
    }
}
