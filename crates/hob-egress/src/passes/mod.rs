//! What passes to each vendor's service: the fields of a request's body, the types of tools and contents, headers, beta flags and
//! queries. All else is refused with its name, but headers and queries, which are left out.
//!
//! Sources: the types of the SDKs of Anthropic, OpenAI and Google, read 2026-11-27, and recorded requests of the known command
//! lines, in `tests/egress/recorded`. The beta flags are those of Anthropic's SDK, of these requests, and some older ones from memory.

mod anthropic;
mod google;
mod lists;
mod openai;
mod shared;

pub(crate) use lists::{BETAS, HEADERS, QUERIES, body};
