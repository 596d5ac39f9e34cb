//! The page of an issue: its state and labels, its text, its events.

use serde_json::json;

use super::{
    super::{
        call::{Answer, Call},
        users::Role,
    },
    layout::{page, trail},
    pull,
    text::{head, timeline},
};

/// An issue, or a pull request if the number is one's.
pub(super) fn show(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let issue = call.issue(repo)?;
    if issue.pull.is_some() {
        drop(state);
        return pull::show(call);
    }
    let shown = json!({"issue": head(repo, issue), "timeline": timeline(repo, issue)});
    page("issue.html", &format!("{} #{}", issue.title, issue.number), &trail(call), &shown)
}
