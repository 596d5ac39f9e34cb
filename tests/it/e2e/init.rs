//! `hob init`: the labels and the one pull request that make a repository ready, and the effect of a second call.

use github_emulator::{Fault, What, When};
use hob_domain::has_label;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Builder, Ended, World, redacted};

const SETTINGS: &str = ".github/hob.toml";
const WORKFLOW: &str = ".github/workflows/hob.yml";
const SCHEDULE: &str = ".github/workflows/hob-schedule.yml";

/// A repository that Hob has never seen, whose one check is a target of its makefile.
fn fresh() -> Builder {
    World::with_agent("echo done > done.txt").file("Makefile", "test:\n\ttest -f done.txt\n")
}

/// The names of the repository's labels.
async fn labels(world: &World) -> Vec<String> {
    let all = world.look("/labels").await;
    all.as_array().unwrap().iter().map(|label| label["name"].as_str().unwrap().to_owned()).collect()
}

/// The files that a pull request changes, in order.
async fn files_of(world: &World, pull: &Value) -> Vec<String> {
    let mut changed = world.changed(pull["number"].as_u64().unwrap()).await;
    changed.sort();
    changed
}

/// GitHub's answer to a push of a workflow by a token that may not write one.
fn refuses_workflows(times: u64) -> Fault {
    let packet = |text: &str| format!("{:04x}{text}", text.len() + 4);
    let reason = "refusing to allow a Personal Access Token to create or update workflow `.github/workflows/hob.yml` \
                  without `workflow` scope";
    let report = packet("unpack ok\n") + &packet(&format!("ng refs/heads/hob/init {reason}\n")) + "0000";
    let headers = [("content-type".to_owned(), "application/x-git-receive-pack-result".to_owned())].into();
    let what = What::Raw { status: 200, headers, body: packet(&format!("\u{1}{report}")) + "0000" };
    let path = "/acme/site.git/git-receive-pack".to_owned();
    Fault { method: Some("POST".to_owned()), path, login: None, when: When::First(times), what }
}

fn words(ended: &Ended) -> String {
    format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn one_pull_request_makes_a_repository_ready_and_after_its_merge_an_issue_is_done_and_checked() {
    let world = fresh().start().await;
    let ended = world.hob(&["init"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for step in ["creating the label `blocked`", "fetching the history", "opening the pull request"] {
        assert!(ended.stderr.contains(step), "{step}: {ended:?}");
    }
    let pull = world.pull().await;
    assert!(words(&ended).contains(&format!("opened the pull request: {}", pull["html_url"].as_str().unwrap())));
    assert_eq!(files_of(&world, &pull).await, [SETTINGS, SCHEDULE, WORKFLOW]);
    let settings = world.content(SETTINGS, "hob/init").await;
    assert!(settings.contains("\nchecks = [\"make test\"]\n"), "{settings}");
    let first = settings.lines().next().unwrap();
    assert!(first.starts_with("#:schema https://") && first.ends_with("/hob-repository.schema.json"), "{first}");
    for (path, own) in [
        (WORKFLOW, include_str!("../../../examples/workflow.yml")),
        (SCHEDULE, include_str!("../../../examples/schedule.yml")),
    ] {
        assert!(own.ends_with(world.content(path, "hob/init").await.split_once('\n').unwrap().1), "{path}");
    }
    let _redacted = redacted();
    insta::assert_snapshot!(pull["body"].as_str().unwrap(), @"
    Hob works on issues that someone with write permission labels, and opens a pull request for each. It never merges. This sets it up:

    - `.github/hob.toml`: how work is verified. The checks found: `make test`.
    - `.github/workflows/hob.yml`: runs Hob in GitHub Actions when an issue gets the label or a blocked one an answer, one job an issue. Name your agent's model in it and in the next one.
    - `.github/workflows/hob-schedule.yml`: runs Hob on a schedule, for work that no label or answer starts. Each run costs at least a minute in a private repository; without this file, an issue whose worker died waits for the next label or answer.

    What to do next:

    1. Read the files and change what does not fit: Hob does not touch a branch that someone else pushed to.
    2. Merge this.
    3. Under *Settings → Actions → General → Workflow permissions*, tick *Allow GitHub Actions to create and approve pull requests*. Under *Settings → Secrets and variables → Actions*, add the key of your model as the secret `ANTHROPIC_API_KEY`. Or run `hob run` on a machine of yours.
    4. Give one small issue the label `code`. A run of the workflow *hob* begins under *Actions*, and says what it did.
    ");
    let there = labels(&world).await;
    for label in ["code", "assigned", "in-progress", "in-review", "blocked"] {
        assert!(has_label(&there, label), "{label}: {there:?}");
    }
    world.call("ann", Method::PUT, &format!("/pulls/{}/merge", pull["number"]), json!({})).await;
    let issue = world.asks("Make done.txt", "").await;
    let run = world.hob(&["run", "--once"]).await;
    assert!(run.stderr.contains("checks on the head: 1 of 1 passed"), "{run:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_second_call_changes_nothing_and_a_third_after_a_change_of_the_base_brings_the_pull_request_up_to_date() {
    let world = fresh().start().await;
    assert_eq!(world.hob(&["init"]).await.code, 0);
    let (first, writes) = (world.pull().await, world.writes().len());
    let again = world.hob(&["init"]).await;
    assert!(again.code == 0 && again.stdout.contains("is already open and up to date"), "{again:?}");
    assert_eq!(
        (world.pull().await["head"]["sha"].clone(), world.writes().len()),
        (first["head"]["sha"].clone(), writes)
    );
    world.pushes_onto("ann", "main", "Makefile", "check: test\ntest:\n\ttest -f done.txt\n").await;
    let third = world.hob(&["init"]).await;
    assert!(third.code == 0 && third.stdout.contains("updated the pull request"), "{third:?}");
    let pull = world.pull().await;
    assert_eq!(pull["number"], first["number"]);
    assert!(pull["body"].as_str().unwrap().contains("`make check`"), "{}", pull["body"]);
    assert_eq!(files_of(&world, &pull).await, [SETTINGS, SCHEDULE, WORKFLOW]);
    assert_eq!(world.commits(pull["number"].as_u64().unwrap()).await.len(), 1);
    world.finish().await;
}

/// Attack corpus J130: a lock file's text is a plain host name in the proposal, or nothing.
#[tokio::test]
async fn hosts_of_the_set_up_steps_are_proposed_as_the_lock_file_names_them() {
    let lock = |address: &str| format!("{{\"packages\": {{\"a\": {{\"resolved\": \"https://{address}/a.tgz\"}}}}}}\n");
    let hostile = "x'\"]\n$(touch pwned)`id`.example.org";
    let world = fresh().file("package.json", "{}").file("package-lock.json", &lock("npm.example.org")).start().await;
    let ended = world.hob(&["init"]).await;
    assert!(words(&ended).contains("for `sandbox.setup_hosts` of Hob's settings: npm.example.org"), "{ended:?}");
    let settings = world.content(SETTINGS, "hob/init").await;
    assert!(settings.contains("\n# sandbox.setup_hosts = [\"npm.example.org\"]\nsetup = [\"npm ci\"]\n"), "{settings}");
    for path in [WORKFLOW, SCHEDULE] {
        let workflow = world.content(path, "hob/init").await;
        assert!(workflow.contains("\n        sandbox.setup_hosts = [\"npm.example.org\"]\n"), "{workflow}");
    }
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(
        body.contains("fetch from `npm.example.org`: the operator of Hob has to list them in `sandbox.setup_hosts`."),
        "{body}"
    );
    for lock in [lock(hostile), lock("npm.example.org") + &" ".repeat(3 << 20)] {
        world.pushes_onto("ann", "main", "package-lock.json", &lock).await;
        let told = world.hob(&["init", "--dry-run", "--json"]).await.objects().remove(0)["result"].clone();
        assert_eq!((&told["hosts"], &told["setup"]), (&json!([]), &json!(["npm ci"])), "{told}");
        let text = told["files"].to_string();
        assert!(
            !text.contains("pwned") && text.matches("# sandbox.setup_hosts = [\\\"HOST\\\"]").count() == 3,
            "{text}"
        );
    }
    world.finish().await;
}

#[tokio::test]
async fn a_dry_run_prints_the_files_and_writes_nothing() {
    let world = fresh().start().await;
    let ended = world.hob(&["init", "--dry-run"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for part in [
        "would create the label `blocked`",
        "--- .github/hob.toml",
        "checks = [\"make test\"]",
        "--- .github/workflows/hob.yml",
        "--- .github/workflows/hob-schedule.yml",
        "would open a pull request with 3 files from the branch `hob/init`",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    let told = world.hob(&["init", "--dry-run", "--no-workflow", "--json"]).await.objects().remove(0)["result"].clone();
    assert_eq!((&told["checks"], &told["dry_run"], &told["pull"]), (&json!(["make test"]), &json!(true), &Value::Null));
    assert_eq!(told["files"].as_array().unwrap().len(), 1);
    assert_eq!(world.writes(), []);
    assert!(world.branches().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn files_that_are_there_stay_and_a_repository_that_has_them_all_is_told_so() {
    let world = fresh().file(SETTINGS, "checks = ['true']\n").start().await;
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("`.github/hob.toml` already exists"), "{ended:?}");
    assert_eq!(files_of(&world, &world.pull().await).await, [SCHEDULE, WORKFLOW]);
    world.finish().await;
    let world = fresh().file(SETTINGS, "checks = ['true']\n").file(WORKFLOW, "on: push\n").start().await;
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("no pull request is needed"), "{ended:?}");
    assert!(world.pulls().await.is_empty() && world.branches().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_token_that_may_not_write_workflows_gets_a_sentence_and_the_pull_request_without_the_workflow() {
    let says = "give the token the permission `workflows: write`";
    let world = fresh().start().await;
    world.forge.inject(refuses_workflows(1));
    let ended = world.hob(&["init", "--json"]).await;
    let told = &ended.objects()[0]["result"];
    assert_eq!(
        (ended.code, &told["left_out"], &told["pull"]["state"]),
        (0, &json!([WORKFLOW, SCHEDULE]), &json!("opened")),
        "{ended:?}"
    );
    let pull = world.pull().await;
    assert_eq!(files_of(&world, &pull).await, [SETTINGS]);
    assert!(pull["body"].as_str().unwrap().contains(says), "{}", pull["body"]);
    world.forge.heal();
    world.forge.inject(refuses_workflows(1));
    let again = world.hob(&["init"]).await;
    assert!(again.code == 0 && words(&again).contains(says) && again.stdout.contains("up to date"), "{again:?}");
    world.forge.heal();
    // With the permission the same pull request gets the workflow, too.
    assert_eq!(world.hob(&["init"]).await.code, 0);
    assert_eq!(files_of(&world, &world.pull().await).await, [SETTINGS, SCHEDULE, WORKFLOW]);
    world.finish().await;
    let world = fresh().file(SETTINGS, "checks = ['true']\n").start().await;
    world.forge.inject(refuses_workflows(9));
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 3 && words(&ended).contains(says), "{ended:?}");
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_branch_that_a_person_pushed_to_is_theirs() {
    let world = fresh().start().await;
    assert_eq!(world.hob(&["init"]).await.code, 0);
    world.pushes_onto("wil", "hob/init", SETTINGS, "checks = ['make -s test']\n").await;
    world.pushes_onto("ann", "main", "Makefile", "check: test\ntest:\n\ttrue\n").await;
    let head = world.pull().await["head"]["sha"].clone();
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("someone else pushed to its branch"), "{ended:?}");
    assert_eq!(world.pull().await["head"]["sha"], head);
    // Without its pull request a person has to say what happens to their work.
    world.call("ann", Method::PATCH, "/pulls/1", json!({ "state": "closed" })).await;
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 6 && ended.stderr.contains("delete the branch and run `hob init` again"), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_that_was_submitted_too_quickly_is_opened_after_a_pause() {
    let world = fresh().start().await;
    let message = "was submitted too quickly".to_owned();
    let headers = [("retry-after".to_owned(), "1".to_owned())].into();
    world.forge.inject(Fault {
        method: Some("POST".to_owned()),
        path: "/repos/acme/site/pulls".to_owned(),
        login: None,
        when: When::First(1),
        what: What::Answer { status: 403, headers, message },
    });
    let ended = world.hob(&["--repo", "acme/site", "init"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("waiting 1 s: the forge wants a pause"), "{ended:?}");
    assert_eq!(world.pulls().await.len(), 1);
    world.leave();
}

#[tokio::test]
async fn a_pull_request_that_was_closed_is_opened_anew() {
    let world = fresh().start().await;
    assert_eq!(world.hob(&["init"]).await.code, 0);
    world.call("ann", Method::PATCH, "/pulls/1", json!({ "state": "closed" })).await;
    let ended = world.hob(&["init"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("opened the pull request: "), "{ended:?}");
    assert_eq!(world.pulls().await.iter().filter(|pull| pull["state"] == "open").count(), 1);
    world.finish().await;
}

#[tokio::test]
async fn what_stops_it_is_said_with_what_to_do() {
    let world = fresh().start().await;
    let weak = world.hob_with(&["init"], &[("GITHUB_TOKEN", "token-of-rob")]).await;
    assert!(weak.code == 3 && weak.stderr.contains("`contents: write`"), "{weak:?}");
    let missing = world.hob(&["init", "--repo", "acme/none"]).await;
    assert!(missing.code == 4 && missing.stderr.contains("does not exist"), "{missing:?}");
    assert_eq!(world.writes(), []);
    world.makes_empty_repository("void").await;
    let empty = world.hob(&["init", "--repo", "ann/void"]).await;
    assert!(empty.code == 4 && empty.stderr.contains("push a first commit"), "{empty:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_repository_in_which_nothing_is_found_gets_a_file_that_says_what_is_missing() {
    let world = World::with_agent("true").start().await;
    let ended = world.hob(&["init", "--no-workflow"]).await;
    assert!(ended.code == 0 && words(&ended).contains("no checks were found: add some"), "{ended:?}");
    assert!(world.content(SETTINGS, "hob/init").await.contains("\nchecks = []\n"));
    assert_eq!(files_of(&world, &world.pull().await).await, [SETTINGS]);
    world.finish().await;
}

/// The workflow of v0.1.0, with a user's own settings and times.
const OLD: &str = r#"# Ours.
name: hob
on:
  schedule:
    - cron: "5 * * * *" # each hour
  issues:
    types: [labeled]
permissions: {}
jobs:
  hob:
    if: github.event_name != 'issues' || github.event.label.name == 'code'
    uses: hob-worker/hob/.github/workflows/work.yml@v0.1.0
    permissions: { contents: write, issues: write, pull-requests: write }
    with: { settings: 'budget.issue = 2' }
    secrets: { openai-api-key: "${{ secrets.OURS }}" }
"#;

/// Facts A4: a schedule takes the label's trigger with it when GitHub disables the file.
#[tokio::test]
async fn the_schedule_of_an_old_workflow_moves_to_a_file_of_its_own() {
    let world = fresh().file(SETTINGS, "checks = ['true']\n").file(WORKFLOW, OLD).start().await;
    let ended = world.hob(&["init"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let pull = world.pull().await;
    assert_eq!(files_of(&world, &pull).await, [SCHEDULE, WORKFLOW]);
    let body = pull["body"].as_str().unwrap();
    assert!(body.contains("its schedule moves to a file of its own, with your times"), "{body}");
    assert_eq!(pull["title"], "Give Hob's schedule a workflow of its own");
    let (hob, schedule) = (world.content(WORKFLOW, "hob/init").await, world.content(SCHEDULE, "hob/init").await);
    let job = OLD.split_once("    uses: ").unwrap().1;
    assert!(hob.starts_with("# Ours.\n") && hob.ends_with(job) && !hob.contains("cron"), "{hob}");
    assert!(hob.contains("issue_comment:") && hob.contains("'blocked'"), "{hob}");
    assert!(schedule.ends_with(job) && schedule.contains("cron: \"5 * * * *\" # each hour"), "{schedule}");
    assert!(!schedule.contains("issues:\n"), "{schedule}");
    let again = world.hob(&["init"]).await;
    assert!(again.code == 0 && again.stdout.contains("up to date"), "{again:?}");
    world.call("ann", Method::PUT, &format!("/pulls/{}/merge", pull["number"]), json!({})).await;
    let after = world.hob(&["init"]).await;
    assert!(after.code == 0 && after.stdout.contains("no pull request is needed"), "{after:?}");
    world.finish().await;
    let two_jobs = format!("{OLD}  other:\n    runs-on: ubuntu-24.04\n    steps: [{{ run: 'true' }}]\n");
    let world = fresh().file(SETTINGS, "checks = ['true']\n").file(WORKFLOW, &two_jobs).start().await;
    let kept = world.hob(&["init"]).await;
    assert!(kept.code == 0 && world.pulls().await.is_empty(), "{kept:?}");
    assert!(words(&kept).contains("left unchanged, because it has more than one job: move the schedule"), "{kept:?}");
    world.finish().await;
}
