//! What leads a pull request beside how its change is tested: packages, generated files, folders that lose most of their files,
//! and commits of people that the work undoes.

use github_emulator::{Job, JobConclusion, KnownAdvisory};
use http::Method;
use serde_json::json;

use crate::harness::{World, repo_on_forge};

#[tokio::test]
async fn new_packages_generated_files_and_an_emptied_folder_lead_the_pull_request() {
    let lock = |left: &str, more: &str| {
        format!("{{\"packages\":{{\"node_modules/left\":{{\"version\":\"{left}\"}}{more}}}}}\n")
    };
    let new = ",\"node_modules/new\":{\"version\":\"2.0.0\"}";
    let script = format!(
        "cp package-lock.json old.json; echo '{}' > package-lock.json; rm old.json; echo 2 > api.gen.js; rm pages/*; \
         echo x > done.txt",
        lock("1.1.0", new).trim()
    );
    let mut world = World::with_agent(&script)
        .check("test -f README.md")
        .file("package-lock.json", &lock("1.0.0", ""))
        .file(".gitattributes", "*.gen.js linguist-generated\n")
        .file("api.gen.js", "1\n");
    for page in 0..6 {
        world = world.file(&format!("pages/{page}.html"), &format!("page {page}\n"));
    }
    let world = world.start().await;
    let [package, id, severity, summary] = ["left", "GHSA-1", "high", "Pads on both sides"].map(str::to_owned);
    world.forge.add_advisory(KnownAdvisory { package, version: "1.1.0".to_owned(), id, severity, summary });
    world.asks("Take the other package", "").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let pull = world.pull().await;
    let body = pull["body"].as_str().unwrap().to_owned();
    let (first, _) = body.split_once("\n\nFixes #1").unwrap();
    insta::assert_snapshot!(first, @"
    **Look here first**

    - 6 of the 11 files in the repository are deleted.
    - Dependency: `left` `1.0.0` → `1.1.0` (`package-lock.json`). **high: GHSA-1**, Pads on both sides.
    - New dependency: `new` `2.0.0` (`package-lock.json`).
    - `api.gen.js` is written by a program: see that what writes it changed too.

    This is a draft because of that. If all of it is meant, mark it as ready for review.
    ");
    assert_eq!(pull["draft"], true, "work of people goes");
    world.finish().await;
}

/// Tried on a telephone: who opens the issue or the pull request sees what to look at, and what to do then.
#[tokio::test]
async fn a_changed_judge_leads_the_pull_request_and_the_status() {
    let script = "echo true > check.sh; echo x > done.txt";
    let world = World::with_agent(script).check("sh check.sh").file("check.sh", "test -f README.md\n").start().await;
    let issue = world.asks("Make done.txt", "").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let pull = world.pull().await;
    let (first, _) = pull["body"].as_str().unwrap().split_once("\n\nFixes #1").unwrap();
    insta::assert_snapshot!(first, @"
    **Look here first**

    - What the checks run is decided in `check.sh`, which changed: read that before you trust their result.

    This is a draft because of that. If all of it is meant, mark it as ready for review.
    ");
    assert_eq!(pull["draft"], true);
    let status = world.status(issue).await;
    let says = "**In review**: #2 is open. Look here first: What the checks run is decided in `check.sh`, which changed: \
                read that before you trust their result. Then merge it, or close it.";
    assert!(status.contains(says), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn a_forge_that_reviews_no_dependencies_is_asked_once() {
    let script = "printf 'a.org/b v1.%s.0 h1:x\\n' $HOB_ISSUE > go.sum";
    let world = World::with_agent(script).check("test -f README.md").start().await;
    world.call("ann", Method::PATCH, "", json!({ "private": true })).await;
    for title in ["First", "Second"] {
        world.asks(title, "").await;
    }
    world.run().await;
    let pulls = world.pulls().await;
    assert_eq!(pulls.len(), 2, "{:?}", world.failures());
    assert!(pulls.iter().all(|pull| pull["body"].as_str().unwrap().contains("New dependency: `a.org/b`")));
    let asked = world.forge.requests().into_iter().filter(|asked| asked.path.contains("/dependency-graph/"));
    assert_eq!(asked.map(|asked| asked.status).collect::<Vec<_>>(), [403]);
    world.finish().await;
}

#[tokio::test]
async fn work_that_undoes_a_persons_commit_goes_back_once_and_is_then_named() {
    let script = "case $n in 0) echo done > done.txt;; 1|2) rm -f guard.txt; echo $n > done.txt;; *) echo guard > guard.txt;; esac";
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.pushes_onto("wil", "hob/1-make-done-txt", "guard.txt", "guard\n").await;
    let theirs = world.head(pull).await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Count it."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let briefs = world.briefs(issue);
    let says = format!("This undoes the commit {} by wil", &theirs[..10]);
    assert_eq!(briefs.len(), 3, "it goes back once");
    assert!(!briefs[1].contains("This undoes") && briefs[2].contains(&says), "{}", briefs[2]);
    let said = world.said(pull).await;
    assert!(
        said.iter().any(|said| said.text.contains("**Look here first**") && said.text.contains(&says)),
        "{:?}",
        said.last().map(|said| &said.text)
    );

    // What is brought back is not named.
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Bring it back."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 4);
    assert_eq!(world.content("guard.txt", "hob/1-make-done-txt").await, "guard\n");
    let said = world.said(pull).await;
    assert!(!said.last().unwrap().text.contains("This undoes"), "{:?}", said.last().map(|said| &said.text));
    world.finish().await;
}

#[tokio::test]
async fn a_round_that_nobody_asked_for_says_what_it_undoes_too() {
    let script = "case $n in 0) echo done > done.txt;; *) rm -f guard.txt; echo $n > done.txt;; esac";
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.pushes_onto("wil", "hob/1-make-done-txt", "guard.txt", "guard\n").await;
    let theirs = world.head(pull).await;
    let (head_sha, name) = (theirs.clone(), "test".to_owned());
    let job = Job { head_sha, name, conclusion: Some(JobConclusion::Failure), ..Job::default() };
    world.forge.create_job(&repo_on_forge(), &job).unwrap();
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let said = world.said(pull).await;
    let says = format!("**Look here first**\n\n- This undoes the commit {} by wil", &theirs[..10]);
    assert_eq!(
        said.iter().filter(|said| said.text.contains(&says)).count(),
        1,
        "{:?}",
        said.last().map(|said| &said.text)
    );
    world.finish().await;
}
