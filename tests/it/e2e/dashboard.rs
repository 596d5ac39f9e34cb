//! The dashboard: drawn when something changed, and its boxes act once, for authorized accounts.

use std::{sync::Arc, time::Duration};

use github_emulator::LoggedRequest;
use hob_domain::{
    BlockReason, Control, DASHBOARD_MARK, DASHBOARD_TITLE, Ending, Impact, IssueNumber, Proposed, RunId, RunPurpose,
    State, Transition, WorkedBy,
};
use hob_forge::Access;
use hob_worker::{Worker, run_sequentially};
use http::Method;
use serde_json::json;

use crate::harness::{Builder, Turnstile, World, claim, in_virtual_time, redacted, run};

/// An agent that fails, so that each issue is blocked.
fn failing() -> Builder {
    World::with_agent("exit 9")
}

impl World {
    async fn body(&self, issue: u64) -> String {
        self.look(&format!("/issues/{issue}")).await["body"].as_str().unwrap_or_default().to_owned()
    }

    /// The number of the one dashboard.
    async fn dashboard(&self) -> u64 {
        let issues = self.look("/issues?state=all&per_page=100").await;
        let boards: Vec<u64> = issues
            .as_array()
            .unwrap()
            .iter()
            .filter(|issue| issue["title"] == DASHBOARD_TITLE)
            .map(|issue| issue["number"].as_u64().unwrap())
            .collect();
        assert_eq!(boards.len(), 1, "{issues}");
        boards[0]
    }

    /// A person ticks a box of an issue, as the page's form does.
    async fn ticks(&self, login: &str, board: u64, act: &str, issue: u64) {
        let mark = format!("<!-- hob:do {act} {issue} ");
        let tick = |line: &str| if line.contains(&mark) { line.replace("[ ]", "[x]") } else { line.to_owned() };
        let before = self.body(board).await;
        let body = before.lines().map(tick).collect::<Vec<_>>().join("\r\n");
        assert!(body.contains("[x]"), "no box {act} of {issue}: {before}");
        self.edits(login, board, json!({"body": body})).await;
    }

    /// A worker polls once the minute is over.
    async fn draws(&self, worker: &Arc<Worker>) {
        self.forge.advance(Duration::from_secs(61));
        run(worker).await;
    }

    /// The edits of the dashboard so far.
    fn edits_of(&self, board: u64) -> usize {
        let path = format!("/issues/{board}");
        let is_edit = |write: &&LoggedRequest| write.method == "PATCH" && write.path.ends_with(&path);
        self.writes().iter().filter(is_edit).count()
    }

    /// The number of times that the issue's history says this.
    async fn times(&self, issue: u64, sentence: &str) -> usize {
        self.history(issue).await.iter().filter(|line| line.contains(sentence)).count()
    }
}

#[tokio::test]
async fn the_page_is_opened_once_and_costs_nothing_while_nothing_changes() {
    let world = World::fixing().set("dashboard.issue", "auto").start().await;
    let issue = world.asks("Make [done](https://evil.example).txt", "").await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    let board = world.dashboard().await;
    let body = world.body(board).await;
    assert!(body.starts_with(DASHBOARD_MARK) && body.contains("### Ready (1)"), "{body}");
    world.draws(&worker).await;
    let body = world.body(board).await;
    let _redacted = redacted();
    insta::assert_snapshot!(body, @"
    <!-- hob:dashboard -->
    Hob keeps this page up to date, with at most one edit a minute. Tick a box and Hob does it once, if your account has the permission `write`. Other edits of this page are lost.

    ### In review (1)

    - [1 Make (done)(https://evil.example).txt](../issues/1)  
      [pull request 3](../pull/3) · Proven · 1 of 1 check passed
      - [ ] cancel <!-- hob:do cancel 1 1015 -->

    ### Times

    | the latest | number | P50 | P95 | P99 |
    |---|---|---|---|---|
    | load of an agent | 1 | too few | too few | too few |
    | claim to pull request | 1 | too few | too few | too few |
    ");
    world.draws(&worker).await;
    let (counts, edits) = (worker.forge().connection().call_counts(), world.edits_of(board));
    for _ in 0..5 {
        world.draws(&worker).await;
    }
    let after = worker.forge().connection().call_counts();
    assert_eq!((after.reads, after.writes), (counts.reads, counts.writes), "an idle page is free");
    assert_eq!((world.edits_of(board), edits), (edits, 1));
    world.labels_on("ann", board, "code").await;
    world.draws(&worker).await;
    assert_eq!(
        (world.labels(board).await, world.record(board).await),
        (vec!["code".to_owned()], None),
        "it is not work"
    );
    assert_eq!(world.briefs(issue).len(), 1);
    // A person who closes it does not want a dashboard.
    world.edits("ann", board, json!({"state": "closed", "body": "mine"})).await;
    world.draws(&worker).await;
    assert_eq!(world.body(board).await, "mine");
    world.dashboard().await;
    world.finish().await;
}

#[tokio::test]
async fn the_page_has_one_edit_a_minute_whatever_happens() {
    let world = failing().set("dashboard.issue", "1").start().await;
    let board = world.opens("ann", "Board", "", &[]).await;
    let worker = world.worker("w1").await;
    for n in 0..4 {
        world.asks(&format!("Chore {n}"), "").await;
        run(&worker).await;
    }
    assert_eq!(world.edits_of(board), 1, "{:?}", world.failures());
    world.draws(&worker).await;
    assert_eq!(world.edits_of(board), 2);
    assert!(world.body(board).await.contains("### Blocked (4)"));
    assert_eq!(world.repository_record().await.unwrap().dashboard.unwrap().issue, Some(IssueNumber(board)));
    world.finish().await;
}

#[tokio::test]
async fn a_tick_of_an_authorized_account_acts_once() {
    let world = failing().set("dashboard.issue", "auto").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (one, other) = (world.worker("one").await, world.worker("other").await);
    run(&one).await;
    world.draws(&one).await;
    let board = world.dashboard().await;
    world.ticks("wil", board, "retry", issue).await;
    run(&one).await;
    assert_eq!(world.briefs(issue).len(), 2, "it is tried again at once: {:?}", world.failures());
    // The box is still ticked, and read by all until the minute is over.
    for worker in [&other, &one, &other] {
        run(worker).await;
    }
    assert_eq!((world.times(issue, "unblocked by wil").await, world.briefs(issue).len()), (1, 2));
    assert_eq!(world.record(issue).await.unwrap().state, State::Blocked);
    world.draws(&other).await;
    let body = world.body(board).await;
    assert!(!body.contains("[x]") && body.contains("hob:do retry"), "{body}");
    world.ticks("ann", board, "cancel", issue).await;
    run(&one).await;
    run(&other).await;
    assert_eq!(world.times(issue, "ann ended the work").await, 2, "the end is begun and made");
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    world.draws(&one).await;
    assert!(world.body(board).await.contains("No issue is waiting for work."));
    world.finish().await;
}

/// Attack corpus K154: the REST API calls a bot `helper[bot]` and GraphQL `helper`, and settings may have either.
#[tokio::test]
async fn a_tick_counts_where_hobs_account_is_a_bot() {
    for setting in ["", "helper[bot]", "helper"] {
        a_tick_counts_for_a_bot_that_the_settings_call(setting).await;
    }
}

async fn a_tick_counts_for_a_bot_that_the_settings_call(setting: &str) {
    let world = failing().set("dashboard.issue", "1").set("forge.login", setting).start().await;
    // As the documentation of the embedded forge declares it.
    world.forge.add_user(&"helper:token-of-helper:write:bot".parse().unwrap());
    let board = world.opens("ann", "Board", "", &[]).await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker_as("helper", "w1").await;
    run(&worker).await;
    world.draws(&worker).await;
    let comments = world.look(&format!("/issues/{issue}/comments")).await;
    assert_eq!((&comments[0]["user"]["login"], &comments[0]["user"]["type"]), (&json!("helper[bot]"), &json!("Bot")));
    // Hob redraws the page before anyone ticks.
    world.asks("Make another", "").await;
    run(&worker).await;
    world.draws(&worker).await;
    assert!(world.body(board).await.contains("### Blocked (2)"));
    world.ticks("ann", board, "cancel", issue).await;
    run(&worker).await;
    world.draws(&worker).await;
    let body = world.body(board).await;
    assert!(!body.contains("did not count"), "`{setting}`: {body}");
    assert_eq!((world.times(issue, "ann ended the work").await, world.labels(issue).await), (2, Vec::new()));
    // The check for leftovers uses the name of another account.
    world.leave();
}

#[tokio::test]
async fn a_strangers_tick_does_nothing_and_the_page_says_so() {
    let world = failing().set("dashboard.issue", "1").start().await;
    // A stranger opened the issue that the maintainers chose, so they may edit its text.
    let board = world.opens("out", "Board", "", &[]).await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    world.draws(&worker).await;
    for others in [&[][..], &["ann"]] {
        world.ticks("out", board, "cancel", issue).await;
        for login in others {
            // Their edit does not make the stranger's tick theirs.
            let body = format!("{}\nHello", world.body(board).await);
            world.edits(login, board, json!({"body": body})).await;
        }
        run(&worker).await;
        world.draws(&worker).await;
        let body = world.body(board).await;
        assert!(!body.contains("[x]") && !body.contains("Hello"), "{body}");
        assert!(body.contains("**A tick was ignored** at") && body.contains("`out`"), "{body}");
    }
    // A box that Hob did not draw means nothing, no matter who ticks it.
    let forged = format!("{}\n- [x] cancel <!-- hob:do cancel {issue} 1 -->", world.body(board).await);
    world.edits("ann", board, json!({"body": forged})).await;
    run(&worker).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Blocked);
    world.draws(&worker).await;
    let body = world.body(board).await;
    assert!(!body.contains("[x]") && !body.contains("did not count"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn two_workers_that_render_differently_do_not_take_turns_for_ever() {
    let world = failing().set("dashboard.issue", "1").start().await;
    let board = world.opens("ann", "Board", "", &[]).await;
    let mut settings = world.settings.clone();
    settings.trust.permission = hob_domain::Permission::Admin;
    let one = world.worker("one").await;
    let other = world.worker_with("other", settings, Access::ReadWrite).await;
    for _ in 0..4 {
        world.draws(&one).await;
        world.draws(&other).await;
    }
    assert_eq!(world.edits_of(board), 2, "one each");
    world.asks("Make done.txt", "").await;
    run(&one).await;
    for _ in 0..4 {
        world.draws(&one).await;
        world.draws(&other).await;
    }
    assert!(world.edits_of(board) <= 6, "{}", world.edits_of(board));
    assert!(world.body(board).await.contains("### Blocked (1)"));
    world.finish().await;
}

#[tokio::test]
async fn an_action_is_approved_and_a_holder_is_asked_to_end_by_a_box() {
    let world = World::fixing().set("dashboard.issue", "1").start().await;
    let board = world.opens("ann", "Board", "", &[]).await;
    let (first, second) = (world.asks("Act", "").await, world.asks("Work", "").await);
    let forge = world.bot(Access::ReadWrite);
    let base = forge.repository().base_branch().await.unwrap();
    let (text, line) = ("rm x".to_owned(), "shell rm x".to_owned());
    let action = Proposed { tool: "shell".to_owned(), line, text, impact: Impact::High };
    let mut held = Vec::new();
    for (issue, title) in [(first, "Act"), (second, "Work")] {
        let number = IssueNumber(issue);
        let claimant = world.claimant(title);
        let lease = forge.ledger().acquire(number, None, &claimant, &base.tree, claim(title)).await.unwrap();
        let (agent, branch) = ("fixer".to_owned(), format!("hob/{issue}"));
        let (session, purpose) = (RunId("s".to_owned()), RunPurpose::Work);
        let start = Transition::StartAgent {
            by: WorkedBy { agent: agent.clone(), model: None },
            agent,
            branch,
            session,
            purpose,
        };
        forge.ledger().transition(&lease, start).await.unwrap();
        held.push(lease);
    }
    let block = Transition::Block(BlockReason::ApprovalNeeded(action.clone()));
    forge.ledger().release_with(&held[0], block).await.unwrap();
    world.labels_on("hob", first, "blocked").await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    let body = world.body(board).await;
    let _redacted = redacted();
    insta::assert_snapshot!(body, @"
    <!-- hob:dashboard -->
    Hob keeps this page up to date, with at most one edit a minute. Tick a box and Hob does it once, if your account has the permission `write`. Other edits of this page are lost.

    ### Blocked (1)

    - [2 Act](../issues/2)  
      The agent wants to run an action of high impact, which needs approval here.  
      **Do you approve this: `shell rm x`?**
      - [ ] approve exactly this, by the tool shell: `rm x` <!-- hob:do approve 2 911938ac1e9d75bb -->
      - [ ] cancel <!-- hob:do cancel 2 0 -->

    ### Running (1)

    - [3 Work](../issues/3)  
      since [time] · attempt 1
      - [ ] cancel <!-- hob:do cancel 3 0 -->
    ");
    world.ticks("ann", board, "approve", first).await;
    world.ticks("ann", board, "cancel", second).await;
    run(&worker).await;
    let record = world.record(first).await.unwrap();
    assert_eq!((record.approval.given, record.state), (vec![action.mark()], State::InReview), "{:?}", world.failures());
    let asked = world.record(second).await.unwrap();
    let request = asked.request().unwrap();
    assert_eq!((request.control, request.by.as_str(), asked.lease.is_some()), (Control::Terminate, "ann", true));
    run(&worker).await;
    assert_eq!(world.times(second, "ann asked to end the work").await, 1);
    forge.ledger().release_with(&held[1], Transition::Finish(Ending::Closed)).await.unwrap();
    world.leave();
}

/// Plays to the request after which the worker dies, and on with others; `false` if it did not come to that request.
async fn dies_at(request: usize, ticked: bool) -> bool {
    let turnstile = Arc::new(Turnstile::default());
    let world = failing().set("dashboard.issue", "auto").inside(&turnstile).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let before = world.worker("before").await;
    if ticked {
        Box::pin(run_sequentially(&before)).await.unwrap();
        world.forge.advance(Duration::from_secs(61));
        Box::pin(run_sequentially(&before)).await.unwrap();
        world.ticks("ann", world.dashboard().await, "retry", issue).await;
    }
    let mortal = world.worker("mortal").await;
    let stopped = turnstile.stop_after(request);
    let died = tokio::select! {
        summary = Box::pin(run_sequentially(&mortal)) => { summary.unwrap(); false }
        _ = stopped => true,
    };
    turnstile.open();
    for name in ["next", "third", "last"] {
        world.forge.advance(world.settings.lease.duration * 2);
        Box::pin(run_sequentially(&*world.worker(name).await)).await.unwrap();
    }
    world.forge.advance(Duration::from_secs(61));
    Box::pin(run_sequentially(&*world.worker("eye").await)).await.unwrap();
    let board = world.dashboard().await;
    let body = world.body(board).await;
    assert!(body.contains("### Blocked (1)") && !body.contains("[x]"), "{request}: {body}");
    assert_eq!(world.times(issue, "unblocked by ann").await, usize::from(ticked), "{request}");
    world.finish().await;
    died
}

#[test]
fn a_worker_may_die_at_any_request_while_it_opens_the_page_or_carries_out_a_tick() {
    for ticked in [false, true] {
        let mut requests = 0;
        while in_virtual_time(Box::pin(dies_at(requests, ticked))) {
            requests += if ticked { 4 } else { 5 };
        }
        assert!(requests > 20, "only {requests} requests");
    }
}

#[tokio::test]
async fn the_spend_of_each_day_stays_on_the_page() {
    let script = r#"echo $n > done.txt; echo '{"outcome":"done","summary":"Did it.","usd":1.25,"input_tokens":100}'"#;
    let world = World::with_agent(script).check("test -f done.txt").set("dashboard.issue", "1").start().await;
    let board = world.opens("ann", "Board", "", &[]).await;
    let worker = world.worker("w1").await;
    for day in 0..3 {
        world.asks(&format!("Chore {day}"), "").await;
        run(&worker).await;
        world.forge.advance(Duration::from_secs(86_400));
    }
    run(&worker).await;
    let body = world.body(board).await;
    assert_eq!(body.matches("| $1.25, 100 tokens").count(), 3, "{body}");
    let days = world.repository_record().await.unwrap().days;
    assert_eq!(days.len(), 3, "{days:?}");
    let pull = world.pulls().await[0]["number"].clone();
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    run(&worker).await;
    world.finish().await;
}

/// Requirement M9: the page has percentiles of how long things took, whichever worker measured them, and so has `hob status`.
#[tokio::test]
async fn the_page_and_status_have_percentiles() {
    let world = World::fixing().set("dashboard.issue", "1").start().await;
    let board = world.opens("ann", "Board", "", &[]).await;
    let (one, other) = (world.worker("one").await, world.worker("other").await);
    for n in 0..5 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    run(&one).await;
    world.draws(&one).await;
    let few = "| load of an agent | 5 | too few | too few | too few |";
    assert!(world.body(board).await.contains(few), "{}", world.body(board).await);
    for n in 5..10 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    run(&other).await;
    world.draws(&other).await;
    let body = world.body(board).await;
    for what in ["load of an agent", "claim to pull request"] {
        let row = body.lines().find_map(|line| line.strip_prefix(&format!("| {what} | 10 | "))).expect(&body);
        assert!(!row.starts_with("too few") && row.ends_with("| too few | too few |"), "{row}");
    }
    assert!(!body.contains("| hand-off |"), "{body}");
    // They are the repository's and not one worker's, so nobody draws the page anew.
    let edits = world.edits_of(board);
    world.draws(&one).await;
    assert_eq!(world.edits_of(board), edits);
    let told = world.hob(&["status", "--json"]).await;
    let times = &told.objects()[0]["result"]["repositories"][0]["times"];
    assert!(times["loads"]["p50_ms"].is_u64(), "{told:?}");
    assert_eq!(times["loads"]["p95_ms"], json!(null));
    assert_eq!((&times["loads"]["samples"], &times["hand_offs"]["samples"]), (&json!(10), &json!(0)));
    world.finish().await;
}
