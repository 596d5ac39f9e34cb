//! Labels and reviewers of a pull request that Hob opened.
//!
//! # Guarantees
//! - The forge is not asked if the settings name neither, nor for a pull request that has had its labels and reviewers:
//!   what people removed stays removed.
//! - A refusal by the forge, such as of a reviewer who is not a collaborator, is reported in the status comment. It
//!   blocks nothing. If the person who asked for the work cannot be asked for a review, that is not reported.

use std::future::Future;

use hob_domain::{ACTOR, Introduced, Login, Note, PullNumber, Record, Reviewers, State};
use hob_forge::{ForgeError, HeldLease};

use crate::{WorkError, Worker};

/// A pull request that has yet to get its labels and reviewers.
pub(crate) struct Introduction {
    pull: PullNumber,
    /// Those whom the settings name.
    named: Reviewers,
    /// The person who put the label on.
    actor: Reviewers,
}

impl Introduction {
    /// That of an issue's pull request, if it is due: nobody is asked for a review before the agent has read what people said.
    pub(crate) async fn of(worker: &Worker, lease: &HeldLease) -> Result<Option<Self>, WorkError> {
        let (record, settings) = (lease.record(), &worker.settings.publish);
        let is_done = |pull: &PullNumber| record.pull.introduced.as_ref().is_some_and(|done| done.pull == *pull);
        let Some(pull) = record.pull.number.filter(|pull| !is_done(pull)) else { return Ok(None) };
        let has_any = !settings.labels.is_empty() || !settings.reviewers.is_empty();
        if record.state != State::InReview || !has_any || !record.commands.unread.is_empty() {
            return Ok(None);
        }
        let (named, actor) = (Reviewers::new(&settings.reviewers), actor(worker, &record).await?);
        Ok(Some(Self { pull, named, actor }))
    }

    /// The accounts that it asks for a review; a team has to be asked over REST.
    pub(crate) fn accounts(&self) -> Option<(PullNumber, Vec<Login>)> {
        let Reviewers { users, teams } = self.reviewers();
        (teams.is_empty() && !users.is_empty()).then_some((self.pull, users))
    }

    /// Makes it, without the reviewers if they were `asked`, and notes it; whether the forge refused a part.
    pub(crate) async fn make(self, worker: &Worker, lease: &HeldLease, asked: bool) -> Result<bool, WorkError> {
        let (pull, settings) = (self.pull, &worker.settings.publish);
        let mut refused = Vec::new();
        if !settings.labels.is_empty() {
            let names = format!("The pull request did not get the labels `{}`", settings.labels.join("`, `"));
            let put = async || worker.forge.labels().put_on(lease, pull, &settings.labels).await;
            refused.extend(tried(worker, lease, put).await?.map(|why| format!("{names}: {why}.")));
        }
        if !asked {
            refused.extend(self.ask(worker, lease).await?);
        }
        for refused in &refused {
            worker.progress(lease.issue(), refused);
            tracing::warn!(issue = lease.issue().0, "{refused}");
        }
        let is_refused = !refused.is_empty();
        lease.note(Note::Introduced(Introduced { pull, refused })).await;
        Ok(is_refused)
    }

    fn reviewers(&self) -> Reviewers {
        self.named.clone().with(self.actor.clone())
    }

    /// Asks for the reviews; returns what was refused of those that the settings name.
    async fn ask(&self, worker: &Worker, lease: &HeldLease) -> Result<Vec<String>, WorkError> {
        let (mut refused, reviewers) = (Vec::new(), self.reviewers());
        let ask = async |who: &Reviewers| {
            tried(worker, lease, async || worker.forge.reviews(self.pull).ask(lease, who).await).await
        };
        if reviewers.is_empty() || ask(&reviewers).await?.is_none() {
            return Ok(refused);
        }
        // One of them is enough for the forge to refuse all.
        for one in self.named.each() {
            let why = ask(&one).await?;
            refused.extend(why.map(|why| format!("{} could not be asked for a review: {why}.", one.names())));
        }
        for one in self.actor.each().iter().filter(|_| reviewers != self.actor) {
            if let Some(why) = ask(one).await? {
                tracing::debug!(issue = lease.issue().0, "{} could not be asked for a review: {why}", one.names());
            }
        }
        Ok(refused)
    }
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
    lease: &HeldLease,
    write: impl Fn() -> F,
) -> Result<Option<ForgeError>, WorkError> {
    let mut tries = 0;
    loop {
        let error = match write().await {
            Ok(()) => return Ok(None),
            Err(error @ ForgeError::Lost(_)) => return Err(error.into()),
            Err(error) => error,
        };
        let Some(pause) = worker.forge.pause_within(lease, &error, tries) else {
            return Ok(Some(error));
        };
        worker.forge.wait(&error, pause).await;
        tries += 1;
    }
}
