//! The step summary that GitHub Actions shows under a job.

use std::{fs::OpenOptions, io::Write, path::Path, sync::PoisonError};

use anyhow::Context;
use hob_domain::{clip, inert};
use hob_worker::{RunSummary, WorkEvent};

use crate::cli::{
    output,
    output::Naming,
    progress::{Log, Timed},
};

/// Maximum bytes of a summary; GitHub accepts 1 MiB per step.
const SUMMARY_MAX: usize = 512 * 1024;

/// Appends the events to the job's step summary file.
pub(super) fn append(path: &Path, log: &Log, done: Option<&RunSummary>) -> anyhow::Result<()> {
    let mut text = "## Hob\n\n".to_owned();
    let events = log.lock().unwrap_or_else(PoisonError::into_inner);
    if events.is_empty() {
        text.push_str("Nothing to do.\n");
    } else {
        text.push_str("| time | issue | event |\n|---|---|---|\n");
        let several = events.windows(2).any(|two| two[0].repo != two[1].repo);
        let naming = if several { Naming::Several } else { Naming::One };
        text.extend(events.iter().map(|one| row(one, naming)));
    }
    if let Some(done) = done {
        text.push_str(&format!(
            "\n{} worked on, {} reconciled, {} failed. API calls: {} reads, {} not modified, {} writes.\n",
            done.worked, done.reconciled, done.failed, done.calls.reads, done.calls.unchanged, done.calls.writes
        ));
    }
    for rate in done.into_iter().flat_map(|done| &done.rates) {
        text.push_str(&format!("\n{}\n", inert(&output::rate(rate))));
    }
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("the step summary `{}` cannot be opened", path.display()))?;
    file.write_all(clip(&text, SUMMARY_MAX).as_bytes()).context("the step summary cannot be written")
}

fn row(Timed { seconds, repo, event }: &Timed, naming: Naming) -> String {
    let (issue, what) = match event {
        WorkEvent::Moved { issue, state, why } => (Some(issue), format!("**{state}**: {}", cell(why))),
        WorkEvent::Refused { issue, reason } => (Some(issue), format!("**refused**: {}", cell(reason))),
        WorkEvent::Published { issue, pull, spend, .. } => (Some(issue), format!("opened #{pull} ({spend})")),
        WorkEvent::Failed { issue, reason } => (issue.as_ref(), format!("**failed**: {}", cell(reason))),
        WorkEvent::Progress { issue, text } => (Some(issue), cell(text)),
        WorkEvent::Polled { issues, ready } => (None, format!("polled: {issues} issue(s), {ready} ready")),
    };
    let of = match naming {
        Naming::One => String::new(),
        Naming::Several => repo.to_string(),
    };
    format!("| {seconds:.1} s | {} | {what} |\n", issue.map(|issue| format!("{of}#{issue}")).unwrap_or(of.clone()))
}

/// Untrusted text as one cell.
fn cell(text: &str) -> String {
    inert(&clip(text, 1_000)).replace('|', "\\|").replace('\n', " ")
}
