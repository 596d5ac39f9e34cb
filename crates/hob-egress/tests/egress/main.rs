//! The server of one run, from the outside: over real sockets on loopback, with made-up names.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod passes;
mod proxy;
mod routes;
mod support;
