//! What passes to each vendor's service: the fields of a request's body, the types of tools and contents, headers, beta flags and
//! queries. All else is refused with its name, but headers and queries, which are left out.
//!
//! Sources: Anthropic's "Messages" reference and the types of its SDK, read 2026-11-27; OpenAI's "Chat", "Responses" and
//! "Embeddings" references and the types of its SDK, read 2026-11-27; Google's "Generating content" reference, read 2026-11-27; and
//! recorded requests of the known command lines, in `tests/egress/recorded`.

mod anthropic;
mod google;
mod lists;
mod openai;
mod shared;

pub(crate) use lists::{BETAS, HEADERS, QUERIES, body};
