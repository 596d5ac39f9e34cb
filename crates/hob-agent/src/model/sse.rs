//! Server-sent events: bytes in, events out, as far as the models' services use the format.

/// Bytes one event may have.
const EVENT_MAX: usize = 8 << 20;

/// Reads events from chunks of bytes that are cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: Vec<u8>,
    scanned: usize,
    data: String,
    seen: bool,
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

    fn line(&mut self, line: &str, complete: &mut Vec<String>) {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            if !data.is_empty() {
                self.seen = true;
                complete.push(data);
            }
        } else if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": comment\nevent: a\ndata: {\"x\": \"ü\"}\n\nid: 1\r\ndata:one\r\ndata: two\r\n\r\n\n\ndata: [DONE]\n\ndata: cut";

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
