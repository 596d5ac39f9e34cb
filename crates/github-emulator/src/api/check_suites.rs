//! Check suites: the check runs of one App on one commit, or of one run of a workflow.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::Page,
        refusal::Refusal,
        users::Role,
        wire,
    },
    compare::commit_of,
};

/// The check suites of a commit.
pub(super) fn list(call: &Call) -> Answer {
    let git = call.read_git()?;
    let sha = commit_of(&git, call.part("sha"))?;
    let head = wire::simple_commit(&git.find_commit(sha)?);
    let wanted = call.query("app_id").map(|id| id.parse::<u64>().map_err(|_| Refusal::invalid("CheckSuite", "app_id")));
    let (wanted, name) = (wanted.transpose()?, call.query("check_name"));
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let mut found = repo.suites(&sha.to_string());
    found.retain(|suite| wanted.is_none_or(|id| suite.app.as_ref().is_some_and(|app| app.id == id)));
    found.retain(|suite| name.is_none_or(|name| suite.checks.iter().any(|check| check.name == name)));
    let (page, total) = (Page::asked_for(call), found.len());
    let view = call.view(&state)?;
    let shown: Value = page.of_list(found).iter().map(|suite| wire::check_suite(view, suite, &head)).collect();
    Ok(Reply::ok(json!({"total_count": total, "check_suites": shown})).with_link(page.link(call, total)))
}
