//! What people say while Hob works and on its pull request: each message has its receipt, and reaches whom it is for.

use hob_domain::State;

use crate::harness::{Gate, World, run};

/// The reactions on the comments of `login`, and Hob's replies.
async fn receipts(world: &World, on: u64, login: &str) -> (Vec<String>, Vec<String>) {
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
async fn a_comment_while_an_agent_works_is_seen_at_once_and_the_next_round_reads_it() {
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
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.history(issue).await);
    let brief = &world.briefs(issue)[1];
    assert!(brief.contains("In capitals, please.") && !brief.contains("pink"), "{brief}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert_eq!(run(&worker).await.worked, 0, "{:?}", world.history(issue).await);
    world.finish().await;
}

/// Nobody looked again before the work was published.
#[tokio::test]
async fn a_comment_that_is_found_after_the_work_begins_a_round_and_a_stop_ends_it() {
    for (words, state) in [("In capitals, please.", State::InReview), ("Stop, please.", State::Done)] {
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
