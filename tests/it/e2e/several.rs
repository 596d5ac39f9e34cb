//! Several repositories in one process: they share a connection, take turns, and do not stop each other.

use std::{sync::Arc, time::Duration};

use hob_domain::RepoName;
use hob_worker::{Repositories, RunLimits, WorkEvent};
use http::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::harness::{Turnstile, World, in_virtual_time, repo};

fn named(name: &str) -> RepoName {
    name.parse().unwrap()
}

/// The repositories whose pull requests were opened, in that order.
fn opened(world: &World) -> Vec<String> {
    let opened = world.forge.requests().into_iter().filter(|one| one.method == "POST" && one.path.ends_with("/pulls"));
    opened.map(|one| one.path.split('/').skip(4).take(2).collect::<Vec<_>>().join("/")).collect()
}

#[tokio::test]
async fn two_repositories_are_worked_on_in_one_run_on_one_connection() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.another("acme/docs", 1).await;
    let connection = world.as_bot(&world.settings);
    let both = Repositories::Named(vec![repo(), named("acme/docs")]);
    let done = world.pool(&connection, both, &world.settings).run_once(RunLimits::default()).await.unwrap();
    assert_eq!((done.worked, done.repositories_failed), (2, 0), "{:?}", world.failures());
    let mut repos = opened(&world);
    repos.sort();
    assert_eq!(repos, ["acme/docs", "acme/site"]);
    assert_eq!(done.calls.writes, connection.call_counts().writes);
    let rates: Vec<_> = done.rates.iter().map(|rate| (rate.resource.as_str(), rate.limit)).collect();
    assert_eq!(rates, [("core", 1_000_000), ("graphql", 1_000_000)]);
    world.finish().await;
}

#[tokio::test]
async fn a_busy_repository_does_not_keep_another_from_its_turn() {
    let world = World::fixing().set("limits.issues_per_hour", "100").start().await;
    for n in 0..4 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    world.another("acme/docs", 1).await;
    let connection = world.as_bot(&world.settings);
    let both = Repositories::Named(vec![repo(), named("acme/docs")]);
    let done = world.pool(&connection, both, &world.settings).run_once(RunLimits::default()).await.unwrap();
    assert_eq!(done.worked, 5, "{:?}", world.failures());
    let order = opened(&world);
    let place = order.iter().position(|repo| repo == "acme/docs").unwrap();
    assert!(place <= 1, "{order:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_repository_that_is_gone_does_not_stop_the_others() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let connection = world.as_bot(&world.settings);
    let both = Repositories::Named(vec![named("acme/gone"), repo()]);
    let done = world.pool(&connection, both, &world.settings).run_once(RunLimits::default()).await.unwrap();
    assert_eq!((done.worked, done.repositories_failed), (1, 1));
    assert!(world.failures()[0].contains("acme/gone"), "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    let gone = Repositories::Named(vec![named("acme/gone"), named("acme/away")]);
    assert!(world.pool(&connection, gone, &world.settings).run_once(RunLimits::default()).await.is_err());
    world.finish().await;
}

#[tokio::test]
async fn a_repository_that_joins_the_installation_is_found() {
    let world = World::fixing().set("poll.interval", "20ms").start().await;
    world.asks("Make done.txt", "").await;
    let (sender, mut published) = tokio::sync::mpsc::unbounded_channel();
    let events = Arc::new(move |repo: &RepoName, notice: &WorkEvent| {
        if matches!(notice, WorkEvent::Published { .. }) {
            sender.send(repo.to_string()).unwrap();
        }
    });
    let cancel = CancellationToken::new();
    let until = (cancel.clone(), Some(events as hob_worker::EventSink));
    let pool = world.pool_until(&world.as_app(None), Repositories::OfInstallation, &world.settings, until);
    let joins = async {
        assert_eq!(published.recv().await.unwrap(), "acme/site");
        world.another("acme/late", 1).await;
        assert_eq!(published.recv().await.unwrap(), "acme/late");
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(pool.run_forever(RunLimits::default()), joins);
    assert!(done.unwrap().worked >= 1);
    world.finish().await;
}

/// Attack corpus I102.
#[tokio::test]
async fn a_poll_does_not_come_before_the_limit_ends() {
    let world = World::fixing().set("poll.interval", "1ms").set("testing.forge.retries", "0").start().await;
    world.forge.limit_rate(0);
    let worker = world.worker("w1").await;
    let limits = RunLimits { max_issues: None, max_runtime: Some(std::time::Duration::from_secs(5)) };
    let done = hob_worker::run_forever(&worker, limits).await;
    assert_eq!((done.worked, done.repositories_failed), (0, 1));
    world.forge.limit_rate(1_000_000);
    // What a poll begins with.
    let asked = world
        .forge
        .requests()
        .into_iter()
        .filter(|one| one.path.ends_with("/acme/site/git/matching-refs/hob/"))
        .count();
    assert_eq!(asked, 1, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_command_about_one_issue_wants_one_repository() {
    let world = World::fixing()
        .script("fixer", "echo '{\"outcome\":\"question\",\"question\":\"Which colour?\"}'")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await.to_string();
    world.another("acme/docs", 1).await;
    let both = ["--repo", "acme/site", "--repo", "acme/docs"];
    for command in
        [vec!["explain", &issue], vec!["explain", &issue, "--history"], vec!["answer", &issue], vec!["doctor"]]
    {
        let ended = world.hob(&[&command[..], &both].concat()).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(
            ended.stderr.contains("takes one repository") || ended.stdout.contains("takes one repository"),
            "{ended:?}"
        );
    }
    // Field note N105: one line about all, and nothing of those without issues.
    world.another("acme/empty", 0).await;
    let listed = world.hob(&[&["status"][..], &both, &["--repo", "acme/empty"]].concat()).await;
    assert!(listed.stdout.starts_with("3 repositories: 2 new. Today: 0 s spent.\n"), "{listed:?}");
    assert!(listed.stdout.contains("\nacme/site\n") && listed.stdout.contains("\nacme/docs\n"), "{listed:?}");
    assert!(!listed.stdout.contains("acme/empty"), "{listed:?}");
    assert_eq!(world.hob(&["run", &issue]).await.code, 8);
    world.forge.advance(std::time::Duration::from_secs(3 * 86_400));
    let listed = world.hob(&[&["status"][..], &both].concat()).await;
    let first = "2 repositories: 1 blocked, 1 new; the oldest question waits for 3 d. Today: 0 s spent.\n";
    assert!(listed.stdout.starts_with(first), "{listed:?}");
    let row = listed.stdout.lines().find(|line| line.contains("Make done.txt")).unwrap();
    assert!(row.starts_with("-      #1     blocked  3 d "), "{listed:?}");
    let old = world.hob(&[&["status", "--since", "2d"][..], &both].concat()).await;
    assert!(old.stdout.contains("Make done.txt") && !old.stdout.contains("acme/docs"), "{old:?}");
    assert!(!world.hob(&["status", "--since", "4d"]).await.stdout.contains("Make done.txt"));
    let json = world.hob(&[&["run", "--dry-run", "--json"][..], &both, &["--repo", "ACME/site"]].concat()).await;
    let json = &json.objects()[0]["result"];
    assert_eq!((json[0]["repo"].as_str(), json[1]["repo"].as_str()), (Some("acme/site"), Some("acme/docs")), "{json}");
    assert_eq!(json.as_array().unwrap().len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn the_program_works_on_all_repositories_of_the_app() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.another("acme/docs", 1).await;
    let key = crate::harness::private_key();
    let changes = [("GITHUB_TOKEN", ""), ("GITHUB_REPOSITORY", ""), ("HOB_APP_PRIVATE_KEY", key.as_str())];
    let ended = world.hob_with(&["--set", "app.id=7", "run", "--once"], &changes).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("acme/docs #1") && ended.stderr.contains("acme/site #1"), "{ended:?}");
    assert!(ended.stderr.contains("rate limit `core`"), "{ended:?}");
    world.call_in("acme/docs", "watch", Method::GET, "/pulls/2", json!(null)).await;
    world.finish().await;
}

/// Row A10: the repository from a settings file.
#[tokio::test]
async fn a_settings_file_names_the_repositories() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.another("acme/docs", 1).await;
    let file = |text: &str| std::fs::write(world.dir().join("mine.toml"), text).unwrap();
    let nobody = [("GITHUB_REPOSITORY", "")];
    file("repositories = ['acme/docs']\n");
    let listed = world.hob_with(&["--config", "mine.toml", "run", "--dry-run", "--json"], &nobody).await;
    assert_eq!(listed.objects()[0]["result"][0]["issue"], 1, "{listed:?}");
    let one = world.hob_with(&["--config", "mine.toml", "explain", "1"], &nobody).await;
    assert_eq!(one.code, 0, "{one:?}");
    file("repositories = ['acme/docs', 'acme/site']\n");
    let both = world.hob_with(&["--config", "mine.toml", "run", "--dry-run", "--json"], &nobody).await;
    assert_eq!(both.objects()[0]["result"].as_array().unwrap().len(), 2, "{both:?}");
    let which = world.hob_with(&["--config", "mine.toml", "explain", "1"], &nobody).await;
    assert!(which.code == 2 && which.stderr.contains("use `--repo` with one of acme/docs, acme/site"), "{which:?}");
    file("repositories = ['docs']\nassignee = 'a b'\n");
    let bad = world.hob_with(&["--config", "mine.toml", "status"], &nobody).await;
    assert!(bad.code == 2 && bad.stderr.contains("`repositories`"), "{bad:?}");
    file("assignee = 'a b'\n");
    let bad = world.hob_with(&["--config", "mine.toml", "status"], &nobody).await;
    assert!(bad.code == 2 && bad.stderr.contains("`assignee`"), "{bad:?}");
    world.finish().await;
}

/// Row A10: flag, variable, settings, App and git remote, in this order.
#[tokio::test]
async fn repositories_of_the_settings_come_after_flag_and_variable_and_before_app_and_remote() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.another("acme/docs", 1).await;
    let repos = |ended: crate::harness::Ended| -> Vec<String> {
        let listed = ended.objects()[0]["result"].clone();
        let repo = |issue: &serde_json::Value| issue["repo"].as_str().unwrap().to_owned();
        listed.as_array().unwrap().iter().map(repo).collect()
    };
    let docs = ["--set", "repositories=acme/docs,ACME/docs", "list", "--json"];
    assert_eq!(repos(world.hob(&[&docs[..], &["--repo", "acme/site"]].concat()).await), ["acme/site"]);
    assert_eq!(repos(world.hob(&docs).await), ["acme/site"], "of the variable");
    let key = crate::harness::private_key();
    let changes = [("GITHUB_TOKEN", ""), ("GITHUB_REPOSITORY", ""), ("HOB_APP_PRIVATE_KEY", key.as_str())];
    assert_eq!(repos(world.hob_with(&[&["--set", "app.id=7"], &docs[..]].concat(), &changes).await), ["acme/docs"]);
    let remote = format!("{}/acme/site.git", world.forge.server_url());
    let clone = format!("unset GITHUB_REPOSITORY; git init -q . && git remote add origin {remote} && exec \"$@\"");
    assert_eq!(repos(world.hob_in_shell(&clone, &docs).await), ["acme/docs"]);
    world.finish().await;
}

/// Row A10: a person who wants one repository is told which flag chooses, and the sessions on this machine are shown in
/// any case.
#[tokio::test]
async fn several_repositories_of_the_settings_are_worked_on_and_a_command_about_one_asks_which() {
    let world = World::fixing().set("repositories", "acme/site,acme/docs").start().await;
    world.asks("Make done.txt", "").await;
    world.another("acme/docs", 1).await;
    let nobody = [("GITHUB_REPOSITORY", "")];
    for args in [vec!["run", "1"], vec!["doctor"], vec!["init"]] {
        let ended = world.hob_with(&args, &nobody).await;
        let says = "use `--repo` with one of acme/site, acme/docs";
        assert!(ended.code == 2 && ended.stderr.contains(says), "{args:?}: {ended:?}");
    }
    assert_eq!(world.writes(), []);
    let ended = world.hob_with(&["run", "--once"], &nobody).await;
    assert_eq!((ended.code, opened(&world).len()), (0, 2), "{ended:?}");
    let sessions = world.hob_with(&["session", "list"], &nobody).await;
    assert!(sessions.stdout.contains("acme/site#1") && sessions.stdout.contains("acme/docs#1"), "{sessions:?}");
    world.finish().await;
}

/// The polls of a repository: each reads the refs of the ledgers.
fn polled(world: &World, repo: &str) -> usize {
    let path = format!("/api/v3/repos/{repo}/git/matching-refs/hob/");
    world.forge.requests().iter().filter(|one| one.path == path).count()
}

/// From the second round on one query asks for all of them, and a repository without news is not polled.
#[test]
fn of_many_repositories_only_those_with_news_are_polled() {
    in_virtual_time(Box::pin(async {
        let turnstile = Arc::new(Turnstile::default());
        let world = World::fixing().inside(&turnstile).start().await;
        let names: Vec<String> = (0..6).map(|n| format!("acme/still{n}")).collect();
        for name in &names {
            world.another(name, 0).await;
        }
        // News of the last minute may have been missed.
        world.forge.advance(Duration::from_secs(120));
        let cancel = CancellationToken::new();
        let connection = world.as_bot(&world.settings);
        let repositories = Repositories::Named(names.iter().map(|name| named(name)).collect());
        let pool = world.pool_until(&connection, repositories, &world.settings, (cancel.clone(), None));
        let interval = world.settings.poll.max_interval();
        let watched = async {
            tokio::time::sleep(interval * 3).await;
            let first: Vec<_> = names.iter().map(|name| polled(&world, name)).collect();
            assert!(first.iter().all(|polls| (1..=2).contains(polls)), "{first:?}");
            let issue = json!({"title": "Make done.txt", "labels": ["code"]});
            world.call_in("acme/still3", "ann", Method::POST, "/issues", issue).await;
            tokio::time::sleep(interval * 2).await;
            let then: Vec<_> = names.iter().map(|name| polled(&world, name)).collect();
            let changed: Vec<_> = (0..6).filter(|at| first[*at] != then[*at]).collect();
            assert_eq!(changed, [3], "{first:?} {then:?}");
            let labels = world.call_in("acme/still3", "ann", Method::GET, "/issues/1/labels", json!(null)).await;
            assert_eq!(labels.as_array().unwrap().len(), 2, "{labels} {:?}", world.failures());
            // Twice an hour each is polled in any case.
            tokio::time::sleep(Duration::from_secs(2_400)).await;
            assert!(names.iter().zip(&then).all(|(name, before)| polled(&world, name) > *before));
            cancel.cancel();
        };
        tokio::join!(pool.run_forever(RunLimits::default()), watched).0.unwrap();
        world.finish().await;
    }));
}
