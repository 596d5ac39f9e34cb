//! `hob-bench run-agent`: one agent on a folder, without a forge.

use std::{
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use hob_agent::{AgentParts, Executor, Registry, RunContext, session::Sessions, variables_of_agents};
use hob_config::{SecretFiles, Settings, child_environment, parse_duration};
use hob_domain::{Outcome, Progress, RunId, RunRequest};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{output::print_json, request::request};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent to run.
    name: String,

    /// Let it work in this folder.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,

    /// End the run after this time.
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = parse_duration)]
    time: Duration,
}

/// Runs the agent and prints the outcome as one JSON object on standard output. Fails if the agent did not finish the work.
pub(super) async fn run(settings: Settings, state_dir: &Path, args: Args) -> anyhow::Result<()> {
    let mut brief = String::new();
    std::io::stdin().read_to_string(&mut brief).context("read the brief")?;
    let files = SecretFiles::read(variables_of_agents(&settings))?;
    let agent = Registry::new(AgentParts::new(&settings, state_dir, &files))?.get(&args.name)?;
    // With a session, like a worker.
    let executor = Executor::new(Sessions::new(state_dir.join("sessions"), settings.state), settings.runs);
    let run = RunId(format!("bench-{}", std::process::id()));
    let request = RunRequest { session: run.clone(), run, ..request(brief, args.folder, args.time)? };
    let (sender, mut lines) = mpsc::channel::<Progress>(256);
    let context = RunContext::new(CancellationToken::new(), sender, child_environment(), hob_sandbox::Sandbox::none());
    let work = async move {
        let report = executor.run(&args.name, agent.as_ref(), &request, &context).await;
        drop(context);
        report
    };
    let show = async {
        while let Some(line) = lines.recv().await {
            if !line.text.is_empty() {
                anstream::eprintln!("{}", hob_text::terminal(&line.text));
            }
        }
    };
    let (report, ()) = tokio::join!(work, show);
    let report = report?;
    print_json(&serde_json::json!({ "outcome": report.outcome, "spend": report.spend }))?;
    match report.outcome {
        Outcome::Done { .. } => Ok(()),
        Outcome::NothingToDo { .. }
        | Outcome::Question { .. }
        | Outcome::HandOff(_)
        | Outcome::ApprovalNeeded { .. }
        | Outcome::Failed { .. } => Err(anyhow::anyhow!("the agent did not finish the work")),
    }
}
