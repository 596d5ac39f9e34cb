//! Other agents' command lines, run for real against a scripted model on this machine.
//!
//! A program is run when `HOB_AGENTS_DIR` names a folder in which `scripts/agents.py` installed it; without that, these
//! tests have nothing to run. The rest needs no program.

use std::{collections::BTreeMap, path::PathBuf};

use hob::{
    config::{AdapterName, AgentSettings, BackendKind, ModelAccess},
    domain::FailureClass,
    scripted_model::{Fault, INPUT_TOKENS, OUTPUT_TOKENS, Running, Script, Times, serve},
};

use super::*;

/// A known command line in a folder, with a model that plays a script.
struct Real {
    bench: Bench,
    server: Running,
    homes: tempfile::TempDir,
    agent: Arc<dyn AgentBackend>,
}

/// Where `scripts/agents.py` put the program, where it did.
fn installed(name: AdapterName) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("HOB_AGENTS_DIR")?).join(name.as_str());
    let program = if name == AdapterName::MiniSweAgent { "mini" } else { name.as_str() };
    let places = [folder.join("node_modules/.bin").join(program), folder.join("bin").join(program)];
    places.into_iter().find(|place| place.is_file())
}

/// A model's name as the program takes it, so that it asks the server here.
fn model(name: AdapterName) -> &'static str {
    match name {
        AdapterName::Claude => "claude-sonnet-4-5",
        AdapterName::Gemini => "gemini-2.5-pro",
        AdapterName::Codex | AdapterName::Copilot => "gpt-5.1",
        AdapterName::Opencode
        | AdapterName::Aider
        | AdapterName::Goose
        | AdapterName::Pi
        | AdapterName::MiniSweAgent => "openai/scripted",
    }
}

impl Real {
    /// None where the program is not there.
    async fn new(name: AdapterName, script: Script) -> Option<Self> {
        let program = installed(name)?;
        let server = serve(script, |_| {}).await.unwrap();
        let mut bench = Bench::new(&[("README.md", "A repository.\n")]);
        bench.context.environment = hob::config::child_environment();
        bench.request.brief = "Write `hello` into greeting.txt.".into();
        let git = |words: &[&str]| {
            let done = std::process::Command::new("git").args(words).current_dir(bench.path()).output().unwrap();
            assert!(done.status.success(), "{words:?}");
        };
        git(&["init", "--quiet"]);
        git(&["add", "--all"]);
        git(&["-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--message", "first"]);
        let settings = AgentSettings {
            backend: BackendKind::Adapter(name),
            command: vec![program.display().to_string()],
            model: Some(model(name).to_owned()),
            ..AgentSettings::default()
        };
        let homes = tempfile::tempdir().unwrap();
        let agent = registry_at(&server, homes.path(), BTreeMap::from([(name.to_string(), settings)]));
        let agent = agent.get(name.as_str()).unwrap();
        Some(Self { bench, server, homes, agent })
    }

    /// Nothing of the run is left: no process that names its home, no home, no file but the work.
    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(self.homes.path()).unwrap().count(), 0, "a home is left");
        let homes = self.homes.path().as_os_str().as_encoded_bytes();
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

fn registry_at(server: &Running, homes: &Path, agents: BTreeMap<String, AgentSettings>) -> Registry {
    let variables =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"].map(|name| (name.into(), "key-of-a-test".into()));
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

/// The program does the work, its tokens are counted, its end is understood, and nothing of it is left.
async fn does_the_work(name: AdapterName) {
    // A child in a session of its own, to see it end too.
    let command = "echo hello > greeting.txt; setsid sleep 600 > /dev/null 2>&1 &";
    let script = Script::new([command]).edit("greeting.txt", "hello");
    let Some(real) = Real::new(name, script).await else { return };
    let report = real.bench.run(&real.agent).await;
    let Outcome::Done { summary } = &report.outcome else { panic!("{name}: {:?}", report.outcome) };
    assert!(!summary.is_empty(), "{name}");
    assert_eq!(real.bench.read("greeting.txt").trim(), "hello", "{name}");
    let replies = real.server.replies() as u64;
    let tokens = (report.spend.input_tokens, report.spend.output_tokens);
    assert_eq!(tokens, (replies * INPUT_TOKENS, replies * OUTPUT_TOKENS), "{name}: {:?}", real.server.seen());
    real.assert_clean();
}

/// What comes of a quota that is used up.
async fn quota(name: AdapterName) -> Option<FailureClass> {
    let script = Script::new(["true"]).edit("greeting.txt", "hello");
    let script = script.fault(0, Fault::Quota(Duration::from_secs(3_600)), Times::Always);
    let mut real = Real::new(name, script).await?;
    real.bench.request.time = Duration::from_secs(40);
    let report = real.bench.run(&real.agent).await;
    let (reason, class) = failure(&report.outcome);
    assert!(reason.contains("quota") || reason.contains("out of") || reason.contains("not done"), "{name}: {reason}");
    real.assert_clean();
    Some(class.clone())
}

/// A test that the program `$name` does the work, and one of what its quota means.
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

// Where a service says that there is no quota and no money, waiting does not help: a person is needed. A rate limit passes.
real!(Claude, claude_does_the_work, a_rate_limit_ends_claude_for_now, FailureClass::Transient { .. });
real!(Codex, codex_does_the_work, a_used_up_quota_of_codex_needs_a_person, FailureClass::NeedsHuman);
real!(Copilot, copilot_does_the_work, a_used_up_quota_of_copilot_needs_a_person, FailureClass::NeedsHuman);
real!(Gemini, gemini_does_the_work, a_used_up_quota_ends_gemini_for_now, FailureClass::Transient { .. });
real!(Opencode, opencode_does_the_work, a_used_up_quota_ends_opencode, _);
real!(Pi, pi_does_the_work, a_used_up_quota_ends_pi, _);
real!(Aider, aider_does_the_work, a_used_up_quota_of_aider_needs_a_person, FailureClass::NeedsHuman);
real!(
    MiniSweAgent,
    mini_swe_agent_does_the_work,
    a_used_up_quota_of_mini_swe_agent_needs_a_person,
    FailureClass::NeedsHuman
);
