//! A model's message in the form of its service: reasoning goes back byte for byte, signed or encrypted.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a reply that are kept in its service's form.
const MAX: usize = 1 << 20;

/// A model's message, as its service wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verbatim {
    /// The interface and the model. It is sent to no other, which could not read it and would refuse it.
    of: String,
    /// JSON: elements of an array or members of an object, in the form in which the interface takes them back.
    json: String,
    /// A digest of the JSON: if a transcript removed a secret from it, it is no longer what the service signed.
    digest: String,
}

impl Verbatim {
    /// The message of the model `of`; `None` if there is nothing in it, or it is too large to keep.
    pub(crate) fn new(of: &str, json: String) -> Option<Self> {
        let digest = digest(&json);
        (1..=MAX).contains(&json.len()).then(|| Self { of: of.to_owned(), json, digest })
    }

    /// The JSON, if it is this model's and unchanged.
    pub(super) fn by(&self, of: &str) -> Option<&str> {
        (self.of == of).then_some(self.json.as_str())
    }

    /// Whether calls are part of it, with their ids. In chat completions it has the reasoning only.
    pub(crate) fn holds_calls(&self) -> bool {
        !self.of.starts_with("chat/")
    }

    /// Whether it is unchanged.
    pub(crate) fn is_intact(&self) -> bool {
        self.digest == digest(&self.json)
    }

    /// Bytes of it.
    pub(crate) fn len(&self) -> usize {
        self.json.len()
    }
}

fn digest(json: &str) -> String {
    Sha256::digest(json).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
