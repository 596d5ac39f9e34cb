//! Asks for the usage of a stream where a service gives it only on request: chat completions of OpenAI's interface.

use bytes::Bytes;
use serde_json::Value;

use crate::json::Json;

/// The option that asks for it.
const OPTION: &str = "stream_options";

/// The body, which asks for the usage if it asks for a stream. Only chat completions and completions know the option, and only
/// they have messages or a prompt.
pub(crate) fn with_usage(body: &Bytes, json: &Json<'_>) -> Bytes {
    let is_stream = json.get("stream") == Some(&Json::Flag(true));
    if !is_stream || (json.get("messages").is_none() && json.get("prompt").is_none()) {
        return body.clone();
    }
    match json.get(OPTION) {
        Some(options) if options.get("include_usage") == Some(&Json::Flag(true)) => body.clone(),
        // The body is an object: it begins with a brace, after spaces.
        None => match body.iter().position(|byte| *byte == b'{') {
            Some(at) => {
                let option = br#""stream_options":{"include_usage":true},"#;
                [&body[..=at], option, &body[at + 1..]].concat().into()
            }
            None => body.clone(),
        },
        Some(_) => {
            let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.clone() };
            if !value[OPTION].is_object() {
                value[OPTION] = Value::Object(serde_json::Map::new());
            }
            value[OPTION]["include_usage"] = Value::Bool(true);
            value.to_string().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus K137.
    #[test]
    fn a_stream_of_chat_completions_always_reports_its_usage() {
        for (body, sent) in [
            (
                r#" {"messages":[],"stream":true}"#,
                r#" {"stream_options":{"include_usage":true},"messages":[],"stream":true}"#,
            ),
            (
                r#"{"messages":[],"stream":true,"stream_options":{"include_usage":false,"x":1}}"#,
                r#"{"messages":[],"stream":true,"stream_options":{"include_usage":true,"x":1}}"#,
            ),
            (
                r#"{"prompt":"","stream":true,"stream_options":null}"#,
                r#"{"prompt":"","stream":true,"stream_options":{"include_usage":true}}"#,
            ),
        ] {
            let json = serde_json::from_str(body).unwrap();
            let found: Value = serde_json::from_slice(&with_usage(&Bytes::from(body), &json)).unwrap();
            assert_eq!(found, serde_json::from_str::<Value>(sent).unwrap(), "{body}");
        }
        for body in [
            r#"{"messages":[]}"#,
            r#"{"input":"","stream":true}"#,
            r#"{"messages":[],"stream":true,"stream_options":{"include_usage":true}}"#,
        ] {
            assert_eq!(with_usage(&Bytes::from(body), &serde_json::from_str(body).unwrap()), body);
        }
    }
}
