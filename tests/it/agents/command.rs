//! The command backend: any program that edits the folder.

use hob_domain::{FailureClass, Spend};

use super::*;

/// An agent that runs `script` with `sh`.
pub(super) fn sh(script: &str) -> Arc<dyn AgentBackend> {
    sh_with(script, "", &Environment::new())
}

fn sh_with(script: &str, settings: &str, variables: &Environment) -> Arc<dyn AgentBackend> {
    let text = format!("backend = 'command'\ncommand = ['sh', '-c', '''{script}''']\n{settings}");
    let agents = [("test".to_owned(), toml::from_str(&text).unwrap())].into();
    let parts = AgentParts { agents, variables: variables.clone(), ..AgentParts::default() };
    Registry::new(parts).unwrap().get("test").unwrap()
}

#[tokio::test]
async fn a_program_edits_the_folder_and_exits_well() {
    let mut bench = Bench::new(&[("a.txt", "hello")]);
    let report = bench.run(&sh("cat > prompt.txt; echo bye > a.txt; echo changed the greeting")).await;
    assert_eq!(report.outcome, Outcome::done("changed the greeting"));
    assert_eq!((bench.read("prompt.txt"), bench.read("a.txt")), ("Change the greeting.".into(), "bye\n".into()));
    assert_eq!(bench.said(), ["sh works on issue 7", "changed the greeting"]);
}

#[tokio::test]
async fn the_last_json_line_names_the_outcome_and_the_bill() {
    let bench = Bench::new(&[]);
    let line = r#"echo log; echo "{\"outcome\":\"question\",\"question\":\"Which one?\",\"usd\":0.25,\"input_tokens\":7,\"output_tokens\":3}""#;
    let report = bench.run(&sh(line)).await;
    assert_eq!(report.outcome, Outcome::Question { question: "Which one?".into() });
    let spend = Spend { wall_seconds: 0, ..report.spend };
    assert_eq!(spend, Spend { usd_micros: 250_000, input_tokens: 7, output_tokens: 3, wall_seconds: 0 });
}

#[tokio::test]
async fn an_exit_code_wins_over_a_claim_of_success() {
    let bench = Bench::new(&[]);
    let report = bench.run(&sh(r#"echo "no model" >&2; echo "{\"outcome\":\"done\"}"; exit 3"#)).await;
    assert_eq!(failure(&report.outcome), ("`sh` ended with exit code 3: no model", &FailureClass::Permanent));
}

#[tokio::test]
async fn a_killed_program_is_worth_another_try() {
    let report = Bench::new(&[]).run(&sh("kill -9 $$")).await;
    assert_eq!(failure(&report.outcome), ("signal 9 ended `sh`", &FailureClass::Unfinished));
}

#[tokio::test]
async fn a_program_that_never_ends_is_ended_with_its_children() {
    let mut bench = Bench::new(&[]);
    bench.request.time = Duration::from_secs(1);
    let report = bench.run(&sh("sleep 600 & echo $! > child; wait")).await;
    let (reason, class) = failure(&report.outcome);
    assert!(reason.contains("ran out of time after"), "{reason}");
    assert_eq!(class, &FailureClass::Unfinished);
    let child = bench.read("child");
    // The signal is sent before the run returns; the kernel may still be at work on it.
    let alive = |_: &u32| {
        std::thread::yield_now();
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    assert!((0..1_000_000).find(|tick| !alive(tick)).is_some(), "the child lives");
}

#[tokio::test]
async fn a_cancelled_run_says_so() {
    let bench = Bench::new(&[]);
    bench.context.cancel.cancel();
    let report = bench.run(&sh("sleep 600")).await;
    assert_eq!(failure(&report.outcome).1, &FailureClass::Cancelled);
}

/// Attack corpus G82.
#[tokio::test]
async fn a_program_gets_the_allow_list_its_named_variables_and_no_token() {
    let mut bench = Bench::new(&[]);
    bench.context.environment.insert("GH_TOKEN".into(), "secret".into());
    let variables: Environment =
        ["WANTED", "UNWANTED", "GITHUB_TOKEN", "HOB__FORGE__TOKEN"].map(|name| (name.into(), "value".into())).into();
    let agent = sh_with(
        "env | cut -d= -f1 | sort > names",
        "env = ['WANTED', 'GITHUB_TOKEN', 'HOB__FORGE__TOKEN']",
        &variables,
    );
    bench.run(&agent).await;
    let names = bench.read("names");
    let names: Vec<_> = names.lines().filter(|name| !matches!(*name, "PWD" | "SHLVL" | "_" | "OLDPWD")).collect();
    let own = ["GIT_CONFIG_NOSYSTEM", "HOB_AGENT_RUN", "HOB_ISSUE", "HOB_PURPOSE", "HOB_REPOSITORY", "HOB_RUN"];
    assert_eq!(names, [&own[..], &["HOME", "PATH", "TMPDIR", "WANTED"]].concat());
}

#[tokio::test]
async fn the_prompt_stands_where_the_argument_says_or_last() {
    let mut bench = Bench::new(&[]);
    bench.request.brief = "--force $(touch pwned) \0 `x`".into();
    for command in [
        "['sh', '-c', 'printf %s \"$2\" > out', 'sh', '-y', '{prompt}', 'after']",
        "['sh', '-c', 'printf %s \"$1\" > out', 'sh']",
    ] {
        let agent = registry(&format!("[agents.a]\nbackend = 'command'\nprompt = 'argument'\ncommand = {command}"));
        bench.run(&agent.get("a").unwrap()).await;
        assert_eq!(bench.read("out"), "\n--force $(touch pwned)  `x`");
        assert!(!bench.path().join("pwned").exists());
    }
}

#[test]
fn a_prompt_that_a_shell_would_run_is_refused() {
    let registry = registry("[agents.a]\nbackend = 'command'\ncommand = ['sh', '-c', 'aider {prompt}']");
    assert!(registry.get("a").err().unwrap().to_string().contains("run as code"));
}

#[tokio::test]
async fn a_prompt_too_long_for_an_argument_is_an_error_that_says_what_to_do() {
    let mut bench = Bench::new(&[]);
    bench.request.brief = "x".repeat(200_000);
    let agent = registry("[agents.a]\nbackend = 'command'\ncommand = ['true', '{prompt}']").get("a").unwrap();
    let error = agent.run(&bench.request, &bench.context).await.unwrap_err();
    assert!(error.reason.contains("prompt = \"stdin\""), "{}", error.reason);
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let bench = Bench::new(&[]);
    let agent = registry("[agents.a]\nbackend = 'command'\ncommand = ['no-such-agent']").get("a").unwrap();
    let error = agent.run(&bench.request, &bench.context).await.unwrap_err();
    assert!(error.reason.contains("no-such-agent") && error.failure == FailureClass::Misconfigured);
}

#[tokio::test]
async fn a_flood_of_output_is_bounded_and_its_end_is_read() {
    let report = Bench::new(&[])
        .run(&sh(r#"yes | head -c 3000000; echo; echo "{\"outcome\":\"nothing_to_do\",\"reason\":\"fine\"}""#))
        .await;
    assert_eq!(report.outcome, Outcome::NothingToDo { reason: "fine".into() });
}
