//! Repositories: create one, look at one.

use super::{
    super::{
        call::{Answer, Call, Reply},
        refusal::Refusal,
        route::{Route, get, post},
        state::Repository,
        users::Role,
        wire::{self, View},
    },
    repo_edit::settle,
};
use crate::names::RepoName;

pub(super) const ROUTES: &[Route] = &[
    post("/user/repos", create).body(&[
        "name",
        "auto_init",
        "description",
        "homepage",
        "private",
        "visibility",
        "has_issues",
        "allow_merge_commit",
        "allow_squash_merge",
        "allow_rebase_merge",
        "delete_branch_on_merge",
        "has_projects",
        "has_wiki",
        "has_discussions",
        "has_downloads",
        "is_template",
        "allow_auto_merge",
        "allow_update_branch",
        "allow_forking",
        "web_commit_signoff_required",
    ]),
    get("/repos/{owner}/{repo}", show),
];

fn show(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    Ok(Reply::ok(wire::full_repository(call.view(&state)?, call.role(&state, repo))))
}

fn create(call: &Call) -> Answer {
    let actor = call.actor()?;
    // An installation is not an account that could own one.
    if call.grant.is_some() {
        return Err(Refusal::integration());
    }
    let fields = call.fields("Repository")?;
    let name = fields.required("name")?;
    let name: RepoName = format!("{actor}/{name}").parse().map_err(|_| fields.invalid("name"))?;
    let mut repo = Repository::new(call.forge.next_id(), name.clone(), call.now);
    settle(&fields, &mut repo)?;
    let taken = |state: &super::super::state::State| state.repositories.get(name.owner(), name.name()).is_some();
    let exists = || Refusal::custom("Repository", "name", "name already exists on this account");
    if taken(&call.state()) {
        return Err(exists());
    }
    let git = call.forge.git.init(repo.id, &repo.default_branch)?;
    if fields.flag("auto_init")?.unwrap_or(false) {
        let readme = format!("# {}\n", name.name());
        super::super::git::plant(&git, &repo.default_branch, &[("README.md", readme.as_bytes(), false)])?;
    }
    let mut state = call.state();
    // Another request may have been quicker; its repository stays, this one's folder is never reached.
    if taken(&state) {
        return Err(exists());
    }
    state.repositories.put(repo);
    let repo = state.repositories.get(name.owner(), name.name()).ok_or_else(Refusal::not_found)?;
    let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
    Ok(Reply::created(wire::full_repository(view, Role::Admin)))
}
