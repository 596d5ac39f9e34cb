//! In a job of GitHub Actions: groups, annotations, and a step summary that says what held a run back.

use http::Method;
use serde_json::json;

use crate::harness::{Ended, World};

/// A pass in a job; how it ended, and the step summary.
async fn job(world: &World, args: &[&str], changes: &[(&str, &str)]) -> (Ended, String) {
    let summary = world.dir().join("summary.md");
    std::fs::remove_file(&summary).ok();
    let path = summary.display().to_string();
    let mut variables = vec![("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", path.as_str())];
    variables.extend(changes);
    let ended = world.hob_with(&[&["run", "--once"], args].concat(), &variables).await;
    (ended, std::fs::read_to_string(&summary).unwrap_or_default())
}

/// The annotations of a job's log.
fn annotations(ended: &Ended) -> Vec<&str> {
    let is_one = |line: &&str| line.starts_with("::error ") || line.starts_with("::warning ");
    ended.stderr.lines().filter(is_one).collect()
}

#[tokio::test]
async fn a_kill_switch_is_what_the_summary_tells() {
    let world = World::fixing().start().await;
    for n in 0..2 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    assert_eq!(world.hob(&["pause", "--all", "-m", "too dear"]).await.code, 0);
    let (ended, summary) = job(&world, &[], &[]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let why = "hob paused the repository (too dear); `hob resume --all` resumes it";
    assert_eq!(annotations(&ended), [format!("::warning title=Hob%3A issues are held back::#1, #2: {why}")]);
    let told =
        summary.split("\n<details>").next().unwrap().replace(&world.forge.server_url(), "https://github.example");
    insta::assert_snapshot!(told, @r"
    ## Hob

    Nothing was done: the issues below are waiting.

    ### Held back

    - [#1](https://github.example/acme/site/issues/1), [#2](https://github.example/acme/site/issues/2): hob paused the repository (too dear); `hob resume --all` resumes it
    ");
    assert!(ended.stderr.contains(&format!("2 held back: {why}")), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_limits_of_the_hour_and_of_open_pull_requests_are_told() {
    for (setting, why) in [
        ("limits.issues_per_hour=1", "1 issue was claimed within the hour, the limit"),
        ("limits.open_pulls=1", "1 pull request is open or being made, the limit"),
    ] {
        let world = World::fixing().start().await;
        for n in 0..2 {
            world.asks(&format!("Chore {n}"), "").await;
        }
        let (first, summary) = job(&world, &["--set", setting], &[]).await;
        assert_eq!(first.code, 0, "{first:?}");
        assert!(
            summary.contains("Hob opened or updated 1 pull request.") && summary.contains("### Held back"),
            "{summary}"
        );
        let (second, summary) = job(&world, &["--set", setting], &[]).await;
        assert!(summary.contains("Nothing was done") && summary.contains(why), "{summary}");
        assert!(summary.contains("/acme/site/issues/1) Chore 0: its pull request #"), "{summary}");
        assert!(annotations(&second)[0].contains(why), "{second:?}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_token_that_is_refused_fails_the_step_and_the_summary_says_so() {
    let world = World::fixing().start().await;
    let (ended, summary) = job(&world, &[], &[("GITHUB_TOKEN", "stolen")]).await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(summary.starts_with("\n## Hob failed\n\nthe forge does not accept the token"), "{summary}");
    let [error] = annotations(&ended)[..] else { panic!("{ended:?}") };
    assert!(error.starts_with("::error title=Hob::the forge does not accept the token"), "{error}");
    let (ended, summary) = job(&world, &["--set", "limits.nothing=1"], &[]).await;
    assert!(ended.code == 2 && summary.contains("unknown setting"), "{ended:?} {summary}");
    world.finish().await;
}

#[tokio::test]
async fn nothing_to_do_is_told_and_annotates_nothing() {
    let world = World::fixing().start().await;
    let (ended, summary) = job(&world, &[], &[]).await;
    assert!(summary.starts_with("## Hob\n\nNothing to do: no open issue has the trigger label.\n"), "{summary}");
    assert_eq!(annotations(&ended), [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_base_that_is_red_is_told_where_the_work_was_not_published() {
    let world = World::fixing().check("false").set("testing.limits.check_rounds", "0").start().await;
    world.asks("Make done.txt", "").await;
    let (ended, summary) = job(&world, &[], &[]).await;
    assert!(
        summary.contains("/acme/site/issues/1) Make done.txt: 0 of 1 checks pass on the base, before any change"),
        "{summary}"
    );
    let red = "::warning title=Hob%3A the checks fail on the base::#1: 0 of 1 checks pass before any change";
    assert!(annotations(&ended).contains(&red), "{ended:?}");
    world.finish().await;
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let (ended, summary) = job(&world, &[], &[]).await;
    assert!(
        !summary.contains("before any change") && annotations(&ended).is_empty(),
        "red before, green after: {summary}"
    );
    world.finish().await;
}

/// Attack corpus H85, J117: an issue's text never becomes a command of the job that works on it.
#[tokio::test]
async fn hostile_text_is_no_workflow_command() {
    let hostile = "Which?\\n::error::mine\\n::set-output name=x::y\\r##[add-mask]z";
    let script =
        format!(r#"printf '%s\n' '::add-mask::a' '##[add-path]b' '{{"outcome":"question","question":"{hostile}"}}'"#);
    let world = World::fixing().script("fixer", &script).start().await;
    let title = "x\n::error::title";
    world
        .call(
            "ann",
            Method::POST,
            "/issues",
            json!({ "title": title, "body": "::stop-commands::x", "labels": ["code"] }),
        )
        .await;
    let (ended, summary) = job(&world, &["-v"], &[]).await;
    let lines: Vec<&str> = ended.stderr.lines().chain(ended.stdout.lines()).collect();
    let commands: Vec<_> = lines.iter().filter(|line| line.trim_start().starts_with("::")).collect();
    let token = commands[1].strip_prefix("::stop-commands::").unwrap();
    assert_eq!(commands[0], &"::group::#1");
    assert_eq!(commands[2], &format!("::{token}::"));
    assert_eq!(commands[3], &"::endgroup::");
    assert_eq!(commands.len(), 6, "{commands:?}");
    assert!(commands[4].starts_with("::warning title=Hob%3A #1 is blocked::"), "{commands:?}");
    assert!(commands[5].starts_with("::warning title=Hob%3A the checks fail on the base::"), "{commands:?}");
    assert!(lines.iter().all(|line| !line.contains("##[")), "{lines:?}");
    assert!(summary.contains("**blocked**"), "{summary}");
    let asked = world.hob_with(&["explain", "1"], &[("GITHUB_ACTIONS", "true")]).await;
    assert!(
        asked.stdout.lines().all(|line| !line.trim_start().starts_with("::") && !line.contains("##[")),
        "{asked:?}"
    );
    world.finish().await;
}
