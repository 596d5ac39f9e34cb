//! The server of one run, from the outside: over real sockets on loopback, with names that a test makes up.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod proxy;
mod routes;
mod support;
