//! Signing in as a GitHub App: one token an installation, made when it is needed and replaced before it ends.

use std::{fs, time::Duration};

use futures_util::future::join_all;
use hob_forge::Forge;
use hob_worker::{Repositories, RunLimits};

use crate::harness::{Gate, World, private_key, repo};

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn a_worker_signs_in_as_an_app_and_does_its_work() {
    // As if a job had given its own account: the App knows better.
    let world = World::fixing().set("forge.login", "github-actions[bot]").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let connection = world.as_app(Some(repo()));
    let pool = world.pool(&connection, Repositories::Named(vec![repo()]), &world.settings);
    assert_eq!(pool.run_once(RunLimits::default()).await.unwrap().worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert_eq!(world.tokens_made(), 1);
    let said = world.said(issue).await;
    assert_eq!((said.len(), said[0].author.as_str()), (1, "hob[bot]"));
    assert_eq!(connection.login().await.unwrap().unwrap().as_str(), "hob[bot]");
    let pushed = world.forge.requests().into_iter().find(|request| request.path.ends_with("/git-receive-pack"));
    assert_eq!(pushed.unwrap().login.unwrap().as_str(), "hob[bot]");
    world.finish().await;
}

#[tokio::test]
async fn a_token_that_expires_in_the_middle_is_replaced() {
    let world = World::fixing()
        .script("fixer", &Gate::before("echo done > done.txt"))
        .set("testing.lease.duration", "3h")
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let connection = world.as_app(None);
    let pool = world.pool(&connection, Repositories::Named(vec![repo()]), &world.settings);
    let meanwhile = async {
        gate.reached().await;
        world.forge.advance(HOUR);
        gate.open().await;
    };
    let (done, ()) = tokio::join!(pool.run_once(RunLimits::default()), meanwhile);
    assert_eq!(done.unwrap().worked, 1);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(world.tokens_made(), 2);
    world.finish().await;
}

#[tokio::test]
async fn twenty_calls_at_once_make_one_token() {
    let world = World::fixing().start().await;
    let forge = Forge::new(world.as_app(None), repo());
    for made in 1..=2 {
        let calls = join_all((0..20).map(|_| forge.ledger().tips())).await;
        assert!(calls.iter().all(Result::is_ok), "{calls:?}");
        assert_eq!(world.tokens_made(), made);
        world.forge.advance(HOUR);
    }
    // Near its end, it is replaced before it is refused.
    forge.ledger().tips().await.unwrap();
    world.forge.advance(HOUR - Duration::from_secs(200));
    forge.ledger().tips().await.unwrap();
    let before = world.forge.requests().iter().filter(|request| request.status == 401).count();
    forge.ledger().tips().await.unwrap();
    assert_eq!(world.tokens_made(), 4);
    assert_eq!(world.forge.requests().iter().filter(|request| request.status == 401).count(), before);
    world.finish().await;
}

#[tokio::test]
async fn every_page_of_a_list_is_asked_for_with_the_token() {
    let world = World::fixing().start().await;
    for n in 0..101 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let forge = Forge::new(world.as_app(None), repo());
    assert_eq!(forge.issues().open_with("code").await.unwrap().issues.len(), 101);
    let anonymous = |path: &str| path.contains("/issues?");
    let requests = world.forge.requests();
    assert!(requests.iter().filter(|request| anonymous(&request.path)).all(|request| request.login.is_some()));
    world.finish().await;
}

#[tokio::test]
async fn the_program_signs_in_as_an_app_and_keeps_its_key_from_the_agent() {
    let world = World::fixing().script("fixer", "env > {DIR}/agent-env; echo done > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let key = private_key();
    let as_app = [("GITHUB_TOKEN", ""), ("HOB_APP_PRIVATE_KEY", key.as_str()), ("RUST_LOG", "debug")];
    let doctor = world.hob_with(&["--set", "app.id=7", "doctor"], &as_app).await;
    assert!(doctor.stdout.contains("hob[bot]"), "{doctor:?}");
    let ended = world.hob_with(&["run", "--once", "--set", "app.id=7"], &as_app).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    let seen = fs::read_to_string(world.dir().join("agent-env")).unwrap();
    let part = key.lines().nth(1).unwrap();
    for (text, of) in [(&seen, "agent"), (&ended.stderr, "log"), (&ended.stdout, "output")] {
        assert!(!text.contains(part) && !text.contains("ghs_") && !text.contains("APP_PRIVATE"), "{of}: {text}");
    }
    world.finish().await;
}

#[tokio::test]
async fn an_app_that_cannot_sign_in_says_why() {
    let world = World::fixing().start().await;
    let key = private_key();
    let file = world.dir().join("app.pem");
    fs::write(&file, &key).unwrap();
    let in_file = format!("app.private_key={}", file.display());
    for (set, variable, code, says) in [
        (vec!["app.id=7"], "", 3, "HOB_APP_PRIVATE_KEY"),
        (vec!["app.id=7"], "no key", 3, "cannot be read"),
        (vec!["app.id=7", "app.private_key=/nowhere.pem"], "", 3, "/nowhere.pem"),
        (vec!["app.installation=70"], "", 2, "app.id"),
        (vec!["app.id=8"], key.as_str(), 3, "check `app.id` (8)"),
        (vec!["app.id=7", "app.installation=71"], key.as_str(), 3, "no such installation"),
        (vec!["app.id=7", in_file.as_str()], "", 0, ""),
    ] {
        let mut args: Vec<&str> = set.iter().flat_map(|one| ["--set", one]).collect();
        args.extend(["run", "--once"]);
        let ended = world.hob_with(&args, &[("GITHUB_TOKEN", ""), ("HOB_APP_PRIVATE_KEY", variable)]).await;
        assert_eq!(ended.code, code, "{set:?}: {ended:?}");
        assert!(ended.stderr.contains(says), "{set:?}: {ended:?}");
    }
    world.finish().await;
}
