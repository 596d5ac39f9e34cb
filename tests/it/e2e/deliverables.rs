//! Row G7: profiles that bring a comment, or issues after approval, instead of a change.

use std::time::Duration;

use hob_domain::{BlockCode, State};
use serde_json::{Value, json};

use crate::harness::{Builder, Faulty, Lost, Replies, World, redacted};

/// An agent that reports, and changes a file though it must not.
const REPORTS: &str = r#"[ "$HOB_PURPOSE" = report ] || exit 9
    echo stray > stray.txt
    printf '**Answer**: use UTC [1], @team.\n\n1. `README.md:1`, closes #1\n2. ghp_%036d\n' 7"#;

/// An agent that splits an issue, otherwise when it was told to.
const SPLITS: &str = r#"[ "$HOB_PURPOSE" = plan ] || exit 9
    if grep -q 'Fewer, please' {DIR}/briefs/$HOB_ISSUE-$n; then last=; else last='3. The manual tells of both
   After: 1, 2'; fi
    printf 'Summary: The parser first.\nIssues:\n1. The parser reads version 2\n   In `src/parse.rs`.\n2. The writer writes version 2, @team\n   Run `make`.\n   After: 1\n%s\n' "$last""#;

fn world(script: &str) -> Builder {
    World::with_agent(script).check("test -f done.txt")
}

impl World {
    /// The work is over with one comment, and nothing is pushed.
    async fn ended_with_a_comment(&self, issue: u64) -> String {
        let record = self.record(issue).await.unwrap();
        assert_eq!((record.state, record.comments.report.is_some()), (State::Done, true), "{:?}", self.failures());
        assert!(!self.labels(issue).await.contains(&"code".to_owned()));
        assert!(self.branches().await.is_empty() && self.pulls().await.is_empty());
        let mut reports = self.reports(issue).await;
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.remove(0)
    }

    /// The titles of the issues that one is split into, and what each waits for.
    async fn parts_of(&self, issue: u64) -> Vec<(u64, String, Vec<u64>)> {
        let mut parts = Vec::new();
        for part in self.look(&format!("/issues/{issue}/sub_issues")).await.as_array().unwrap() {
            let number = part["number"].as_u64().unwrap();
            let waits = self.look(&format!("/issues/{number}/dependencies/blocked_by")).await;
            let waits = waits.as_array().unwrap().iter().map(|other| other["number"].as_u64().unwrap()).collect();
            parts.push((number, part["title"].as_str().unwrap().to_owned(), waits));
        }
        parts
    }
}

/// Requirement G7.
#[tokio::test]
async fn a_profile_that_brings_a_comment_ends_with_one_and_nothing_is_pushed() {
    let world = world(REPORTS).start().await;
    let issue = world.opens("ann", "Which zone?", "UTC or local time?", &["code", "agent:research"]).await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let report = world.ended_with_a_comment(issue).await;
    let _redacted = redacted();
    insta::assert_snapshot!(report, @r"
    <!-- hob:report [id] -->
    ## Report by `research`

    **Answer**: use UTC [1], @<zwsp>team.

    1. `README.md:1`, closes #<zwsp>1
    2. [a GitHub token]
    ");
    let brief = &world.briefs(issue)[0];
    for part in [
        "Your result is a comment on the issue",
        "You answer one question so that a person can decide.",
        "Change nothing.",
    ] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert!(!brief.contains("these checks are run"), "{brief}");
    let status = world.status(issue).await;
    assert!(status.contains("**Done**: the [report](#issuecomment-"), "{status}");
    let history = world.history(issue).await;
    for sentence in ["the agent `research` started on a report", "finished: the report is written"] {
        assert!(history.iter().any(|line| line.starts_with(sentence)), "{sentence}: {history:#?}");
    }
    // The label asks again.
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.reports(issue).await.len(), 2);
    world.finish().await;
}

/// A native agent that reports has no tool that changes files, and asks services by the tools of the settings.
#[tokio::test]
async fn a_native_agent_that_reports_cannot_edit() {
    let replies = Replies::none();
    replies.are(&json!([
        { "calls": [{ "name": "write", "arguments": { "path": "a", "text": "b" } }] },
        { "expect": ["there is no tool `write`"], "calls": [{ "name": "read", "arguments": { "path": "README.md" } }] },
        { "expect": ["# Site"], "calls": [{ "name": "done", "arguments": { "summary": "**Answer**: a site." } }] },
    ]));
    let world = World::fixing().agent("careful", replies.agent()).set("agent", "careful").start().await;
    let issue = world.opens("ann", "What is this?", "", &["code", "agent:research"]).await;
    world.run().await;
    let report = world.ended_with_a_comment(issue).await;
    assert!(report.contains("**Answer**: a site."), "{report} {:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_comment_is_not_what_an_open_pull_request_needs() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob agent research").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.forge.advance(Duration::from_secs(2));
    world.comments("ann", pull, "/hob do Say why.").await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::SetUpNeeded), "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(
        status.contains("The profile `research` brings no change, and a change is what is worked on here"),
        "{status}"
    );
    world.finish().await;
}

#[tokio::test]
async fn issues_are_opened_when_their_list_is_approved() {
    let world = world(SPLITS).start().await;
    let issue = world.opens("ann", "Version 2", "Read and write it.", &["code", "agent:planner"]).await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PlanProposed), "{:?}", world.failures());
    let status = world.status(issue).await;
    for part in [
        "The agent proposes to split this issue into 3 issues. None is opened before the split is approved.",
        "1. **The parser reads version 2**\n",
        " (after 1)\n3. **The manual tells of both** (after 1, 2)\n",
        "**Question**: Should Hob open these issues?",
        "Comment `/hob approve`, or just yes, to have exactly this plan carried out.",
    ] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    assert!(world.briefs(issue)[0].contains("Split this issue into smaller ones"), "{}", world.briefs(issue)[0]);
    world.comments("tess", issue, "/hob approve").await;
    world.comments("ann", issue, "Fewer, please").await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PlanProposed), "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("This plan of yours was not approved."), "{}", world.briefs(issue)[1]);
    assert!(world.parts_of(issue).await.is_empty());

    world.comments("ann", issue, "/hob approve").await;
    world.run().await;
    let report = world.ended_with_a_comment(issue).await;
    assert_eq!(world.briefs(issue).len(), 2, "no agent runs for it");
    let parts = world.parts_of(issue).await;
    let [(first, read, none), (second, write, waits)] = parts.as_slice() else { panic!("{parts:?}") };
    assert_eq!(
        (read.as_str(), none.as_slice(), waits.as_slice()),
        ("The parser reads version 2", &[][..], &[*first][..])
    );
    assert_eq!(write, "The writer writes version 2, @team", "a title calls nobody, and no Markdown is read in it");
    assert!(report.contains(&format!("- #{first}\n- #{second}, after #{first}\n")), "{report}");
    let body = world.look(&format!("/issues/{second}")).await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("Run `make`.\n\nPart of #1.") && body.starts_with("<!-- hob:part 1 "), "{body}");
    for part in [first, second] {
        assert!(world.labels(*part).await.is_empty(), "what is worked on, people say");
    }
    // Once they are labelled, the second one waits for the first.
    world.labels_on("ann", *second, "code").await;
    world.run().await;
    assert!(world.record(*second).await.is_none(), "it waits");
    world.finish().await;
}

/// One issue after another; each loses one write more of those that follow the approval.
async fn every_write_may_be_lost(lost: Lost) {
    let world = world(SPLITS).set("limits.issues_per_hour", "1000").start().await;
    let door = Faulty::before(&world).await;
    for index in 0..60 {
        let issue = world.opens("ann", "Version 2", "", &["code", "agent:planner"]).await;
        world.run().await;
        world.comments("ann", issue, "/hob approve").await;
        let is_lost = door.run_without(&world, index, lost).await;
        world.comes_to(issue, State::Done, 3).await;
        assert_eq!(world.reports(issue).await.len(), 1, "{lost:?} {index}: {:?}", world.history(issue).await);
        let parts = world.parts_of(issue).await;
        let order: Vec<usize> = parts.iter().map(|(_, _, waits)| waits.len()).collect();
        assert_eq!(order, [0, 1, 2], "{lost:?} {index}: {parts:?}");
        let marks = format!("<!-- hob:part {issue} ");
        let all = world.look("/issues?state=all&sort=created&direction=desc&per_page=100").await;
        let opened =
            all.as_array().unwrap().iter().filter(|one| one["body"].as_str().unwrap_or_default().starts_with(&marks));
        assert_eq!(opened.count(), 3, "{lost:?} {index}: none is opened twice");
        if !is_lost {
            assert!(index > 12, "three issues take more than {index} writes");
            world.an_hour_later().await;
            return world.finish().await;
        }
    }
    panic!("there are more than 60 writes");
}

#[tokio::test]
async fn any_answer_may_be_lost() {
    every_write_may_be_lost(Lost::Answer).await;
}

#[tokio::test]
async fn any_request_may_be_lost() {
    every_write_may_be_lost(Lost::Request).await;
}

/// A reply that is not a list is tried again, and then a person is asked.
#[tokio::test]
async fn words_that_are_no_list_open_nothing() {
    let world = world("echo 'Steps:'; echo '- I would do it all.'").set("limits.attempts", "1").start().await;
    let issue = world.opens("ann", "Version 2", "", &["code", "agent:planner"]).await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("the agent named no issues to split this one into"), "{status}");
    assert_eq!(world.pulls().await, Vec::<Value>::new());
    world.finish().await;
}
