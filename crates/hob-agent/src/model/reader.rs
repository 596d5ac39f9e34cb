//! Reads the answer of a model's service, however it is framed: as a stream of events, or, where a server or a proxy does not
//! stream, as JSON: one object, or one in each line.

use serde_json::{Deserializer, Value};

use crate::model::{ModelError, collect::Collect, sse::Events};

/// Bytes one answer may have.
const ANSWER_MAX: usize = 16 << 20;
/// The last event of a stream.
const DONE: &str = "[DONE]";

/// An answer so far.
#[derive(Debug, Default)]
pub(super) struct Reader<C> {
    collect: C,
    events: Events,
    /// The bytes of an answer that is JSON.
    json: Vec<u8>,
    /// Whether it is JSON, once something came.
    is_json: Option<bool>,
    size: usize,
}

impl<C: Collect> Reader<C> {
    /// Takes the next bytes.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<(), ModelError> {
        self.size += chunk.len();
        if self.size > ANSWER_MAX {
            return Err(ModelError::TooBig(ANSWER_MAX));
        }
        let first = chunk.iter().find(|byte| !byte.is_ascii_whitespace());
        if self.is_json.is_none() {
            self.is_json = first.map(|byte| *byte == b'{');
        }
        if self.is_json == Some(true) {
            self.json.extend_from_slice(chunk);
            return Ok(());
        }
        for data in self.events.push(chunk).map_err(|too_big| ModelError::TooBig(too_big.0))? {
            take(&mut self.collect, &data)?;
        }
        Ok(())
    }

    /// Whether the service reported that the reply is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.collect.is_complete()
    }

    /// What came, at the end of the answer.
    pub(super) fn end(mut self) -> Result<C, ModelError> {
        for value in Deserializer::from_slice(&self.json).into_iter::<Value>() {
            match value {
                Ok(value) => take(&mut self.collect, &value.to_string())?,
                Err(error) if error.is_eof() => return Err(ModelError::Cut),
                Err(error) => return Err(ModelError::Garbage(error.to_string())),
            }
        }
        for data in self.events.rest() {
            take(&mut self.collect, &data)?;
        }
        let has_said = self.events.seen() || !self.json.is_empty();
        if self.size > 0 && !self.collect.is_complete() && !has_said {
            return Err(ModelError::Garbage("it is not an event stream".into()));
        }
        Ok(self.collect)
    }
}

/// Takes one event.
fn take<C: Collect>(collect: &mut C, data: &str) -> Result<(), ModelError> {
    match data.trim() {
        "" => Ok(()),
        DONE => {
            collect.done();
            Ok(())
        }
        data => collect.event(data),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The calls of an answer, or its words, or why it is none.
    fn said<C: Collect>(body: &str, cuts: usize) -> String {
        let mut reader = Reader::<C>::default();
        let pushed = body.as_bytes().chunks(cuts).try_for_each(|chunk| reader.push(chunk));
        let reply = pushed.and_then(|()| reader.end()).and_then(|collect| collect.finish("m", 0));
        match reply {
            Ok(reply) if reply.calls.is_empty() => format!("{:?}: {}", reply.stop, reply.text),
            Ok(reply) => {
                let calls = reply.calls.into_iter().map(|call| {
                    let given = serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments));
                    format!("{} {given}", call.name)
                });
                calls.collect::<Vec<_>>().join(" & ")
            }
            Err(error) => error.to_string(),
        }
    }

    /// The corpus has answers as services and servers give them, each of one interface, and what they say: the same however the
    /// bytes are cut. This checks those of one interface, and how many there are of it.
    pub(in crate::model) fn holds<C: Collect>(at: &str, count: usize) {
        let corpus = include_str!("answers.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let corpus: Vec<Value> = corpus.filter(|answer| answer["at"] == at).collect();
        let mut wrong = Vec::new();
        for answer in &corpus {
            let [way, is, body] = ["way", "is", "body"].map(|key| answer[key].as_str().unwrap());
            for cuts in [usize::MAX, 7] {
                let found = said::<C>(body, cuts);
                if found != is {
                    wrong.push(format!("{way}: {found}\n  wanted {is}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
        assert_eq!(corpus.len(), count, "docs/agents.md has the sum");
    }
}
