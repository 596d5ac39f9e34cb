//! SHA-256 as in-toto writes it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sha256Hex {
    /// The digits.
    pub sha256: String,
}

impl Sha256Hex {
    /// The digest of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let digits = Sha256::digest(bytes.as_ref()).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { sha256: digits }
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sha256)
    }
}
