//! Other agents' command lines, run for real against a scripted model on this machine.
//!
//! A program is run when `HOB_AGENTS_DIR` names a folder in which `scripts/agents.sh` installed it; without that, these
//! tests have nothing to run, and say `skipped: …`. The rest needs no program.

use std::{collections::BTreeMap, path::PathBuf};

use hob_bench::{Fault, INPUT_TOKENS, OUTPUT_TOKENS, Running, Script, Times, serve};
use hob_config::{AdapterName, AgentSettings, BackendKind, ModelAccess};
use hob_domain::FailureClass;

use super::*;
use crate::harness::{script, skipped};

/// A known command line that is installed, with a model that plays a script.
pub(super) struct Installed {
    pub(super) agent: Arc<dyn AgentBackend>,
    server: Running,
    homes: tempfile::TempDir,
}

/// It in a folder.
struct Real {
    bench: Bench,
    installed: Installed,
}

/// Where `scripts/agents.sh` put the program, where it did.
fn installed(name: AdapterName) -> Option<PathBuf> {
    installed_as(name.as_str(), hob_agent::adapter_program(name))
}

/// Where it put `program` of the agent `name`.
pub(super) fn installed_as(name: &str, program: &str) -> Option<PathBuf> {
    let (_, agents) = std::env::vars_os().find(|(name, _)| name == "HOB_AGENTS_DIR")?;
    let folder = PathBuf::from(agents).join(name);
    let places = [folder.join("node_modules/.bin").join(program), folder.join("bin").join(program)];
    places.into_iter().find(|place| place.is_file())
}

/// A model's name as the program takes it, so that it asks the server here.
fn model(name: AdapterName) -> &'static str {
    match name {
        AdapterName::Claude => "claude-sonnet-4-5",
        AdapterName::Gemini => "gemini-2.5-pro",
        AdapterName::Codex | AdapterName::Copilot => "gpt-5.1",
        // Any server that is compatible with OpenAI's.
        _ => "openai/scripted",
    }
}

impl Installed {
    /// `None` if the program is not there.
    pub(super) async fn new(name: AdapterName, script: Script) -> Option<Self> {
        let Some(program) = installed(name) else {
            skipped(&format!("{name} is not installed"));
            return None;
        };
        let server = serve(script, |_| {}).await.unwrap();
        let settings = AgentSettings {
            backend: BackendKind::Adapter(name),
            command: vec![program.display().to_string()],
            model: Some(model(name).to_owned()),
            ..AgentSettings::default()
        };
        let homes = tempfile::tempdir().unwrap();
        let agents = registry_at(&server, homes.path(), BTreeMap::from([(name.to_string(), settings)]));
        Some(Self { agent: agents.get(name.as_str()).unwrap(), server, homes })
    }
}

impl Real {
    /// `None` if the program is not there.
    async fn new(name: AdapterName, script: Script) -> Option<Self> {
        let installed = Installed::new(name, script).await?;
        let mut bench = Bench::new(&[("README.md", "A repository.\n")]);
        bench.context.environment = hob_config::child_environment();
        bench.request.brief = "Write `hello` into greeting.txt.".into();
        git2::Repository::init(bench.path()).unwrap();
        Some(Self { bench, installed })
    }

    /// Nothing of the run is left: no process that names its home, no home, no file but the work.
    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(self.installed.homes.path()).unwrap().count(), 0, "a home is left");
        let homes = self.installed.homes.path().as_os_str().as_encoded_bytes();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let ours = environment.windows(homes.len()).any(|part| part == homes);
            assert!(!ours, "a process is left: {:?}", fs::read_to_string(entry.path().join("comm")));
        }
        let files = fs::read_dir(self.bench.path()).unwrap().flatten();
        let mut files: Vec<_> = files.map(|file| file.file_name().into_string().unwrap()).collect();
        files.retain(|name| !matches!(name.as_str(), ".git" | "README.md" | "greeting.txt"));
        assert!(files.is_empty(), "left in the folder: {files:?}");
    }
}

pub(super) fn registry_at(server: &Running, homes: &Path, agents: BTreeMap<String, AgentSettings>) -> Registry {
    let variables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"].map(|name| (name.into(), KEY.into()));
    let mut variables = Environment::from(variables);
    variables.insert("GOOGLE_GEMINI_BASE_URL".into(), server.address().into());
    Registry::new(AgentParts {
        agents,
        homes: Some(homes.to_owned()),
        variables,
        access: ModelAccess {
            openai_base_url: Some(format!("{}/v1", server.address())),
            anthropic_base_url: Some(server.address().to_owned()),
            ..ModelAccess::default()
        },
        ..AgentParts::default()
    })
    .unwrap()
}

/// The program does the work, its tokens are counted, its end is parsed, and nothing of it is left.
async fn does_the_work(name: AdapterName) {
    // A child in its own session, to see it end too.
    let command = "echo hello > greeting.txt; setsid sleep 600 > /dev/null 2>&1 &";
    let script = Script::new([command]).edit("greeting.txt", "hello");
    let Some(real) = Real::new(name, script).await else { return };
    let report = real.bench.run(&real.installed.agent).await;
    let Outcome::Done { summary, .. } = &report.outcome else { panic!("{name}: {:?}", report.outcome) };
    assert!(!summary.is_empty(), "{name}");
    assert_eq!(real.bench.read("greeting.txt").trim(), "hello", "{name}");
    let replies = real.installed.server.replies() as u64;
    let tokens = (report.spend.input_tokens, report.spend.output_tokens);
    assert_eq!(tokens, (replies * INPUT_TOKENS, replies * OUTPUT_TOKENS), "{name}: {:?}", real.installed.server.seen());
    real.assert_clean();
}

/// The failure of a used-up quota.
async fn quota(name: AdapterName) -> Option<FailureClass> {
    let script = Script::new(["true"]).edit("greeting.txt", "hello");
    let script = script.fault(0, Fault::Quota(Duration::from_secs(3_600)), Times::Always);
    let mut real = Real::new(name, script).await?;
    real.bench.request.time = Duration::from_secs(40);
    let report = real.bench.run(&real.installed.agent).await;
    let (reason, class) = failure(&report.outcome);
    assert!(reason.contains("quota") || reason.contains("out of") || reason.contains("not done"), "{name}: {reason}");
    real.assert_clean();
    Some(class.clone())
}

/// A test that the program `$name` does the work, and one for its quota.
macro_rules! real {
    ($name:ident, $work:ident, $quota:ident, $class:pat) => {
        #[tokio::test]
        async fn $work() {
            does_the_work(AdapterName::$name).await;
        }

        #[tokio::test]
        async fn $quota() {
            let class = quota(AdapterName::$name).await;
            assert!(matches!(class, None | Some($class)), "{class:?}");
        }
    };
}

// If a service reports no quota and no money, waiting does not help: a person is needed. A rate limit passes.
real!(Claude, claude_does_the_work, a_rate_limit_ends_claude_for_now, FailureClass::QuotaExhausted { .. });
real!(Codex, codex_does_the_work, a_used_up_quota_of_codex_needs_a_person, FailureClass::Misconfigured);
real!(Copilot, copilot_does_the_work, a_used_up_quota_of_copilot_needs_a_person, FailureClass::Misconfigured);
real!(Gemini, gemini_does_the_work, a_used_up_quota_ends_gemini_for_now, FailureClass::QuotaExhausted { .. });
real!(Opencode, opencode_does_the_work, a_used_up_quota_ends_opencode, _);
real!(Pi, pi_does_the_work, a_used_up_quota_ends_pi, _);
real!(Aider, aider_does_the_work, a_used_up_quota_of_aider_needs_a_person, FailureClass::Misconfigured);
real!(
    MiniSweAgent,
    mini_swe_agent_does_the_work,
    a_used_up_quota_of_mini_swe_agent_needs_a_person,
    FailureClass::Misconfigured
);

/// One line tells how much of this file ran: the lines above appear between those of other tests.
#[test]
fn programs_that_are_not_installed_are_counted() {
    let missing: Vec<_> =
        AdapterName::ALL.iter().filter(|name| installed(**name).is_none()).map(ToString::to_string).collect();
    if !missing.is_empty() {
        let all = AdapterName::ALL.len();
        skipped(&format!("{} of {all} agents' programs are not installed: {}", missing.len(), missing.join(", ")));
    }
}

/// What opens the models' services in these tests.
const KEY: &str = "key-of-a-test";

/// A stand-in for `claude`: it prints the version, and runs `does`.
fn stand_in(folder: &Path, version: &str, does: &str) -> PathBuf {
    let path = folder.join("claude");
    script(&path, &format!("if [ \"$1\" = --version ]; then echo '{version} (Claude Code)'; exit; fi\n{does}"));
    path
}

/// A registry whose `claude` is the stand-in; its home is below the same folder.
fn with_stand_in(folder: &Path, version: &str, script: &str) -> Registry {
    registry_of((AdapterName::Claude, &stand_in(folder, version, script)), folder, AgentSettings::default())
}

/// A registry in which the program stands for the adapter's; its home is below the folder.
pub(super) fn registry_of((name, program): (AdapterName, &Path), folder: &Path, settings: AgentSettings) -> Registry {
    let command = vec![program.display().to_string()];
    let settings = AgentSettings { backend: BackendKind::Adapter(name), command, ..settings };
    let variables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"].map(|name| (name.into(), KEY.into())).into();
    let homes = Some(folder.join("homes"));
    let agents = [(name.to_string(), settings)].into();
    Registry::new(AgentParts { agents, variables, homes, ..AgentParts::default() }).unwrap()
}

#[tokio::test]
async fn a_known_name_needs_no_settings_and_a_missing_program_is_answered_with_how_to_install_it() {
    let mut bench = Bench::new(&[]);
    bench.context.environment.insert("PATH".into(), "/nowhere".into());
    for name in AdapterName::ALL {
        let agent = registry("").get(name.as_str()).unwrap();
        let error = agent.run(&bench.request, &bench.context).await.unwrap_err();
        assert!(error.reason.contains("is not on the path: install it with"), "{error}");
        assert_eq!(error.failure, FailureClass::Misconfigured);
    }
}

#[tokio::test]
async fn a_program_that_is_too_old_is_not_run() {
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    let agent = with_stand_in(place.path(), "1.9.9", "touch ran").get("claude").unwrap();
    let error = agent.run(&bench.request, &bench.context).await.unwrap_err().reason;
    assert!(error.contains("version 1.9.9") && error.contains("npm install -g @anthropic-ai/claude-code"), "{error}");
    assert!(!bench.path().join("ran").exists());
}

#[tokio::test]
async fn a_program_gets_an_empty_home_its_own_keys_and_nothing_else() {
    let (mut bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    for (name, value) in [("HOME", "/root"), ("GITHUB_TOKEN", "secret")] {
        bench.context.environment.insert(name.into(), value.into());
    }
    let script =
        "env | cut -d= -f1 | sort > names; ls -A \"$HOME\" > home; echo \"$HOME\" > where; cat > prompt; env > all";
    let agent = with_stand_in(place.path(), "2.1.0", script).get("claude").unwrap();
    bench.run(&agent).await;
    let names = bench.read("names");
    let names: Vec<_> = names.lines().filter(|name| !matches!(*name, "PWD" | "SHLVL" | "_" | "OLDPWD")).collect();
    let wanted = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "GIT_CONFIG_NOSYSTEM",
        "HOB_AGENT_RUN",
        "HOB_ISSUE",
        "HOB_REPOSITORY",
        "HOB_RUN",
        "HOME",
        "NO_COLOR",
        "PATH",
        "TMPDIR",
    ];
    assert_eq!(names, wanted);
    let all = bench.read("all");
    assert!(all.contains("ANTHROPIC_API_KEY=hob-adds-the-key\n") && !all.contains(KEY), "{all}");
    assert_eq!(bench.read("home"), ".gitconfig\ntmp\n");
    assert!(bench.read("where").starts_with(&place.path().join("homes").display().to_string()));
    assert_eq!(fs::read_dir(place.path().join("homes")).unwrap().count(), 0);
    assert!(bench.read("prompt").starts_with("Change the greeting."));
}

#[tokio::test]
async fn a_last_line_of_json_in_the_closing_words_is_a_question() {
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    let said = r#"{"type":"result","is_error":false,"result":"Hm.\n{\"outcome\":\"question\",\"question\":\"Which?\"}","usage":{}}"#;
    let agent =
        with_stand_in(place.path(), "2.1.0", &format!("cat > /dev/null; cat <<'E'\n{said}\nE")).get("claude").unwrap();
    assert_eq!(bench.run(&agent).await.outcome, Outcome::Question { question: "Which?".into() });
}

#[tokio::test]
async fn a_program_that_waits_for_its_quota_is_ended_and_tried_later() {
    let (bench, place) = (Bench::new(&[]), tempfile::tempdir().unwrap());
    let retry =
        r#"{"type":"system","subtype":"api_retry","error_status":429,"retry_delay_ms":3600000,"error":"rate_limit"}"#;
    let script = format!("cat > /dev/null; echo '{retry}'; sleep 600");
    let agent = with_stand_in(place.path(), "2.1.0", &script).get("claude").unwrap();
    let report = bench.run(&agent).await;
    let later = FailureClass::QuotaExhausted { reset_after: Some(Duration::from_secs(3_600)) };
    assert_eq!(failure(&report.outcome).1, &later);
}

/// Hob's own agent speaks both of its interfaces with the scripted model.
#[tokio::test]
async fn hobs_own_agent_plays_the_script_on_either_interface_and_survives_each_fault() {
    for model in ["openai/scripted", "anthropic/scripted"] {
        for fault in std::iter::once(None).chain(Fault::PASSING.map(Some)) {
            let mut script = Script::new((0..3).map(|step| format!("echo {step} >> steps.txt")));
            if let Some(fault) = fault {
                script = script.fault(1, fault, Times::Once);
            }
            let server = serve(script, |_| {}).await.unwrap();
            let bench = Bench::new(&[]);
            let model_settings = hob_config::ModelSettings {
                default: Some(model.into()),
                backoff: Duration::ZERO,
                ..hob_config::ModelSettings::default()
            };
            let access = ModelAccess {
                openai_base_url: Some(format!("{}/v1", server.address())),
                anthropic_base_url: Some(server.address().to_owned()),
                ..ModelAccess::default()
            };
            let parts = AgentParts { model: model_settings, access, ..AgentParts::default() };
            let report = bench.run(&Registry::new(parts).unwrap().get("native").unwrap()).await;
            assert!(matches!(report.outcome, Outcome::Done { .. }), "{model} {fault:?}: {:?}", report.outcome);
            assert_eq!(bench.read("steps.txt"), "0\n1\n2\n", "{model} {fault:?}");
        }
    }
}
