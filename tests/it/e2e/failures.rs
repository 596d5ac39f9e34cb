//! Agents that fail: transient failures are retried later, others go to a person.

use std::{sync::Arc, time::Duration};

use github_emulator::{Fault, What, When};
use hob_domain::State;
use hob_worker::{RunLimits, run_once};

use crate::harness::{World, in_virtual_time};

#[tokio::test]
async fn an_agent_that_changes_nothing_blocks_the_issue() {
    let world = World::with_agent("echo I looked around").check("true").start().await;
    let issue = world.asks("Do something", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    assert!(status.contains("The agent changed no file. It said: I looked around"), "{status}");
    assert!(world.branches().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_ends_with_an_error_blocks_the_issue_with_its_words() {
    let world = World::with_agent("echo no compiler here >&2; exit 9").start().await;
    let issue = world.asks("Do something", "").await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("exit code 9: no compiler here"), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_killed_by_a_signal_is_tried_again_later() {
    let world = World::with_agent("case $n in 0) kill -9 $$;; *) echo done > done.txt;; esac").start().await;
    let issue = world.asks("Survive", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code"]);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now), (State::Ready, 0), "nothing was done");
    assert!(record.failure.until.unwrap() > record.renewed_at, "{record:?}");
    assert!(world.status(issue).await.contains(": signal 9 ended `sh`"));

    let before = world.writes().len();
    world.run().await;
    assert_eq!((world.writes().len(), world.briefs(issue).len()), (before, 1), "not before its time");

    world.forge.advance(world.settings.limits.retry_delay + Duration::from_secs(2));
    world.run().await;
    assert!(world.briefs(issue)[1].contains("The attempt before failed: signal 9"));
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// Attack corpus I95.
#[tokio::test]
async fn attempts_that_are_used_up_block_the_issue() {
    let script = "echo $n > half.txt; kill -9 $$";
    let world = World::with_agent(script).set("limits.attempts", "2").start().await;
    let issue = world.asks("Never", "").await;
    world.run().await;
    world.forge.advance(Duration::from_secs(3600));
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 2);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    assert!(status.contains("attempt 2") && status.contains("signal 9"), "{status}");
    world.forge.advance(Duration::from_secs(3600));
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 2, "a blocked issue waits for a person");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_past_its_time_is_ended_with_its_children() {
    // The agent and a child of its own both wait for a pipe without a writer.
    let script = "mkfifo {DIR}/never; (read a < {DIR}/never) & read b < {DIR}/never";
    let world = World::with_agent(script).set("limits.attempt_time", "800ms").set("limits.attempts", "1").start().await;
    let issue = world.asks("Wait for ever", "").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Ready);
    assert!(world.status(issue).await.contains("ran out of time after"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_does_not_exist_blocks_the_issue_with_those_that_do() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Wrong name", "", &["code", "agent:fixxer"]).await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("No agent `fixxer`: there are fixer"), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn a_child_that_the_agent_leaves_behind_is_ended() {
    let script = "mkfifo {DIR}/never; (read a < {DIR}/never) & echo done > done.txt";
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_finds_its_earlier_work_done_has_it_published() {
    let script = "case $n in
        0) echo done > done.txt; kill -9 $$ ;;
        *) echo '{\"outcome\":\"nothing_to_do\",\"reason\":\"It is done.\"}' ;;
    esac";
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Go on", "").await;
    world.run().await;
    assert_eq!(world.branches().await, ["hob/1-go-on"], "the work of the attempt that failed is kept");
    world.forge.advance(world.settings.limits.retry_delay + Duration::from_secs(2));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[test]
fn a_limit_longer_than_our_patience_does_not_lose_the_bill() {
    in_virtual_time(Box::pin(async {
        let script = "echo done > done.txt; echo '{\"outcome\":\"done\",\"summary\":\"Made it.\",\"input_tokens\":10}'";
        let builder = World::with_agent(script).set("testing.forge.patience", "2s").inside(&Arc::default());
        let world = builder.start().await;
        let issue = world.asks("Spend", "").await;
        world.forge.inject(Fault {
            method: Some("POST".to_owned()),
            path: "/repos/acme/site/git/commits".to_owned(),
            login: None,
            // The claim, the start of the agent, and what it spent.
            when: When::Call(3),
            what: What::Answer {
                status: 403,
                headers: [("retry-after".to_owned(), "120".to_owned())].into(),
                message: "You have exceeded a secondary rate limit.".to_owned(),
            },
        });
        world.run().await;
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.attempts.now, record.spend.input_tokens), (State::InReview, 1, 10));
        world.finish().await;
    }));
}

/// Once each on a comment, a label and the pull request, and several times one after the other.
#[test]
fn a_limit_or_a_failure_that_passes_costs_no_attempt() {
    let limit = What::Answer {
        status: 429,
        headers: [("retry-after".to_owned(), "40".to_owned())].into(),
        message: "You have exceeded a secondary rate limit.".to_owned(),
    };
    let broken = What::Answer { status: 502, headers: Default::default(), message: String::new() };
    for what in [limit, broken, What::DropBefore, What::DropAfter] {
        for (method, path, when) in [
            ("POST", "/repos/acme/site/issues/1/comments", When::Call(1)),
            ("POST", "/repos/acme/site/issues/1/comments", When::First(3)),
            ("PATCH", "/repos/acme/site/issues/comments/*", When::Call(1)),
            ("POST", "/repos/acme/site/issues/1/labels", When::Call(1)),
            ("DELETE", "/repos/acme/site/issues/1/labels/*", When::Call(1)),
            ("POST", "/repos/acme/site/pulls", When::Call(1)),
            ("POST", "/repos/acme/site/pulls", When::First(3)),
        ] {
            let what = what.clone();
            in_virtual_time(Box::pin(async move {
                let world = World::with_agent("echo done > done.txt").inside(&Arc::default()).start().await;
                let issue = world.asks("Make done.txt", "").await;
                let name = format!("{what:?} {path} {when:?}");
                let (method, path) = (Some(method.to_owned()), path.to_owned());
                world.forge.inject(Fault { method, path, login: None, when, what });
                world.run().await;
                let record = world.record(issue).await.unwrap();
                assert_eq!(
                    (record.state, record.attempts.ever),
                    (State::InReview, 1),
                    "{name}: {:?}",
                    world.failures()
                );
                world.finish_after_faults().await;
            }));
        }
    }
}

/// The day's budget has room for one issue: one that is put back after a failed write holds none of it.
#[tokio::test]
async fn a_write_that_failed_for_good_leaves_no_reservation_behind() {
    let world = World::fixing().set("budget.day", "5").start().await;
    let (failed, next) = (world.asks("One", "").await, world.asks("Two", "").await);
    let (method, path) = (Some("POST".to_owned()), format!("/repos/acme/site/issues/{failed}/comments"));
    let what = What::Answer { status: 502, headers: Default::default(), message: String::new() };
    world.forge.inject(Fault { method, path, login: None, when: When::Always, what });
    run_once(&world.worker("w").await, RunLimits::default()).await.unwrap();
    let listed = world.hob(&["status"]).await;
    assert!(listed.code == 0 && !listed.stdout.contains("midnight"), "{listed:?}");
    world.forge.heal();
    world.run().await;
    assert_eq!(world.labels(next).await, ["code", "in-review"], "{:?}", world.failures());
    // It shows nothing, since nothing was written, until it is tried again.
    world.forge.advance(Duration::from_secs(86_400));
    world.run().await;
    assert_eq!(world.labels(failed).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish_after_faults().await;
}

#[tokio::test]
async fn a_refused_call_names_the_permission_that_it_needs() {
    for (path, says) in [
        (
            "/repos/*/*/collaborators/*/permission",
            "may not read an account's permission (no): give it the permission `metadata: read`",
        ),
        (
            "/repos/*/*/git/matching-refs/**",
            "may not list the ledger's refs (no): give it the permission `contents: read`",
        ),
        ("/repos/*/*/issues/*/events", "may not read the issue's events (no): give it the permission `issues: read`"),
        ("/repos/*/*/git/commits", "may not write the ledger's commit (no): give it the permission `contents: write`"),
    ] {
        let world = World::fixing().start().await;
        world.asks("Make done.txt", "").await;
        let what = What::Answer { status: 403, headers: Default::default(), message: "no".to_owned() };
        let (method, login) = (None, Some("hob".into()));
        world.forge.inject(Fault { method, path: path.to_owned(), login, when: When::Always, what });
        let said = match run_once(&world.worker("w1").await, RunLimits::default()).await {
            Ok(summary) => summary.lacks.map(|lacks| lacks.to_string()).unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(says), "{path}: {said}");
        world.leave();
    }
}

#[tokio::test]
async fn a_refusal_that_is_about_no_permission_says_what_it_is_about() {
    let world = World::fixing().start().await;
    let header = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    for (headers, message, says) in [
        (
            header("x-github-sso", "required; url=https://github.com/orgs/acme/sso?authorization_request=A"),
            "Resource protected by organization SAML enforcement.",
            "the organization's single sign-on, at https://github.com/orgs/acme/sso?authorization_request=A",
        ),
        (header("x-some", "thing"), "Repository was archived so is read-only.", "the repository is archived"),
        (
            header("x-some", "thing"),
            "Sorry, this repository has been disabled for a violation of our terms of service.",
            "the forge has closed the repository: its owner has to ask the forge's support",
        ),
        (
            header("x-accepted-github-permissions", "issues=read; pull_requests=read"),
            "Resource not accessible by personal access token",
            "give it the permission `issues: read` or `pull requests: read`",
        ),
    ] {
        let what = What::Answer { status: 403, headers, message: message.to_owned() };
        let lacks = What::Answer { status: 404, headers: [].into(), message: "Not Found".to_owned() };
        for (path, what) in [("/api/graphql", lacks), ("/repos/acme/site/issues", what)] {
            let path = path.to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        let ended = world.hob(&["status"]).await;
        world.forge.heal();
        assert_eq!(ended.code, 3, "{ended:?}");
        assert!(ended.stderr.contains(says), "{ended:?}");
    }
    world.finish().await;
}

/// Attack corpus J116: the transcript of an agent that floods its output is bounded, and the work goes on.
#[tokio::test]
async fn a_flood_of_lines_fills_no_disk() {
    let world = World::fixing().script("fixer", "yes flood | head -n 100000; echo done > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    run_once(&world.worker("w").await, RunLimits::default()).await.unwrap();
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let sessions = std::fs::read_dir(world.state_dir("w").join("sessions")).unwrap();
    let transcripts = sessions.map(|session| session.unwrap().path().join("transcript.jsonl"));
    let lines = transcripts.map(|path| std::fs::read_to_string(path).unwrap().lines().count()).max();
    assert!(lines.is_some_and(|lines| (1_000..10_000).contains(&lines)), "{lines:?}");
    world.finish().await;
}

/// What fails on this machine costs no attempt the first time. The same failure again counts, and in the end a person is asked.
#[tokio::test]
async fn a_failure_of_the_machine_that_comes_again_counts() {
    let world = World::fixing().set("limits.attempts", "2").start().await;
    let issue = world.asks("Make done.txt", "").await;
    // A file, where the folders of the issues belong.
    let site = world.state_dir("w1").join("acme/site");
    std::fs::create_dir_all(&site).unwrap();
    std::fs::write(site.join("issues"), "").unwrap();
    let mut counted = Vec::new();
    for _ in 0..3 {
        world.run().await;
        let record = world.record(issue).await.unwrap();
        counted.push((record.state, record.attempts.ever));
        world.forge.advance(Duration::from_secs(3_600));
    }
    assert_eq!(counted, [(State::Ready, 0), (State::Ready, 1), (State::Blocked, 2)], "{:?}", world.failures());
    assert!(world.status(issue).await.contains("issues"), "{}", world.status(issue).await);
    world.finish().await;
}
