//! A person's sign-off on the commits of a pull request, for a DCO.
//!
//! # Flow
//! `/hob sign-off` is in the ledger before anything changes. Hob's commits are made again with that person as their author,
//! signed and pushed, and the reply says what became of it.
//!
//! # Guarantees
//! - Nobody else's commit changes, and no file does: what the checks showed still holds.
//! - If a worker dies in between, the next one does what is left: it finds the commits that are signed off already.

use hob_config::Signing;
use hob_domain::{CommandVerdict, FailureClass, Login, Receipt, Sha, Transition};
use hob_text::{count, markup::code_span};
use hob_workspace::{BranchName, Leftover, SignedOff, Signer};

use crate::{
    WorkError, Worker,
    attempt::{checked_out, push_checkout},
    held_issue::HeldIssue,
    mirror::fetch,
    proof_status::show_moved,
    repository_file::file_at,
};

/// What became of a sign-off.
struct Outcome {
    /// The branch's tip, if it moved.
    head: Option<Sha>,
    verdict: CommandVerdict,
    says: String,
}

impl Outcome {
    fn refused(says: String) -> Self {
        Self { head: None, verdict: CommandVerdict::Impossible, says }
    }
}

/// Carries out the sign-off that the ledger asks for, if it asks for one.
pub(super) async fn sign_off(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    let Some(asked) = held.lease.record().commands.sign_off else { return Ok(()) };
    let Outcome { head, verdict, says } = match Box::pin(sign(worker, held, &asked.by)).await {
        Ok(outcome) => outcome,
        Err(error) if is_passing(error.class()) => return Err(error),
        Err(error) => Outcome::refused(format!("The commits were not signed off: {error}.")),
    };
    let receipt = Receipt { verdict, says: Some(says), ..asked.receipt };
    let then = Box::new(Transition::SignedOff { by: asked.by, head });
    worker.forge.ledger().transition(&held.lease, Transition::Follow { receipt, then }).await?;
    Ok(())
}

/// Whether the next worker may try again without being asked.
fn is_passing(class: FailureClass) -> bool {
    match class {
        FailureClass::Transient { .. } | FailureClass::QuotaExhausted { .. } | FailureClass::Cancelled => true,
        FailureClass::Unfinished | FailureClass::Permanent | FailureClass::NeedsHuman | FailureClass::Misconfigured => {
            false
        }
    }
}

async fn sign(worker: &Worker, held: &HeldIssue, by: &Login) -> Result<Outcome, WorkError> {
    if worker.settings.publish.signing == Signing::Api {
        let why = "The forge signs these commits as those of Hob's App, so their author cannot be a person";
        return Ok(Outcome::refused(format!("{why}: sign off the commit that you merge.")));
    }
    let Some(person) = worker.identity_of(by).await? else {
        return Ok(Outcome::refused(format!("The forge does not say which address {by} has.")));
    };
    let work = held.lease.record().work;
    let Some(branch) = work.branch_name() else {
        return Ok(Outcome::refused("The pull request has no branch of Hob's.".to_owned()));
    };
    let (branch, remote): (BranchName, _) = (branch.parse()?, worker.remote().await?);
    let base = work.base.map_or_else(|| held.base.name.clone(), |base| base.branch);
    let base_tip = fetch(worker, &remote, &base.parse()?).await?;
    let workspace = worker.workspace.within(&file_at(worker, &base_tip).await?.folders);
    let checkout = checked_out(&workspace, &remote, held.issue.number, &branch, &base_tip, Leftover::Keep).await?;
    let own = worker.commit_identity().await;
    let signer = Signer { own, by: person.clone(), time: worker.forge.now() };
    let (commits, head) = match hob_workspace::sign_off(&checkout, &base_tip, signer).await? {
        SignedOff::Commits(commits, head) => (commits, head),
        SignedOff::Already => {
            let says = "No commit of Hob's on this branch lacks the sign-off of a person.".to_owned();
            return Ok(Outcome { head: None, verdict: CommandVerdict::Followed, says });
        }
        SignedOff::Below(theirs) => {
            let (sha, author) = (theirs.sha.short(), &theirs.author);
            return Ok(Outcome::refused(format!(
                "Nothing was signed off: {sha} by {author} is on top of commits that lack a sign-off, and Hob does not \
                 change people's commits. Run `git rebase --signoff {base}` on `{branch}`, and push it with \
                 `--force-with-lease`."
            )));
        }
    };
    let head = match &worker.author.signing_key {
        Some(key) => checkout.sign(&head, checkout.pushed(), key.clone()).await?,
        None => head,
    };
    // The fetch may have taken most of the lease.
    worker.forge.ledger().renew(&held.lease).await?;
    push_checkout(worker, &held.lease, &checkout, &head, checkout.pushed()).await?;
    if let Some(before) = checkout.pushed() {
        show_moved(worker, &held.lease, before, &head).await;
    }
    let (commits, person) = (count(commits, "commit"), code_span(&person.to_string()));
    let says = format!("Signed off {commits} as {person}, now the author. The branch is at {}.", head.short());
    Ok(Outcome { head: Some(head), verdict: CommandVerdict::Followed, says })
}
