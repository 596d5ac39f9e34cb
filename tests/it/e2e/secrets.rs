//! The token: the agent does not see it, and nothing on disk keeps it.

use std::{fs, path::Path};

use crate::harness::World;

#[tokio::test]
async fn the_token_reaches_neither_the_agent_nor_the_disk_nor_the_output() {
    let script = "env > {DIR}/agent-env; cat .git/config >> {DIR}/agent-env; echo done > done.txt";
    let world = World::fixing()
        .script("fixer", script)
        .check("env >> check-env; cat check-env; test -f done.txt")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob_with(&["run", "--once"], &[("RUST_LOG", "debug"), ("GH_TOKEN", "token-of-hob")]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stderr.contains("token-of-hob") && !ended.stdout.contains("token-of-hob"));
    let seen = fs::read_to_string(world.dir().join("agent-env")).unwrap();
    assert!(seen.contains("HOB_ISSUE=1") && !seen.contains("token-of-hob") && !seen.contains("GITHUB_TOKEN"), "{seen}");
    holds_no_token(world.dir());
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(!body.contains("token-of-hob") && !world.status(issue).await.contains("token-of-hob"));
    world.finish().await;
}

/// Reads every file below `folder`.
fn holds_no_token(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            holds_no_token(&path);
        } else if kind.is_file() {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("token-of-hob"), "{} holds the token", path.display());
        }
    }
}
