//! Several refs at once: all of them move, or none does. Only GraphQL has it, as `updateRefs`.
//!
//! # Caveats
//! GitHub documents what is refused and not in which words: these are the REST API's about one ref.

use std::collections::BTreeSet;

use git2::{Oid, Repository};

use super::{
    super::{
        branch_guard::Tip,
        call::Call,
        git::{RefMove, is_forced},
        permission::Needed,
        refusal::Refusal,
        users::Role,
    },
    ref_moods,
    refs::{find, follow, guard_move, kind, refuses_name, suits},
};

/// One of the moves.
#[derive(Debug, Clone)]
pub(in super::super) struct RefUpdate {
    /// The ref's whole name.
    pub(in super::super) name: String,
    /// Where it has to be before, with all zeros for nowhere; `None` for anywhere.
    pub(in super::super) before: Option<Oid>,
    /// Where it goes, with all zeros for nowhere.
    pub(in super::super) after: Oid,
    /// Whether it may leave commits behind.
    pub(in super::super) force: Force,
}

/// Whether a ref may move to a commit that does not descend from its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Force {
    Yes,
    No,
}

/// Moves these refs of the repository in the call's path.
///
/// # Errors
/// The refusal of the first one that may not move: then none has moved.
pub(in super::super) fn update_refs(call: &Call, updates: &[RefUpdate]) -> Result<(), Refusal> {
    if let Some(needed) = Needed::for_call("PATCH", "/repos/{owner}/{repo}/git/refs/{*ref}") {
        call.permitted(needed)?;
    }
    let git = call.write_git(Role::Write)?;
    let moves = updates.iter().map(|update| planned(call, &git, update)).collect::<Result<Vec<_>, _>>()?;
    fit_together(&git, &moves)?;
    let moves: Vec<_> = moves.into_iter().filter(|change| change.old != change.new).collect();
    let mut transaction = git.transaction()?;
    for RefMove { reference, new, .. } in &moves {
        transaction.lock_ref(reference)?;
        match new {
            Some(new) => transaction.set_target(reference, *new, None, "")?,
            None => transaction.remove(reference)?,
        }
    }
    transaction.commit()?;
    moves.into_iter().try_for_each(|change| follow(call, &git, change))
}

/// The move, if nothing is against it.
fn planned(call: &Call, git: &Repository, update: &RefUpdate) -> Result<RefMove, Refusal> {
    let RefUpdate { name, before, after, force } = update;
    refuses_name(name)?;
    let old = find(git, name)?;
    let new = Some(*after).filter(|after| !after.is_zero());
    if before.is_some_and(|before| before != old.unwrap_or(Oid::ZERO_SHA1)) {
        return Err(ref_moods::lost(call, name, "Reference cannot be updated"));
    }
    if old.is_none() && new.is_none() {
        return Err(Refusal::unprocessable("Reference does not exist"));
    }
    let change = RefMove { reference: name.clone(), old, new };
    let Some(new) = new else {
        guard_move(call, git, name, old, Tip::Gone)?;
        if *name == format!("refs/heads/{}", call.repository(&call.state(), Role::Write)?.default_branch) {
            return Err(Refusal::unprocessable("Cannot delete the default branch"));
        }
        return Ok(change);
    };
    if kind(git, new).is_none() {
        return Err(Refusal::unprocessable("Object does not exist"));
    }
    ref_moods::sees_commit(call, name, new, &ref_moods::unknown_to_old())?;
    guard_move(call, git, name, old, Tip::Is(new))?;
    suits(git, name, new)?;
    if *force == Force::No && is_forced(git, &change) {
        return Err(ref_moods::lost(call, name, "Update is not a fast forward"));
    }
    ref_moods::refuses(call, name)?;
    Ok(change)
}

/// Refuses a ref that is named twice, and one that would be a folder of another.
fn fit_together(git: &Repository, moves: &[RefMove]) -> Result<(), Refusal> {
    let mut names = BTreeSet::new();
    for name in git.references()?.names() {
        names.insert(name?.to_owned());
    }
    let mut moved = BTreeSet::new();
    for RefMove { reference, new, .. } in moves {
        if !moved.insert(reference) {
            return Err(Refusal::unprocessable(format!("Multiple updates for ref '{reference}' not allowed")));
        }
        match new {
            Some(_) => names.insert(reference.clone()),
            None => names.remove(reference),
        };
    }
    let is_folder = |name: &String| names.range(format!("{name}/")..format!("{name}0")).next().is_some();
    if names.iter().any(is_folder) {
        return Err(Refusal::unprocessable("Reference cannot be created"));
    }
    Ok(())
}
