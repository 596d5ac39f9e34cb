//! Commands that only read: no write reaches the forge.

use hob::{forge::Access, worker::RunLimits};

use crate::harness::World;

#[tokio::test]
async fn explaining_and_listing_write_nothing() {
    let world = World::fixing().start().await;
    let good = world.asks("Make done.txt", "").await;
    let evil = world.opens("out", "Evil", "", &[]).await;
    world.labels_on("tess", evil, "code").await;
    let reader = world.worker_with("reader", world.settings.clone(), Access::ReadOnly).await;
    let said = reader.explain_all().await.unwrap();
    assert_eq!((said[0].issue.0, said[0].place, said[0].why.as_str()), (good, Some(1), "it would be claimed"));
    assert_eq!((said[1].issue.0, said[1].place), (evil, None));
    assert!(said[1].why.starts_with("it would be refused: `tess`"), "{said:?}");
    assert!(reader.status().await.unwrap().is_empty());
    assert!(reader.repository_settings().await.unwrap().is_some());
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_client_that_may_only_read_refuses_to_write_before_it_sends() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let reader = world.worker_with("reader", world.settings.clone(), Access::ReadOnly).await;
    let summary = reader.run_once(RunLimits::default()).await;
    assert!(summary.is_err() || summary.unwrap().worked == 0);
    assert_eq!(world.writes(), []);
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn the_reading_commands_of_the_program_write_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let waiting = world.asks("Next", "").await;
    let before = world.writes().len();
    let (number, next) = (issue.to_string(), waiting.to_string());
    for (args, said) in [
        (vec!["list"], "Next"),
        (vec!["run", "--once", "--dry-run"], "Next"),
        (vec!["explain", &next], "it would be claimed"),
        (vec!["explain", &number], "waits for a review"),
        (vec!["status"], "Make done.txt"),
        (vec!["history", &number], "claimed by w1, generation 1"),
    ] {
        let ended = world.hob(&args).await;
        assert_eq!(ended.code, 0, "{args:?}: {ended:?}");
        assert!(ended.stdout.contains(said), "{args:?}: {ended:?}");
        let json = world.hob(&[&args[..], &["--json"]].concat()).await;
        let lines = serde_json::Deserializer::from_str(&json.stdout).into_iter::<serde_json::Value>();
        assert!(lines.map(Result::unwrap).count() > 0, "{args:?}: {json:?}");
    }
    assert_eq!(world.writes().len(), before);
    world.finish().await;
}
