use std::fmt;

use crate::hunk::{Line, Patch};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyError {
    /// The hunk begins before the end of the one before it.
    OutOfOrder { hunk: usize },
    /// The hunk lies beyond the end of the text.
    OutOfRange { hunk: usize },
    /// The text has something else than the hunk in this line (from 1).
    Mismatch { hunk: usize, line: usize },
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyError::OutOfOrder { hunk } => write!(f, "hunk {hunk}: out of order"),
            ApplyError::OutOfRange { hunk } => write!(f, "hunk {hunk}: beyond the end"),
            ApplyError::Mismatch { hunk, line } => {
                write!(f, "hunk {hunk}: line {line} is different")
            }
        }
    }
}

impl std::error::Error for ApplyError {}

impl Patch {
    /// Applies all hunks to `text`. Hunks are counted from 1 in errors.
    pub fn apply(&self, text: &str) -> Result<String, ApplyError> {
        let source: Vec<&str> = text.split_inclusive('\n').collect();
        let mut result = String::with_capacity(text.len());
        let mut next = 0;

        for (i, hunk) in self.hunks.iter().enumerate() {
            let number = i + 1;
            let first = hunk.old.lines_before();
            if first < next {
                return Err(ApplyError::OutOfOrder { hunk: number });
            }
            if first + hunk.old.len > source.len() {
                return Err(ApplyError::OutOfRange { hunk: number });
            }
            result.extend(source[next..first].iter().copied());
            next = first;

            for line in &hunk.lines {
                match line {
                    Line::Add(text) => result.push_str(text),
                    Line::Context(text) | Line::Remove(text) => {
                        if source[next] != text {
                            return Err(ApplyError::Mismatch { hunk: number, line: next + 1 });
                        }
                        if matches!(line, Line::Context(_)) {
                            result.push_str(text);
                        }
                        next += 1;
                    }
                }
            }
        }

        result.extend(source[next..].iter().copied());
        Ok(result)
    }
}
