//! The packages that a change brings or takes away, with the advisories that a test made known. Of the files that GitHub reads,
//! the forge reads `package-lock.json`.

use std::collections::BTreeSet;

use git2::{Oid, Repository as Git};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    super::{
        advisory::KnownAdvisory,
        call::{Answer, Call, Reply},
        git::merge_base,
        refusal::Refusal,
        route::{Route, get},
        state::Visibility,
        users::Role,
    },
    compare::commit_of,
};

pub(super) const ROUTES: &[Route] =
    &[get("/repos/{owner}/{repo}/dependency-graph/compare/{*basehead}", compare).query(&["name"])];

/// The file that is read.
const LOCK: &str = "package-lock.json";

/// A package in a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
}

fn compare(call: &Call) -> Answer {
    if call.repository(&call.state(), Role::Read)?.visibility == Visibility::Private {
        let says = "Dependency review is not supported on this repository. Please ensure that Dependency graph is enabled \
                    along with GitHub Advanced Security";
        return Err(Refusal::new(StatusCode::FORBIDDEN, says));
    }
    let git = call.read_git()?;
    let (base, head) = call.part("basehead").split_once("...").ok_or_else(Refusal::not_found)?;
    let (base, head) = (commit_of(&git, base)?, commit_of(&git, head)?);
    let fork = merge_base(&git, base, head)?.ok_or_else(Refusal::not_found)?;
    let mut changes = Vec::new();
    for path in changed(&git, fork, head)? {
        if call.query("name").is_some_and(|name| name != path) {
            continue;
        }
        let [before, after] = [packages(&git, fork, &path)?, packages(&git, head, &path)?];
        let removed = before.difference(&after).map(|package| ("removed", package));
        let added = after.difference(&before).map(|package| ("added", package));
        changes.extend(removed.chain(added).map(|(kind, package)| shown(call, kind, &path, package)));
    }
    Ok(Reply::ok(Value::Array(changes)))
}

/// The lock files that differ between two commits.
fn changed(git: &Git, old: Oid, new: Oid) -> Result<Vec<String>, git2::Error> {
    let tree = |id| git.find_commit(id).and_then(|commit| commit.tree());
    let diff = git.diff_tree_to_tree(Some(&tree(old)?), Some(&tree(new)?), None)?;
    let paths = diff.deltas().filter_map(|delta| Some(delta.new_file().path()?.to_string_lossy().into_owned()));
    Ok(paths.filter(|path| path.rsplit('/').next() == Some(LOCK)).collect())
}

fn packages(git: &Git, commit: Oid, path: &str) -> Result<BTreeSet<Package>, git2::Error> {
    let tree = git.find_commit(commit)?.tree()?;
    let Ok(entry) = tree.get_path(path.as_ref()) else { return Ok(BTreeSet::new()) };
    let text: Value = serde_json::from_slice(git.find_blob(entry.id())?.content()).unwrap_or_default();
    let all = text["packages"].as_object().into_iter().flatten();
    let package = |(place, package): (&String, &Value)| {
        let (_, name) = place.rsplit_once("node_modules/")?;
        Some(Package { name: name.to_owned(), version: package["version"].as_str()?.to_owned() })
    };
    Ok(all.filter_map(package).collect())
}

fn shown(call: &Call, kind: &str, path: &str, Package { name, version }: &Package) -> Value {
    let known = call.forge.advisories();
    let of_it = known.iter().filter(|known| kind == "added" && known.package == *name && known.version == *version);
    let weak = |known: &KnownAdvisory| {
        json!({
            "severity": known.severity,
            "advisory_ghsa_id": known.id,
            "advisory_summary": known.summary,
            "advisory_url": format!("https://github.com/advisories/{}", known.id),
        })
    };
    json!({
        "change_type": kind,
        "manifest": path,
        "ecosystem": "npm",
        "name": name,
        "version": version,
        "package_url": format!("pkg:npm/{name}@{version}"),
        "license": null,
        "source_repository_url": null,
        "scope": "runtime",
        "vulnerabilities": of_it.map(weak).collect::<Vec<_>>(),
    })
}
