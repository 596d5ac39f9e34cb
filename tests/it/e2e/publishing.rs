//! Branches and pull requests: one of each, even if others exist already.

use github_emulator::Role;
use hob_domain::{BlockCode, State};
use http::Method;
use serde_json::json;

use crate::harness::{Gate, World, repo_on_forge};

#[tokio::test]
async fn a_branch_of_somebody_else_is_left_alone() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let name = format!("hob/{issue}-make-done-txt");
    let theirs = world.pushes("wil", &name, "theirs.txt", "mine").await;
    world.run().await;
    let pull = world.pull().await;
    assert_eq!(pull["head"]["ref"], format!("{name}-2"));
    let tip = world.call("wil", Method::GET, &format!("/git/ref/heads/{name}"), json!(null)).await;
    assert_eq!(tip["object"]["sha"], theirs);
    world.finish().await;
}

#[tokio::test]
async fn a_protected_branch_blocks_the_issue_with_the_reason() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.forge.protect(&repo_on_forge(), &[&format!("hob/{issue}-make-done-txt")]).unwrap();
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    assert!(status.contains("protected branch"), "{status}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.blocked.unwrap().reason), (State::Blocked, BlockCode::PushRefused));
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_right_that_is_lost_before_the_push_is_told_to_a_person() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        world.forge.set_role(&repo_on_forge(), &"hob".into(), Role::Triage).unwrap();
        gate.open().await;
    };
    let (summary, ()) = tokio::join!(world.run(), meanwhile);
    assert_eq!(summary.failed, 1, "{:?}", world.failures());
    assert!(world.pulls().await.is_empty() && world.branches().await.is_empty());

    // Its right comes back: once the lease has run out, the next run goes on.
    world.forge.set_role(&repo_on_forge(), &"hob".into(), Role::Write).unwrap();
    world.forge.advance(world.settings.lease.duration * 2);
    let again = async {
        gate.reached().await;
        gate.open().await;
    };
    tokio::join!(world.run(), again);
    world.pull().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// Attack corpus H91.
#[tokio::test]
async fn a_pull_request_that_the_ledger_does_not_know_is_taken_up_and_not_doubled() {
    let script = r#"case $n in
        0) echo half > half.txt; echo '{"outcome":"question","question":"Go on?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    // The state after a worker opened the pull request and died before it could note it.
    let draft = json!({"title": "x", "head": format!("hob/{issue}-make-done-txt"), "base": "main", "body": "x"});
    let open = world.call("hob", Method::POST, "/pulls", draft).await;
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    let pull = world.pull().await;
    assert_eq!(pull["number"], open["number"], "{:?}", world.failures());
    assert!(pull["body"].as_str().unwrap().starts_with(&format!("Fixes #{issue}\n")));
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}

/// Attack corpus H91.
#[tokio::test]
async fn a_second_turn_updates_the_same_pull_request() {
    let world = World::fixing().script("fixer", "echo $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let first = world.pull().await["number"].clone();
    let path = first.as_u64().unwrap();
    world.edits("ann", path, json!({"state": "closed"})).await;
    world.run().await;
    world.edits("ann", path, json!({"state": "open"})).await;
    world.comments("ann", issue, "/hob unblock Count on.").await;
    world.run().await;
    let pull = world.pull().await;
    assert_eq!((&pull["number"], &pull["state"]), (&first, &json!("open")), "{:?}", world.failures());
    assert_eq!(world.commits(path).await.len(), 2);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn after_a_rejection_a_new_pull_request_takes_the_place_of_the_closed_one() {
    let world = World::fixing().script("fixer", "echo $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.edits("ann", world.pull().await["number"].as_u64().unwrap(), json!({"state": "closed"})).await;
    world.run().await;
    world.comments("ann", issue, "/hob unblock Otherwise, please.").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let open: Vec<_> = world.pulls().await.into_iter().filter(|pull| pull["state"] == "open").collect();
    assert_eq!(open.len(), 1);
    assert_eq!(world.record(issue).await.unwrap().pull.number.unwrap().0, open[0]["number"].as_u64().unwrap());
    world.finish().await;
}

#[tokio::test]
async fn a_branch_that_was_deleted_with_its_closed_pull_request_is_made_anew() {
    let world = World::fixing().script("fixer", "echo $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.edits("ann", world.pull().await["number"].as_u64().unwrap(), json!({"state": "closed"})).await;
    world.call("ann", Method::DELETE, &format!("/git/refs/heads/hob/{issue}-make-done-txt"), json!(null)).await;
    world.run().await;
    world.comments("ann", issue, "/hob unblock From the start.").await;
    world.run().await;
    assert_eq!(
        world.labels(issue).await,
        ["code", "in-review"],
        "{:?} {}",
        world.failures(),
        world.status(issue).await
    );
    world.finish().await;
}

#[tokio::test]
async fn a_title_that_makes_no_branch_name_does_no_harm() {
    let world = World::fixing().start().await;
    for title in ["\u{1f3e0}", "../../.git/config", &"very long ".repeat(25), "--force\u{202e}", ".lock"] {
        let issue = world.asks(title, "").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{title:?}: {}", world.status(issue).await);
    }
    for branch in world.branches().await {
        assert!(branch.starts_with("hob/") && branch.len() < 100 && branch.is_ascii(), "{branch}");
    }
    world.finish().await;
}
