//! Labels and reviewers of a pull request that Hob opened.
//!
//! # Guarantees
//! - The forge is not asked if the settings name neither, nor for a pull request that has had its labels and reviewers:
//!   what people removed stays removed.
//! - A refusal by the forge, such as of a reviewer who is not a collaborator, is reported in the status comment. It
//!   blocks nothing.

use std::future::Future;

use hob_domain::{Introduced, Note, PullNumber, Reviewers};
use hob_forge::ForgeError;

use crate::{WorkError, Worker, attempt::job::Job};

/// Gives the pull request the labels and reviewers that the settings name, once.
pub(super) async fn introduce(worker: &Worker, job: &Job<'_>, pull: PullNumber) -> Result<(), WorkError> {
    let (lease, settings) = (&job.held.lease, &worker.settings.publish);
    let reviewers = Reviewers::new(&settings.reviewers);
    let is_done = lease.record().pull.introduced.is_some_and(|introduced| introduced.pull == pull);
    if is_done || (settings.labels.is_empty() && reviewers.is_empty()) {
        return Ok(());
    }
    let mut refused = Vec::new();
    if !settings.labels.is_empty() {
        let names = format!("The pull request did not get the labels `{}`", settings.labels.join("`, `"));
        let put = async || worker.forge.labels().put_on(lease, pull, &settings.labels).await;
        refused.extend(tried(worker, job, put).await?.map(|why| format!("{names}: {why}.")));
    }
    if !reviewers.is_empty() {
        let ask =
            async |who: &Reviewers| tried(worker, job, async || worker.forge.reviews(pull).ask(lease, who).await).await;
        if ask(&reviewers).await?.is_some() {
            // One of them is enough for the forge to refuse all.
            for one in reviewers.each() {
                let why = ask(&one).await?;
                refused.extend(why.map(|why| format!("{} could not be asked for a review: {why}.", one.names())));
            }
        }
    }
    for refused in &refused {
        worker.progress(job.number(), refused);
        tracing::warn!(issue = job.number().0, "{refused}");
    }
    lease.note(Note::Introduced(Introduced { pull, refused })).await;
    Ok(())
}

/// Repeats an idempotent write until its outcome is known; returns the forge's refusal, if it refused.
async fn tried<F: Future<Output = Result<(), ForgeError>>>(
    worker: &Worker,
    job: &Job<'_>,
    write: impl Fn() -> F,
) -> Result<Option<ForgeError>, WorkError> {
    let mut tries = 0;
    loop {
        let error = match write().await {
            Ok(()) => return Ok(None),
            Err(error @ ForgeError::Lost(_)) => return Err(error.into()),
            Err(error) => error,
        };
        let Some(pause) = worker.forge.pause_within(&job.held.lease, &error, tries) else {
            return Ok(Some(error));
        };
        worker.forge.wait(&error, pause).await;
        tries += 1;
    }
}
