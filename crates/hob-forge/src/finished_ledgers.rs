//! The ref of the list of finished ledgers.

use hob_domain::{FinishedList, Sha};

use crate::{
    Forge, ForgeError,
    purpose::Share,
    refs::{Step, advance, read_commit},
    tips::FINISHED,
};

/// The list at a tip.
///
/// # Errors
/// [`ForgeError::Unreadable`] if the commit has none that this Hob reads.
pub async fn finished_list(forge: &Forge, tip: &Sha) -> Result<FinishedList, ForgeError> {
    let what = "read the list of finished ledgers";
    let commit = read_commit(forge, tip, what).await?;
    FinishedList::from_message(&commit.message)
        .map_err(|error| ForgeError::Unreadable { what: what.to_owned(), source: error.into() })
}

/// Writes the list that follows the one at `from`. `None` if another worker was faster.
///
/// # Errors
/// [`ForgeError`] of a call.
pub async fn write_finished_list(
    forge: &Forge,
    from: Option<&Sha>,
    tree: &Sha,
    list: &FinishedList,
) -> Result<Option<Sha>, ForgeError> {
    let message = list.to_message()?;
    let (write, moves) = ("write the list of finished ledgers", "move the list of finished ledgers");
    let step = Step { name: FINISHED, from, tree, message: &message, write, advance: moves };
    advance(forge, step, Share::Common).await
}
