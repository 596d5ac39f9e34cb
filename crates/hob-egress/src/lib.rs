//! The only way out of a sandboxed agent: one HTTP/1.1 server a run, inside Hob.
//!
//! - **Flow**: a `CONNECT` or a request for an absolute `http://` address goes to a listed host or nowhere; a request
//!   for `/NONCE/ROUTE/…` goes to the model service of that route, with Hob's key; one for `/NONCE/mcp` is answered by Hob.
//! - **Guarantees**: connections go only to listed hosts and ports, at an address that was checked, resolved once; a
//!   TLS tunnel names its host in the clear; no key reaches the agent; each connection ends in one [`Line`]; the end of
//!   the run ends every connection, and after it nothing listens.
//! - **Assumptions**: the sandbox lets the agent reach nothing but this server.
//! - **Caveats**: tunnelled bytes are not inspected. Any client that reaches the server may use the proxy; only the
//!   model routes require the nonce.

mod address;
mod answer;
mod bound;
mod chat_span;
mod forward;
mod gate;
mod gatekeeper;
mod headers;
mod hello;
mod host;
mod json;
mod meter;
mod own;
mod passes;
mod paths;
mod redact;
mod relay;
mod report;
mod resolve;
mod route;
mod server;
mod shape;
mod shared;
mod tally;
mod tunnel;
mod usage;
mod usage_option;
mod vendor;

pub use bound::Bounds;
pub use chat_span::{chat_span, chat_used};
pub use host::{Host, InvalidHost};
pub use meter::{Budget, Meter, Metered, ModelUsage, Reservation, Reserved, Stop, TooMuch};
pub use own::Asked;
pub use report::{Line, OnLine, Verdict};
pub use resolve::Resolver;
pub use route::{Auth, Route};
pub use server::{Address, Egress, EgressConfig, Listen};
pub use shared::EgressLimits;
pub use usage::{Bill, Most, ServiceTier, Usage};
pub use vendor::Api;

/// What a tunnel's first bytes are, for `lab/fuzz`: `Ok(None)` while bytes are missing, then the server that they name.
///
/// # Errors
/// Why the tunnel is closed.
#[cfg(fuzzing)]
pub fn fuzz_hello(bytes: &[u8]) -> Result<Option<Option<String>>, impl std::error::Error + use<>> {
    hello::read_hello(bytes).map(|hello| match hello {
        hello::Hello::Partial => None,
        hello::Hello::Whole(name) => Some(name),
    })
}
