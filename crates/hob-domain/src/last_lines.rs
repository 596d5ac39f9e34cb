//! The last lines of a check or a set-up step that failed, as people see them: in the pull request, in the status comment and on a
//! terminal. A blocked issue's ledger keeps so much and no more.

use serde::{Deserialize, Serialize};

use crate::{CheckResult, clip, inert_line, markup::folded, terminal, text::clip_middle};

/// Lines of one output that people see.
const LINES_SHOWN: usize = 20;
/// Bytes of them.
pub(super) const OUTPUT_MAX: usize = 3_000;
/// Bytes of a command that the ledger keeps.
const COMMAND_MAX: usize = 300;
/// Outputs that the ledger keeps.
const OUTPUTS_KEPT: usize = 5;

/// What one check or step printed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLines {
    /// The command.
    pub command: String,
    /// Its last lines, without control characters; untrusted text.
    pub lines: String,
}

impl LastLines {
    /// What this one printed last; none: nothing.
    pub(super) fn of(check: &CheckResult) -> Option<Self> {
        let lines: Vec<_> = check.output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
        (!last.is_empty()).then(|| Self {
            command: clip(&check.command, COMMAND_MAX),
            lines: clip_middle(&terminal(&last), OUTPUT_MAX).replace("```", "'''"),
        })
    }

    /// The lines as a fold that its command opens. The ledger can be written by whoever has its token, so that they are made inert
    /// anew.
    pub(super) fn shown(&self) -> String {
        let lines = terminal(&clip(&self.lines, 2 * OUTPUT_MAX)).replace("```", "'''");
        // Within the tag of a heading a back-tick begins no code, in which a name would mention nobody.
        let command = inert_line(&self.command.replace('`', "'"));
        folded(&format!("Last lines of {command}"), &format!("```text\n{lines}\n```\n"))
    }
}

/// What those among these printed last that did not pass, as much as a ledger keeps.
pub(super) fn kept(results: &[CheckResult]) -> Vec<LastLines> {
    results.iter().filter(|check| !check.passed()).filter_map(LastLines::of).take(OUTPUTS_KEPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckExit, CheckRun};

    fn failed(command: &str, output: String) -> CheckResult {
        let exit = CheckExit::Failed { code: 1 };
        CheckResult { command: command.to_owned(), exit, output, seconds: 1, run: CheckRun::Now, refused: None }
    }

    #[test]
    fn the_last_lines_are_kept_and_the_others_are_not() {
        let output = (1..=30).map(|n| format!("line {n}\n\n")).collect();
        let LastLines { lines, .. } = LastLines::of(&failed("make", output)).unwrap();
        assert!(lines.starts_with("line 11\nline 12\n") && lines.ends_with("line 30"), "{lines}");
        assert_eq!(LastLines::of(&failed("make", " \n\n".to_owned())), None);
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

    /// Attack corpus H87: what a check prints ends no block and opens none.
    #[test]
    fn what_is_shown_stays_in_its_block() {
        let hostile = "```\n</details>\n@ann fixes #1 <img src=x>\n````\n\u{202e}x";
        let shown = LastLines::of(&failed("echo `</summary>` @ann", hostile.to_owned())).unwrap().shown();
        let says = "<details><summary>Last lines of echo '&lt;/summary>' @\u{200b}ann</summary>\n\n```text\n\'\'\'\n</details>\n\
                    @ann fixes #1 <img src=x>\n\'\'\'`\n\\u{202e}x\n```\n\n</details>\n";
        assert_eq!(shown, says);
    }
}
