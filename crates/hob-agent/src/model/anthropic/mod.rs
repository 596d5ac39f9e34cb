//! Anthropic's messages interface.

mod client;
mod collect;
mod thinking;

pub use client::Anthropic;
