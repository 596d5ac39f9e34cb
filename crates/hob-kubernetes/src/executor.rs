//! What the worker calls.

use std::path::Path;

use async_trait::async_trait;
use hob_domain::{IssueNumber, RepoName};
use hob_worker::{RemoteEnd, RemoteExecutor, RemoteTask, Tell, WorkError, preflight::Health};
use kube::{Client, ResourceExt};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{
    cluster::{Cluster, ClusterError},
    follow::Follow,
    name::selector,
    passes::Passes,
    phase::{is_finished, phase},
    reasons::why,
    template::{Template, TemplateError},
};

/// Why no Job can be made from a template that names a dispatcher.
const NOT_LISTENING: &str =
    "`executor.job` names a dispatcher as the forge's API, which answers with `hob run --listen` alone";

/// Has a Job of Kubernetes work on each issue.
pub struct JobExecutor {
    template: Template,
    /// What pods get instead of tokens. `None` if this process forwards nothing.
    passes: Option<Passes>,
    /// Found at the first call: the command line makes executors that it never calls.
    cluster: OnceCell<Cluster>,
}

impl JobExecutor {
    /// The executor of a template, in the cluster that the environment names.
    ///
    /// # Errors
    /// [`TemplateError`] if the template cannot be used.
    pub fn open(template: &Path, passes: Option<Passes>) -> Result<Self, TemplateError> {
        Ok(Self { template: Template::read(template)?, passes, cluster: OnceCell::new() })
    }

    /// The executor of a template with this client.
    pub fn with_client(template: Template, passes: Option<Passes>, client: Client) -> Self {
        let cluster = Cluster::new(client, template.namespace());
        Self { template, passes, cluster: OnceCell::new_with(Some(cluster)) }
    }

    /// Whether the issue's Job of this name is still to work or at work. `None` if the cluster does not say.
    pub async fn is_at_work(&self, repo: &RepoName, issue: IssueNumber, job: &str) -> Option<bool> {
        let listed = async { self.cluster().await?.jobs_of(&selector(repo, issue)).await };
        match listed.await {
            Ok(jobs) => Some(jobs.items.iter().any(|one| one.name_any() == job && !is_finished(one))),
            Err(error) => {
                tracing::warn!("the Kubernetes API does not say whether the Job `{job}` is at work: {error}");
                None
            }
        }
    }

    /// Whether pods are to ask a dispatcher, and this one answers none.
    fn lacks_passes(&self) -> bool {
        self.template.is_forwarded && self.passes.is_none()
    }

    async fn cluster(&self) -> Result<&Cluster, ClusterError> {
        self.cluster.get_or_try_init(|| Cluster::infer(self.template.namespace())).await
    }

    /// What the issue's unfinished Job waits for. `None` if it has none.
    async fn look(&self, repo: &RepoName, issue: IssueNumber) -> Result<Option<String>, ClusterError> {
        let cluster = self.cluster().await?;
        let jobs = cluster.jobs_of(&selector(repo, issue)).await?;
        let Some(job) = jobs.items.iter().find(|job| !is_finished(job)) else { return Ok(None) };
        let why = why(cluster, job, &phase(job)).await;
        Ok(Some(format!("its Job `{}`: {why}", job.name_any())))
    }
}

#[async_trait]
impl RemoteExecutor for JobExecutor {
    async fn work_on(
        &self,
        task: &RemoteTask,
        tell: Tell<'_>,
        cancel: &CancellationToken,
    ) -> Result<RemoteEnd, WorkError> {
        if self.lacks_passes() {
            return Ok(RemoteEnd::Failed { what: "no Job was created".to_owned(), said: NOT_LISTENING.to_owned() });
        }
        let work = async {
            match self.cluster().await {
                Ok(cluster) => {
                    let follow = Follow::new(cluster, &self.template, task, tell);
                    follow.with(self.passes.as_ref()).until_its_end().await
                }
                Err(error) => RemoteEnd::Failed { what: "no Job could be created".to_owned(), said: error.to_string() },
            }
        };
        // The Job goes on, and the next dispatcher follows it.
        Ok(cancel.run_until_cancelled(work).await.unwrap_or(RemoteEnd::Cancelled))
    }

    async fn health(&self) -> (Health, String) {
        if self.lacks_passes() {
            return (Health::Bad, NOT_LISTENING.to_owned());
        }
        let listed = async {
            let cluster = self.cluster().await?;
            cluster.jobs_of("app.kubernetes.io/managed-by=hob").await?;
            Ok::<_, ClusterError>(cluster.namespace())
        };
        match listed.await {
            Ok(namespace) => (
                Health::Ok,
                format!(
                    "a Job in the namespace `{namespace}` works on each issue: what agents and checks need is not looked for here"
                ),
            ),
            Err(error) if error.passes() => (Health::Note, format!("the Kubernetes API cannot be used now: {error}")),
            Err(error) => (Health::Bad, format!("the Kubernetes API cannot be used: {error}")),
        }
    }

    async fn waits_for(&self, repo: &RepoName, issue: IssueNumber) -> Option<String> {
        match self.look(repo, issue).await {
            Ok(waits) => waits,
            Err(error) => Some(format!("its Job cannot be looked up: {error}")),
        }
    }
}
