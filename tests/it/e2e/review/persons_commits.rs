//! Commits of people on the branch, between two rounds.

use crate::harness::World;

#[tokio::test]
async fn the_brief_of_a_round_has_what_people_pushed_since_the_last_one() {
    let world = World::with_agent("echo $n > done.txt").check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.pushes_onto("wil", "hob/1-make-done-txt", "theirs.txt", "mine\n").await;
    let theirs = world.head(pull).await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    let (_, told) = brief.split_once("--- commits of people ").unwrap_or_else(|| panic!("{brief}"));
    let lines: Vec<&str> = told.lines().skip(1).take_while(|line| !line.starts_with("--- end ")).collect();
    assert_eq!(lines.len(), 2, "one commit, none of Hob's: {lines:?}");
    assert!(lines[0].starts_with(&theirs[..7]) && lines[0].contains(" by wil: "), "{lines:?}");
    assert_eq!(lines[1], "  theirs.txt (+1 −0)");

    world.reviews("ann", pull, ("REQUEST_CHANGES", "Still more."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(!world.briefs(issue)[2].contains("commits of people"), "they were told: {}", world.briefs(issue)[2]);
    assert_eq!(world.content("theirs.txt", "hob/1-make-done-txt").await, "mine\n");
    world.finish().await;
}
