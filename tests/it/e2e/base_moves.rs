//! The base branch moves on between two attempts: each attempt starts from the base of its day.

use std::time::Duration;

use hob_domain::BlockCode;
use serde_json::Value;

use crate::harness::World;

/// Leaves work at first and fails; then does the rest.
const IN_TWO_ATTEMPTS: &str = "case $n in 0) echo half > half.txt; kill -9 $$;; *) echo done > done.txt;; esac";

/// Waits for the next attempt, which one that failed has to.
async fn next_attempt(world: &World) {
    world.forge.advance(Duration::from_secs(3_600));
    world.run().await;
}

/// The messages and parents of the branch's commits down to the first commit that `main` has too, the newest first.
async fn history(world: &World, branch: &str) -> Vec<(String, usize)> {
    let main = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
    let compared = world.look(&format!("/compare/{}...{branch}", main.as_str().unwrap())).await;
    assert_eq!(compared["behind_by"], 0, "the branch has all of main: {compared}");
    let subject = |commit: &Value| commit["commit"]["message"].as_str().unwrap().lines().next().unwrap().to_owned();
    let commits = compared["commits"].as_array().unwrap();
    commits.iter().map(|commit| (subject(commit), commit["parents"].as_array().unwrap().len())).collect()
}

#[tokio::test]
async fn an_answer_after_the_base_was_mended_goes_on_from_the_mended_base() {
    let check = "test ! -f done.txt || test -f dry";
    let world =
        World::with_agent("echo $n > done.txt").check(check).set("testing.limits.check_rounds", "0").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let branch = format!("hob/{issue}-make-done-txt");
    assert_eq!(world.record(issue).await.unwrap().blocked.unwrap().reason, BlockCode::ChecksFailed);
    world.pushes_onto("ann", "main", "dry", "").await;
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    history(&world, &branch).await;
    assert_eq!(world.changed(world.pull().await["number"].as_u64().unwrap()).await, ["done.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn commits_of_hobs_own_are_rebased_one_by_one() {
    let world = World::with_agent(IN_TWO_ATTEMPTS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.pushes_onto("ann", "main", "other.txt", "elsewhere").await;
    next_attempt(&world).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let branch = format!("hob/{issue}-make-done-txt");
    let parents: Vec<usize> = history(&world, &branch).await.into_iter().map(|(_, parents)| parents).collect();
    assert_eq!(parents, [1, 1], "the half of the first attempt, and the rest");
    assert!(world.briefs(issue)[1].contains("earlier work on this issue"));
    world.finish().await;
}

#[tokio::test]
async fn the_base_is_merged_into_a_branch_that_has_a_persons_commit() {
    let world = World::with_agent(IN_TWO_ATTEMPTS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let branch = format!("hob/{issue}-make-done-txt");
    world.pushes_onto("wil", &branch, "mine.txt", "by hand").await;
    world.pushes_onto("ann", "main", "other.txt", "elsewhere").await;
    next_attempt(&world).await;
    assert_eq!(world.record(issue).await.unwrap().blocked.unwrap().reason, BlockCode::PersonPushed);
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let history = history(&world, &branch).await;
    assert!(history.contains(&("By hand".to_owned(), 1)), "the person's commit stays as it is: {history:?}");
    assert!(history.contains(&(format!("Merge branch 'main' into {branch}"), 2)), "{history:?}");
    world.finish().await;
}

/// Writes its own line into a file that the base changes meanwhile; `resolves` is what it does about the conflict.
async fn in_conflict(resolves: &str) -> (World, u64) {
    let script = format!("case $n in 0) echo mine > both.txt; kill -9 $$;; *) {resolves};; esac");
    let world =
        World::with_agent(&script).file("both.txt", "at first\n").set("testing.limits.check_rounds", "2").start().await;
    let issue = world.asks("Change both.txt", "").await;
    world.run().await;
    world.pushes_onto("ann", "main", "both.txt", "theirs\n").await;
    next_attempt(&world).await;
    (world, issue)
}

#[tokio::test]
async fn a_conflict_is_the_agents_to_resolve_and_no_commit_has_its_markers() {
    let (world, issue) = in_conflict("cp both.txt ../seen.txt; printf 'theirs\\nmine\\n' > both.txt").await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let branch = format!("hob/{issue}-change-both-txt");
    let brief = &world.briefs(issue)[1];
    assert!(brief.contains("do not merge by themselves") && brief.contains("`both.txt`: both changed"), "{brief}");
    let commits = history(&world, &branch).await;
    assert_eq!(commits.iter().map(|(_, parents)| *parents).collect::<Vec<_>>(), [1], "{commits:?}");
    let file = world.look(&format!("/contents/both.txt?ref={branch}")).await;
    assert_eq!(file["content"].as_str().unwrap().trim(), "dGhlaXJzCm1pbmUK");
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("the agent resolved the conflicts in `both.txt`: look there first."), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn markers_that_the_agent_leaves_go_back_to_it_and_then_block_the_issue() {
    let (world, issue) = in_conflict("echo more > more-$n.txt").await;
    let blocked = world.record(issue).await.unwrap().blocked.unwrap();
    assert_eq!(blocked.reason, BlockCode::MergeConflict);
    assert!(blocked.text.contains("conflicts with `main`") && blocked.text.contains("`both.txt`"), "{blocked:?}");
    assert_eq!(world.briefs(issue).len(), 4, "one attempt, and three rounds of the next");
    let file = world.look(&format!("/contents/both.txt?ref=hob/{issue}-change-both-txt")).await;
    assert_eq!(file["content"].as_str().unwrap().trim(), "bWluZQo=", "no marker was pushed");
    world.comments("ann", issue, "Take theirs").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().blocked.unwrap().reason, BlockCode::MergeConflict);
    world.finish().await;
}
