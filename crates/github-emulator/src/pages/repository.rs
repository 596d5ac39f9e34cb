//! The page of a repository: its files, issues and pull requests; and the list of all repositories.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call},
        markdown,
        refusal::Refusal,
        state::IssueState,
        users::Role,
    },
    layout::{page, trail},
    text::line,
};

/// The most entries of each list on a page.
const SHOWN_MAX: usize = 200;

/// All repositories that the reader may see.
pub(super) fn all(call: &Call) -> Answer {
    let state = call.state();
    let seen = state.repositories.all().filter(|repo| call.role(&state, repo) >= Role::Read);
    let repositories: Value = seen
        .map(|repo| {
            let open = repo.issues.values().filter(|issue| issue.state == IssueState::Open).count();
            json!({"name": repo.name, "description": repo.description, "open": open})
        })
        .collect();
    page("all.html", "Repositories", &[], &json!({"repositories": repositories}))
}

/// A repository, by its default branch.
pub(super) fn show(call: &Call) -> Answer {
    let branch = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    shown(call, &branch)
}

/// A repository, by one of its branches.
pub(super) fn branch(call: &Call) -> Answer {
    let branch = call.part("branch");
    if call.read_git()?.find_reference(&format!("refs/heads/{branch}")).is_err() {
        return Err(Refusal::not_found());
    }
    shown(call, branch)
}

fn shown(call: &Call, branch: &str) -> Answer {
    let git = call.read_git()?;
    let (files, readme) = tree(&git, branch, &format!("/{}/{}", call.part("owner"), call.part("repo")));
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let newest = || repo.issues.values().rev();
    let issues: Value = newest().filter(|issue| issue.pull.is_none()).take(SHOWN_MAX).map(|i| line(repo, i)).collect();
    let pulls: Value = newest().filter(|issue| issue.pull.is_some()).take(SHOWN_MAX).map(|i| line(repo, i)).collect();
    let shown = json!({
        "name": repo.name,
        "description": repo.description,
        "clone": format!("{}/{}.git", call.forge.server(), repo.name),
        "branch": branch,
        "files": files,
        "readme": readme,
        "issues": issues,
        "pulls": pulls,
    });
    page("repository.html", &repo.name.to_string(), &trail(call), &shown)
}

/// The names at the top of a branch, folders first, and its README made to HTML.
fn tree(git: &git2::Repository, branch: &str, address: &str) -> (Value, Option<String>) {
    let tip = git.find_reference(&format!("refs/heads/{branch}")).and_then(|reference| reference.peel_to_tree());
    let Ok(tree) = tip else { return (json!([]), None) };
    let mut files: Vec<(bool, String)> = tree
        .iter()
        .map(|entry| {
            let folder = entry.kind() == Some(git2::ObjectType::Tree);
            (!folder, String::from_utf8_lossy(entry.name_bytes()).into_owned())
        })
        .collect();
    files.sort();
    let readme = tree.get_name("README.md").and_then(|entry| git.find_blob(entry.id()).ok());
    let readme = readme.map(|blob| markdown::html(&String::from_utf8_lossy(blob.content()), address));
    (files.into_iter().map(|(file, name)| json!({"name": name, "folder": !file})).collect(), readme)
}
