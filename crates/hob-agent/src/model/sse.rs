//! Server-sent events: bytes in, events out, as far as the models' services use the format.
//!
//! - Beyond the format, as some servers write it: an event may end without an empty line where the next one begins, and at the end.

/// Bytes one event may have.
const EVENT_MAX: usize = 8 << 20;

/// Reads events from chunks of bytes that are cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: Vec<u8>,
    scanned: usize,
    data: String,
    seen: bool,
    has_begun: bool,
}

/// An event, or a line of one, that is larger than any can be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooBig(pub(super) usize);

impl Events {
    /// Takes a chunk and returns the data of each event that it completes. Names of events are left out: both services
    /// repeat them in the data.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<Vec<String>, TooBig> {
        self.buffer.extend_from_slice(chunk);
        let mut complete = Vec::new();
        let mut start = 0;
        while let Some(length) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
            let end = self.scanned + length;
            let line = String::from_utf8_lossy(&self.buffer[start..end]).into_owned();
            (start, self.scanned) = (end + 1, end + 1);
            self.line(line.strip_suffix('\r').unwrap_or(&line), &mut complete);
        }
        self.buffer.drain(..start);
        self.scanned = self.buffer.len();
        if self.buffer.len() + self.data.len() > EVENT_MAX { Err(TooBig(EVENT_MAX)) } else { Ok(complete) }
    }

    /// Whether any event came.
    pub(super) fn seen(&self) -> bool {
        self.seen
    }

    /// The data of the events that are whole, though the stream ended before their end.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned();
        let mut complete = Vec::new();
        self.line(&line, &mut complete);
        if self.is_whole() {
            complete.extend(self.event());
        }
        complete
    }

    fn line(&mut self, line: &str, complete: &mut Vec<String>) {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = line.strip_prefix('\u{feff}').filter(|_| is_first).unwrap_or(line);
        if line.is_empty() {
            complete.extend(self.event());
        } else if let Some(data) = line.strip_prefix("data:") {
            if self.is_whole() {
                complete.extend(self.event());
            }
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
    }

    /// The data so far as an event.
    fn event(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        self.seen |= !data.is_empty();
        (!data.is_empty()).then_some(data)
    }

    /// Whether the data is a whole message of a model's service, which another line cannot go on.
    fn is_whole(&self) -> bool {
        let data = self.data.trim();
        data == "[DONE]" || data.ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": comment\nevent: a\ndata: {\"x\": \"ü\"}\n\nid: 1\r\ndata:one\r\ndata: two\r\n\r\n\n\ndata: [DONE]\n\ndata: cut";

    /// The events of a stream, and what is whole at its end.
    fn all(stream: &str) -> Vec<String> {
        let mut events = Events::default();
        let mut found = events.push(stream.as_bytes()).unwrap();
        found.extend(events.rest());
        found
    }

    #[test]
    fn an_event_ends_where_the_next_one_begins_and_at_the_end() {
        let both = ["{\"a\":1}", "{\"b\":2}"];
        for stream in [
            "data: {\"a\":1}\n\ndata: {\"b\":2}",
            "data: {\"a\":1}\r\ndata: {\"b\":2}\r\n",
            "\u{feff}data: {\"a\":1}\ndata: {\"b\":2}\n\n",
            "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: {\"c",
        ] {
            assert_eq!(all(stream), both, "{stream}");
        }
        assert_eq!(all("data: {\"a\":\ndata: 1}\ndata: [DONE]"), ["{\"a\":\n1}", "[DONE]"]);
    }

    #[test]
    fn a_flood_without_a_line_end_is_refused() {
        let mut events = Events::default();
        assert!((0..9).map(|_| events.push(&vec![b'x'; 1 << 20])).any(|pushed| pushed == Err(TooBig(EVENT_MAX))));
    }

    proptest! {
        #[test]
        fn events_are_the_same_wherever_the_stream_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let mut events = Events::default();
            let mut found = Vec::new();
            for pair in cuts.windows(2) {
                found.extend(events.push(&STREAM.as_bytes()[pair[0]..pair[1]]).unwrap());
            }
            prop_assert_eq!(found, ["{\"x\": \"ü\"}", "one\ntwo", "[DONE]"]);
        }
    }
}
