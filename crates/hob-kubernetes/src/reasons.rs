//! Why a Job waits, and why it failed: what its pods, its warnings and Kueue's object for it say.

use hob_text::shortened;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ContainerState, Event, Pod, PodStatus},
};
use kube::{ResourceExt, api::DynamicObject};

use crate::{cluster::Cluster, phase::JobPhase};

/// The label by which Kueue takes a Job into a queue.
const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The longest message of the cluster that is told.
const LONGEST: usize = 300;
/// What a container waits for while all goes well.
const ON_ITS_WAY: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// What a Job in this phase waits for, or what it does.
pub(crate) async fn why(cluster: &Cluster, job: &Job, phase: &JobPhase) -> String {
    match phase {
        JobPhase::Suspended => suspended(cluster, job).await,
        JobPhase::Pending => pending(cluster, job).await,
        JobPhase::Running => "it is running".to_owned(),
        JobPhase::Complete => "it is complete".to_owned(),
        JobPhase::Failed { reason, message } => said(reason, message),
    }
}

/// Why a Job failed: what its pod says, or else the condition.
pub(crate) async fn why_failed(cluster: &Cluster, job: &Job, reason: &str, message: &str) -> String {
    let of_job = said(reason, message);
    // A deadline ended the pod, which says only that it was ended.
    if reason == "DeadlineExceeded" {
        return of_job;
    }
    let pods = cluster.pods_of(&job.name_any()).await.unwrap_or_default();
    pods.iter().filter_map(|pod| pod.status.as_ref()).find_map(end_of_pod).unwrap_or(of_job)
}

async fn suspended(cluster: &Cluster, job: &Job) -> String {
    let Some(queue) = job.labels().get(QUEUE) else { return "it is suspended".to_owned() };
    let waits = format!("it waits in Kueue's queue `{queue}`");
    let Some(uid) = job.uid() else { return waits };
    match cluster.workloads_of(&uid).await {
        Ok(workloads) => match workloads.iter().find_map(not_admitted) {
            Some(message) => format!("{waits}: {message}"),
            None => waits,
        },
        Err(error) => format!("{waits} (the reason cannot be read: {error})"),
    }
}

/// What keeps Kueue from admitting a workload.
fn not_admitted(workload: &DynamicObject) -> Option<String> {
    let conditions = workload.data.get("status")?.get("conditions")?.as_array()?;
    let text =
        |condition: &serde_json::Value, key: &str| condition.get(key).and_then(|text| text.as_str()).map(str::to_owned);
    ["QuotaReserved", "Admitted"].iter().find_map(|kind| {
        let is_it = |condition: &&serde_json::Value| {
            text(condition, "type").as_deref() == Some(kind) && text(condition, "status").as_deref() == Some("False")
        };
        conditions
            .iter()
            .find(is_it)
            .and_then(|condition| text(condition, "message"))
            .filter(|message| !message.is_empty())
    })
}

async fn pending(cluster: &Cluster, job: &Job) -> String {
    let name = job.name_any();
    let pods = match cluster.pods_of(&name).await {
        Ok(pods) => pods,
        Err(error) => return format!("its pod does not run yet (the reason cannot be read: {error})"),
    };
    if !pods.is_empty() {
        return pods.iter().find_map(waits).unwrap_or_else(|| "its pod is starting".to_owned());
    }
    let warnings = cluster.warnings_of(&name).await.unwrap_or_default();
    let last = warnings.iter().max_by_key(|warning| at(warning));
    match last {
        Some(Event { reason, message, .. }) => said(&or_empty(reason), &or_empty(message)),
        None => "it has no pod yet".to_owned(),
    }
}

fn at(warning: &Event) -> Option<k8s_openapi::jiff::Timestamp> {
    let series = warning.last_timestamp.as_ref().map(|time| time.0);
    series.or_else(|| warning.event_time.as_ref().map(|time| time.0))
}

/// What a pod that does not run waits for.
fn waits(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let unscheduled = status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
    if let Some(condition) = unscheduled {
        return Some(said(&or_empty(&condition.reason), &or_empty(&condition.message)));
    }
    states(status).find_map(|state| {
        let waiting = state.waiting.as_ref()?;
        let reason = waiting.reason.as_deref().filter(|reason| !ON_ITS_WAY.contains(reason))?;
        Some(said(reason, &or_empty(&waiting.message)))
    })
}

/// How a pod ended: evicted, disturbed, or by what its container ended with. `None` if it did not fail.
fn end_of_pod(status: &PodStatus) -> Option<String> {
    if let Some(reason) = status.reason.as_deref().filter(|reason| !reason.is_empty()) {
        return Some(said(reason, &or_empty(&status.message)));
    }
    let disturbed = status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "DisruptionTarget" && condition.status == "True");
    if let Some(condition) = disturbed {
        return Some(said(&or_empty(&condition.reason), &or_empty(&condition.message)));
    }
    states(status).filter_map(|state| state.terminated.as_ref()).find(|ended| ended.exit_code != 0).map(|ended| {
        let how = match ended.reason.as_deref() {
            Some(reason) if reason != "Error" => format!("exit code {} ({reason})", ended.exit_code),
            Some(_) | None => format!("exit code {}", ended.exit_code),
        };
        // The end of the log, as the template asks for it.
        let last = ended.message.as_deref().and_then(|log| log.lines().rev().find(|line| !line.trim().is_empty()));
        said(&how, last.unwrap_or_default())
    })
}

fn states(status: &PodStatus) -> impl Iterator<Item = &ContainerState> {
    let all = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    all.filter_map(|container| container.state.as_ref())
}

fn or_empty(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

/// `reason: message`, or the one of them that there is, in one line.
fn said(reason: &str, message: &str) -> String {
    let message = shortened(&message.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST);
    match (reason, message.as_str()) {
        ("", "") => "no reason is given".to_owned(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}
