//! The SSH key that signs commits and statements: read once, kept in this process, and never given to a child.
//!
//! Formats: <https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key> and `PROTOCOL.sshsig` beside it.

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hob_text::KnownSecrets;
use ring::{
    digest::{SHA512, digest},
    signature::{Ed25519KeyPair, KeyPair},
};

/// The kind of key that is read.
pub(super) const KIND: &[u8] = b"ssh-ed25519";
/// The first bytes of a decoded key file.
const KEY_MAGIC: &[u8] = b"openssh-key-v1\0";
/// The first bytes of a signature, and of the text that it signs.
pub(super) const SIGNATURE_MAGIC: &[u8] = b"SSHSIG";
/// The namespace of git's commit signatures.
const COMMITS: &[u8] = b"git";
/// The namespace of statements, so that a statement's signature never fits a commit.
pub(super) const STATEMENTS: &[u8] = b"hob-proof";
/// Columns of a signature's text.
const COLUMNS: usize = 70;
/// Bytes of a key file; those of Ed25519 keys have some 400.
const LARGEST: u64 = 16 << 10;

/// A key that cannot sign. Its texts contain nothing of the key.
#[derive(Debug, thiserror::Error)]
pub enum SigningKeyError {
    /// The file cannot be read.
    #[error("the signing key `{path}` cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Users other than its owner may read the file.
    #[error("the signing key `{0}` may be read by others: run `chmod 600` on it")]
    Open(PathBuf),
    /// It has a passphrase, which Hob cannot type.
    #[error(
        "the signing key `{0}` has a passphrase: give Hob a key of its own without one (`ssh-keygen -t ed25519 -N ''`)"
    )]
    Passphrase(PathBuf),
    /// It is not a private key of the kind that Hob reads.
    #[error(
        "the signing key `{0}` is not a private Ed25519 key of OpenSSH: create one with `ssh-keygen -t ed25519 -N ''`"
    )]
    Unknown(PathBuf),
}

/// A private Ed25519 key.
#[derive(Clone)]
pub struct SigningKey(Arc<Ed25519KeyPair>);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// Reads an OpenSSH key file. From then on its text is a secret, which is neither committed nor shown.
    ///
    /// # Errors
    /// [`SigningKeyError`].
    pub fn read(path: &Path, secrets: &KnownSecrets) -> Result<Self, SigningKeyError> {
        let unreadable = |source| SigningKeyError::Unreadable { path: path.to_owned(), source };
        let found = fs::metadata(path).map_err(unreadable)?;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(SigningKeyError::Open(path.to_owned()));
        }
        if found.len() > LARGEST {
            return Err(SigningKeyError::Unknown(path.to_owned()));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        match parse(&text) {
            Some(Parsed::Key(key)) => {
                secrets.add([text.into()]);
                Ok(Self(Arc::new(*key)))
            }
            Some(Parsed::Encrypted) => Err(SigningKeyError::Passphrase(path.to_owned())),
            None => Err(SigningKeyError::Unknown(path.to_owned())),
        }
    }

    /// The signature of a commit, as its header `gpgsig` has it.
    pub(super) fn sign_commit(&self, commit: &str) -> String {
        self.sign(COMMITS, commit.as_bytes())
    }

    /// The signature of a statement's signed bytes, as `ssh-keygen -Y verify -n hob-proof` takes it.
    pub(super) fn sign_statement(&self, signed: &[u8]) -> String {
        self.sign(STATEMENTS, signed)
    }

    /// The public half in SSH's wire format.
    pub(super) fn public_blob(&self) -> Vec<u8> {
        let mut public = Vec::new();
        push(&mut public, KIND);
        push(&mut public, self.0.public_key().as_ref());
        public
    }

    fn sign(&self, namespace: &[u8], bytes: &[u8]) -> String {
        let message = digest(&SHA512, bytes);
        let mut signed = SIGNATURE_MAGIC.to_vec();
        for part in [namespace, b"", b"sha512", message.as_ref()] {
            push(&mut signed, part);
        }
        let (public, mut signature) = (self.public_blob(), Vec::new());
        push(&mut signature, KIND);
        push(&mut signature, self.0.sign(&signed).as_ref());
        let mut whole = SIGNATURE_MAGIC.to_vec();
        whole.extend(1_u32.to_be_bytes());
        for part in [&public[..], namespace, b"", b"sha512", &signature] {
            push(&mut whole, part);
        }
        let mut text = "-----BEGIN SSH SIGNATURE-----\n".to_owned();
        let encoded = BASE64_STANDARD.encode(whole);
        for line in encoded.as_bytes().chunks(COLUMNS) {
            text.push_str(&String::from_utf8_lossy(line));
            text.push('\n');
        }
        text + "-----END SSH SIGNATURE-----"
    }
}

/// The content of a key file.
enum Parsed {
    Key(Box<Ed25519KeyPair>),
    Encrypted,
}

fn parse(text: &str) -> Option<Parsed> {
    let body = text.trim().strip_prefix("-----BEGIN OPENSSH PRIVATE KEY-----")?;
    let body: String = body.strip_suffix("-----END OPENSSH PRIVATE KEY-----")?.split_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(body).ok()?;
    let mut rest = bytes.strip_prefix(KEY_MAGIC)?;
    let (cipher, _derivation, _options) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
    if cipher != b"none" {
        return Some(Parsed::Encrypted);
    }
    // One key, its public half, and the private part, which begins with a number written twice.
    rest = rest.strip_prefix(&1_u32.to_be_bytes())?;
    let (_public, mut private) = (take(&mut rest)?, take(&mut rest)?);
    private = private.get(8..)?;
    if take(&mut private)? != KIND {
        return None;
    }
    let (public, pair) = (take(&mut private)?, take(&mut private)?);
    let pair = Ed25519KeyPair::from_seed_and_public_key(pair.get(..32)?, public).ok()?;
    Some(Parsed::Key(Box::new(pair)))
}

/// The next string of SSH's wire format.
pub(super) fn take<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (taken, left) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = left;
    Some(taken)
}

pub(super) fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(part);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A key file, as `ssh-keygen` writes one, with this seed.
    pub(crate) fn file(cipher: &[u8], kind: &[u8]) -> String {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = pair.public_key().as_ref();
        let (mut bytes, mut private, mut blob) = (KEY_MAGIC.to_vec(), vec![1; 8], Vec::new());
        for part in [kind, public, &[&[7; 32], public].concat(), b"comment"] {
            push(&mut private, part);
        }
        [cipher, b"none", b""].iter().for_each(|part| push(&mut bytes, part));
        bytes.extend(1_u32.to_be_bytes());
        [kind, public].iter().for_each(|part| push(&mut blob, part));
        [blob, private].iter().for_each(|part| push(&mut bytes, part));
        let body = BASE64_STANDARD.encode(bytes);
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    }

    pub(crate) fn read(text: &str, mode: u32) -> Result<SigningKey, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        SigningKey::read(&path, &KnownSecrets::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_file_that_cannot_be_used_says_why() {
        assert!(read(&file(b"none", KIND), 0o600).is_ok());
        for (text, mode, says) in [
            (file(b"none", KIND), 0o640, "chmod 600"),
            (file(b"aes256-ctr", KIND), 0o600, "has a passphrase"),
            (file(b"none", b"ssh-rsa"), 0o600, "not a private Ed25519 key"),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\nQUJD\n-----END OPENSSH PRIVATE KEY-----".to_owned(),
                0o600,
                "not a private",
            ),
            (String::new(), 0o600, "not a private"),
        ] {
            let error = read(&text, mode).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_signature_is_that_of_the_commit() {
        let key = read(&file(b"none", KIND), 0o600).unwrap();
        let text = key.sign_commit("tree 1\n\nFix it\n");
        let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
        let bytes = BASE64_STANDARD.decode(body).unwrap();
        let mut rest = &bytes[SIGNATURE_MAGIC.len() + 4..];
        let parts: Vec<&[u8]> = std::iter::from_fn(|| take(&mut rest)).collect();
        assert_eq!((parts[1], parts[3]), (COMMITS, &b"sha512"[..]));
        let mut signed = SIGNATURE_MAGIC.to_vec();
        for part in [COMMITS, b"", b"sha512", digest(&SHA512, b"tree 1\n\nFix it\n").as_ref()] {
            push(&mut signed, part);
        }
        let public = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key.0.public_key().as_ref());
        public.verify(&signed, &parts[4][4 + KIND.len() + 4..]).unwrap();
        assert_eq!(key.sign_commit("x"), key.sign_commit("x"), "the same commit has the same name");
        assert_ne!(key.sign_commit("x"), key.sign_statement(b"x"), "neither passes for the other");
    }
}
