//! What an agent is told about an issue or a pull request that a person named in an answer or a review, such as "as in #3".

use std::fmt::Write;

use hob_domain::{IssueNumber, Login, Nonce};
use hob_text::{clip, push_fenced, push_page, rendered, without_invisible};

/// Bytes of the comments on one of them that are shown.
const COMMENTS_MAX: usize = 16 * 1024;

/// An issue or a pull request that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedIssue {
    /// Its number.
    pub number: IssueNumber,
    /// Its title.
    pub title: String,
    /// Its body, in Markdown.
    pub body: String,
    /// The comments of authorized accounts, oldest first.
    pub comments: Vec<(Login, String)>,
}

impl NamedIssue {
    /// Writes this part of a brief.
    pub(crate) fn write(&self, text: &mut String, fence: &Nonce, text_bytes: usize) {
        let Self { number, title, body, comments } = self;
        let page = format!("{}\n\n{body}", without_invisible(title).0.trim());
        push_page(text, fence, &format!("number {number}, which people named"), &page, text_bytes);
        let mut said = String::new();
        for (login, comment) in comments {
            // Writing to a string cannot fail.
            writeln!(said, "{login}: {}\n", rendered(comment).text.trim()).ok();
        }
        if !said.is_empty() {
            push_fenced(text, fence, &format!("comments on number {number}"), &clip(said.trim(), COMMENTS_MAX));
        }
    }
}
