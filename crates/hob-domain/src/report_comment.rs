//! The comment that is the result of a run: what an investigation concluded, what a profile found that brings a comment, or which
//! issues were opened.

use crate::{
    EventId, OWN_MARK, inert::inert_within, investigation::REPORT_MARK, markup::code_span, sub_issues::short_mark,
};

/// Bytes of what an agent says for a report.
pub(super) const REPORT_BYTES: usize = 16 * 1024;

/// What the comment begins with. Each time that somebody asks has a mark of its own: whoever takes the issue over finds the comment of
/// this time, and no older one. The second is of whoever was asked for a report after an investigation was handed over.
pub fn report_mark(asked: EventId, is_second: bool) -> String {
    let second = if is_second { "-2" } else { "" };
    format!("{OWN_MARK}report {asked}{second} -->")
}

/// What the comment begins with that says which issues the list with the mark `list` became.
pub fn split_mark(list: &str) -> String {
    format!("{OWN_MARK}report {} -->", short_mark(list))
}

/// A report as the comment on an issue, which begins with `mark`.
pub fn report_comment(report: &str, mark: &str) -> String {
    format!("{mark}\n{}", report.strip_prefix(REPORT_MARK).unwrap_or(report).trim_start())
}

/// What the profile `name` found, as a report.
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
