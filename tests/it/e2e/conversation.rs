//! What people say while Hob works and on its pull request: each message has its receipt, and reaches whom it is for.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use github_emulator::{Fault, What, When};
use hob_domain::State;
use hob_forge::Access;
use hob_worker::RunLimits;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{Gate, Model, Turnstile, World, run};

/// The reactions on the comments of `login`, and Hob's replies.
pub(super) async fn receipts(world: &World, on: u64, login: &str) -> (Vec<String>, Vec<String>) {
    let comments = world.look(&format!("/issues/{on}/comments?per_page=100")).await;
    let mut reactions = Vec::new();
    for comment in comments.as_array().unwrap().iter().filter(|comment| comment["user"]["login"] == login) {
        let found = world.look(&format!("/issues/comments/{}/reactions", comment["id"])).await;
        reactions.extend(found.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().to_owned()));
    }
    let said = world.said(on).await.into_iter().map(|said| said.text);
    (reactions, said.filter(|text| text.starts_with("<!-- hob:reply ")).collect())
}

#[tokio::test]
async fn a_comment_while_an_agent_works_is_seen_at_once_and_its_next_run_reads_it_before_anybody_reviews() {
    let script = format!("[ $n != 0 ] || {{ {} true; }}; echo done $n > done.txt", Gate::before(""));
    let world = World::with_agent(&script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    world.comments("wil", issue, "It is for the door.").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", issue, "In pink, please.").await;
        world.comments("tess", issue, "In pink!").await;
        world.comments("ann", issue, "In capitals, please.").await;
        // The agent works until its worker has seen the comment.
        while receipts(&world, issue, "ann").await.0.is_empty() {
            tokio::task::yield_now().await;
        }
        gate.open().await;
    });
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    for (login, reactions) in [("ann", vec!["eyes"]), ("wil", vec!["eyes"]), ("out", vec![]), ("tess", vec![])] {
        assert_eq!(receipts(&world, issue, login).await, (reactions.iter().map(ToString::to_string).collect(), vec![]));
    }
    let briefs = world.briefs(issue);
    assert!(briefs[1].contains("In capitals, please.") && !briefs[1].contains("pink"), "{}", briefs[1]);
    let branch = world.pull().await["head"]["ref"].as_str().unwrap().to_owned();
    assert_eq!(world.content("done.txt", &branch).await, "done 1\n");
    assert_eq!(run(&worker).await.worked, 0, "{:?}", world.history(issue).await);
    assert_eq!((briefs.len(), world.labels(issue).await.len()), (2, 2));
    world.finish().await;
}

/// Words that change nothing leave the pull request's text as the agent wrote it, and words in each run of the agent do
/// not hold its work up for ever.
#[tokio::test]
async fn words_do_not_hold_finished_work_up_for_ever() {
    let script =
        "[ $n != 0 ] || echo done > done.txt; echo \"{\\\"outcome\\\":\\\"done\\\",\\\"summary\\\":\\\"Run $n.\\\"}\"";
    let world = World::with_agent(&Gate::before(script)).set("publish.reviewers", "wil").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        for word in ["One.", "Two.", "Three.", "Four."] {
            gate.reached().await;
            world.comments("ann", issue, word).await;
            gate.open().await;
        }
    });
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.commands.unread.len()), (State::InReview, 1), "{:?}", world.failures());
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("Run 0."), "{}", pull["body"]);
    assert_eq!(pull["requested_reviewers"].as_array().unwrap().len(), 0, "nobody before the round");
    tokio::join!(run(&worker), async {
        gate.reached().await;
        gate.open().await;
    });
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 5);
    assert!(!briefs[3].contains("Four.") && briefs[4].contains("Four."), "{}", briefs[4]);
    assert_eq!(world.pull().await["requested_reviewers"][0]["login"], "wil");
    assert_eq!(run(&worker).await.worked, 0);
    world.finish().await;
}

/// No heartbeat came between the words and the end of the work.
#[tokio::test]
async fn finished_work_is_not_published_over_words_that_nobody_has_read() {
    for (words, state, runs) in [
        ("Not like this: in capitals, please.", State::InReview, 2),
        ("Stop, please.", State::Done, 1),
        ("LGTM", State::InReview, 1),
    ] {
        let script = format!("[ $n != 0 ] || {{ {} true; }}; echo done $n > done.txt", Gate::before(""));
        let world = World::with_agent(&script).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done.txt", "").await;
        let worker = world.worker("busy").await;
        tokio::join!(run(&worker), async {
            gate.reached().await;
            world.comments("ann", issue, words).await;
            gate.open().await;
        });
        assert_eq!(world.record(issue).await.unwrap().state, state, "{:?}", world.failures());
        assert_eq!(world.pulls().await.len(), usize::from(state == State::InReview), "{words}");
        assert_eq!(receipts(&world, issue, "ann").await, (vec!["eyes".to_owned()], vec![]));
        assert_eq!(run(&worker).await.worked, 0);
        assert_eq!(world.briefs(issue).len(), runs, "{words}");
        world.finish().await;
    }
}

/// Nobody looked again before the work was published.
#[tokio::test]
async fn a_comment_that_is_found_after_the_work_begins_a_round_and_a_stop_ends_it() {
    for (words, state) in [("In capitals, please.", State::InReview), ("Stop, please.", State::Done)] {
        let script = format!("[ $n != 0 ] || {{ {} true; }}; echo done $n > done.txt", Gate::before(""));
        let turnstile = Arc::new(Turnstile::default());
        let world = World::with_agent(&script).inside(&turnstile).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done.txt", "").await;
        let worker = world.worker("busy").await;
        tokio::join!(run(&worker), async {
            gate.reached().await;
            let stopped = turnstile.stop_at_path("/pulls");
            gate.open().await;
            let goes_on = stopped.await.unwrap();
            world.comments("ann", issue, words).await;
            turnstile.open();
            goes_on.send(()).unwrap();
        });
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
        run(&worker).await;
        assert_eq!(receipts(&world, issue, "ann").await, (vec!["eyes".to_owned()], vec![]));
        run(&worker).await;
        assert_eq!(world.record(issue).await.unwrap().state, state, "{:?}", world.history(issue).await);
        let rounds = world.briefs(issue).iter().skip(1).filter(|brief| brief.contains(words)).count();
        assert_eq!(rounds, usize::from(state == State::InReview));
        world.finish().await;
    }
}

/// The native agent hears a person between two turns of one run.
#[tokio::test]
async fn the_native_agent_hears_words_at_its_next_turn_once_and_nothing_more_follows() {
    let model = Model::start().await;
    let world = World::fixing()
        .agent("native-fixer", Model::agent())
        .set("agent", "native-fixer")
        .set("model.default", "openai/scripted")
        .set("testing.model.openai_base_url", &model.base)
        .set("poll.interval", "20ms")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    model.holds();
    tokio::join!(run(&worker), async {
        model.is_asked().await;
        world.comments("out", issue, "In pink, please.").await;
        world.comments("ann", issue, "Use UTC, please.").await;
        while receipts(&world, issue, "ann").await.0.is_empty() {
            tokio::task::yield_now().await;
        }
        model.goes_on();
    });
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.commands.unread), (State::InReview, vec![]), "{:?}", world.failures());
    let asked = model.requests();
    let times: Vec<_> = asked.iter().map(|asked| asked.matches("Use UTC, please.").count()).collect();
    assert_eq!(times, [0, 1], "{asked:?}");
    assert!(asked[1].contains("--- comment of ann ") && !asked[1].contains("pink"), "{}", asked[1]);
    assert_eq!(run(&worker).await.worked, 0);
    assert_eq!(model.requests().len(), 2);
    world.finish().await;
}

/// Field note N67: plain words on a pull request are told once how to reach Hob.
#[tokio::test]
async fn plain_words_on_the_pull_request_are_told_once_how_to_ask() {
    let world = World::with_agent("echo done $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    for (login, words) in [("out", "Please add a test."), ("ann", "LGTM"), ("ann", "@wil, what do you think?")] {
        world.comments(login, pull, words).await;
    }
    world.run().await;
    assert_eq!(receipts(&world, pull, "ann").await, (vec![], vec![]));
    world.comments("ann", pull, "Looks nice. Can you please also add a test?").await;
    world.comments("wil", pull, "And a line in the changelog.").await;
    for _poll in 0..3 {
        world.run().await;
    }
    let (reactions, replies) = receipts(&world, pull, "ann").await;
    assert_eq!((reactions, replies.len()), (vec!["confused".to_owned()], 1), "{replies:?}");
    assert!(replies[0].contains("To ask Hob for a change, begin a comment here with `/hob`"), "{}", replies[0]);
    assert_eq!((world.briefs(issue).len(), world.labels(issue).await.len()), (1, 2));
    // It is what to write.
    world.comments("ann", pull, "/hob please also add a test").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(receipts(&world, pull, "ann").await.0, ["confused", "eyes"], "also a request is seen");
    world.finish().await;
}

/// Case c15: a review with words begins a round also if it is a comment; an approval begins none.
#[tokio::test]
async fn a_review_of_the_kind_comment_begins_a_round() {
    let world = World::with_agent("echo done $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("rob", pull, ("COMMENT", "In pink, please."), &[]).await;
    world.reviews("ann", pull, ("APPROVE", "Fine as it is."), &[]).await;
    assert_eq!(world.run().await.worked, 0);
    world.reviews("ann", pull, ("COMMENT", "Nearly. In capitals, please."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = &world.briefs(issue)[1];
    assert!(brief.contains("Nearly. In capitals, please.") && !brief.contains("pink"), "{brief}");
    assert_eq!(world.run().await.worked, 0);
    world.finish().await;
}

/// Looks at what people say take no job: one agent works for as long as it likes.
#[tokio::test]
async fn while_all_jobs_are_busy_commands_are_followed_and_answers_are_seen() {
    let script = "[ $HOB_ISSUE != 1 ] || [ $n = 0 ] || { echo > {DIR}/arrived; read line < {DIR}/go; }; \
                  case $HOB_ISSUE-$n in 1-0|2-0) echo '{\"outcome\":\"question\",\"question\":\"Which?\"}';; \
                  *) echo done > done.txt;; esac";
    let world = World::with_agent(script).set("poll.interval", "20ms").set("jobs", "1").start().await;
    let mut gate = Gate::of(&world);
    let blocked = [world.asks("One", "").await, world.asks("Two", "").await];
    world.run().await;
    world.comments("ann", blocked[0], "The left one.").await;
    let stop = CancellationToken::new();
    let worker = world.worker_until("busy", world.settings.clone(), Access::ReadWrite, stop.clone()).await;
    tokio::join!(hob_worker::run_forever(&worker, RunLimits::default()), async {
        gate.reached().await;
        // Never claimed, and with a question to a person.
        let waits = world.asks("Three", "").await;
        world.comments("ann", waits, "/hob explain").await;
        world.comments("out", waits, "/hob cancel").await;
        world.comments("ann", blocked[1], "/hob explain").await;
        for issue in [waits, blocked[1]] {
            while receipts(&world, issue, "ann").await.1.is_empty() {
                tokio::task::yield_now().await;
            }
        }
        world.comments("ann", blocked[1], "The right one.").await;
        while receipts(&world, blocked[1], "ann").await.0.len() < 2 {
            tokio::task::yield_now().await;
        }
        // Nothing but the first issue's agent has run, and the one that waits is not claimed by what it was asked.
        assert_eq!((world.briefs(blocked[1]).len(), world.briefs(waits).len()), (1, 0));
        assert_eq!(world.record(waits).await.unwrap().state, State::Ready);
        world.comments("ann", waits, "/hob explain").await;
        while receipts(&world, waits, "ann").await.1.len() < 2 {
            tokio::task::yield_now().await;
        }
        gate.open().await;
        for issue in [blocked[0], blocked[1], waits] {
            while world
                .record(issue)
                .await
                .is_none_or(|record| record.state != State::InReview || record.lease.is_some())
            {
                tokio::task::yield_now().await;
            }
        }
        stop.cancel();
    });
    world.finish().await;
}

/// Reviews and comments on lines are seen, too: once, and those of people who count.
#[tokio::test]
async fn reviews_and_comments_on_lines_get_a_receipt() {
    let world = World::with_agent("echo done $n > done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("rob", pull, ("COMMENT", "In pink, please."), &[(1, "Pink!")]).await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "In capitals, please."), &[(1, "Here.")]).await;
    world.forge.advance(world.settings.review.settle * 2);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let seen = [world.reactions_in_reviews(pull, "ann").await, world.reactions_in_reviews(pull, "rob").await];
    assert_eq!(seen, [(2, 0), (0, 0)]);
    world.finish().await;
}

/// The round that a review asks for has to wait for a job; its receipt has not, and comes once.
#[tokio::test]
async fn while_all_jobs_are_busy_a_review_is_seen() {
    let script = "[ $HOB_ISSUE = 1 ] || { echo > {DIR}/arrived; read line < {DIR}/go; }; echo done $n > done.txt";
    let world = World::with_agent(script).set("poll.interval", "20ms").set("jobs", "1").start().await;
    let mut gate = Gate::of(&world);
    let reviewed = world.asks("One", "").await;
    let pull = world.opens_a_pull().await;
    let busy = world.asks("Two", "").await;
    let stop = CancellationToken::new();
    let worker = world.worker_until("busy", world.settings.clone(), Access::ReadWrite, stop.clone()).await;
    tokio::join!(hob_worker::run_forever(&worker, RunLimits::default()), async {
        gate.reached().await;
        world.reviews("ann", pull, ("REQUEST_CHANGES", "In capitals, please."), &[(1, "Here.")]).await;
        world.reviews("rob", pull, ("COMMENT", "In pink, please."), &[(1, "Pink!")]).await;
        while world.reactions_in_reviews(pull, "ann").await != (2, 0) {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.briefs(reviewed).len(), 1, "no round has begun");
        gate.open().await;
        while world.briefs(reviewed).len() < 2 || world.record(reviewed).await.unwrap().lease.is_some() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    });
    let seen = [world.reactions_in_reviews(pull, "ann").await, world.reactions_in_reviews(pull, "rob").await];
    assert_eq!(seen, [(2, 0), (0, 0)]);
    assert_eq!(world.record(busy).await.unwrap().state, State::InReview);
    let saw = world.history(reviewed).await.into_iter().filter(|line| line.contains("saw a review")).count();
    assert_eq!(saw, 1);
    world.finish().await;
}

/// A receipt that the forge did not take is given later, and once.
#[tokio::test]
async fn a_reaction_that_fails_for_a_while_is_made_up_for() {
    let world = World::with_agent("echo done $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob explain").await;
    let path = "/repos/acme/site/issues/comments/*/reactions".to_owned();
    let what = What::Answer { status: 502, headers: BTreeMap::new(), message: "Bad Gateway".to_owned() };
    let (method, login) = (Some("POST".to_owned()), Some("hob".into()));
    world.forge.inject(Fault { method, path, login, when: When::Always, what });
    world.run().await;
    assert_eq!(receipts(&world, issue, "ann").await.0, Vec::<String>::new());
    world.forge.heal();
    for _poll in 0..2 {
        world.forge.advance(world.settings.lease.duration * 2);
        world.run().await;
    }
    let (reactions, replies) = receipts(&world, issue, "ann").await;
    assert_eq!((reactions, replies.len()), (vec!["eyes".to_owned()], 1), "{:?}", world.failures());
    world.finish_after_faults().await;
}

/// A list of comments that is not found once, as on a replica that lags, costs nobody the reply.
#[tokio::test]
async fn a_reply_is_given_although_the_comments_are_not_found_once() {
    for call in 1..=3 {
        let world = World::with_agent("echo done > done.txt").start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        world.comments("ann", issue, "/hob explain").await;
        let path = format!("/repos/acme/site/issues/{issue}/comments");
        let what = What::Answer { status: 404, headers: BTreeMap::new(), message: "Not Found".to_owned() };
        let (method, login) = (Some("GET".to_owned()), Some("hob".into()));
        world.forge.inject(Fault { method, path, login, when: When::Call(call), what });
        for _poll in 0..2 {
            world.run().await;
            world.forge.advance(world.settings.lease.duration * 2);
        }
        let (reactions, replies) = receipts(&world, issue, "ann").await;
        assert_eq!((reactions, replies.len()), (vec!["eyes".to_owned()], 1), "call {call}: {:?}", world.failures());
        world.finish_after_faults().await;
    }
}

/// The agent asks a question in the round that a review began.
const ASKS_IN_A_ROUND: &str = r#"[ $n = 1 ] || echo done $n > done.txt
[ $n != 1 ] || echo '{"outcome":"question","question":"Which colour?"}'"#;

impl World {
    /// How often Hob reacted with eyes and confused, to the reviews of `login` and to their comments on lines.
    pub(super) async fn reactions_in_reviews(&self, pull: u64, login: &str) -> (u64, u64) {
        let counts =
            "eyes: reactions(content: EYES) { totalCount } confused: reactions(content: CONFUSED) { totalCount }";
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"site\") {{ pullRequest(number: {pull}) {{ reviews(first: 9) {{ nodes {{ \
             author {{ login }} {counts} comments(first: 9) {{ nodes {{ {counts} }} }} }} }} }} }} }}"
        );
        let found = self.ask_graphql("ann", json!({ "query": query })).await;
        let reviews = found["data"]["repository"]["pullRequest"]["reviews"]["nodes"].as_array().unwrap().clone();
        let by = reviews.iter().filter(|review| review["author"]["login"] == login);
        let all = by.flat_map(|review| review["comments"]["nodes"].as_array().unwrap().iter().chain([review]));
        let count = |one: &Value, name: &str| one[name]["totalCount"].as_u64().unwrap();
        all.fold((0, 0), |sum, one| (sum.0 + count(one, "eyes"), sum.1 + count(one, "confused")))
    }

    /// A pull request whose round has a question.
    async fn asks_in_a_round(&self) -> (u64, u64) {
        let issue = self.asks("Make done.txt", "").await;
        let pull = self.opens_a_pull().await;
        self.reviews("wil", pull, ("REQUEST_CHANGES", "In colour, please."), &[]).await;
        self.run().await;
        assert_eq!(self.labels(issue).await, ["blocked", "code"], "{:?}", self.failures());
        (issue, pull)
    }
}

#[tokio::test]
async fn a_question_is_answered_in_a_review_of_any_kind_and_on_a_line() {
    for (event, body, lines, heard) in [
        ("COMMENT", "Green.", &[][..], "Green."),
        ("APPROVE", "Fine, and green.", &[], "Fine, and green."),
        ("REQUEST_CHANGES", "/hob green, please", &[], "green, please"),
        ("COMMENT", "", &[(1, "Green here.")], "On `done.txt`, line 1: Green here."),
    ] {
        let world = World::with_agent(ASKS_IN_A_ROUND).start().await;
        let (issue, pull) = world.asks_in_a_round().await;
        world.reviews("rob", pull, ("COMMENT", "Pink!"), &[(1, "Pink here.")]).await;
        world.reviews("wil", pull, ("APPROVE", ""), &[]).await;
        assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
        world.reviews("ann", pull, (event, body), lines).await;
        assert_eq!(world.run().await.worked, 1, "{event} {body}: {:?}", world.failures());
        let brief = &world.briefs(issue)[2];
        assert!(brief.contains(heard) && brief.contains("answer of ann") && !brief.contains("Pink"), "{brief}");
        assert_eq!(world.reactions_in_reviews(pull, "ann").await, (1, 0), "{event} {body}");
        assert_eq!(world.reactions_in_reviews(pull, "rob").await, (0, 0));
        // It is answered, and asks for no round of its own.
        world.forge.advance(world.settings.review.settle * 2);
        assert_eq!(world.run().await.worked, 0, "{event} {body}: {:?}", world.history(issue).await);
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
        world.finish().await;
    }
}

#[tokio::test]
async fn what_cannot_be_followed_in_a_review_is_told_once_and_a_poll_without_news_costs_nothing() {
    let world = World::with_agent(ASKS_IN_A_ROUND).start().await;
    let (issue, pull) = world.asks_in_a_round().await;
    world.reviews("ann", pull, ("COMMENT", "/hob cancl"), &[(1, "/hob pause")]).await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    let replies = async || receipts(&world, pull, "nobody").await.1;
    let told = replies().await;
    assert!(told.iter().any(|text| text.contains("did you mean `/hob cancel`")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("In a review, only an answer counts.")), "{told:?}");
    assert_eq!(world.reactions_in_reviews(pull, "ann").await, (0, 2));
    run(&worker).await;
    let before = world.forge.requests().len();
    run(&worker).await;
    let made = world.forge.requests().split_off(before);
    let counted: Vec<String> =
        made.iter().filter(|call| call.counted).map(|call| format!("{} {}", call.method, call.path)).collect();
    assert!(counted.iter().all(|call| !call.contains("/pulls/") && !call.contains("graphql")), "{counted:?}");
    assert_eq!(replies().await.len(), 2);
    assert_eq!(world.reactions_in_reviews(pull, "ann").await, (0, 2));
    world.reviews("ann", pull, ("COMMENT", "Stop."), &[]).await;
    run(&worker).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn plain_words_on_a_pull_request_are_requests_or_nothing_if_the_settings_say_so() {
    for (rule, rounds, reactions) in [("work", 1, vec!["eyes"]), ("ignore", 0, vec![])] {
        let world = World::with_agent("echo done $n > done.txt").set("review.plain_comments", rule).start().await;
        let issue = world.asks("Make done.txt", "").await;
        let pull = world.opens_a_pull().await;
        for (login, words) in [("out", "In pink, please."), ("ann", "LGTM"), ("wil", "Please also add a test.")] {
            world.comments(login, pull, words).await;
        }
        for _poll in 0..3 {
            world.run().await;
        }
        let briefs = world.briefs(issue);
        assert_eq!(briefs.len(), 1 + rounds, "{rule}: {:?}", world.failures());
        assert!(
            briefs.iter().skip(1).all(|brief| brief.contains("Please also add a test.") && !brief.contains("pink"))
        );
        let seen: Vec<_> = reactions.iter().map(ToString::to_string).collect();
        assert_eq!(receipts(&world, pull, "wil").await, (seen, vec![]), "{rule}");
        world.finish().await;
    }
}

/// Words that a dead worker's agent may have heard are in the brief of the next one, and begin nothing more.
#[tokio::test]
async fn words_survive_a_worker_that_dies_after_it_saw_them() {
    let script = format!("[ $n != 0 ] || {{ {} true; }}; echo done $n > done.txt", Gate::before(""));
    let world = World::with_agent(&script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let dead = world.worker("dead").await;
    let seen = async {
        gate.reached().await;
        world.comments("ann", issue, "In capitals, please.").await;
        while receipts(&world, issue, "ann").await.0.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run(&dead) => panic!("its agent works until it dies"),
        () = seen => {}
    }
    drop(dead);
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    let worker = world.worker("next").await;
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.commands.unread), (State::InReview, vec![]), "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("In capitals, please."));
    assert_eq!(receipts(&world, issue, "ann").await, (vec!["eyes".to_owned()], vec![]));
    assert_eq!(run(&worker).await.worked, 0);
    world.finish().await;
}
