//! Work that breaks the rules is never pushed.

use crate::harness::World;

async fn is_not_pushed(script: &str, said: &str) {
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Break a rule", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(status.contains("was not pushed") && status.contains(said), "{status}");
    assert!(world.branches().await.is_empty() && world.pulls().await.is_empty());
    assert!(!world.forge.requests().iter().any(|request| request.path.contains("git-receive-pack")));
    world.finish().await;
}

/// Attack corpus D44.
#[tokio::test]
async fn a_changed_workflow_is_not_pushed() {
    let script = "echo done > done.txt; mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml";
    is_not_pushed(script, ".github/workflows/x.yml").await;
}

/// Attack corpus G78.
#[tokio::test]
async fn a_secret_is_not_pushed() {
    // Put together here, so that this file holds none.
    let script = format!("echo 'token = {}{}' > done.txt", "ghp_", "a1b2c3d4e5f6".repeat(3));
    is_not_pushed(&script, "a GitHub token").await;
}

/// Attack corpus G78: neither pushed nor printed, whichever rule recognizes it.
#[tokio::test]
async fn a_committed_secret_is_not_pushed_and_nowhere_repeated() {
    let key = format!("-----BEGIN {} PRIVATE KEY-----", "RSA");
    for (file, text, said) in [
        (".env", "PASSWORD=hunter2-hunter2".to_owned(), "`.env` is a file that holds secrets"),
        ("deploy/.ENV.production", "PASSWORD=hunter2-hunter2".to_owned(), "is a file that holds secrets"),
        ("key.pem", format!("{key}\nhunter2-hunter2"), "`key.pem` holds a private key"),
        ("a.txt", format!("{}{}", "ghp_", "hunter2Hunt3r".repeat(3)), "`a.txt` holds a GitHub token"),
    ] {
        let script = format!("echo done > done.txt; mkdir -p deploy; printf '%s\\n' '{text}' > {file}");
        let world = World::fixing().script("fixer", &script).start().await;
        let issue = world.asks("Break a rule", "").await;
        let ended = world.hob(&["run", "--once", "-v"]).await;
        let (status, history) = (world.status(issue).await, world.history(issue).await.concat());
        assert!(status.contains("was not pushed") && status.contains(said), "{file}: {status}");
        assert!(world.branches().await.is_empty() && world.pulls().await.is_empty());
        for place in [&status, &history, &ended.stdout, &ended.stderr] {
            assert!(!place.to_lowercase().contains("hunter2hunt3r") && !place.contains("hunter2-"), "{file}: {place}");
        }
        world.finish().await;
    }
}

#[tokio::test]
async fn a_secret_in_work_that_is_left_half_done_is_not_pushed() {
    let secret = format!("{}{}", "ghp_", "a1b2c3d4e5f6".repeat(3));
    let script = format!("echo {secret} > half.txt; echo '{{\"outcome\":\"question\",\"question\":\"Hm?\"}}'");
    let world = World::with_agent(&script).start().await;
    let issue = world.asks("Ask with a secret", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.branches().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_path_that_the_repository_protects_is_not_pushed() {
    let script = "mkdir deploy; echo 1 > deploy/prod.txt";
    let settings = "protected = ['deploy/**']\n";
    let world = World::fixing().file(".github/hob.toml", settings).script("fixer", script).start().await;
    let issue = world.asks("Deploy", "").await;
    world.run().await;
    assert!(world.status(issue).await.contains("deploy/prod.txt"), "{}", world.status(issue).await);
    assert!(world.branches().await.is_empty());
    world.finish().await;
}
