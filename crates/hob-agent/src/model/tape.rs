//! The format of a cassette: a JSON file of replies, read to play them and written to record them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{ModelError, ModelReply, Stop, ToolCall, Usage};

/// The format this reads and writes.
const VERSION: u32 = 1;

/// The content of a cassette.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    cassette: u32,
    #[serde(default)]
    note: String,
    replies: Vec<Recorded>,
}

/// One reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    /// Texts that the request must contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) expect: Vec<String>,
    /// The model that gave it; only for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<RecordedCall>,
    #[serde(default = "finished")]
    stop: Stop,
    #[serde(default)]
    usage: Usage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    name: String,
    /// An object; or a text, for arguments that are broken.
    arguments: Value,
}

fn finished() -> Stop {
    Stop::Finished
}

impl Tape {
    /// An empty one.
    pub(super) fn new(note: &str) -> Self {
        Self { cassette: VERSION, note: note.to_owned(), replies: Vec::new() }
    }

    /// Reads one from its JSON text.
    pub(super) fn parse(json: &str) -> Result<Self, ModelError> {
        let tape: Self = serde_json::from_str(json).map_err(|error| ModelError::Cassette(error.to_string()))?;
        match tape.cassette {
            VERSION => Ok(tape),
            other => Err(ModelError::Cassette(format!("format {other} is not known; this reads format {VERSION}"))),
        }
    }

    /// Its JSON text, for people to read and change.
    pub(super) fn json(&self) -> Result<String, ModelError> {
        let json = serde_json::to_string_pretty(self).map_err(|error| ModelError::Cassette(error.to_string()))?;
        Ok(json + "\n")
    }

    /// A note on its origin.
    pub(super) fn note(&self) -> &str {
        &self.note
    }

    /// The replies in it.
    pub(super) fn replies(&self) -> &[Recorded] {
        &self.replies
    }

    /// Drops everything after the first `count` replies; `false` if there are fewer.
    pub(super) fn keep(&mut self, count: usize) -> bool {
        self.replies.truncate(count);
        self.replies.len() == count
    }

    /// Adds a reply.
    pub(super) fn push(&mut self, model: &str, reply: &ModelReply) {
        let calls = reply.calls.iter().map(|call| {
            let object = serde_json::from_str(&call.arguments).ok().filter(Value::is_object);
            let arguments = object.unwrap_or_else(|| call.arguments.as_str().into());
            RecordedCall { name: call.name.clone(), arguments }
        });
        self.replies.push(Recorded {
            expect: Vec::new(),
            model: model.to_owned(),
            text: reply.text.clone(),
            calls: calls.collect(),
            stop: reply.stop,
            usage: reply.usage,
        });
    }
}

impl Recorded {
    /// The reply of a turn.
    pub(super) fn reply(&self, turn: u32) -> ModelReply {
        let calls = self.calls.iter().enumerate().map(|(index, call)| ToolCall {
            id: format!("call-{turn}-{}", index + 1),
            name: call.name.clone(),
            arguments: call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned),
        });
        ModelReply {
            text: self.text.clone(),
            calls: calls.collect(),
            verbatim: None,
            stop: self.stop,
            usage: self.usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_played_back_whole() {
        let arguments = [r#"{"path":"a"}"#, r#"{"pa"#, "", "[1]", "\"x\""];
        let calls = arguments.iter().enumerate().map(|(index, arguments)| ToolCall {
            id: format!("call-1-{}", index + 1),
            name: "read".into(),
            arguments: (*arguments).into(),
        });
        let usage = Usage { input: 4, cached_input: 3, cache_write: 2, output: 1 };
        let reply =
            ModelReply { text: "ü\n".into(), calls: calls.collect(), verbatim: None, stop: Stop::Length, usage };
        let mut tape = Tape::new("a note");
        tape.push("openai/x", &reply);
        let read = Tape::parse(&tape.json().unwrap()).unwrap();
        assert_eq!((read.note(), read.replies()[0].reply(1)), ("a note", reply));
    }

    #[test]
    fn a_file_that_is_no_cassette_is_refused() {
        for bad in ["", "{}", r#"{"cassette":2,"replies":[]}"#, r#"{"cassette":1,"replies":[{"txt":"x"}]}"#] {
            assert!(Tape::parse(bad).is_err(), "{bad}");
        }
    }
}
