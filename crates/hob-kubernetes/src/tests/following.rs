//! The way from an issue to the end of its Job, also for two dispatchers.

use hob_worker::{RemoteEnd, RemoteExecutor};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tests::{
    TEMPLATE, executor, failed,
    fake_cluster::{FakeCluster, Fault},
    followed, task,
};

fn running() -> serde_json::Value {
    json!({ "active": 1, "ready": 1 })
}

fn complete() -> serde_json::Value {
    json!({ "succeeded": 1, "conditions": [{ "type": "Complete", "status": "True" }] })
}

#[tokio::test(start_paused = true)]
async fn a_job_is_created_and_followed_to_its_end() {
    let cluster = FakeCluster::default();
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.write(&name, false, running());
        cluster.write(&name, false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    let name = &cluster.names()[0];
    assert_eq!((end, cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1));
    assert_eq!(told[0], format!("creating the Job `{name}`"));
    let job = cluster.job(name);
    let labels = json!({ "app.kubernetes.io/managed-by": "hob", "hob/repository": "acme.site", "hob/issue": "7" });
    assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(job["metadata"]["labels"]["hob/issue"], "7");
    assert!(
        TEMPLATE.contains("queue-name: agents") && job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "agents"
    );
    let pod = &job["spec"]["template"]["spec"];
    let arguments = json!(["--config", "/etc/hob/hob.toml", "run", "7", "--repo", "acme/site"]);
    assert_eq!(pod["containers"][0]["args"], arguments);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_makes_no_second_job() {
    let cluster = FakeCluster::default();
    cluster.plan("POST", Fault::Lost, 1);
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.write(&name, false, complete());
    };
    let (end, _) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.names().len(), cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ended_before_its_lost_answer_was_missed_is_the_one() {
    let cluster = FakeCluster::default();
    cluster.plan("POST", Fault::Lost, 1);
    let meanwhile = async {
        while cluster.names().is_empty() {
            tokio::task::yield_now().await;
        }
        cluster.write(&cluster.names()[0], false, complete());
    };
    let (end, _) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.names().len()), (RemoteEnd::Succeeded, 1));
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_that_dies_leaves_its_job_to_the_next_one() {
    let cluster = FakeCluster::default();
    for lost in [true, false] {
        // Once between the request and its answer, once while it watches.
        if lost {
            cluster.plan("POST", Fault::Lost, 1);
        }
        let (dying, cancel) = (executor(&cluster), CancellationToken::new());
        let dies = async {
            while cluster.names().is_empty() || (!lost && cluster.requests("watch jobs") == 0) {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            cancel.cancel();
        };
        let (task, tell) = (task(), |_: &str| {});
        let (end, ()) = tokio::join!(dying.work_on(&task, &tell, &cancel), dies);
        assert_eq!(end.unwrap(), RemoteEnd::Cancelled);
    }
    assert_eq!(cluster.names().len(), 1);
    cluster.write(&cluster.names()[0], false, running());
    let before = cluster.requests("watch jobs");
    let meanwhile = async {
        cluster.watched_times(before + 1).await;
        cluster.write(&cluster.names()[0], false, complete());
    };
    let (end, told) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn of_two_dispatchers_one_makes_the_job_and_both_follow_it() {
    let cluster = FakeCluster::default();
    cluster.plan("POST", Fault::Faster, 1);
    let meanwhile = async {
        let name = cluster.watched().await;
        cluster.write(&name, false, complete());
    };
    let (end, _) = followed(&cluster, meanwhile).await;
    assert_eq!((end, cluster.names().len(), cluster.requests("POST jobs")), (RemoteEnd::Succeeded, 1, 2));

    let cluster = FakeCluster::default();
    let meanwhile = async {
        cluster.watched_times(2).await;
        cluster.write(&cluster.names()[0], false, complete());
    };
    let other = followed(&cluster, async {});
    let (one, two) = tokio::join!(followed(&cluster, meanwhile), other);
    assert_eq!((one.0, two.0, cluster.names().len()), (RemoteEnd::Succeeded, RemoteEnd::Succeeded, 1));
}

#[tokio::test(start_paused = true)]
async fn after_a_job_that_changed_nothing_the_next_has_another_name() {
    let cluster = FakeCluster::default();
    let failing = json!({ "failed": 1, "conditions": [
        { "type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline" }
    ] });
    for round in 1..=3 {
        let meanwhile = async {
            cluster.watched_times(round).await;
            for name in cluster.names() {
                cluster.write(&name, false, failing.clone());
            }
        };
        let (end, told) = followed(&cluster, meanwhile).await;
        assert_eq!(cluster.names().len(), round, "{told:?}");
        let what = told[0].replace("creating the Job", "the Job") + " failed";
        assert_eq!(end, failed(&what, "DeadlineExceeded: Job was active longer than specified deadline"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_somebody_deletes_has_ended() {
    for seen in [true, false] {
        let cluster = FakeCluster::default();
        let meanwhile = async {
            let name = cluster.watched().await;
            cluster.write(&name, false, running());
            if !seen {
                // The watch that would have told of it is over.
                cluster.forget_history();
            }
            cluster.delete(&name);
        };
        let began = tokio::time::Instant::now();
        let (end, told) = followed(&cluster, meanwhile).await;
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
        let what = told[0].replace("creating the Job", "the Job") + " was deleted";
        assert_eq!((end, cluster.requests("POST jobs")), (failed(&what, "it had not ended"), 1));
    }
}
