//! An API that is away, refuses, or forgot where a watch was; and Jobs that fail.

use hob_worker::{RemoteEnd, RemoteExecutor, preflight::Health};
use serde_json::{Value, json};

use tokio_util::sync::CancellationToken;

use crate::{
    JobExecutor, Template,
    tests::{
        TEMPLATE, executor, failed,
        fake_cluster::{FakeCluster, Fault},
        followed, task,
    },
};

fn complete() -> Value {
    json!({ "succeeded": 1, "conditions": [{ "type": "Complete", "status": "True" }] })
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_too_long_ago_begins_anew_with_a_list() {
    for expires in [FakeCluster::forget_history, FakeCluster::expire_watches] {
        let cluster = FakeCluster::default();
        let meanwhile = async {
            let name = cluster.watched().await;
            expires(&cluster);
            // Nobody is told of it.
            cluster.write(&name, false, json!({ "active": 1, "ready": 1 }));
            cluster.watched_times(2).await;
            cluster.write(&name, false, complete());
        };
        let (end, told) = followed(&cluster, meanwhile).await;
        assert_eq!((end, cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1));
        assert!(!told.iter().any(|text| text.contains("cannot be used")), "{told:?}");
    }
    // The API may refuse the watch itself.
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.plan("GET", Fault::Refused(410, "too old resource version"), 2);
        cluster.expire_watches();
        cluster.watched_times(2).await;
        cluster.write(&name, false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1));
    assert!(!told.iter().any(|text| text.contains("cannot be used")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_away_is_waited_for_and_no_second_job_is_made() {
    let cluster = FakeCluster::default();
    cluster.plan("GET", Fault::Away, 3);
    cluster.plan("POST", Fault::Refused(503, "apiserver is shutting down"), 2);
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.plan("GET", Fault::Away, 5);
        cluster.plan("GET", Fault::Refused(429, "too many requests"), 5);
        cluster.forget_history();
        cluster.watched_times(2).await;
        cluster.write(&name, false, complete());
    };
    let began = tokio::time::Instant::now();
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.names().len(), cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1, 1));
    let away = |text: &&String| text.starts_with("the Kubernetes API cannot be used, trying again: ");
    let away: Vec<_> = told.iter().filter(away).collect();
    assert!(away[0].ends_with("connection reset"), "{told:?}");
    assert!(away.iter().any(|text| text.ends_with("apiserver is shutting down")), "{told:?}");
    // Ten failures in a row, with pauses up to a minute.
    assert!(began.elapsed().as_secs() > 4 * 60, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_and_not_repeated_here() {
    let cluster = FakeCluster::default();
    let says = "jobs.batch is forbidden: User \"system:serviceaccount:hob:hob\" cannot create resource \"jobs\"";
    cluster.plan("POST", Fault::Refused(403, says), 1);
    let (end, told) = followed(&cluster, async {}).await;
    let what = told[0].replace("creating the Job", "the Job") + " could not be created";
    assert_eq!((end, cluster.names().len()), (failed(&what, says), 0));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_something_else_has_is_not_asked_for_without_end() {
    let cluster = FakeCluster::default();
    cluster.plan("POST", Fault::Refused(409, "jobs.batch already exists"), usize::MAX);
    let (end, told) = followed(&cluster, async {}).await;
    let what = told[0].replace("creating the Job", "the Job") + " could not be created";
    assert_eq!(end, failed(&what, "jobs.batch already exists"));
}

#[tokio::test(start_paused = true)]
async fn what_can_be_used_is_seen_before_anything_is_done() {
    let cluster = FakeCluster::default();
    let (health, says) = executor(&cluster).health().await;
    assert!(health == Health::Ok && says.starts_with("a Job in the namespace `hob` works on each issue"), "{says}");
    for (fault, health, says) in [
        (Fault::Away, Health::Note, "the Kubernetes API cannot be used now: "),
        (
            Fault::Refused(403, "jobs.batch is forbidden"),
            Health::Bad,
            "the Kubernetes API cannot be used: jobs.batch is forbidden",
        ),
    ] {
        cluster.plan("GET", fault, 1);
        let found = executor(&cluster).health().await;
        assert!(found.0 == health && found.1.starts_with(says), "{found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_silent_for_long_is_left() {
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.silence_watches();
        cluster.write(&name, false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.requests("GET jobs")), (RemoteEnd::Succeeded, 3), "{told:?}");
}

/// What is said of a Job that failed for this reason while its pod had this status.
async fn said_of(reason: &str, pod: Value) -> String {
    let cluster = FakeCluster::default();
    let condition =
        json!({ "type": "Failed", "status": "True", "reason": reason, "message": "Job has reached its limit" });
    let meanwhile = async {
        let name = cluster.watched().await;
        let labels = json!({ "batch.kubernetes.io/job-name": name });
        let others = json!({ "batch.kubernetes.io/job-name": "another" });
        let other = json!({ "metadata": { "name": "b", "labels": others }, "status": { "reason": "Evicted" } });
        let pods = match pod {
            Value::Null => json!([other]),
            pod => json!([other, { "metadata": { "name": "a", "labels": labels }, "status": pod }]),
        };
        cluster.set("pods", pods);
        cluster.write(&name, false, json!({ "failed": 1, "conditions": [condition] }));
    };
    match followed(&cluster, meanwhile).await.0 {
        RemoteEnd::Failed { what, said } if what.ends_with(" failed") => said,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_failed_says_what_its_pod_says() {
    let ended = |exit: u8, reason: &str, message: &str| {
        let state = json!({ "terminated": { "exitCode": exit, "reason": reason, "message": message } });
        json!({ "phase": "Failed", "containerStatuses": [{ "name": "hob", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": state }] })
    };
    let log = "polling\nhob: the agent could not be run\n\n";
    assert_eq!(
        said_of("BackoffLimitExceeded", ended(5, "Error", log)).await,
        "exit code 5: hob: the agent could not be run"
    );
    assert_eq!(said_of("BackoffLimitExceeded", ended(137, "OOMKilled", "")).await, "exit code 137 (OOMKilled)");
    let evicted =
        json!({ "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. " });
    assert_eq!(said_of("BackoffLimitExceeded", evicted).await, "Evicted: The node was low on resource: memory.");
    let disturbed = json!({ "phase": "Failed", "conditions": [
        { "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "preempting to accommodate a higher priority pod" }
    ] });
    assert_eq!(
        said_of("BackoffLimitExceeded", disturbed).await,
        "PreemptionByScheduler: preempting to accommodate a higher priority pod"
    );
    assert_eq!(said_of("BackoffLimitExceeded", Value::Null).await, "BackoffLimitExceeded: Job has reached its limit");
    // The deadline ended the pod, too.
    let said = said_of("DeadlineExceeded", ended(143, "Error", "stopping")).await;
    assert_eq!(said, "DeadlineExceeded: Job has reached its limit");
    let endless = said_of("BackoffLimitExceeded", ended(1, "Error", &"word ".repeat(500))).await;
    assert!(endless.len() < 400, "{}", endless.len());
}

#[tokio::test(start_paused = true)]
async fn no_job_is_made_whose_pod_would_ask_a_dispatcher_that_does_not_listen() {
    let cluster = FakeCluster::default();
    let api = "env: [{ name: GITHUB_API_URL, value: 'http://dispatcher:4620/forge' }]";
    let template = format!("{TEMPLATE}          {api}\n");
    let template = Template::parse(&template).unwrap_or_else(|why| panic!("{why}"));
    let executor = JobExecutor::with_client(template, None, cluster.client());
    let says = "`executor.job` names a dispatcher as the forge's API, which answers with `hob run --listen` alone";
    assert_eq!(executor.health().await, (Health::Bad, says.to_owned()));
    let end = executor.work_on(&task(), &|_| {}, &CancellationToken::new()).await.unwrap();
    assert_eq!((end, cluster.names().len()), (failed("no Job was created", says), 0));
}
