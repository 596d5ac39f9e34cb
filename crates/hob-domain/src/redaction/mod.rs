//! Known secrets in text: where they stand, in which encoding, and the text without them.
//!
//! - Flow: whoever reads a secret adds it to [`KnownSecrets`]; each place where text leaves Hob asks it for the
//!   [`Redaction`] and writes what that lets through.
//! - Guarantees: a secret of at least eight bytes is found as it is, reversed, in base64 of any alignment and in
//!   hexadecimal; each of these also with characters escaped as URLs, JSON, Rust and HTML escape them, and with blanks,
//!   line ends and invisible characters in between. Half of a long secret counts as the secret, so a text that was cut
//!   tells too little to use. A search takes time linear in the text.
//! - Caveats: what was encrypted, compressed, encoded twice or spread over other words is not found.

mod blanked;
mod forms;
mod known;
mod plain;
mod search;
#[cfg(test)]
mod tests;

pub use blanked::Redaction;
pub use known::KnownSecrets;
