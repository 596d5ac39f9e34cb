//! Work that `executor.command` has done elsewhere.

use std::sync::Arc;

use hob_config::Settings;
use hob_domain::State;
use hob_forge::Access;
use hob_worker::{RunLimits, Worker};
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
