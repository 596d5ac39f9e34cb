//! Known secrets in text: where they are, in which encoding, and the text without them.
//!
//! - Flow: code that reads a secret adds it to [`KnownSecrets`]; each place where text leaves Hob takes the
//!   [`Redaction`] from there and writes only what that returns.
//! - Guarantees: a secret of at least eight bytes is found as it is, reversed, in base64 of any alignment and in
//!   hexadecimal; each of these also with characters escaped as in URLs, JSON, Rust and HTML, and with blanks, line
//!   ends and invisible characters in between. Half of a long secret counts as the secret, so that a text that was cut
//!   reveals too little to be used. A search takes time linear in the text.
//! - Caveats: a secret that was encrypted, compressed, encoded twice or spread over other words is not found.

mod blanked;
mod forms;
mod known;
mod plain;
mod search;
#[cfg(test)]
mod tests;

pub use blanked::Redaction;
pub use known::KnownSecrets;
