//! Rounds in review: feedback from a pull request is worked on, and answered once.

mod approvals;
mod checks;
mod corrections;
mod exchanges;
mod lagging;
mod limits;
mod mixture;
mod persons_commits;
mod questions;
mod queue;
mod unchanged;

use std::time::Duration;

use github_emulator::{BranchRules, Fault, LoggedRequest, RequiredChecks, What, When};
use hob_domain::State;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{World, repo_on_forge, run};

/// The first run writes three lines; the next one changes two of them and disagrees with the third thread.
const WRITES_LINES: &str = r#"if [ "$n" = 0 ]; then printf 'one\ntwo\nthree\n' > done.txt; echo '{"outcome":"done","summary":"Wrote it."}'; exit; fi
printf 'ONE\nTWO\nthree\n' > done.txt
printf '%s\n' '{"outcome":"done","summary":"Shouted where it was asked.\n\nT1: Done, in capitals.\nT2: Done too.\nT3: No: three is a name."}'"#;

impl World {
    /// Works until a pull request is open; its number.
    pub(super) async fn opens_a_pull(&self) -> u64 {
        let summary = self.run().await;
        assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", self.failures());
        self.pull().await["number"].as_u64().unwrap()
    }

    /// A person reviews, with comments on these lines of `done.txt`.
    pub(super) async fn reviews(
        &self,
        login: &str,
        pull: u64,
        (event, body): (&str, &str),
        lines: &[(u64, &str)],
    ) -> Value {
        self.forge.advance(Duration::from_secs(2));
        let comments: Vec<Value> = lines
            .iter()
            .map(|(line, body)| json!({"path": "done.txt", "line": line, "side": "RIGHT", "body": body}))
            .collect();
        let review = json!({"event": event, "body": body, "comments": comments});
        self.call(login, Method::POST, &format!("/pulls/{pull}/reviews"), review).await
    }

    /// The comments on lines: author, the thread's first comment, and text.
    async fn remarks(&self, pull: u64) -> Vec<(String, u64, String)> {
        let remarks = self.look(&format!("/pulls/{pull}/comments?per_page=100")).await;
        let one = |remark: &Value| {
            let first = remark["in_reply_to_id"].as_u64().or(remark["id"].as_u64()).unwrap();
            (remark["user"]["login"].as_str().unwrap().to_owned(), first, remark["body"].as_str().unwrap().to_owned())
        };
        remarks.as_array().unwrap().iter().map(one).collect()
    }

    /// The threads, each with the beginning of its first comment and whether it is resolved.
    async fn threads(&self, pull: u64) -> Vec<(String, String, bool)> {
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"site\") {{ pullRequest(number: {pull}) {{ reviewThreads(first: 100) {{ \
             nodes {{ id isResolved comments(first: 1) {{ nodes {{ body }} }} }} }} }} }} }}"
        );
        let data = self.ask_graphql("ann", json!({"query": query})).await["data"].clone();
        let nodes = data["repository"]["pullRequest"]["reviewThreads"]["nodes"].as_array().unwrap().clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let one = |node: &Value| {
            (text(&node["id"]), text(&node["comments"]["nodes"][0]["body"]), node["isResolved"].as_bool().unwrap())
        };
        nodes.iter().map(one).collect()
    }

    pub(super) async fn head(&self, pull: u64) -> String {
        self.look(&format!("/pulls/{pull}")).await["head"]["sha"].as_str().unwrap().to_owned()
    }
}

/// The checks of the pull request's head pass, ann approves and merges: the work needs no person's push.
async fn merges_when_green(world: World, issue: u64, pull: u64, check: &str) {
    let head = world.head(pull).await;
    let rules = BranchRules { required_status_checks: Some(RequiredChecks::named(&[check])), ..BranchRules::default() };
    world.forge.protect_branch(&repo_on_forge(), "main", rules).unwrap();
    let passed = json!({"head_sha": head, "name": check, "status": "completed", "conclusion": "success"});
    world.call("robo[bot]", Method::POST, "/check-runs", passed).await;
    world.reviews("ann", pull, ("APPROVE", "Good."), &[]).await;
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    // Most of this work has no tests, and its status `hob/proof` says so.
    let state = world.look(&format!("/pulls/{pull}")).await["mergeable_state"].clone();
    assert!(state == "clean" || state == "unstable", "{state}");
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    let authors = world.look(&format!("/pulls/{pull}/commits")).await;
    assert!(
        authors.as_array().unwrap().iter().all(|commit| commit["commit"]["committer"]["name"] == "Hob"),
        "{authors}"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_review_with_three_threads_is_worked_on_and_each_is_answered_once() {
    let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let first = world.head(pull).await;
    let lines = [(1, "Louder, please."), (2, "This one as well."), (3, "And this.")];
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &lines).await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());

    let head = world.head(pull).await;
    assert_ne!(head, first);
    assert_eq!(world.commits(pull).await.len(), 2, "on top of what was reviewed");
    let brief = world.briefs(issue)[1].clone();
    for part in ["review of ann", "Nearly there.", "--- thread T1", "done.txt line 3", "ann: And this.", "+three"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    let remarks = world.remarks(pull).await;
    let answers: Vec<&str> =
        remarks.iter().filter(|(author, ..)| author == "hob").map(|(_, _, body)| body.as_str()).collect();
    assert_eq!(answers.len(), 3, "{remarks:?}");
    for (answer, says) in answers.iter().zip(["Done, in capitals.", "Done too.", "No: three is a name."]) {
        assert!(answer.ends_with(&format!("-->\n{says}\n\nIn {head}.\n")), "{answer}");
    }
    let resolved: Vec<bool> = world.threads(pull).await.into_iter().map(|(.., resolved)| resolved).collect();
    assert_eq!(resolved, [true, true, false], "the one that it disagrees with stays open");
    let said = world.said(pull).await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].text.contains("Shouted where it was asked.") && !said[0].text.contains("T1:"), "{said:?}");
    let asked = world.look(&format!("/pulls/{pull}/requested_reviewers")).await;
    assert_eq!(asked["users"][0]["login"], "ann", "{asked}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.review.begun, record.review.rounds, record.review.handled.len()), (1, 1, 4));
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);

    // Handled feedback starts nothing more.
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (0, 0), "{:?}", world.failures());
    assert_eq!(world.remarks(pull).await.len(), 6);
    let status = world.status(issue).await;
    assert!(status.contains("handled in review: a review, 3 comments on lines (1 round for reviews)"), "{status}");
    merges_when_green(world, issue, pull, "test").await;
}

#[tokio::test]
async fn comments_on_lines_count_when_they_are_quiet_and_strangers_never() {
    let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("rob", pull, ("COMMENT", ""), &[(3, "Obey me.")]).await;
    world.reviews("ann", pull, ("COMMENT", ""), &[(1, "Louder, please.")]).await;
    assert_eq!(world.run().await.worked, 0, "she may be writing the next one");
    world.forge.advance(world.settings.review.settle);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    assert!(brief.contains("ann: Louder") && !brief.contains("Obey me"), "{brief}");
    // A reply in the thread is news; one of Hob's is not.
    let first = world.remarks(pull).await.into_iter().find(|(author, ..)| author == "ann").unwrap().1;
    let reply = format!("/pulls/{pull}/comments/{first}/replies");
    world.call("ann", Method::POST, &reply, json!({"body": "Louder still."})).await;
    world.forge.advance(world.settings.review.settle);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[2].clone();
    assert!(brief.contains("hob: Done, in capitals.") && brief.contains("ann: Louder still."), "{brief}");
    let remarks = world.remarks(pull).await;
    assert_eq!(remarks.iter().filter(|(author, ..)| author == "hob").count(), 2, "{remarks:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_answer_that_its_thread_does_not_take_goes_into_the_conversation() {
    let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &[(1, "A."), (2, "B."), (3, "C.")]).await;
    let second = world.remarks(pull).await[1].1;
    let what = What::Answer { status: 422, headers: std::collections::BTreeMap::new(), message: "No.".to_owned() };
    let path = format!("/repos/acme/site/pulls/{pull}/comments/{second}/replies");
    world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
    world.run().await;
    for _ in 0..2 {
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert_eq!(world.remarks(pull).await.len(), 5, "each other thread once");
        let said = world.said(pull).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:answer "));
        assert_eq!(said.count(), 2, "the review once, and that thread once");
        world.forge.heal();
        assert_eq!(world.run().await.worked, 0);
    }
    world.finish().await;
}

#[tokio::test]
async fn a_round_costs_few_calls() {
    let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    for _ in 0..2 {
        world.forge.advance(Duration::from_secs(2));
        run(&worker).await;
    }
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &[(1, "A."), (2, "B."), (3, "C.")]).await;
    world.forge.advance(Duration::from_secs(2));
    let (before, requests) = (worker.forge().connection().call_counts(), world.forge.requests().len());
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    let reads = worker.forge().connection().call_counts().reads - before.reads;
    let made = world.forge.requests().split_off(requests);
    let of_ledger = |call: &&LoggedRequest| call.path.contains("/git/commits") || call.path.contains("/git/refs");
    let changes = |call: &&LoggedRequest| call.method != "GET" && call.path.starts_with("/api/v3/");
    let moves = made.iter().filter(changes).filter(of_ledger).count();
    let shown = made.iter().filter(changes).count() - moves;
    // Visible to people: labels, comments, two statuses, the request for a review, and an answer in each thread. The
    // ledgers move six times.
    let told: Vec<String> = made
        .iter()
        .filter(|call| call.counted)
        .map(|call| format!("{} {} {}", call.method, call.path, call.status))
        .collect();
    assert!(reads <= 13 && shown <= 10 + 3 && moves <= 2 * 6, "{reads} reads, {shown} and {moves} writes: {told:#?}");
    world.finish().await;
}

#[tokio::test]
async fn a_thread_that_a_person_resolved_asks_for_nothing_and_one_of_hobs_may_go_on() {
    let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("COMMENT", ""), &[(1, "Louder?"), (2, "Louder.")]).await;
    let resolve = async |thread: &str| {
        let query =
            format!("mutation {{ resolveReviewThread(input: {{threadId: \"{thread}\"}}) {{ thread {{ id }} }} }}");
        world.ask_graphql("ann", json!({"query": query})).await;
    };
    resolve(&world.threads(pull).await[0].0).await;
    world.forge.advance(world.settings.review.settle);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let own = |remarks: Vec<(String, u64, String)>| remarks.into_iter().filter(|(author, ..)| author == "hob").count();
    assert_eq!(own(world.remarks(pull).await), 1, "only the one that was open");
    // Hob resolved it, and she is not content.
    assert!(world.threads(pull).await[1].2);
    let second = world.remarks(pull).await[1].1;
    let reply = format!("/pulls/{pull}/comments/{second}/replies");
    world.call("ann", Method::POST, &reply, json!({"body": "Louder still."})).await;
    world.forge.advance(world.settings.review.settle);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(own(world.remarks(pull).await), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_has_its_rounds_and_then_a_person_is_asked() {
    let world = World::with_agent("echo $n > done.txt").check("test -f done.txt").set("limits.rounds", "1");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Still more."), &[]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    assert!(status.contains("has had 1 round for reviews") && status.contains("`limits.rounds`"), "{status}");
    // An answer lets it continue with the request.
    world.comments("ann", issue, "/hob retry").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert!(world.briefs(issue)[2].clone().contains("Still more."));
    world.finish().await;
}

#[tokio::test]
async fn a_check_of_the_forge_that_fails_goes_to_the_agent_unless_the_base_fails_it_too() {
    let script = r#"if [ "$n" = 0 ]; then echo one > done.txt; else echo two > done.txt; fi; echo '{"outcome":"done","summary":"Mended it."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let (head, base) = (world.head(pull).await, world.look("/branches/main").await["commit"]["sha"].clone());
    let ends = |sha: Value, name: &str, conclusion: &str| {
        json!({"head_sha": sha, "name": name, "status": "completed", "conclusion": conclusion,
            "output": {"title": "1 failed", "summary": "assertion `left == right` failed"}})
    };
    let status = |state: &str| json!({"state": state, "context": "lint", "description": "E501"});
    world.call("robo[bot]", Method::POST, "/check-runs", ends(base.clone(), "flaky", "failure")).await;
    world.call("robo[bot]", Method::POST, "/check-runs", ends(json!(head), "flaky", "failure")).await;
    assert_eq!(world.run().await.worked, 0, "red on the base, too");
    let says = "On the base branch, too, the check `flaky` fails, so Hob does not work on that.";
    assert!(world.status(issue).await.contains(says), "{}", world.status(issue).await);
    let before = world.writes().len();
    assert_eq!(world.run().await.worked, 0);
    assert_eq!(world.writes().len(), before, "it is said once");
    let running = json!({"head_sha": head, "name": "test", "status": "in_progress"});
    let running = world.call("robo[bot]", Method::POST, "/check-runs", running).await["id"].as_u64().unwrap();
    world.call("wil", Method::POST, &format!("/statuses/{head}"), status("failure")).await;
    assert_eq!(world.run().await.worked, 0, "not all have ended");
    let ended = json!({"status": "completed", "conclusion": "failure", "output": {"title": "1 failed", "summary": "left == right"}});
    world.call("robo[bot]", Method::PATCH, &format!("/check-runs/{running}"), ended).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = world.briefs(issue)[1].clone();
    for part in ["failed check `test`", "left == right", "failed check `lint`", "E501"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert!(!brief.contains("flaky"), "{brief}");
    assert_ne!(world.head(pull).await, head);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.review.ci_rounds, record.review.rounds), (1, 0));
    assert_eq!(world.said(pull).await.len(), 0, "nobody is notified of that");
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    merges_when_green(world, issue, pull, "test").await;
}

#[tokio::test]
async fn a_conflict_with_the_base_is_resolved_by_a_merge_and_the_agent() {
    let script = r#"if [ "$n" = 0 ]; then echo work > README.md; else echo both > README.md; fi"#;
    let world = World::with_agent(script).start().await;
    let issue = world.asks("Change README.md", "").await;
    let pull = world.opens_a_pull().await;
    let first = world.head(pull).await;
    world.pushes_onto("ann", "main", "README.md", "theirs\n").await;
    assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable"], false);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable"], true);
    let commits = world.look(&format!("/pulls/{pull}/commits")).await;
    assert_eq!(commits[0]["sha"], json!(first), "what was there stays: {commits}");
    assert!(world.briefs(issue)[1].clone().contains("--- conflicts"));
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.review.base_rounds, record.state), (1, State::InReview));
    merges_when_green(world, issue, pull, "test").await;
}

#[tokio::test]
async fn the_work_is_ended_by_a_comment_on_the_pull_request() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.comments("rob", pull, "/hob cancel").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "rob may not");
    world.comments("ann", pull, "/hob cancel").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    world.finish().await;
}
