//! The commit status that says of a head whether it is proven.

use std::{sync::PoisonError, time::Duration};

use hob_domain::{PROOF_CONTEXT, ProofState, ProofStatus};
use http::Method;
use serde_json::{Value, json};

use crate::{Forge, ForgeError, HeldLease, TokenPermission::StatusesWrite};

/// How long a token that may not set statuses is not tried again, in case it gets the permission.
const REFUSED_FOR: Duration = Duration::from_secs(3_600);

/// The statuses of a repository's commits.
#[derive(Debug, Clone, Copy)]
pub struct Statuses<'a> {
    pub(super) forge: &'a Forge,
}

impl Statuses<'_> {
    /// Sets a status; `target` is where its evidence is. Nothing is sent within an hour of a refusal.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; of a token that lacks the permission once an hour.
    pub async fn set(self, lease: &HeldLease, status: &ProofStatus, target: &str) -> Result<(), ForgeError> {
        let known = || self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        if known().hidden_at.get(&StatusesWrite).is_some_and(|at| self.forge.now() < *at + REFUSED_FOR) {
            return Ok(());
        }
        let state = match status.state {
            ProofState::Pending | ProofState::NotShown => "pending",
            ProofState::Success => "success",
            ProofState::Failure => "failure",
        };
        let body =
            json!({ "state": state, "context": PROOF_CONTEXT, "description": status.says, "target_url": target });
        let path = self.forge.path(&format!("/statuses/{}", status.head));
        let purpose = StatusesWrite.to("set a commit status");
        match self.forge.write_held::<Value>(lease, Method::POST, &path, &body, purpose).await {
            // GitHub hides what a token may not do.
            Err(error) if matches!(error, ForgeError::Forbidden { .. }) || error.is_not_found() => {
                known().hidden_at.insert(StatusesWrite, self.forge.now());
                Err(error)
            }
            set => set.map(drop),
        }
    }
}
