//! What a Job waits for: a node, an image, a quota, Kueue.

use hob_domain::IssueNumber;
use hob_worker::{RemoteEnd, RemoteExecutor};
use serde_json::{Value, json};

use crate::tests::{
    executor,
    fake_cluster::{FakeCluster, Fault},
    followed, task,
};

fn complete() -> Value {
    json!({ "succeeded": 1, "conditions": [{ "type": "Complete", "status": "True" }] })
}

/// What is told of a Job that has no pod that runs, with these pods and events.
async fn told_with(pods: Value, events: Value) -> String {
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        let labelled = pods.as_array().unwrap().iter().map(|status| {
            json!({ "metadata": { "name": "a", "labels": { "batch.kubernetes.io/job-name": name } }, "status": status })
        });
        cluster.set("pods", labelled.collect());
        cluster.set("events", events);
        cluster.write(&name, false, json!({ "active": 1, "ready": 0 }));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let waits = executor(&cluster).waits_for(&task().repo, IssueNumber(7)).await.unwrap();
        assert_eq!(executor(&cluster).waits_for(&task().repo, IssueNumber(8)).await, None);
        cluster.write(&name, false, complete());
        assert_eq!(executor(&cluster).waits_for(&task().repo, IssueNumber(7)).await, None);
        cluster.set("waits", json!([waits]));
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!(end, RemoteEnd::Succeeded);
    let (last, name) = (told.last().unwrap(), &cluster.names()[0]);
    assert!(last.starts_with(&format!("the Job `{name}`: ")), "{told:?}");
    last.split_once(": ").unwrap().1.to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_pod_does_not_run_says_why() {
    let unscheduled = json!([{ "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available:\n3 Insufficient memory." }] }]);
    assert_eq!(
        told_with(unscheduled, json!([])).await,
        "Unschedulable: 0/3 nodes are available: 3 Insufficient memory."
    );
    let waiting = |reason: &str, message: &str| {
        let state = json!({ "waiting": { "reason": reason, "message": message } });
        json!([{ "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "True" }],
            "containerStatuses": [{ "name": "hob", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": state }] }])
    };
    let image = waiting("ImagePullBackOff", "Back-off pulling image \"registry/hob\"");
    assert_eq!(told_with(image, json!([])).await, "ImagePullBackOff: Back-off pulling image \"registry/hob\"");
    assert_eq!(told_with(waiting("ContainerCreating", ""), json!([])).await, "its pod is starting");
    assert_eq!(told_with(json!([]), json!([])).await, "it has no pod yet");
    let event = |at: &str, message: &str| json!({ "metadata": {}, "involvedObject": {}, "type": "Warning", "reason": "FailedCreate", "lastTimestamp": at, "message": message });
    let events = json!([
        event("2026-11-29T10:02:00Z", "Error creating: pods \"a\" is forbidden: exceeded quota: compute"),
        event("2026-11-29T10:01:00Z", "Error creating: serviceaccount \"b\" not found")
    ]);
    assert_eq!(
        told_with(json!([]), events).await,
        "FailedCreate: Error creating: pods \"a\" is forbidden: exceeded quota: compute"
    );
}

#[tokio::test(start_paused = true)]
async fn a_job_that_kueue_holds_back_waits_and_has_not_failed() {
    let cluster = FakeCluster::default();
    let workload = |name: &str, message: &str| {
        json!([{ "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
            "metadata": { "name": "job", "labels": { "kueue.x-k8s.io/job-uid": format!("uid-of-{name}") } },
            "status": { "conditions": [{ "type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message }] } }])
    };
    let suspended = json!({ "conditions": [{ "type": "Suspended", "status": "True", "reason": "JobSuspended" }] });
    let meanwhile = async {
        let a_moment = || tokio::time::sleep(std::time::Duration::from_secs(1));
        let name = cluster.watched().await;
        cluster.set("workloads", workload(&name, "insufficient unused quota for cpu in flavor default, 1 more needed"));
        cluster.write(&name, true, suspended.clone());
        // It is looked at several times.
        tokio::time::sleep(std::time::Duration::from_secs(90)).await;
        cluster.write(&name, false, json!({ "active": 1, "ready": 1 }));
        a_moment().await;
        cluster.set(
            "workloads",
            workload(&name, "Preempted to accommodate a workload due to prioritization in the ClusterQueue"),
        );
        cluster.write(&name, true, suspended);
        a_moment().await;
        cluster.write(&name, false, json!({ "active": 1, "ready": 1 }));
        a_moment().await;
        cluster.write(&name, false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    let name = &cluster.names()[0];
    assert_eq!((end, cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1));
    let told: Vec<_> = told.iter().map(|text| text.replace(name, "NAME")).collect();
    assert_eq!(
        told,
        [
            "creating the Job `NAME`",
            "the Job `NAME`: it has no pod yet",
            "the Job `NAME`: it waits in Kueue's queue `agents`: insufficient unused quota for cpu in flavor default, 1 more needed",
            "the Job `NAME`: it is running",
            "the Job `NAME`: it waits in Kueue's queue `agents`: Preempted to accommodate a workload due to prioritization in the ClusterQueue",
            "the Job `NAME`: it is running",
        ]
    );
}

/// A Job that waits for Kueue, then has no pod, and ends: what all rights of the role are for.
#[tokio::test(start_paused = true)]
async fn the_role_of_the_manifests_has_what_is_needed_and_nothing_more() {
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.write(&name, true, json!({}));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        cluster.write(&name, false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.unused_rights()), (RemoteEnd::Succeeded, vec![]), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_is_at_work_until_it_ends_or_is_gone() {
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        let asks = executor(&cluster);
        let is_at_work = async |issue, name: &str| asks.is_at_work(&task().repo, IssueNumber(issue), name).await;
        assert_eq!((is_at_work(7, &name).await, is_at_work(7, "another").await), (Some(true), Some(false)));
        assert_eq!(is_at_work(8, &name).await, Some(false));
        cluster.write(&name, true, json!({}));
        assert_eq!(is_at_work(7, &name).await, Some(true), "it waits in a queue");
        cluster.write(&name, false, complete());
        assert_eq!(is_at_work(7, &name).await, Some(false));
    };
    assert_eq!(followed(&cluster, meanwhile).await.0, RemoteEnd::Succeeded);
    let away = FakeCluster::default();
    away.plan("GET", Fault::Refused(403, "jobs.batch is forbidden"), 1);
    assert_eq!(executor(&away).is_at_work(&task().repo, IssueNumber(7), "a").await, None);
}
