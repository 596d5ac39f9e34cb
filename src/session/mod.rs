//! Transcripts: one append-only file of JSON lines a run.
//!
//! - Flow: a [`Recorder`] makes the file with a header line and appends one line an [`Event`]; [`read`] reads it back.
//! - Guarantees: only the owner can read the file (mode 0600); a line is written with one call; a reader takes
//!   everything before a tail that was cut off, and says that it was.
//! - Caveats: a transcript holds what the model and the tools said. It is kept on the worker's disk and is no public text.

mod event;
mod reader;
mod recorder;

pub use event::{Event, Header, Line, VERSION};
pub use reader::{Transcript, read};
pub use recorder::{Recorder, SessionError};
