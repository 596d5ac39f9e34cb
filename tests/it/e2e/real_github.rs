//! The real service is not as kind as the embedded one: findings from its recordings (`docs/design/github.md`), each as a mood
//! or a fault of the forge. Every test here failed before the client was fixed.

use std::{collections::BTreeMap, time::Duration};

use github_emulator::{Fault, Mood, Moods, What, When};
use hob_domain::{IssueNumber, State};
use hob_forge::{Access, Forge};
use hob_worker::{Repositories, RunLimits, explain};
use http::Method;
use serde_json::json;

use crate::harness::{Gate, Turnstile, World, in_virtual_time, repo, repo_on_forge, run};

const SECOND: Duration = Duration::from_secs(1);

fn refused(method: &str, path: &str, when: When, (status, message): (u16, &str)) -> Fault {
    let what = What::Answer { status, headers: BTreeMap::new(), message: message.to_owned() };
    Fault { method: Some(method.to_owned()), path: path.to_owned(), login: Some("hob".into()), when, what }
}

/// R1.
#[tokio::test]
async fn an_app_works_where_permissions_are_about_people_alone() {
    let world = World::fixing().start().await;
    world.forge.set_moods(Moods::new([Mood::TokenPermissions], 1));
    let issue = world.asks("Make done.txt", "").await;
    let connection = world.as_app(Some(repo()));
    let details = Forge::new(connection.clone(), repo()).repository().details().await.unwrap();
    assert!(!details.is_read_only);
    let pool = world.pool(&connection, Repositories::Named(vec![repo()]), &world.settings);
    assert_eq!(pool.run_once(RunLimits::default()).await.unwrap().worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// R1: of a person's token it is believed.
#[tokio::test]
async fn a_person_who_may_not_push_is_told_before_anything_is_claimed() {
    let world = World::fixing().start().await;
    let settings = world.settings.clone();
    let reader = hob_forge::Connection::new(
        &world.forge.api_url(),
        hob_forge::Authentication::Token("token-of-rob".into()),
        &settings.forge,
        hob_forge::Access::ReadWrite,
        hob_text::KnownSecrets::default(),
    );
    let forge = Forge::new(reader.unwrap(), repo());
    let error = forge.repository().base_branch().await.unwrap_err().to_string();
    assert!(error.contains("`contents: write`"), "{error}");
    world.finish().await;
}

/// R2: each wording of a lost race at each kind of ref's move, and none of them blocks or fails anything.
#[tokio::test]
async fn a_ref_that_does_not_move_at_once_blocks_no_issue() {
    let words = ["Reference cannot be updated", "Reference update failed", "Object does not exist"];
    let statuses = [(409, words[0]), (422, words[0]), (422, words[1]), (422, words[2]), (404, "Not Found")];
    for refusal in statuses {
        for (method, path) in [("PATCH", "/repos/acme/site/git/refs/**"), ("POST", "/repos/acme/site/git/refs")] {
            let world = World::fixing().start().await;
            let issue = world.asks("Make done.txt", "").await;
            world.forge.inject(refused(method, path, When::First(2), refusal));
            world.run().await;
            assert_eq!(world.labels(issue).await, ["code", "in-review"], "{refusal:?} {path}: {:?}", world.failures());
            world.forge.heal();
            world.finish().await;
        }
    }
}

/// R2: a permanent refusal is distinguished from a race before an agent is paid, with a remedy.
#[tokio::test]
async fn a_ref_that_never_moves_is_said_and_costs_no_agent() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let rule = (422, "Repository rule violations found");
    world.forge.inject(refused("PATCH", "/repos/acme/site/git/refs/hob/repository", When::Always, rule));
    world.forge.inject(refused("POST", "/repos/acme/site/git/refs", When::Call(2), rule));
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 0, "no agent was paid");
    let said = world.said(issue).await;
    assert!(said[0].text.contains("`refs/hob/repository`") && said[0].text.contains("rule"), "{said:#?}");
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    world.forge.heal();
    world.finish().await;
}

/// R2: two daemons and a job's token race, a fifth of all moves is lost in GitHub's wordings, and no issue is blocked,
/// claimed twice without need, or leaves a reservation. `HOB_RACE_ISSUES=200` runs the figure of the documents.
#[test]
fn workers_that_race_block_no_issue_in_any_wording() {
    in_virtual_time(Box::pin(race()));
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, no setting of Hob's")]
fn switch(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().unwrap())
}

#[expect(clippy::print_stdout, reason = "the figure is what one runs many issues for")]
async fn race() {
    let turnstile = std::sync::Arc::new(Turnstile::default());
    let world = World::with_agent("echo $HOB_ISSUE > done-$HOB_ISSUE.txt")
        .inside(&turnstile)
        .set("jobs", "2")
        .set("limits.issues_per_hour", "1000")
        .set("budget.day", "100000")
        .start()
        .await;
    let many = switch("HOB_RACE_ISSUES").unwrap_or(12);
    for n in 0..many {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let moods = [Mood::RefRaces, Mood::RefRefusals, Mood::RefLag, Mood::TokenPermissions];
    world.forge.set_moods(Moods::new(moods, 7).with_percent(20));
    let workers = [world.worker("one").await, world.worker("two").await, world.worker("job").await];
    for _pass in 0..6 {
        let [one, two, job] = &workers;
        tokio::join!(run(one), run(two), run(job));
        world.forge.advance(Duration::from_secs(60));
    }
    world.forge.set_moods(Moods::default());
    let mut acquired = 0;
    for issue in 1..=many {
        let record = world.record(issue).await.unwrap();
        assert_eq!(record.state, State::InReview, "issue {issue}: {:?}", world.history(issue).await);
        acquired += record.generation.0;
    }
    let shares = world.repository_record().await.map_or_else(Vec::new, |record| record.day);
    let left: Vec<_> = shares.iter().filter(|share| share.reserved != hob_domain::Spend::default()).collect();
    assert!(left.is_empty(), "reservations that are left: {left:?}");
    println!("{many} issues, {acquired} acquisitions");
    assert!(acquired * 100 <= many * 115, "{acquired} acquisitions of {many} issues");
    world.finish().await;
}

/// R3: GitHub's own touch of a comment is not an edit.
#[tokio::test]
async fn a_command_whose_times_differ_by_a_second_is_followed() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.forge.set_moods(Moods::new([Mood::Touched], 3).with_percent(100));
    world.comments("ann", issue, "/hob pause").await;
    world.run().await;
    assert!(world.record(issue).await.unwrap().pause().is_some(), "{:?}", world.failures());
    world.finish().await;
}

/// R3: an edited command has no effect, and its author is told so.
#[tokio::test]
async fn an_edited_command_is_answered_and_not_followed() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.forge.advance(SECOND * 2);
    let comment = world.call("ann", Method::POST, &format!("/issues/{issue}/comments"), json!({"body": "Hm."})).await;
    world.forge.advance(SECOND * 2);
    let path = format!("/issues/comments/{}", comment["id"]);
    world.call("ann", Method::PATCH, &path, json!({"body": "/hob cancel"})).await;
    world.run().await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    let replies =
        world.said(issue).await.into_iter().filter(|said| said.text.contains("was edited after it was written"));
    assert_eq!(replies.count(), 1);
    world.finish().await;
}

/// R4.
#[tokio::test]
async fn one_timeout_of_graphql_does_not_end_its_use() {
    let world = World::fixing().start().await;
    for title in ["One", "Two"] {
        world.asks(title, "").await;
    }
    world.run().await;
    let body = r#"{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."}]}"#;
    let what = What::Raw { status: 200, headers: BTreeMap::new(), body: body.to_owned() };
    let fault =
        Fault { method: None, path: "/api/graphql".into(), login: Some("hob".into()), when: When::First(20), what };
    world.forge.inject(fault);
    let worker = world.worker("fresh").await;
    run(&worker).await;
    world.forge.heal();
    let asked = || world.forge.requests().iter().filter(|request| request.path == "/api/graphql").count();
    let before = asked();
    world.pushes_onto("ann", "main", "beside.txt", "moved\n").await;
    world.forge.advance(SECOND * 5);
    for pull in world.pulls().await {
        world.comments("ann", pull["number"].as_u64().unwrap(), "Nice.").await;
    }
    run(&worker).await;
    assert!(asked() > before, "it is asked again");
    world.finish().await;
}

/// R5.
#[tokio::test]
async fn a_draft_stays_one_over_checks_that_the_token_may_not_see() {
    let world = World::fixing().set("publish.draft", "until-green").set("forge.login", "").start().await;
    world.forge.add_user(&"hob:token-of-hob:write:fine-grained".parse().unwrap());
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pulls().await[0].clone();
    assert_eq!(pull["draft"], true);
    let run_of_ci =
        json!({"name": "test", "head_sha": pull["head"]["sha"], "status": "completed", "conclusion": "failure"});
    world.call("robo[bot]", Method::POST, "/check-runs", run_of_ci).await;
    for _ in 0..3 {
        world.an_hour_later().await;
        world.forge.advance(Duration::from_secs(3 * 3_600));
    }
    assert_eq!(world.pulls().await[0]["draft"], true);
    let said = world.said(issue).await;
    assert!(said[0].text.contains("The token lacks `checks: read`"), "{said:#?}");
    world.finish().await;
}

/// R5, case c13: a red job of `push` beside a green one of the same name.
#[tokio::test]
async fn checks_of_one_name_that_contradict_each_other_begin_no_round() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let head = world.pulls().await[0]["head"]["sha"].as_str().unwrap().to_owned();
    for (event, conclusion) in [("push", "failure"), ("pull_request", "success")] {
        let job = json!({"head_sha": head, "name": "test", "event": event, "conclusion": conclusion});
        world.forge.create_job(&repo_on_forge(), &serde_json::from_value(job).unwrap()).unwrap();
    }
    world.an_hour_later().await;
    assert_eq!(world.briefs(issue).len(), 1, "{:?}", world.history(issue).await);
    world.finish().await;
}

/// R6: the event that says who added the label is not there yet.
#[tokio::test]
async fn an_event_that_lags_is_waited_for_and_refuses_nothing() {
    let world = World::fixing().start().await;
    world.forge.set_moods(Moods::new([Mood::EventLag], 5).with_percent(100));
    let issue = world.asks("Make done.txt", "").await;
    for _ in 0..3 {
        world.run().await;
        world.forge.advance(SECOND * 3);
    }
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// R6: the head was pushed a moment ago, and the pace of visible writes.
#[tokio::test]
async fn a_pull_request_whose_head_is_too_young_opens_all_the_same() {
    for words in ["No commits between main and hob/1-make-done-txt", "Validation Failed"] {
        let world = World::fixing().start().await;
        let issue = world.asks("Make done.txt", "").await;
        let body =
            json!({"message": words, "errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]});
        let what = What::Raw { status: 422, headers: BTreeMap::new(), body: body.to_string() };
        let (path, login) = ("/repos/acme/site/pulls".to_owned(), Some("hob".into()));
        world.forge.inject(Fault { method: Some("POST".into()), path, login, when: When::First(2), what });
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{words}: {:?}", world.failures());
        world.forge.heal();
        world.finish().await;
    }
}

/// Section 1.3: a null edit history means that there were no edits; and timeouts, limits and hidden parts.
#[test]
fn what_graphql_may_leave_null_or_refuse_stops_no_claim() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let world = World::fixing().inside(&turnstile).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.forge.set_moods(Moods::new([Mood::Queries, Mood::HiddenChecks], 9).with_percent(40));
        for _ in 0..4 {
            world.run().await;
            world.forge.advance(Duration::from_secs(120));
        }
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        world.forge.set_moods(Moods::default());
        world.finish_after_faults().await;
    }));
}

/// Section 1.3: a locked conversation is that issue's matter.
#[tokio::test]
async fn a_locked_issue_stops_no_other() {
    let world = World::fixing().start().await;
    let locked = world.asks("Locked", "").await;
    let other = world.asks("Make done.txt", "").await;
    let comments = format!("/repos/acme/site/issues/{locked}/comments");
    world.forge.inject(refused(
        "POST",
        &comments,
        When::Always,
        (403, "Unable to create comment because issue is locked."),
    ));
    let summary = world.run().await;
    assert!(summary.lacks.is_none(), "{summary:?}");
    assert_eq!(world.labels(other).await, ["code", "in-review"], "{:?}", world.failures());
    assert!(
        world.failures().iter().any(|reason| reason.contains("the conversation is locked")),
        "{:?}",
        world.failures()
    );
    world.forge.heal();
    // Once it is unlocked, an answer brings its comment, too.
    world.comments("ann", locked, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(locked).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish_after_faults().await;
}

/// Attack corpus K149: one ledger that cannot be read, or cannot be made, stops that issue alone, by its name.
#[tokio::test]
async fn a_ledger_that_is_no_ledger_stops_its_own_issue_alone() {
    let world = World::fixing().start().await;
    let [bomb, below, good] =
        [world.asks("Bomb", "").await, world.asks("Below", "").await, world.asks("Good", "").await];
    let tree = world.call("wil", Method::GET, "/git/trees/main", json!(null)).await["sha"].clone();
    let huge = json!({"message": "x".repeat(17 << 20), "tree": tree, "parents": []});
    let commit = world.call("wil", Method::POST, "/git/commits", huge).await["sha"].clone();
    for name in
        [format!("refs/hob/issues/{bomb}"), format!("refs/hob/issues/{below}/x"), "refs/hob/issues/+3".to_owned()]
    {
        world.call("wil", Method::POST, "/git/refs", json!({"ref": name, "sha": commit})).await;
    }
    world.run().await;
    assert_eq!(world.labels(good).await, ["code", "in-review"], "{:?}", world.failures());
    let failures = world.failures();
    for says in [&format!("read the ledger of issue {bomb}"), &format!("`refs/hob/issues/{below}/x` is below its name")]
    {
        assert!(failures.iter().any(|reason| reason.contains(says.as_str())), "{says}: {failures:?}");
    }
    for name in [format!("hob/issues/{bomb}"), format!("hob/issues/{below}/x"), "hob/issues/+3".to_owned()] {
        world.call("wil", Method::DELETE, &format!("/git/refs/{name}"), json!(null)).await;
    }
    world.finish_after_faults().await;
}

/// V1: a rebuilt ledger knows what Hob has answered.
#[tokio::test]
async fn a_review_that_was_answered_is_not_answered_again_after_its_ledger_was_deleted() {
    let world = World::with_agent("echo $n > done.txt").check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pulls().await[0]["number"].as_u64().unwrap();
    let on_line = json!({"path": "done.txt", "line": 1, "side": "RIGHT", "body": "Another."});
    let review = json!({"event": "REQUEST_CHANGES", "body": "Nearly.", "comments": [on_line]});
    world.call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    world.an_hour_later().await;
    assert_eq!(world.briefs(issue).len(), 2);
    world.call("wil", Method::DELETE, &format!("/git/refs/hob/issues/{issue}"), json!(null)).await;
    for _ in 0..2 {
        world.an_hour_later().await;
    }
    assert_eq!(world.briefs(issue).len(), 2, "{:?}", world.history(issue).await);
    let comments = world.call("ann", Method::GET, &format!("/issues/{pull}/comments"), json!(null)).await;
    let answers = comments.as_array().unwrap().iter().filter(|comment| {
        // The review, and the thread that the agent said nothing of.
        let body = comment["body"].as_str().unwrap();
        body.starts_with("<!-- hob:answer review-") && body.lines().nth(1).unwrap().starts_with("<!-- hob:answer line-")
    });
    assert_eq!(answers.count(), 1);
    world.finish().await;
}

/// V2: an incident of seconds, with an attempt under way, costs neither the agent's work nor the claim.
#[tokio::test]
async fn seconds_of_refusals_in_the_middle_of_an_attempt_cost_nothing() {
    for status in [401, 403, 503] {
        let script = Gate::before("echo done > done.txt");
        let world = World::fixing().script("fixer", &script).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done.txt", "").await;
        let worker = world.worker("w1").await;
        tokio::join!(run(&worker), async {
            gate.reached().await;
            let anything = "/repos/acme/site/**";
            for method in ["GET", "POST", "PATCH", "DELETE"] {
                world.forge.inject(refused(method, anything, When::First(2), (status, "Not now")));
            }
            gate.open().await;
        });
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{status}: {:?}", world.failures());
        assert_eq!((world.briefs(issue).len(), world.record(issue).await.unwrap().generation.0), (1, 1), "{status}");
        world.forge.heal();
        world.finish_after_faults().await;
    }
}

/// N97: a daemon continues while the forge refuses everything, and an orderly stop is not an error.
#[test]
fn a_daemon_that_had_one_good_answer_outlives_refusals() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let world = World::fixing().inside(&turnstile).set("poll.interval", "10s").start().await;
        let cancel = tokio_util::sync::CancellationToken::new();
        let worker =
            world.worker_until("daemon", world.settings.clone(), hob_forge::Access::ReadWrite, cancel.clone()).await;
        let daemon = hob_worker::run_forever(&worker, RunLimits::default());
        let life = async {
            tokio::time::sleep(SECOND * 5).await;
            world.forge.inject(refused("GET", "/repos/acme/site/**", When::Always, (401, "Bad credentials")));
            tokio::time::sleep(SECOND * 300).await;
            world.forge.heal();
            let issue = world.asks("Make done.txt", "").await;
            // Two intervals, and the time that the work takes.
            tokio::time::sleep(SECOND * 30).await;
            assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
            cancel.cancel();
        };
        let (summary, ()) = tokio::join!(daemon, life);
        assert!(summary.lacks.is_none(), "{summary:?}");
        world.finish().await;
    }));
}

/// N68: problems in `.github/hob.toml` are reported on the issue, with file and line, and nothing more begins until the
/// branch moves.
#[tokio::test]
async fn a_broken_settings_file_is_said_where_its_maintainers_look() {
    let world = World::fixing().set("testing.limits.retry_delay", "1s").start().await;
    world.pushes_onto("ann", "main", ".github/hob.toml", "checks = [\"test -f done.txt\"\nagent = 3\n").await;
    let issue = world.asks("Make done.txt", "").await;
    let other = world.asks("Another", "").await;
    world.run().await;
    let said = world.said(issue).await;
    assert!(said[0].text.contains("hob.toml") && said[0].text.contains("line"), "{said:#?}");
    assert!(world.record(other).await.is_none(), "nothing else begins");
    let told = explain::all(&*world.worker("w2").await).await.unwrap();
    assert!(told.iter().any(|told| told.issue.0 == other && told.why.contains("hob.toml")), "{told:?}");
    world.pushes_onto("ann", "main", ".github/hob.toml", "checks = [\"test -f done.txt\"]\n").await;
    world.forge.advance(SECOND * 60);
    world.run().await;
    for issue in [issue, other] {
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    }
    world.finish().await;
}

/// Case c20: a renamed trigger label does not end any work.
#[tokio::test]
async fn a_renamed_trigger_label_is_told_and_finishes_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.call("ann", Method::PATCH, "/labels/code", json!({"new_name": "robot"})).await;
    for _ in 0..2 {
        world.an_hour_later().await;
    }
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    let told = world.failures();
    assert!(told.iter().any(|reason| reason.contains("no longer has the label `code`")), "{told:?}");
    world.call("ann", Method::PATCH, "/labels/robot", json!({"new_name": "code"})).await;
    world.an_hour_later().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// Case c21: the default branch was renamed while an issue was blocked.
#[tokio::test]
async fn a_renamed_default_branch_is_followed_by_issues_in_any_state() {
    let script = r#"if [ $n = 0 ]; then echo '{"outcome":"question","question":"Which colour?"}'; else echo done > done.txt; fi"#;
    let world = World::with_agent(script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let tip = world.call("ann", Method::GET, "/git/ref/heads/main", json!(null)).await["object"]["sha"].clone();
    world.call("ann", Method::POST, "/git/refs", json!({"ref": "refs/heads/trunk", "sha": tip})).await;
    world.call("ann", Method::PATCH, "", json!({"default_branch": "trunk"})).await;
    world.call("ann", Method::DELETE, "/git/refs/heads/main", json!(null)).await;
    world.comments("ann", issue, "Green.").await;
    world.run().await;
    assert_eq!(
        world.labels(issue).await,
        ["code", "in-review"],
        "{:?} {:?}",
        world.failures(),
        world.said(issue).await
    );
    assert_eq!(world.pulls().await[0]["base"]["ref"], "trunk");
    world.finish().await;
}

/// A repository that was renamed is worked on by its new name.
#[tokio::test]
async fn a_renamed_repository_is_followed() {
    let world = World::fixing().start().await;
    let connection = world.as_bot(&world.settings);
    world.call("ann", Method::PATCH, "", json!({"name": "renamed"})).await;
    world
        .call_in("acme/renamed", "ann", Method::POST, "/issues", json!({"title": "Make done.txt", "labels": ["code"]}))
        .await;
    let pool = world.pool(&connection, Repositories::Named(vec![repo()]), &world.settings);
    let done = pool.run_once(RunLimits::default()).await.unwrap();
    assert_eq!(done.worked, 1, "{:?}", world.failures());
    world.call_in("acme/renamed", "ann", Method::PATCH, "", json!({"name": "site"})).await;
    world.finish().await;
}

/// Hob's own account was renamed while a worker ran: its earlier comments are still its own.
#[test]
fn a_renamed_account_of_hobs_own_is_followed() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let world = World::fixing().inside(&turnstile).start().await;
        let issue = world.asks("Make done.txt", "").await;
        let worker = world.worker("w1").await;
        run(&worker).await;
        assert!(world.forge.rename_account(&"hob".into(), &"helper".into()).unwrap());
        tokio::time::sleep(SECOND * 301).await;
        // Without a ledger, Hob's own comments are found by their author.
        world.call("wil", Method::DELETE, &format!("/git/refs/hob/issues/{issue}"), json!(null)).await;
        run(&worker).await;
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
        let comments = world.look(&format!("/issues/{issue}/comments")).await;
        let of_status = |comment: &&serde_json::Value| comment["body"].as_str().unwrap().starts_with("<!-- hob:status");
        let authors: Vec<_> =
            comments.as_array().unwrap().iter().filter(of_status).map(|one| &one["user"]["login"]).collect();
        assert_eq!(authors, ["helper"]);
        world.leave();
    }));
}

/// Busy jobs do not delay an answer.
#[tokio::test]
async fn a_question_is_answered_while_all_jobs_are_busy() {
    let asks = r#"case $HOB_ISSUE-$n in 1-0) echo '{"outcome":"question","question":"Which?"}'; exit ;; esac"#;
    let script = format!("{asks}\n{}", Gate::before("echo done > done.txt"));
    let world = World::with_agent(&script).start().await;
    let asking = world.asks("Ask", "").await;
    let mut gate = Gate::of(&world);
    world.run().await;
    assert_eq!(world.labels(asking).await, ["blocked", "code"]);
    let busy = world.asks("Make done.txt", "").await;
    world.comments("ann", asking, "/hob explain").await;
    let worker = world.worker("w1").await;
    let replies = format!("/issues/{asking}/comments");
    let meanwhile = async {
        gate.reached().await;
        // The agent of the one job waits for its gate until the answer is there.
        let answered = || {
            let requests = world.forge.requests();
            requests.iter().filter(|request| request.method == "POST" && request.path.ends_with(&replies)).count() > 3
        };
        while !answered() {
            tokio::task::yield_now().await;
        }
        gate.open().await;
    };
    tokio::join!(run(&worker), meanwhile);
    assert_eq!(world.labels(busy).await, ["code", "in-review"]);
    world.finish().await;
}

/// Many waiting issues do not delay a fresh one, at a tenth of a second for each request: it is claimed within two
/// polls. `HOB_WAITING_REPOSITORIES` is the number of repositories in which three issues wait each.
#[test]
#[expect(clippy::print_stdout, reason = "how long it took is worth a look")]
fn a_fresh_issue_is_claimed_within_two_polls_beside_many_that_wait() {
    let others = switch("HOB_WAITING_REPOSITORIES").map_or(9, |all| usize::try_from(all).unwrap() - 1);
    in_virtual_time(Box::pin(async move {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let script = r#"if [ $HOB_ISSUE -le 3 ]; then echo '{"outcome":"question","question":"Which?"}'; else echo done > done.txt; fi"#;
        let builder = World::with_agent(script).inside(&turnstile).set("limits.issues_per_hour", "1000");
        let world = builder
            .set("budget.day", "100000")
            .set("poll.interval", "3s")
            .set("testing.forge.writes_per_hour", "100000")
            .start()
            .await;
        let mut all = vec![repo()];
        for n in 0..3 {
            world.asks(&format!("Ask {n}"), "").await;
        }
        for n in 0..others {
            let name = format!("acme/other{n}");
            world.another(&name, 3).await;
            all.push(name.parse().unwrap());
        }
        let cancel = tokio_util::sync::CancellationToken::new();
        let connection = world.as_bot(&world.settings);
        let pool = world.pool_until(&connection, Repositories::Named(all), &world.settings, (cancel.clone(), None));
        let before = pool.run_once(RunLimits::default()).await.unwrap();
        assert_eq!(before.worked, 3 * (1 + others), "{:?}", world.failures());
        assert_eq!(world.labels(3).await, ["blocked", "code"]);
        // Only the API's: git goes over sockets, and does not wait in virtual time.
        for path in ["/repos/**", "/api/graphql"] {
            let login = Some("hob".into());
            let (when, what) = (When::Always, What::Delay(100));
            world.forge.inject(Fault { method: None, path: path.to_owned(), login, when, what });
        }
        let polls = world.settings.poll.max_interval() * 2;
        let claimed = async {
            tokio::time::sleep(SECOND * 90).await;
            let fresh = world.asks("Make done.txt", "").await;
            let asked = tokio::time::Instant::now();
            while world.record(fresh).await.is_none() {
                assert!(asked.elapsed() < polls, "not claimed after {:?}", asked.elapsed());
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            println!("{} wait: claimed after {:?}, polls are {polls:?} apart", 3 * (1 + others), asked.elapsed());
            while world.labels(fresh).await != ["code", "in-review"] {
                assert!(asked.elapsed() < polls * 4, "{:?}", world.failures());
                tokio::time::sleep(SECOND).await;
            }
            cancel.cancel();
        };
        tokio::join!(pool.run_forever(RunLimits::default()), claimed).0.unwrap();
        world.finish().await;
    }));
}

/// A quota of writes that ends in the middle of an attempt: the agent is kept, and the pull request opens.
#[test]
fn a_quota_of_writes_that_ends_in_an_attempt_costs_no_work() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let world = World::with_agent(&Gate::before("echo done > done.txt")).inside(&turnstile).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done.txt", "").await;
        let worker = world.worker("w1").await;
        let meanwhile = async {
            gate.reached().await;
            let limit = (403, "You have exceeded a secondary rate limit.");
            for method in ["POST", "PATCH", "DELETE"] {
                world.forge.inject(refused(method, "/repos/acme/site/**", When::Always, limit));
            }
            gate.open().await;
            tokio::time::sleep(Duration::from_secs(900)).await;
            world.forge.heal();
        };
        tokio::join!(hob_worker::run_once(&worker, RunLimits::default()), meanwhile).0.unwrap();
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert_eq!(world.briefs(issue).len(), 1, "the agent ran once");
        world.finish().await;
    }));
}

/// The secondary limit of points, which answers 304 count in, too: a process that reads as fast as it can stays below it.
#[test]
fn reads_stay_below_the_secondary_limit() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let world = World::fixing().set("testing.forge.write_interval_ms", "1").inside(&turnstile).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.forge.set_moods(Moods::new([Mood::Points], 1));
        let (forge, before) = (world.bot(Access::ReadWrite), world.forge.requests().len());
        for _ in 0..2_000 {
            forge.issues().get(IssueNumber(issue)).await.unwrap();
        }
        let requests = world.forge.requests();
        assert_eq!(requests.len() - before, 2_000);
        assert!(requests.iter().all(|request| request.status < 400), "{:?}", requests.last());
        world.leave();
    }));
}
