//! The client of the cluster: one namespace, a deadline for each call, and which failures may pass.
//!
//! # Caveats
//! A kubeconfig may name a program that signs in. kube starts it, with this process's environment and outside of `hob-process`. In a pod
//! it is the service account's token, and no program takes part.

use std::time::Duration;

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Event, Pod},
};
use kube::{
    Api, Client,
    api::{DynamicObject, ListParams, ObjectList, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::Value;

/// The deadline of a call that does not watch.
const CALL: Duration = Duration::from_secs(30);

/// A failure of the cluster's API.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// Where the cluster is, and who this process is there.
    #[error("there is no configuration of a cluster: {0}")]
    NoConfig(#[source] kube::Error),
    /// The API refused a call, or could not be reached.
    #[error("{}", words(.0))]
    Api(#[source] kube::Error),
    /// There was no answer in time.
    #[error("the API did not answer within {} s", CALL.as_secs())]
    Late,
}

impl ClusterError {
    /// The code that the API answered with.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Api(kube::Error::Api(status)) => Some(status.code),
            Self::Api(_) | Self::NoConfig(_) | Self::Late => None,
        }
    }

    /// Whether the same call may succeed later, with nobody doing anything about it.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Api(kube::Error::Api(status)) => matches!(status.code, 408 | 429 | 500..),
            Self::Api(kube::Error::SerdeError(_) | kube::Error::BuildRequest(_)) | Self::NoConfig(_) => false,
            // The connection, the way to it, and the program that signs in.
            Self::Api(_) | Self::Late => true,
        }
    }
}

/// What the API said, or what kept the call from it with all causes.
fn words(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return match status.message.as_str() {
            "" => format!("the API answered {} {}", status.code, status.reason).trim_end().to_owned(),
            message => message.to_owned(),
        };
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text
}

/// What Hob asks of one namespace.
#[derive(Clone)]
pub(crate) struct Cluster {
    client: Client,
    namespace: String,
    /// The Jobs.
    pub(crate) jobs: Api<Job>,
    pods: Api<Pod>,
    events: Api<Event>,
}

impl Cluster {
    /// The cluster of `KUBECONFIG`, of `~/.kube/config`, or the one around this pod.
    pub(crate) async fn infer(namespace: Option<&str>) -> Result<Self, ClusterError> {
        let client = within(Client::try_default()).await.map_err(|error| match error {
            ClusterError::Api(error) => ClusterError::NoConfig(error),
            ClusterError::NoConfig(_) | ClusterError::Late => error,
        })?;
        Ok(Self::new(client, namespace))
    }

    /// The client's own namespace, unless another one is named.
    pub(crate) fn new(client: Client, namespace: Option<&str>) -> Self {
        let namespace = namespace.unwrap_or_else(|| client.default_namespace()).to_owned();
        Self {
            jobs: Api::namespaced(client.clone(), &namespace),
            pods: Api::namespaced(client.clone(), &namespace),
            events: Api::namespaced(client.clone(), &namespace),
            client,
            namespace,
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) async fn jobs_of(&self, selector: &str) -> Result<ObjectList<Job>, ClusterError> {
        within(self.jobs.list(&ListParams::default().labels(selector))).await
    }

    /// Makes a Job as it is written, with fields that this Hob does not know.
    pub(crate) async fn create(&self, job: Value) -> Result<(), ClusterError> {
        let job: DynamicObject =
            serde_json::from_value(job).map_err(|error| ClusterError::Api(kube::Error::SerdeError(error)))?;
        let jobs = Api::<DynamicObject>::namespaced_with(
            self.client.clone(),
            &self.namespace,
            &ApiResource::erase::<Job>(&()),
        );
        within(jobs.create(&PostParams::default(), &job)).await.map(drop)
    }

    pub(crate) async fn pods_of(&self, job: &str) -> Result<Vec<Pod>, ClusterError> {
        let named = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}"));
        Ok(within(self.pods.list(&named)).await?.items)
    }

    /// The warnings about a Job.
    pub(crate) async fn warnings_of(&self, job: &str) -> Result<Vec<Event>, ClusterError> {
        let about = format!("involvedObject.kind=Job,involvedObject.name={job},type=Warning");
        Ok(within(self.events.list(&ListParams::default().fields(&about))).await?.items)
    }

    /// Kueue's objects for the Job with this uid, in the newest version that the cluster serves.
    pub(crate) async fn workloads_of(&self, uid: &str) -> Result<Vec<DynamicObject>, ClusterError> {
        let labelled = ListParams::default().labels(&format!("kueue.x-k8s.io/job-uid={uid}"));
        let of = |version: &str| {
            let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("kueue.x-k8s.io", version, "Workload"));
            Api::<DynamicObject>::namespaced_with(self.client.clone(), &self.namespace, &kind)
        };
        let newest = match within(of("v1beta2").list(&labelled)).await {
            Err(error) if error.code() == Some(404) => within(of("v1beta1").list(&labelled)).await,
            newest => newest,
        };
        Ok(newest?.items)
    }
}

/// The answer, if it comes in time.
async fn within<T>(call: impl Future<Output = kube::Result<T>>) -> Result<T, ClusterError> {
    match tokio::time::timeout(CALL, call).await {
        Ok(answer) => answer.map_err(ClusterError::Api),
        Err(_elapsed) => Err(ClusterError::Late),
    }
}
