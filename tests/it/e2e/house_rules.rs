//! The house rules of a repository: template, base branch, labels, reviewers, commits, drafts.

use http::Method;
use serde_json::{Value, json};

use crate::harness::World;

const TEMPLATE: &str = "## Summary\n\n<!-- What and why? -->\nDescribe your change.\n\nFixes # (issue)\n\n## How was this tested?\n\n\
                        ## Checklist\n\n- [ ] Tests pass locally\n- [ ] I have read the guide\n";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_pull_request_is_the_template_filled() {
    let script = "echo done > done.txt; mkdir -p .github; echo '# Mine' > .github/pull_request_template.md";
    let world = World::with_agent(script)
        .check("test -f done.txt")
        .file("docs/Pull_Request_Template.txt", TEMPLATE)
        .file("PULL_REQUEST_TEMPLATE/other.md", "# Other\n");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    let body = text(&pull["body"]);
    let headings: Vec<&str> = body.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(headings, ["## Summary", "## How was this tested?", "## Checklist", "## Open"], "{body}");
    for part in
        [&format!("Fixes #{issue}\n"), "**Red before, green after**", "- [x] Tests pass locally", "- [ ] I have read"]
    {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert!(!body.contains("Describe your change") && !body.contains("<!--") && !body.contains("Mine"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn a_setting_names_one_of_several_templates() {
    let world = World::fixing().set("publish.template", "fix.md").file(".github/PULL_REQUEST_TEMPLATE/a.md", "# A\n");
    let world = world.file(".github/PULL_REQUEST_TEMPLATE/fix.md", "# Fix\n").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let body = text(&world.pull().await["body"]).to_owned();
    assert!(body.contains("# Fix\n") && !body.contains("# A\n") && body.contains("## What changed"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn the_pull_request_gets_its_labels_and_reviewers_once_and_what_is_refused_is_said() {
    let world = World::fixing()
        .set("publish.labels", "by-hob,bug")
        .set("publish.reviewers", "ann,nobody,codeowners,acme/core")
        .script("fixer", "echo $n > done.txt");
    let world = world.start().await;
    for name in ["by-hob", "bug"] {
        world.call("ann", Method::POST, "/labels", json!({"name": name, "color": "5319e7"})).await;
    }
    let issue = world.asks("Make done.txt", "").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let pull = world.pull().await;
    let number = pull["number"].as_u64().unwrap();
    assert_eq!(world.labels(number).await, ["bug", "by-hob"]);
    let asked = world.look(&format!("/pulls/{number}/requested_reviewers")).await;
    assert_eq!(asked["users"].as_array().unwrap().iter().map(|user| text(&user["login"])).collect::<Vec<_>>(), ["ann"]);
    let status = world.status(issue).await;
    for part in ["`nobody` could not be asked for a review", "the team `core` could not be asked", "**In review**"] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    // What people take off stays off.
    world.call("ann", Method::DELETE, &format!("/issues/{number}/labels/bug"), Value::Null).await;
    world.edits("ann", number, json!({"state": "closed"})).await;
    world.run().await;
    world.edits("ann", number, json!({"state": "open"})).await;
    world.comments("ann", issue, "/hob unblock Go on.").await;
    world.run().await;
    assert_eq!(world.labels(number).await, ["by-hob"], "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn commits_have_the_houses_message_and_a_sign_off_that_is_their_committers() {
    let world = World::fixing()
        .set("publish.sign_off", "true")
        .set("publish.commit_message", "{type}: {title} (#{issue})\n\n{body}")
        .set("identity.name", "Hob Bot")
        .script("fixer", "echo $n > done.txt; echo $n > README.md");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    // A merge of the base, in review, is signed off as well.
    world.pushes_onto("ann", "main", "README.md", "theirs\n").await;
    world.run().await;
    let commits = world.commits(pull).await;
    assert!(commits.len() >= 2, "{commits:?} {:?}", world.failures());
    for commit in &commits {
        let line = format!("Signed-off-by: {} <{}>", commit.author, commit.email);
        assert_eq!(
            (commit.author.as_str(), commit.message.lines().last()),
            ("Hob Bot", Some(line.as_str())),
            "{commit:?}"
        );
    }
    assert!(commits[0].message.starts_with(&format!("chore: Make done.txt (#{issue})\n\n")), "{commits:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_draft_is_marked_as_ready_when_its_checks_are_green_and_once() {
    let world = World::fixing().set("publish.draft", "until-green").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    let (number, head) = (pull["number"].as_u64().unwrap(), text(&pull["head"]["sha"]).to_owned());
    assert_eq!(pull["draft"], true);
    let status = |state: &str| json!({"state": state, "context": "ci"});
    world.call("wil", Method::POST, &format!("/statuses/{head}"), status("pending")).await;
    world.forge.advance(world.settings.review.settle);
    world.run().await;
    assert_eq!(world.pull().await["draft"], true, "not all have ended");
    world.call("wil", Method::POST, &format!("/statuses/{head}"), status("success")).await;
    world.run().await;
    assert_eq!(world.pull().await["draft"], false, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    // Whoever makes it a draft again has the last word.
    let node = world.look(&format!("/pulls/{number}")).await["node_id"].clone();
    let convert = json!({"query": "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { clientMutationId } }",
        "variables": {"id": node}});
    world.ask_graphql("ann", convert).await;
    assert_eq!(world.pull().await["draft"], true);
    world.forge.advance(world.settings.review.settle);
    world.run().await;
    assert_eq!(world.pull().await["draft"], true);
    world.finish().await;
}

impl World {
    /// A branch from `main` with one more file.
    async fn branches_off(&self, name: &str) {
        self.pushes("ann", name, "only-there.txt", "x").await;
        self.call("ann", Method::POST, "/labels", json!({"name": format!("base:{name}"), "color": "5319e7"})).await;
    }

    /// Puts a label on.
    async fn puts_on(&self, login: &str, issue: u64, label: &str) {
        self.call(login, Method::POST, &format!("/issues/{issue}/labels"), json!({"labels": [label]})).await;
    }
}

#[tokio::test]
async fn a_label_names_the_base_and_counts_as_its_actor_does() {
    let world =
        World::with_agent("test -f only-there.txt && echo done > done.txt || echo here > done.txt").start().await;
    world.branches_off("release-2").await;
    let (issue, other) = (world.asks("Make done.txt", "").await, world.asks("Make it here", "").await);
    world.puts_on("ann", issue, "base:release-2").await;
    world.puts_on("tess", other, "base:release-2").await;
    world.run().await;
    world.run().await;
    let pulls = world.pulls().await;
    let bases: Vec<&str> = pulls.iter().map(|pull| text(&pull["base"]["ref"])).collect();
    assert_eq!(bases, ["release-2", "main"], "{:?}", world.failures());
    assert_eq!(world.changed(pulls[0]["number"].as_u64().unwrap()).await, ["done.txt"], "it goes out from there");
    let record = world.record(issue).await.unwrap();
    assert_eq!(record.house.base.unwrap().branch, "release-2");
    world.finish().await;
}

#[tokio::test]
async fn a_base_that_cannot_be_one_is_a_question() {
    let world = World::fixing().start().await;
    for (name, says) in
        [("gone", "which does not exist"), ("hob/9-x", "a branch of Hob's own"), ("a..b", "does not exist")]
    {
        let label = format!("base:{name}");
        world.call("ann", Method::POST, "/labels", json!({"name": label, "color": "5319e7"})).await;
        let issue = world.asks("Make done.txt", "").await;
        world.puts_on("ann", issue, &label).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, [label.as_str(), "blocked", "code"]);
        let status = world.status(issue).await;
        assert!(status.contains(says) && status.contains("Can you fix this"), "{status}");
        assert!(world.briefs(issue).is_empty(), "no agent worked");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_setting_names_the_base_and_a_label_another_one() {
    let world = World::fixing().script("fixer", "echo $n > done.txt").set("publish.base", "next").start().await;
    world.branches_off("next").await;
    world.branches_off("v1").await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    assert_eq!(pull["base"]["ref"], "next", "{:?}", world.failures());
    // The label moves the pull request that is open.
    let number = pull["number"].as_u64().unwrap();
    world.edits("ann", number, json!({"state": "closed"})).await;
    world.run().await;
    world.edits("ann", number, json!({"state": "open"})).await;
    world.puts_on("ann", issue, "base:v1").await;
    world.comments("ann", issue, "/hob unblock To v1, please.").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["base:v1", "code", "in-review"], "{:?}", world.failures());
    assert_eq!(world.pull().await["base"]["ref"], "v1");
    world.finish().await;
}
