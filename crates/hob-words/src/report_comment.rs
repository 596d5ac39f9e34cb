//! The comment that is the result of a run: an investigation's conclusion, the findings of a profile whose deliverable
//! is a comment, or the issues that were opened.

use hob_domain::{EventId, OWN_MARK, investigation::REPORT_MARK, short_mark};
use hob_text::{inert_within, markup::code_span};

/// Bytes of an agent's words in a report.
pub(super) const REPORT_BYTES: usize = 16 * 1024;

/// The beginning of a report's comment. Each request has its own mark, so that a worker that takes the issue over finds
/// this request's comment and not an older one. `is_second` is for a report that was requested after an investigation
/// was handed off.
pub fn report_mark(asked: EventId, is_second: bool) -> String {
    let second = if is_second { "-2" } else { "" };
    format!("{OWN_MARK}report {asked}{second} -->")
}

/// The beginning of the comment that lists the issues that the list with the mark `list` became.
pub fn split_mark(list: &str) -> String {
    format!("{OWN_MARK}report {} -->", short_mark(list))
}

/// A report as a comment on an issue, beginning with `mark`.
pub fn report_comment(report: &str, mark: &str) -> String {
    format!("{mark}\n{}", report.strip_prefix(REPORT_MARK).unwrap_or(report).trim_start())
}

/// The findings of the profile `name`, as a report.
pub fn report_of(name: &str, words: &str) -> String {
    format!("## Report by {}\n\n{}\n", code_span(name), inert_within(words, REPORT_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_by_its_mark_and_does_nothing() {
        let report = report_of("research", "**Answer**: yes [1], @team. Closes #9\n\n1. `src/a.rs:3`");
        let comment = report_comment(&report, &report_mark(EventId(12), false)).replace('\u{200b}', "<zwsp>");
        insta::assert_snapshot!(comment, @"
        <!-- hob:report 12 -->
        ## Report by `research`

        **Answer**: yes [1], @<zwsp>team. Closes #<zwsp>9

        1. `src/a.rs:3`
        ");
        for long in ["x ", "<", "@a ", "```\n"] {
            let report = report_of("a", &long.repeat(40_000));
            assert!(report.len() < REPORT_BYTES + 400, "{} bytes of {long:?}", report.len());
            assert!(report.contains("bytes cut"), "it is said that {long:?} was cut");
        }
    }
}
