//! The operator is told once what the worker lacks: no issue is touched, and the exit code tells.

use std::sync::Arc;

use github_emulator::{Fault, What, When};
use hob_config::{AgentSettings, BackendKind};
use hob_domain::State;
use hob_worker::{RunLimits, run_once};

use crate::{
    harness::{Builder, Ended, PYTHON, World, executable, needs, script},
    models,
};

/// `hob doctor` and a run over the same world: both end with 6 and say `says`, and the run writes nothing.
async fn both_say(world: &World, flags: &[&str], changes: &[(&str, &str)], says: &str) {
    both_say_and_the_run_ends_with(6, world, flags, changes, says).await;
}

async fn both_say_and_the_run_ends_with(
    code: i32,
    world: &World,
    flags: &[&str],
    changes: &[(&str, &str)],
    says: &str,
) {
    let issue = world.asks("Make done.txt", "").await;
    let doctor = world.hob_with(&[flags, &["doctor"]].concat(), changes).await;
    let told =
        |ended: &Ended| format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told(&doctor).contains(says), "{says}: {doctor:?}");
    assert_eq!(doctor.code, 6, "{doctor:?}");
    let run = world.hob_with(&[flags, &["run", "--once"]].concat(), changes).await;
    assert_eq!(told(&run).matches(says).count(), 1, "{says}: {run:?}");
    assert_eq!(run.code, code, "{run:?}");
    assert_eq!(world.writes(), [], "{says}");
    assert_eq!((world.labels(issue).await, world.record(issue).await), (vec!["code".to_owned()], None));
}

fn ghost() -> AgentSettings {
    AgentSettings { backend: BackendKind::Command, command: vec!["no-such-agent".to_owned()], ..Default::default() }
}

/// A world whose agent asks a model of a service.
fn native() -> Builder {
    World::fixing().set("agent", "native").set("model.default", "openai/scripted")
}

/// Row M5, scenario 4: a repository may name something that is gone. The base agent works, and the doctor says so.
#[tokio::test]
async fn a_repository_that_names_what_is_gone_has_the_base_agent() {
    let profile = "---\nname: docs\ndescription: Documentation\n---\nWrite.\n";
    for (name, says) in [
        ("docs", "ok   profile      `docs` is used, as `.github/hob.toml` says"),
        ("nope", "note profile      no agent `nope`: there are fixer"),
    ] {
        let world = World::fixing().file(".github/agents/docs.md", profile);
        let world = world.file(".github/hob.toml", &format!("agent = '{name}'\n")).start().await;
        let doctor = world.hob(&["doctor"]).await;
        assert!(doctor.code == 0 && doctor.stdout.contains(says), "{doctor:?}");
        let issue = world.asks("Make done.txt", "").await;
        let run = world.hob(&["run", "--once"]).await;
        assert_eq!((run.code, world.record(issue).await.unwrap().state), (0, State::InReview), "{run:?}");
        let is_told = run.stderr.contains("the base agent works: no agent `nope`");
        assert_eq!(is_told, name == "nope", "{run:?}");
        world.finish().await;
    }
}

/// Requirement M5: a damaged profile that the repository names is reported with file, line and cause, not as a missing
/// one.
#[tokio::test]
async fn a_repository_that_names_a_damaged_profile_is_told_where_and_why() {
    let damaged = "---\nname: docs\ndescription: Documentation\nhob: {approve: everything}\n---\nWrite.\n";
    let world = World::fixing().file(".github/agents/docs.md", damaged).file(".github/hob.toml", "agent = 'docs'\n");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    let fault = ".github/agents/docs.md cannot be used: line 4: `approve` is `everything`";
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let doctor = world.hob(&["doctor"]).await;
    let said = one_line(&doctor.stdout);
    assert!(said.contains(&format!("`.github/hob.toml` names `docs`, but the base agent is used: {fault}")), "{said}");
    assert_eq!(said.matches(fault).count(), 1, "{said}");
    let explained = world.hob(&["explain", &issue.to_string()]).await;
    assert!(one_line(&explained.stdout).contains(&format!("profile {fault}")), "{explained:?}");
    let explained = world.hob(&["explain", &issue.to_string(), "--json"]).await.objects().pop().unwrap();
    assert!(explained["result"]["profile"].as_str().unwrap().starts_with(fault), "{explained}");
    let run = world.hob_with(&["run", "--once", "--metrics", "hob.prom"], &[("RUST_LOG", "hob=warn")]).await;
    assert!(run.code == 0 && run.stderr.contains("WARN attempt") && run.stderr.contains(fault), "{run:?}");
    assert!(!run.stderr.contains("no profile of that name"), "{run:?}");
    assert!(world.status(issue).await.contains(&format!("**Warning**: the base agent works: {fault}")));
    let counters = std::fs::read_to_string(world.dir().join("hob.prom")).unwrap();
    for line in [
        "hob_profile_load_errors_total{agent=\"docs\",reason=\"damaged\"} 1",
        "hob_profile_loads_total{agent=\"docs\",result=\"failed\"} 1",
    ] {
        assert!(counters.lines().any(|written| written == line), "{line}\n{counters}");
    }
    let loads = serde_json::to_value(world.repository_record().await.unwrap().failed_loads).unwrap();
    assert_eq!(loads.as_array().unwrap().len(), 1, "the circuit breaker counts it");
    world.finish().await;
}

#[tokio::test]
async fn what_is_missing_is_found_before_the_first_write_by_the_same_looks_as_the_doctors() {
    for (world, says) in [
        (World::fixing().set("agent", "nope"), "no agent `nope`: there are fixer"),
        (World::fixing().agent("ghost", ghost()).set("agent", "ghost"), "start `no-such-agent`"),
        (World::fixing().set("agent", "native"), "it has no model"),
        (World::fixing().set("agent", "native").set("model.default", "openai/o"), "OPENAI_API_KEY"),
        (World::fixing().set("agent", "native").set("model.default", "cassette/x.json"), "x.json"),
        (World::fixing().set("agent", "claude"), "`claude` is not on the path"),
        (
            World::fixing().file(".github/hob.toml", "checks = 3\n"),
            "`.github/hob.toml` on the base branch cannot be used",
        ),
        (World::fixing().file(".github/hob.toml", "protected = ['[a']\n"), "read the protected path `[a`"),
        (World::fixing().file(".github/hob.toml", "checks = ['no-such-check -x']\n"), "`no-such-check` of"),
        (World::fixing().set("testing.workspace.git", "no-such-git"), "run git"),
    ] {
        let world = world.start().await;
        both_say(&world, &[], &[], says).await;
        world.leave();
    }
    let world = native().start().await;
    let key = ("OPENAI_API_KEY", "key");
    both_say(&world, &[], &[key], "the price of `openai/scripted` is not known").await;
    world.leave();
}

/// Refusals by the machine, and by the repository.
#[tokio::test]
async fn a_state_folder_and_a_repository_that_cannot_be_used_are_found_before_the_first_write() {
    let world = World::fixing().start().await;
    std::fs::write(world.dir().join("file"), "").unwrap();
    let state = world.dir().join("file").join("state").display().to_string();
    both_say(&world, &["--state-dir", &state], &[], "Not a directory").await;
    for (status, message, code, says) in [
        (410, "Issues has been disabled in this repository.", 4, "the repository has its issues disabled: enable them"),
        (403, "Resource not accessible by integration", 3, "give it the permission `issues: read`"),
    ] {
        world.forge.inject(Fault {
            method: Some("GET".to_owned()),
            path: "/repos/acme/site/issues".to_owned(),
            login: Some("hob".into()),
            when: When::Always,
            what: What::Answer { status, headers: Default::default(), message: message.to_owned() },
        });
        both_say_and_the_run_ends_with(code, &world, &[], &[], says).await;
        world.forge.heal();
    }
    world.finish().await;
}

/// A revoked key, and an unknown model: both show only at the first request.
#[tokio::test]
async fn a_model_that_refuses_ends_the_claims_and_counts_no_attempt() {
    for status in [401, 404] {
        let world = native().set("budget.issue", "0").set("budget.day", "0").start().await;
        let (first, second) = (world.asks("One", "").await, world.asks("Two", "").await);
        let refusals = std::iter::repeat_with(|| models::Answer::Status(status, &[], "we do not serve you")).take(9);
        let models = models::Server::start(refusals).await;
        let ended = world.hob_with(&["run", "--once"], &[("OPENAI_BASE_URL", &models.base)]).await;
        assert_eq!(ended.code, 6, "{ended:?}");
        assert_eq!(ended.stderr.matches("we do not serve you").count(), 1, "said once: {}", ended.stderr);
        let record = world.record(first).await.unwrap();
        assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
        assert_eq!(world.labels(first).await, ["code"]);
        assert_eq!((world.record(second).await, world.said(second).await.len()), (None, 0));
        world.finish().await;
    }
}

#[tokio::test]
async fn a_wrong_address_of_the_git_server_is_found_before_the_first_write() {
    let world = World::fixing().start().await;
    let doctor = world.hob_with(&["doctor"], &[("GITHUB_SERVER_URL", "http://127.0.0.1:1")]).await;
    assert!(doctor.code == 6 && doctor.stdout.contains("reach the repository"), "{doctor:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_git_that_is_too_old_is_found_before_the_first_write() {
    let world = World::fixing().start().await;
    let path = world.dir().join("old-git");
    script(&path, "echo git version 2.20.1");
    let flag = format!("testing.workspace.git={}", path.display());
    both_say(&world, &["--set", &flag], &[], "git 2.20.1 is too old").await;
    world.leave();
}

/// The agent's program is gone after the first issue.
#[tokio::test]
async fn what_goes_missing_in_the_middle_ends_the_claims_and_counts_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("mayfly");
    script(&program, "echo done > done-$HOB_ISSUE.txt; rm -- \"$0\"");
    let mayfly = AgentSettings { command: vec![program.display().to_string()], ..ghost() };
    let world = World::with_agent("").agent("mayfly", mayfly).set("agent", "mayfly");
    let world = world.set("sandbox.write", &folder.path().display().to_string()).start().await;
    let (first, second, third) =
        (world.asks("One", "").await, world.asks("Two", "").await, world.asks("Three", "").await);
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 6, "{ended:?}");
    let says = "start `";
    assert_eq!(ended.stderr.matches(says).count(), 1, "said once: {}", ended.stderr);
    assert_eq!(world.labels(first).await, ["code", "in-review"]);
    let record = world.record(second).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    assert_eq!(world.labels(second).await, ["code"]);
    assert_eq!((world.record(third).await, world.said(third).await.len()), (None, 0));
    world.finish().await;
}

/// GitHub Actions may be forbidden to open pull requests, which shows only then.
#[tokio::test]
async fn work_that_may_not_be_published_is_kept_and_done_once() {
    let world = World::with_agent("echo done > done.txt").inside(&Arc::default()).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let message = "GitHub Actions is not permitted to create or approve pull requests.".to_owned();
    world.forge.inject(Fault {
        method: Some("POST".to_owned()),
        path: "/repos/acme/site/pulls".to_owned(),
        login: None,
        when: When::First(2),
        what: What::Answer { status: 403, headers: Default::default(), message: message.clone() },
    });
    for _ in 0..2 {
        let summary = run_once(&world.worker("w").await, RunLimits::default()).await;
        let lacks = summary.map_or_else(|error| error.to_string(), |summary| summary.lacks.unwrap().to_string());
        assert!(lacks.contains(&message), "{lacks}");
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.attempts.now), (State::Ready, 0));
    }
    run_once(&world.worker("w").await, RunLimits::default()).await.unwrap();
    assert_eq!(
        (world.labels(issue).await, world.briefs(issue).len()),
        (vec!["code".to_owned(), "in-review".to_owned()], 1)
    );
    world.finish().await;
}

/// A program that the owner of the settings wrote.
fn own_program(folder: &std::path::Path, name: &str, text: &str, mode: u32) -> String {
    let file = folder.join(name);
    executable(&file, text);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    file.display().to_string()
}

fn agent_of(program: String) -> Builder {
    let settings = AgentSettings { backend: BackendKind::Command, command: vec![program], ..Default::default() };
    World::fixing().agent("own", settings).set("agent", "own")
}

/// Field notes N71, N72: a program that cannot start in the sandbox is found before a claim.
#[tokio::test]
async fn a_program_that_does_not_start_in_the_sandbox_is_found_before_an_issue_is_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::copy("/bin/sh", folder.join("interpreter")).unwrap();
    let script = |line: &str| format!("#!{line}\necho done > done.txt\n");
    let hidden = script(&folder.join("interpreter").display().to_string());
    for (program, says) in [
        (own_program(folder, "no-bit", &script("/bin/sh"), 0o644), "no-bit` is not executable: `chmod +x "),
        (
            own_program(folder, "hidden", &hidden, 0o755),
            "interpreter`, which cannot be read in the sandbox: name its folder in",
        ),
        (
            own_program(folder, "none", &script("/no/such/sh"), 0o755),
            "needs `/no/such/sh`, which is not there: install it",
        ),
        (
            own_program(folder, "env", &script("/usr/bin/env no-such-sh"), 0o755),
            "needs `no-such-sh`, which is not on the path",
        ),
    ] {
        let world = agent_of(program).start().await;
        both_say(&world, &[], &[], says).await;
        world.finish().await;
    }
    let world = agent_of(own_program(folder, "well", &script("/bin/sh"), 0o755)).start().await;
    let issue = world.asks("Make done.txt", "").await;
    assert_eq!(world.hob(&["doctor"]).await.code, 0);
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    world.finish().await;
}

/// Field note N71: if an agent's program does not find something, that is the operator's business, not a question to
/// the maintainer.
#[tokio::test]
async fn an_agent_that_finds_no_program_blocks_no_issue() {
    let folder = tempfile::tempdir().unwrap();
    let program = own_program(folder.path(), "own", "#!/bin/sh\nexec no-such-program\n", 0o755);
    let world = agent_of(program).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let run = world.hob(&["run", "--once"]).await;
    assert_eq!(run.code, 6, "{run:?}");
    assert!(run.stderr.contains("`own` does not find a program that it needs (exit code 127: "), "{run:?}");
    assert!(run.stderr.contains("`sandbox.read`"), "{run:?}");
    assert_eq!(
        (world.labels(issue).await, world.record(issue).await.unwrap().attempts.now),
        (vec!["code".to_owned()], 0)
    );
    world.finish().await;
}

/// What a fence refuses a program at its start is known before a check needs it, and does not stop the work: it may do
/// without.
#[tokio::test]
async fn what_the_sandbox_refuses_a_program_at_its_start_is_told_with_what_helps() {
    needs!(PYTHON);
    let folder = tempfile::tempdir().unwrap();
    let script =
        "#!/usr/bin/python3\nimport socket\nsocket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 80))\n";
    own_program(folder.path(), "udp-1", script, 0o755);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let world = World::fixing().file(".github/hob.toml", "checks = ['udp-1 .']\n").start().await;
    let doctor = world.hob_with(&["--set", "sandbox.tier=fence", "doctor"], &[("PATH", &path)]).await;
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says =
        "note checks the sandbox kept `udp-1 --version` from passing: it refused UDP sockets (1×); a box lets it: set";
    assert!(told.contains(says), "{doctor:?}");
    assert_eq!(doctor.code, 0, "{doctor:?}");
    world.finish().await;
}

/// A shim is on the path, and the program behind it is out of reach.
#[tokio::test]
async fn a_check_whose_program_does_not_start_is_found_before_an_issue_is_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = tempfile::tempdir().unwrap();
    let real = own_program(hidden.path(), "real", "#!/bin/sh\necho 1.0\n", 0o755);
    own_program(folder.path(), "shim-1", &format!("#!/bin/sh\nexec {real} \"$@\"\n"), 0o755);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    for file in ["checks = ['shim-1 .']\n", "setup = ['shim-1 .']\n"] {
        let world = World::fixing().file(".github/hob.toml", file).start().await;
        let says = "`shim-1` does not start in the sandbox (exit code 126: ";
        both_say(&world, &[], &[("PATH", &path)], says).await;
        world.finish().await;
    }
}

/// Field notes N90 and N91: a token that `echo` has ended with a line break is taken, and a repository by its address.
#[tokio::test]
async fn a_token_with_a_line_break_and_a_repository_by_its_address_are_taken() {
    let world = World::fixing().start().await;
    let address = format!("{}/acme/site", world.forge.server_url());
    let token = [("GITHUB_TOKEN", "token-of-hob\n")];
    let listed = world.hob_with(&["--repo", &address, "status"], &token).await;
    assert!(listed.code == 0 && listed.stdout.contains("No open issue of acme/site"), "{listed:?}");
    let elsewhere = world.hob_with(&["--repo", "https://github.com/acme/site", "status"], &token).await;
    let told = "`https://github.com/acme/site` is on https://github.com, not on http://127.0.0.1:";
    assert!(elsewhere.code == 2 && elsewhere.stderr.contains(told), "{elsewhere:?}");
    world.finish().await;
}

/// Field note N89: what is over cannot be ended again.
#[tokio::test]
async fn a_request_about_an_issue_that_is_done_says_that_it_is() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let number = issue.to_string();
    assert_eq!(world.hob(&["cancel", &number]).await.code, 0);
    for command in ["cancel", "pause"] {
        let again = world.hob(&[command, &number]).await;
        assert_eq!((again.code, again.stderr), (4, format!("hob: issue {issue} is done: Hob no longer works on it\n")));
    }
    world.finish().await;
}
