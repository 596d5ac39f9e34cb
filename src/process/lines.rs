//! The lines of an output stream while it is still being written, for whoever watches.

/// Bytes of a line that are shown.
const LINE_MAX: usize = 300;

/// What is called with each line.
pub(super) type Watch = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// Cuts a stream into lines. A line is bounded, and control characters in it become blanks, because a terminal may be
/// what shows it.
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

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
