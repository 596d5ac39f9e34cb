//! Signatures of commits: those that the forge makes for Apps, and SSH signatures by the Ed25519 keys of accounts.
//! <https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification>
//!
//! # Caveats
//! The forge's own signature is a keyed hash in the armour of PGP, which only it can check. PGP and S/MIME signatures of
//! accounts are `unknown_signature_type`.

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::{Commit, Oid, Repository, Signature, Tree};
use ring::{
    digest::{SHA256, SHA512, digest},
    hmac,
    signature::{ED25519, UnparsedPublicKey},
};
use serde_json::{Value, json};

use super::state::Accounts;

/// The committer of commits that the forge makes.
const FORGE: (&str, &str) = ("GitHub", "noreply@github.com");
/// The key that the forge signs with: its signatures prove nothing elsewhere.
const FORGE_KEY: &[u8] = b"the embedded forge's own";
const ARMOUR: [&str; 2] = ["-----BEGIN PGP SIGNATURE-----\n\n", "\n-----END PGP SIGNATURE-----"];

/// The verification of a commit's signature.
#[derive(Debug)]
pub(super) struct Verification {
    reason: &'static str,
    signature: Option<String>,
    payload: Option<String>,
}

impl Verification {
    pub(super) fn is_verified(&self) -> bool {
        self.reason == "valid"
    }

    /// The form in which GitHub shows it.
    pub(super) fn shown(&self) -> Value {
        json!({
            "verified": self.is_verified(),
            "reason": self.reason,
            "signature": self.signature,
            "payload": self.payload,
            "verified_at": null,
        })
    }
}

/// Reviews at the signature of a commit.
pub(super) fn verify(commit: &Commit<'_>, accounts: &Accounts) -> Verification {
    let Ok(signature) = commit.header_field_bytes("gpgsig") else {
        return Verification { reason: "unsigned", signature: None, payload: None };
    };
    let signature = String::from_utf8_lossy(&signature).into_owned();
    let payload = payload(commit);
    let reason = if let Some(body) = signature.strip_prefix("-----BEGIN SSH SIGNATURE-----") {
        by_account(body, &payload, &commit.committer(), accounts)
    } else if signature.trim_end() == of_forge(&payload) {
        "valid"
    } else {
        "unknown_signature_type"
    };
    Verification { reason, signature: Some(signature), payload: Some(payload) }
}

/// Whether all commits of `head` that `base` lacks are verified.
pub(super) fn all_verified(git: &Repository, base: Oid, head: Oid, accounts: &Accounts) -> Result<bool, git2::Error> {
    let mut walk = git.revwalk()?;
    walk.push(head)?;
    walk.hide(base)?;
    for id in walk {
        if !verify(&git.find_commit(id?)?, accounts).is_verified() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes a commit for an App: by the forge, which signs it.
pub(super) fn commit_for_app(
    git: &Repository,
    author: &Signature<'_>,
    message: &str,
    tree: &Tree<'_>,
    parents: &[&Commit<'_>],
) -> Result<Oid, git2::Error> {
    let committer = Signature::new(FORGE.0, FORGE.1, &author.when())?;
    let plain = git.commit_create_buffer(author, &committer, message, tree, parents)?;
    let plain = String::from_utf8_lossy(&plain).into_owned();
    git.commit_signed(&plain, &of_forge(&plain), Some("gpgsig"))
}

fn of_forge(payload: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, FORGE_KEY), payload.as_bytes());
    format!("{}{}{}", ARMOUR[0], BASE64_STANDARD.encode(tag), ARMOUR[1])
}

/// The commit without its signature.
fn payload(commit: &Commit<'_>) -> String {
    let header = String::from_utf8_lossy(commit.raw_header_bytes()).into_owned();
    let (mut kept, mut in_signature) = (String::new(), false);
    for line in header.lines() {
        in_signature = line.starts_with("gpgsig ") || (in_signature && line.starts_with(' '));
        if !in_signature {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    format!("{kept}\n{}", String::from_utf8_lossy(commit.message_raw_bytes()))
}

/// The verification of an SSH signature: the committer's account must have the key.
fn by_account(body: &str, payload: &str, committer: &Signature<'_>, accounts: &Accounts) -> &'static str {
    let body: String = body.replace("-----END SSH SIGNATURE-----", "").split_whitespace().collect();
    let Some(read) = BASE64_STANDARD.decode(body).ok().and_then(|bytes| SshSignature::read(&bytes)) else {
        return "malformed_signature";
    };
    if !read.signs(payload.as_bytes()) {
        return "invalid";
    }
    let email = String::from_utf8_lossy(committer.email_bytes()).into_owned();
    let login =
        email.split_once("@users.noreply.").map(|(local, _)| local.split_once('+').map_or(local, |(_, login)| login));
    match login.and_then(|login| accounts.get(login)) {
        None => "no_user",
        Some(account) if account.signing_keys.contains(&read.public) => "valid",
        Some(_) => "unknown_key",
    }
}

/// A signature as `PROTOCOL.sshsig` of OpenSSH describes it.
struct SshSignature {
    public: Vec<u8>,
    hash: Vec<u8>,
    signature: Vec<u8>,
}

impl SshSignature {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"SSHSIG")?.strip_prefix(&1_u32.to_be_bytes())?;
        let (mut public, namespace) = (take(&mut rest)?, take(&mut rest)?);
        let (_reserved, hash, mut signature) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
        let is_it =
            namespace == b"git" && take(&mut public)? == b"ssh-ed25519" && take(&mut signature)? == b"ssh-ed25519";
        let (public, signature) = (take(&mut public)?.to_vec(), take(&mut signature)?.to_vec());
        is_it.then(|| Self { public, hash: hash.to_vec(), signature })
    }

    fn signs(&self, message: &[u8]) -> bool {
        let algorithm = if self.hash == b"sha256" { &SHA256 } else { &SHA512 };
        let mut signed = b"SSHSIG".to_vec();
        for part in [b"git", &b""[..], &self.hash, digest(algorithm, message).as_ref()] {
            signed.extend(u32::try_from(part.len()).unwrap_or_default().to_be_bytes());
            signed.extend(part);
        }
        UnparsedPublicKey::new(&ED25519, &self.public).verify(&signed, &self.signature).is_ok()
    }
}

/// The raw key of a line such as `ssh-ed25519 AAAA… comment`; `None` if it is not an Ed25519 key.
pub(super) fn public_key(line: &str) -> Option<Vec<u8>> {
    let bytes = BASE64_STANDARD.decode(line.strip_prefix("ssh-ed25519 ")?.split_whitespace().next()?).ok()?;
    let mut rest = bytes.as_slice();
    (take(&mut rest)? == b"ssh-ed25519").then(|| take(&mut rest).map(<[u8]>::to_vec)).flatten()
}

/// The next string of SSH's wire format.
fn take<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (taken, left) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = left;
    Some(taken)
}
