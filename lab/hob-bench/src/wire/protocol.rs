//! The protocol of a request, by its path, and its part in that protocol.

use serde_json::{Value, json};

use crate::{
    tool::Offer,
    wire::{Event, Reply, anthropic, chat, gemini, responses},
};

/// A protocol of a model's service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Protocol {
    /// The protocol of a request's path, if it asks a model for a reply.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// The tools that `body` offers.
    pub(crate) fn offers(self, body: &Value) -> Vec<Offer> {
        match self {
            Self::Chat => chat::offers(body),
            Self::Responses => responses::offers(body),
            Self::Anthropic => anthropic::offers(body),
            Self::Gemini => gemini::offers(body),
        }
    }

    /// The schema that the reply must fit, if `body` wants JSON rather than words.
    pub(crate) fn schema(self, body: &Value) -> Option<&Value> {
        let places: &[&str] = match self {
            Self::Chat => &["/response_format/json_schema/schema"],
            Self::Responses => &["/text/format/schema"],
            Self::Anthropic => &["/output_config/format/schema", "/output_format/schema"],
            Self::Gemini => &["/generationConfig/responseJsonSchema", "/generationConfig/responseSchema"],
        };
        places.iter().find_map(|place| body.pointer(place))
    }

    /// Whether the client wants a stream.
    pub(crate) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Chat | Self::Responses | Self::Anthropic => body["stream"] == json!(true),
            Self::Gemini => path.contains(":streamGenerateContent"),
        }
    }

    /// The reply as a stream.
    pub(crate) fn events(self, reply: &Reply) -> Vec<Event> {
        match self {
            Self::Chat => chat::events(reply),
            Self::Responses => responses::events(reply),
            Self::Anthropic => anthropic::events(reply),
            Self::Gemini => gemini::events(reply),
        }
    }

    /// The reply in one piece.
    pub(crate) fn whole(self, reply: &Reply) -> Value {
        match self {
            Self::Chat => chat::whole(reply),
            Self::Responses => responses::whole(reply),
            Self::Anthropic => anthropic::whole(reply),
            Self::Gemini => gemini::whole(reply),
        }
    }

    /// An error's body, in the protocol's own form.
    pub(crate) fn error(self, status: u16, kind: &str, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => json!({ "error": { "message": message, "type": kind, "code": kind } }),
            Self::Anthropic => json!({ "type": "error", "error": { "type": kind, "message": message } }),
            Self::Gemini => json!({ "error": { "code": status, "message": message, "status": kind } }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{INPUT_TOKENS, OUTPUT_TOKENS, tool::Turn};

    const ALL: [(Protocol, &str); 4] = [
        (Protocol::Chat, "/v1/chat/completions"),
        (Protocol::Responses, "/v1/responses"),
        (Protocol::Anthropic, "/v1/messages"),
        (Protocol::Gemini, "/v1beta/models/m:generateContent"),
    ];

    /// All texts in a JSON value, one after the other.
    fn texts(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(values) => values.iter().map(texts).collect(),
            Value::Object(values) => values.values().map(texts).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
        }
    }

    #[test]
    fn every_protocol_says_a_turn_whole_and_in_pieces() {
        let call = Turn::Call { name: "shell".into(), arguments: r#"{"command":"make all"}"#.into() };
        for (protocol, path) in ALL {
            assert_eq!(Protocol::of_path(path), Some(protocol));
            for (turn, said) in [(Turn::Text("All is done.".into()), "done."), (call.clone(), "make all")] {
                let reply = Reply { turn, number: 1, model: "m".into() };
                assert!(texts(&protocol.whole(&reply)).contains(said), "{protocol:?} {said}");
                let events = protocol.events(&reply);
                assert!(events.len() > 2, "{protocol:?}: nothing to cut");
                let values = events.iter().filter(|event| event.data != "[DONE]");
                for value in values.map(|event| serde_json::from_str::<Value>(&event.data).unwrap()) {
                    assert!(value.is_object(), "{protocol:?}");
                }
                let all: String = events.iter().map(|event| event.data.as_str()).collect();
                assert!(all.contains(&format!("{INPUT_TOKENS}")) && all.contains(&format!("{OUTPUT_TOKENS}")));
            }
        }
        assert_eq!(Protocol::of_path("/v1/models"), None);
    }
}
