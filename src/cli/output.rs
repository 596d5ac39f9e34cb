//! What commands write: results on standard output, everything else on standard error. A standard output that takes no
//! more is an error of the command; a standard error that does is nobody's.

use std::{
    fmt::Display,
    io::{ErrorKind, Write},
};

use anstyle::{AnsiColor, Style};
use hob_domain::{RepoName, terminal};
use hob_forge::Rate;

/// Whether a line names its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// No: there is only one repository.
    One,
    /// Yes: there are several.
    Several,
}

impl Naming {
    /// Whether lines name their repository when there are this many.
    pub(super) fn of(repositories: usize) -> Self {
        if repositories > 1 { Self::Several } else { Self::One }
    }
}

/// Bold.
pub(super) const BOLD: Style = Style::new().bold();
/// Less important.
pub(super) const DIM: Style = Style::new().dimmed();
/// Success.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Needs attention.
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
/// Failure.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text in a style; the stream drops the style if it is not a terminal.
pub(super) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Standard output takes nothing more.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written: {0}")]
pub(super) struct Unwritable(#[from] std::io::Error);

impl Unwritable {
    /// Whether the reader has gone, as `head` does when it has seen enough.
    pub(super) fn nobody_reads(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

/// Writes a line of the result to standard output.
///
/// # Errors
/// [`Unwritable`]: the disk is full, or nobody reads.
pub(super) fn line(text: impl Display) -> Result<(), Unwritable> {
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}

/// Writes a line for people to standard error.
pub(super) fn note(text: impl Display) {
    // Whoever closed standard error does not want to know.
    writeln!(anstream::stderr().lock(), "{text}").ok();
}

/// What is left of a rate limit, on one line.
pub(super) fn rate(rate: &Rate) -> String {
    let at = rate.reset.format("%H:%M:%S UTC");
    terminal(&format!("rate limit `{}`: {} of {} calls left until {at}", rate.resource, rate.remaining, rate.limit))
}

/// Which repository the lines below are about, where there are several.
pub(super) fn heading(repo: &RepoName, naming: Naming) -> Result<(), Unwritable> {
    match naming {
        Naming::One => Ok(()),
        Naming::Several => line(styled(BOLD, &repo.to_string())),
    }
}

/// An error with its causes, one sentence.
pub(super) fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // A transparent error repeats its cause.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
