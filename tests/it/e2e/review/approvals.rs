//! Workflows that wait for an approval: GitHub does not start any by itself for a job's own token. And a token that may
//! not see checks.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use github_emulator::{Fault, JobChange, JobConclusion, Mood, Moods, What, When};
use hob_worker::{Worker, explain};
use serde_json::Value;

use crate::harness::{World, repo_on_forge, run};

/// The account of a job's own token.
const JOB: &str = "github-actions[bot]";
/// Far longer than checks are waited for.
const LONG: Duration = Duration::from_secs(5 * 3_600);
const CI: &[(&str, &[&str])] = &[("CI", &["test"])];
const BUTTON: &str = "Approve workflows to run";

/// A pull request that a worker opened, and the worker.
struct Opened {
    world: World,
    worker: Arc<Worker>,
    issue: u64,
    pull: u64,
}

/// A draft until its checks are green, opened by this account in a repository with these workflows for pull requests.
async fn opened_by(login: &str, workflows: &[(&str, &[&str])]) -> Opened {
    let script = r#"echo "$n" > done.txt; echo '{"outcome":"done","summary":"Wrote it."}'"#;
    let builder = World::with_agent(script).check("test -f done.txt").set("publish.draft", "until-green");
    let world = builder.set("forge.login", login).start().await;
    world.forge.add_user(&format!("{JOB}:token-of-{JOB}:write:job").parse().unwrap());
    world.forge.set_pull_workflows(&repo_on_forge(), workflows).unwrap();
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker_as(login, "w1").await;
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    let pull = world.pull().await["number"].as_u64().unwrap();
    Opened { world, worker, issue, pull }
}

impl Opened {
    async fn is_draft(&self) -> bool {
        self.world.pull().await["draft"] == true
    }

    /// Two polls after this time, of the worker that knows the pull request and of one that sees it first.
    async fn later(&self, by: Duration) {
        self.world.forge.advance(by);
        let new = self.world.worker_as(&self.worker.forge().connection().login().await.unwrap().unwrap().0, "w2").await;
        for worker in [&self.worker, &new] {
            run(worker).await;
        }
    }

    async fn status(&self) -> String {
        let said = self.world.said(self.issue).await;
        assert_eq!(said.len(), 1, "{said:#?}");
        said[0].text.clone()
    }

    /// The check runs on the head.
    async fn checks(&self) -> Vec<Value> {
        let head = self.world.head(self.pull).await;
        let runs = self.world.look(&format!("/commits/{head}/check-runs")).await;
        runs["check_runs"].as_array().unwrap().clone()
    }

    /// A person approves the workflows, and their one job ends with `conclusion`.
    async fn approved(&self, conclusion: JobConclusion) {
        self.world.forge.approve_workflows(&repo_on_forge(), self.pull).unwrap();
        let job = self.checks().await[0]["id"].as_u64().unwrap();
        self.later(Duration::from_secs(10)).await;
        assert!(!self.status().await.contains(BUTTON), "{}", self.status().await);
        assert!(self.is_draft().await, "the job has not ended");
        let ended = JobChange { conclusion: Some(conclusion), ..JobChange::default() };
        self.world.forge.change_job(&repo_on_forge(), job, &ended).unwrap();
        self.later(self.world.settings.review.settle).await;
    }
}

/// Facts A5.
#[tokio::test]
async fn a_draft_whose_workflows_nobody_has_approved_stays_one() {
    let opened = opened_by(JOB, CI).await;
    for _ in 0..3 {
        assert!(opened.is_draft().await);
        opened.later(LONG).await;
    }
    assert!(opened.is_draft().await && opened.checks().await.is_empty());
    let link = format!("{}/acme/site/pull/{}", opened.world.forge.server_url(), opened.pull);
    let status = opened.status().await;
    assert!(status.contains(BUTTON) && status.contains(&link) && status.contains("stays a draft"), "{status}");
    let told = opened.world.history(opened.issue).await;
    assert_eq!(told.iter().filter(|line| line.contains("wait for an approval")).count(), 1, "once: {told:#?}");
    let explained = explain::all(&opened.worker).await.unwrap();
    assert!(explained[0].why.contains(BUTTON), "{explained:#?}");
    assert_eq!(opened.world.briefs(opened.issue).len(), 1, "no round begins for what waits");

    opened.approved(JobConclusion::Success).await;
    assert!(!opened.is_draft().await, "{:?}", opened.world.failures());
    opened.world.finish().await;
}

#[tokio::test]
async fn what_was_approved_and_fails_begins_a_round_and_its_push_waits_again() {
    let opened = opened_by(JOB, CI).await;
    let first = opened.world.head(opened.pull).await;
    opened.later(Duration::from_secs(10)).await;
    opened.approved(JobConclusion::Failure).await;
    assert_eq!(opened.world.briefs(opened.issue).len(), 2, "{:?}", opened.world.failures());
    assert_ne!(opened.world.head(opened.pull).await, first);
    opened.later(LONG).await;
    assert!(opened.is_draft().await && opened.checks().await.is_empty());
    assert!(opened.status().await.contains(BUTTON), "{}", opened.status().await);
    opened.approved(JobConclusion::Success).await;
    assert!(!opened.is_draft().await, "{:?}", opened.world.failures());
    opened.world.finish().await;
}

#[tokio::test]
async fn a_persons_pull_request_waits_for_no_approval() {
    let opened = opened_by("hob", CI).await;
    opened.later(Duration::from_secs(10)).await;
    assert!(opened.is_draft().await && !opened.status().await.contains(BUTTON));
    opened.later(opened.world.settings.review.ci_wait).await;
    assert!(!opened.is_draft().await, "there are no checks: {:?}", opened.world.failures());
    opened.world.finish().await;
}

/// R5: invisible checks are not the same as none.
#[tokio::test]
async fn a_job_that_may_not_see_checks_marks_nothing_as_ready() {
    let hidden = |what: &str| Fault {
        method: None,
        path: format!("/repos/*/*/commits/*/{what}"),
        login: Some(JOB.into()),
        when: When::Always,
        what: What::Answer {
            status: 403,
            headers: BTreeMap::new(),
            message: "Resource not accessible by integration".to_owned(),
        },
    };
    for (lacks, hides, workflows) in [
        // GraphQL says that it hides a green check.
        ("checks: read", &["check-runs", "check-suites"][..], CI),
        // It says nothing, since there is none.
        ("commit statuses: read", &["statuses"], &[]),
    ] {
        let opened = opened_by(JOB, workflows).await;
        if !workflows.is_empty() {
            opened.world.forge.approve_workflows(&repo_on_forge(), opened.pull).unwrap();
            let job = opened.checks().await[0]["id"].as_u64().unwrap();
            let passed = JobChange { conclusion: Some(JobConclusion::Success), ..JobChange::default() };
            opened.world.forge.change_job(&repo_on_forge(), job, &passed).unwrap();
            opened.world.forge.set_moods(Moods::new([Mood::HiddenChecks], 1).with_percent(100));
        }
        hides.iter().for_each(|what| opened.world.forge.inject(hidden(what)));
        for _ in 0..2 {
            opened.later(LONG).await;
        }
        assert!(opened.is_draft().await);
        let status = opened.status().await;
        assert!(
            status.contains(&format!("The token lacks `{lacks}`")) && status.contains("`work-checks.yml`"),
            "{status}"
        );
        opened.world.finish().await;
    }
}
