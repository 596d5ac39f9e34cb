//! The repository's checks, before and after the work.

use std::time::Duration;

use hob_domain::State;
use serde_json::json;

use crate::harness::{AT_THE_GATE, Builder, Gate, World, redacted, run};

#[tokio::test]
async fn a_failed_check_goes_back_to_the_agent_and_the_second_round_mends_it() {
    let script = "case $n in 0) echo wrong > done.txt;; *) echo right > done.txt;; esac";
    let check = "cat done.txt; grep -q right done.txt || { echo the word is missing; exit 3; }";
    let world = World::with_agent(script).check(check).start().await;
    let issue = world.asks("Write it right", "").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 2);
    assert!(
        briefs[1].contains("failed before your work and fails on it, in another way")
            && briefs[1].contains("the word is missing")
    );
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("**Proven**, by check"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn checks_that_passed_on_a_base_are_not_run_on_it_for_the_next_issue() {
    let world = World::with_agent("echo $HOB_ISSUE > done.txt").check("test -f README.md").start().await;
    world.asks("First", "").await;
    world.asks("Second", "").await;
    world.run().await;
    let pulls = world.pulls().await;
    let says = |n: usize, base: &str| {
        let row = format!("| `test -f README.md` | {base} (0 s) | passed (0 s) |");
        assert!(pulls[n]["body"].as_str().unwrap().contains(&row), "{}", pulls[n]["body"]);
    };
    says(0, "passed");
    says(1, "passed earlier");
    world.finish().await;
}

/// The worker dies in the third of the four runs: the next one, on its machine, makes that one and the fourth.
#[tokio::test]
async fn what_was_run_before_a_worker_died_is_not_run_again() {
    let check = format!(
        "echo run >> {{DIR}}/ran; [ $(wc -l < {{DIR}}/ran) != 3 ] || {{ {} true; }}; \
         test ! -e tests/test_done || test -f done",
        AT_THE_GATE.trim_end().to_owned() + ";"
    );
    let script = "mkdir -p tests; touch tests/test_done; echo done > done";
    let rules = format!("checks = ['''{check}''']\n");
    let world = World::with_agent(script).file(".github/hob.toml", &rules).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done", "").await;
    let dead = world.worker("one").await;
    tokio::select! {
        _ = run(&dead) => panic!("its check waits until it dies"),
        () = gate.reached() => {}
    }
    drop(dead);
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    assert_eq!(run(&world.worker("one").await).await.worked, 1, "{:?}", world.failures());
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("**Proven**, by check"), "{body}");
    let ran = std::fs::read_to_string(world.dir().join("ran")).unwrap();
    assert_eq!(ran.lines().count(), 5, "{:?}", world.history(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn checks_that_the_work_breaks_block_the_issue_with_their_output() {
    let world = World::with_agent("echo $n > done.txt")
        .check("test ! -f done.txt || { seq 30; echo \"$HOME/roof leaks\"; false; }")
        .set("testing.limits.check_rounds", "1")
        .start()
        .await;
    let issue = world.asks("Mend the roof", "").await;
    world.hob(&["run", "--once"]).await;
    assert_eq!(world.briefs(issue).len(), 2);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    // Field note N70: the last lines, folded, in the words that a pull request has, too.
    let _redacted = redacted();
    insta::assert_snapshot!(status, @r#"
    <!-- hob:status -->
    **Blocked**: a person is needed.

    The checks still fail after 2 rounds of work.

    `test ! -f done.txt || { seq 30; echo "$HOME/roof leaks"; false; }`: failed (exit code 1) in 3 of 3 runs

    <details><summary>Last lines of test ! -f done.txt || { seq 30; echo "$HOME/roof leaks"; false; }</summary>

    ```text
    12
    13
    14
    15
    16
    17
    18
    19
    20
    21
    22
    23
    24
    25
    26
    27
    28
    29
    30
    ~/roof leaks
    ```

    </details>

    **Question**: How should the agent fix the failed checks?

    Reply with a hint, and the agent continues from its work so far.

    branch [`hob/1-mend-the-roof`]([forge]/acme/site/tree/hob/1-mend-the-roof)

    <details><summary>Other answers, cost and history</summary>

    Answers of accounts with write access to this repository count.

    - `/hob retry`, or removing the label `blocked`, lets the agent try again unchanged.
    - `/hob cancel` ends the work on this issue. The work so far stays on `hob/1-mend-the-roof`.

    attempt 1 · `hob explain 1 --history` prints each step

    </details>
    "#);
    let told = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(told.contains("\n|         30\n|         ~/roof leaks\nquestion"), "{told}");
    let shown = world.hob(&["session", "show", &issue.to_string()]).await.stdout;
    assert!(
        shown.contains("checks   failed: test ! -f done.txt") && shown.ends_with("30\n|        ~/roof leaks\n"),
        "{shown}"
    );
    assert!(world.pulls().await.is_empty());
    assert_eq!(world.branches().await, [format!("hob/{issue}-mend-the-roof")], "the work so far is kept");
    world.finish().await;
}

/// One check that fails before and after, and one that passes.
fn red_base(policy: &str) -> Builder {
    let rules = "checks = ['echo the cellar is wet; test -f dry', 'true']\n";
    World::with_agent("echo done > done.txt").file(".github/hob.toml", rules).set("on_red_base", policy)
}

#[tokio::test]
async fn work_that_makes_nothing_worse_than_a_red_base_is_published_and_says_so() {
    let world = red_base("publish").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 1, "no round is lost");
    assert!(briefs[0].contains("These checks fail already, before your work."), "{}", briefs[0]);
    let _redacted = redacted();
    insta::assert_snapshot!(world.pull().await["body"].as_str().unwrap(), @"
    Fixes #1

    ## What changed

    1 file changed, 1 line added, 0 removed:

    - `done.txt` (+1 −0)

    ## Evidence

    **Red before, red after**: `echo the cellar is wet; test -f dry` failed on the base already. Nothing that passed there fails on the work.

    | check | base | head |
    |---|---|---|
    | `echo the cellar is wet; test -f dry` | failed (exit code 1) | failed (exit code 1) |
    | `true` | passed ([duration]) | passed ([duration]) |
    <details><summary>Last lines of echo the cellar is wet; test -f dry</summary>

    ```text
    the cellar is wet
    ```

    </details>

    ## Open

    `echo the cellar is wet; test -f dry` failed before this change and still does.

    To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

    <details><summary>Why, cost and limits</summary>

    `ann` asked Hob to work on the issue “Make done.txt”.

    Cost: [duration] over 1 attempt, by the agent `fixer`. An attempt may take 30m, an issue $5.00 and 3 attempts between two answers. Agent and checks ran in a sandbox of the tier `fence`.

    `hob explain 1 --history` prints each step.

    </details>
    ");
    world.finish().await;
}

#[tokio::test]
async fn an_issue_may_wait_for_a_green_base_and_costs_nothing_until_then() {
    let world = red_base("wait").start().await;
    let issue = world.asks("Make done.txt", "").await;
    for _ in 0..2 {
        world.run().await;
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.attempts.now, world.briefs(issue).len()), (State::Ready, 0, 0));
        let status = world.status(issue).await;
        assert!(
            status.contains("**Waiting** until") && status.contains("the base branch fails its own checks"),
            "{status}"
        );
        world.forge.advance(world.settings.limits.retry_delay);
    }
    world.pushes_onto("ann", "main", "dry", "yes").await;
    world.forge.advance(world.settings.limits.retry_delay);
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_red_base_may_block_the_issue_before_an_agent_works() {
    let world = red_base("block").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(
        (world.labels(issue).await, world.briefs(issue).len()),
        (vec!["blocked".to_owned(), "code".to_owned()], 0)
    );
    let status = world.status(issue).await;
    assert!(
        status.contains("The base branch fails its own checks") && status.contains("the cellar is wet"),
        "{status}"
    );
    world.finish().await;
}

#[tokio::test]
async fn without_checks_the_pull_request_says_that_nothing_is_proven() {
    let world = World::with_agent("echo done > done.txt").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("**Not verified**"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn checks_are_read_from_the_base_branch_and_not_from_the_work() {
    let world = World::fixing().script("fixer", "echo 'checks = []' > .github/hob.toml").start().await;
    let issue = world.asks("Cheat", "").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Blocked);
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_check_past_its_time_is_ended_and_told() {
    let check = "test ! -f done.txt || { mkfifo never; read a < never; }";
    let world =
        World::fixing().check(check).set("check_time", "500ms").set("testing.limits.check_rounds", "0").start().await;
    let issue = world.asks("Hang the check", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("timed out"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn what_a_check_writes_is_no_part_of_the_work() {
    let world = World::fixing().check("echo built > output.txt; test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let number = world.pull().await["number"].as_u64().unwrap();
    assert_eq!(world.changed(number).await, ["done.txt"]);
    world.finish().await;
}

/// A check that asks a service of the machine, which a fence does not let it reach.
fn asks_a_service(also: &str) -> (std::net::TcpListener, String, Builder) {
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let check = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}'", service.local_addr().unwrap().port());
    let rules = format!("checks = [\"{check}\"{also}]\n");
    (service, check, World::with_agent("echo done > done.txt").file(".github/hob.toml", &rules))
}

/// The network that a check asks for is not available in a box, and the base is not to blame.
#[tokio::test]
async fn no_agent_starts_where_a_box_keeps_every_check_from_the_network() {
    let check = "bash -c 'exec 3<>/dev/tcp/192.0.2.1/443'";
    let world = World::fixing().set("sandbox.tier", "box").check(check).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 6, "{ended:?}");
    let says =
        format!("the sandbox refused `{check}`: connect 192.0.2.1:443 (1×); hosts that checks reach are listed in");
    assert!(ended.stderr.contains(&says), "{ended:?}");
    assert!(world.briefs(issue).is_empty());
    world.finish().await;
}

#[tokio::test]
async fn no_agent_starts_where_the_sandbox_keeps_every_check_from_passing() {
    let (service, check, world) = asks_a_service("");
    let port = service.local_addr().unwrap().port();
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 6, "{ended:?}");
    let says = format!("the sandbox refused `{check}`: connect 127.0.0.1:{port} (1×); a box lets it");
    assert!(ended.stderr.contains("no check can pass on the base branch") && ended.stderr.contains(&says), "{ended:?}");
    assert_eq!((world.record(issue).await.unwrap().attempts.now, world.briefs(issue).len()), (0, 0));
    world.finish().await;
}

/// Field note N70: the failure is reported where people look.
#[tokio::test]
async fn a_check_that_the_sandbox_keeps_from_passing_is_not_held_against_the_base() {
    let (service, check, world) = asks_a_service(", 'true'");
    let port = service.local_addr().unwrap().port();
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", "--once", "-v"]).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    let kept = format!("the sandbox kept `{check}` from passing: it refused connect 127.0.0.1:{port} (1×)");
    assert!(ended.stderr.contains(&kept), "{ended:?}");
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    let says = [
        format!("**Not decided**: the sandbox kept `{check}` from passing. It refused `connect 127.0.0.1:{port} (1×)`"),
        "could not pass in Hob's sandbox: run it elsewhere.".to_owned(),
        format!("hob: the sandbox refused connect 127.0.0.1:{port}\n"),
        "<summary>Last lines of bash -c".to_owned(),
    ];
    for says in says {
        assert!(body.contains(&says), "{says}: {body}");
    }
    assert!(!body.contains("on the base already"), "{body}");
    let brief = &world.briefs(issue)[0];
    assert!(brief.contains("No change of files helps."), "{brief}");
    world.finish().await;
}

/// The ledger's statement is of the commit that the checks ran on, even if another is pushed after it.
#[tokio::test]
async fn the_statement_is_of_the_commit_that_was_checked_and_of_nothing_else() {
    let script =
        r#"case $HOB_ISSUE in 1) echo done > done.txt ;; *) echo '{"outcome":"question","question":"Which?"}' ;; esac"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let (done, asks) = (world.asks("Make done.txt", "").await, world.asks("Paint it", "").await);
    world.run().await;
    world.run().await;
    assert_eq!(world.record(asks).await.unwrap().work.proof, None);
    let pull = world.pull().await;
    let proof = world.record(done).await.unwrap().work.proof.unwrap();
    let (statement, said) = (proof.statement(), &proof.statement().predicate);
    let commit = world.look(&format!("/git/commits/{}", pull["head"]["sha"].as_str().unwrap())).await;
    assert_eq!((json!(statement.head), json!(statement.tree)), (commit["sha"].clone(), commit["tree"]["sha"].clone()));
    assert_eq!(json!(said.pull_request), pull["number"]);
    assert_eq!((said.checks.passed, said.checks.run), (1, 1));
    let runs = serde_json::to_value(&said.runs).unwrap();
    for (run, result, exit) in [("base", "FAILED", "failed"), ("head", "PASSED", "passed")] {
        let (run, check) = (&runs[run], &runs[run]["checks"][0]);
        assert_eq!(
            (&run["result"], &check["exit"], &check["command"]),
            (&json!(result), &json!(exit), &json!("test -f done.txt"))
        );
    }
    assert_eq!((&runs["head"]["tree"], &runs["kept"]["tree"]), (&commit["tree"]["sha"], &commit["tree"]["sha"]));
    assert_eq!((&runs["needed"]["sameAs"], &runs["kept"]["sameAs"]), (&json!("base"), &json!("head")));
    assert_eq!((said.agent.as_str(), proof.signatures()), ("fixer", &[][..]));
    assert_eq!(said.request.authorized_by.as_ref().map(|by| by.as_str()), Some("ann"));
    let branch = pull["head"]["ref"].as_str().unwrap();
    world.pushes_onto("ann", branch, "beside.txt", "mine\n").await;
    world.run().await;
    assert_ne!(world.pull().await["head"]["sha"], json!(statement.head));
    assert_eq!(world.record(done).await.unwrap().work.proof.unwrap(), proof);
    world.finish().await;
}
