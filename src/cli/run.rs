//! `hob run`.

use hob_forge::Access;
use hob_process::exit_at_second;
use hob_text::count;
use hob_worker::{Repositories, RunLimits, RunSummary, WorkError};
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::{RunArgs, Shared},
    ask,
    counters::CountersFile,
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    list,
    output::{self, BOLD, DIM, styled},
    progress::{self, Addresses, Show, Verbosity, View, Watch},
    screen::Screen,
    setup::{Listen, Setup},
    stream::stamped,
    summary::Report,
};

pub(super) async fn run(mut setup: Setup, shared: Shared, args: RunArgs, screen: Screen) -> anyhow::Result<()> {
    if let Some(jobs) = args.jobs {
        setup.settings.jobs = jobs.into();
    }
    if args.dry_run {
        return list::list(setup, shared).await;
    }
    setup.record = args.record.folder()?;
    let counters = CountersFile::open(args.counters.metrics)?;
    let report = Report::new(&setup);
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone(), screen.clone());
    let show = if shared.json { Show::Json } else { Show::Lines(shared.verbosity()) };
    let mut watch = Watch::default();
    let approval = ask::approval(args.auto_approve.into(), setup.settings.limits.approval_time, &screen);
    let jobs = setup.settings.jobs;
    let listen = |repositories: &Repositories| {
        let (naming, addresses) = (naming(repositories), Addresses::Last);
        let view = View { show, naming, addresses, grouping: report.grouping(jobs), keeps: report.keeps() };
        let events;
        (events, watch) = progress::sink(view, &screen, &cancel);
        Listen { events, cancel, approval }
    };
    let pool = setup.pool(&shared, Access::ReadWrite, args.agent, listen).await?;
    let limits = RunLimits { max_issues: args.max_issues, max_runtime: args.max_runtime };
    let done = if args.once { pool.run_once(limits).await } else { pool.run_forever(limits).await };
    screen.close();
    if let Some(counters) = counters {
        counters.close().await;
    }
    report.write(&watch.log, done.as_ref().ok())?;
    watch.written()?;
    let done = done?;
    if shared.json {
        json::event(stamped(serde_json::json!({ "event": "ended", "summary": done }), &counts(&done)))?;
    } else if shared.verbosity() != Verbosity::Quiet {
        tell_people(&done);
    }
    if let Some(lacks) = done.lacks {
        return Err(WorkError::Shared(lacks).into());
    }
    if args.once && done.repositories_failed > 0 {
        let failed = match done.repositories_failed {
            1 => "1 repository".to_owned(),
            number => format!("{number} repositories"),
        };
        return Err(fatal(Exit::Failure, format!("{failed} could not be polled")));
    }
    if args.once && done.failed > 0 {
        let reason = format!("{} failed; the next run tries again", count(done.failed, "issue"));
        return Err(fatal(Exit::Failure, reason));
    }
    Ok(())
}

fn naming(repositories: &Repositories) -> output::Naming {
    match repositories {
        Repositories::Named(names) => output::Naming::new(names.len()),
        Repositories::OfInstallation => output::Naming::Several,
    }
}

/// The counts of a run, in a line.
fn counts(done: &RunSummary) -> String {
    let calls = done.calls;
    format!(
        "{} worked on, {} reconciled, {} failed; API calls: {}, {} not modified (free), {}",
        count(done.worked, "issue"),
        done.reconciled,
        done.failed,
        count(calls.reads, "read"),
        calls.unchanged,
        count(calls.writes, "write")
    )
}

/// Prints the counts of a run and what is left of the rate limits on standard error.
pub(super) fn tell_people(done: &RunSummary) {
    let text = counts(done);
    let width = width_of(std::io::stderr());
    output::note(wrapped(&styled(BOLD, &text), width, 0));
    for rate in &done.rates {
        output::note(wrapped(&styled(DIM, &output::rate(rate)), width, 0));
    }
}

/// The exit code after a second signal, as a shell's after SIGINT.
const SECOND_SIGNAL: i32 = 130;

/// The first SIGINT, SIGTERM or SIGHUP stops the work in order; the second ends the process immediately.
pub(super) fn stop_on_signal(cancel: CancellationToken, screen: Screen) {
    let stopping = "stopping: saving work in progress and requeuing its issues (a second signal exits immediately)";
    on_signal(cancel, screen, stopping);
}

/// The same for a command with its own wording of what it does before its end.
pub(super) fn on_signal(cancel: CancellationToken, screen: Screen, stopping: &'static str) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("cannot handle signals: the first one ends the process immediately");
        return;
    };
    // A person who started Hob under `nohup` wants it to outlive the terminal.
    let mut hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
    let signals = [Some(Signal::INT), Some(Signal::TERM), hangup.as_ref().map(|_| Signal::HUP)];
    if let Err(error) = exit_at_second(&signals.into_iter().flatten().collect::<Vec<_>>(), SECOND_SIGNAL) {
        tracing::warn!(%error, "a second signal will not end the process: {error}");
    }
    tokio::spawn(async move {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hung_up => {}
        }
        screen.line(stopping.to_owned());
        cancel.cancel();
    });
}

/// Whether this process was started with SIGHUP ignored; `false` if the system does not tell.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first bit is signal 1.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
