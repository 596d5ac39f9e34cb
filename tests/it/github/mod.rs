//! Hob against GitHub itself, as far as that can be had without a network: what GitHub was recorded to answer, GitHub's own
//! description of what it may be asked, and the table in `docs/github.md` of what Hob takes for granted.

mod asked;
mod door;
mod every_call;
mod packages;
mod payloads;
mod recorded;
mod replay;
mod requests;
mod table;
