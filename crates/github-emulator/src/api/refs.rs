//! Refs: the compare-and-set that leases are made of. Creating one fails if it exists; moving one without force fails
//! unless it is a fast-forward; both are exact under concurrency, pushes included.

use git2::{ErrorCode, ObjectType, Oid, Repository};
use serde_json::Value;

use super::super::{
    branch_guard::{Tip, binding, forbids, mover},
    call::{Answer, Call, Reply},
    fields::Fields,
    git::RefMove,
    ref_moves::moved,
    refusal::Refusal,
    route::{Route, delete, get, patch, post},
    users::Role,
    wire,
};
use super::ref_moods;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/git/ref/{*ref}", show),
    get("/repos/{owner}/{repo}/git/matching-refs/{*ref}", matching),
    get("/repos/{owner}/{repo}/git/matching-refs/", matching),
    post("/repos/{owner}/{repo}/git/refs", create).body(&["ref", "sha"]),
    patch("/repos/{owner}/{repo}/git/refs/{*ref}", update).body(&["sha", "force"]),
    delete("/repos/{owner}/{repo}/git/refs/{*ref}", remove),
];

fn show(call: &Call) -> Answer {
    let git = call.read_git()?;
    let name = format!("refs/{}", call.part("ref"));
    let target = find(&git, &name)?.filter(|_| ref_moods::shows(call, &name)).ok_or_else(Refusal::not_found)?;
    shown(call, &git, &name, target).map(Reply::ok)
}

/// All that match: GitHub has no pages here and ignores `per_page`, see
/// <https://github.com/google/go-github/issues/1567>.
fn matching(call: &Call) -> Answer {
    let git = call.read_git()?;
    let prefix = format!("refs/{}", call.part("ref"));
    let mut found = Vec::new();
    for reference in git.references()? {
        let reference = reference?;
        if let (Ok(name), Some(target)) = (reference.name(), reference.target())
            && name.starts_with(&prefix)
            && ref_moods::shows(call, name)
        {
            found.push((name.to_owned(), target));
        }
    }
    found.sort();
    let state = call.state();
    let view = call.view(&state)?;
    let shown = found.iter().map(|(name, target)| wire::reference(view, name, *target, kind(&git, *target)));
    Ok(Reply::ok(shown.collect()))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("Reference")?;
    let git = call.write_git(Role::Write)?;
    let name = fields.required("ref")?;
    let target = target(&git, &fields)?;
    ref_moods::sees_commit(call, &name, target, &ref_moods::unknown_to_new())?;
    refuses_name(&name)?;
    guard_move(call, &git, &name, None, Tip::Is(target))?;
    suits(&git, &name, target)?;
    if find(&git, &name)?.is_some() {
        return Err(ref_moods::lost(call, &name, "Reference already exists"));
    }
    ref_moods::refuses(call, &name)?;
    git.reference(&name, target, false, "").map_err(refused)?;
    follow(call, &git, RefMove { reference: name.clone(), old: None, new: Some(target) })?;
    ref_moods::note_ref(call, &name);
    shown(call, &git, &name, target).map(Reply::created)
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("Reference")?;
    let git = call.write_git(Role::Write)?;
    let name = format!("refs/{}", call.part("ref"));
    let new = target(&git, &fields)?;
    ref_moods::sees_commit(call, &name, new, &ref_moods::unknown_to_old())?;
    let force = fields.flag("force")?.unwrap_or(false);
    let old = find(&git, &name)?.ok_or_else(|| Refusal::unprocessable("Reference does not exist"))?;
    ref_moods::sees_ref(call, &name)?;
    guard_move(call, &git, &name, Some(old), Tip::Is(new))?;
    suits(&git, &name, new)?;
    if !force && old != new && !git.graph_descendant_of(new, old).unwrap_or(false) {
        return Err(ref_moods::lost(call, &name, "Update is not a fast forward"));
    }
    ref_moods::refuses(call, &name)?;
    git.reference(&name, new, true, "").map_err(refused)?;
    follow(call, &git, RefMove { reference: name.clone(), old: Some(old), new: Some(new) })?;
    shown(call, &git, &name, new).map(Reply::ok)
}

fn remove(call: &Call) -> Answer {
    let git = call.write_git(Role::Write)?;
    let name = format!("refs/{}", call.part("ref"));
    let old = find(&git, &name)?.ok_or_else(|| Refusal::unprocessable("Reference does not exist"))?;
    guard_move(call, &git, &name, Some(old), Tip::Gone)?;
    if name == format!("refs/heads/{}", call.repository(&call.state(), Role::Write)?.default_branch) {
        return Err(Refusal::unprocessable("Cannot delete the default branch"));
    }
    git.find_reference(&name)?.delete()?;
    follow(call, &git, RefMove { reference: name, old: Some(old), new: None })?;
    Ok(Reply::empty())
}

/// Refuses what is not a ref's whole name.
pub(super) fn refuses_name(name: &str) -> Result<(), Refusal> {
    if !name.starts_with("refs/") || name.split('/').count() < 3 {
        let message = "Reference name must start with 'refs/' and have at least two slashes";
        return Err(Refusal::unprocessable(message));
    }
    if !git2::Reference::is_valid_name(name) {
        return Err(Refusal::unprocessable("Reference name is not well formed"));
    }
    Ok(())
}

/// The target of a ref; `None` if there is no such ref, or the name is not valid for a ref.
pub(super) fn find(git: &Repository, name: &str) -> Result<Option<Oid>, Refusal> {
    match git.refname_to_id(name) {
        Ok(target) => Ok(Some(target)),
        Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing was ever pushed. Git itself says no if the first branch is not called `master`.
pub(super) fn is_unborn(git: &Repository) -> Result<bool, Refusal> {
    Ok(git.references_glob("refs/heads/*")?.next().is_none())
}

/// Lets issues and pull requests follow a ref that moved.
pub(super) fn follow(call: &Call, git: &Repository, change: RefMove) -> Result<(), Refusal> {
    let name = call.repository(&call.state(), Role::Read)?.name.clone();
    moved(&call.forge, git, &name, call.actor()?, &change)
}

/// Refuses a move of a protected branch or of a ref that is the forge's own.
pub(super) fn guard(call: &Call, name: &str) -> Result<(), Refusal> {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    if name.starts_with("refs/pull/") {
        return Err(Refusal::unprocessable("Reference is read-only"));
    }
    if repo.protects(name) && call.role(&state, repo) < Role::Maintain {
        return Err(Refusal::unprocessable(format!("Protected branch update failed for {name}")));
    }
    Ok(())
}

/// The same, and refuses moves that the rules of the branch only allow to pull requests.
pub(super) fn guard_move(call: &Call, git: &Repository, name: &str, old: Option<Oid>, tip: Tip) -> Result<(), Refusal> {
    guard(call, name)?;
    let Some(branch) = name.strip_prefix("refs/heads/") else { return Ok(()) };
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let mover = mover(&call.forge, &state.accounts, call.caller.as_ref(), call.role(&state, repo));
    let rules = binding(repo, branch, mover);
    match forbids(git, repo, &state.accounts, rules, old, tip) {
        Some((_, sentence)) => Err(Refusal::unprocessable(sentence)),
        None => Ok(()),
    }
}

fn target(git: &Repository, fields: &Fields) -> Result<Oid, Refusal> {
    let sha = fields.required("sha")?;
    if sha.len() != 40 {
        return Err(Refusal::unprocessable(
            "The sha parameter must be exactly 40 characters and contain only [0-9a-f].",
        ));
    }
    let target = Oid::from_str(&sha).ok().filter(|oid| kind(git, *oid).is_some());
    target.ok_or_else(|| Refusal::unprocessable("Object does not exist"))
}

/// A branch points to a commit and nothing else.
pub(super) fn suits(git: &Repository, name: &str, target: Oid) -> Result<(), Refusal> {
    if name.starts_with("refs/heads/") && kind(git, target) != Some(ObjectType::Commit) {
        return Err(Refusal::unprocessable("Reference cannot be updated: Object is not a commit"));
    }
    Ok(())
}

pub(super) fn kind(git: &Repository, target: Oid) -> Option<ObjectType> {
    git.find_object(target, None).ok().and_then(|object| object.kind())
}

fn shown(call: &Call, git: &Repository, name: &str, target: Oid) -> Result<Value, Refusal> {
    let state = call.state();
    Ok(wire::reference(call.view(&state)?, name, target, kind(git, target)))
}

fn refused(error: git2::Error) -> Refusal {
    match error.code() {
        ErrorCode::InvalidSpec => Refusal::unprocessable("Reference name is not well formed"),
        // A name that is a folder of other refs, or below another ref.
        ErrorCode::Exists | ErrorCode::Directory => Refusal::unprocessable("Reference cannot be created"),
        _ => Refusal::from(error),
    }
}
