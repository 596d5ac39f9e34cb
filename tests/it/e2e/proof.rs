//! The repository's checks, before and after the work.

use hob_domain::State;

use crate::harness::World;

#[tokio::test]
async fn a_failed_check_goes_back_to_the_agent_and_the_second_round_mends_it() {
    let script = "case $n in 0) echo wrong > done.txt;; *) echo right > done.txt;; esac";
    let check = "cat done.txt; grep -q right done.txt || { echo the word is missing; exit 3; }";
    let world = World::with_agent(script).check(check).start().await;
    let issue = world.asks("Write it right", "").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 2);
    assert!(briefs[1].contains("fails on your work so far") && briefs[1].contains("the word is missing"));
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("**Red before, green after**"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn checks_that_passed_on_a_base_are_not_run_on_it_for_the_next_issue() {
    let world = World::with_agent("echo $HOB_ISSUE > done.txt").check("test -f README.md").start().await;
    world.asks("First", "").await;
    world.asks("Second", "").await;
    world.run().await;
    let pulls = world.pulls().await;
    let says = |n: usize, base: &str| {
        let row = format!("| `test -f README.md` | {base} (0 s) | passed (0 s) |");
        assert!(pulls[n]["body"].as_str().unwrap().contains(&row), "{}", pulls[n]["body"]);
    };
    says(0, "passed");
    says(1, "passed earlier");
    world.finish().await;
}

#[tokio::test]
async fn checks_that_keep_failing_block_the_issue_with_their_output() {
    let world = World::with_agent("echo $n > done.txt")
        .check("echo the roof leaks; false")
        .set("limits.check_rounds", "1")
        .start()
        .await;
    let issue = world.asks("Mend the roof", "").await;
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 2);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    for part in ["still fail after 2 round(s)", "the roof leaks", "failed (exit code 1)"] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    assert!(world.pulls().await.is_empty());
    assert_eq!(world.branches().await, [format!("hob/{issue}-mend-the-roof")], "the work so far is kept");
    world.finish().await;
}

#[tokio::test]
async fn without_checks_the_pull_request_says_that_nothing_is_proven() {
    let world = World::with_agent("echo done > done.txt").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("**Not verified**"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn checks_are_read_from_the_base_branch_and_not_from_the_work() {
    let world = World::fixing().script("fixer", "echo 'checks = []' > .github/hob.toml").start().await;
    let issue = world.asks("Cheat", "").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Blocked);
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_check_past_its_time_is_ended_and_told() {
    let check = "test ! -f done.txt || { mkfifo never; read a < never; }";
    let world = World::fixing().check(check).set("checks.time", "500ms").set("limits.check_rounds", "0").start().await;
    let issue = world.asks("Hang the check", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("out of time"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn what_a_check_writes_is_no_part_of_the_work() {
    let world = World::fixing().check("echo built > output.txt; test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let number = world.pull().await["number"].as_u64().unwrap();
    assert_eq!(world.changed(number).await, ["done.txt"]);
    world.finish().await;
}
