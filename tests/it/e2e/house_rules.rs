//! The house rules of a repository: template, base branch, labels, reviewers, commits, drafts.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt};

use base64::{Engine, prelude::BASE64_STANDARD};
use github_emulator::{BranchRules, Fault, RequiredChecks, RequiredReviews, What, When};
use hob_config::Signing;
use hob_process::Program;
use hob_worker::{Repositories, RunLimits};
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{World, repo, repo_on_forge, skipped};

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
    for part in [&format!("Fixes #{issue}\n"), "**Proven**, by check", "- [x] Tests pass locally", "- [ ] I have read"]
    {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert!(!body.contains("Describe your change") && !body.contains("<!--") && !body.contains("Mine"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn a_setting_names_one_of_several_templates() {
    let world = World::fixing()
        .set("publish.template", "fix.md")
        .file(".github/PULL_REQUEST_TEMPLATE/a.md", "# A\n\n- [ ] a\n");
    let world = world.file(".github/PULL_REQUEST_TEMPLATE/fix.md", "# Fix\n\n- [ ] b\n").start().await;
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
    // Labels that people remove stay removed.
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

/// The person who asked for the work is told when the pull request opens, by a request for their review.
#[tokio::test]
async fn the_person_who_put_the_label_on_is_asked_for_a_review() {
    for (actor, reviewers, asked) in
        [("wil", "actor", &["wil"][..]), ("ann", "wil,actor", &["wil", "ann"]), ("hob", "actor", &[]), ("wil", "", &[])]
    {
        let world = World::fixing().set("publish.reviewers", reviewers).start().await;
        let issue = world.opens(actor, "Make done.txt", "", &["code"]).await;
        world.run().await;
        let pull = world.pull().await["number"].as_u64().unwrap();
        let found = world.look(&format!("/pulls/{pull}/requested_reviewers")).await;
        let logins: Vec<_> = found["users"].as_array().unwrap().iter().map(|user| text(&user["login"])).collect();
        assert_eq!(logins, asked, "{actor} {reviewers}: {:?}", world.failures());
        assert!(!world.status(issue).await.contains("could not be asked"), "{actor}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_person_who_cannot_be_asked_for_a_review_is_no_failure() {
    let world = World::fixing().set("publish.reviewers", "actor").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let body = json!({"message": "Reviews may only be requested from collaborators."}).to_string();
    let what = What::Raw { status: 422, headers: BTreeMap::new(), body };
    let path = "/**/requested_reviewers".to_owned();
    let (method, login) = (Some("POST".into()), Some("hob".into()));
    world.forge.inject(Fault { method, path, login, when: When::Always, what });
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert!(!world.status(issue).await.contains("could not be asked"));
    world.finish().await;
}

#[tokio::test]
async fn commits_have_the_houses_message_and_a_sign_off_that_is_their_committers() {
    let world = World::fixing()
        .set("publish.sign_off", "true")
        .set("publish.commit_message", "{type}: {title} (#{issue})\n\n{body}\n\nBy {agent} for {requester}.")
        .set("publish.trailers", "co-author,assisted-by")
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
    let message = &commits[0].message;
    let begins =
        format!("chore: Make done.txt (#{issue})\n\nBy fixer for ann.\n\nIssue: {issue}\nCo-authored-by: ann <");
    assert!(message.starts_with(&begins) && message.contains("+ann@"), "{message}");
    assert!(message.contains(">\nAssisted-by: fixer\nSigned-off-by: "), "{message}");
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
    // A person who makes it a draft again has the last word.
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
    assert_eq!(record.work.base.unwrap().branch, "release-2");
    world.finish().await;
}

#[tokio::test]
async fn a_base_that_cannot_be_one_is_a_question() {
    let world = World::fixing().start().await;
    for (name, says) in
        [("gone", "which does not exist"), ("hob/9-x", "one of Hob's own branches"), ("a..b", "does not exist")]
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

/// A key that was made for these tests and opens nothing else; without the lines around it, so that it is not mistaken
/// for a secret.
const SIGNING_KEY: &str = concat!(
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACAnE03p1UlRIgKBZj2+",
    "FKqcF4wm9sl6tEiXyKraGKjL/QAAAIg+fwD6Pn8A+gAAAAtzc2gtZWQyNTUxOQAAACAnE03p1UlRIgKBZj2+FKqcF4wm9sl6tEiX",
    "yKraGKjL/QAAAEBtJXBLEu7hqyMttKhdvRki3zRg+VYO7oU/aeIH43NC2ScTTenVSVEiAoFmPb4UqpwXjCb2yXq0SJfIqtoYqMv9",
    "AAAABXRlc3Rz",
);
pub(super) const PUBLIC_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICcTTenVSVEiAoFmPb4UqpwXjCb2yXq0SJfIqtoYqMv9 tests";

impl World {
    /// Gives Hob the key that signs its commits, and its account the public half.
    pub(super) fn signs(&mut self) {
        let path = self.dir().join("signing-key");
        let kind = "OPENSSH PRIVATE KEY";
        std::fs::write(&path, format!("-----BEGIN {kind}-----\n{SIGNING_KEY}\n-----END {kind}-----\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        self.settings.publish.signing = Signing::Ssh(path);
        assert!(self.forge.add_signing_key(&"hob".into(), PUBLIC_KEY));
    }

    /// Whether each commit of a pull request is verified, and why.
    pub(super) async fn verified(&self, pull: u64) -> Vec<(bool, String)> {
        let commits = self.look(&format!("/pulls/{pull}/commits")).await;
        let one = |commit: &Value| {
            let verification = &commit["commit"]["verification"];
            (verification["verified"] == true, text(&verification["reason"]).to_owned())
        };
        commits.as_array().unwrap().iter().map(one).collect()
    }
}

#[tokio::test]
async fn what_is_pushed_is_signed_checkpoints_and_rebased_commits_included() {
    let script = "case $n in 0) echo half > half.txt; echo '{\"outcome\":\"question\",\"question\":\"Go on?\"}' ;;
        *) echo $n > done.txt ;; esac";
    let mut world = World::fixing().script("fixer", script).set("review.update", "rebase").start().await;
    world.signs();
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    let valid = (true, "valid".to_owned());
    assert_eq!(world.verified(pull).await, [valid.clone(), valid.clone()], "{:?}", world.failures());
    // The agent's folder and brief have nothing of the key.
    assert!(world.briefs(issue).iter().all(|brief| !brief.contains(&SIGNING_KEY[..40])));
    // A rebase in review remakes the commits.
    world.pushes_onto("ann", "main", "done.txt", "theirs\n").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let commits = world.look(&format!("/pulls/{pull}/commits")).await;
    assert!(commits.as_array().unwrap().iter().all(|commit| commit["parents"].as_array().unwrap().len() == 1));
    assert!(world.verified(pull).await.iter().all(|one| *one == valid), "{:?}", world.verified(pull).await);
    // A key that the account does not have verifies nothing.
    let stranger = World::fixing().start().await;
    let mut stranger = stranger;
    stranger.signs();
    stranger.settings.publish.author.email = Some("9+nobody@users.noreply.github.com".to_owned());
    stranger.asks("Make done.txt", "").await;
    stranger.run().await;
    let pull = stranger.pull().await["number"].as_u64().unwrap();
    assert_eq!(stranger.verified(pull).await, [(false, "no_user".to_owned())]);
    stranger.finish().await;
    world.finish().await;
}

/// The block of shell code of a page that has these words.
fn documented(page: &str, words: &str) -> String {
    let page = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.into_iter().find(|block| block.contains(words)).unwrap().to_owned()
}

/// Anyone with the public half can check the statement by OpenSSH alone, with the commands of the page.
#[tokio::test]
async fn a_statement_is_signed_by_the_key_of_the_commits() {
    let mut world = World::fixing().start().await;
    world.signs();
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let proof = world.record(issue).await.unwrap().work.proof.unwrap();
    // The commands of the page, as they are printed there.
    let commands = documented("docs/proof.md", "jq -r '.signatures");
    let verdict = async |envelope: &str, commands: &str| {
        std::fs::write(world.dir().join("proof-7.json"), envelope).unwrap();
        std::fs::write(world.dir().join("hob.pub"), format!("{PUBLIC_KEY}\n")).unwrap();
        let line = format!("cd {} && {commands}", world.dir().display());
        let ran = Program::of_hob("sh", &hob_config::child_environment()).args(["-e", "-c", &line]);
        ran.run(&CancellationToken::new()).await.unwrap()
    };
    let envelope = serde_json::to_value(&proof).unwrap();
    let good = verdict(&envelope.to_string(), &commands).await;
    if good.stderr.text().contains("not found") {
        skipped("ssh-keygen or jq is not installed");
        return world.finish().await;
    }
    assert!(good.exit.is_success() && good.stdout.text().contains("Good \"hob-proof\" signature"), "{good:?}");
    let canonical = proof.statement().canonical().unwrap();
    let other = canonical.replace("\"passed\":1", "\"passed\":2");
    assert_ne!(other, canonical);
    let mut tampered = envelope.clone();
    tampered["payload"] = BASE64_STANDARD.encode(other).into();
    assert!(!verdict(&tampered.to_string(), &commands).await.exit.is_success());
    assert!(!verdict(&envelope.to_string(), &commands.replace("-n hob-proof", "-n git")).await.exit.is_success());
    world.finish().await;
}

#[tokio::test]
async fn commits_of_an_app_are_signed_by_the_forge() {
    let script =
        "mkdir -p bin; printf '#!/bin/sh\\n' > bin/run; chmod +x bin/run; ln -sf run bin/link; echo $n > done.txt";
    let world = World::fixing().script("fixer", script).set("publish.signing", "api").set("app.id", "7").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let connection = world.as_app(Some(repo()));
    let pool = world.pool(&connection, Repositories::Named(vec![repo()]), &world.settings);
    assert_eq!(pool.run_once(RunLimits::default()).await.unwrap().worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    let pull = world.pull().await;
    let number = pull["number"].as_u64().unwrap();
    assert_eq!(world.verified(number).await, [(true, "valid".to_owned())]);
    let tree = world.look(&format!("/git/trees/{}?recursive=1", text(&pull["head"]["sha"]))).await;
    let mode =
        |path: &str| tree["tree"].as_array().unwrap().iter().find(|one| one["path"] == path).unwrap()["mode"].clone();
    assert_eq!((mode("bin/run"), mode("bin/link")), (json!("100755"), json!("120000")));
    // The ref with the unsigned work is gone, and the commit counts as Hob's own: another round goes on from it.
    let left = world.look("/git/matching-refs/hob/unsigned").await;
    assert_eq!(left, json!([]));
    let review = json!({"event": "REQUEST_CHANGES", "body": "More."});
    world.forge.advance(std::time::Duration::from_secs(2));
    world.call("ann", Method::POST, &format!("/pulls/{number}/reviews"), review).await;
    assert_eq!(pool.run_once(RunLimits::default()).await.unwrap().worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    assert_eq!(world.verified(number).await.iter().filter(|(verified, _)| *verified).count(), 2);
    // The forge signs only what is the App's own.
    world.comments("ann", number, "/hob sign-off").await;
    pool.run_once(RunLimits::default()).await.unwrap();
    let reply = world.reply(number).await;
    assert!(reply.contains("so their author cannot be a person: sign off the commit that you merge."), "{reply}");
    assert_eq!(world.verified(number).await.iter().filter(|(verified, _)| *verified).count(), 2);
    world.finish().await;
}

/// The story: the lint and the DCO check are played here, over HTTP, as their programs would.
#[tokio::test]
async fn a_repository_with_all_its_rules_gets_a_pull_request_that_needs_no_persons_change() {
    let mut world = World::fixing()
        .file(".github/pull_request_template.md", TEMPLATE)
        .file(".github/CODEOWNERS", "* @ann\n")
        .set("publish.sign_off", "true")
        .set("publish.draft", "until-green")
        .set("publish.labels", "by-hob")
        .set("publish.reviewers", "wil")
        .set("review.update", "rebase")
        .start()
        .await;
    world.signs();
    world.call("ann", Method::POST, "/labels", json!({"name": "by-hob", "color": "5319e7"})).await;
    let rules = BranchRules {
        required_status_checks: Some(RequiredChecks::named(&["template-lint", "dco"])),
        required_pull_request_reviews: Some(RequiredReviews::default()),
        required_linear_history: true,
        required_signatures: true,
        enforce_admins: true,
        ..BranchRules::default()
    };
    world.forge.set_ruleset(&repo_on_forge(), "main", Some(rules)).unwrap();
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await;
    let (number, head) = (pull["number"].as_u64().unwrap(), text(&pull["head"]["sha"]).to_owned());
    assert_eq!(pull["draft"], true, "{:?}", world.failures());

    // The lint: every heading of the template is in the body, in order.
    let mut rest = text(&pull["body"]);
    for heading in TEMPLATE.lines().filter(|line| line.starts_with('#')) {
        rest = rest.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("{heading}: {rest}")).1;
    }
    // The DCO: each commit is signed off by its author.
    for commit in world.commits(number).await {
        assert!(commit.message.contains(&format!("Signed-off-by: {} <{}>", commit.author, commit.email)), "{commit:?}");
    }
    for context in ["template-lint", "dco"] {
        let status = json!({"state": "success", "context": context});
        world.call("robo[bot]", Method::POST, &format!("/statuses/{head}"), status).await;
    }
    world.forge.advance(world.settings.review.settle);
    world.run().await;
    let pull = world.look(&format!("/pulls/{number}")).await;
    assert_eq!(
        (&pull["draft"], &pull["mergeable_state"]),
        (&json!(false), &json!("blocked")),
        "{:?}",
        world.failures()
    );
    let merge = || json!({"merge_method": "rebase"});
    let (status, said) = world.try_call("ann", Method::PUT, &format!("/pulls/{number}/merge"), merge()).await;
    assert_eq!((status, text(&said["message"]).contains("approving review")), (405, true), "{said}");
    world.call("ann", Method::POST, &format!("/pulls/{number}/reviews"), json!({"event": "APPROVE"})).await;
    world.call("ann", Method::PUT, &format!("/pulls/{number}/merge"), merge()).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, hob_domain::State::Done);
    assert_eq!(text(&world.look(&format!("/pulls/{number}")).await["head"]["sha"]), head, "nobody changed anything");
    world.finish().await;
}
