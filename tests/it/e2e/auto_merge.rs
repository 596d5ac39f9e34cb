//! GitHub merges a proven pull request by itself, where the owner's settings say so and nowhere else.

use std::time::Duration;

use github_emulator::{BranchRules, RequiredChecks};
use hob_domain::State;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Builder, World, repo_on_forge};

/// A wrong value, which the agent mends, with a check that says so. The owner lets GitHub merge changes of it.
fn merging() -> Builder {
    World::with_agent("echo right > value.txt")
        .file("value.txt", "wrong\n")
        .check("grep -q right value.txt")
        .set("publish.auto_merge", r#"["value.txt", "docs/**"]"#)
}

/// The owner allows auto-merge, and requires these statuses of the base branch.
async fn requires(world: &World, statuses: &[&str]) {
    world.call("ann", Method::PATCH, "", json!({"allow_auto_merge": true})).await;
    let required_status_checks = Some(RequiredChecks::named(statuses));
    let rules = BranchRules { required_status_checks, ..BranchRules::default() };
    world.forge.set_ruleset(&repo_on_forge(), "main", Some(rules)).unwrap();
}

async fn pull(world: &World) -> Value {
    let number = world.pull().await["number"].clone();
    world.look(&format!("/pulls/{number}")).await
}

#[tokio::test]
async fn a_proven_change_within_the_owners_paths_is_merged_by_the_forge() {
    let world = merging().start().await;
    requires(&world, &["hob/proof"]).await;
    let issue = world.asks("Mend the value", "").await;
    world.run().await;
    let merged = pull(&world).await;
    assert_eq!(
        (&merged["merged"], &merged["merged_by"]["login"]),
        (&json!(true), &json!("hob")),
        "{:?}",
        world.failures()
    );
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.content("value.txt", "main").await, "right\n");
    world.finish().await;
}

#[tokio::test]
async fn it_waits_for_what_else_is_required_and_a_push_takes_it_back() {
    let world = merging().start().await;
    requires(&world, &["hob/proof", "ci"]).await;
    world.asks("Mend the value", "").await;
    world.run().await;
    let waiting = pull(&world).await;
    assert_eq!((&waiting["state"], &waiting["auto_merge"]["enabled_by"]["login"]), (&json!("open"), &json!("hob")));
    world.pushes_onto("wil", waiting["head"]["ref"].as_str().unwrap(), "more.txt", "more").await;
    world.forge.advance(Duration::from_secs(61));
    world.run().await;
    assert_eq!(pull(&world).await["auto_merge"], Value::Null, "{:?}", world.failures());

    // What a person switches on stays.
    let id = &waiting["node_id"];
    let query =
        format!("mutation {{ enablePullRequestAutoMerge(input: {{pullRequestId: {id}}}) {{ actor {{ login }} }} }}");
    let on = world.ask_graphql("ann", json!({ "query": query })).await;
    assert_eq!(on["data"]["enablePullRequestAutoMerge"]["actor"]["login"], "ann", "{on}");
    world.comments("ann", waiting["number"].as_u64().unwrap(), "/hob prove").await;
    for _ in 0..3 {
        world.run().await;
    }
    assert_eq!(pull(&world).await["auto_merge"]["enabled_by"]["login"], "ann");
    world.finish().await;
}

#[tokio::test]
async fn a_round_that_people_asked_for_is_theirs_to_merge() {
    let world = merging().script("fixer", "echo right $n > value.txt").start().await;
    requires(&world, &["hob/proof", "ci"]).await;
    world.asks("Mend the value", "").await;
    world.run().await;
    let number = pull(&world).await["number"].as_u64().unwrap();
    world.reviews("ann", number, ("REQUEST_CHANGES", "Louder."), &[]).await;
    world.run().await;
    let after = pull(&world).await;
    assert_eq!((&after["auto_merge"], &after["commits"]), (&Value::Null, &json!(2)), "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn nothing_else_is_merged_by_the_forge() {
    let proof: &[&str] = &["hob/proof", "ci"];
    let both = "echo right > value.txt; echo x > other.txt";
    for (why, builder, required) in [
        ("no path is named", merging().set("publish.auto_merge", "[]"), proof),
        ("another file changed", merging().script("fixer", both), proof),
        ("it is a draft", merging().set("publish.draft", "always"), proof),
        ("later heads could be merged unproven", merging(), &["ci"]),
        ("nothing is proven", merging().check("true"), proof),
        (
            "the repository's file is not the owner's",
            merging()
                .set("publish.auto_merge", "[]")
                .file(".github/hob.toml", "checks = ['grep -q right value.txt']\n[publish]\nauto_merge = ['**']\n"),
            proof,
        ),
    ] {
        let world = builder.start().await;
        requires(&world, required).await;
        world.asks("Mend the value", "").await;
        world.run().await;
        for pull in world.pulls().await {
            let pull = world.look(&format!("/pulls/{}", pull["number"])).await;
            assert_eq!((&pull["auto_merge"], &pull["merged"]), (&Value::Null, &json!(false)), "{why}");
        }
        world.leave();
    }
}

/// A repository that does not allow auto-merge costs a sentence.
#[tokio::test]
async fn a_refusal_is_told_and_the_work_goes_on() {
    let world = merging().start().await;
    let rules =
        BranchRules { required_status_checks: Some(RequiredChecks::named(&["hob/proof"])), ..BranchRules::default() };
    world.forge.set_ruleset(&repo_on_forge(), "main", Some(rules)).unwrap();
    let issue = world.asks("Mend the value", "").await;
    let ran = world.hob(&["run", "--once", "-v"]).await;
    let says = "auto-merge of pull request 2 was not switched:";
    assert!(ran.stderr.contains(says) && ran.stderr.contains("Auto merge is not allowed"), "{ran:?}");
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}
