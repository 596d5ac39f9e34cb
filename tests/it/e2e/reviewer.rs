//! The reviewer before the pull request: its findings go back to the author, and a reviewer that is down, slow or
//! unintelligible blocks nothing.

use hob_domain::State;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Builder, Gate, World, redacted, run};

/// A profile that reviews by the agent `eyes`.
const PROFILE: &str = "---\nname: eyes\ndescription: Reads changes\nhob:\n  backend: looker\n  deliverable: comment\n  \
                       limits: { max_time: LIMIT }\n---\nLook at line ends.";

/// A world whose reviewer is this script. `$looks` counts its earlier reviews, and each brief is kept.
fn reviewed(author: &str, reviewer: &str) -> Builder {
    let count = "looks=$(ls {DIR}/looks 2>/dev/null | wc -l); mkdir -p {DIR}/looks; cat > {DIR}/looks/$looks\n";
    let author = format!("test \"$HOB_PURPOSE\" = work || exit 9\n{author}");
    let bare = "test \"$HOB_PURPOSE\" = review || exit 9\n";
    World::with_bare_agent("")
        .script("fixer", &author)
        .bare_script("looker", &format!("{bare}{count}{reviewer}"))
        .check("test -f done.txt")
        .file(".github/agents/eyes.md", &PROFILE.replace("LIMIT", "1m"))
        .set("review.reviewer", "eyes")
}

impl World {
    /// Works on one issue until its pull request is open; the issue and the pull request's text.
    async fn opened(&self) -> (u64, String) {
        let issue = self.asks("Make done.txt", "With a line end.").await;
        let summary = self.run().await;
        assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", self.failures());
        let record = self.record(issue).await.unwrap();
        assert_eq!(record.state, State::InReview, "{:?}", record.blocked);
        (issue, self.pull().await["body"].as_str().unwrap().to_owned())
    }

    /// The reviewer's briefs, review by review.
    fn looks(&self) -> Vec<String> {
        (0..).map_while(|look| std::fs::read_to_string(self.dir().join(format!("looks/{look}"))).ok()).collect()
    }
}

#[tokio::test]
async fn a_high_finding_goes_back_and_is_mended() {
    let author = "if [ $n = 0 ]; then printf done > done.txt; else echo done > done.txt; fi\necho 'Author: trust me.'";
    let reviewer = "echo 'I read it.'; echo\nif [ $(wc -l < done.txt) = 0 ]; then echo '- high done.txt:1: it has no line end'\n\
                    else echo '- low `done.txt:1`: a word is short'; echo '- high other.txt:1: x'; fi";
    let world = reviewed(author, reviewer).start().await;
    let (issue, body) = world.opened().await;
    let (briefs, looks) = (world.briefs(issue), world.looks());
    assert_eq!((briefs.len(), looks.len()), (2, 2));
    assert!(briefs[1].contains("- high done.txt:1: it has no line end\n"), "{}", briefs[1]);
    assert!(!briefs[0].contains("A reviewer read your work"));
    for part in ["Look at line ends.", "Make done.txt", "With a line end.", "+done", "| `test -f done.txt` |"] {
        assert!(looks[0].contains(part), "{part}\n{}", looks[0]);
    }
    assert!(!looks.concat().contains("trust me"), "the author's words are not the reviewer's to read");
    let _redacted = redacted();
    insta::assert_snapshot!(body, @"
    Fixes #1

    ## What changed

    Author: trust me.

    1 file changed, 1 line added, 0 removed:

    - `done.txt` (+1 −0)

    ## Evidence

    **Proven**, by check and not by test: `test -f done.txt` fails without this change and passes with it, and with the old tests, too.

    | check | base | head |
    |---|---|---|
    | `test -f done.txt` | failed (exit code 1) | passed ([duration]) |

    ## Open

    Only the review.

    <details><summary>Review: 1 finding of eyes</summary>

    - **low** `done.txt:1`: a word is short.
    - Left out: 1 finding on files that this change does not touch.

    </details>

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
async fn after_two_rounds_it_opens_with_what_is_left() {
    let author = "echo done $n > done.txt";
    let world = reviewed(author, "echo '- high done.txt:1: the number is wrong, closes #1'").start().await;
    let (issue, body) = world.opened().await;
    assert_eq!((world.briefs(issue).len(), world.looks().len()), (3, 3));
    let _redacted = redacted();
    insta::assert_snapshot!(body, @"
    Fixes #1

    ## What changed

    1 file changed, 1 line added, 0 removed:

    - `done.txt` (+1 −0)

    ## Evidence

    **Proven**, by check and not by test: `test -f done.txt` fails without this change and passes with it, and with the old tests, too.

    | check | base | head |
    |---|---|---|
    | `test -f done.txt` | failed (exit code 1) | passed ([duration]) |

    ## Open

    `eyes` says that this must not be merged as it is, after 2 rounds: look at its findings first.

    <details><summary>Review: 1 finding of eyes</summary>

    - **high** `done.txt:1`: the number is wrong, closes #<zwsp>1.

    </details>

    To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

    <details><summary>Why, cost and limits</summary>

    `ann` asked Hob to work on the issue “Make done.txt”.

    Cost: [duration] over 1 attempt, by the agent `fixer`. An attempt may take 30m, an issue $5.00 and 3 attempts between two answers. Agent and checks ran in a sandbox of the tier `fence`.

    `hob explain 1 --history` prints each step.

    </details>
    ");
    assert_eq!(world.pulls().await.len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn an_author_who_leaves_the_work_is_not_asked_again() {
    let author = "if [ $n = 0 ]; then echo done > done.txt; echo 'Made the file.'; else echo 'It is right.'; fi";
    let world = reviewed(author, "echo '- high done.txt:1: wrong'").start().await;
    let (issue, body) = world.opened().await;
    assert_eq!((world.briefs(issue).len(), world.looks().len()), (2, 1), "the same work is not read twice");
    assert!(body.contains("Made the file.") && body.contains("after 1 round:"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn what_breaks_the_checks_after_a_look_has_its_rounds() {
    let author = "case $n in 0) echo done > done.txt ;; 1) touch bad.txt ;; *) rm bad.txt; echo all > done.txt ;; esac";
    let reviewer = "if grep -q done done.txt; then echo '- high done.txt:1: wrong word'; else echo 'No findings'; fi";
    let builder = reviewed(author, reviewer).check("! test -f bad.txt").set("testing.limits.check_rounds", "1");
    let world = builder.start().await;
    let (issue, body) = world.opened().await;
    assert_eq!((world.briefs(issue).len(), world.looks().len()), (3, 2));
    let brief = &world.briefs(issue)[2];
    assert!(brief.contains("fails on your work so far") && brief.contains("wrong word"), "{brief}");
    assert!(body.contains("The reviewer `eyes` had no findings."), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn a_reviewer_that_is_of_no_use_blocks_nothing() {
    let outcome = |outcome: &str| format!("echo '{outcome}'");
    for (reviewer, limit, cause) in [
        ("exit 3".to_owned(), "1m", "ended with exit code 3"),
        ("sleep 600".to_owned(), "1s", "ran out of time"),
        (
            "echo 'What a fine change!'".to_owned(),
            "1m",
            "its answer names no finding, and does not say that there is none",
        ),
        ("head -c 3000000 /dev/urandom".to_owned(), "1m", "names no finding"),
        (outcome(r#"{"outcome":"question","question":"Why?"}"#), "1m", "it asked a question"),
        (outcome(r#"{"outcome":"quota","reset_after":600,"reason":"no quota"}"#), "1m", "no quota"),
    ] {
        let profile = PROFILE.replace("LIMIT", limit);
        let world = reviewed("echo done > done.txt", &reviewer).file(".github/agents/eyes.md", &profile).start().await;
        let (issue, body) = world.opened().await;
        assert_eq!(world.briefs(issue).len(), 1);
        assert!(body.contains("This change was opened without a review by `eyes`: "), "{body}");
        assert!(body.contains(cause), "{cause}\n{body}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_reviewer_that_is_not_there_blocks_nothing() {
    let world = World::fixing().set("review.reviewer", "nobody").start().await;
    let (_, body) = world.opened().await;
    assert!(body.contains("`nobody`: there is no profile `nobody`."), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn a_reviewer_changes_nothing() {
    let reviewer = "echo evil > done.txt; echo evil > stray.txt; echo 'No findings'";
    let world = reviewed("echo done > done.txt", reviewer).set("sandbox.tier", "none").start().await;
    let (_, body) = world.opened().await;
    assert!(body.contains("had no findings"), "{body}");
    let pull = world.pull().await["number"].as_u64().unwrap();
    assert_eq!(world.changed(pull).await, ["done.txt"]);
    assert!(!body.contains("stray.txt"));
    world.finish().await;
}

#[tokio::test]
async fn a_reviewer_has_its_share_of_the_issue() {
    let spent = r#"{"outcome":"done","summary":"- high done.txt:1: wrong","usd":0.5}"#;
    let reviewer = format!("echo '{spent}'");
    let builder = reviewed("echo done $n > done.txt", &reviewer);
    let world = builder.set("budget.issue", "2.0").start().await;
    let (issue, body) = world.opened().await;
    assert_eq!((world.briefs(issue).len(), world.looks().len()), (2, 1), "a second review would be over the share");
    assert!(body.contains("What the agent changed after the findings of `eyes` was not reviewed"), "{body}");
    assert!(body.contains("its share of the issue, a budget of $0.30, is used up"), "{body}");
    assert_eq!(world.record(issue).await.unwrap().spend.usd_micros, 500_000, "its cost is the issue's");
    world.finish().await;
}

#[tokio::test]
async fn a_hob_that_stops_while_a_reviewer_looks_has_the_next_one_look_again() {
    let reviewer = format!("if [ $looks = 0 ]; then {}fi\necho 'No findings'", Gate::before(""));
    let world = reviewed("echo done > done.txt", &reviewer).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run"]).await;
    gate.reached().await;
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(world.pulls().await.is_empty(), "nothing opens unseen because Hob stops");
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    assert_eq!((world.looks().len(), world.pulls().await.len()), (2, 1));
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    assert!(world.pull().await["body"].as_str().unwrap().contains("The reviewer `eyes` had no findings."));
    world.finish().await;
}

/// Says that the line end is missing until it is there, and then that the word is wrong until it is another.
const READS_TWICE: &str = "if [ $(wc -l < done.txt) = 0 ]; then printf '{\"severity\":\"high\",\"file\":\"done.txt\",\"reason\":\"no \\u202eline end\"}\\n'
    elif grep -q done done.txt; then echo '- high done.txt:1: the word is wrong'; else echo 'No findings'; fi";

#[tokio::test]
async fn the_next_attempt_is_told_what_a_reviewer_found() {
    let author = r#"case $n in
        0) printf done > done.txt ;;
        1) echo '{"outcome":"question","question":"Is a line end wanted?"}' ;;
        *) echo all > done.txt ;;
    esac"#;
    let world = reviewed(author, READS_TWICE).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    world.comments("ann", issue, "yes, it is").await;
    // Another machine: what it knows is in the ledger.
    let other = world.worker("w2").await;
    run(&other).await;
    let brief = &world.briefs(issue)[2];
    for part in ["\n- high done.txt: no line end\n--- end ", "says that it must not be merged", "yes, it is"] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.work.findings.len()), (State::InReview, 0), "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn the_next_attempt_is_not_told_what_was_mended() {
    let author = r#"case $n in
        0) printf done > done.txt ;;
        1) echo done > done.txt ;;
        2) echo '{"outcome":"failed","reason":"no words are left"}' ;;
        *) echo all > done.txt ;;
    esac"#;
    let reviewer = format!("if [ $looks = 2 ]; then {}fi\n{READS_TWICE}", Gate::before(""));
    let world = reviewed(author, &reviewer).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    world.comments("ann", issue, "/hob retry").await;
    let meanwhile = async {
        gate.reached().await;
        world.edits("ann", issue, json!({"title": "Make done.txt again"})).await;
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    let briefs = world.briefs(issue);
    assert!(briefs[3].contains("the word is wrong") && !briefs[3].contains("line end"), "{}", briefs[3]);
    // The last look found nothing, and the edit stopped the work.
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    world.comments("ann", issue, "make it longer").await;
    world.run().await;
    let brief = &world.briefs(issue)[4];
    assert!(!brief.contains("A reviewer read your work"), "{brief}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}
