//! Labels and reviewers of a pull request that Hob opened.
//!
//! # Guarantees
//! - The forge is not asked if the settings name neither, nor for a pull request that has had its labels and reviewers:
//!   what people removed stays removed.
//! - A refusal by the forge, such as of a reviewer who is not a collaborator, is reported in the status comment. It
//!   blocks nothing. If the person who asked for the work cannot be asked for a review, that is not reported.

use std::future::Future;

use hob_domain::{ACTOR, Introduced, Note, PullNumber, Record, Reviewers};
use hob_forge::ForgeError;

use crate::{WorkError, Worker, attempt::job::Job};

/// Gives the pull request the labels and reviewers that the settings name, once.
pub(super) async fn introduce(worker: &Worker, job: &Job<'_>, pull: PullNumber) -> Result<(), WorkError> {
    let (lease, settings) = (&job.held.lease, &worker.settings.publish);
    let record = lease.record();
    let named = Reviewers::new(&settings.reviewers);
    let is_done = record.pull.introduced.as_ref().is_some_and(|introduced| introduced.pull == pull);
    if is_done || (settings.labels.is_empty() && settings.reviewers.is_empty()) {
        return Ok(());
    }
    let actor = actor(worker, &record).await?;
    let reviewers = named.clone().with(actor.clone());
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
            for one in named.each() {
                let why = ask(&one).await?;
                refused.extend(why.map(|why| format!("{} could not be asked for a review: {why}.", one.names())));
            }
            for one in actor.each().iter().filter(|_| reviewers != actor) {
                if let Some(why) = ask(one).await? {
                    tracing::debug!(issue = job.number().0, "{} could not be asked for a review: {why}", one.names());
                }
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

/// The person who put the label on, if the settings ask for them: not Hob's own account, which opened the pull request,
/// and not a program.
async fn actor(worker: &Worker, record: &Record) -> Result<Reviewers, WorkError> {
    let is_wanted = worker.settings.publish.reviewers.iter().any(|name| name.trim() == ACTOR);
    let actor = record.trigger.as_ref().map(|trigger| trigger.actor.clone());
    let Some(actor) = actor.filter(|actor| is_wanted && !actor.to_string().ends_with("[bot]")) else {
        return Ok(Reviewers::default());
    };
    let is_own = worker.own_login().await?.is_some_and(|own| own.is(&actor));
    Ok(Reviewers { users: if is_own { Vec::new() } else { vec![actor] }, teams: Vec::new() })
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
