//! The folder of the checks: filled when they need it, and as far as can be before.

use std::{path::PathBuf, sync::PoisonError};

use hob_domain::Sha;

use crate::{Checkout, WorkspaceError, fill::Clean, layout::Kind, object_id::checked};

impl Checkout {
    /// Checks a commit out into the clean folder of the checks, and returns that folder, with its own throwaway `.git`.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn proof(&self, sha: &Sha) -> Result<PathBuf, WorkspaceError> {
        checked(sha)?;
        let patterns = self.patterns(self.base(), &[sha]).await?;
        let clean = self.clean.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Clean { turn, rules }) = clean
            && self.filling(Kind::Proof, &turn, patterns.clone()).fill_clean(sha, rules).await.is_ok()
        {
            return Ok(self.issue_folder().place(Kind::Proof));
        }
        let turn = self.turn(Kind::Proof).await;
        let filling = self.filling(Kind::Proof, &turn, patterns);
        filling.renewed().await?;
        if filling.fill(sha).await.is_err() {
            filling.discard().await?;
            filling.fill(sha).await?;
        }
        Ok(self.issue_folder().place(Kind::Proof))
    }

    /// Fills the folder of the checks before they need it, beside other work, so that only what differs is left to write then:
    /// [`proof`](Self::proof) waits for it. If it is dropped, or fails, the folder is filled when it is needed, and that reports it.
    pub async fn fill_ahead(&self, sha: &Sha) {
        // Git reads the patterns of a part from the issue's git directory, where each other command removes them.
        if !self.part().is_whole() {
            return;
        }
        if let Err(error) = self.proof(sha).await {
            tracing::debug!(%error, "the folder of the checks could not be filled ahead: {error}");
        }
    }

    /// Cleans the folder of the checks beside other work, after the last child before the checks has ended: [`proof`](Self::proof) has
    /// no need to then. If it is dropped, or fails, that does.
    pub async fn clean_ahead(&self) {
        if !self.part().is_whole() || !self.issue_folder().place(Kind::Proof).exists() {
            return;
        }
        let turn = self.turn(Kind::Proof).await;
        match self.filling(Kind::Proof, &turn, None).clean_of_children().await {
            Ok(rules) => *self.clean.lock().unwrap_or_else(PoisonError::into_inner) = Some(Clean { turn, rules }),
            Err(error) => tracing::debug!(%error, "the folder of the checks could not be cleaned ahead: {error}"),
        }
    }
}
