//! What a repository decides in its own file about how Hob works with it.

use hob_domain::{IssueNumber, State};
use hob_forge::Access;
use hob_worker::RunLimits;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Builder, Gate, World, run};

const FILE: &str = ".github/hob.toml";
const CHECKS: &str = "checks = ['test -f done.txt']\n";

/// Settings of an operator that are all different from what [`HOUSE`] says.
fn operator() -> Builder {
    World::fixing().set("publish.draft", "never").set("publish.labels", "theirs").set("publish.template", "a.md")
}

const HOUSE: &str = "checks = ['test -f done.txt']\n[publish]\ndraft = 'always'\ntemplate = 'fix.md'\nlabels = ['bot']\n\
                     reviewers = ['wil']\n";

impl World {
    async fn has_labels(&self, names: &[&str]) {
        for name in names {
            self.call("ann", Method::POST, "/labels", json!({"name": name, "color": "5319e7"})).await;
        }
    }

    /// The pull request of the issue.
    async fn pull_of(&self, issue: u64) -> Value {
        let number = self.record(issue).await.unwrap().pull.number.unwrap();
        self.look(&format!("/pulls/{number}")).await
    }
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_change_of_the_file_counts_from_the_next_attempt_on_without_a_restart() {
    let world = operator()
        .script("fixer", &Gate::before("echo done > done.txt"))
        .file(".github/PULL_REQUEST_TEMPLATE/a.md", "# A\n\n- [ ] a\n")
        .file(".github/PULL_REQUEST_TEMPLATE/fix.md", "# Fix\n\n- [ ] b\n")
        .start()
        .await;
    world.has_labels(&["theirs", "bot"]).await;
    let mut gate = Gate::of(&world);
    let (worker, before) = (world.worker("w1").await, world.asks("Make done.txt", "").await);
    let meanwhile = async {
        gate.reached().await;
        world.pushes_onto("ann", "main", FILE, HOUSE).await;
        gate.open().await;
    };
    tokio::join!(run(&worker), meanwhile);
    let after = world.asks("Make done.txt, too", "").await;
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    tokio::join!(run(&worker), opens);
    for (issue, draft, heading, label, reviewers) in
        [(before, false, "# A\n", "theirs", vec![]), (after, true, "# Fix\n", "bot", vec!["wil".to_owned()])]
    {
        let pull = world.pull_of(issue).await;
        assert_eq!(pull["draft"], draft, "{:?}", world.failures());
        assert!(pull["body"].as_str().unwrap().contains(heading), "{pull}");
        assert_eq!(names(&pull["labels"], "name"), [label]);
        assert_eq!(names(&pull["requested_reviewers"], "login"), reviewers);
    }
    world.finish().await;
}

#[tokio::test]
async fn what_counts_is_the_file_of_the_default_branch() {
    let world = World::fixing().file(FILE, &format!("{CHECKS}publish.base = 'next'\n")).start().await;
    // Its checks count, since the work starts there.
    let elsewhere = "checks = ['test -f done.txt', 'test -f next.txt']\npublish = { draft = true, base = 'main' }\n";
    world.pushes("ann", "next", FILE, elsewhere).await;
    world.pushes_onto("ann", "next", "next.txt", "x").await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull_of(issue).await;
    assert_eq!((&pull["base"]["ref"], &pull["draft"]), (&json!("next"), &json!(false)), "{:?}", world.failures());
    assert!(pull["body"].as_str().unwrap().contains("test -f next.txt"), "{pull}");
    world.finish().await;
}

#[tokio::test]
async fn workers_that_the_file_agrees_work_side_by_side() {
    for (file, differs) in [(CHECKS.to_owned(), true), (format!("{CHECKS}publish.draft = 'never'\n"), false)] {
        let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).file(FILE, &file);
        let world = world.start().await;
        let mut gate = Gate::of(&world);
        world.asks("Make done.txt", "").await;
        let second = world.asks("Make done.txt, too", "").await;
        let mut settings = world.settings.clone();
        let flags =
            [("publish.draft", "always"), ("limits.open_pulls", "0")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        settings.shared = hob_config::Settings::load(None, [].into(), &flags).unwrap().shared;
        settings.publish.draft = hob_config::DraftRule::Always;
        let (first, other) =
            (world.worker("first").await, world.worker_with("other", settings, Access::ReadWrite).await);
        let beside = async {
            gate.reached().await;
            let said = hob_worker::explain::one(&other, IssueNumber(second)).await.unwrap().unwrap().why;
            assert_eq!(said.contains("other settings (`publish.draft`)"), differs, "{said}");
            if differs {
                assert_eq!(run(&other).await.worked, 0);
                gate.open().await;
            } else {
                let opens = async {
                    gate.reached().await;
                    gate.open().await;
                    gate.open().await;
                };
                let (worked, ()) = tokio::join!(run(&other), opens);
                assert_eq!(worked.worked, 1);
            }
        };
        let one = RunLimits { max_issues: Some(1), ..RunLimits::default() };
        let (worked, ()) = tokio::join!(hob_worker::run_once(&first, one), beside);
        assert_eq!(worked.unwrap().worked, 1, "{:?}", world.failures());
        assert!(world.pulls().await.iter().all(|pull| pull["draft"] == false));
        world.finish().await;
    }
}

/// Also where the work would start on another branch, whose file is in order.
#[tokio::test]
async fn a_file_that_sets_what_is_the_operators_stops_the_repository_until_it_is_mended() {
    for base in ["", "next"] {
        let world = World::fixing().set("publish.base", base).start().await;
        world.pushes("ann", "next", "next.txt", "x").await;
        let worker = world.worker("w1").await;
        world.pushes_onto("ann", "main", FILE, &format!("{CHECKS}publish.signing = '/keys/theirs'\n")).await;
        let issue = world.asks("Make done.txt", "").await;
        drop(hob_worker::run_once(&worker, RunLimits::default()).await);
        let says = "`publish.signing` is allowed only in the settings of Hob's operator";
        assert!(world.status(issue).await.contains(says), "{:?}", world.failures());
        assert_eq!((world.briefs(issue).len(), world.pulls().await.len()), (0, 0));
        let said = hob_worker::explain::one(&worker, IssueNumber(issue)).await.unwrap().unwrap().why;
        assert!(said.contains(says), "{said}");
        world.pushes_onto("ann", "main", FILE, CHECKS).await;
        world.forge.advance(world.settings.limits.retry_delay * 2);
        run(&worker).await;
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
        world.finish().await;
    }
}

#[tokio::test]
async fn the_file_says_which_label_asks_for_work_what_comes_first_and_how_much_waits_for_people() {
    let world = World::fixing().set("limits.open_pulls", "5").start().await;
    world.has_labels(&["robot", "p0"]).await;
    let worker = world.worker("w1").await;
    let (by_old_name, later) =
        (world.asks("Make done.txt", "").await, world.opens("ann", "Make it", "", &["robot"]).await);
    let first = world.opens("ann", "Make it first", "", &["robot", "p0"]).await;
    let house = "labels = { trigger = 'robot', priority = ['p0'] }\nlimits.open_pulls = 1\ndashboard.issue = 'auto'\n";
    world.pushes_onto("ann", "main", FILE, &format!("{CHECKS}{house}")).await;
    let said = hob_worker::explain::one(&worker, IssueNumber(by_old_name)).await.unwrap().unwrap().why;
    assert!(said.contains("it does not have the label `robot`"), "{said}");
    run(&worker).await;
    let states = async |issue| world.record(issue).await.map(|record| record.state);
    assert_eq!(states(first).await, Some(State::InReview), "{:?}", world.failures());
    assert_eq!((states(later).await, states(by_old_name).await), (None, None));
    let repository = world.repository_record().await.unwrap();
    assert!(repository.dashboard.is_some_and(|drawn| drawn.issue.is_some()), "the dashboard is there");
    // The operator's commands know the label, too.
    hob_worker::pause(&worker, IssueNumber(first), "later").await.unwrap();
    hob_worker::resume(&worker, IssueNumber(first)).await.unwrap();
    assert_eq!(states(first).await, Some(State::InReview));
    let doctor = world.hob(&["doctor"]).await;
    assert!(doctor.stdout.contains("2 open issues with the label `robot`"), "{doctor:?}");
    // No more than the operator allows.
    world
        .pushes_onto("ann", "main", FILE, &format!("{CHECKS}labels.trigger = 'robot'\nlimits.open_pulls = 50\n"))
        .await;
    run(&worker).await;
    assert_eq!(states(later).await, Some(State::InReview), "{:?}", world.failures());
    world.finish().await;
}
