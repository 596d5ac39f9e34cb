//! Work that is on the forge and on no branch; and commits that the forge makes, and signs because an App asks for them.
//!
//! GitHub signs a commit that an App makes through the REST API without naming an author or a committer. Its trees come from a
//! push, so that modes, links and merges stay as they are; `createCommitOnBranch` of GraphQL knows neither modes nor merges.
//! <https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots>

use hob_domain::{IssueNumber, Sha};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Forge, ForgeError, HeldLease, TokenPermission::ContentsWrite};

/// A commit that the forge is to make.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// Its message.
    pub message: String,
    /// Its tree, which the forge has.
    pub tree: Sha,
    /// Its parents, which the forge has.
    pub parents: Vec<Sha>,
}

/// A commit that the forge made and signed.
#[derive(Debug, Clone)]
pub struct SignedCommit {
    /// It.
    pub sha: Sha,
    /// What was signed: the commit without its signature.
    pub payload: String,
    /// The signature.
    pub signature: String,
}

#[derive(Deserialize)]
struct CommitWire {
    sha: Sha,
    verification: VerificationWire,
}

#[derive(Deserialize)]
struct VerificationWire {
    verified: bool,
    reason: String,
    signature: Option<String>,
    payload: Option<String>,
}

/// A ref of Hob's own that has an issue's work and is no branch.
#[derive(Debug, Clone, Copy)]
pub struct Staging<'a> {
    pub(super) forge: &'a Forge,
    pub(super) issue: IssueNumber,
    pub(super) what: What,
}

/// Why the work is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// Its commits are being signed.
    Unsigned,
    /// It passed its checks and could not go to its branch.
    Kept,
}

impl What {
    /// The names of such refs, up to the issue's number: below the ledger's prefix, which tokens and rules know.
    pub(super) fn prefix(self, forge: &Forge) -> String {
        let what = match self {
            Self::Unsigned => "unsigned",
            Self::Kept => "kept",
        };
        format!("refs/{}{what}/issues/", forge.ref_space())
    }
}

impl Staging<'_> {
    /// The ref's full name.
    pub fn name(self) -> String {
        format!("{}{}", self.what.prefix(self.forge), self.issue)
    }

    /// Has the forge make a commit and sign it.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where the forge did not sign it.
    pub async fn make_signed(self, lease: &HeldLease, new: &NewCommit) -> Result<SignedCommit, ForgeError> {
        let (path, what) = (self.forge.path("/git/commits"), "make a signed commit");
        let body = json!({ "message": new.message, "tree": new.tree, "parents": new.parents });
        // A second one is another object that nothing points to.
        let made: CommitWire =
            self.forge.write_held(lease, (Method::POST, &path), &body, ContentsWrite.to(what)).await?;
        let VerificationWire { verified, reason, signature, payload } = made.verification;
        match (verified, signature, payload) {
            (true, Some(signature), Some(payload)) => Ok(SignedCommit { sha: made.sha, payload, signature }),
            _unsigned => {
                let message = format!("it made one that is not verified ({reason}): GitHub signs what an App makes");
                Err(ForgeError::Refused { what: what.to_owned(), status: 201, message })
            }
        }
    }

    /// Removes the ref. One that is gone already is not missed.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn remove(self, lease: &HeldLease) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/git/{}", self.name()));
        let purpose = ContentsWrite.to("remove a ref of work that is no branch");
        match self.forge.write_held::<Value>(lease, (Method::DELETE, &path), &Value::Null, purpose).await {
            Err(error) if error.is_not_found() || error.is_refusal(422, "Reference does not exist") => Ok(()),
            result => result.map(drop),
        }
    }
}
