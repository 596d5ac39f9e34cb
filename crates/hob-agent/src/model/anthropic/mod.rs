//! Anthropic's messages interface.

mod client;
mod collect;

pub use client::Anthropic;
