//! Failed checks and set-up steps as people see them: how each ended and its last output, in the pull request, in the
//! status comment and on a terminal. A blocked issue's ledger keeps a bounded part of that.

use hob_text::{
    clip, clip_middle, inert_line,
    markup::{code_span, folded, line},
    terminal,
};
use serde::{Deserialize, Serialize};

use crate::{CheckExit, CheckResult, CheckRun, Rate};

/// Lines of one output that people see.
const LINES_SHOWN: usize = 20;
/// Bytes of them.
const OUTPUT_MAX: usize = 3_000;
/// Bytes of a command that the ledger keeps.
const COMMAND_MAX: usize = 300;
/// Outputs that the ledger keeps.
const OUTPUTS_KEPT: usize = 5;

/// The last output of one check or step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLines {
    /// The command.
    pub command: String,
    /// Its last lines, without control characters; untrusted text.
    pub lines: String,
}

impl LastLines {
    /// The last output of a check. `None` if it printed nothing.
    pub fn from_check(check: &CheckResult) -> Option<Self> {
        let lines: Vec<_> = check.output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
        (!last.is_empty()).then(|| Self {
            command: clip(&check.command, COMMAND_MAX),
            lines: clip_middle(&terminal(&last), OUTPUT_MAX).replace("```", "'''"),
        })
    }

    /// The lines as a fold that opens from the command. They are made inert again, because everyone with the token can
    /// write to the ledger.
    pub fn shown(&self) -> String {
        let lines = terminal(&clip(&self.lines, 2 * OUTPUT_MAX)).replace("```", "'''");
        // Within a heading's tag, a back-tick does not begin code in which a name would be harmless.
        let command = inert_line(&self.command.replace('`', "'"));
        folded(&format!("Last lines of {command}"), &format!("```text\n{lines}\n```\n"))
    }
}

/// The failed checks that block an issue, with the last output of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedChecks {
    /// Which ones, and how each ended.
    pub list: String,
    /// Their last output, as much as the ledger keeps.
    pub last: Vec<LastLines>,
}

impl FailedChecks {
    /// Those of these results that did not pass.
    pub fn among(results: &[CheckResult]) -> Self {
        let failed: Vec<_> = results.iter().filter(|result| !result.passed()).map(ended).collect();
        Self { list: failed.concat().trim_end().to_owned(), last: kept(results) }
    }
}

/// How a check ended, and what the sandbox refused it.
fn ended(result: &CheckResult) -> String {
    let mut text = String::new();
    line(&mut text, &format!("{}: {}\n", code_span(&result.command), exit_word(result)));
    if let Some(refused) = &result.refused {
        line(&mut text, &format!("The sandbox refused it {}.\n", code_span(refused)));
    }
    text
}

/// The failed checks with their output, for a reviewer.
pub fn failed_checks(results: &[CheckResult]) -> String {
    let mut text = String::new();
    for result in results.iter().filter(|result| !result.passed()) {
        text.push_str(&ended(result));
        let output = terminal(&clip(result.output.trim_end(), OUTPUT_MAX)).replace("```", "'''");
        if !output.trim().is_empty() {
            line(&mut text, &format!("```text\n{output}\n```\n"));
        }
    }
    text.trim_end().to_owned()
}

/// How a check ended, in a word or two.
pub fn exit_word(result: &CheckResult) -> String {
    let seconds = result.seconds;
    match result.exit {
        CheckExit::Passed => match result.run {
            CheckRun::Now => format!("passed ({seconds} s)"),
            CheckRun::Earlier => format!("passed earlier ({seconds} s)"),
            CheckRun::Again { here, base } => {
                format!("passed when run again ({seconds} s); failed in {here}{}", on_unchanged_code(here, base))
            }
        },
        exit @ (CheckExit::Failed { .. } | CheckExit::Signal { .. }) => match result.run {
            CheckRun::Now | CheckRun::Earlier => format!("failed ({exit})"),
            CheckRun::Again { here, base } => format!("failed ({exit}) in {here}{}", on_unchanged_code(here, base)),
        },
        CheckExit::OutOfTime => format!("timed out after {} s (`check_time`)", result.seconds),
        exit @ CheckExit::Cancelled => exit.to_string(),
    }
}

/// How often it fails on unchanged code, where one of both differs from run to run.
fn on_unchanged_code(here: Rate, base: Rate) -> String {
    let is_plain = here.failed == here.runs && base.failed == 0;
    if is_plain || base.runs == 0 { String::new() } else { format!(", on unchanged code in {base}") }
}

/// The last output of those that did not pass, as much as a ledger keeps.
fn kept(results: &[CheckResult]) -> Vec<LastLines> {
    results.iter().filter(|check| !check.passed()).filter_map(LastLines::from_check).take(OUTPUTS_KEPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(command: &str, output: String) -> CheckResult {
        let exit = CheckExit::Failed { code: 1 };
        CheckResult {
            command: command.to_owned(),
            exit,
            output,
            seconds: 1,
            run: CheckRun::Now,
            refused: None,
            tests: crate::TestResults::default(),
        }
    }

    #[test]
    fn the_last_lines_are_kept_and_the_others_are_not() {
        let output = (1..=30).map(|n| format!("line {n}\n\n")).collect();
        let LastLines { lines, .. } = LastLines::from_check(&failed("make", output)).unwrap();
        assert!(lines.starts_with("line 11\nline 12\n") && lines.ends_with("line 30"), "{lines}");
        assert_eq!(LastLines::from_check(&failed("make", " \n\n".to_owned())), None);
    }

    #[test]
    fn a_check_that_was_run_again_says_how_often_it_failed() {
        let (here, base) = (Rate { failed: 1, runs: 4 }, Rate { failed: 3, runs: 17 });
        let again = |exit, here, base| {
            exit_word(&CheckResult { exit, run: CheckRun::Again { here, base }, ..failed("make", String::new()) })
        };
        let (passed, red) = (CheckExit::Passed, CheckExit::Failed { code: 2 });
        let told = [
            again(passed, here, base),
            again(passed, here, Rate::default()),
            again(red, here, base),
            again(red, here, Rate::default()),
            again(red, Rate { failed: 3, runs: 3 }, Rate { failed: 0, runs: 1 }),
        ];
        insta::assert_snapshot!(told.join("\n"), @"
        passed when run again (1 s); failed in 1 of 4 runs, on unchanged code in 3 of 17 runs
        passed when run again (1 s); failed in 1 of 4 runs
        failed (exit code 2) in 1 of 4 runs, on unchanged code in 3 of 17 runs
        failed (exit code 2) in 1 of 4 runs
        failed (exit code 2) in 3 of 3 runs
        ");
    }

    /// Attack corpus I99: a check that floods its output does not flood the ledger.
    #[test]
    fn what_the_ledger_keeps_is_bounded() {
        let long = || failed(&"x".repeat(100_000), "\u{1b}y".repeat(500_000));
        let results: Vec<_> = std::iter::repeat_with(long).take(50).collect();
        let kept = kept(&results);
        assert_eq!(kept.len(), OUTPUTS_KEPT);
        let bytes = serde_json::to_string(&kept).unwrap().len();
        assert!(bytes < OUTPUTS_KEPT * (2 * OUTPUT_MAX + COMMAND_MAX), "{bytes}");
    }

    /// Attack corpus H87: a check's output neither ends nor opens a block.
    #[test]
    fn what_is_shown_stays_in_its_block() {
        let hostile = "```\n</details>\n@ann fixes #1 <img src=x>\n````\n\u{202e}x";
        let shown = LastLines::from_check(&failed("echo `</summary>` @ann", hostile.to_owned())).unwrap().shown();
        let says = "<details><summary>Last lines of echo '&lt;/summary>' @\u{200b}ann</summary>\n\n```text\n\'\'\'\n</details>\n\
                    @ann fixes #1 <img src=x>\n\'\'\'`\n\\u{202e}x\n```\n\n</details>\n";
        assert_eq!(shown, says);
    }
}
