//! Hob against GitHub itself, as far as possible without a network: GitHub's recorded answers, GitHub's own description
//! of permitted requests, and the table in `docs/design/github.md` of Hob's assumptions.

mod asked;
mod door;
mod every_call;
mod packages;
mod payloads;
mod recorded;
mod replay;
mod requests;
mod table;
