//! Questions that come up in a round in review.

use hob_domain::State;

use crate::harness::{World, redacted};

/// Row N66: the reviewer is asked on the pull request, and answers there.
#[tokio::test]
async fn a_question_in_a_round_is_asked_and_answered_on_the_pull_request() {
    let script = r#"case "$n" in
        0) echo one > done.txt ;;
        1) echo '{"outcome":"question","question":"By name or by date?"}' ;;
        *) echo two > done.txt; echo '{"outcome":"done","summary":"Sorted by name."}' ;;
    esac"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("wil", pull, ("REQUEST_CHANGES", "Sort the names, please."), &[(1, "And these.")]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    let asked: Vec<String> = world.said(pull).await.into_iter().map(|said| said.text).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    {
        let _redacted = redacted();
        insta::assert_snapshot!(asked[0], @"
        <!-- hob:question [id] -->
        @wil, the agent has a question about [your review]([forge]/acme/site/pull/2#pullrequestreview-[id]):

        > Sort the names, please.

        **Question**: By name or by date?

        Reply, and the agent continues with your answer. [Details and other answers]([forge]/acme/site/issues/1#issuecomment-[id])
        ");
    }
    let on_issue = world.said(issue).await;
    assert!(on_issue.iter().all(|said| !said.text.starts_with("<!-- hob:question")), "asked once: {on_issue:?}");
    let status = world.status(issue).await;
    assert!(status.contains(&format!("**Blocked** on #{pull}: a person is needed.")), "{status}");
    // Nothing new is asked by another worker.
    world.run().await;
    assert_eq!(world.said(pull).await.len(), 1);

    world.comments("wil", pull, "I meant alphabetical, second option, keep going").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    let brief = world.briefs(issue)[2].clone();
    for part in ["Sort the names, please.", "By name or by date?", "I meant alphabetical, second option"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(world.run().await.worked, 0, "the answer asks for no round of its own");
    world.finish().await;
}
