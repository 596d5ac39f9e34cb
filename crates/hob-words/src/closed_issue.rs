//! What people read on an open pull request whose issue was closed for another reason than that it is done.

use hob_domain::{ClosedAs, IssueNumber, Login};
use hob_text::markup::person;

/// Identifies the comment.
pub const CLOSED_MARK: &str = "<!-- hob:closed -->";

/// What becomes of the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftPull {
    /// It stays open until people decide.
    StaysOpen,
    /// Hob closes it.
    Closes,
}

/// The comment: what happened, who did it, and what becomes of the pull request.
pub fn closed_issue_body(issue: IssueNumber, by: &Login, closed: ClosedAs, left: LeftPull) -> String {
    let then = match left {
        LeftPull::StaysOpen => "Close this pull request, or reopen the issue to go on.",
        LeftPull::Closes => "So Hob closed this pull request. Reopen both to go on.",
    };
    format!("{CLOSED_MARK}\n{} closed #{issue} as {closed}. {then}\n", person(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pull_request_of_a_closed_issue_says_who_closed_it_as_what() {
        let body = |left| closed_issue_body(IssueNumber(5), &"ann".into(), ClosedAs::Duplicate, left);
        insta::assert_snapshot!(body(LeftPull::StaysOpen), @r"
        <!-- hob:closed -->
        `ann` closed #5 as a duplicate. Close this pull request, or reopen the issue to go on.
        ");
        assert!(
            body(LeftPull::Closes).ends_with("a duplicate. So Hob closed this pull request. Reopen both to go on.\n")
        );
    }
}
