//! The classification of a run's end: done, a question, a quota, a key, a refusal, a crash.

use std::time::{Duration, SystemTime};

use hob_domain::{FailureClass, Outcome};
use hob_process::{Exit, Finished};

use crate::{
    adapters::{
        limit::{self, Complaint},
        parsed_output::ParsedOutput,
    },
    command::ResultLine,
    report::{cancelled, done, misconfigured, needs_human, permanent, tail, unfinished},
};

/// Bytes of a complaint that are quoted.
const QUOTED: usize = 1_000;
/// Bytes of a summary that are kept.
const SUMMARY_MAX: usize = 16 * 1024;

/// The context of an end.
pub(super) struct End<'a> {
    /// The program's name.
    pub(super) name: &'a str,
    /// Its parsed output.
    pub(super) parsed: &'a ParsedOutput,
    /// The end of its process.
    pub(super) finished: &'a Finished,
    /// Its time limit, and the setting that this comes from.
    pub(super) time: (Duration, &'static str),
}

/// The outcome of a run.
pub(super) fn outcome(end: &End<'_>) -> Outcome {
    let End { name, parsed, finished, time: (time, setting) } = end;
    match finished.exit {
        Exit::Cancelled if !parsed.abort => return cancelled(),
        Exit::Deadline => {
            return unfinished(format!("`{name}` ran out of time after {} s (`{setting}`)", time.as_secs()));
        }
        Exit::Signal(signal) => return unfinished(format!("signal {signal} ended `{name}`{}", colon(&complaint(end)))),
        Exit::Code(_) | Exit::Cancelled => {}
    }
    if parsed.refused {
        return needs_human(format!("`{name}`: its model refused{}", colon(&complaint(end))));
    }
    if finished.exit.is_success() && parsed.problem.is_none() {
        return ended_well(&parsed.summary);
    }
    ended_badly(name, &finished.exit.to_string(), &complaint(end), parsed.reset)
}

/// The outcome of a run with a complaint: `how` it ended, and what it `said`; `reset`: when its quota begins anew, if it told.
pub(crate) fn ended_badly(name: &str, how: &str, said: &str, reset: Option<Duration>) -> Outcome {
    let reason = format!("`{name}` failed ({how}){}", colon(said));
    match limit::read(said, now()) {
        Complaint::Limit(found) => Outcome::Failed {
            reason: format!("`{name}`: its quota is used up{}", colon(said)),
            failure: FailureClass::QuotaExhausted { reset_after: reset.or(found) },
        },
        Complaint::Unpaid => misconfigured(format!("`{name}`: its account has no quota or money left{}", colon(said))),
        Complaint::Key => {
            misconfigured(format!("`{name}`: its key or login is missing or not accepted{}", colon(said)))
        }
        Complaint::Service => Outcome::Failed { reason, failure: FailureClass::Transient { retry_after: None } },
        Complaint::Other => permanent(reason),
    }
}

/// The outcome of a run without a complaint: its last line may name it, as any command's may.
pub(crate) fn ended_well(words: &str) -> Outcome {
    let words = words.trim();
    let named = ResultLine::read(words).and_then(|said| said.outcome());
    named.unwrap_or_else(|| done(words, SUMMARY_MAX))
}

/// Its complaint: its own event, otherwise the end of its standard error, otherwise of its output.
fn complaint(end: &End<'_>) -> String {
    let streams = [end.finished.stderr.text(), end.finished.stdout.text()];
    let problem = end.parsed.problem.iter().map(String::as_str);
    let said = problem.chain(streams.iter().map(String::as_str)).map(|text| tail(text, QUOTED));
    said.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
}

fn colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// Seconds since 1970.
fn now() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a service names the end of its quota as a moment of the world's time; nothing of the ledger hangs on it"
    )]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use hob_process::Captured;

    use super::*;

    fn end(exit: Exit, parsed: &ParsedOutput) -> Outcome {
        let finished = Finished { exit, stdout: Captured::default(), stderr: Captured::default(), refused: None };
        outcome(&End { name: "x", parsed, finished: &finished, time: (Duration::from_secs(9), "limits.attempt_time") })
    }

    fn parsed(problem: Option<&str>, summary: &str) -> ParsedOutput {
        ParsedOutput { problem: problem.map(str::to_owned), summary: summary.to_owned(), ..ParsedOutput::default() }
    }

    fn class(outcome: Outcome) -> FailureClass {
        match outcome {
            Outcome::Failed { failure, .. } => failure,
            other => panic!("no failure: {other:?}"),
        }
    }

    #[test]
    fn each_end_is_told_apart() {
        let well = Exit::Code(0);
        assert_eq!(end(well, &parsed(None, "Did it.")), Outcome::done("Did it."));
        let asks = "Hm.\n{\"outcome\":\"question\",\"question\":\"Which?\"}";
        assert_eq!(end(well, &parsed(None, asks)), Outcome::Question { question: "Which?".into() });
        let nothing = "{\"outcome\":\"nothing_to_do\",\"reason\":\"It is there.\"}";
        assert_eq!(end(well, &parsed(None, nothing)), Outcome::NothingToDo { reason: "It is there.".into() });
        for (exit, problem, failure) in [
            (
                Exit::Code(1),
                "usage limit, try again in 1h",
                FailureClass::QuotaExhausted { reset_after: Some(Duration::from_secs(3_600)) },
            ),
            (well, "insufficient_quota", FailureClass::Misconfigured),
            (well, "401 Unauthorized", FailureClass::Misconfigured),
            (Exit::Code(1), "503 overloaded", FailureClass::Transient { retry_after: None }),
            (Exit::Code(2), "unknown flag", FailureClass::Permanent),
            (Exit::Signal(9), "", FailureClass::Unfinished),
            (Exit::Deadline, "", FailureClass::Unfinished),
            (Exit::Cancelled, "401", FailureClass::Cancelled),
        ] {
            assert_eq!(class(end(exit, &parsed(Some(problem), ""))), failure, "{exit} {problem}");
        }
    }

    #[test]
    fn a_run_that_was_ended_because_it_would_only_wait_is_no_cancelled_one() {
        let parsed = ParsedOutput { abort: true, reset: Some(Duration::from_secs(60)), ..parsed(Some("429"), "") };
        let later = FailureClass::QuotaExhausted { reset_after: Some(Duration::from_secs(60)) };
        assert_eq!(class(end(Exit::Cancelled, &parsed)), later);
    }
}
