//! OpenAI's chat completions interface, as many servers speak it: OpenAI itself, and local ones.

mod calls;
mod client;
mod collect;

pub use client::OpenAi;
pub(super) use client::plain_name;
