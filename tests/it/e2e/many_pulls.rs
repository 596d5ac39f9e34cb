//! Many pull requests in review: what a poll of them costs, and that the end of a check is seen, which changes nothing else.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use github_emulator::{Fault, What, When};
use hob_domain::{IssueNumber, PullNumber, Sha, State};
use hob_worker::Worker;
use http::Method;
use serde_json::json;

use crate::harness::{World, run};

/// A pull request in review, with its issue.
struct InReview {
    issue: u64,
    head: String,
}

/// A world with this many pull requests in review, each with a check that passed; only the first was really worked on.
async fn with_pulls(number: usize) -> (World, Vec<InReview>) {
    let world = World::fixing().start().await;
    let first = world.asks("Chore", "").await;
    world.run().await;
    let record = world.record(first).await.unwrap();
    let head = record.work.head.clone().unwrap();
    let commit = world.look(&format!("/git/commits/{head}")).await;
    let (tree, parents) = (commit["tree"]["sha"].clone(), json!([commit["parents"][0]["sha"]]));
    let mut all = vec![InReview { issue: first, head: head.to_string() }];
    let made = async |path: &str, body| world.call("hob", Method::POST, path, body).await;
    for _ in 1..number {
        let issue = world.opens("ann", "Chore", "", &["code", "in-review"]).await;
        let branch = format!("hob/{issue}-chore");
        let commit = json!({"message": format!("Chore {issue}"), "tree": tree, "parents": parents});
        let head = made("/git/commits", commit).await["sha"].as_str().unwrap().to_owned();
        made("/git/refs", json!({"ref": format!("refs/heads/{branch}"), "sha": head})).await;
        let pull = made("/pulls", json!({"title": "Chore", "head": branch, "base": "main"})).await;
        let mut record = record.clone();
        (record.issue, record.comments.status) = (IssueNumber(issue), None);
        (record.pull.number, record.work.head) = (pull["number"].as_u64().map(PullNumber), Some(Sha(head.clone())));
        record.work.branch.as_mut().unwrap().name = branch;
        let ledger = json!({"message": record.to_message("in review").unwrap(), "tree": tree, "parents": []});
        let ledger = made("/git/commits", ledger).await["sha"].clone();
        made("/git/refs", json!({"ref": format!("refs/hob/issues/{issue}"), "sha": ledger})).await;
        all.push(InReview { issue, head });
    }
    for one in &all {
        says(&world, one, "build", "success").await;
    }
    // Nothing more happens in the second in which they were opened.
    world.forge.advance(Duration::from_secs(2));
    (world, all)
}

/// A check on the head of a pull request.
async fn says(world: &World, of: &InReview, check: &str, state: &str) {
    world.call("ann", Method::POST, &format!("/statuses/{}", of.head), json!({"context": check, "state": state})).await;
}

/// The counted calls of a poll.
async fn counted(worker: &Arc<Worker>) -> u64 {
    let before = worker.forge().connection().call_counts().reads;
    run(worker).await;
    worker.forge().connection().call_counts().reads - before
}

#[tokio::test]
async fn a_poll_of_a_hundred_pull_requests_costs_few_calls() {
    let (world, all) = with_pulls(100).await;
    let worker = world.worker("w1").await;
    // It learns them, and looks once at each issue, for it is younger than its record.
    world.forge.advance(Duration::from_secs(120));
    run(&worker).await;
    // None of the made heads is proven, and it shows that.
    let mut made = 0;
    while world.writes().len() > made {
        made = world.writes().len();
        run(&worker).await;
    }
    // One query about the checks, and two lists again: a full page may have got a successor.
    assert_eq!([counted(&worker).await, counted(&worker).await], [1 + 2, 1 + 2]);
    for one in &all[..20] {
        says(&world, one, "test", "success").await;
    }
    // Two queries more about those.
    assert_eq!([counted(&worker).await, counted(&worker).await], [1 + 2 + 2, 1 + 2]);
    world.leave();
}

#[tokio::test]
async fn a_check_that_fails_on_one_of_many_is_seen_at_the_next_poll() {
    for graphql in ["answers", "is missing"] {
        let (world, all) = with_pulls(6).await;
        let worker = world.worker("w1").await;
        if graphql == "is missing" {
            let what = What::Answer { status: 404, headers: BTreeMap::new(), message: "Not Found".to_owned() };
            let path = "/api/graphql".to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        for check in ["passes", "fails"] {
            run(&worker).await;
            assert_eq!(run(&worker).await.worked, 0, "{check}");
            let state = if check == "passes" { "success" } else { "failure" };
            says(&world, &all[5], "test", state).await;
        }
        assert_eq!(run(&worker).await.worked, 1, "GraphQL {graphql}: {:?}", world.failures());
        let record = world.record(all[5].issue).await.unwrap();
        assert_ne!(record.state, State::Assigned, "GraphQL {graphql}");
        world.leave();
    }
}

#[tokio::test]
async fn words_that_ask_for_nothing_are_read_once_and_a_later_command_is_heard() {
    let (world, all) = with_pulls(1).await;
    let (worker, issue) = (world.worker("w1").await, all[0].issue);
    run(&worker).await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    let reads_of_words = async || {
        let before = world.forge.requests().len();
        assert_eq!(run(&worker).await.worked, 0);
        let new = world.forge.requests().into_iter().skip(before);
        new.filter(|request| request.path.contains("/comments") || request.path.ends_with(&format!("/issues/{issue}")))
            .count()
    };
    for at in [issue, pull] {
        world.comments("rob", at, "Nice work.").await;
        world.forge.advance(Duration::from_secs(120));
        assert_ne!(reads_of_words().await, 0, "#{at}");
        assert_eq!([reads_of_words().await, reads_of_words().await], [0, 0], "#{at}");
    }
    world.comments("ann", issue, "/hob explain").await;
    world.forge.advance(Duration::from_secs(120));
    assert_ne!(reads_of_words().await, 0);
    let said = world.said(issue).await;
    assert!(said.iter().any(|said| said.text.contains("waits for a review")), "{said:?}");
    world.leave();
}
