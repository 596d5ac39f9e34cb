//! Outages of models and of the git server: no person is asked while patience lasts, nothing is done twice, and all
//! issues end.

use std::time::Duration;

use github_emulator::{Fault, What, When};
use hob_domain::{BlockCode, State};

use crate::harness::{Builder, Model, World};

const HOUR: Duration = Duration::from_secs(3_600);
/// The time between two polls if each minute counts, and if hours go by.
const STEP: Duration = Duration::from_secs(300);
const STRIDE: Duration = Duration::from_secs(1_200);

/// A world whose native agent asks `model`.
pub(super) fn asking(model: &Model) -> Builder {
    World::fixing()
        .agent("native-fixer", Model::agent())
        .set("agent", "native-fixer")
        .set("model.default", "openai/scripted")
        .set("testing.model.openai_base_url", &model.base)
        .set("testing.model.retries", "0")
}

/// It, with `jobs` issues at once.
pub(super) async fn world(model: &Model, jobs: usize) -> World {
    asking(model).set("jobs", &jobs.to_string()).set("limits.issues_per_hour", "100").start().await
}

async fn ask_for(world: &World, issues: usize) -> Vec<u64> {
    let mut asked = Vec::new();
    for n in 0..issues {
        asked.push(world.asks(&format!("Make done.txt {n}"), "").await);
    }
    asked
}

async fn states(world: &World, issues: &[u64]) -> Vec<State> {
    let mut states = Vec::new();
    for issue in issues {
        states.push(world.record(*issue).await.unwrap().state);
    }
    states
}

/// Polls each `step` for a time.
async fn live(world: &World, time: Duration, step: Duration) {
    for _ in 0..time.as_secs() / step.as_secs() {
        world.run().await;
        world.forge.advance(step);
    }
}

/// Requirements A6 and G3: an outage of hours blocks no issue, costs no attempt, and is probed by one issue at a time.
#[tokio::test]
async fn a_models_outage_of_hours_blocks_nobody_and_costs_no_attempt() {
    let model = Model::start().await;
    let world = world(&model, 4).await;
    let issues = ask_for(&world, 8).await;
    model.is_down(true);
    live(&world, HOUR, STEP).await;
    let in_the_first_hour = model.refused();
    live(&world, 20 * HOUR, STRIDE).await;
    assert_eq!(states(&world, &issues).await, [State::Ready; 8]);
    for issue in &issues {
        let record = world.record(*issue).await.unwrap();
        assert_eq!((record.attempts.now, record.attempts.ever), (0, 0), "{record:?}");
    }
    // Each of the first four asks once before they know, and then one issue asks each hour.
    assert!(in_the_first_hour <= 4 + 8 + 4, "{in_the_first_hour}");
    assert!(model.refused() - in_the_first_hour <= 24, "{} in 20 hours", model.refused() - in_the_first_hour);
    let status = world.hob(&["status"]).await.stdout;
    assert!(status.contains("the model `openai/scripted` is down: it has failed"), "{status}");
    model.is_down(false);
    live(&world, 2 * HOUR, STEP).await;
    assert_eq!(states(&world, &issues).await, [State::InReview; 8], "{:?}", world.failures());
    assert_eq!(model.answered(), 2 * 8, "nothing is paid twice");
    world.finish().await;
}

/// Requirement A6: the end of patience is one question, which names the service; its answer has it asked at once.
#[tokio::test]
async fn an_outage_that_outlasts_patience_ends_in_one_question_that_names_the_service() {
    let model = Model::start().await;
    let world = world(&model, 4).await;
    let issues = ask_for(&world, 3).await;
    model.is_down(true);
    live(&world, 30 * HOUR, STRIDE).await;
    let states_then = states(&world, &issues).await;
    let blocked: Vec<_> = issues.iter().zip(&states_then).filter(|(_, state)| **state == State::Blocked).collect();
    let [(asks, _)] = blocked.as_slice() else { panic!("{states_then:?}") };
    let record = world.record(**asks).await.unwrap();
    assert_eq!(record.blocked.unwrap().reason, BlockCode::ServiceDown);
    let status = world.status(**asks).await;
    assert!(status.contains("The model `openai/scripted` has failed"), "{status}");
    assert!(status.contains("Should Hob try again now"), "{status}");
    model.is_down(false);
    world.comments("ann", **asks, "/hob retry").await;
    world.run().await;
    world.run().await;
    assert_eq!(states(&world, &issues).await, [State::InReview; 3], "{:?}", world.failures());
    world.finish().await;
}

/// A service that works for ten minutes of each hour: answered requests are not repeated, and all issues end.
#[tokio::test]
async fn a_flapping_service_asks_nobody_and_all_issues_end() {
    let model = Model::start().await;
    let world = world(&model, 2).await;
    let issues = ask_for(&world, 4).await;
    for n in 0..(10 * HOUR.as_secs() / STEP.as_secs()) {
        model.is_down(n % 12 >= 2 || n < 12);
        world.run().await;
        world.forge.advance(STEP);
    }
    assert_eq!(states(&world, &issues).await, [State::InReview; 4], "{:?}", world.failures());
    assert_eq!(model.answered(), 2 * 4);
    world.finish().await;
}

/// Requirement A7: committed and checked work is pushed when the git server is back, without an agent, with its own
/// agent's text.
#[tokio::test]
async fn work_that_only_could_not_be_pushed_is_published_and_not_done_again() {
    let world = World::with_agent(
        "echo done > done.txt; echo '{\"outcome\":\"done\",\"summary\":\"Made it once.\",\"usd\":1.0}'",
    )
    .check("test -f done.txt")
    .start()
    .await;
    let issue = world.asks("Make done.txt", "").await;
    world.forge.inject(down("/acme/site.git/git-receive-pack"));
    live(&world, HOUR, STEP).await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.ever), (State::Ready, 0), "{record:?}");
    assert!(record.failure.text.unwrap().contains("503"));
    world.forge.heal();
    live(&world, HOUR, STEP).await;
    assert_eq!(states(&world, &[issue]).await, [State::InReview], "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 1, "the agent worked once");
    assert!(world.pulls().await[0]["body"].as_str().unwrap().contains("Made it once."));
    world.finish_after_faults().await;
}

/// Finished work needs no model: it is published while the model is down.
#[tokio::test]
async fn proven_work_is_published_while_the_model_is_down() {
    let model = Model::start().await;
    let world = world(&model, 4).await;
    let first = ask_for(&world, 1).await;
    world.forge.inject(down("/acme/site.git/git-receive-pack"));
    world.run().await;
    assert_eq!((model.answered(), states(&world, &first).await), (2, vec![State::Ready]));
    // The others fail right before its pause is over, so that the model is not asked for as long again.
    world.forge.advance(STEP - Duration::from_secs(9));
    model.is_down(true);
    let others = ask_for(&world, 2).await;
    world.run().await;
    let outages = world.repository_record().await.unwrap().outages;
    assert_eq!(outages.open().count(), 1, "{outages:?}");
    world.forge.heal();
    world.forge.advance(Duration::from_secs(30));
    world.run().await;
    assert_eq!(states(&world, &first).await, [State::InReview], "{:?}", world.failures());
    assert_eq!((model.answered(), states(&world, &others).await), (2, vec![State::Ready; 2]));
    model.is_down(false);
    live(&world, HOUR, STEP).await;
    live(&world, HOUR, STEP).await;
    assert_eq!(states(&world, &others).await, [State::InReview; 2], "{:?}", world.failures());
    world.finish_after_faults().await;
}

/// A git server that is down for an hour, with issues in all stages: fresh, at their push, blocked and answered.
#[tokio::test]
async fn an_hour_without_git_costs_no_agents_run_and_asks_nobody() {
    let script = "case $HOB_ISSUE in 1) if [ $n = 0 ]; then echo '{\"outcome\":\"question\",\"question\":\"Which?\"}'; exit; fi;; esac
        echo done > done.txt";
    let world = World::with_agent(script).check("test -f done.txt").set("limits.issues_per_hour", "100").start().await;
    let asks = world.asks("Ask first", "").await;
    world.run().await;
    assert_eq!(states(&world, &[asks]).await, [State::Blocked]);
    let mut issues = ask_for(&world, 3).await;
    world.forge.inject(down("/acme/site.git/git-receive-pack"));
    world.run().await;
    world.forge.advance(STEP);
    world.forge.inject(down("/acme/site.git/**"));
    world.comments("ann", asks, "This one.").await;
    issues.extend(ask_for(&world, 4).await);
    live(&world, HOUR, STEP).await;
    issues.push(asks);
    assert_eq!(states(&world, &issues).await, [State::Ready; 8], "{:?}", world.failures());
    world.forge.heal();
    live(&world, 2 * HOUR, STEP).await;
    assert_eq!(states(&world, &issues).await, [State::InReview; 8], "{:?}", world.failures());
    for issue in &issues {
        let runs = world.briefs(*issue).len();
        assert_eq!(runs, if *issue == asks { 2 } else { 1 }, "issue {issue}");
    }
    world.finish_after_faults().await;
}

fn down(path: &str) -> Fault {
    Fault {
        method: None,
        path: path.to_owned(),
        login: None,
        when: When::Always,
        what: What::Answer { status: 503, headers: [].into(), message: "down for maintenance".to_owned() },
    }
}
