//! Reading: commands that only read send no write, and a long past costs few calls.

use std::{collections::BTreeMap, time::Duration};

use github_emulator::{Fault, LoggedRequest, What, When};
use hob_domain::{IssueNumber, Record, State};
use hob_forge::Access;
use hob_worker::RunLimits;
use hob_worker::preflight::Health;
use http::Method;
use serde_json::json;

use crate::harness::{World, run};

#[tokio::test]
async fn explaining_and_listing_write_nothing() {
    let world = World::fixing().start().await;
    let good = world.asks("Make done.txt", "").await;
    let evil = world.opens("out", "Evil", "", &[]).await;
    world.labels_on("tess", evil, "code").await;
    let reader = world.worker_with("reader", world.settings.clone(), Access::ReadOnly).await;
    let overview = hob_worker::explain::overview(&reader).await.unwrap();
    let said = overview.queue;
    assert_eq!((said[0].issue.0, said[0].place, said[0].why.as_str()), (good, Some(1), "it would be claimed"));
    assert_eq!((said[1].issue.0, said[1].place), (evil, None));
    assert!(said[1].why.starts_with("it would be refused: `tess`"), "{said:?}");
    assert!(overview.unfinished.is_empty());
    let findings = hob_worker::preflight::examine(&reader).await.unwrap();
    assert!(findings.iter().all(|finding| finding.health != Health::Bad), "{findings:?}");
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_client_that_may_only_read_refuses_to_write_before_it_sends() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let reader = world.worker_with("reader", world.settings.clone(), Access::ReadOnly).await;
    let summary = hob_worker::run_once(&reader, RunLimits::default()).await;
    assert!(summary.is_err() || summary.unwrap().worked == 0);
    assert_eq!(world.writes(), []);
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn the_reading_commands_of_the_program_write_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let waiting = world.asks("Next", "").await;
    let before = world.writes().len();
    let (number, next) = (issue.to_string(), waiting.to_string());
    for (args, said) in [
        (vec!["status"], "Next"),
        (vec!["run", "--once", "--dry-run"], "Next"),
        (vec!["explain", &next], "it would be claimed"),
        (vec!["explain", &number], "waits for a review"),
        (vec!["status", "--state", "in-review"], "Make done.txt"),
        (vec!["explain", &number, "--history"], "claimed by w1, generation 1"),
    ] {
        let ended = world.hob(&args).await;
        assert_eq!(ended.code, 0, "{args:?}: {ended:?}");
        assert!(ended.stdout.contains(said), "{args:?}: {ended:?}");
        let json = world.hob(&[&args[..], &["--json"]].concat()).await;
        let lines = serde_json::Deserializer::from_str(&json.stdout).into_iter::<serde_json::Value>();
        assert!(lines.map(Result::unwrap).count() > 0, "{args:?}: {json:?}");
    }
    assert_eq!(world.writes().len(), before);
    world.finish().await;
}

/// The API calls of the bot that are in `world`'s log.
fn calls(world: &World) -> Vec<LoggedRequest> {
    let own = |request: &LoggedRequest| request.login.as_ref().is_some_and(|login| login.as_str() == "hob");
    world.forge.requests().into_iter().filter(|call| own(call) && call.path.starts_with("/api/")).collect()
}

#[tokio::test]
async fn a_process_that_finds_nothing_to_do_asks_two_questions() {
    let world = World::fixing().start().await;
    for args in [&["run", "--once"][..], &["status", "--ready"], &["status"]] {
        let before = calls(&world).len();
        let ended = world.hob(args).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let made = calls(&world).split_off(before);
        assert_eq!(made.iter().filter(|call| call.counted).count(), 2, "{args:?}: {made:?}");
    }
    world.finish().await;
}

/// A world with a finished issue, the ledgers of `issues` more finished ones, and one that is not finished.
pub(super) async fn with_a_long_past(issues: u64) -> World {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].clone();
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    let record = world.record(1).await.unwrap();
    assert_eq!((record.state, record.lease.is_none()), (State::Done, true));
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    for number in 101..=101 + issues {
        let state = if number == 101 { State::InReview } else { State::Done };
        let record = Record { issue: IssueNumber(number), state, ..record.clone() };
        let commit = json!({"message": record.to_message("finished").unwrap(), "tree": tree, "parents": []});
        let commit = world.call("ann", Method::POST, "/git/commits", commit).await;
        let place = json!({"ref": format!("refs/hob/issues/{number}"), "sha": commit["sha"]});
        world.call("ann", Method::POST, "/git/refs", place).await;
    }
    world
}

#[tokio::test]
async fn a_worker_that_knows_nothing_learns_a_long_past_in_one_exchange() {
    let world = with_a_long_past(60).await;
    let before = calls(&world).len();
    let fresh = world.worker("fresh").await;
    let summary = run(&fresh).await;
    assert_eq!((summary.reconciled, summary.failed), (1, 0), "the one that is not at its end");
    assert_eq!(world.record(101).await.unwrap().state, State::Done);
    let made = calls(&world).len() - before;
    assert!(made < 30, "{made} calls: {:?}", &calls(&world)[before..]);
    world.nothing_half_made("fresh");
    world.leave();
}

#[tokio::test]
async fn pull_requests_that_wait_cost_nothing_while_the_repository_moves() {
    let world = World::fixing().script("fixer", "echo $HOB_ISSUE > done.txt").start().await;
    for n in 0..3 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let worker = world.worker("w1").await;
    run(&worker).await;
    world.forge.advance(Duration::from_secs(2));
    run(&worker).await;
    run(&worker).await;
    let counted = async || {
        let before = worker.forge().connection().call_counts().reads;
        run(&worker).await;
        worker.forge().connection().call_counts().reads - before
    };
    assert_eq!(counted().await, 0);
    // It changes the repository's own data, which every pull request embeds.
    world.opens("ann", "Another issue, not for Hob", "", &[]).await;
    assert_eq!(counted().await, 0);
    // The base's new tip, once for all whether they still go together with that, and the repository's file there.
    world.pushes_onto("ann", "main", "more.txt", "more").await;
    assert_eq!(counted().await, 1 + 1 + 1);
    assert_eq!(counted().await, 0);
    let merged = world.pulls().await[0]["number"].clone();
    world.call("ann", Method::PUT, &format!("/pulls/{merged}/merge"), json!({})).await;
    run(&worker).await;
    assert_eq!(world.record(1).await.unwrap().state, State::Done, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_long_past_that_git_cannot_fetch_is_asked_for_and_else_read_one_by_one() {
    let world = with_a_long_past(30).await;
    let mut settings = world.settings.clone();
    settings.workspace.git = "/nowhere/git".into();
    // Three of them for the repository's file: the default branch, its tip, the file.
    for (graphql, at_least, at_most) in [("answers", 3, 11), ("is missing", 30, 45)] {
        if graphql == "is missing" {
            let what = What::Answer { status: 404, headers: BTreeMap::new(), message: "Not Found".to_owned() };
            let path = "/api/graphql".to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        let fresh = world.worker_with("fresh", settings.clone(), Access::ReadOnly).await;
        let before = calls(&world).len();
        let said = hob_worker::explain::all(&fresh).await.unwrap();
        assert!(said.iter().map(|said| said.issue.0).eq([101]), "{said:?}");
        let made = calls(&world).len() - before;
        assert!((at_least..=at_most).contains(&made), "GraphQL {graphql}: {made} calls");
    }
    world.leave();
}

#[tokio::test]
async fn what_another_worker_did_costs_hardly_more_calls_for_nine_issues_than_for_one() {
    let world = World::with_agent("echo $HOB_ISSUE > done-$HOB_ISSUE.txt").start().await;
    let (one, other) = (world.worker("one").await, world.worker("other").await);
    let mut learned = Vec::new();
    for issues in [1, 9] {
        for _ in 0..issues {
            world.asks("A chore", "").await;
        }
        run(&one).await;
        // Nothing more happens in the second in which the pull requests were opened.
        world.forge.advance(Duration::from_secs(2));
        let before = calls(&world).len();
        let mut counted = Vec::new();
        for _ in 0..3 {
            let reads = other.forge().connection().call_counts().reads;
            run(&other).await;
            counted.push(other.forge().connection().call_counts().reads - reads);
        }
        let made: Vec<_> = calls(&world).split_off(before);
        let alone = |call: &&LoggedRequest| call.path.contains("/git/commits/");
        assert_eq!(made.iter().filter(alone).count(), 0, "{made:?}");
        learned.push(counted);
    }
    // The refs, and the first look, which has the issues and the commits of their ledgers; the token's account, the pull
    // request, and its comments; if there are more, a list of them. A worker that stays also reads the default branch and the
    // issues as lists that it can ask for again, the branches once and, of each head, the check runs and the statuses; of many, it asks
    // one query for them.
    assert_eq!(learned, [[2 + 3, 2 + 3, 0], [6, 1, 1]]);
    world.finish().await;
}
