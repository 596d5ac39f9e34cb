//! Who the forge is asked as.

use secrecy::SecretString;

/// An identity.
#[derive(Debug)]
pub enum Authentication {
    /// Whoever this token belongs to.
    Token(SecretString),
}
