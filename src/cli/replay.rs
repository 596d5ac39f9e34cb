//! `hob session replay SESSION --folder DIR`: runs the recorded tool calls again, without a model and without MCP servers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hob_agent::{
    AgentParts, Comparison, Executor, Registry, Replayed, RunContext, compare,
    session::{Line, SessionEvent, Sessions},
};
use hob_config::child_environment;
use hob_domain::{Outcome, RunRequest, Strain};
use hob_text::{count, terminal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    json, output,
    session_args::ReplayArgs,
    sessions::{find, open},
    setup::{Setup, sandbox_of},
};

/// The wall time a replay may take.
const TIME: Duration = Duration::from_secs(3_600);

pub(super) async fn replay(setup: Setup, shared: Shared, args: ReplayArgs) -> anyhow::Result<()> {
    let record = find(&setup, &shared, &args.session)?;
    let before = open(&setup).read(&record.id)?.lines;
    if !before.iter().any(|line| matches!(line.event, SessionEvent::Replied { .. })) {
        let text = format!("session `{}` has no turns to replay: only native agents record turns", record.id);
        return Err(fatal(Exit::NotFound, text));
    }
    let registry = Registry::new(AgentParts::new(&setup.settings, &setup.state_dir, &setup.files))?;
    let agent = registry.native_with(&record.agent, Arc::new(Replayed::new(&before)))?.replaying(&before);
    let scratch = tempfile::tempdir()?;
    let sessions = Sessions::new(scratch.path().to_owned(), setup.settings.state.clone());
    let sessions = sessions.without(setup.secrets.clone());
    let executor = Executor::new(sessions.clone(), setup.settings.runs.clone());
    let request = request(&record.id, &record.repo, record.issue, brief(&before), args.folder);
    let (sender, mut progress) = mpsc::channel(64);
    let context = RunContext::new(
        CancellationToken::new(),
        sender,
        child_environment(),
        sandbox_of(&setup.settings, &setup.state_dir).await,
    );
    let run = async {
        let report = executor.run(&record.agent, &agent, &request, &context).await;
        drop(context);
        report
    };
    let show = async {
        while let Some(line) = progress.recv().await {
            if !line.text.is_empty() {
                output::note(output::styled(output::DIM, &terminal(&line.text)));
            }
        }
    };
    let (report, ()) = tokio::join!(run, show);
    let report = report?;
    let comparison = compare(&before, &sessions.read(&record.id)?.lines);
    tell(&comparison, &shared, &report.outcome)
}

fn brief(lines: &[Line]) -> String {
    let first = lines.iter().find_map(|line| {
        if let SessionEvent::Started { brief, .. } = &line.event { Some(brief.clone()) } else { None }
    });
    first.unwrap_or_default()
}

fn request(
    id: &hob_domain::RunId,
    repo: &hob_domain::RepoName,
    issue: hob_domain::IssueNumber,
    brief: String,
    folder: PathBuf,
) -> RunRequest {
    RunRequest {
        purpose: hob_domain::RunPurpose::Work,
        run: id.clone(),
        session: id.clone(),
        repo: repo.clone(),
        issue,
        title: String::new(),
        body: String::new(),
        brief,
        folder,
        checks: Vec::new(),
        time: TIME,
        time_setting: "limits.attempt_time",
        usd_micros: None,
        tokens: None,
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: Vec::new(),
        strain: Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    }
}

fn tell(comparison: &Comparison, shared: &Shared, outcome: &Outcome) -> anyhow::Result<()> {
    let different = comparison.differences.len();
    if shared.json {
        json::result(comparison)?;
    } else {
        for one in &comparison.differences {
            let arguments = terminal(&one.arguments).replace('\n', " ");
            output::line(output::styled(output::BOLD, &format!("turn {}: {} {arguments}", one.turn, one.tool)))?;
            let Some(now) = &one.now else {
                output::line(format!("  not run: the replay ended first ({})", super::sessions::outcome(outcome)))?;
                continue;
            };
            let (then, now) = first_difference(&one.before, now);
            output::line(format!("  then: {}\n  now:  {}", terminal(then), terminal(now)))?;
        }
        let kept = match comparison.not_repeated {
            0 => String::new(),
            calls => format!(" {} of MCP servers' tools were not repeated.", count(calls, "call")),
        };
        output::line(format!("{} the same, {different} differ.{kept}", count(comparison.same, "result")))?;
    }
    if different > 0 { Err(fatal(Exit::Failure, "the results differ from the transcript")) } else { Ok(()) }
}

/// The first line that differs.
fn first_difference<'a>(then: &'a str, now: &'a str) -> (&'a str, &'a str) {
    let (mut a, mut b) = (then.lines(), now.lines());
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (x, y) => return (x.unwrap_or("(end)"), y.unwrap_or("(end)")),
        }
    }
}
