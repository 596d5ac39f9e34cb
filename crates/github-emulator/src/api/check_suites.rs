//! Check suites: the check runs of one App on one commit, or of one run of a workflow.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::Page,
        refusal::Refusal,
        state::CheckRun,
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
    let mut suites: BTreeMap<u64, Vec<&CheckRun>> = BTreeMap::new();
    for run in repo.latest_checks(&sha.to_string()) {
        suites.entry(run.suite).or_default().push(run);
    }
    let by = |run: &CheckRun| wanted.is_none_or(|id| run.app.as_ref().is_some_and(|app| app.id == id));
    let found = suites.into_values().filter(|runs| runs.iter().all(|run| by(run)));
    let found: Vec<_> = found.filter(|runs| name.is_none_or(|name| runs.iter().any(|run| run.name == name))).collect();
    let (page, total) = (Page::of(call), found.len());
    let view = call.view(&state)?;
    let shown: Value = page.of_list(found).iter().map(|runs| wire::check_suite(view, runs, &head)).collect();
    Ok(Reply::ok(json!({"total_count": total, "check_suites": shown})).with_link(page.link(call, total)))
}
