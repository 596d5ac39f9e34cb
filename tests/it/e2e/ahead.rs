//! The folder of the checks, which is filled while the agent works.

use std::{path::PathBuf, time::Duration};

use crate::harness::{Builder, Gate, World};

/// No folder takes longer to be filled: without it, a failure would hang the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A check that leaves a file, and passes where there is none.
const LEAVES: &str = "test ! -e left && echo x > left";

fn gated(script: &str) -> Builder {
    World::with_agent(&Gate::before(script)).check(LEAVES)
}

impl World {
    /// The folder of an issue's checks, and git's record of it.
    fn proof(&self, issue: u64) -> (PathBuf, PathBuf) {
        let folder = self.state_dir("w1").join(format!("acme/site/issues/{issue}"));
        (folder.join("proof"), folder.join("proof.index"))
    }
}

async fn until(holds: impl Fn() -> bool) {
    let look = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap();
}

#[tokio::test]
async fn the_folder_of_the_checks_is_filled_while_the_agent_works() {
    let world = gated("echo done > done-$HOB_ISSUE").start().await;
    let mut gate = Gate::of(&world);
    for (title, is_first) in [("First", true), ("Second", false)] {
        let issue = world.asks(title, "").await;
        let (proof, record) = world.proof(issue);
        let meanwhile = async {
            gate.reached().await;
            // What the checks left on the base is gone; for the second issue its base was checked before.
            until(|| proof.join(".git/index").exists() && !proof.join("left").exists() && record.exists()).await;
            assert!(proof.join("README.md").exists(), "{is_first}");
            gate.open().await;
        };
        tokio::join!(world.run(), meanwhile);
    }
    assert!(world.failures().is_empty(), "{:?}", world.failures());
    assert_eq!(world.pulls().await.len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_ends_while_the_folder_is_filled_ends_that_too() {
    for says in [r#"{"outcome":"question","question":"Which?"}"#, r#"{"outcome":"nothing_to_do","reason":"Done."}"#] {
        let world = World::with_agent(&format!("echo '{says}'")).check(LEAVES).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        assert!(world.failures().is_empty(), "{:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["blocked", "code"]);
        world.finish().await;
    }
}

/// A run that only reads proves nothing.
#[tokio::test]
async fn nothing_is_filled_for_a_plan() {
    let world = gated("echo 'Summary: Write it.'; echo 'Steps:'; echo '- Write `done.txt`'").set("plan", "always");
    let world = world.start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert!(world.record(issue).await.unwrap().waiting_plan().is_some(), "{:?}", world.failures());
    let (proof, record) = world.proof(issue);
    assert!(!proof.exists() && !record.exists());
    assert!(!world.state_dir("w1").join("acme/site/free/proofs").exists());
    world.finish().await;
}
