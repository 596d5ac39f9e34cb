//! From the label to the pull request.

use hob_domain::State;

use crate::harness::World;

/// Attack corpus H89.
#[tokio::test]
async fn a_labelled_issue_becomes_a_proven_pull_request() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "It is wanted by @ann.").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());

    let pull = world.pull().await;
    let body = pull["body"].as_str().unwrap();
    assert!(body.starts_with(&format!("Fixes #{issue}\n")), "{body}");
    for part in
        ["## What changed", "## Evidence", "## Open", "<details>", "`done.txt`", "`ann` asked Hob to work on the issue"]
    {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert!(body.contains("**Proven**, by check"), "{body}");
    assert_eq!(pull["title"], "Make done.txt");
    assert_eq!(pull["head"]["ref"], format!("hob/{issue}-make-done-txt"));
    assert_eq!((&pull["base"]["ref"], &pull["user"]["login"]), (&"main".into(), &"hob".into()));
    let number = pull["number"].as_u64().unwrap();
    assert_eq!(world.changed(number).await, ["done.txt"]);
    let commits = world.commits(number).await;
    assert_eq!(commits.len(), 1);
    assert_eq!(commits[0].author, "Hob");
    let (id, account) = commits[0].email.split_once('+').unwrap();
    assert!(id.parse::<u64>().is_ok() && account == "hob@users.noreply.127.0.0.1", "{}", commits[0].email);
    assert!(commits[0].message.starts_with("Make done.txt\n"), "{}", commits[0].message);

    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    let status = world.status(issue).await;
    assert!(status.contains("**In review**") && status.contains("1 of 1 check passes"), "{status}");
    let link = format!("/tree/hob/{issue}-make-done-txt)");
    assert!(status.contains(&link), "{status}");
    let history = world.history(issue).await;
    let told = [
        "claimed by w1, generation 1".to_owned(),
        format!("the agent `fixer` started on `hob/{issue}-make-done-txt`"),
        format!("opened the pull request {number}"),
        "released the lease".to_owned(),
    ];
    assert_eq!(history, told);
    world.finish().await;
}

#[tokio::test]
async fn a_change_has_the_title_that_the_agent_gives_it() {
    let script = r#"echo done > done.txt; seq -f 'line %g of a log' 200
        echo '{"outcome":"done","title":"Add done.txt, closes #99 for @team","summary":"It was missing."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    world.asks("done.txt is missing", "").await;
    world.run().await;
    let pull = world.pull().await;
    let title = "Add done.txt, closes #\u{200b}99 for @\u{200b}team";
    assert_eq!(pull["title"], title, "{:?}", world.failures());
    let commits = world.commits(pull["number"].as_u64().unwrap()).await;
    assert_eq!(commits[0].message, format!("{title}\n\nIt was missing.\n\nIssue: 1\n"));
    world.finish().await;
}

#[tokio::test]
async fn what_an_agent_says_tells_nobody_where_it_worked() {
    let script = r#"echo done > done.txt
        echo "{\"outcome\":\"done\",\"title\":\"Add done.txt\",\"summary\":\"Made $PWD/done.txt below $HOME.\"}""#;
    let world = World::with_agent(script).start().await;
    world.asks("done.txt is missing", "").await;
    world.run().await;
    let pull = world.pull().await;
    let commits = world.commits(pull["number"].as_u64().unwrap()).await;
    let message = &commits[0].message;
    assert!(message.starts_with("Add done.txt\n\nMade done.txt below ~/homes/home-"), "{message}");
    let folder = world.dir().display().to_string();
    assert!(!message.contains(&folder) && !pull["body"].as_str().unwrap().contains(&folder), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn a_chatty_agents_log_stays_out_of_commit_and_pull_request() {
    let script = "echo done > done.txt; seq -f 'line %g of a log' 200";
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    world.asks("done.txt is missing", "").await;
    world.run().await;
    let pull = world.pull().await;
    let said = |text: &str| text.lines().filter(|line| line.contains("of a log")).count();
    assert_eq!(said(pull["body"].as_str().unwrap()), 10, "{}", pull["body"]);
    let commits = world.commits(pull["number"].as_u64().unwrap()).await;
    assert_eq!(said(&commits[0].message), 10, "{}", commits[0].message);
    assert!(commits[0].message.starts_with("done.txt is missing\n\nline 191 of a log\n"), "{}", commits[0].message);
    world.finish().await;
}

/// Attack corpus I93.
#[tokio::test]
async fn a_second_run_writes_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let before = world.writes().len();
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.reconciled, summary.failed), (0, 0, 0));
    assert_eq!(world.writes().len(), before);
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}

#[tokio::test]
async fn a_merged_pull_request_ends_the_work() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let number = world.pull().await["number"].as_u64().unwrap();
    world.call("ann", http::Method::PUT, &format!("/pulls/{number}/merge"), serde_json::json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, ["code"]);
    assert_eq!(world.history(issue).await[4..], ["finished: its pull request was merged", "released the lease"]);
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_closed_unmerged_asks_a_person() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let number = world.pull().await["number"].as_u64().unwrap();
    world.edits("ann", number, serde_json::json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("What should be done differently?"));
    world.finish().await;
}
