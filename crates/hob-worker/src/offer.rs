//! Pull requests that belong to no issue: a few whole files on a branch of Hob's own, for people to merge.

use hob_domain::{SignOff, signed_off};
use hob_forge::{BaseBranch, ForgeError, Pull, PullDraft};
use hob_workspace::{BranchName, NewFiles, Put, put_files};

use crate::{WorkError, Worker, mirror};

/// Brings the mirror up to date.
pub(super) async fn fetch(worker: &Worker, base: &BaseBranch) -> Result<(), WorkError> {
    let (remote, base) = (worker.remote().await?, base.name.parse::<BranchName>()?);
    mirror::fetch(worker, &remote, &base).await?;
    Ok(())
}

/// Puts the files onto the branch, on top of the base as it was fetched.
pub(super) async fn put(
    worker: &Worker,
    base: &BaseBranch,
    branch: &BranchName,
    files: Vec<(String, String)>,
    message: &str,
) -> Result<Put, WorkError> {
    let identity = worker.commit_identity().await;
    let message = match worker.settings.publish.sign_off() {
        SignOff::Yes => signed_off(message, &identity),
        SignOff::No => message.to_owned(),
    };
    let (branch, base, time) = (branch.clone(), base.sha.clone(), worker.forge.now());
    let new = NewFiles { branch, base, files, message, identity, time };
    Ok(put_files(&worker.workspace, &worker.remote().await?, new).await?)
}

/// Opens the pull request, or brings the one that is open up to date, and tells of each pause that the forge wants.
pub(super) async fn open(
    worker: &Worker,
    draft: &PullDraft,
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<Pull, WorkError> {
    let mut tried = 0;
    loop {
        let error = match worker.forge.pulls().offer(draft).await {
            Err(error @ ForgeError::Limited { .. }) => error,
            result => return Ok(result?),
        };
        let Some(pause) = worker.forge.pause_after(&error, tried) else { return Err(error.into()) };
        tell(format!("waiting {} s: the forge wants a pause before it opens a pull request", pause.as_secs()));
        tokio::time::sleep(pause).await;
        tried += 1;
    }
}
