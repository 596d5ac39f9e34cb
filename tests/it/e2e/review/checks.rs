//! Checks of the forge that fail on a pull request: the agent's view of them.

use github_emulator::{Annotation, Job, JobChange, JobConclusion, JobStep};
use http::Method;
use serde_json::json;

use crate::harness::{World, repo_on_forge};

const MENDS: &str = r#"echo "$n" > done.txt; echo '{"outcome":"done","summary":"Mended it."}'"#;

pub(super) fn failed_job(head: &str) -> Job {
    let log = format!(
        "{}\n\u{1b}[31mtest parses ... FAILED\u{1b}[0m\n--- end\n<!-- obey -->left: 1, right: 2\n\
         ##[error]Process completed with exit code 101.\nPost job cleanup.\n",
        "   Compiling site v0.1.0\n".repeat(40_000)
    );
    Job {
        head_sha: head.to_owned(),
        name: "test".to_owned(),
        conclusion: Some(JobConclusion::Failure),
        steps: vec![
            JobStep::ended("Set up job", JobConclusion::Success),
            JobStep::ended("Run cargo test", JobConclusion::Failure),
        ],
        log: Some(log),
        ..Job::default()
    }
}

#[tokio::test]
async fn of_a_failed_job_the_agent_gets_the_step_and_the_end_of_its_log() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    let before = world.forge.requests().len();
    world.forge.create_job(&repo_on_forge(), &failed_job(&head)).unwrap();
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    // The page of a log is plain text: it shows what Markdown would hide.
    let shown = "<!-- obey -->left: 1, right: 2";
    for part in ["failed check `test`, step `Run cargo test`", "test parses ... FAILED\n", shown] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    for part in ["Post job cleanup", "\u{1b}"] {
        assert!(!brief.contains(part), "{part}\n{brief}");
    }
    assert!(brief.len() < 24 * 1024, "{}", brief.len());
    let log = world.forge.requests().split_off(before).into_iter().find(|request| request.path.starts_with("/_logs/"));
    let log = log.unwrap();
    assert_eq!((log.status, log.login), (200, None), "the token does not go to another address");
    assert_eq!(world.record(issue).await.unwrap().review.ci_rounds, 1);
    world.finish().await;
}

#[tokio::test]
async fn of_another_check_the_agent_gets_its_annotations() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let note = |level: &str, message: &str| json!({"path": "src/a.rs", "start_line": 3, "end_line": 3, "annotation_level": level, "message": message});
    let output = json!({"title": "2 problems", "summary": "See the lines.",
        "annotations": [note("failure", "unused import"), note("notice", "a hint")]});
    let ended = json!({"head_sha": world.head(pull).await, "name": "lint", "status": "completed",
        "conclusion": "failure", "output": output});
    world.call("robo[bot]", Method::POST, "/check-runs", ended).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    assert!(brief.contains("See the lines.") && brief.contains("src/a.rs:3: unused import"), "{brief}");
    assert!(!brief.contains("a hint"), "{brief}");
    world.finish().await;
}

/// The forge lists a hundred checks at a time.
#[tokio::test]
async fn a_failed_check_among_two_hundred_is_seen() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    for number in 0..205 {
        let conclusion = if number == 102 { "failure" } else { "success" };
        let ended =
            json!({"head_sha": head, "name": format!("job {number}"), "status": "completed", "conclusion": conclusion});
        world.call("robo[bot]", Method::POST, "/check-runs", ended).await;
    }
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("failed check `job 102`"));
    world.finish().await;
}

#[tokio::test]
async fn without_the_log_a_failed_job_still_begins_a_round() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let job = Job { log: None, ..failed_job(&world.head(pull).await) };
    let annotations = vec![Annotation {
        path: ".github".to_owned(),
        start_line: 1,
        end_line: 1,
        message: "Process completed with exit code 101.".to_owned(),
        ..Annotation::default()
    }];
    world.forge.create_job(&repo_on_forge(), &Job { annotations, ..job }).unwrap();
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    assert!(brief.contains("failed check `test`") && brief.contains("exit code 101"), "{brief}");
    world.finish().await;
}

#[tokio::test]
async fn where_it_may_a_failed_job_runs_once_more_before_an_agent_does() {
    let world = World::with_agent(MENDS).check("test -f done.txt").set("review.rerun", "true").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    world.forge.create_job(&repo_on_forge(), &failed_job(&head)).unwrap();
    let newest = async || {
        let runs = world.look(&format!("/commits/{head}/check-runs")).await["check_runs"].clone();
        (runs[0]["id"].as_u64().unwrap(), runs[0]["status"].clone())
    };
    let first = newest().await.0;
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    let (again, status) = newest().await;
    assert!(again != first && status == "queued", "{status}");
    assert_eq!(world.run().await.worked, 0, "it has not ended");
    let failed = JobChange { conclusion: Some(JobConclusion::Failure), ..JobChange::default() };
    world.forge.change_job(&repo_on_forge(), again, &failed).unwrap();
    assert_eq!(world.run().await.worked, 1, "not a third time: {:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.review.ci_rounds, record.review.reran.len()), (1, 0), "the head is another one");
    world.finish().await;
}

/// A job of a run that this event started, as it ended.
fn job(head: &str, name: &str, event: &str, conclusion: JobConclusion) -> Job {
    Job {
        head_sha: head.to_owned(),
        name: name.to_owned(),
        event: event.to_owned(),
        conclusion: Some(conclusion),
        ..Job::default()
    }
}

/// Case c13: zephyrproject-rtos/zephyr#105175, apache/texera#8523.
#[tokio::test]
async fn of_runs_of_one_name_the_newest_that_says_something_counts() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    let runs = async |event: &str, conclusion: JobConclusion| {
        world.forge.advance(std::time::Duration::from_secs(60));
        world.forge.create_job(&repo_on_forge(), &job(&head, "test", event, conclusion)).unwrap();
        world.run().await.worked
    };
    world.forge.create_job(&repo_on_forge(), &job(&head, "test", "push", JobConclusion::Failure)).unwrap();
    for (event, conclusion) in [
        ("pull_request", JobConclusion::Success),
        ("merge_group", JobConclusion::Cancelled),
        ("schedule", JobConclusion::Skipped),
    ] {
        assert_eq!(runs(event, conclusion).await, 0, "{event}: {:?}", world.failures());
    }
    assert_eq!(world.briefs(issue).len(), 1);
    assert_eq!(runs("workflow_dispatch", JobConclusion::Failure).await, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("failed check `test`"));
    world.finish().await;
}

/// Case c13: btclib-org/btclib#1025. The job `all` needs the others, and runs with `if: always()`.
#[tokio::test]
async fn a_job_that_fails_because_those_it_needs_were_cancelled_begins_no_round() {
    let world = World::with_agent(MENDS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    let ends = |name: &str, event: &str, conclusion: JobConclusion| {
        world.forge.create_job(&repo_on_forge(), &job(&head, name, event, conclusion)).unwrap();
        world.forge.advance(std::time::Duration::from_secs(5));
    };
    ends("build", "push", JobConclusion::Success);
    ends("test", "push", JobConclusion::Cancelled);
    ends("all", "push", JobConclusion::Failure);
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    // A failure of which the others were cancelled.
    ends("lint", "pull_request", JobConclusion::Failure);
    ends("docs", "pull_request", JobConclusion::Cancelled);
    ends("whole", "pull_request", JobConclusion::Failure);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    assert!(brief.contains("failed check `lint`") && !brief.contains("failed check `all`"), "{brief}");
    world.finish().await;
}
