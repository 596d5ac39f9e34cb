//! Rounds in review that change no file.

use crate::harness::World;

/// Row N64: the same words as before are no answer, and what was not said is not answered.
#[tokio::test]
async fn a_round_that_changes_nothing_says_so_and_asks_nobody_for_a_review() {
    let script = r#"[ "$n" != 0 ] || echo slug > done.txt
        case $n in
            2) printf '%s\n' '{"outcome":"done","summary":"It is the last blank that counts.\n\nT1: It finds the last blank."}' ;;
            *) echo '{"outcome":"done","summary":"A slug that is too long ends after a whole word."}' ;;
        esac"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Shorten slugs", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    let lines = [(1, "Why lastIndexOf twice?")];
    for (words, answered, remarks) in [
        (
            "Use a helper.",
            "No file changed, and the agent did not say why. To try again, begin a comment with `/hob` and say what should \
             change.\n\nThe agent said nothing about the thread on `done.txt` line 1.",
            1,
        ),
        ("Use a helper, please.", "No file changed: It is the last blank that counts.", 3),
    ] {
        world.reviews("ann", pull, ("REQUEST_CHANGES", words), &lines).await;
        assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
        let said = world.said(pull).await.pop().unwrap().text;
        assert!(said.ends_with(&format!("-->\n{answered}\n")), "{said}");
        assert_eq!(world.remarks(pull).await.len(), remarks, "{:?}", world.remarks(pull).await);
    }
    assert!(world.remarks(pull).await[2].2.ends_with("-->\nIt finds the last blank.\n\nNo file changed.\n"));
    assert_eq!(world.head(pull).await, head);
    let asked = world.look(&format!("/pulls/{pull}/requested_reviewers")).await;
    assert_eq!(asked["users"].as_array().unwrap().len(), 0, "{asked}");
    let status = world.status(issue).await;
    assert!(
        status.contains("(2 rounds for reviews; the last round changed no file, and nothing was pushed)"),
        "{status}"
    );
    let history = world.history(issue).await;
    let line = "round 1 in review changed no file: a review";
    assert!(history.iter().any(|told| told.starts_with(line)), "{history:?}");
    world.finish().await;
}
