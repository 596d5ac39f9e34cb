//! The lines of an output stream while it is still being written, for progress.

/// Bytes of a line that are shown.
const LINE_MAX: usize = 300;
/// Bytes of a line that is read as data; longer ones are dropped.
const DATA_MAX: usize = 4 << 20;

/// The callback for each line.
pub(super) type Watch = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// Cuts a stream into lines. A line is bounded, and control characters in it become blanks, because a terminal may show
/// it.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Takes a chunk and calls `watch` with each line that it completes and that is not blank.
    pub(super) fn push(&mut self, chunk: &[u8], watch: &Watch) {
        let mut pieces = chunk.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
        while let Some(piece) = pieces.next() {
            let room = LINE_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if pieces.peek().is_some() {
                let line = String::from_utf8_lossy(&self.line).replace(char::is_control, " ");
                self.line.clear();
                if !line.trim().is_empty() {
                    watch(line.trim_end());
                }
            }
        }
    }
}

/// Cuts a stream into lines that are data: whole, as they came.
#[derive(Default)]
pub(super) struct DataLines {
    line: Vec<u8>,
    too_long: usize,
}

impl DataLines {
    /// Takes a chunk and calls `watch` with each line that it completes. A line that is too long is left out.
    pub(super) fn push(&mut self, chunk: &[u8], watch: &Watch) {
        let mut pieces = chunk.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if self.line.len() + self.too_long + piece.len() > DATA_MAX {
                self.too_long += self.line.len() + piece.len();
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            if pieces.peek().is_some() {
                self.end(watch);
            }
        }
    }

    /// Ends the stream: text after the last line break is a line too.
    pub(super) fn end(&mut self, watch: &Watch) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) == 0 && !line.is_empty() {
            watch(String::from_utf8_lossy(&line).trim_end_matches('\r'));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn lines_of_data_are_whole_and_one_that_is_too_long_is_left_out() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        let watch: Watch = Arc::new(move |line| shared.lock().unwrap().push(line.to_owned()));
        let mut lines = DataLines::default();
        let (long, flood) = ("x".repeat(LINE_MAX * 2), "y".repeat(DATA_MAX));
        for chunk in ["{\"a\":", "1}\n\n", &long, "\r\n", &flood, "z", "\nno ", "end"] {
            lines.push(chunk.as_bytes(), &watch);
        }
        lines.end(&watch);
        assert_eq!(*seen.lock().unwrap(), ["{\"a\":1}", &long, "no end"]);
    }

    #[test]
    fn lines_are_whole_short_and_plain() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        let watch: Watch = Arc::new(move |line| shared.lock().unwrap().push(line.to_owned()));
        let mut lines = Lines::default();
        let flood = "x".repeat(10_000);
        for chunk in ["on", "e\n\ntw", "o\r\n\u{1b}[31mred\n", &flood, "\nno end"] {
            lines.push(chunk.as_bytes(), &watch);
        }
        assert_eq!(*seen.lock().unwrap(), ["one", "two", " [31mred", &"x".repeat(LINE_MAX)]);
    }
}
