//! One run of an agent without a forge: for `hob agent run` and `hob investigate`.

use hob_agent::{AgentBackend, Executor, RunContext};
use hob_config::child_environment;
use hob_domain::{Progress, RunReport, RunRequest, investigation::Iteration, terminal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    ask,
    exit::{Exit, fatal},
    investigated, json,
    output::{self, styled},
    progress::Verbosity,
    run::stop_on_signal,
    screen::Screen,
    sessions,
    setup::{Setup, sandbox_of},
};

/// Runs the agent, and shows what it does.
pub(super) async fn run(
    (setup, shared, auto_approve): (&Setup, &Shared, bool),
    (name, agent): (&str, &dyn AgentBackend),
    request: &RunRequest,
    screen: &Screen,
) -> anyhow::Result<RunReport> {
    let settings = &setup.settings;
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone(), screen.clone());
    let (sender, progress) = mpsc::channel(256);
    let approval = ask::approval(auto_approve.into(), settings.limits.approval_time, screen);
    let sandbox = sandbox_of(settings, &setup.state_dir);
    let context = RunContext::new(cancel.clone(), sender, child_environment(), sandbox).asking(approval);
    let executor = Executor::new(sessions::of(setup), settings.agent.clone());
    let run = async {
        let report = executor.run(name, agent, request, &context).await;
        drop(context);
        report
    };
    // An investigation shows its iterations in the place of turns.
    let shows_turns = request.investigation.is_none();
    let (report, shown) = tokio::join!(run, show(progress, shared, (screen, shows_turns), &cancel));
    screen.close();
    shown?;
    report.map_err(|error| fatal(Exit::Unhealthy, error.to_string()))
}

/// Shows what happens until the run ends.
async fn show(
    mut progress: mpsc::Receiver<Progress>,
    shared: &Shared,
    (screen, shows_turns): (&Screen, bool),
    cancel: &CancellationToken,
) -> Result<(), output::Unwritable> {
    let mut last = None;
    let mut written = Ok(());
    while let Some(Progress { text, iteration, .. }) = progress.recv().await {
        match (iteration, shared.verbosity()) {
            (Some(iteration), _) if shared.json && written.is_ok() => {
                written = event(&iteration);
                if written.is_err() {
                    // Nobody can read what follows.
                    cancel.cancel();
                }
            }
            (Some(_), Verbosity::Quiet) => {}
            (Some(iteration), Verbosity::Stages | Verbosity::Everything) => {
                let told = (last.as_ref() != Some(&iteration.progress)).then(|| iteration.progress.clone());
                screen.line(investigated::lines(&iteration, told.as_ref()));
                last = told.or(last);
            }
            (None, verbosity)
                if !text.is_empty()
                    && (verbosity == Verbosity::Everything || shows_turns && verbosity == Verbosity::Stages) =>
            {
                screen.line(styled(output::DIM, &terminal(&text)));
            }
            (None, _) => {}
        }
    }
    written
}

fn event(iteration: &Iteration) -> Result<(), output::Unwritable> {
    // Plain data always has a JSON form.
    let mut object = serde_json::to_value(iteration).unwrap_or_default();
    object["event"] = "iteration".into();
    json::event(object)
}
