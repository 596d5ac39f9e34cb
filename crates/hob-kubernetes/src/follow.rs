//! One issue's Job, from its creation to its end.
//!
//! # Flow
//! List the issue's Jobs. If one of them is unfinished, it is the one, no matter which dispatcher made it; otherwise create one. Watch it to
//! its end.
//! After a lost answer, a broken connection or a watch that is over (410 Gone), list again.
//!
//! # Guarantees
//! - Nothing is remembered that the cluster does not know: a dispatcher that is started anew, or beside another, follows the same Job.
//! - While an issue has an unfinished Job that the list shows, no other is made. Two that list at the same time make the same name, and
//!   the API refuses one of them (409).
//! - A dispatcher that stops leaves the Job alone.
//!
//! # Caveats
//! If the cluster removes a finished Job (`ttlSecondsAfterFinished`) between the lists of two dispatchers, they may make two. The lease
//! lets one of the two pods work.

use std::{pin::pin, time::Duration};

use futures_util::StreamExt;
use hob_worker::{RemoteEnd, RemoteTask, Tell};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    ResourceExt,
    api::{WatchEvent, WatchParams},
};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    cluster::{Cluster, ClusterError},
    name::{job_name, selector},
    passes::Passes,
    phase::{JobPhase, is_finished, phase},
    reasons::{why, why_failed},
    template::Template,
};

/// Between two looks at a cluster, and after its first failure; it doubles with each failure.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);
/// Between two looks at what a Job waits for.
const LOOK: Duration = Duration::from_secs(30);
/// Seconds after which the API ends a watch.
const WATCH: u32 = 240;
/// How often a name may be taken by what no list of the issue's Jobs has.
const CONFLICTS: u32 = 3;
/// A watch that lasts longer has lost its connection.
const LOST: Duration = Duration::from_secs(WATCH as u64 + 30);

/// An issue's Job.
pub(crate) struct Follow<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) template: &'a Template,
    pub(crate) passes: Option<&'a Passes>,
    pub(crate) task: &'a RemoteTask,
    pub(crate) tell: Tell<'a>,
    /// The Job that was found, or that this tried to make.
    name: Option<Name>,
    conflicts: u32,
    told: String,
}

/// What is known of a Job's name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// The API was asked to make it; the answer is not known, or says that it is there.
    Asked(String),
    /// A list had it.
    Seen(String),
}

/// The result of one step.
enum Step {
    Again,
    Ended(RemoteEnd),
}

impl<'a> Follow<'a> {
    pub(crate) fn new(cluster: &'a Cluster, template: &'a Template, task: &'a RemoteTask, tell: Tell<'a>) -> Self {
        Self { cluster, template, passes: None, task, tell, name: None, conflicts: 0, told: String::new() }
    }

    /// The same, whose Job's pod gets a pass.
    pub(crate) fn with(self, passes: Option<&'a Passes>) -> Self {
        Self { passes, ..self }
    }

    /// Follows the Job to its end.
    pub(crate) async fn until_its_end(mut self) -> RemoteEnd {
        let mut failures = 0;
        loop {
            let step = self.step().await;
            let pause = match step {
                Ok(Step::Ended(end)) => return end,
                Ok(Step::Again) => {
                    failures = 0;
                    PAUSE
                }
                // The watch began too long ago.
                Err(error) if error.code() == Some(410) => PAUSE,
                Err(error) if error.passes() => {
                    let pause = PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST);
                    failures += 1;
                    self.say(format!("the Kubernetes API cannot be used, trying again: {error}"));
                    pause
                }
                Err(error) => {
                    let what = match &self.name {
                        Some(Name::Seen(name)) => format!("the Job `{name}` could not be followed"),
                        Some(Name::Asked(name)) => format!("the Job `{name}` could not be created"),
                        None => "the Jobs could not be listed".to_owned(),
                    };
                    return RemoteEnd::Failed { what, said: error.to_string() };
                }
            };
            sleep(pause).await;
        }
    }

    async fn step(&mut self) -> Result<Step, ClusterError> {
        let selector = selector(&self.task.repo, self.task.issue);
        let listed = self.cluster.jobs_of(&selector).await?;
        let known = self.name.as_ref().map(|(Name::Asked(name) | Name::Seen(name))| name.as_str());
        let known = listed.items.iter().find(|job| known == Some(&job.name_any()));
        let Some(job) = known.or_else(|| listed.items.iter().find(|job| !is_finished(job))) else {
            if let Some(Name::Seen(name)) = &self.name {
                return Ok(Step::Ended(gone(name)));
            }
            let is_free = |name: &String| !listed.items.iter().any(|job| job.name_any() == *name);
            let mut names = (0..=listed.items.len()).map(|nth| job_name(self.task, nth));
            return self.create(names.find(is_free).unwrap_or_default()).await;
        };
        self.name = Some(Name::Seen(job.name_any()));
        let version = listed.metadata.resource_version.clone().unwrap_or_default();
        Box::pin(self.watch(job.clone(), &selector, &version)).await
    }

    async fn create(&mut self, name: String) -> Result<Step, ClusterError> {
        self.say(format!("creating the Job `{name}`"));
        let job = self.template.job(self.task, &name, self.passes);
        self.name = Some(Name::Asked(name));
        match self.cluster.create(job).await {
            // Another dispatcher was faster, or an answer was lost.
            Err(error) if error.code() == Some(409) && self.conflicts < CONFLICTS => {
                self.conflicts += 1;
                Ok(Step::Again)
            }
            created => created.map(|()| Step::Again),
        }
    }

    /// Watches the Job for as long as the API lets it.
    async fn watch(&mut self, mut job: Job, selector: &str, version: &str) -> Result<Step, ClusterError> {
        if let Some(end) = self.end_of(&job).await {
            return Ok(Step::Ended(end));
        }
        let (name, lost, mut look) = (job.name_any(), Instant::now() + LOST, Instant::now());
        let params = WatchParams::default().labels(selector).timeout(WATCH);
        let opened = tokio::time::timeout(LOOK, self.cluster.jobs.watch(&params, version)).await;
        let events = opened.map_err(|_elapsed| ClusterError::Late)?.map_err(ClusterError::Api)?;
        let mut events = pin!(events);
        loop {
            let event = tokio::select! {
                biased;
                event = events.next() => event,
                () = sleep_until(look.min(lost)) => {
                    if Instant::now() >= lost {
                        return Ok(Step::Again);
                    }
                    self.look(&job).await;
                    look = Instant::now() + LOOK;
                    continue;
                }
            };
            match event {
                None => return Ok(Step::Again),
                Some(Err(error)) => return Err(ClusterError::Api(error)),
                Some(Ok(WatchEvent::Error(status))) => return Err(ClusterError::Api(kube::Error::Api(status))),
                Some(Ok(WatchEvent::Deleted(gone_job))) if gone_job.name_any() == name => {
                    return Ok(Step::Ended(self.end_of(&gone_job).await.unwrap_or_else(|| gone(&name))));
                }
                Some(Ok(WatchEvent::Added(newer) | WatchEvent::Modified(newer))) if newer.name_any() == name => {
                    if let Some(end) = self.end_of(&newer).await {
                        return Ok(Step::Ended(end));
                    }
                    (job, look) = (newer, Instant::now());
                }
                // Another Job of the issue, which ends, or is made by somebody else.
                Some(Ok(
                    WatchEvent::Added(_) | WatchEvent::Modified(_) | WatchEvent::Deleted(_) | WatchEvent::Bookmark(_),
                )) => {}
            }
        }
    }

    /// How the Job ended. `None` if it has not.
    async fn end_of(&self, job: &Job) -> Option<RemoteEnd> {
        match phase(job) {
            JobPhase::Complete => Some(RemoteEnd::Succeeded),
            JobPhase::Failed { reason, message } => Some(RemoteEnd::Failed {
                what: format!("the Job `{}` failed", job.name_any()),
                said: why_failed(self.cluster, job, &reason, &message).await,
            }),
            JobPhase::Suspended | JobPhase::Pending | JobPhase::Running => None,
        }
    }

    /// Tells what the Job waits for.
    async fn look(&mut self, job: &Job) {
        let why = why(self.cluster, job, &phase(job)).await;
        self.say(format!("the Job `{}`: {why}", job.name_any()));
    }

    /// Tells it once.
    fn say(&mut self, text: String) {
        if self.told != text {
            (self.tell)(&text);
            self.told = text;
        }
    }
}

/// A Job that somebody deleted.
fn gone(name: &str) -> RemoteEnd {
    RemoteEnd::Failed { what: format!("the Job `{name}` was deleted"), said: "it had not ended".to_owned() }
}
