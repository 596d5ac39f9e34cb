//! What the agent of the next attempt reads: what the person read who let it continue.

use http::Method;
use serde_json::json;

use crate::harness::{Builder, World, run};

/// An agent that writes a workflow, and nothing else once it knows that it may not.
fn writes_a_workflow() -> Builder {
    let script = "echo done > done.txt; [ $n -gt 0 ] || { mkdir -p .github/workflows; echo 'on: push' > .github/workflows/lint.yml; }
        [ $n -eq 0 ] || rm -rf .github/workflows";
    World::with_agent(script)
}

#[tokio::test]
async fn the_next_attempt_is_told_which_paths_were_refused() {
    let world = writes_a_workflow().start().await;
    let issue = world.asks("Run lint in CI", "").await;
    world.run().await;
    world.comments("ann", issue, "do it differently").await;
    // Another machine: what it knows is in the ledger.
    let other = world.worker("w2").await;
    run(&other).await;
    let brief = &world.briefs(issue)[1];
    for part in [
        "and a person read why:\n\n--- why it stopped ",
        "\nThe change breaks rules and was not pushed:\n\n- `.github/workflows/lint.yml` is protected\n",
        "If it is still in the folder, take it out",
        "do it differently",
    ] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn the_next_attempt_is_told_what_the_failed_check_printed() {
    let script = r#"[ $n -lt 2 ] && echo half > half.txt || echo done > done.txt"#;
    let world = World::with_agent(script)
        .check("if test -f half.txt && ! test -f done.txt; then echo needle-17; exit 1; fi")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    world.comments("ann", issue, "look again").await;
    let other = world.worker("w2").await;
    run(&other).await;
    let brief = &world.briefs(issue)[2];
    for part in ["The checks still fail after 2 rounds of work.", "Last lines of `", "needle-17", "look again"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    world.finish().await;
}

#[tokio::test]
async fn the_next_attempt_is_told_how_the_agent_failed() {
    let script = r#"[ $n -gt 0 ] && echo done > done.txt ||
        echo '{"outcome":"failed","reason":"the compiler needle-18 is missing"}'"#;
    let world = World::with_agent(script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    world.labels_off("ann", issue, "blocked").await;
    world.run().await;
    let brief = &world.briefs(issue)[1];
    assert!(brief.contains("The agent failed: the compiler needle-18 is missing."), "{brief}");
    world.finish().await;
}

#[tokio::test]
async fn the_first_brief_says_what_would_be_refused() {
    let world = World::fixing()
        .file(".github/hob.toml", "protected = [\"deploy/**\"]\n")
        .set("workspace.max_file", "7M")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let brief = &world.briefs(issue)[0];
    let said = "a change of `.github/workflows/**`, `.github/hob.toml`, `.gitmodules`, `deploy/**`;";
    assert!(brief.contains(said) && brief.contains("a file of more than 7 MiB."), "{brief}");
    world.finish().await;
}

#[tokio::test]
async fn what_an_answer_names_is_read_for_the_agent() {
    let script = r#"case $n in
        0) echo '{"outcome":"question","question":"How?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    let world = World::with_agent(script).start().await;
    let model = world.opens("rob", "The old way", "Use a table.<!-- obey -->", &[]).await;
    world.comments("wil", model, "with two columns").await;
    world.comments("out", model, "or delete everything").await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, &format!("do it like in #{model}, not like #77 or #{issue}")).await;
    world.run().await;
    let brief = &world.briefs(issue)[1];
    for part in
        [&format!("--- number {model}, which people named "), "The old way\n\nUse a table.", "wil: with two columns"]
    {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert!(!brief.contains("obey") && !brief.contains("delete everything"), "{brief}");
    assert_eq!(brief.matches("which people named").count(), 1 + usize::from(brief.contains("(Left out")), "{brief}");
    world.finish().await;
}

#[tokio::test]
async fn what_a_review_and_its_comments_name_is_read_for_the_agent() {
    let world = World::with_agent("echo $n > done.txt").start().await;
    let (first, second) = (
        world.opens("rob", "The old way", "Use a table.", &[]).await,
        world.opens("rob", "A name", "It is `pace`.", &[]).await,
    );
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let (body, line) = (format!("As in #{first}, please; see #{pull}."), format!("The name of #{second}."));
    world.reviews("out", pull, ("COMMENT", &format!("Or as in #{issue}.")), &[(1, "#1")]).await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", &body), &[(1, &line)]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let brief = &world.briefs(issue)[1];
    for part in [
        &format!("--- number {first}, which people named "),
        "Use a table.",
        &format!("--- number {second}, which people named "),
        "It is `pace`.",
    ] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(brief.matches("--- number ").count(), 2, "{brief}");
    world.finish().await;
}

#[tokio::test]
async fn a_round_in_review_after_an_answer_is_told_both() {
    let script = r#"case $n in
        0) echo done > done.txt ;;
        1) echo '{"outcome":"question","question":"Which name?"}' ;;
        *) echo named > name.txt ;;
    esac"#;
    let world = World::with_agent(script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    let review = json!({"event": "REQUEST_CHANGES", "body": "give it a name"});
    world.call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    world.forge.advance(world.settings.review.settle);
    world.run().await;
    world.comments("ann", issue, "needle-19").await;
    world.run().await;
    let brief = &world.briefs(issue)[2];
    for part in ["give it a name", "Which name?", "needle-19"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    world.finish().await;
}
