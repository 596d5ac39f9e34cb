//! The pull request that proposes a correction as a line for agents.

use hob_text::{inert_line, markup::code_span};
use serde::{Deserialize, Serialize};

use crate::{PullNumber, Remark, Timestamp};

/// The name of the pull request's branch after Hob's prefix. No issue's branch begins like this: those have a number.
const BRANCH: &str = "correction-";

/// What became of a correction that was made twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineProposal {
    /// A worker began then to propose it.
    Begun(Timestamp),
    /// This pull request has it, or had it.
    Opened(PullNumber),
    /// It is not proposed: the file already says it or is protected, a remark no longer exists, or the forge
    /// refused it.
    Dropped,
}

/// The branch of the proposal, named by its first remark alone.
pub fn proposal_branch(prefix: &str, first: &Remark) -> String {
    format!("{prefix}{BRANCH}{}-{}", first.pull, first.place().1)
}

/// The title of the pull request and of its commit.
pub fn proposal_title(path: &str) -> String {
    format!("Add a correction from reviews to {path}")
}

/// The text of the pull request.
pub fn proposal_body(path: &str, said: [&Remark; 2], repo_url: &str) -> String {
    let [first, _] = said;
    let quotes = said.map(|remark| {
        let (url, text) = (remark.url(repo_url), inert_line(&remark.text));
        format!("- [{} on pull request {}]({url}):\n  > {text}\n", inert_line(remark.by.as_str()), remark.pull)
    });
    format!(
        "Reviews of two pull requests by Hob had the same correction. This adds one line to {}, so that agents know it from the \
         start:\n\n> {}\n\nWhere it was said:\n\n{}\n\
         - **Merge** this, and agents are told from then on.\n\
         - **Edit** the line on this branch first, where it should say something else.\n\
         - **Close** this, and Hob never proposes it again.\n\n\
         Hob does not work on this pull request: it belongs to no issue.\n",
        code_span(path),
        inert_line(&first.text),
        quotes.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReviewEvent;

    #[test]
    fn the_pull_request_quotes_both_and_says_what_to_do() {
        let said = |said, by: &str, pull, text| Remark::new(said, by.into(), PullNumber(pull), text).unwrap();
        let first = said(ReviewEvent::Line(5), "ann", 7, "Error messages in lower case, as GH-4 says");
        let again = said(ReviewEvent::Review(6), "bea", 9, "Error messages in lower case!");
        assert_eq!(proposal_branch("hob/", &first), "hob/correction-7-5");
        insta::assert_snapshot!(
            proposal_body("AGENTS.md", [&first, &again], "https://github.example/acme/site").replace('\u{200b}', "~"),
            @r"
        Reviews of two pull requests by Hob had the same correction. This adds one line to `AGENTS.md`, so that agents know it from the start:

        > Error messages in lower case, as GH-~4 says

        Where it was said:

        - [ann on pull request 7](https://github.example/acme/site/pull/7#discussion_r5):
          > Error messages in lower case, as GH-~4 says
        - [bea on pull request 9](https://github.example/acme/site/pull/9#pullrequestreview-6):
          > Error messages in lower case!

        - **Merge** this, and agents are told from then on.
        - **Edit** the line on this branch first, where it should say something else.
        - **Close** this, and Hob never proposes it again.

        Hob does not work on this pull request: it belongs to no issue.
        "
        );
    }
}
