//! Sessions: what an agent did on an issue, over all the runs that resume one another.
//!
//! ```text
//! SESSIONS/ID/transcript.jsonl    a header, then one line an event; only ever appended to
//! SESSIONS/ID/session.json        state, limits, cost and runs; made from the transcript, replaced as a whole
//! SESSIONS/ID/investigation.json  the record of its investigation, where it has one; beside it the texts of evidence
//! ```
//!
//! - Flow: [`Sessions::open`] makes a session or resumes one; [`Session::add`] queues a [`SessionEvent`] to be appended;
//!   [`Sessions::read`] reads it back, [`Sessions::list`] shows all, and old ones are removed.
//! - Guarantees: only the owner can read the files (mode 0600); a line is written with one call; a reader takes
//!   everything before a tail that was cut off, and the next writer cuts the tail off and notes it; one process writes
//!   a session at a time, and a reader can tell one that is being written from one whose process died.
//! - Caveats: a transcript contains the text of the model and of the tools. It stays on the worker's disk and is not
//!   public.

mod attachment;
mod error;
mod event;
mod lock;
mod reader;
mod record;
mod store;
mod writer;

pub(crate) use attachment::Kept;
pub use error::{DamagedRecord, SessionError};
pub use event::{Header, Line, RunLimits, SessionEvent, VERSION};
pub use reader::Transcript;
pub use record::{Metrics, SessionRecord, SessionState};
pub use store::Sessions;
pub use writer::Session;
pub(crate) use writer::now_ms;
