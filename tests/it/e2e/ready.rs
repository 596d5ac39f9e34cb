//! `hob ready`: the contract with engines that start a `hob work` for each issue.

use serde_json::{Value, json};

use crate::harness::World;

/// What `hob ready` lists: the numbers, and the whole result.
async fn ready(world: &World, args: &[&str]) -> (Vec<u64>, Value) {
    let ended = world.hob(&[&["ready", "--json"], args].concat()).await;
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 1), "{ended:?}");
    let result = ended.objects()[0]["result"].clone();
    let numbers = result["issues"].as_array().unwrap().iter().map(|one| one["issue"].as_u64().unwrap());
    (numbers.collect(), result)
}

#[tokio::test]
async fn what_may_be_claimed_is_listed_and_nothing_is_claimed() {
    let world = World::fixing().start().await;
    assert_eq!(ready(&world, &[]).await.1, json!({ "issues": [], "more": 0, "attempt_minutes": null }));
    let mut issues = Vec::new();
    for title in ["One", "Two", "Three", "Four", "Five"] {
        issues.push(world.asks(title, "").await);
    }
    world.opens("tess", "Not for Hob", "", &[]).await;
    let (all, result) = ready(&world, &[]).await;
    assert_eq!(all, issues);
    assert_eq!(result["issues"][0], json!({ "repo": "acme/site", "issue": issues[0], "title": "One" }));
    assert_eq!(world.record(issues[0]).await, None);
    let minutes = result["attempt_minutes"].as_u64().unwrap();
    world.pushes_onto("ann", "main", ".github/hob.toml", "checks = ['true', 'true']\n").await;
    // One check more: ten minutes on the base, on the work and after each of two rounds.
    assert_eq!(ready(&world, &[]).await.1["attempt_minutes"], minutes + 40);
    let (first, result) = ready(&world, &["--limit", "2"]).await;
    assert_eq!((first, &result["more"]), (issues[..2].to_vec(), &json!(3)));
    let mut shards = Vec::new();
    for shard in ["1/2", "2/2"] {
        shards.extend(ready(&world, &["--shard", shard]).await.0);
    }
    shards.sort_unstable();
    assert_eq!(shards, issues);
    let people = world.hob(&["ready"]).await;
    assert!(people.stdout.contains("acme/site") && people.stdout.contains("#1"), "{people:?}");
    let bad = world.hob(&["ready", "--shard", "3/2"]).await;
    assert!(bad.code == 2 && bad.stderr.contains("write I/N with I from 1 to N"), "{bad:?}");
    world.finish().await;
}

#[tokio::test]
async fn each_issue_that_is_ready_gets_its_pull_request_from_a_process_of_its_own() {
    let world = World::fixing().start().await;
    world.asks("One", "").await;
    world.asks("Two", "").await;
    for issue in ready(&world, &[]).await.0 {
        let worked = world.hob(&["work", &issue.to_string(), "--json"]).await;
        assert_eq!((worked.code, &worked.objects()[0]["result"][0]["state"]), (0, &json!("completed")), "{worked:?}");
    }
    assert_eq!(ready(&world, &[]).await.0, [0; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_question_is_ready_once_it_is_answered_and_a_merge_is_finished_on_the_way() {
    let script = r#"case $HOB_ISSUE$n in 10) echo '{"outcome":"question","question":"Which colour?"}' ;; *) echo done > done.txt ;; esac"#;
    let world = World::with_agent(script).start().await;
    let (asks, done) = (world.asks("Paint it", "").await, world.asks("Do it", "").await);
    for issue in [asks, done] {
        world.hob(&["work", &issue.to_string()]).await;
    }
    assert_eq!(ready(&world, &[]).await.0, [0; 0]);
    world.comments("ann", asks, "/hob unblock Red.").await;
    assert_eq!(ready(&world, &[]).await.0, [asks]);
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.call("ann", http::Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    assert_eq!(ready(&world, &[]).await.0, [asks]);
    assert_eq!(world.record(done).await.unwrap().state, hob_domain::State::Done);
    world.finish().await;
}

#[tokio::test]
async fn a_day_that_is_used_up_lists_nothing() {
    let world = World::fixing().set("limits.attempts_per_day", "1").start().await;
    let first = world.asks("One", "").await;
    world.asks("Two", "").await;
    world.hob(&["work", &first.to_string()]).await;
    assert_eq!(ready(&world, &[]).await.0, [0; 0]);
    world.finish().await;
}
