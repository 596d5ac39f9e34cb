//! The envelope around a statement: DSSE, whose signatures cover the type of the payload and its exact bytes.
//!
//! <https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md> and `envelope.md` beside it.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE},
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    CheckTally, Sha, Statement,
    change::{sha256::Sha256Hex, statement::UnreadableStatement},
};

/// The media type of in-toto statements.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// An envelope as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// The media type of the payload.
    pub payload_type: String,
    /// The payload, in Base64.
    pub payload: String,
    /// Who vouches for both; empty if there was no key.
    #[serde(default)]
    pub signatures: Vec<EnvelopeSignature>,
}

/// A signature of an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeSignature {
    /// The fingerprint of the key, as `ssh-keygen -l` prints it. A hint: it is not signed.
    #[serde(default)]
    pub keyid: String,
    /// The signature as a text of OpenSSH, in Base64.
    pub sig: String,
}

impl EnvelopeSignature {
    /// The text of OpenSSH; `None` if it is not one.
    pub fn text(&self) -> Option<String> {
        String::from_utf8(decoded(&self.sig)?).ok()
    }
}

/// A text of OpenSSH as an envelope's signature.
pub fn envelope_signature(keyid: String, text: &str) -> EnvelopeSignature {
    EnvelopeSignature { keyid, sig: BASE64_STANDARD.encode(text) }
}

/// Why an envelope has no statement that can be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableProof {
    /// The payload is of another type.
    #[error("its payload is not of the type `{PAYLOAD_TYPE}`")]
    OtherType,
    /// The payload is not Base64.
    #[error("its payload is not Base64")]
    NotBase64,
    /// The payload is not a statement that this Hob knows.
    #[error(transparent)]
    Statement(#[from] UnreadableStatement),
}

/// A statement in its envelope. What is written again is what was read, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Envelope", into = "Envelope")]
pub struct Proof {
    envelope: Envelope,
    payload: Vec<u8>,
    statement: Statement,
}

impl TryFrom<Envelope> for Proof {
    type Error = UnreadableProof;

    fn try_from(envelope: Envelope) -> Result<Self, UnreadableProof> {
        if envelope.payload_type != PAYLOAD_TYPE {
            return Err(UnreadableProof::OtherType);
        }
        let payload = decoded(&envelope.payload).ok_or(UnreadableProof::NotBase64)?;
        let statement = Statement::read(&payload)?;
        Ok(Self { envelope, payload, statement })
    }
}

impl From<Proof> for Envelope {
    fn from(proof: Proof) -> Self {
        proof.envelope
    }
}

impl Proof {
    /// Puts a statement into an envelope that nobody has signed.
    ///
    /// # Errors
    /// If the statement has no JSON form.
    pub fn unsigned(statement: Statement) -> Result<Self, UnreadableStatement> {
        let payload = statement.canonical()?.into_bytes();
        let envelope = Envelope {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: BASE64_STANDARD.encode(&payload),
            signatures: Vec::new(),
        };
        Ok(Self { envelope, payload, statement })
    }

    /// Adds a signature of [`signed_bytes`](Self::signed_bytes).
    pub fn sign(&mut self, signature: EnvelopeSignature) {
        self.envelope.signatures.push(signature);
    }

    /// The bytes that a signature covers.
    pub fn signed_bytes(&self) -> Vec<u8> {
        pae(PAYLOAD_TYPE, &self.payload)
    }

    /// The statement.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The commit that it is about.
    pub fn head(&self) -> &Sha {
        &self.statement.head
    }

    /// Who vouches for it.
    pub fn signatures(&self) -> &[EnvelopeSignature] {
        &self.envelope.signatures
    }

    /// SHA-256 of the statement's bytes.
    pub fn digest(&self) -> Sha256Hex {
        Sha256Hex::of(&self.payload)
    }

    /// How many checks passed. `None` if no check ran.
    pub fn tally(&self) -> Option<CheckTally> {
        Some(self.statement.predicate.checks).filter(|tally| tally.run > 0)
    }
}

/// The record's proof. One that this Hob cannot read counts as none, so that it keeps no issue from going on.
///
/// # Errors
/// If it is not an object.
pub(crate) fn readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<Proof>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Known {
        Proof(Box<Proof>),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Option::<Known>::deserialize(from)? {
        Some(Known::Proof(proof)) => Some(proof),
        Some(Known::Other(_)) | None => None,
    })
}

/// DSSE's encoding of what is signed, in which no type can pass for a part of the payload.
fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let before = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [before.as_bytes(), payload].concat()
}

/// Both alphabets are allowed.
fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).or_else(|_| BASE64_URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::statement::tests::statement;

    /// The example of the specification.
    #[test]
    fn what_is_signed_has_the_type_and_both_lengths() {
        let signed = pae("http://example.com/HelloWorld", b"hello world");
        assert_eq!(signed, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
        assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
    }

    #[test]
    fn an_envelope_is_written_as_it_was_read_and_another_payload_is_not_read() {
        let mut proof = Proof::unsigned(statement()).unwrap();
        assert_eq!(serde_json::to_value(&proof).unwrap()["signatures"], serde_json::json!([]));
        proof.sign(envelope_signature("SHA256:x".to_owned(), "a text\n"));
        assert_eq!(proof.signatures()[0].text().as_deref(), Some("a text\n"));
        let text = serde_json::to_string(&proof).unwrap();
        let again: Proof = serde_json::from_str(&text).unwrap();
        assert_eq!((serde_json::to_string(&again).unwrap(), &again), (text.clone(), &proof));
        // A later Hob's field is kept, because the payload is.
        let envelope: Envelope = serde_json::from_str(&text).unwrap();
        let later = String::from_utf8(decoded(&envelope.payload).unwrap()).unwrap().replace("{\"_", "{\"a\": 1, \"_");
        let later = Envelope { payload: BASE64_STANDARD.encode(later), ..envelope.clone() };
        assert_eq!(Envelope::from(Proof::try_from(later.clone()).unwrap()), later);
        for (envelope, says) in [
            (Envelope { payload_type: "text/plain".to_owned(), ..envelope.clone() }, "not of the type"),
            (Envelope { payload: "%".to_owned(), ..envelope.clone() }, "not Base64"),
            (Envelope { payload: BASE64_STANDARD.encode("{}"), ..envelope }, "not a statement"),
        ] {
            let error = Proof::try_from(envelope).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_record_with_a_proof_of_another_form_is_read_without_it() {
        #[derive(Deserialize)]
        struct Has {
            #[serde(default, deserialize_with = "readable")]
            proof: Option<Box<Proof>>,
        }
        let read = |text: &str| serde_json::from_str::<Has>(text).unwrap().proof;
        assert_eq!((read("{}"), read("{\"proof\":null}"), read("{\"proof\":{\"statement\":{}}}")), (None, None, None));
        let proof = Proof::unsigned(statement()).unwrap();
        assert_eq!(read(&format!("{{\"proof\":{}}}", serde_json::to_string(&proof).unwrap())), Some(Box::new(proof)));
    }
}
