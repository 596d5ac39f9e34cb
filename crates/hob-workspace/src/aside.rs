//! Work that waits beside the agent's folder while the agent tries again from the same commit: a candidate that may still be chosen.
//!
//! # Guarantees
//! Its folder is whole when it comes back, with what is in no commit. It does not outlive the attempt: the next checkout removes it.

use hob_domain::{LeftOut, Sha};

use crate::{
    Checkout, WorkspaceError,
    layout::{blocking, moved, remove, remove_aside, renew, unlock},
};

/// Work that was put aside.
#[derive(Debug)]
pub struct Aside {
    tip: Sha,
    left_out: Vec<LeftOut>,
}

impl Aside {
    /// Puts the work in the agent's folder aside, in place of what was put there before, and restores the folder to `commit`.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn put(checkout: &Checkout, commit: &Sha) -> Result<Self, WorkspaceError> {
        let aside = Self { tip: checkout.tip().await?, left_out: checkout.left_out() };
        let folder = checkout.issue_folder().clone();
        blocking("put the work aside", move || {
            unlock(folder.repo())?;
            remove_aside(&folder)?;
            moved(&folder.index(), &folder.aside_index())?;
            moved(&folder.tree(), &folder.aside())
        })
        .await?;
        checkout.restore(commit).await?;
        Ok(aside)
    }

    /// Takes the work back, in place of that in the agent's folder, which is removed.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn take_back(self, checkout: &Checkout) -> Result<(), WorkspaceError> {
        let folder = checkout.issue_folder().clone();
        blocking("take the work back", move || {
            unlock(folder.repo())?;
            remove(&folder.tree())?;
            moved(&folder.aside_index(), &folder.index())?;
            moved(&folder.aside(), &folder.tree())?;
            // A process that survived has rights to the folder that it had.
            renew(&folder.tree())
        })
        .await?;
        checkout.unwind(&self.tip).await?;
        checkout.note_left_out(self.left_out);
        Ok(())
    }

    /// Removes it for good.
    ///
    /// # Errors
    /// Errors of the disk.
    pub async fn throw_away(self, checkout: &Checkout) -> Result<(), WorkspaceError> {
        let folder = checkout.issue_folder().clone();
        blocking("remove the work that was put aside", move || remove_aside(&folder)).await
    }
}
