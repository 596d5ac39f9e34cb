//! Unified diffs: parsing, applying, reversing.

mod apply;
mod hunk;
mod parse;

pub use apply::ApplyError;
pub use hunk::{Hunk, Line, Patch, Range};
pub use parse::ParseError;
