//! The program's own commands, through the real binary.

use github_emulator::{Fault, What, When};
use serde_json::Value;

use crate::harness::{PYTHON, World, needs};

#[tokio::test]
async fn a_run_tells_its_stages_and_writes_the_step_summary() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let summary = world.dir().join("summary.md");
    std::fs::write(&summary, "# Before\n").unwrap();
    let ended = world.hob_with(&["run", "--once"], &[("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for part in
        ["claimed, generation 1", "running agent `fixer`", "checks on the head: 1 of 1 passed", "1 issue worked on"]
    {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    let text = std::fs::read_to_string(summary).unwrap();
    assert!(text.starts_with("# Before\n") && text.contains("#1"), "{text}");
    world.finish().await;
}

#[tokio::test]
async fn a_pass_with_an_issue_that_failed_ends_with_1_and_leaves_it_to_the_next() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let what = What::Answer { status: 422, headers: Default::default(), message: "not today".to_owned() };
    let path = format!("/repos/*/*/issues/{issue}/events");
    world.forge.inject(Fault { method: Some("GET".to_owned()), path, login: None, when: When::Always, what });
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("1 issue failed; the next run tries again"), "{ended:?}");
    world.forge.heal();
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_run_for_programs_is_json_to_the_last_line() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", "--once", "--json"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = ended.objects();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert!(events.contains(&"published") && events.contains(&"moved"), "{events:?}");
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["summary"]["worked"]), (&"ended".into(), &1.into()));
    world.finish().await;
}

#[tokio::test]
async fn an_operator_answers_from_the_command_line() {
    let script = r#"case $n in
        0) echo '{"outcome":"question","question":"Which colour?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Paint it", "").await;
    let number = issue.to_string();
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    let explained = world.hob(&["explain", &number]).await;
    let explained = explained.stdout.replace(&world.forge.server_url(), "https://github.example");
    insta::assert_snapshot!(explained, @r"
    #1 Paint it (blocked)
    page      https://github.example/acme/site/issues/1
    blocked   The agent needs an answer before it can continue.
    question  Which colour?
    now       it waits for a person's answer
    cost      cap $5.00
    answer    Reply, and the agent continues with your answer. From this terminal: `hob answer 1 -m TEXT`.
    ");
    let listed = world.hob(&["status"]).await;
    // The last paragraph is about the day.
    let (table, _) = listed.stdout.rsplit_once("\n\nToday: ").unwrap();
    insta::assert_snapshot!(table, @r"
    order  issue  state    since  title     next step
    -      #1     blocked  0 min  Paint it  it waits for a person's answer: The agent needs an answer before it can continue. Which colour? Reply, and the agent continues with your answer.
    ");
    let ended = world.hob(&["answer", &number, "-m", "Green."]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("with your answer"), "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code"]);
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    assert!(world.briefs(issue)[1].contains("Green."));
    let again = world.hob(&["answer", &number]).await;
    assert!(again.code == 4 && again.stderr.contains("is not blocked"), "{again:?}");
    world.finish().await;
}

#[tokio::test]
async fn one_list_has_what_waits_what_is_in_review_and_what_was_spent() {
    let script = r#"echo done > done.txt; echo '{"outcome":"done","summary":"Did it.","usd":0.25}'"#;
    let world = World::with_agent(script).start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    world.asks("Make it again", "").await;
    let all = world.hob(&["status"]).await.stdout;
    let (table, day) = all.rsplit_once("\n\n").unwrap();
    insta::assert_snapshot!(table, @r"
    order  issue  state      since  pull  spent  title          next step
    -      #1     in-review  0 min  #2    $0.25  Make done.txt  its pull request #2 waits for a review
    1      #3     new        -      -     -      Make it again  it would be claimed
    ");
    assert!(day.starts_with("Today: $0.25"), "{day}");
    let new = world.hob(&["status", "--state", "new"]).await.stdout;
    assert!(
        new.starts_with("order  issue  state  title          next step\n1      #3     new    Make it again"),
        "{new}"
    );
    let some = world.hob(&["status", "--state", "new", "--state", "in-review", "--json"]).await.result();
    assert_eq!((some["queue"].as_array().unwrap().len(), some["issues"].as_array().unwrap().len()), (2, 1));
    let none = world.hob(&["status", "--state", "blocked", "--state", "ready"]).await.stdout;
    assert!(none.starts_with("No issue of acme/site is blocked or ready."), "{none}");
    assert_eq!(world.hob(&["status", "--state", "strange"]).await.code, 2);
    assert_eq!(world.hob(&["status", "--limit", "1"]).await.code, 2);
    world.finish().await;
}

#[tokio::test]
async fn an_issue_is_requeued_without_words_and_told_so() {
    let world = World::with_agent("test $n = 0 || echo done > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let ended = world.hob(&["answer", &issue.to_string()]).await;
    let says = "is requeued without an answer, as by `/hob retry`: the next free worker tries it again as it is.";
    assert!(ended.code == 0 && ended.stdout.replace('\n', " ").contains(says), "{ended:?}");
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_clone_of_another_forges_repository_is_not_looked_for_here() {
    let world = World::fixing().start().await;
    let here = |remote: &str| {
        let origin = "git init -q . && git remote remove origin 2>/dev/null; git remote add origin";
        format!("{origin} {remote} && exec \"$@\"")
    };
    let list = ["--set", "testing.forge.retries=0", "status"];
    let foreign = here("https://git.example.com/acme/site.git");
    let ended = world.hob_in_shell(&format!("unset GITHUB_REPOSITORY; {foreign}"), &list).await;
    let says = "the git remote `origin` is on git.example.com, and GITHUB_API_URL is `http://127.0.0.1:";
    assert!(ended.code == 2 && ended.stderr.contains(says), "{ended:?}");
    let own = here(&format!("{}/acme/site.git", world.forge.server_url()));
    let ended = world.hob_in_shell(&format!("unset GITHUB_REPOSITORY; {own}"), &list).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn the_doctor_finds_what_is_missing_and_writes_nothing_that_stays() {
    let world = World::fixing().start().await;
    let well = world.hob(&["doctor"]).await;
    assert_eq!(well.code, 0, "{well:?}");
    let weak = world.hob_with(&["doctor"], &[("GITHUB_TOKEN", "token-of-rob")]).await;
    assert!(weak.code == 6 && weak.stdout.contains("bad "), "{weak:?}");
    let settings = ["agent=native", "model.default=openai/a", "model.fallback=anthropic/b"];
    let args: Vec<_> = settings.iter().flat_map(|setting| ["--set", setting]).chain(["doctor"]).collect();
    let keyless = world.hob_with(&args, &[("OPENAI_API_KEY", "key")]).await;
    let says = "bad  agent        agent `native`: set ANTHROPIC_API_KEY";
    assert!(keyless.code == 6 && keyless.stdout.contains(says), "{keyless:?}");
    let refs = world.call("watch", http::Method::GET, "/git/matching-refs/hob", Value::Null).await;
    assert_eq!(refs, serde_json::json!([]));
    assert!(world.branches().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn the_doctor_proves_each_permission_by_a_try_that_leaves_nothing() {
    let bare = World::fixing().start().await;
    let told = bare.hob(&["doctor"]).await;
    assert!(told.code == 0 && told.stdout.contains("note workflows    the repository has no workflow"), "{told:?}");
    bare.finish().await;
    let world = World::fixing().file(".github/workflows/ci.yml", "on: [push, pull_request]\njobs: {}\n").start().await;
    let well = world.hob(&["doctor"]).await;
    for says in [
        "ok   ledger       refs below `refs/hob/` can be created",
        "ok   issues       labels and comments can be written",
        "ok   pulls        pull requests can be opened",
        "ok   proof        the commit status `hob/proof` can be set",
        "ok   workflows    pull requests that Hob opens start",
    ] {
        assert!(well.stdout.contains(says), "{says}: {well:?}");
    }
    assert!(world.pulls().await.is_empty() && world.branches().await.is_empty());
    assert_eq!(world.look("/issues?state=all").await, serde_json::json!([]));
    for (path, permission) in [("issues", "`issues: write`"), ("pulls", "`pull requests: write`")] {
        let message = "Resource not accessible by personal access token".to_owned();
        let what = What::Answer { status: 403, headers: Default::default(), message };
        let path = format!("/repos/*/*/{path}");
        world.forge.inject(Fault { method: Some("POST".to_owned()), path, login: None, when: When::Always, what });
        let weak = world.hob(&["doctor"]).await;
        assert!(weak.code == 6 && weak.stdout.contains(permission), "{permission}: {weak:?}");
        world.forge.heal();
    }
    let job = [("GITHUB_ACTIONS", "true")];
    let own = world.hob_with(&["doctor", "--set", "forge.login=github-actions[bot]"], &job).await;
    assert!(
        own.code == 0 && own.stdout.contains("note workflows    a job's own GITHUB_TOKEN does not start"),
        "{own:?}"
    );
    let other = world.hob_with(&["doctor"], &job).await;
    assert!(other.stdout.contains("ok   workflows"), "{other:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_doctor_asks_the_model_once_if_it_is_told_to() {
    let world = World::fixing().start().await;
    let told = world.hob(&["doctor", "--ask-model"]).await;
    assert!(told.code == 0 && told.stdout.contains("note model        the agent `fixer` has no model"), "{told:?}");
    let cassette = world.dir().join("replies.json");
    std::fs::write(&cassette, r#"{"cassette": 1, "replies": [{"text": "ready"}]}"#).unwrap();
    let model = format!("model.default=cassette/{}", cassette.display());
    let native = ["--set", "agent=native", "--set", &model, "doctor"];
    let silent = world.hob(&native).await;
    assert!(silent.code == 0 && !silent.stdout.contains("answers"), "{silent:?}");
    let asked = world.hob(&[&native[..], &["--ask-model"]].concat()).await;
    assert!(asked.code == 0 && asked.stdout.contains("replies.json` answers"), "{asked:?}");
    std::fs::write(&cassette, r#"{"cassette": 1, "replies": []}"#).unwrap();
    let mute = world.hob(&[&native[..], &["--ask-model"]].concat()).await;
    assert!(mute.code == 6 && mute.stdout.contains("bad  model"), "{mute:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_doctor_starts_each_mcp_server_and_shows_its_tools() {
    needs!(PYTHON);
    let world = World::fixing().start().await;
    let server = include_str!("../agents/mcp_server.py");
    let section = |name: &str, mode: &str| {
        let command = serde_json::json!([PYTHON, "-c", server, mode, "/dev/null"]);
        format!("[mcp.{name}]\ncommand = {command}\ntools = {{ echo = 'low' }}\n")
    };
    let without = world.hob(&["doctor"]).await;
    assert!(without.code == 0 && !without.stdout.contains("MCP server"), "{without:?}");
    let own = std::fs::read_to_string(world.dir().join("settings.toml")).unwrap();
    let settings = world.dir().join("servers.toml");
    std::fs::write(&settings, format!("{own}\n{}{}", section("docs", "well"), section("dead", "dies"))).unwrap();
    let told = world.hob(&["--json", "doctor", "--config", settings.to_str().unwrap()]).await;
    assert_eq!(told.code, 0, "{told:?}");
    let objects = told.objects();
    let findings = objects[0]["result"].as_array().unwrap().iter().filter(|one| one["about"] == "MCP server");
    let findings: Vec<_> =
        findings.map(|one| (one["health"].as_str().unwrap(), one["says"].as_str().unwrap())).collect();
    let dead = "the MCP server `dead` is not used: its program ended with exit code 1: no configuration / TEST";
    let docs = "`docs` has 3 tools: mcp_docs_echo [low], mcp_docs_drop [high], mcp_docs_look_around [high]";
    assert_eq!(findings, [("note", dead), ("ok", docs)]);
    world.finish().await;
}

#[tokio::test]
async fn an_answer_that_was_given_is_what_list_and_explain_tell() {
    let script = r#"case $n in
        0) echo '{"outcome":"question","question":"Which colour?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Paint it", "").await;
    world.run().await;
    world.comments("out", issue, "Red.").await;
    let strange = world.hob(&["explain", &issue.to_string()]).await;
    assert!(strange.stdout.contains("now       it waits for a person's answer"), "{strange:?}");
    world.comments("wil", issue, "Green.").await;
    for command in
        [["explain", "1"].as_slice(), &["status"], &["run", "--once", "--dry-run"], &["run", "1", "--dry-run"]]
    {
        let told = world.hob(command).await;
        assert!(told.stdout.contains("wil answered: it would be worked on"), "{told:?}");
        assert!(!told.stdout.contains("waits for"), "{told:?}");
    }
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_nobody_asked_hob_for_is_explained_by_what_it_lacks() {
    let world = World::fixing().start().await;
    let closed = world.asks("Closed", "").await;
    world.edits("ann", closed, serde_json::json!({ "state": "closed" })).await;
    let bare = world.opens("ann", "Bare", "", &[]).await;
    let other = world.opens("ann", "Other", "", &["bug"]).await;
    for (issue, why) in [
        (closed, "it is closed"),
        (bare, "it does not have the label `code`"),
        (other, "it does not have the label `code` (it has: bug)"),
    ] {
        let told = world.hob(&["explain", &issue.to_string()]).await;
        assert_eq!(told.stdout.lines().last().unwrap(), format!("now       {why}"));
    }
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_is_not_there_is_told() {
    let world = World::fixing().start().await;
    for command in ["explain", "answer", "approve", "pause", "resume", "cancel"] {
        let ended = world.hob(&[command, "99"]).await;
        assert_eq!(ended.code, 4, "{command}: {ended:?}");
        assert_eq!(ended.stderr, "hob: issue 99 does not exist or is a pull request\n", "{command}");
    }
    let history = world.hob(&["explain", "99", "--history"]).await;
    assert!(history.code == 4 && history.stderr.contains("99"), "{history:?}");
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn the_agent_of_the_flag_wins_over_label_and_settings() {
    let world = World::fixing().script("other", "echo other > done.txt; echo by the other").start().await;
    world.opens("ann", "Who works", "", &["code", "agent:fixer"]).await;
    let ended = world.hob(&["run", "--once", "--agent", "other"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(world.pull().await["body"].as_str().unwrap().contains("by the other"));
    world.finish().await;
}

#[tokio::test]
async fn a_run_with_a_limit_of_issues_or_time_begins_no_more() {
    let world = World::fixing().start().await;
    for n in 0..3 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    assert_eq!(world.hob(&["run", "--time", "0s"]).await.code, 0);
    assert!(world.pulls().await.is_empty());
    assert_eq!(world.hob(&["run", "--limit", "2"]).await.code, 0);
    assert_eq!(world.pulls().await.len(), 2);
    world.finish().await;
}
