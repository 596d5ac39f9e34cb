//! GitHub Actions: jobs that a test makes, their logs, and jobs that run again.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    Job, JobChange, JobConclusion, JobIds, JobStatus, JobStep, Options, Seed, graphql::tests::fixture::Fixture,
};

const ACTIONS: &str = "/repos/ada/site/actions";

fn failed(name: &str) -> Job {
    Job {
        head_sha: "work".to_owned(),
        name: name.to_owned(),
        conclusion: Some(JobConclusion::Failure),
        steps: vec![
            JobStep::ended("Set up job", JobConclusion::Success),
            JobStep::ended("Test", JobConclusion::Failure),
        ],
        log: Some("Run cargo test\nerror: test failed\n".to_owned()),
        ..Job::default()
    }
}

async fn with_job() -> (Fixture, JobIds) {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let ids = fixture.forge.create_job(&"ada/site".parse().unwrap(), &failed("test")).unwrap();
    (fixture, ids)
}

#[tokio::test]
async fn a_job_is_a_check_run_of_the_same_id() {
    let (fixture, ids) = with_job().await;
    let sha = fixture.tip("work").await;
    let (_, job) = fixture.answer("tr", &format!("GET {ACTIONS}/jobs/{}", ids.job), Value::Null).await;
    assert_eq!((&job["head_sha"], &job["head_branch"], &job["run_id"]), (&json!(sha), &json!("work"), &json!(ids.run)));
    let steps: Vec<_> = job["steps"].as_array().unwrap().iter().map(|s| (&s["number"], &s["conclusion"])).collect();
    assert_eq!(steps, [(&json!(1), &json!("success")), (&json!(2), &json!("failure"))]);
    let (_, run) = fixture.answer("tr", &format!("GET /repos/ada/site/check-runs/{}", ids.job), Value::Null).await;
    assert_eq!((&run["app"]["slug"], &run["conclusion"]), (&json!("github-actions"), &json!("failure")));
    let page = format!("{}/ada/site/actions/runs/{}/job/{}", fixture.forge.server_url(), ids.run, ids.job);
    assert_eq!((&run["details_url"], &run["html_url"], &job["html_url"]), (&json!(page), &json!(page), &json!(page)));
    let (status, refused) =
        fixture.answer("tb", &format!("PATCH /repos/ada/site/check-runs/{}", ids.job), json!({"name": "x"})).await;
    assert_eq!(status, 403, "it is another App's: {refused}");
    let (_, whole) = fixture.answer("tr", &format!("GET {ACTIONS}/runs/{}", ids.run), Value::Null).await;
    assert_eq!((&whole["status"], &whole["conclusion"]), (&json!("completed"), &json!("failure")));
    assert_eq!((&whole["pull_requests"][0]["head"]["sha"], &whole["run_number"]), (&json!(sha), &json!(1)));
    let data = fixture
        .data(
            "ta",
            "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { statusCheckRollup { state
            contexts(first: 5) { nodes { ... on CheckRun { databaseId steps(first: 5, number: 2) { nodes { name } }
            checkSuite { app { slug } conclusion workflowRun { databaseId event workflow { name } } } } } } } } } }",
        )
        .await;
    let node = &data["repository"]["pullRequest"]["statusCheckRollup"]["contexts"]["nodes"][0];
    assert_eq!((&node["databaseId"], &node["steps"]["nodes"][0]["name"]), (&json!(ids.job), &json!("Test")));
    let suite = json!({"app": {"slug": "github-actions"}, "conclusion": "FAILURE",
        "workflowRun": {"databaseId": ids.run, "event": "push", "workflow": {"name": "CI"}}});
    assert_eq!(node["checkSuite"], suite);
}

#[tokio::test]
async fn a_log_is_at_an_address_that_needs_no_token_for_a_minute() {
    let (fixture, ids) = with_job().await;
    let quiet = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let at = format!("{}{ACTIONS}/jobs/{}/logs", fixture.forge.api_url(), ids.job);
    let found = quiet.get(&at).bearer_auth("tr").send().await.unwrap();
    assert_eq!(found.status(), 302);
    let address = found.headers()["location"].to_str().unwrap().to_owned();
    assert!(address.starts_with(&fixture.forge.server_url()) && found.text().await.unwrap().is_empty());
    let log = quiet.get(&address).send().await.unwrap();
    assert_eq!(
        (log.status().as_u16(), log.headers()["content-type"].to_str().unwrap()),
        (200, "text/plain; charset=utf-8")
    );
    assert_eq!(log.text().await.unwrap(), "Run cargo test\nerror: test failed\n");
    assert_eq!(quiet.get(&at).send().await.unwrap().status(), 403, "nobody signed in");
    let forged = address.replace(&format!("/{}?", ids.job), &format!("/{}?", ids.job + 1));
    assert_eq!(quiet.get(&forged).send().await.unwrap().status(), 403);
    fixture.forge.advance(Duration::from_secs(62));
    assert_eq!(quiet.get(&address).send().await.unwrap().status(), 403, "it has expired");
    let followed = fixture.send("tr", &format!("GET {ACTIONS}/jobs/{}/logs", ids.job), Value::Null).await;
    assert_eq!(followed.status(), 200);
}

#[tokio::test]
async fn a_job_has_no_log_before_its_end() {
    let fixture = Fixture::start().await;
    let site = "ada/site".parse().unwrap();
    let job = Job { status: Some(JobStatus::InProgress), conclusion: None, head_sha: "main".into(), ..failed("test") };
    let ids = fixture.forge.create_job(&site, &job).unwrap();
    let log = format!("GET {ACTIONS}/jobs/{}/logs", ids.job);
    assert_eq!(fixture.answer("ta", &log, Value::Null).await.0, 404);
    let end =
        JobChange { conclusion: Some(JobConclusion::Success), log: Some("Fine.\n".into()), ..JobChange::default() };
    fixture.forge.change_job(&site, ids.job, &end).unwrap();
    assert_eq!(fixture.send("ta", &log, Value::Null).await.text().await.unwrap(), "Fine.\n");
}

#[tokio::test]
async fn runs_are_listed_by_commit_and_by_state() {
    let (fixture, first) = with_job().await;
    let site = "ada/site".parse().unwrap();
    let lint = Job { workflow: "Lint".into(), conclusion: Some(JobConclusion::Success), ..failed("lint") };
    fixture.forge.create_job(&site, &lint).unwrap();
    let queued = Job { head_sha: "main".into(), conclusion: None, log: None, steps: vec![], ..failed("test") };
    fixture.forge.create_job(&site, &queued).unwrap();
    let found = async |query: &str| {
        let (status, listed) = fixture.answer("tr", &format!("GET {ACTIONS}/runs{query}"), Value::Null).await;
        assert_eq!(status, 200, "{listed}");
        let all = listed["workflow_runs"].as_array().unwrap().iter();
        all.map(|run| (run["name"].as_str().unwrap().to_owned(), run["run_number"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    let sha = fixture.tip("work").await;
    let named = |list: &[(&str, u64)]| list.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect::<Vec<_>>();
    assert_eq!(found("").await, named(&[("CI", 2), ("Lint", 1), ("CI", 1)]));
    assert_eq!(found(&format!("?head_sha={sha}")).await, named(&[("Lint", 1), ("CI", 1)]));
    assert_eq!(found("?status=failure").await, named(&[("CI", 1)]));
    assert_eq!(found("?status=queued&branch=main").await, named(&[("CI", 2)]));
    assert_eq!(found("?event=schedule").await, []);
    assert_eq!(fixture.answer("tr", &format!("GET {ACTIONS}/runs?status=odd"), Value::Null).await.0, 422);
    let twice = fixture.forge.create_job(&site, &failed("test"));
    assert!(twice.is_err(), "the run has a job of this name");
    assert_eq!(
        first.job,
        fixture.answer("tr", &format!("GET {ACTIONS}/runs/{}/jobs", first.run), Value::Null).await.1["jobs"][0]["id"]
    );
}

#[tokio::test]
async fn a_job_that_runs_again_is_a_new_check_run_that_waits() {
    let (fixture, ids) = with_job().await;
    let site = "ada/site".parse().unwrap();
    let good = Job { conclusion: Some(JobConclusion::Success), ..failed("lint") };
    let good = fixture.forge.create_job(&site, &good).unwrap();
    assert_eq!(good.run, ids.run, "one workflow, one commit, one run");
    let again = format!("POST {ACTIONS}/jobs/{}/rerun", ids.job);
    assert_eq!(fixture.answer("", &again, Value::Null).await.0, 401);
    fixture.forge.add_user(&"rob:to:read".parse().unwrap());
    assert_eq!(fixture.answer("to", &again, Value::Null).await.0, 403);
    assert_eq!(fixture.answer("tw", &again, json!({"enable_debug_logging": true})).await.0, 422, "nothing obeys it");
    assert_eq!(fixture.answer("tw", &again, Value::Null).await, (201, json!({})));
    let jobs = async |query: &str| {
        let path = format!("GET {ACTIONS}/runs/{}/jobs{query}", ids.run);
        fixture.answer("tr", &path, Value::Null).await.1["jobs"].as_array().unwrap().clone()
    };
    let latest = jobs("").await;
    let new = latest.iter().find(|job| job["name"] == "test").unwrap();
    assert_eq!((&new["status"], &new["run_attempt"], &new["steps"]), (&json!("queued"), &json!(2), &json!([])));
    assert!(new["id"].as_u64().unwrap() > ids.job && jobs("?filter=all").await.len() == 3);
    let (_, listed) =
        fixture.answer("tr", "GET /repos/ada/site/commits/work/check-runs?check_name=test", Value::Null).await;
    assert_eq!((&listed["total_count"], &listed["check_runs"][0]["id"]), (&json!(1), &new["id"]));
    let (status, refused) = fixture.answer("tw", &again, Value::Null).await;
    assert_eq!((status, &refused["message"]), (403, &json!("Only jobs from the current attempt can be re-run")));
    let failed = format!("POST {ACTIONS}/runs/{}/rerun-failed-jobs", ids.run);
    let (status, refused) = fixture.answer("tw", &failed, Value::Null).await;
    assert_eq!((status, &refused["message"]), (403, &json!("This workflow is already running")));
    let end = json!({"repository": "ada/site", "conclusion": "failure", "log": "Again."});
    assert_eq!(fixture.answer("tw", &format!("PATCH /_forge/jobs/{}", new["id"]), end.clone()).await.0, 403);
    assert_eq!(fixture.answer("ta", &format!("PATCH /_forge/jobs/{}", new["id"]), end).await.0, 200);
    assert_eq!(fixture.answer("tw", &failed, Value::Null).await.0, 201);
    let ids_now: Vec<_> = jobs("").await.iter().map(|job| job["run_attempt"].as_u64().unwrap()).collect();
    assert_eq!(ids_now, [1, 3], "what succeeded does not run again");
}

#[tokio::test]
async fn jobs_come_from_a_seed_and_over_http() {
    let seed = "[[repositories]]\nname = \"ann/new\"\nfiles = { \"a\" = \"1\" }\n[[repositories.jobs]]\nhead_sha = \"main\"\n\
        workflow = \"Nightly\"\nname = \"test\"\nconclusion = \"timed_out\"\nlog = \"Late.\"\n\
        steps = [{ name = \"Test\", conclusion = \"cancelled\" }]\n";
    let seed = Seed::parse(seed, std::path::Path::new(".")).unwrap();
    let fixture = Fixture::start_with(Options { seed, ..Options::default() }).await;
    let (_, runs) = fixture.answer("ta", "GET /repos/ann/new/actions/runs", Value::Null).await;
    assert_eq!(
        (&runs["workflow_runs"][0]["name"], &runs["workflow_runs"][0]["conclusion"]),
        (&json!("Nightly"), &json!("timed_out"))
    );
    let body = json!({"repository": "ann/new", "head_sha": "main", "name": "build", "status": "in_progress"});
    let (status, job) = fixture.answer("ta", "POST /_forge/jobs", body.clone()).await;
    assert_eq!((status, &job["status"], &job["workflow_name"]), (201, &json!("in_progress"), &json!("CI")));
    assert_eq!(fixture.answer("tb", "POST /_forge/jobs", body).await.0, 403);
    for (field, value) in [
        ("runner", json!(1)),
        ("conclusion", json!("odd")),
        ("head_sha", json!("none")),
        ("steps", json!([{"name": "x", "status": "completed"}])),
    ] {
        let mut body = json!({"repository": "ann/new", "head_sha": "main", "name": "other"});
        body[field] = value;
        let (status, refused) = fixture.answer("ta", "POST /_forge/jobs", body).await;
        assert_eq!(status, 422, "{field}: {refused}");
    }
}

#[tokio::test]
async fn runs_of_what_a_jobs_token_opens_or_pushes_wait_for_an_approval() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"github-actions:tj:write:job".parse().unwrap());
    let say = json!({"repository": "ada/site", "workflows": {"CI": ["test", "lint"]}});
    assert_eq!(fixture.answer("tw", "PUT /_forge/pull-workflows", say.clone()).await.0, 403);
    assert_eq!(fixture.answer("ta", "PUT /_forge/pull-workflows", say).await.0, 204);
    fixture.pull("hers").await;
    fixture
        .rest("ta", &format!("PATCH /repos/ada/site/pulls/{}", fixture.pull("its").await), json!({"state": "closed"}))
        .await;
    let again = json!({"title": "Add it again", "head": "its", "base": "main"});
    let number = fixture.rest("tj", "POST /repos/ada/site/pulls", again).await["number"].as_u64().unwrap();
    let runs = async |sha: &str| {
        let (_, listed) = fixture.answer("tr", &format!("GET {ACTIONS}/runs?head_sha={sha}"), Value::Null).await;
        let shown =
            |run: &Value| [&run["status"], &run["conclusion"]].map(|word| word.as_str().unwrap_or("none").to_owned());
        listed["workflow_runs"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>()
    };
    let held = [["completed", "action_required"].map(str::to_owned)];
    let sha = fixture.tip("its").await;
    assert_eq!(runs(&fixture.tip("hers").await).await, Vec::<[String; 2]>::new(), "a person's wait for nobody");
    assert_eq!(runs(&sha).await, held);
    let at = |what: &str| format!("GET /repos/ada/site/commits/{sha}/{what}");
    assert_eq!(fixture.rest("tr", &at("check-runs"), Value::Null).await["total_count"], 0);
    let suites = fixture.rest("tr", &at("check-suites"), Value::Null).await["check_suites"].clone();
    assert_eq!(
        (&suites[0]["conclusion"], &suites[0]["latest_check_runs_count"]),
        (&json!("action_required"), &json!(0))
    );
    assert_eq!((&suites[0]["app"]["slug"], &suites[0]["head_sha"]), (&json!("github-actions"), &json!(sha)));
    let ask = format!(
        "{{ repository(owner: \"ada\", name: \"site\") {{ pullRequest(number: {number}) {{ statusCheckRollup {{ state }}
        commits(last: 1) {{ nodes {{ commit {{ checkSuites(first: 5) {{ nodes {{ conclusion app {{ slug }} }} }} }} }} }} }} }} }}"
    );
    let data = fixture.data("ta", &ask).await["repository"]["pullRequest"].clone();
    let suite = json!([{"conclusion": "ACTION_REQUIRED", "app": {"slug": "github-actions"}}]);
    assert_eq!(data["commits"]["nodes"][0]["commit"]["checkSuites"]["nodes"], suite);
    assert_eq!(data["statusCheckRollup"], Value::Null);

    let approve = json!({"repository": "ada/site", "number": number});
    assert_eq!(fixture.answer("ta", "POST /_forge/approvals", approve.clone()).await.0, 204);
    assert_eq!(runs(&sha).await, [["queued", "none"].map(str::to_owned)]);
    assert_eq!(fixture.rest("tr", &at("check-runs"), Value::Null).await["total_count"], 2);
    assert_eq!(fixture.answer("ta", "POST /_forge/approvals", approve).await.0, 422, "nothing waits any more");
}

#[tokio::test]
async fn a_workflow_has_the_state_that_a_test_gives_it() {
    let fixture = Fixture::start().await;
    let job = json!({"repository": "ada/site", "head_sha": "main", "name": "test", "workflow": "CI"});
    assert_eq!(fixture.answer("ta", "POST /_forge/jobs", job).await.0, 201);
    let path = format!("GET {ACTIONS}/workflows/ci.yml");
    assert_eq!(fixture.rest("tr", &path, Value::Null).await["state"], "active");
    for (who, state, status) in
        [("tw", "disabled_inactivity", 403), ("ta", "asleep", 422), ("ta", "disabled_inactivity", 204)]
    {
        let say = json!({"repository": "ada/site", "file": "ci.yml", "state": state});
        assert_eq!(fixture.answer(who, "PUT /_forge/workflow-states", say).await.0, status, "{who} {state}");
    }
    assert_eq!(fixture.rest("tr", &path, Value::Null).await["state"], "disabled_inactivity");
}
