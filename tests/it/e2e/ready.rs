//! `hob status --ready`: the contract with engines that start a `hob run ISSUE` for each issue.

use serde_json::{Value, json};

use crate::harness::{World, repo_on_forge};

/// The output of `hob status --ready`: the numbers, and the whole result.
async fn ready(world: &World, args: &[&str]) -> (Vec<u64>, Value) {
    let ended = world.hob(&[&["status", "--ready", "--json"], args].concat()).await;
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 1), "{ended:?}");
    let result = ended.objects()[0]["result"].clone();
    let numbers = result["issues"].as_array().unwrap().iter().map(|one| one["issue"].as_u64().unwrap());
    (numbers.collect(), result)
}

#[tokio::test]
async fn what_may_be_claimed_is_listed_and_nothing_is_claimed() {
    let world = World::fixing().start().await;
    assert_eq!(
        ready(&world, &[]).await.1,
        json!({ "issues": [], "more": 0, "attempt_minutes": null, "schedule": null })
    );
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
    let people = world.hob(&["status", "--ready"]).await;
    assert!(people.stdout.contains("acme/site") && people.stdout.contains("#1"), "{people:?}");
    let bad = world.hob(&["status", "--ready", "--shard", "3/2"]).await;
    assert!(bad.code == 2 && bad.stderr.contains("expected I/N with I from 1 to N"), "{bad:?}");
    world.finish().await;
}

#[tokio::test]
async fn each_issue_that_is_ready_gets_its_pull_request_from_a_process_of_its_own() {
    let world = World::fixing().start().await;
    world.asks("One", "").await;
    world.asks("Two", "").await;
    for issue in ready(&world, &[]).await.0 {
        let worked = world.hob(&["run", &issue.to_string(), "--json"]).await;
        assert_eq!((worked.code, &worked.result()[0]["state"]), (0, &json!("completed")), "{worked:?}");
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
        world.hob(&["run", &issue.to_string()]).await;
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
    let world = World::with_agent(r#"echo done > done.txt; echo '{"outcome":"done","usd":1}'"#);
    let world = world.set("budget.issue", "1").set("budget.day", "1").start().await;
    let first = world.asks("One", "").await;
    world.asks("Two", "").await;
    world.hob(&["run", &first.to_string()]).await;
    assert_eq!(ready(&world, &[]).await.0, [0; 0]);
    world.finish().await;
}

/// Facts A4: GitHub disables a workflow that has a schedule without a word.
#[tokio::test]
async fn a_run_that_a_label_started_says_that_the_schedule_is_late_or_disabled() {
    let world = World::fixing().start().await;
    let told = async |event: &str| {
        let ended = world.hob_with(&["status", "--ready", "--json"], &[("GITHUB_EVENT_NAME", event)]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.objects()[0]["result"]["schedule"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(told("issues").await, "", "there is no such workflow");
    let run = json!({"head_sha": "main", "name": "Find issues", "workflow": "hob-schedule", "event": "schedule"});
    world.forge.create_job(&repo_on_forge(), &serde_json::from_value(run).unwrap()).unwrap();
    assert_eq!(told("issues").await, "");
    world.forge.advance(std::time::Duration::from_secs(31 * 3_600));
    for event in ["issues", "issue_comment", "workflow_dispatch"] {
        assert!(told(event).await.contains("is late"), "{event}");
    }
    assert_eq!(told("schedule").await, "");
    world.forge.set_workflow_state(&repo_on_forge(), "hob-schedule.yml", "disabled_inactivity").unwrap();
    assert!(told("issues").await.contains("no activity for 60 days"));
    let people = world.hob_with(&["status", "--ready"], &[("GITHUB_EVENT_NAME", "issues")]).await;
    assert!(people.stderr.contains("gh workflow enable hob-schedule.yml"), "{people:?}");
    world.finish().await;
}
