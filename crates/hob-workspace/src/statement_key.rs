//! Public SSH keys, and what they vouch for: the signatures of statements.

use base64::{Engine, prelude::BASE64_STANDARD};
use hob_domain::{EnvelopeSignature, Proof};
use ring::{
    digest::{SHA256, SHA512, digest},
    signature::{ED25519, UnparsedPublicKey},
};

use crate::{
    SigningKey,
    signing_key::{KIND, SIGNATURE_MAGIC, STATEMENTS, push, take},
};

/// A public Ed25519 key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementKey {
    /// The key in SSH's wire format.
    blob: Vec<u8>,
}

impl StatementKey {
    /// The Ed25519 keys of a text: that of a `.pub` file, or of a file of allowed signers whose namespaces include Hob's.
    pub fn read_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of_line).collect()
    }

    fn of_line(line: &str) -> Option<Self> {
        let line = line.trim();
        let mut words = line.split_whitespace();
        let kind = words.by_ref().find(|word| word.as_bytes() == KIND).filter(|_| !line.starts_with('#'))?;
        let before = line.split(kind).next()?;
        let is_ours = before.split_once("namespaces=\"").is_none_or(|(_, names)| {
            let names = names.split('"').next().unwrap_or_default();
            names.split(',').any(|name| name.as_bytes() == STATEMENTS)
        });
        if !is_ours || before.contains("cert-authority") {
            return None;
        }
        let blob = BASE64_STANDARD.decode(words.next()?).ok()?;
        let is_key = key_of(&blob).is_some();
        is_key.then_some(Self { blob })
    }

    /// The fingerprint, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.blob)
    }

    /// Whether this key made the signature of the statement.
    pub fn signed(&self, proof: &Proof, signature: &EnvelopeSignature) -> bool {
        let parsed = signature.text().and_then(|text| parse(&text));
        parsed.is_some_and(|parsed| parsed.key == self.blob && parsed.is_valid(&proof.signed_bytes()) == Some(true))
    }
}

/// The fingerprint of the key that a signature says it is by, if it is one of OpenSSH's about a statement. Nothing is
/// checked.
pub fn claimed_key(signature: &EnvelopeSignature) -> Option<String> {
    signature.text().and_then(|text| parse(&text)).map(|parsed| fingerprint(&parsed.key))
}

/// Signs a statement.
pub fn sign_proof(key: &SigningKey, proof: &mut Proof) {
    let (text, blob) = (key.sign_statement(&proof.signed_bytes()), key.public_blob());
    proof.sign(hob_domain::envelope_signature(fingerprint(&blob), &text));
}

/// A signature of OpenSSH in Hob's namespace.
struct Parsed {
    key: Vec<u8>,
    hash: Vec<u8>,
    signature: Vec<u8>,
}

impl Parsed {
    /// `None` if it is of a kind that Hob does not make.
    fn is_valid(&self, message: &[u8]) -> Option<bool> {
        let algorithm = match self.hash.as_slice() {
            b"sha512" => &SHA512,
            b"sha256" => &SHA256,
            _ => return None,
        };
        let mut signed = SIGNATURE_MAGIC.to_vec();
        for part in [STATEMENTS, b"", self.hash.as_slice(), digest(algorithm, message).as_ref()] {
            push(&mut signed, part);
        }
        let mut rest = self.signature.as_slice();
        let signature = (take(&mut rest)? == KIND).then(|| take(&mut rest))??;
        let public = UnparsedPublicKey::new(&ED25519, key_of(&self.key)?);
        Some(public.verify(&signed, signature).is_ok())
    }
}

fn parse(text: &str) -> Option<Parsed> {
    let body = text.trim().strip_prefix("-----BEGIN SSH SIGNATURE-----")?;
    let body: String = body.strip_suffix("-----END SSH SIGNATURE-----")?.split_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(body).ok()?;
    let mut rest = bytes.strip_prefix(SIGNATURE_MAGIC)?.strip_prefix(&1_u32.to_be_bytes())?;
    let (key, namespace, _reserved) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
    let (hash, signature) = (take(&mut rest)?, take(&mut rest)?);
    (namespace == STATEMENTS).then(|| Parsed { key: key.to_vec(), hash: hash.to_vec(), signature: signature.to_vec() })
}

/// The 32 bytes of a key in SSH's wire format.
fn key_of(blob: &[u8]) -> Option<&[u8]> {
    let mut rest = blob;
    (take(&mut rest)? == KIND).then(|| take(&mut rest))?.filter(|key| key.len() == 32 && rest.is_empty())
}

fn fingerprint(blob: &[u8]) -> String {
    let digits = BASE64_STANDARD.encode(digest(&SHA256, blob));
    format!("SHA256:{}", digits.trim_end_matches('='))
}

#[cfg(test)]
mod tests {
    use hob_domain::{Envelope, envelope_signature};

    use super::*;
    use crate::signing_key::tests::{file, read};

    /// A statement in an unsigned envelope.
    fn proof() -> Proof {
        let run = "{\"tree\":\"t\",\"sameAs\":\"base\"}";
        let names = "{\"first\":[],\"all\":0}";
        let statement = format!(
            "{{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicateType\":\"https://github.com/hob-worker/hob/blob/main/docs/\
             proof.md#predicate-v1\",\"subject\":[{{\"name\":\"commit\",\"digest\":{{\"gitCommit\":\"aa\"}}}},{{\"name\":\"tree\",\
             \"digest\":{{\"gitTree\":\"bb\"}}}}],\"predicate\":{{\"repository\":\"ann/site\",\"issue\":1,\"pullRequest\":2,\"base\":\"c\",\
             \"at\":\"1970-01-01T00:00:00Z\",\"request\":{{\"issueText\":{{\"sha256\":\"d\"}}}},\"shown\":{{\"word\":\"proven\",\"by\":\
             \"checks\",\"needed\":{names},\"broken\":{names},\"removed\":{names},\"skipped\":{names},\"new\":{names},\"judges\":\
             {names}}},\"checks\":{{\"passed\":0,\"run\":0}},\"runs\":{{\"base\":{run},\"head\":{run},\"needed\":{run},\"kept\":{run}}},\
             \"sandbox\":\"box\",\"agent\":\"a\",\"session\":\"s\",\"cost\":{{\"usdMicros\":0,\"inputTokens\":0,\"outputTokens\":0,\
             \"wallSeconds\":0}},\"hob\":\"1\"}}}}"
        );
        let payload = BASE64_STANDARD.encode(statement);
        let envelope = Envelope { payload_type: hob_domain::PAYLOAD_TYPE.to_owned(), payload, signatures: Vec::new() };
        Proof::try_from(envelope).unwrap()
    }

    #[test]
    fn a_statement_is_vouched_for_by_its_key_alone() {
        let key = read(&file(b"none", KIND), 0o600).unwrap();
        let (mut signed, line) = (proof(), format!("ssh-ed25519 {} me", BASE64_STANDARD.encode(key.public_blob())));
        sign_proof(&key, &mut signed);
        let [public] = &StatementKey::read_all(&line)[..] else { panic!("{line}") };
        let signature = &signed.signatures()[0];
        assert!(public.signed(&signed, signature));
        assert_eq!((&signature.keyid, claimed_key(signature)), (&public.fingerprint(), Some(public.fingerprint())));
        // What it signs is not the payload alone, and not another statement.
        let text = key.sign_commit("x");
        assert!(!public.signed(&signed, &envelope_signature(String::new(), &text)), "a commit's signature");
        assert_eq!(claimed_key(&envelope_signature(String::new(), &text)), None);
        let mut other = Envelope::from(signed.clone());
        other.payload = BASE64_STANDARD.encode(
            String::from_utf8(BASE64_STANDARD.decode(&other.payload).unwrap()).unwrap().replace("ann/site", "eve/site"),
        );
        let other = Proof::try_from(other).unwrap();
        assert!(!public.signed(&other, &other.signatures()[0]));
    }

    #[test]
    fn keys_are_those_for_statements() {
        let key = BASE64_STANDARD.encode(read(&file(b"none", KIND), 0o600).unwrap().public_blob());
        for (line, keys) in [
            (format!("ssh-ed25519 {key}"), 1),
            (format!("# ssh-ed25519 {key}\nann ssh-ed25519 {key} comment\n"), 1),
            (format!("ann namespaces=\"git,hob-proof\" ssh-ed25519 {key}"), 1),
            (format!("ann namespaces=\"git\" ssh-ed25519 {key}"), 0),
            (format!("ann cert-authority ssh-ed25519 {key}"), 0),
            ("ssh-ed25519 AAAA".to_owned(), 0),
            ("ssh-ed25519".to_owned(), 0),
            (String::new(), 0),
        ] {
            assert_eq!(StatementKey::read_all(&line).len(), keys, "{line}");
        }
    }
}
