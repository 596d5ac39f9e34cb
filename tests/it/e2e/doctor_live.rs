//! `hob doctor --live`: it passes on the embedded forge, reports each mood by exactly the lines that it changes, and
//! leaves nothing behind.

use std::{collections::BTreeSet, sync::Arc};

use github_emulator::{Fault, Mood, Moods, What, When};
use hob_forge::{Forge, Live, LiveReport, TEST_PREFIX, live_check};
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{Turnstile, World, in_virtual_time, repo_on_forge};

const API_URL: &str = "http://127.0.0.1:1/api/v3";

async fn check(forge: &Forge) -> LiveReport {
    let live = Live { forge, api_url: API_URL, cancel: &CancellationToken::new(), told: &|_| {} };
    live_check(live).await.unwrap()
}

/// A world whose base branch has a check run.
async fn world() -> World {
    let world = World::fixing().start().await;
    let main = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
    let run = json!({"name": "test", "head_sha": main, "status": "completed", "conclusion": "success"});
    world.call("robo[bot]", Method::POST, "/check-runs", run).await;
    world
}

fn with(report: &LiveReport, outcome: &str) -> BTreeSet<&'static str> {
    report.lines.iter().filter(|line| line.outcome == outcome).map(|line| line.id).collect()
}

fn says<'a>(report: &'a LiveReport, id: &str) -> &'a str {
    report.lines.iter().find(|line| line.id == id).unwrap().says.as_deref().unwrap_or_default()
}

/// Fails if a check left anything open in the repository.
async fn nothing_is_left(world: &World, report: &LiveReport) {
    assert_eq!(report.left, [""; 0], "{report:#?}");
    let is_test = |text: &Value| text.as_str().is_some_and(|text| text.contains(TEST_PREFIX));
    let refs = world.look("/git/matching-refs/").await;
    assert!(!refs.as_array().unwrap().iter().any(|one| is_test(&one["ref"])), "{refs}");
    let labels = world.look("/labels?per_page=100").await;
    assert!(!labels.as_array().unwrap().iter().any(|label| is_test(&label["name"])), "{labels}");
    let open = world.look("/issues?state=open&per_page=100").await;
    assert!(!open.as_array().unwrap().iter().any(|issue| is_test(&issue["title"])), "{open}");
}

#[test]
fn without_moods_nothing_differs_for_a_user_an_app_and_a_job() {
    in_virtual_time(async {
        let world = world().await;
        world.forge.add_user(&"runner:token-of-runner:write:job".parse().unwrap());
        for (forge, token, untried) in [
            (world.live_with("token-of-hob", None), "user", &["check.forbidden", "commit.signed", "issue.by_app"][..]),
            (world.live_app(), "App", &["check.forbidden", "issue.creator"]),
            (world.live_with("token-of-runner", None), "job", &["check.forbidden", "commit.signed", "issue.creator"]),
        ] {
            let report = check(&forge).await;
            assert_eq!(with(&report, "differs"), BTreeSet::new(), "{token}: {report:#?}");
            assert_eq!(with(&report, "not tried"), untried.iter().copied().collect(), "{token}: {report:#?}");
            assert!(report.token.starts_with(token) && report.server == "the embedded forge", "{report:#?}");
            nothing_is_left(&world, &report).await;
        }
        world.leave();
    });
}

#[test]
fn a_token_that_may_not_see_check_runs_is_told() {
    in_virtual_time(async {
        let world = world().await;
        world.forge.add_user(&"fine:github_pat_1:write:fine-grained".parse().unwrap());
        let report = check(&world.live_with("github_pat_1", None)).await;
        assert_eq!(with(&report, "differs"), BTreeSet::new(), "{report:#?}");
        assert!(with(&report, "ok").contains("check.forbidden") && with(&report, "not tried").contains("check.list"));
        assert_eq!((report.token, says(&report, "check.same")), ("user (fine-grained)", "hidden in both"));
        nothing_is_left(&world, &report).await;
        world.leave();
    });
}

/// The lines that a mood changes.
fn changed_by(mood: Mood) -> &'static [&'static str] {
    match mood {
        // The first does not concern a person's token; a single token meets no other's tags, and a check is too short
        // for limits and pushes no file.
        Mood::TokenPermissions | Mood::Tags | Mood::Points | Mood::LargeFiles => &[],
        Mood::RefRaces => &["ref.exists", "ref.not_forwards"],
        Mood::RefRefusals => &["ref.space"],
        Mood::RefLag => &["fresh.ref", "fresh.target"],
        Mood::EventLag => &["fresh.event"],
        // Notifying people is too much, so the checks of comments and pull requests stop.
        Mood::PullLag => &["comment.create", "fresh.issue", "pull.open"],
        Mood::Touched => &["comment.times"],
        Mood::Queries => &["graphql.answers"],
        Mood::HiddenChecks => &["check.same"],
    }
}

#[test]
fn each_mood_is_told_by_exactly_its_lines() {
    in_virtual_time(async {
        let world = world().await;
        for mood in Mood::ALL {
            let expected: BTreeSet<_> = changed_by(mood).iter().copied().collect();
            let mut told = BTreeSet::new();
            // One of the wordings of a lost race is the usual one, and a run's own names decide which is drawn.
            for _ in 0..if mood == Mood::RefRaces { 40 } else { 1 } {
                world.forge.set_moods(Moods::new([mood], 0).with_percent(100));
                let report = check(&world.live_with("token-of-hob", None)).await;
                world.forge.set_moods(Moods::default());
                nothing_is_left(&world, &report).await;
                let differs = with(&report, "differs");
                assert!(differs.is_subset(&expected), "{}: {report:#?}", mood.name());
                told.extend(differs);
            }
            assert_eq!(told, expected, "{}", mood.name());
        }
        world.leave();
    });
}

#[test]
fn what_github_says_of_an_apps_permissions_is_as_assumed() {
    in_virtual_time(async {
        let world = world().await;
        world.forge.set_moods(Moods::new([Mood::TokenPermissions], 0));
        let report = check(&world.live_app()).await;
        assert_eq!(says(&report, "repo.permissions"), "`push` is false, which is unexpected for such a token");
        assert_eq!(with(&report, "differs"), BTreeSet::new());
        world.leave();
    });
}

#[test]
fn a_base_branch_with_a_slash_in_its_name_is_read() {
    in_virtual_time(async {
        let world = world().await;
        let main = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
        world.call("ann", Method::POST, "/git/refs", json!({"ref": "refs/heads/release/1", "sha": main})).await;
        world.call("ann", Method::PATCH, "", json!({"default_branch": "release/1"})).await;
        let report = check(&world.live_with("token-of-hob", None)).await;
        assert!(with(&report, "ok").is_superset(&["branch.tip", "pull.open"].into()), "{report:#?}");
        nothing_is_left(&world, &report).await;
        world.leave();
    });
}

/// The number of calls with this method that a check makes.
fn calls(world: &World, method: &str) -> u64 {
    let is_its = |path: &str| path.contains("/repos/");
    let made = world.forge.requests().into_iter().filter(|request| request.method == method && is_its(&request.path));
    made.filter(|request| request.login.as_ref().is_some_and(|login| login.as_str() == "hob")).count() as u64
}

#[test]
fn whichever_write_fails_nothing_is_left() {
    in_virtual_time(async {
        let world = world().await;
        nothing_is_left(&world, &check(&world.live_with("token-of-hob", None)).await).await;
        let made = ["POST", "PATCH", "DELETE"].map(|method| (method, calls(&world, method)));
        for (method, made) in made {
            assert!((4..30).contains(&made), "{method}: {made}");
            for call in 1..=made {
                let refused = || What::Answer { status: 502, headers: Default::default(), message: String::new() };
                for what in [refused(), What::DropBefore, What::DropAfter] {
                    let path = "/repos/acme/site/**".to_owned();
                    let (method, login) = (Some(method.to_owned()), Some("hob".into()));
                    world.forge.inject(Fault { method, path, login, when: When::Call(call), what });
                    let report = check(&world.live_with("token-of-hob", None)).await;
                    world.forge.heal();
                    nothing_is_left(&world, &report).await;
                }
            }
        }
        world.leave();
    });
}

#[test]
fn whenever_it_is_asked_to_stop_nothing_is_left() {
    in_virtual_time(async {
        let world = world().await;
        for before in 0.. {
            let (turnstile, cancel) = (Arc::new(Turnstile::default()), CancellationToken::new());
            let stopped = turnstile.stop_at_write(before);
            let forge = world.live_with("token-of-hob", Some(Arc::clone(&turnstile)));
            let live = Live { forge: &forge, api_url: API_URL, cancel: &cancel, told: &|_| {} };
            let asks = async {
                let Ok(goes_on) = stopped.await else { return false };
                cancel.cancel();
                goes_on.send(()).unwrap();
                true
            };
            let checks = async {
                let report = live_check(live).await.unwrap();
                turnstile.open();
                report
            };
            let (report, was_asked) = tokio::join!(checks, asks);
            nothing_is_left(&world, &report).await;
            // Later it has begun to clean up, and goes on with that.
            assert!(was_asked || !report.interrupted, "{report:#?}");
            assert!(report.interrupted || before > 20, "{before} writes: {report:#?}");
            if !was_asked {
                break;
            }
        }
        world.leave();
    });
}

#[tokio::test]
async fn the_program_wants_the_repository_named_twice_and_tells_no_names() {
    let world = world().await;
    for args in [
        &["doctor", "--live", "acme/site"][..],
        &["--repo", "acme/site", "doctor", "--live", "acme/other"],
        &["--repo", "acme/site", "--repo", "acme/other", "doctor", "--live", "acme/site"],
    ] {
        let ended = world.hob(args).await;
        assert!(ended.code == 2 && ended.stderr.contains("` is required as well"), "{ended:?}");
    }
    assert_eq!(world.writes(), []);
    let twice = ["--repo", "acme/site", "doctor", "--live", "acme/site"];
    let ended = world.hob(&twice).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let message = "Acme/Site: see https://ghe.corp/acme, of hob at 127.0.0.1, token-of-hob".to_owned();
    let what = What::Answer { status: 422, headers: Default::default(), message };
    let path = format!("/repos/{}/issues/*/labels", repo_on_forge());
    world.forge.inject(Fault { method: Some("POST".to_owned()), path, login: None, when: When::Always, what });
    let differs = world.hob(&twice).await;
    assert_eq!(differs.code, 1, "{differs:?}");
    let line =
        "label.put          differs: 422 \"OWNER/NAME: see ADDRESS of LOGIN at HOST, (redacted: a secret of Hob)\"\n";
    assert!(differs.stdout.contains(line), "{}", differs.stdout);
    assert!(differs.stderr.ends_with("hob: 1 line differs from `docs/design/github.md`\n"), "{}", differs.stderr);
    for (name, told) in [("acme", &ended.stdout), ("acme", &differs.stdout), ("127.0.0.1", &ended.stdout)] {
        assert!(!told.contains(name), "{name}: {told}");
    }
    world.leave();
}
