//! What a model said, in the form of its service: reasoning goes back byte for byte, with its signature or encrypted as it came.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a reply that are kept in its service's form.
const MAX: usize = 1 << 20;

/// What a model said, as its service wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verbatim {
    /// The interface and the model. Nobody else is sent it: they could not read it, and would refuse it.
    of: String,
    /// JSON: elements of an array or members of an object, as the interface wants them back.
    json: String,
    /// Of the JSON: what a transcript changed, because a secret stood in it, is no longer what the service signed.
    digest: String,
}

impl Verbatim {
    /// What the model `of` said; none where that is more than is kept.
    pub(crate) fn new(of: &str, json: String) -> Option<Self> {
        let digest = digest(&json);
        (json.len() <= MAX).then(|| Self { of: of.to_owned(), json, digest })
    }

    /// The JSON, where it is this model's and as it came.
    pub(super) fn by(&self, of: &str) -> Option<&str> {
        (self.of == of).then_some(self.json.as_str())
    }

    /// Whether it is as it came.
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
