//! Passes: what the pod of a Job shows, instead of a token of the forge, to the dispatcher that forwards its requests.
//!
//! # Flow
//! [`PassKey::sign`] when the Job is made → the pod's Hob has it as its token → [`PassKey::read`] at each of its requests →
//! [`permit`](crate::pass_permitted::permit) or [`Pass::may_move`].
//!
//! # Guarantees
//! - A pass names a repository, an issue, a Job and its end, and is signed: a changed one is none. Signatures are compared in a time
//!   that does not depend on where they differ.
//! - Nothing is kept: each dispatcher that signs in with the same credential takes the same passes, also after a restart.
//!
//! # Caveats
//! A pass cannot be taken back before its end, other than by another credential for the dispatcher.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use hob_config::PASS_PREFIX;
use hob_domain::{IssueNumber, RepoName, Timestamp};
use ring::hmac;
use secrecy::SecretString;

use crate::{permitted::is_ledger_for, tips::issue_number};

/// The longest pass that is looked at, in bytes: the names of a repository and of a Job have 264 at most.
const LENGTH_MAX: usize = 1 << 10;

/// What the signature of a pass is for, so that no other signature with the same credential is one.
const KIND: &[u8] = b"a pass of a dispatcher of Hob, 1";

/// What a pass says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The repository that it opens.
    pub repo: RepoName,
    /// The issue whose ledger and branch it may move.
    pub issue: IssueNumber,
    /// The Job whose pod has it, for the log.
    pub job: String,
    /// When it ends, by the forge's clock.
    pub ends: Timestamp,
}

/// A text that is not a pass, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// This dispatcher has not signed it.
    #[error("this is not a pass of this dispatcher")]
    NotSigned,
    /// Its time is over.
    #[error("the pass has ended")]
    Ended,
}

/// The key that signs passes.
#[derive(Debug, Clone)]
pub struct PassKey(hmac::Key);

impl PassKey {
    /// The key of a credential, which cannot be computed from it.
    pub(super) fn of(credential: &[u8]) -> Self {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, credential), KIND);
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// The pass as the pod shows it.
    pub fn sign(&self, pass: &Pass) -> SecretString {
        let Pass { repo, issue, job, ends } = pass;
        let said = BASE64_URL_SAFE_NO_PAD.encode(format!("{repo} {issue} {} {job}", ends.timestamp()));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, said.as_bytes()));
        format!("{PASS_PREFIX}{said}.{signature}").into()
    }

    /// What a pass says that counts `now`.
    ///
    /// # Errors
    /// [`PassError`] if it is not one.
    pub fn read(&self, text: &str, now: Timestamp) -> Result<Pass, PassError> {
        let pass = self.signed(text).ok_or(PassError::NotSigned)?;
        if pass.ends > now { Ok(pass) } else { Err(PassError::Ended) }
    }

    fn signed(&self, text: &str) -> Option<Pass> {
        let (said, signature) = text.strip_prefix(PASS_PREFIX).filter(|_| text.len() <= LENGTH_MAX)?.split_once('.')?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok()?;
        let is_signed = hmac::verify(&self.0, said.as_bytes(), &signature).is_ok();
        if !is_signed {
            return None;
        }
        let said = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(said).ok()?).ok()?;
        let mut parts = said.splitn(4, ' ');
        let (repo, issue, ends) = (parts.next()?.parse().ok()?, issue_number(parts.next()?)?, parts.next()?);
        let ends = Timestamp::from_timestamp(ends.parse().ok()?, 0)?;
        Some(Pass { repo, issue, job: parts.next()?.to_owned(), ends })
    }
}

impl Pass {
    /// Whether a push may move the ref with this full name: the issue's branch, whose name begins with `branch_prefix` and its number,
    /// and the refs that Hob keeps for the issue and the repository.
    pub fn may_move(&self, name: &str, branch_prefix: &str) -> bool {
        let branch = name.strip_prefix("refs/heads/").map(|branch| {
            let rest = branch.strip_prefix(branch_prefix).and_then(|rest| rest.strip_prefix(&self.issue.to_string()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        branch.unwrap_or_else(|| is_ledger_for(self.issue, name))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn pass() -> Pass {
        let repo = "acme/site.js".parse().unwrap();
        Pass { repo, issue: IssueNumber(7), job: "hob-site-7-a1".to_owned(), ends: at(1_000) }
    }

    #[test]
    fn a_pass_says_what_was_signed_until_it_ends() {
        let key = PassKey::of(b"token-of-the-forge");
        let text = key.sign(&pass());
        let text = text.expose_secret();
        assert_eq!(key.read(text, at(999)), Ok(pass()));
        assert_eq!(PassKey::of(b"token-of-the-forge").read(text, at(0)), Ok(pass()), "another dispatcher");
        assert_eq!(key.read(text, at(1_000)), Err(PassError::Ended));
        assert_eq!(PassKey::of(b"another-token").read(text, at(0)), Err(PassError::NotSigned));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{text}");
        assert!(!text.contains("token-of-the-forge"));
    }

    #[test]
    fn a_pass_that_was_changed_is_none() {
        let key = PassKey::of(b"token-of-the-forge");
        let text = key.sign(&pass()).expose_secret().to_owned();
        for at_byte in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at_byte] = if bytes[at_byte] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(key.read(&changed, at(0)), Err(PassError::NotSigned), "{changed}");
        }
        let (head, signature) = text.rsplit_once('.').unwrap();
        let other = Pass { repo: "acme/other".parse().unwrap(), ..pass() };
        let other = key.sign(&other).expose_secret().to_owned();
        let others = other.rsplit_once('.').unwrap().0;
        let long = format!("{text}{}", "A".repeat(LENGTH_MAX));
        for forged in
            [head, &text[..text.len() - 1], &format!("{others}.{signature}"), &format!("{head}."), &long, "", "hob"]
        {
            assert_eq!(key.read(forged, at(0)), Err(PassError::NotSigned), "{forged}");
        }
        // The key of a webhook or of another use of the credential signs none.
        let raw = hmac::Key::new(hmac::HMAC_SHA256, b"token-of-the-forge");
        assert_eq!(PassKey(raw).read(&text, at(0)), Err(PassError::NotSigned));
    }

    #[test]
    fn a_push_moves_the_issues_branch_and_refs_alone() {
        for (name, may) in [
            ("refs/heads/hob/7", true),
            ("refs/heads/hob/7-fix-it", true),
            ("refs/hob/issues/7", true),
            ("refs/hob/unsigned/issues/7", true),
            ("refs/hob/kept/issues/7", true),
            ("refs/hob/repository", true),
            ("refs/heads/main", false),
            ("refs/heads/7-fix-it", false),
            ("refs/heads/hob/70-fix-it", false),
            ("refs/heads/hob/7/x", false),
            ("refs/hob/issues/70", false),
            ("refs/hob/issues/07", false),
            ("refs/hob/issues/8", false),
            ("refs/hob/kept/issues/8", false),
            ("refs/hob/doctor-1", false),
            ("refs/hob/issues/../repository", false),
            ("refs/tags/v1", false),
            ("HEAD", false),
            ("", false),
        ] {
            assert_eq!(pass().may_move(name, "hob/"), may, "{name}");
        }
    }
}
