//! Events on an issue while the agent works on it.

use github_emulator::{Fault, What, When};
use hob_domain::State;
use serde_json::json;

use crate::harness::{Gate, World};

/// A world whose agent is at the gate with this issue when `deed` is done.
macro_rules! while_the_agent_works {
    ($world:ident, $issue:ident, $deed:expr) => {{
        let script = Gate::before("echo done > done.txt");
        let $world = World::fixing().script("fixer", &script).start().await;
        let mut gate = Gate::of(&$world);
        let $issue = $world.asks("Make done.txt", "As it was approved.").await;
        let meanwhile = async {
            gate.reached().await;
            $deed;
            gate.open().await;
        };
        tokio::join!($world.run(), meanwhile);
        assert!($world.pulls().await.is_empty() && $world.branches().await.is_empty());
        ($world, $issue)
    }};
}

/// Attack corpus B16.
#[tokio::test]
async fn an_edit_blocks_the_issue_and_nothing_is_pushed() {
    let (world, issue) =
        while_the_agent_works!(world, issue, world.edits("ann", issue, json!({"body": "Now do evil."})).await);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("was edited after the work on it was authorized"));
    world.finish().await;
}

/// A box that is ticked meanwhile, and other ends of lines, are no edit.
#[tokio::test]
async fn a_ticked_box_is_no_edit() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "Do:\n\n- [ ] this").await;
    tokio::join!(world.run(), async {
        gate.reached().await;
        world.edits("ann", issue, json!({"body": "Do: \r\n\r\n- [x] this\r\n"})).await;
        gate.open().await;
    });
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn a_closed_issue_gets_no_pull_request() {
    let (world, issue) =
        while_the_agent_works!(world, issue, world.edits("ann", issue, json!({"state": "closed"})).await);
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, ["code"]);
    let status = world.status(issue).await;
    assert!(status.contains("**Stopped**: `ann` closed the issue as completed."), "{status}");
    world.finish().await;
}

/// Field note N92.
#[tokio::test]
async fn an_issue_whose_label_is_taken_off_gets_no_pull_request() {
    let (world, issue) = while_the_agent_works!(world, issue, world.labels_off("tess", issue, "code").await);
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    let status = world.status(issue).await;
    assert!(status.contains("**Stopped**: `tess` took the label `code` off."), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn an_edit_before_a_second_attempt_blocks_the_issue() {
    let world = World::with_agent("kill -9 $$").start().await;
    let issue = world.asks("Approved", "This.").await;
    world.run().await;
    world.edits("ann", issue, json!({"title": "Not approved"})).await;
    world.forge.advance(world.settings.limits.retry_delay * 2);
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);

    // A trusted comment approves the current text.
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert!(world.briefs(issue)[1].contains("Not approved"));
    world.finish().await;
}

#[tokio::test]
async fn labels_of_other_people_stay() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.opens("ann", "Make done.txt", "", &["code", "bug"]).await;
    let meanwhile = async {
        gate.reached().await;
        world.labels_on("tess", issue, "good first issue").await;
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["bug", "code", "good first issue", "in-review"]);
    world.finish().await;
}

fn failing(method: &str, path: String, when: When, what: What) -> Fault {
    Fault { method: Some(method.to_owned()), path, login: None, when, what }
}

fn answer(status: u16) -> What {
    What::Answer { status, headers: std::collections::BTreeMap::new(), message: String::new() }
}

#[tokio::test]
async fn a_label_that_could_not_be_taken_off_at_the_end_is_taken_off_later() {
    let path = "/repos/acme/site/issues/1/labels/in-progress".to_owned();
    let (world, issue) = while_the_agent_works!(world, issue, {
        world.labels_off("tess", issue, "code").await;
        world.forge.inject(failing("DELETE", path, When::Always, answer(502)));
    });
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, ["in-progress"]);
    world.forge.heal();
    world.forge.advance(world.settings.lease.duration * 2);
    world.run().await;
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    world.finish_after_faults().await;
}

#[tokio::test]
async fn an_issue_that_is_not_found_once_is_looked_for_again_before_its_work_is_given_up() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        world.forge.inject(failing("GET", "/repos/acme/site/issues/1".to_owned(), When::First(1), answer(404)));
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish_after_faults().await;
}

/// A read that lags shows the issue as gone, when the work is to be published.
#[tokio::test]
async fn a_read_that_does_not_find_the_issue_discards_no_work() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        let what = What::Answer { status: 404, headers: [].into(), message: "Not Found".to_owned() };
        let (method, login) = (Some("GET".to_owned()), Some("hob".into()));
        let path = format!("/repos/acme/site/issues/{issue}");
        world.forge.inject(Fault { method, path, login, when: When::First(2), what });
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}
