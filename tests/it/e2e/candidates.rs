//! Candidates: changes of one attempt from the same commit, of which one is chosen.

use std::time::Duration;

use hob_domain::State;
use rustix::process::Signal;
use serde_json::json;

use super::conversation::receipts;
use crate::harness::{AT_THE_GATE, Books, Builder, Gate, Replies, World, billed, redacted, run};

/// The check passes on the base; a new test needs the new file.
const CHECK: &str = "test ! -e tests/test_done || test -f done";

/// The change with its test, which is Proven.
const PROVEN: &str = "mkdir -p tests; touch tests/test_done; echo 1 > done";

/// A world whose attempts have so many candidates.
fn with_candidates(number: &str, script: &str) -> Builder {
    World::with_agent(script).check(CHECK).set("limits.candidates", number)
}

/// An agent whose first change has no test, and whose later ones have one.
fn second_is_proven() -> String {
    format!("case $n in 0) echo 1 > done; echo stray > stray.txt;; *) {PROVEN};; esac")
}

impl World {
    /// Lets an issue be worked on; its number.
    async fn works(&self) -> u64 {
        let issue = self.asks("Make done", "").await;
        let summary = self.run().await;
        assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", self.failures());
        issue
    }

    /// The files of the one pull request, and its text.
    async fn opened_with(&self) -> (Vec<String>, String) {
        let pull = self.pull().await;
        let mut files = self.changed(pull["number"].as_u64().unwrap()).await;
        files.sort();
        (files, pull["body"].as_str().unwrap().to_owned())
    }
}

#[tokio::test]
async fn the_proven_one_of_two_is_chosen_and_what_the_other_cost_is_told() {
    let says =
        |cost: &str, summary: &str| format!("echo '{{\"outcome\":\"done\",\"summary\":\"{summary}\",\"usd\":{cost}}}'");
    let script = format!(
        "case $n in 0) echo 1 > done; echo stray > stray.txt; {};; *) {PROVEN}; {};; esac",
        says("0.42", "Without a test."),
        says("0.29", "With a test.")
    );
    let world = with_candidates("2", &script).start().await;
    let issue = world.works().await;
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 2);
    assert!(!briefs[1].contains("stray") && !briefs[1].contains("Without a test"), "{}", briefs[1]);
    let (files, body) = world.opened_with().await;
    assert_eq!(files, ["done", "tests/test_done"], "nothing of the first is left");
    assert_eq!(world.commits(world.pull().await["number"].as_u64().unwrap()).await.len(), 1);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.spend.usd_micros), (State::InReview, 710_000));
    assert!(record.session.unwrap().as_str().ends_with("-c2"), "a round in review continues what was chosen");
    let history = world.history(issue).await;
    let told: Vec<_> = history.iter().filter(|line| line.to_lowercase().contains("candidate")).collect();
    insta::assert_debug_snapshot!(told, @r#"
    [
        "candidate 1: No tests; candidate 2 of 2 begins",
        "Of 2 candidates, number 2 was chosen (candidate 1: No tests; candidate 2: Proven); the other cost $0.42 of $0.71.",
    ]
    "#);
    let _redacted = redacted();
    insta::assert_snapshot!(body, @r"
    Fixes #1

    ## What changed

    With a test.

    2 files changed, 1 line added, 0 removed:

    - `done` (+1 −0)
    - `tests/test_done` (+0 −0)

    ## Evidence

    **Proven**, by check and not by test: `test ! -e tests/test_done || test -f done` fails without this change and passes with it, and with the old tests, too.

    | check | base | head |
    |---|---|---|
    | `test ! -e tests/test_done \|\| test -f done` | passed ([duration]) | passed ([duration]) |

    ## Open

    Only the review.

    To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

    <details><summary>Why, cost and limits</summary>

    `ann` asked Hob to work on the issue “Make done”.

    Cost: $0.71, [duration] over 1 attempt, by the agent `fixer`. An attempt may take 30m, an issue $5.00 and 3 attempts between two answers. Agent and checks ran in a sandbox of the tier `fence`.

    Of 2 candidates, number 2 was chosen (candidate 1: No tests; candidate 2: Proven); the other cost $0.42 of $0.71.

    `hob explain 1 --history` prints each step.

    </details>
    ");
    world.finish().await;
}

#[tokio::test]
async fn without_the_setting_there_is_one_run() {
    let world = World::with_agent(&second_is_proven()).check(CHECK).start().await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 1);
    assert!(!world.opened_with().await.1.contains("candidate"));
    assert!(!format!("{:?}", world.history(issue).await).contains("candidate"));
    world.finish().await;
}

#[tokio::test]
async fn none_follows_one_that_is_proven() {
    let world = with_candidates("3", &second_is_proven()).start().await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 2);
    let (_, body) = world.opened_with().await;
    assert!(body.contains("**Proven**") && body.contains("Of 2 candidates, number 2 was chosen"), "{body}");
    assert!(world.told().contains(&"making no candidate 3: the one before is Proven".to_owned()), "{:?}", world.told());
    world.finish().await;
}

#[tokio::test]
async fn none_begins_that_the_budget_does_not_carry() {
    let done = r#"echo '{"outcome":"done","summary":"Made it.","usd":0.42}'"#;
    let world = with_candidates("2", &format!("echo 1 > done; {done}")).set("budget.attempt", "0.80").start().await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 1);
    let (_, body) = world.opened_with().await;
    assert!(body.contains("No other was made: one cost $0.42, 0 s, and less is left of the budget."), "{body}");
    assert_eq!(world.record(issue).await.unwrap().spend.usd_micros, 420_000);
    world.finish().await;
}

#[tokio::test]
async fn none_begins_when_the_budget_is_used_up() {
    let done = |usd: &str| format!(r#"echo '{{"outcome":"done","summary":"Made it.","usd":{usd}}}'"#);
    let script = format!("seq $((n+1)) > done; if [ $n = 0 ]; then {}; else {}; fi", done("0.40"), done("0.45"));
    let world = with_candidates("3", &script).set("budget.attempt", "0.80").start().await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 2);
    assert_eq!(world.content("done", &format!("hob/{issue}-make-done")).await, "1\n", "the smaller one");
    let (_, body) = world.opened_with().await;
    assert!(body.contains("the other cost $0.45 of $0.85. No other was made: the budget is used up."), "{body}");
    world.finish().await;
}

/// Two candidates of which the proof says the same, and a reviewer for whom the larger one is the better one.
#[tokio::test]
async fn the_reviewer_chooses_among_equals_and_looks_once_at_each() {
    let author = "test \"$HOB_PURPOSE\" = work || exit 9\n\
                  case $n in 0) printf 1 > done;; *) printf '1\\n2\\n3\\n' > done;; esac";
    let reviewer = "mkdir -p {DIR}/looks; ls {DIR}/looks | wc -l > {DIR}/count; : > {DIR}/looks/$(cat {DIR}/count)\n\
                    if [ $(wc -l < done) = 0 ]; then echo '- high done:1: no line end'; else echo 'No findings'; fi";
    let profile =
        "---\nname: eyes\ndescription: Reads changes\nhob: { backend: looker, deliverable: comment }\n---\nLook.";
    for (reviewed, content, looks) in [(true, "1\n2\n3\n", 2), (false, "1", 0)] {
        let builder = World::with_bare_agent("")
            .script("fixer", author)
            .bare_script("looker", reviewer)
            .check(CHECK)
            .file(".github/agents/eyes.md", profile)
            .set("limits.candidates", "2");
        let builder = if reviewed { builder.set("review.reviewer", "eyes") } else { builder };
        let world = builder.start().await;
        let issue = world.works().await;
        assert_eq!(world.briefs(issue).len(), 2);
        assert_eq!(world.content("done", &format!("hob/{issue}-make-done")).await, content);
        let looked = std::fs::read_dir(world.dir().join("looks")).map_or(0, Iterator::count);
        assert_eq!(looked, looks);
        let (_, body) = world.opened_with().await;
        assert_eq!(body.contains("The reviewer `eyes` had no findings."), reviewed, "{body}");
        assert_eq!(world.record(issue).await.unwrap().work.findings, []);
        world.finish().await;
    }
}

/// Both fail the same check, so the first one stays: with its folder, in its session.
#[tokio::test]
async fn the_chosen_one_continues_in_the_folder_that_it_left() {
    let script = "case $n in
        0) echo half > half; mkdir cache; touch cache/one;;
        1) echo other > other; test ! -e half && test ! -e cache || exit 7;;
        *) test -f cache/one && test -f half && test ! -e other && echo 1 > done;;
    esac";
    let world = World::with_agent(script)
        .file(".gitignore", "cache/\n")
        .check("test -f done || test ! -e half && test ! -e other")
        .set("limits.candidates", "2")
        .start()
        .await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 3, "{:?}", world.failures());
    assert_eq!(world.opened_with().await.0, ["done", "half"], "{:?}", world.told());
    assert!(!world.record(issue).await.unwrap().session.unwrap().as_str().ends_with("-c2"));
    world.finish().await;
}

/// The worker dies while the second agent works, or while the second one's check runs: the next worker, on the same machine or
/// another, publishes the first one in its own words.
#[tokio::test]
async fn a_worker_that_dies_between_candidates_loses_neither_work_nor_money() {
    let gate = AT_THE_GATE.trim_end();
    for (heir, at_check) in [("one", false), ("other", false), ("one", true), ("other", true)] {
        let (at_agent, at_check) = if at_check { ("true", gate) } else { (gate, "true") };
        let script = format!(
            "[ $n != 1 ] || {{ {at_agent}; }}\necho $n > number.txt; {}",
            billed(r#""outcome":"done","summary":"Made number '$n'.""#)
        );
        let check = format!("! grep -q 1 number.txt || {{ {at_check}; }}");
        let world = with_candidates("2", &script).check(&check).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done", "").await;
        let dead = world.worker("one").await;
        tokio::select! {
            _ = run(&dead) => panic!("it waits until it dies: {:?}", world.told()),
            () = gate.reached() => {}
        }
        drop(dead);
        world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
        assert_eq!(run(&world.worker(heir).await).await.worked, 1, "{:?}", world.failures());
        assert_eq!(world.briefs(issue).len(), 2, "{heir}: no agent is needed: {:?}", world.history(issue).await);
        assert_eq!(world.content("number.txt", &format!("hob/{issue}-make-done")).await, "0\n");
        assert!(world.opened_with().await.1.contains("Made number 0."), "{heir}: {}", world.opened_with().await.1);
        assert_eq!(Books::default().balance(&world, issue).await, Ok(()));
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_hob_that_stops_at_the_second_one_leaves_the_first_on_the_branch() {
    let script = format!("[ $n != 1 ] || {{ echo half > half.txt; {AT_THE_GATE} }}\necho 1 > done");
    let world = with_candidates("2", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done", "").await;
    let hob = world.starts_hob(&["run"]).await;
    gate.reached().await;
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(world.pulls().await.is_empty());
    assert_eq!(world.content("done", &format!("hob/{issue}-make-done")).await, "1\n");
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!((world.briefs(issue).len(), world.opened_with().await.0), (2, vec!["done".to_owned()]));
    world.finish().await;
}

/// A person's word is read while the second agent works. After a pause the first one is published, by any worker.
#[tokio::test]
async fn a_person_who_stops_the_second_one_keeps_the_first_on_the_branch() {
    for (said, heir) in [("/hob cancel", "one"), ("/hob pause", "one"), ("/hob pause", "other")] {
        let bill = billed(r#""outcome":"done","summary":"Made number '$n'.""#);
        let script = format!("[ $n != 1 ] || {{ echo half > half.txt; {AT_THE_GATE} }}\necho $n > number.txt; {bill}");
        let world = with_candidates("2", &script).check("true").set("poll.interval", "20ms").start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done", "").await;
        let worker = world.worker("one").await;
        tokio::join!(run(&worker), async {
            gate.reached().await;
            world.comments("ann", issue, said).await;
        });
        let branch = format!("hob/{issue}-make-done");
        assert_eq!(world.content("number.txt", &branch).await, "0\n", "{said}: {:?}", world.history(issue).await);
        assert!(world.pulls().await.is_empty(), "{said}");
        assert_eq!(Books::default().balance(&world, issue).await, Ok(()), "{said}");
        let record = world.record(issue).await.unwrap();
        if said == "/hob cancel" {
            assert_eq!((record.state, world.labels(issue).await.len()), (State::Done, 0), "{record:?}");
            world.finish().await;
            continue;
        }
        assert!(record.state == State::Ready && record.pause().is_some(), "{record:?}");
        world.comments("ann", issue, "/hob resume").await;
        let heir = world.worker(heir).await;
        for _look in 0..2 {
            run(&heir).await;
        }
        assert_eq!(world.briefs(issue).len(), 2, "no agent is needed: {:?}", world.history(issue).await);
        let (files, body) = world.opened_with().await;
        assert!(files == ["number.txt"] && body.contains("Made number 0."), "{files:?} {body}");
        assert_eq!(Books::default().balance(&world, issue).await, Ok(()));
        world.finish().await;
    }
}

/// A person asks for capitals while an agent waits at the gate; what is published has them. The world, the issue, and what was told.
async fn told_at_the_gate(candidates: &str, script: &str) -> (World, u64, Vec<String>) {
    let world = with_candidates(candidates, script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done", "").await;
    tokio::join!(world.run(), async {
        gate.reached().await;
        world.comments("ann", issue, "In capitals, please").await;
        // The next candidate hears what its worker has seen.
        while receipts(&world, issue, "ann").await.0.is_empty() {
            tokio::task::yield_now().await;
        }
        gate.open().await;
    });
    let told = world.told();
    assert_eq!(world.content("done", &format!("hob/{issue}-make-done")).await, "ONE\n", "{told:#?}");
    (world, issue, told)
}

/// It comes while the first agent works, which is chosen and hears it in a round of its own.
#[tokio::test]
async fn what_is_said_while_the_first_one_works_it_is_told_when_it_is_chosen() {
    let script = format!(
        "[ $n != 0 ] || {{ {AT_THE_GATE} }}\n\
         if grep -q 'In capitals' {{DIR}}/briefs/$HOB_ISSUE-$n && [ $n -gt 1 ]; then echo ONE > done\n\
         else seq $((n+2)) > done; fi"
    );
    let (world, issue, told) = told_at_the_gate("2", &script).await;
    assert_eq!(world.briefs(issue).len(), 3, "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("a person said more meanwhile")), "{told:#?}");
    world.finish().await;
}

/// It comes while the second agent works. The third one begins with it, and the first one, which is chosen, hears it in a round of its own.
#[tokio::test]
async fn what_is_said_while_a_later_one_works_the_chosen_one_is_told() {
    let script = format!(
        "[ $n != 1 ] || {{ {AT_THE_GATE} }}\n\
         if grep -q 'In capitals' {{DIR}}/briefs/$HOB_ISSUE-$n && [ $n -gt 2 ]; then echo ONE > done\n\
         else seq $((n+1)) > done; fi"
    );
    let (world, ..) = told_at_the_gate("3", &script).await;
    world.finish().await;
}

#[tokio::test]
async fn auto_makes_two_only_of_hard_work() {
    let usual = with_candidates("auto", "echo 1 > done").start().await;
    let issue = usual.works().await;
    assert_eq!(usual.briefs(issue).len(), 1);
    usual.finish().await;

    let script = format!("case $n in 0) kill -9 $$;; 1) echo 1 > done;; *) {PROVEN};; esac");
    let world = with_candidates("auto", &script).start().await;
    let issue = world.asks("Make done", "").await;
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1);
    world.forge.advance(world.settings.limits.retry_delay * 2);
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 3, "{:?}", world.failures());
    assert!(world.opened_with().await.1.contains("Of 2 candidates, number 2 was chosen"), "an attempt failed before");
    world.finish().await;
}

#[tokio::test]
async fn each_candidate_begins_with_the_next_model() {
    let (first, second) = (Replies::none(), Replies::none());
    let done = |files: &[&str]| {
        let writes: Vec<_> =
            files.iter().map(|path| json!({"name": "write", "arguments": {"path": path, "content": "1"}})).collect();
        json!([{"calls": writes}, {"calls": [{"name": "done", "arguments": {"summary": "Made it."}}]}])
    };
    first.are(&done(&["done"]));
    second.are(&done(&["done", "tests/test_done"]));
    let fallback: Vec<_> = second.agent().model.into_iter().collect();
    let agent = hob_config::AgentSettings { fallback: fallback.clone(), ..first.agent() };
    let world = World::with_bare_agent("")
        .agent("native-two", agent)
        .set("agent", "native-two")
        .check(CHECK)
        .set("limits.candidates", "2")
        .set("publish.trailers", "assisted-by")
        .start()
        .await;
    world.works().await;
    let (files, body) = world.opened_with().await;
    assert_eq!(files, ["done", "tests/test_done"], "{body}");
    let commits = world.commits(world.pull().await["number"].as_u64().unwrap()).await;
    assert!(commits[0].message.contains(&fallback[0]), "{}", commits[0].message);
    world.finish().await;
}

/// The first fails its check, the second's agent fails, the third is Proven.
#[tokio::test]
async fn one_that_fails_and_one_whose_agent_fails_lose_to_one_that_is_proven() {
    let script =
        format!("case $n in 0) mkdir -p tests; touch tests/test_done;; 1) echo 1 > half; exit 3;; *) {PROVEN};; esac");
    let world = with_candidates("3", &script).start().await;
    let issue = world.works().await;
    assert_eq!(world.briefs(issue).len(), 3, "{:#?}", world.told());
    let (files, body) = world.opened_with().await;
    assert_eq!(files, ["done", "tests/test_done"]);
    let told = "Of 3 candidates, number 3 was chosen (candidate 1: 1 check fails on it; candidate 2: the agent failed; candidate 3: Proven)";
    assert!(body.contains(told), "{body}");
    world.finish().await;
}

/// The first is only shown, the second's agent asks a question: the first is published, nobody is asked.
#[tokio::test]
async fn a_question_of_a_later_one_does_not_hide_the_first() {
    let script = r#"case $n in 0) echo 1 > done;; *) echo '{"outcome":"question","question":"Which?"}';; esac"#;
    let world = with_candidates("2", script).start().await;
    let issue = world.works().await;
    assert_eq!((world.briefs(issue).len(), world.opened_with().await.0), (2, vec!["done".to_owned()]));
    world.finish().await;
}
