use std::fmt;
use std::str::FromStr;

use crate::hunk::{Hunk, Line, Patch, Range};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    pub message: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Patch {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut hunks = Vec::new();
        let mut lines = text.split_inclusive('\n').enumerate().peekable();
        while let Some((i, line)) = lines.next() {
            if !line.starts_with("@@ ") {
                continue;
            }
            let error = |message| ParseError { line: i + 1, message };
            let (old, new) = header(line).ok_or_else(|| error("bad hunk header"))?;
            let mut hunk = Hunk { old, new, lines: Vec::new() };
            let (mut old_left, mut new_left) = (old.len, new.len);
            while old_left > 0 || new_left > 0 {
                let (_, line) = lines.next().ok_or_else(|| error("hunk is cut short"))?;
                let (uses_old, uses_new, kind): (_, _, fn(String) -> Line) =
                    match line.as_bytes()[0] {
                        b' ' => (1, 1, Line::Context),
                        b'-' => (1, 0, Line::Remove),
                        b'+' => (0, 1, Line::Add),
                        _ => return Err(error("hunk is cut short")),
                    };
                if uses_old > old_left || uses_new > new_left {
                    return Err(error("hunk is longer than its header says"));
                }
                old_left -= uses_old;
                new_left -= uses_new;

                let mut text = line[1..].to_string();
                if lines.next_if(|(_, next)| next.starts_with('\\')).is_some() {
                    text.truncate(text.trim_end_matches('\n').len());
                }
                hunk.lines.push(kind(text));
            }
            hunks.push(hunk);
        }
        Ok(Patch { hunks })
    }
}

/// Parses `@@ -3,4 +3,5 @@`, with or without a section name after it.
fn header(line: &str) -> Option<(Range, Range)> {
    let (ranges, _section) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<Range> {
    let (start, len) = text.split_once(',').unwrap_or((text, "1"));
    Some(Range { start: start.parse().ok()?, len: len.parse().ok()? })
}
