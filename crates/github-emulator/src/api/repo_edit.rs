//! A repository's life after it was made: changed, renamed, archived, deleted; and the lists of an account's repositories.

use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, patch},
        state::{Repository, Visibility},
        users::Role,
        wire::{self, FEATURES, View},
    },
    refs::find,
};
use crate::names::RepoName;

/// Features of GitHub's repositories that this forge does not have: turning them off changes nothing.
pub(super) const NEVER: [&str; 5] =
    ["has_discussions", "is_template", "allow_update_branch", "allow_forking", "web_commit_signoff_required"];

pub(super) const ROUTES: &[Route] = &[
    patch("/repos/{owner}/{repo}", update).body(&[
        "name",
        "description",
        "homepage",
        "private",
        "visibility",
        "default_branch",
        "archived",
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
    delete("/repos/{owner}/{repo}", remove),
    get("/user/repos", own).query(&["visibility", "affiliation", "type", "sort", "direction", "since", "before"]),
    get("/users/{login}/repos", of_account).query(&["type", "sort", "direction"]),
];

fn update(call: &Call) -> Answer {
    let fields = call.fields("Repository")?;
    let git = call.write_git(Role::Admin)?;
    let (id, archived) = {
        let state = call.state();
        let repo = call.repository(&state, Role::Admin)?;
        (repo.id, repo.archived)
    };
    if archived && fields.flag("archived")? != Some(false) {
        return Err(Refusal::archived());
    }
    let branch = fields.text("default_branch")?;
    if let Some(branch) = &branch {
        let name = format!("refs/heads/{branch}");
        if find(&git, &name)?.is_none() {
            let message = format!("The branch {branch} was not found. Please push that ref first or create it.");
            return Err(Refusal::custom("Repository", "default_branch", message));
        }
        git.set_head(&name)?;
    }
    let mut state = call.state();
    let name = match fields.text("name")? {
        Some(name) => new_name(call, &state, &fields, &name)?,
        None => None,
    };
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    if let Some(branch) = branch {
        repo.default_branch = branch;
    }
    settle(&fields, repo)?;
    if let Some(name) = name {
        state.repositories.rename(id, name);
    }
    let repo = state.repositories.by_id(id).ok_or_else(Refusal::not_found)?;
    let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
    Ok(Reply::ok(wire::full_repository(view, Role::Admin)))
}

/// The new name, if it differs from the old one; 422 if another repository has it.
fn new_name(
    call: &Call,
    state: &super::super::state::State,
    fields: &Fields,
    name: &str,
) -> Result<Option<RepoName>, Refusal> {
    let repo = call.repository(state, Role::Admin)?;
    let name: RepoName = format!("{}/{name}", repo.name.owner()).parse().map_err(|_| fields.invalid("name"))?;
    match state.repositories.get(name.owner(), name.name()) {
        Some(other) if other.id != repo.id => {
            Err(Refusal::custom("Repository", "name", "name already exists on this account"))
        }
        Some(_) | None => Ok((name != repo.name).then_some(name)),
    }
}

/// Applies settings of a new or existing repository that concern neither git nor names.
pub(super) fn settle(fields: &Fields, repo: &mut Repository) -> Result<(), Refusal> {
    for name in NEVER {
        if fields.flag(name)? == Some(true) {
            return Err(Refusal::unobeyed("field", name, "a repository with `true`"));
        }
    }
    for name in FEATURES {
        if let Some(wanted) = fields.flag(name)? {
            repo.features.insert(name.to_owned(), wanted);
        }
    }
    if fields.has("description") {
        repo.description = fields.text("description")?.filter(|text| !text.is_empty());
    }
    if fields.has("homepage") {
        repo.homepage = fields.text("homepage")?.filter(|text| !text.is_empty());
    }
    if let Some(private) = fields.flag("private")? {
        repo.visibility = if private { Visibility::Private } else { Visibility::Public };
    }
    match fields.text("visibility")?.as_deref() {
        None => {}
        Some("public") => repo.visibility = Visibility::Public,
        Some("private") => repo.visibility = Visibility::Private,
        Some(_) => return Err(fields.invalid("visibility")),
    }
    let merging = &mut repo.merging;
    for (name, flag) in [
        ("archived", &mut repo.archived),
        ("has_issues", &mut repo.has_issues),
        ("allow_merge_commit", &mut merging.allow_merge_commit),
        ("allow_squash_merge", &mut merging.allow_squash_merge),
        ("allow_rebase_merge", &mut merging.allow_rebase_merge),
        ("delete_branch_on_merge", &mut merging.delete_branch_on_merge),
        ("allow_auto_merge", &mut merging.allow_auto_merge),
    ] {
        *flag = fields.flag(name)?.unwrap_or(*flag);
    }
    if !(merging.allow_merge_commit || merging.allow_squash_merge || merging.allow_rebase_merge) {
        let message = "Sorry, you need to allow at least one merge strategy.";
        return Err(Refusal::custom("Repository", "merge_commit_allowed", message));
    }
    Ok(())
}

fn remove(call: &Call) -> Answer {
    let id = {
        let mut state = call.state();
        let id = call.repository_mut(&mut state, Role::Admin)?.id;
        state.repositories.remove(id);
        id
    };
    // The state first: a process that dies in between leaves a folder that the next start removes.
    call.forge.save().map_err(Refusal::internal)?;
    call.forge.git.delete(id).map_err(Refusal::internal)?;
    Ok(Reply::empty())
}

fn own(call: &Call) -> Answer {
    let login = call.actor()?;
    if call.grant.is_some() {
        return Err(Refusal::integration());
    }
    let resource = "Repository";
    let visibility = call.choice(resource, "visibility", &["all", "public", "private"])?;
    let kind = call.choice(resource, "type", &["all", "owner", "public", "private", "member"])?;
    let affiliation = call.query("affiliation").unwrap_or("owner,collaborator,organization_member");
    let affiliation: Vec<&str> = affiliation.split(',').map(str::trim).collect();
    if affiliation.iter().any(|word| !matches!(*word, "owner" | "collaborator" | "organization_member")) {
        return Err(Refusal::invalid(resource, "affiliation"));
    }
    // GitHub, too, takes only one of the two ways to choose.
    if call.query("type").is_some() && (call.query("visibility").or(call.query("affiliation"))).is_some() {
        let message = "If you specify visibility or affiliation, you cannot specify type.";
        return Err(Refusal::unprocessable(message));
    }
    let (since, before) = (call.time(resource, "since")?, call.time(resource, "before")?);
    listed(call, wire::repository, |repo| {
        let owns = repo.name.owner().eq_ignore_ascii_case(login.as_str());
        let private = repo.visibility == Visibility::Private;
        let by_kind = match kind {
            "owner" => owns,
            "member" => !owns,
            "public" => !private,
            "private" => private,
            _ => true,
        };
        by_kind
            && affiliation.contains(&if owns { "owner" } else { "collaborator" })
            && (visibility == "all" || (visibility == "private") == private)
            && since.is_none_or(|since| repo.pushed_at >= since)
            && before.is_none_or(|before| repo.pushed_at <= before)
    })
}

fn of_account(call: &Call) -> Answer {
    let login = call.part("login").to_owned();
    call.state().accounts.get(&login).ok_or_else(Refusal::not_found)?;
    let kind = call.choice("Repository", "type", &["owner", "all", "member"])?;
    listed(call, wire::minimal_repository, |repo| {
        let owns = repo.name.owner().eq_ignore_ascii_case(&login);
        match kind {
            "owner" => owns,
            "member" => !owns && repo.collaborators.contains_key(&login.to_ascii_lowercase()),
            _ => owns || repo.collaborators.contains_key(&login.to_ascii_lowercase()),
        }
    })
}

/// The repositories in which the caller has its own role, or that belong to an account, in the requested order.
fn listed(call: &Call, show: impl Fn(View<'_>, Role) -> Value, wanted: impl Fn(&Repository) -> bool) -> Answer {
    let state = call.state();
    let is_own = call.part("login").is_empty();
    let account = call.caller.as_ref().and_then(|login| state.accounts.get(login.as_str()));
    let seen = |repo: &&Repository| match (is_own, account) {
        (true, Some(account)) => repo.granted(account) >= Role::Read,
        (true, None) => false,
        (false, _) => call.role(&state, repo) >= Role::Read,
    };
    let mut found: Vec<&Repository> = state.repositories.all().filter(seen).filter(|repo| wanted(repo)).collect();
    let sort = call.choice("Repository", "sort", &["full_name", "created", "updated", "pushed"])?;
    match sort {
        "created" => found.sort_by_key(|repo| (repo.created_at, repo.id)),
        "updated" | "pushed" => found.sort_by_key(|repo| (repo.pushed_at, repo.id)),
        _ => found.sort_by_key(|repo| repo.name.to_string().to_lowercase()),
    }
    let directions = if sort == "full_name" { ["asc", "desc"] } else { ["desc", "asc"] };
    if call.choice("Repository", "direction", &directions)? == "desc" {
        found.reverse();
    }
    Ok(paged(call, found, |repo| {
        let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
        show(view, call.role(&state, repo))
    }))
}
