//! OpenAI's responses interface, without state at the service: each request has the whole conversation, with the reasoning of earlier
//! turns encrypted as it came.

mod client;
mod collect;

pub use client::Responses;
