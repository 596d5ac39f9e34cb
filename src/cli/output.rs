//! The output of commands: results on standard output, everything else on standard error. A failing standard output is
//! an error of the command; a failing standard error is ignored.
//!
//! Both streams are the process's, and so is the gate before them: no line contains a secret that Hob knows.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    fmt::Display,
    io::{ErrorKind, Write},
    panic::PanicHookInfo,
    sync::OnceLock,
};

use anstyle::{AnsiColor, Style};
use hob_domain::RepoName;
use hob_forge::Rate;
use hob_text::{KnownSecrets, terminal};

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
    pub(super) fn new(repositories: usize) -> Self {
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

/// A text that a terminal shows as a link (OSC 8); elsewhere, the text alone is written.
pub(super) fn linked(text: &str, address: &str) -> String {
    format!("\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\")
}

/// Standard output accepts no more.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written: {0}")]
pub(super) struct Unwritable(#[from] std::io::Error);

impl Unwritable {
    /// Whether the reader has gone, as `head` does when it has seen enough.
    pub(super) fn nobody_reads(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

/// The secrets that no line may contain. It is global, as the streams are, because a panic has no other access to it.
static WITHHELD: OnceLock<KnownSecrets> = OnceLock::new();

/// From now on no output contains these secrets, the message of a panic included.
pub(super) fn withhold(secrets: &KnownSecrets) {
    // A second start, as in a test, has no effect and is not an error.
    if WITHHELD.set(secrets.clone()).is_ok() {
        std::panic::set_hook(Box::new(|panic| note(told(panic))));
    }
}

/// The text without the secrets that are withheld.
pub(super) fn redacted(text: &str) -> String {
    WITHHELD.get().map_or_else(|| text.to_owned(), |secrets| secrets.redaction().text(text).into_owned())
}

/// The message of a panic, as the standard library words it.
fn told(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let trace = Backtrace::capture();
    match trace.status() {
        BacktraceStatus::Captured => format!("hob: thread `{name}` {panic}\n{trace}"),
        _not_asked_for => format!("hob: thread `{name}` {panic}"),
    }
}

/// Writes a line of the result to standard output.
///
/// # Errors
/// [`Unwritable`]: the disk is full, or the reader is gone.
pub(super) fn line(text: impl Display) -> Result<(), Unwritable> {
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{}", redacted(&text.to_string()))?;
    Ok(stdout.flush()?)
}

/// Writes a line for people to standard error.
pub(super) fn note(text: impl Display) {
    // A person who closed standard error does not want to know.
    writeln!(anstream::stderr().lock(), "{}", redacted(&text.to_string())).ok();
}

/// Writes a warning for people to standard error.
pub(super) fn warn(text: &str) {
    note(format!("{} {}", styled(WARN, "warning:"), terminal(text)));
}

/// The rest of a rate limit, on one line.
pub(super) fn rate(rate: &Rate) -> String {
    let at = rate.reset.format("%H:%M:%S UTC");
    terminal(&format!("rate limit `{}`: {} of {} calls left until {at}", rate.resource, rate.remaining, rate.limit))
}

/// Names the repository of the lines below, if there are several.
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

#[cfg(test)]
mod tests {
    use hob_process::{Environment, Program};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::cli::screen::Screen;

    /// Set if this test runs as the process that panics.
    const PANICS: &str = "HOB_TEST_PANICS";

    /// Attack corpus G79: in a separate process, because the hook and the secrets are global.
    #[tokio::test]
    async fn a_panic_and_what_is_printed_hold_no_secret() {
        #[derive(Debug)]
        struct Holder(#[expect(dead_code, reason = "it is printed")] &'static str);
        #[expect(clippy::disallowed_methods, reason = "the test tells its own child what to do")]
        let panics = std::env::var_os(PANICS).is_some();
        if panics {
            let secrets = KnownSecrets::default();
            secrets.add(["canary-1234567890".to_owned().into()]);
            withhold(&secrets);
            note(format!("{:?}", Holder("canary-1234567890")));
            Screen::default().write_all(b"a log event with canary-1234567890\n").unwrap();
            line("in base64: Y2FuYXJ5LTEyMzQ1Njc4OTA=").unwrap();
            panic!("{:?}", Holder("canary-1234567890"));
        }
        let this = std::env::current_exe().unwrap();
        let test = "cli::output::tests::a_panic_and_what_is_printed_hold_no_secret";
        let child = Program::of_hob(this, &Environment::new()).args(["--exact", test, "--nocapture"]).env(PANICS, "1");
        let ended = child.run(&CancellationToken::new()).await.unwrap();
        let (printed, said) = (ended.stdout.text(), ended.stderr.text());
        let mark = "(redacted: a secret of Hob)";
        assert!(
            said.contains(&format!("Holder(\"{mark}\")\n")) && said.contains(" panicked at src/cli/output.rs"),
            "{said}"
        );
        assert!(said.contains(&format!("a log event with {mark}\n")), "{said}");
        assert_eq!(said.matches(mark).count(), 3, "{said}");
        assert!(printed.contains(&format!("in base64: {mark}")), "{printed}");
        assert!(
            !printed.contains("1234567890") && !said.contains("1234567890") && !printed.contains("Y2FuYXJ5"),
            "{said}"
        );
    }
}
