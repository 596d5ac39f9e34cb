//! OpenAI's responses interface, without state at the service: each request has the whole conversation, with the
//! encrypted reasoning of earlier turns unchanged.

mod answers;
mod client;
mod collect;
mod patches;

pub use client::Responses;
