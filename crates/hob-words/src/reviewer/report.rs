//! What a pull request shows of its review.

use hob_text::{
    clip, count, inert_line,
    markup::{code_span, folded, line, sentence},
};

use crate::Findings;

/// How often findings go back to the author within an attempt.
pub const REVIEWER_ROUNDS: u32 = 2;
/// Bytes of the cause that people see.
const CAUSE_MAX: usize = 400;

/// The state of a review of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerReport {
    /// The reviewer's name.
    pub reviewer: String,
    /// The findings of the last completed review.
    pub findings: Findings,
    /// How often findings went back to the author.
    pub rounds: u32,
    /// Why the current work was not reviewed. `None` if the findings are about it.
    pub missing: Option<String>,
}

impl ReviewerReport {
    /// A review without findings so far.
    pub fn new(reviewer: impl Into<String>) -> Self {
        Self { reviewer: reviewer.into(), findings: Findings::default(), rounds: 0, missing: None }
    }

    /// Whether the findings go back to the author.
    pub fn goes_back(&self) -> bool {
        self.missing.is_none() && self.rounds < REVIEWER_ROUNDS && self.findings.high().next().is_some()
    }

    /// What is left for a person because of it, one sentence.
    pub fn open(&self) -> Option<String> {
        let reviewer = code_span(&self.reviewer);
        let high = self.findings.high().count();
        match &self.missing {
            Some(cause) => {
                let cause = sentence(&inert_line(&clip(cause, CAUSE_MAX)));
                Some(match self.rounds {
                    0 => format!("This change was opened without a review by {reviewer}: {cause}"),
                    _ => format!("What the agent changed after the findings of {reviewer} was not reviewed: {cause}"),
                })
            }
            None if high > 0 => {
                let back = match self.rounds {
                    0 => String::new(),
                    rounds => format!(", after {}", count(rounds, "round")),
                };
                Some(format!(
                    "{reviewer} says that this must not be merged as it is{back}: look at its findings first."
                ))
            }
            None => None,
        }
    }

    /// The findings, folded, or a line that says there are none.
    pub(crate) fn section(&self) -> String {
        let (reviewer, found) = (&self.reviewer, &self.findings);
        if found.list.is_empty() && self.missing.is_some() && self.rounds == 0 {
            return String::new();
        }
        let mut text = String::new();
        for finding in &found.list {
            let (place, reason) = (code_span(&finding.place()), inert_line(&finding.reason));
            line(&mut text, &format!("- **{}** {place}: {}", finding.severity, sentence(&reason)));
        }
        if found.outside > 0 {
            let outside = count(found.outside, "finding");
            line(&mut text, &format!("- Left out: {outside} on files that this change does not touch."));
        }
        if found.too_many > 0 {
            line(&mut text, &format!("- Left out: {}, the least of them.", count(found.too_many, "finding")));
        }
        let when = if self.missing.is_some() { ", before the last change" } else { "" };
        let all = match found.list.len() {
            0 => "no findings".to_owned(),
            all => count(all, "finding"),
        };
        if text.is_empty() {
            return format!("The reviewer {} had no findings.\n\n", code_span(reviewer));
        }
        format!("{}\n", folded(&format!("Review: {all} of {reviewer}{when}"), &text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use hob_domain::{Finding, FindingSeverity};

    fn finding(severity: FindingSeverity, reason: &str) -> Finding {
        Finding { severity, file: "src/a.rs".to_owned(), line: Some(3), reason: reason.to_owned() }
    }

    fn look(list: Vec<Finding>) -> ReviewerReport {
        ReviewerReport { findings: Findings { list, ..Findings::default() }, ..ReviewerReport::new("reviewer") }
    }

    #[test]
    fn high_findings_go_back_twice() {
        let high = look(vec![finding(FindingSeverity::High, "x")]);
        let medium = look(vec![finding(FindingSeverity::Medium, "x")]);
        for (look, back) in [
            (high.clone(), true),
            (ReviewerReport { rounds: 1, ..high.clone() }, true),
            (ReviewerReport { rounds: 2, ..high.clone() }, false),
            (ReviewerReport { missing: Some("it is down".to_owned()), ..high }, false),
            (medium, false),
        ] {
            assert_eq!(look.goes_back(), back, "{look:?}");
        }
    }

    #[test]
    fn what_is_open_is_said() {
        let high = look(vec![finding(FindingSeverity::High, "x")]);
        let down = |look: ReviewerReport| ReviewerReport { missing: Some("the model is down".to_owned()), ..look };
        for (look, open) in [
            (look(vec![finding(FindingSeverity::Low, "x")]), None),
            (
                ReviewerReport { rounds: 2, ..high.clone() },
                Some(
                    "`reviewer` says that this must not be merged as it is, after 2 rounds: look at its findings first.",
                ),
            ),
            (down(look(Vec::new())), Some("This change was opened without a review by `reviewer`: the model is down.")),
            (
                down(ReviewerReport { rounds: 1, ..high }),
                Some("What the agent changed after the findings of `reviewer` was not reviewed: the model is down."),
            ),
        ] {
            assert_eq!(look.open().as_deref(), open, "{look:?}");
        }
    }

    #[test]
    fn findings_stand_folded() {
        let mut one = look(vec![finding(FindingSeverity::High, "closes #1, @ann"), finding(FindingSeverity::Low, "b")]);
        one.findings.outside = 1;
        insta::assert_snapshot!(one.section().replace('\u{200b}', "<zwsp>"), @r"
        <details><summary>Review: 2 findings of reviewer</summary>

        - **high** `src/a.rs:3`: closes #<zwsp>1, @<zwsp>ann.
        - **low** `src/a.rs:3`: b.
        - Left out: 1 finding on files that this change does not touch.

        </details>
        ");
        assert_eq!(look(Vec::new()).section(), "The reviewer `reviewer` had no findings.\n\n");
        let down = ReviewerReport { missing: Some("down".to_owned()), ..look(Vec::new()) };
        assert_eq!(down.section(), "");
    }

    proptest! {
        #[test]
        fn no_reason_leaves_its_fold(reason in "([a-z@#*_\n<>\\[\\]-]|<details>|</details>|</summary>){0,80}") {
            let text = look(vec![finding(FindingSeverity::High, &reason)]).section();
            prop_assert_eq!(text.matches("<details>").count(), 1);
            prop_assert_eq!(text.matches("</details>").count(), 1);
            // The fold's three lines, the blanks around the list, and one line of the list.
            prop_assert_eq!(text.trim_end().lines().count(), 5);
        }
    }
}
