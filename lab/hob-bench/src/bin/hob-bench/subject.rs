//! The agents that are measured, and how each is run.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use anyhow::bail;
use hob_agent::{AgentParts, Registry, RunContext, adapter_program, find_adapter};
use hob_config::{AdapterName, AgentSettings, BackendKind, ModelAccess, child_environment};
use hob_domain::Outcome;
use hob_process::{Environment, Program};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{request::request, unusable::Unusable};

/// The task of every agent; the scripted model does not read it.
const BRIEF: &str = "Run the commands that the model names.";

/// One who is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// The floor: a loop without anything.
    BareLoop,
    /// Hob's own agent, in its own process.
    Native,
    /// Another agent's command line, and its path.
    Peer(AdapterName, PathBuf),
}

/// The folders of one run.
pub(super) struct Place<'a> {
    /// The scripted model's address.
    pub(super) model: &'a str,
    /// The folder that is worked in.
    pub(super) folder: &'a Path,
    /// The folder of state and homes.
    pub(super) state: &'a Path,
    /// The time a run has.
    pub(super) time: Duration,
    /// Steps there will be at most.
    pub(super) steps: usize,
}

impl Subject {
    /// Its name in the table.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::BareLoop => "bare loop",
            Self::Native => "hob native",
            Self::Peer(name, _) => name.as_str(),
        }
    }

    /// Whether it takes its commands one by one. aider has no tool that runs a command: it makes one edit and ends.
    pub(super) fn has_steps(&self) -> bool {
        !matches!(self, Self::Peer(AdapterName::Aider, _))
    }

    /// Runs it to its end; whether it reports that the work is done, or what it reports instead.
    pub(super) async fn run(&self, place: &Place<'_>) -> anyhow::Result<()> {
        match self {
            Self::BareLoop => {
                let base = format!("{}/v1", place.model);
                own(place, ["bare-loop", "--base", &base]).await
            }
            Self::Native => {
                let turns = format!("agents.native.max_iterations={}", place.steps + 10);
                own(place, ["--set", &turns, "--set", "model.default=openai/scripted", "run-agent", "native"]).await
            }
            Self::Peer(name, program) => peer(*name, program, place).await,
        }
    }
}

/// Runs this program itself with `arguments` and the folder.
async fn own<const N: usize>(place: &Place<'_>, arguments: [&str; N]) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    let finished = Program::of_hob(program, &child_environment())
        .arg("--state-dir")
        .arg(place.state)
        .args(arguments)
        .arg("--folder")
        .arg(place.folder)
        .env("OPENAI_BASE_URL", format!("{}/v1", place.model))
        .stdin(BRIEF)
        .deadline(place.time)
        .run(&CancellationToken::new())
        .await?;
    if finished.exit.is_success() { Ok(()) } else { bail!("{}: {}", finished.exit, finished.stderr.text().trim()) }
}

async fn peer(name: AdapterName, program: &Path, place: &Place<'_>) -> anyhow::Result<()> {
    let settings = AgentSettings {
        backend: BackendKind::Adapter(name),
        command: vec![program.display().to_string()],
        model: Some(model(name).to_owned()),
        ..AgentSettings::default()
    };
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    let mut variables: Environment = keys.map(|key| (key.into(), "no-key-is-needed".into())).into();
    variables.insert("GOOGLE_GEMINI_BASE_URL".into(), place.model.into());
    let parts = AgentParts {
        agents: BTreeMap::from([(name.to_string(), settings)]),
        homes: Some(place.state.join("homes")),
        variables,
        access: ModelAccess {
            openai_base_url: Some(format!("{}/v1", place.model)),
            anthropic_base_url: Some(place.model.to_owned()),
            ..ModelAccess::default()
        },
        ..AgentParts::default()
    };
    let agent = Registry::new(parts).and_then(|registry| registry.get(name.as_str()))?;
    let request = request(BRIEF.to_owned(), place.folder.to_owned(), place.time)?;
    // The progress is not read.
    let (progress, _) = mpsc::channel(1);
    let context =
        RunContext::new(CancellationToken::new(), progress, child_environment(), hob_sandbox::Sandbox::none());
    match agent.run(&request, &context).await?.outcome {
        Outcome::Done { .. } => Ok(()),
        Outcome::NothingToDo { reason } | Outcome::Failed { reason, .. } => bail!(reason),
        Outcome::Question { question } => bail!(question),
        Outcome::HandOff(hand_off) => bail!(hand_off.reason),
        Outcome::ApprovalNeeded { proposed } => bail!("needs approval: {}", proposed.line),
    }
}

/// A model's name that the program takes without looking it up anywhere.
fn model(name: AdapterName) -> &'static str {
    match name {
        AdapterName::Claude => "claude-sonnet-4-5",
        AdapterName::Gemini => "gemini-2.5-pro",
        AdapterName::Codex | AdapterName::Copilot => "gpt-5.1",
        AdapterName::Opencode | AdapterName::Aider | AdapterName::Pi | AdapterName::MiniSweAgent => "openai/scripted",
    }
}

/// Finds those of `names` that are installed: in `folder`, where `scripts/agents.sh` puts them, or on the path. No
/// names means all.
pub(super) fn find(names: &[String], folder: Option<&Path>) -> Result<Vec<Subject>, Unusable> {
    let all = ["bare-loop", "native"].into_iter().chain(AdapterName::ALL.map(AdapterName::as_str));
    let wanted: Vec<String> = if names.is_empty() { all.map(str::to_owned).collect() } else { names.to_vec() };
    let mut found = Vec::new();
    for name in wanted {
        match name.as_str() {
            "bare-loop" => found.push(Subject::BareLoop),
            "native" => found.push(Subject::Native),
            other => {
                let adapter = AdapterName::from_str(other).map_err(|error| Unusable(error.to_string()))?;
                match (program(adapter, folder), names.is_empty()) {
                    (Some(program), _) => found.push(Subject::Peer(adapter, program)),
                    (None, true) => {}
                    (None, false) => {
                        return Err(Unusable(format!("`{other}` is not installed: run `scripts/agents.sh`")));
                    }
                }
            }
        }
    }
    Ok(found)
}

fn program(name: AdapterName, folder: Option<&Path>) -> Option<PathBuf> {
    let installed = folder.map(|folder| folder.join(name.as_str()));
    let installed = installed.iter().flat_map(|folder| [folder.join("node_modules/.bin"), folder.join("bin")]);
    let found = installed.map(|place| place.join(adapter_program(name))).find(|place| place.is_file());
    found.or_else(|| find_adapter(name, &child_environment()))
}
