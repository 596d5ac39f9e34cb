//! The issue in a brief: what its page shows, and what was left out of that.

use hob_domain::Nonce;
use hob_text::{clip, push_fenced, rendered, without_invisible};

/// The issue as its page shows it.
pub(crate) fn push_issue(text: &mut String, fence: &Nonce, title: &str, body: &str, max: usize) {
    let ((title, hidden), mut body) = (without_invisible(title), rendered(body));
    body.hidden += hidden;
    push_fenced(text, fence, "issue", &format!("{}\n\n{}", title.trim(), clip(&body.text, max)));
    if let Some(left_out) = body.left_out("the issue") {
        text.extend([left_out.as_str(), "\n"]);
    }
}
