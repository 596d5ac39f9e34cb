//! Work on the forge that is not on a branch, and commits that the forge creates and signs for an App.
//!
//! GitHub signs a commit that an App creates through the REST API without naming an author or a committer. Its trees
//! come from a push, so that modes, links and merges are kept; GraphQL's `createCommitOnBranch` supports neither modes
//! nor merges.
//! <https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots>

use hob_domain::{IssueNumber, Sha};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Forge, ForgeError, HeldLease, LEDGER_PREFIX, TokenPermission::ContentsWrite};

/// A commit for the forge to create.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// Its message.
    pub message: String,
    /// Its tree, which must be on the forge.
    pub tree: Sha,
    /// Its parents, which must be on the forge.
    pub parents: Vec<Sha>,
}

/// A commit that the forge created and signed.
#[derive(Debug, Clone)]
pub struct SignedCommit {
    /// Its hash.
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

/// One of Hob's own refs with an issue's work, which is not a branch.
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
    /// It passed its checks but could not go to its branch.
    Kept,
}

impl What {
    /// The prefix of such refs, up to the issue's number: below the ledger's prefix, which tokens and rules already
    /// cover.
    pub(super) fn prefix(self) -> String {
        let what = match self {
            Self::Unsigned => "unsigned",
            Self::Kept => "kept",
        };
        format!("{LEDGER_PREFIX}{what}/issues/")
    }
}

impl Staging<'_> {
    /// The ref's full name.
    pub fn name(self) -> String {
        format!("{}{}", self.what.prefix(), self.issue)
    }

    /// Lets the forge create and sign a commit.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] if the forge did not sign it.
    pub async fn make_signed(self, lease: &HeldLease, new: &NewCommit) -> Result<SignedCommit, ForgeError> {
        let (path, what) = (self.forge.path("/git/commits"), "make a signed commit");
        let body = json!({ "message": new.message, "tree": new.tree, "parents": new.parents });
        // A retry only creates another object without a ref.
        let made: CommitWire = self.forge.write_held(lease, Method::POST, &path, &body, ContentsWrite.to(what)).await?;
        let VerificationWire { verified, reason, signature, payload } = made.verification;
        match (verified, signature, payload) {
            (true, Some(signature), Some(payload)) => Ok(SignedCommit { sha: made.sha, payload, signature }),
            _unsigned => {
                let message = format!("it made one that is not verified ({reason}): GitHub signs what an App makes");
                Err(ForgeError::Refused { what: what.to_owned(), status: 201, message })
            }
        }
    }

    /// Removes the ref, if it exists.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn remove(self, lease: &HeldLease) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/git/{}", self.name()));
        let purpose = ContentsWrite.to("remove a ref of work that is not on a branch");
        match self.forge.write_held::<Value>(lease, Method::DELETE, &path, &Value::Null, purpose).await {
            Err(error) if error.is_not_found() || error.is_refusal(422, "Reference does not exist") => Ok(()),
            result => result.map(drop),
        }
    }
}
