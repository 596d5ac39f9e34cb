//! A model server that plays a script: for tests of agents and for measuring them, on this machine, without a model.
//!
//! - Flow: a client sends its conversation; the server finds the client's shell tool among the tools offered, answers with
//!   a call of it for the next command of the script, and with a closing text when no command is left.
//! - Protocols: OpenAI's chat completions and responses, Anthropic's messages, Gemini's `generateContent`; each streamed
//!   and whole.
//! - Guarantees: each command is handed out once, in order, even if a client retries; a fault is played at its step;
//!   each request is kept with its time and size.
//! - Assumptions: a request without a shell tool is a side question, for example for a title, and gets a short text. A
//!   client without tools that asks for edits as text (aider) gets the script's edit.
//! - Caveats: it does not judge what a client sends, and counts tokens as [`INPUT_TOKENS`] and [`OUTPUT_TOKENS`] a
//!   reply.

mod answer;
mod script;
mod server;
mod tool;
mod wire;

pub use script::{Edit, Fault, FaultAt, INPUT_TOKENS, OUTPUT_TOKENS, Script, Times};
pub use server::{Kind, Running, Seen, serve};
