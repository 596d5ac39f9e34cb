//! `hob run`.

use hob_forge::Access;
use hob_worker::{Repositories, RunLimits, RunSummary, WorkError};
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::{RunArgs, Shared},
    ask,
    exit::{Exit, fatal},
    list, output,
    progress::{self, Log, Show},
    screen::Screen,
    setup::{Listen, Setup},
    summary,
};

pub(super) async fn run(mut setup: Setup, shared: Shared, args: RunArgs) -> anyhow::Result<()> {
    if let Some(jobs) = args.jobs {
        setup.settings.limits.jobs = jobs.max(1);
    }
    if args.dry_run {
        return list::list(setup, shared).await;
    }
    setup.record = args.record.folder()?;
    let step_summary = setup.standard.step_summary.clone();
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone());
    let show = if shared.json { Show::Json } else { Show::Lines };
    let (mut log, screen) = (Log::default(), Screen::default());
    let approval = ask::approval(args.auto_approve.into(), setup.settings.limits.approval_time, &screen);
    // A daemon without a step summary keeps no events.
    let keeps = if step_summary.is_some() { progress::SUMMARY } else { 0 };
    let listen = |repositories: &Repositories| {
        let events;
        (events, log) = progress::sink(show, naming(repositories), keeps, &screen);
        Listen { events, cancel, approval }
    };
    let pool = setup.pool(&shared, Access::ReadWrite, args.agent, listen).await?;
    let limits = RunLimits { max_issues: args.max_issues, max_runtime: args.max_runtime };
    let done = if args.once { pool.run_once(limits).await } else { pool.run_forever(limits).await };
    if let Some(path) = step_summary {
        summary::append(&path, &log, done.as_ref().ok())?;
    }
    let done = done?;
    tell(&done, shared.json);
    if let Some(lacks) = done.lacks {
        return Err(WorkError::Shared(lacks).into());
    }
    if args.once && done.repositories_failed > 0 {
        return Err(fatal(Exit::Failure, format!("{} repositories could not be polled", done.repositories_failed)));
    }
    if args.once && done.failed > 0 {
        let reason = format!("{} issue(s) failed and are left for the next run", done.failed);
        return Err(fatal(Exit::Failure, reason));
    }
    Ok(())
}

fn naming(repositories: &Repositories) -> output::Naming {
    match repositories {
        Repositories::Named(names) => output::Naming::of(names.len()),
        Repositories::OfInstallation => output::Naming::Several,
    }
}

fn tell(done: &RunSummary, as_json: bool) {
    if as_json {
        anstream::println!("{}", serde_json::json!({ "event": "ended", "summary": done }));
        return;
    }
    tell_people(done);
}

/// Prints the counts of a run and what is left of the rate limits on standard error.
pub(super) fn tell_people(done: &RunSummary) {
    let calls = done.calls;
    let text = format!(
        "{} issue(s) worked on, {} reconciled, {} failed; API calls: {} reads, {} not modified (free), {} writes",
        done.worked, done.reconciled, done.failed, calls.reads, calls.unchanged, calls.writes
    );
    anstream::eprintln!("{}", output::styled(output::BOLD, &text));
    for rate in &done.rates {
        anstream::eprintln!("{}", output::styled(output::DIM, &output::rate(rate)));
    }
}

/// The first SIGINT or SIGTERM stops the work in order; the second ends the process immediately.
pub(super) fn stop_on_signal(cancel: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("cannot handle signals: the first one ends the process immediately");
        return;
    };
    tokio::spawn(async move {
        for round in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if round == 0 {
                anstream::eprintln!(
                    "stopping: saving work in progress and requeuing its issues (a second signal exits immediately)"
                );
                cancel.cancel();
            }
        }
        #[expect(clippy::exit, reason = "a second signal ends the process immediately")]
        std::process::exit(130);
    });
}
