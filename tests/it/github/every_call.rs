//! A scenario in which the real client makes every call that it can make, against the embedded forge.

use std::time::Duration;

use github_emulator::{Annotation, BranchRules, Job, JobConclusion, JobStep, Mood, Moods, RequiredChecks};
use hob_domain::{
    AccountKind, Actor, DASHBOARD_MARK, Drawn, EventAnswer, IssueNumber, LabelChange, LabelEventKind, LabelSpec, Login,
    PullNumber, ReviewEvent, Reviewers, SUB_ISSUE_MARK, Timestamp,
};
use hob_forge::{
    App, AppKey, Authentication, BaseBranch, FirstQuestion, Forge, HeldLease, NewCommit, OnPull, PullDraft, Reaction,
    Showing, comments_of_each, first_look, outlines, pull_outlines,
};
use http::Method;
use serde_json::json;

use super::door::Door;
use crate::harness::{APP, World, claim, private_key, repo, repo_on_forge, run};

/// The objects of the calls.
struct Things {
    issue: IssueNumber,
    pull: PullNumber,
    branch: String,
    base: BaseBranch,
}

/// Has a worker do its work, and makes by hand the calls that it had no reason for.
pub(super) async fn make(world: &World, door: &Door) {
    let issue = IssueNumber(world.asks("Make done.txt", "").await);
    let worked = run(&world.worker_at(&door.url, "w1").await).await;
    assert_eq!(worked.worked, 1, "{:?}", world.failures());
    let of_issue = world.pull().await;
    let (pull, branch) = (of_issue["number"].as_u64().unwrap(), of_issue["head"]["ref"].as_str().unwrap().to_owned());
    let comments =
        ["Louder.", "Shorter."].map(|body| json!({"path": "done.txt", "line": 1, "side": "RIGHT", "body": body}));
    let review = json!({"event": "COMMENT", "body": "Nearly.", "comments": comments});
    world.call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    world.comments("ann", issue.0, "Thanks.").await;

    let forge = door.client(world, Authentication::Token("token-of-hob".into()));
    let base = forge.repository().base_branch().await.unwrap();
    let other = IssueNumber(world.opens("ann", "Other", "", &[]).await);
    let claimant = world.claimant("w2");
    let lease = forge.ledger().acquire(other, None, &claimant, &base.tree, claim("Other")).await.unwrap();
    let things = Things { issue, pull: PullNumber(pull), branch, base };
    of_the_repository(&forge, &things).await;
    let fresh = door.client(world, Authentication::Token("token-of-hob".into()));
    of_issues(&forge, &lease, &things).await;
    // Only a comment with different times is checked for edits.
    world.forge.advance(Duration::from_secs(2));
    world.forge.set_moods(Moods::new([Mood::Touched], 1).with_percent(100));
    for comment in forge.comments().of(issue).await.unwrap() {
        forge.comments().is_edited(&comment.edited).await.unwrap();
    }
    world.forge.set_moods(Moods::default());
    of_pulls(world, &forge, &lease, &things).await;
    of_checks(world, &forge, &lease, &things).await;
    of_ledgers(&fresh, &lease, &things).await;
    of_accounts(world, door).await;
}

async fn of_the_repository(forge: &Forge, things: &Things) {
    let (repository, base) = (forge.repository(), &things.base);
    assert!(repository.top_names(&base.sha).await.unwrap().contains(&"README.md".to_owned()));
    assert_eq!(repository.names(".github", &base.sha).await.unwrap(), ["hob.toml"]);
    assert!(repository.file("README.md", &base.sha).await.unwrap().is_some());
    assert!(!repository.file_paths(&base.tree).await.unwrap().is_empty());
    assert_eq!(repository.changed_paths(&base.sha, &things.branch).await.unwrap(), ["done.txt"]);
    assert_eq!(repository.branches("hob/").await.unwrap(), [things.branch.as_str()]);
    let head = forge.pulls().get(things.pull).await.unwrap().unwrap().head;
    assert_eq!(repository.weak_packages(&base.sha, &head).await.unwrap(), []);
    assert_eq!(repository.rules_of(&things.branch).await.unwrap(), []);
    assert_eq!(repository.in_the_way_of("hob/").await.unwrap(), None);
    assert!(outlines(forge.connection(), &[repo()]).await.unwrap()[0].is_some());
    let ann = Actor { login: "ann".into(), kind: AccountKind::User };
    assert!(repository.permission(&ann).await.unwrap().is_some());
    let label = LabelSpec { name: "fresh".to_owned(), color: "ededed", description: "New." };
    let missing = forge.labels().missing(&[label]).await.unwrap();
    forge.labels().create(&missing).await.unwrap();
    forge.try_issues().await.unwrap();
    forge.try_pulls().await.unwrap();
    forge.try_statuses().await.unwrap();
}

async fn of_issues(forge: &Forge, lease: &HeldLease, things: &Things) {
    let (issues, issue, own) = (forge.issues(), things.issue, Login::from("hob"));
    assert_eq!(issues.open_with("code").await.unwrap().issues.len(), 1);
    assert!(issues.get(issue).await.unwrap().is_some());
    assert!(issues.latest_label_event(issue, LabelEventKind::Labeled, "code").await.unwrap().is_some());
    issues.editors_since(issue, Timestamp::UNIX_EPOCH).await.unwrap();
    issues.body_edits_since(issue, Timestamp::UNIX_EPOCH).await.unwrap();
    issues.rewriters_since(issue, Timestamp::UNIX_EPOCH).await.unwrap();
    issues.before_claim(issue, Timestamp::UNIX_EPOCH).await.unwrap();
    issues.others_work(issue).await.unwrap();
    issues.assignments(issue, std::slice::from_ref(&own)).await.unwrap();
    assert!(!forge.comments().of(issue).await.unwrap().is_empty());
    forge.comments().since(issue, Timestamp::UNIX_EPOCH).await.unwrap();
    let read = issues.get(issue).await.unwrap().unwrap();
    assert_eq!(comments_of_each(forge, &[&read]).await.unwrap()[&issue].len() as u64, read.comments);
    let comment = forge.comments().create(lease, "Hello.").await.unwrap();
    assert!(forge.comments().read(comment).await.unwrap().is_some());
    forge.comments().edit(lease, comment, "Hello again.").await.unwrap();
    forge.comments().react(lease, comment, Reaction::Eyes).await.unwrap();
    forge.rendered().issue(issue).await.unwrap();
    forge.rendered().comments(issue).await.unwrap();
    for change in [LabelChange::Add("fresh".to_owned()), LabelChange::Remove("fresh".to_owned())] {
        forge.labels().change(lease, &change).await.unwrap();
    }
    let shown_on = issues.get(lease.issue()).await.unwrap().unwrap();
    let changes = [LabelChange::Add("fresh".to_owned()), LabelChange::Remove("code".to_owned())];
    let mut comment = None;
    let said = forge.reviews(things.pull).remarks().await.unwrap()[1].clone();
    let to = || ReviewEvent::Line(said.id);
    let answer = |thread| EventAnswer { to: to(), thread, text: "One.".to_owned(), resolves: true };
    let (answers, resolved, reviewers) = ([Some(said.id), None].map(answer), [said.id], ["ann".into()]);
    let on_pull = OnPull { answers: &answers, resolved: &resolved, reviewers: &reviewers };
    for (body, on_pull) in [("Written.", None), ("Edited.", Some((things.pull, on_pull)))] {
        let showing = Showing {
            issue: &shown_on,
            comment,
            body,
            changes: &changes,
            seen: std::slice::from_ref(&said.node),
            on_pull,
        };
        let shown = forge.comments().show(lease, showing).await.unwrap();
        let has_told = shown.told && shown.resolved && shown.seen;
        assert!(shown.comment.is_some() && shown.labels && has_told && shown.asked == on_pull.is_some(), "{shown:?}");
        comment = shown.comment;
    }
    let split = forge.sub_issues();
    let body = format!("{SUB_ISSUE_MARK}7 1 1 -->\nPart.");
    let first = split.open(lease, "First", &body).await.unwrap();
    let second = split.open(lease, "Second", &body).await.unwrap();
    assert_eq!(split.opened_by(&own).await.unwrap().len(), 2);
    // An existing object is refused, and then looked up.
    for _ in 0..2 {
        split.adopt(lease, &first).await.unwrap();
        split.wait_for(lease, second.number, &first).await.unwrap();
    }
    // The list that was looked up above, as another type.
    assert_eq!(issues.blockers(second.number).await.unwrap(), [first.number]);
    let board = forge.dashboard();
    let drawn = Drawn { at: forge.now(), digest: "x".to_owned(), issue: None, refused: None };
    let turn = board.turn(&things.base.tree, &drawn).await.unwrap().unwrap();
    let text = format!("{DASHBOARD_MARK}\nText.");
    let opened = board.open(&turn, &text).await.unwrap();
    board.edit(&turn, opened, &text).await.unwrap();
    assert_eq!(board.find(&own).await.unwrap().map(|issue| issue.number), Some(opened));
    board.note(&things.base.tree, opened).await.unwrap();
}

async fn of_pulls(world: &World, forge: &Forge, lease: &HeldLease, things: &Things) {
    let (pulls, own) = (forge.pulls(), Login::from("hob"));
    assert!(pulls.open_by(&own).await.unwrap().contains_key(&things.pull));
    assert!(pulls.get(things.pull).await.unwrap().is_some());
    assert!(pulls.open_of(&things.branch, Some("main")).await.unwrap().is_some());
    assert!(pulls.any_of(&things.branch).await.unwrap().is_some());
    let standing = pulls.standing(&[things.pull], Some(&own)).await.unwrap();
    let open = &standing[&things.pull];
    let outlines = pull_outlines(forge.connection(), &[open.node.as_str()]).await.unwrap();
    assert_eq!(outlines, std::slice::from_ref(&open.outline));
    world.pushes("wil", "other", "other.txt", "x").await;
    let draft = PullDraft {
        head: "other".to_owned(),
        base: "main".to_owned(),
        moves_base: true,
        title: "Other".to_owned(),
        body: "Other.".to_owned(),
        draft: true,
    };
    let opened = pulls.publish(lease, None, &draft).await.unwrap();
    pulls.publish(lease, Some(opened.number), &draft).await.unwrap();
    pulls.mark_ready(lease, opened.number).await.unwrap();
    forge.labels().put_on(lease, opened.number, &["code".to_owned()]).await.unwrap();
    pulls.close(lease, opened.number).await.unwrap();
    // Auto-merge needs something to wait for.
    world.call("ann", Method::PATCH, "", json!({"allow_auto_merge": true})).await;
    let required_status_checks = Some(RequiredChecks::named(&["hob/proof", "later"]));
    let rules = BranchRules { required_status_checks, ..BranchRules::default() };
    world.forge.set_ruleset(&repo_on_forge(), "main", Some(rules)).unwrap();
    assert!(forge.repository().requires("main", "hob/proof").await.unwrap());
    let head = pulls.get(things.pull).await.unwrap().unwrap().head;
    pulls.merge_when_ready(lease, things.pull, &head).await.unwrap();
    pulls.merge_no_more(lease, things.pull, &own).await.unwrap();
    world.forge.set_ruleset(&repo_on_forge(), "main", None).unwrap();
    let reviews = forge.reviews(things.pull);
    assert_eq!(reviews.all().await.unwrap().len(), 1);
    let first = reviews.remarks().await.unwrap()[0].clone();
    reviews.react(lease, &[first.node], Reaction::Eyes).await.unwrap();
    let first = first.id;
    reviews.reply(lease, first, "Done.").await.unwrap();
    reviews.resolve(lease, &[first]).await.unwrap();
    reviews.ask(lease, &Reviewers { users: vec!["ann".into()], teams: Vec::new() }).await.unwrap();
    // The forge has no teams: only the request matters here.
    reviews.ask(lease, &Reviewers { users: Vec::new(), teams: vec!["core".to_owned()] }).await.ok();
}

async fn of_checks(world: &World, forge: &Forge, lease: &HeldLease, things: &Things) {
    let head = forge.pulls().get(things.pull).await.unwrap().unwrap().head;
    let annotation =
        json!({"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "x"});
    let job = Job {
        head_sha: head.to_string(),
        name: "test".to_owned(),
        conclusion: Some(JobConclusion::Failure),
        steps: vec![JobStep::ended("Run", JobConclusion::Failure)],
        log: Some("2026-01-01T00:00:00.0000000Z FAILED\n".to_owned()),
        annotations: vec![serde_json::from_value::<Annotation>(annotation).unwrap()],
        ..Job::default()
    };
    let ids = world.forge.create_job(&repo_on_forge(), &job).unwrap();
    assert_eq!(forge.head_checks(&head).all().await.unwrap().len(), 1, "Hob's own status is not among them");
    assert!(forge.head_checks(&head).unapproved().await.unwrap().is_empty());
    assert_eq!(forge.head_checks(&head).annotations(ids.job).await.unwrap().len(), 1);
    assert_eq!(forge.failed_job(ids.job).run().await.unwrap(), ids.run);
    forge.failed_job(ids.job).failure().await.unwrap();
    forge.workflow_run(ids.run).rerun_failed_jobs(lease).await.unwrap();
    assert_eq!(forge.workflow_file("ci.yml").scheduled().await.unwrap().unwrap().state, "active");
}

async fn of_ledgers(forge: &Forge, lease: &HeldLease, things: &Things) {
    let ledger = forge.ledger();
    let tips = ledger.tips().await.unwrap();
    assert_eq!(tips.issues.len(), 2);
    let commits: Vec<_> = tips.issues.iter().map(|tip| &tip.commit).collect();
    ledger.read_ahead(commits.iter().copied()).await;
    let question = FirstQuestion { path: "README.md", label: "code", blocked: "blocked", ledgers: &commits };
    assert!(first_look(forge, question).await.unwrap().file.is_some());
    for tip in &tips.issues {
        ledger.entry(tip).await.unwrap();
    }
    // The issue's older transitions are read one by one.
    assert!(ledger.history(things.issue).await.unwrap().len() > 1);
    ledger.renew(lease).await.unwrap();
    ledger.try_refs(&things.base).await.unwrap();
    let (message, parents) = ("Sign this".to_owned(), vec![things.base.sha.clone()]);
    let new = NewCommit { message, tree: things.base.tree.clone(), parents };
    // It is signed for an App only.
    forge.staging(lease.issue()).make_signed(lease, &new).await.unwrap_err();
    forge.staging(lease.issue()).remove(lease).await.unwrap();
}

async fn of_accounts(world: &World, door: &Door) {
    let bot = door.client(world, Authentication::Token("token-of-hob".into()));
    let own = bot.connection().login().await.unwrap().unwrap();
    assert!(bot.connection().account(&own).await.unwrap().is_some());
    for found_by in [Some(repo()), None] {
        let key = AppKey::from_pem(&private_key().into()).unwrap();
        let app = door.client(world, Authentication::App(Box::new(App::new(APP, key, None, found_by))));
        assert_eq!(app.connection().token(Duration::ZERO).await.map(drop).map_err(|error| error.to_string()), Ok(()));
        assert!(app.connection().login().await.unwrap().is_some());
        assert_eq!(app.connection().installation_repositories().await.unwrap(), [repo()]);
    }
}
