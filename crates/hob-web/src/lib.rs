//! What a run shows over HTTP, `hob run --listen`: its metrics, an API for programs and a page for people; webhooks, which let it poll
//! at once; and the forge, for the pods of its Jobs.
//!
//! - Flow: polls, steps of ledgers and events of the work → [`Known`] → the API's views → JSON, or the page's templates.
//! - Guarantees: no look at it makes a call to the forge, and what is forwarded needs a pass. Every write needs the token, and one that a browser sends has to come from this
//!   page. Requests are bounded: the bytes and the time of their heads and bodies, the number of connections and their time. Without a
//!   token only this machine reads it.
//! - Caveats: what is known is this process's: what another worker did is seen at the next poll.
//!
//! Leaves out: what is done about an issue, which the worker decides, and the words that both use, which are in `hob-words`.

mod access;
mod api;
mod known;
mod lifetime;
mod page;
mod relay;
mod server;
mod shared;
mod webhooks;

pub use self::{
    api::{GroupedOutcomes, group_name, grouped},
    known::{Facts, Known},
    relay::{AskAtWork, Relay},
    server::{CannotListen, Server},
};
