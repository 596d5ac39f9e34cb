//! How a signal ends a command: the first in order, the second immediately.

use hob_process::exit_at_second;
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::cli::screen::Screen;

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
