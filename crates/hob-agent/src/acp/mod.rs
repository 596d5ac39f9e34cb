//! Any agent that speaks the Agent Client Protocol, version 1: <https://agentclientprotocol.com/protocol/v1/overview>.
//!
//! - Flow: the program is started in the request's folder, and asked over its standard input and output: `initialize`,
//!   `session/new`, and the brief as a `session/prompt`. What people say meanwhile is the next prompt of the same session. The words
//!   after its last tool call are its report, as those of a command line are.
//! - Guarantees: it gets no file and no terminal of Hob's, so the sandbox holds all that it does; a permission that it asks for is
//!   given in a sandbox, because that is the boundary, and without one for reading and editing alone. A message has a bound, and
//!   an end is asked for first (`session/cancel`) and then made.
//! - Caveats: what it costs is what Hob's proxy measured, or else what it tells in dollars.

mod backend;
mod conversation;
mod lines;
mod messages;
mod turn;

pub(super) use backend::AcpAgent;
