//! Work that is done elsewhere: by `executor.command`, or by what else the worker is given.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use hob_config::Settings;
use hob_domain::{IssueNumber, RepoName, State};
use hob_forge::Access;
use hob_worker::{
    RemoteEnd, RemoteExecutor, RemoteTask, RunLimits, Tell, WorkError, WorkEvent, Worker, explain, preflight::Health,
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::harness::{Gate, World, run};

/// A worker in this process that runs a shell script for each issue, whose number is `$1`.
async fn dispatcher(world: &World, script: &str, cancel: &CancellationToken) -> Arc<Worker> {
    let script = script.replace("{DIR}", &world.dir().display().to_string());
    let mut settings: Settings = world.settings.clone();
    settings.executor.command = ["sh", "-c", &script, "job", "{issue}"].map(str::to_owned).to_vec();
    world.worker_until("dispatcher", settings, Access::ReadWrite, cancel.clone()).await
}

/// How often the script ran.
fn runs(world: &World) -> usize {
    std::fs::read_to_string(world.dir().join("ran")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn jobs_elsewhere_claim_the_issues_and_two_dispatchers_do_no_harm() {
    let asks = "case $HOB_ISSUE in 2) echo '{\"outcome\":\"question\",\"question\":\"Which colour?\"}' ;; *) echo done > done.txt ;; esac";
    let world = World::fixing().script("fixer", asks).start().await;
    for n in 1..=3 {
        assert_eq!(world.asks(&format!("Chore {n}"), "").await, n);
    }
    let command = world.job_of_another_machine();
    let arguments = ["run", "--once", "--jobs", "3", "--set", &command];
    let second = [&arguments[..], &["--state-dir", "two"]].concat();
    let (one, two) = tokio::join!(world.hob(&arguments), world.hob(&second));
    assert!(one.stderr.contains("running the executor's command `sh`"), "{one:?}\n{two:?}");
    let states = [world.labels(1).await, world.labels(2).await, world.labels(3).await];
    assert_eq!(states, [["code", "in-review"], ["blocked", "code"], ["code", "in-review"]], "{one:?}\n{two:?}");
    assert_eq!(world.pulls().await.len(), 2);
    for issue in 1..=3 {
        assert_eq!((world.briefs(issue).len(), world.record(issue).await.unwrap().generation.0), (1, 1));
    }
    // The dispatcher's machine has nothing of the work.
    let has_work = |machine: &str| world.state_dir(machine).join("acme/site/issues").exists();
    assert!(has_work("another-machine") && !has_work("program"));

    // An answer is found here, and followed there.
    world.comments("ann", 2, "Green.").await;
    world.forge.advance(std::time::Duration::from_secs(120));
    let again = world.hob(&arguments).await;
    assert_eq!((again.code, world.briefs(2).len()), (0, 2), "{again:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_command_that_fails_says_why_and_does_not_run_at_each_poll() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let failing = "echo $1 >> {DIR}/ran; echo 'sbatch: error: no partition' >&2; exit 3";
    let worker = dispatcher(&world, failing, &CancellationToken::new()).await;
    for _ in 0..3 {
        run(&worker).await;
    }
    let why = "`executor.command` ended with exit code 3 and the issue was not taken up; it runs again in 1 min: sbatch: error: no partition";
    assert_eq!((runs(&world), world.failures()), (1, vec![why.to_owned()]));
    assert_eq!(world.record(issue).await, None);

    // A job that was only submitted may wait for its turn.
    let submits = dispatcher(&world, "echo $1 >> {DIR}/ran", &CancellationToken::new()).await;
    for _ in 0..3 {
        run(&submits).await;
    }
    assert_eq!((runs(&world), world.failures().len()), (2, 1));
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn a_dispatcher_that_stops_ends_its_commands() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let (mut gate, cancel) = (Gate::of(&world), CancellationToken::new());
    let worker = dispatcher(&world, &Gate::before("echo $1 >> {DIR}/ran"), &cancel).await;
    let stop = async {
        gate.reached().await;
        cancel.cancel();
    };
    let (summary, ()) = tokio::join!(hob_worker::run_once(&worker, RunLimits::default()), stop);
    assert_eq!((summary.unwrap().failed, runs(&world)), (0, 0), "{:?}", world.failures());
    // Nobody is at the gate any more: the next one comes by itself.
    gate.open().await;
    let worker = dispatcher(&world, "echo $1 >> {DIR}/ran", &CancellationToken::new()).await;
    run(&worker).await;
    assert_eq!(runs(&world), 1);
    world.finish().await;
}

#[tokio::test]
async fn what_the_work_needs_is_not_looked_for_where_the_command_runs() {
    let world = World::fixing().set("agent", "nobody").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let missing = world.hob(&["run", "--once", "--set", "executor.command=no-such-queue,{issue}"]).await;
    assert_eq!(missing.code, 6, "{missing:?}");
    assert!(missing.stderr.contains("`no-such-queue` of `executor.command` is not installed"), "{missing:?}");
    assert_eq!((world.record(issue).await, world.labels(issue).await), (None, vec!["code".to_owned()]));

    let doctor = world.hob(&["doctor", "--set", "executor.command=sh,-c,:,{issue}"]).await;
    assert!(doctor.stdout.contains("`sh` runs for each issue"), "{doctor:?}");
    assert!(!doctor.stdout.contains("nobody"), "{doctor:?}");
    // The job itself works, with the same settings.
    let command = world.job_of_another_machine();
    let chosen = world.hob(&["run", &issue.to_string(), "--set", "agent=fixer", "--set", &command]).await;
    assert_eq!(chosen.code, 0, "{chosen:?}");
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}

/// A queue of jobs, each of which fails.
#[derive(Default)]
struct FailingQueue(Mutex<Vec<RemoteTask>>);

#[async_trait]
impl RemoteExecutor for FailingQueue {
    async fn work_on(&self, task: &RemoteTask, tell: Tell<'_>, _: &CancellationToken) -> Result<RemoteEnd, WorkError> {
        self.0.lock().await.push(task.clone());
        tell("the job waits for a node with a-key-of-the-cluster");
        Ok(RemoteEnd::Failed {
            what: "the job failed".to_owned(),
            said: "exit code 5: a-key-of-the-cluster".to_owned(),
        })
    }

    async fn health(&self) -> (Health, String) {
        (Health::Ok, "jobs are taken".to_owned())
    }

    async fn waits_for(&self, repo: &RepoName, issue: IssueNumber) -> Option<String> {
        Some(format!("its job {repo}#{issue} waits for a node with a-key-of-the-cluster"))
    }
}

#[tokio::test]
async fn what_a_job_elsewhere_waits_for_and_why_it_failed_is_told_without_secrets() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let queue = Arc::new(FailingQueue::default());
    let worker = world.dispatcher(Arc::clone(&queue) as Arc<dyn RemoteExecutor>).await;
    worker.forge().connection().secrets().add(["a-key-of-the-cluster".into()]);
    let explained = explain::one(&worker, IssueNumber(issue)).await.unwrap().unwrap();
    assert!(
        explained
            .why
            .ends_with(&format!("; its job acme/site#{issue} waits for a node with (redacted: a secret of Hob)")),
        "{}",
        explained.why
    );
    for _ in 0..3 {
        run(&worker).await;
    }
    let why = "the job failed and the issue was not taken up; it runs again in 1 min: exit code 5: (redacted: a secret of Hob)";
    assert_eq!(world.failures(), [why]);
    let notices = world.notices.lock().unwrap().clone();
    let told = notices.into_iter().filter_map(|notice| match notice {
        WorkEvent::Progress { text, .. } => Some(text),
        _other => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), ["the job waits for a node with (redacted: a secret of Hob)"]);
    let tasks = queue.0.lock().await;
    let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
    assert_eq!((task.repo.to_string().as_str(), task.issue, &task.ledger), ("acme/site", IssueNumber(issue), &None));
    assert!(task.longest > Duration::from_secs(60), "{task:?}");
    // Nothing is said of an issue that nobody would work on.
    let other = world.opens("ann", "Another", "", &[]).await;
    let explained = explain::one(&worker, IssueNumber(other)).await.unwrap().unwrap();
    assert!(!explained.why.contains("its job"), "{}", explained.why);
    world.finish().await;
}

#[cfg(not(feature = "kubernetes"))]
#[tokio::test]
async fn a_hob_without_kubernetes_refuses_to_dispatch_jobs_and_works_as_one() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    for command in [&["run", "--once"][..], &["explain", "1"]] {
        let refused = world.hob(&[command, &["--set", "executor.job=job.yaml"]].concat()).await;
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains("this Hob was built without Kubernetes"), "{refused:?}");
        assert!(refused.stderr.contains("build it with `--features kubernetes`"), "{refused:?}");
    }
    let job = world.hob(&["run", &issue.to_string(), "--set", "executor.job=job.yaml"]).await;
    assert_eq!(job.code, 0, "{job:?}");
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}
