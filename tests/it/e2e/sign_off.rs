//! `/hob sign-off`: a person signs Hob's commits off, as a DCO wants it, and nobody else's work changes.

use hob_domain::State;
use serde_json::Value;

use crate::harness::{Builder, Faulty, Lost, World};

/// An agent whose work has two commits before its pull request opens, and one more in each round.
fn two_commits() -> Builder {
    let script = "case $n in 0) echo half > half.txt; echo '{\"outcome\":\"question\",\"question\":\"Go on?\"}' ;;
        *) echo $n > done.txt ;; esac";
    World::fixing().script("fixer", script)
}

impl World {
    /// Works until a pull request of two commits is in review; the issue and the pull request.
    async fn with_two_commits(&self) -> (u64, u64) {
        let issue = self.asks("Make done.txt", "").await;
        self.run().await;
        self.comments("ann", issue, "/hob retry").await;
        self.run().await;
        assert_eq!(self.labels(issue).await, ["code", "in-review"], "{:?}", self.failures());
        let pull = self.pull().await["number"].as_u64().unwrap();
        assert_eq!(self.commits(pull).await.len(), 2);
        (issue, pull)
    }

    /// What the DCO app says of each commit: whether a sign-off names its author or its committer.
    /// <https://github.com/dcoapp/app/blob/main/lib/dco.js>
    async fn dco(&self, pull: u64) -> Vec<bool> {
        let passes = |commit: &Value| {
            let commit = &commit["commit"];
            let names = |who: &str| {
                let (name, email) = (commit[who]["name"].as_str().unwrap(), commit[who]["email"].as_str().unwrap());
                format!("Signed-off-by: {name} <{email}>")
            };
            let message = commit["message"].as_str().unwrap();
            message.lines().any(|line| [names("author"), names("committer")].contains(&line.to_owned()))
        };
        let commits = self.look(&format!("/pulls/{pull}/commits")).await;
        commits.as_array().unwrap().iter().map(passes).collect()
    }

    /// State and text of each commit status.
    async fn statuses(&self, head: &str) -> Vec<[Value; 2]> {
        let all = self.look(&format!("/commits/{head}/statuses")).await;
        let all = all.as_array().unwrap().iter();
        all.map(|status| ["state", "description"].map(|field| status[field].clone())).collect()
    }

    /// The trees of a pull request's commits.
    async fn trees(&self, pull: u64) -> Vec<Value> {
        let commits = self.look(&format!("/pulls/{pull}/commits")).await;
        commits.as_array().unwrap().iter().map(|commit| commit["commit"]["tree"]["sha"].clone()).collect()
    }

    /// The last reply on an issue or a pull request, without its mark.
    pub(super) async fn reply(&self, on: u64) -> String {
        let said = self.said(on).await;
        let mut replies = said.into_iter().filter(|said| said.text.starts_with("<!-- hob:reply "));
        replies.next_back().map(|said| said.text.lines().skip(1).collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_person_signs_the_commits_off_and_is_their_author() {
    let world = two_commits().start().await;
    let (issue, pull) = world.with_two_commits().await;
    let (trees, head) = (world.trees(pull).await, world.head(pull).await);
    let proof = world.statuses(&head).await;
    assert_eq!(proof.len(), 1, "{proof:?}");
    // Who may not direct Hob signs nothing off.
    for stranger in ["out", "rob", "tess", "robo[bot]"] {
        world.comments(stranger, pull, "/hob sign-off").await;
    }
    world.run().await;
    assert_eq!((world.head(pull).await, world.dco(pull).await), (head.clone(), vec![false, false]));
    assert_eq!(world.reply(pull).await, "");

    world.comments("ann", pull, "/hob sign-off").await;
    world.run().await;
    assert_eq!(world.dco(pull).await, [true, true], "{:?}", world.failures());
    assert_eq!(world.trees(pull).await, trees);
    for commit in world.commits(pull).await {
        let line = format!("Signed-off-by: ann <{}>", commit.email);
        assert_eq!((commit.author.as_str(), commit.message.lines().last()), ("ann", Some(line.as_str())), "{commit:?}");
        assert!(commit.email.ends_with("+ann@users.noreply.127.0.0.1"), "{commit:?}");
    }
    let signed = world.head(pull).await;
    assert_eq!(world.statuses(&signed).await, proof, "the files are those that were proven");
    let (email, tip) = (&world.commits(pull).await[0].email, &signed[..10]);
    let says = format!("Signed off 2 commits as `ann <{email}>`, now the author. The branch is at {tip}.");
    assert_eq!(world.reply(pull).await, says);
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.starts_with("the commits were signed off by ann: ")), "{history:?}");

    // Once is enough, and the next person changes nothing.
    world.comments("wil", issue, "/hob sign-off").await;
    world.run().await;
    assert_eq!(world.head(pull).await, signed);
    assert!(
        world.reply(issue).await.contains("No commit of Hob's on this branch lacks"),
        "{}",
        world.reply(issue).await
    );

    // The commits are still Hob's to build on.
    world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    assert_eq!(world.dco(pull).await, [true, true, false], "{:?}", world.failures());
    world.comments("wil", pull, "/hob sign-off").await;
    world.run().await;
    let authors: Vec<String> = world.commits(pull).await.into_iter().map(|commit| commit.author).collect();
    assert_eq!((authors, world.dco(pull).await), (["ann", "ann", "wil"].map(str::to_owned).to_vec(), vec![true; 3]));
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
    world.finish().await;
}

#[tokio::test]
async fn commits_that_are_signed_off_are_signed_again() {
    let mut world = two_commits().set("publish.sign_off", "true").start().await;
    world.signs();
    let (_, pull) = world.with_two_commits().await;
    world.comments("ann", pull, "/hob sign-off").await;
    world.run().await;
    let valid = (true, "valid".to_owned());
    assert_eq!(world.verified(pull).await, [valid.clone(), valid], "{:?}", world.failures());
    for commit in world.commits(pull).await {
        assert_eq!(
            (commit.author.as_str(), commit.message.matches("Signed-off-by: ").count()),
            ("ann", 2),
            "{commit:?}"
        );
    }
    assert_eq!(world.dco(pull).await, [true, true]);
    world.finish().await;
}

#[tokio::test]
async fn the_commits_of_people_stay_as_they_are() {
    let world = two_commits().start().await;
    let (_, pull) = world.with_two_commits().await;
    let branch = world.pull().await["head"]["ref"].as_str().unwrap().to_owned();
    world.pushes_onto("wil", &branch, "theirs.txt", "theirs\n").await;
    let head = world.head(pull).await;
    world.comments("ann", pull, "/hob sign-off").await;
    world.run().await;
    assert_eq!(world.head(pull).await, head, "{:?}", world.failures());
    let says = format!(
        "Nothing was signed off: {} by wil is on top of commits that lack a sign-off, and Hob does not change people's \
         commits. Run `git rebase --signoff main` on `{branch}`, and push it with `--force-with-lease`.",
        &head[..10]
    );
    assert_eq!(world.reply(pull).await, says);
    world.finish().await;
}

#[tokio::test]
async fn without_commits_to_sign_off_it_is_said_what_to_do() {
    let world = two_commits().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob sign-off").await;
    world.run().await;
    let reply = world.reply(issue).await;
    assert!(reply.contains("There is no pull request yet: write it again when it is open."), "{reply}");
    world.finish().await;
}

/// More than the writes of one sign-off, so that the loop ends.
const WRITES_MAX: usize = 40;

/// One issue after another; the sign-off of each loses one write more than the one before.
async fn every_write_may_be_lost(lost: Lost) {
    let builder = World::with_agent("echo done > done-$HOB_ISSUE.txt").set("limits.issues_per_hour", "1000");
    let world = builder.start().await;
    let door = Faulty::before(&world).await;
    for index in 0..WRITES_MAX {
        let issue = world.asks(&format!("Without write {index}"), "").await;
        world.run().await;
        let pull = world.record(issue).await.unwrap().pull.number.unwrap().0;
        world.comments("ann", pull, "/hob sign-off").await;
        let is_lost = door.run_without(&world, index, lost).await;
        for _turn in 0..3 {
            let record = world.record(issue).await.unwrap();
            if record.lease.is_none() && record.commands.sign_off.is_none() && world.dco(pull).await == [true] {
                break;
            }
            world.an_hour_later().await;
        }
        let (said, told) = (world.said(pull).await, world.history(issue).await);
        assert_eq!(world.dco(pull).await, [true], "{lost:?} {index}: {told:?} {:?}", world.failures());
        assert_eq!(said.len(), 2, "{lost:?} {index}: {said:?} {told:?} {:?}", world.failures());
        if !is_lost {
            assert!(index > 4, "a sign-off takes more than {index} writes");
            world.an_hour_later().await;
            return world.finish().await;
        }
    }
    panic!("a sign-off takes less than {WRITES_MAX} writes");
}

#[tokio::test]
async fn any_answer_of_a_sign_off_may_be_lost() {
    every_write_may_be_lost(Lost::Answer).await;
}

#[tokio::test]
async fn any_request_of_a_sign_off_may_be_lost() {
    every_write_may_be_lost(Lost::Request).await;
}
