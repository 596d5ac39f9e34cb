//! The rules of a branch that forbid to move it directly, other than by the merge of a pull request.
//!
//! # Caveats
//! The commits of a push are not known before it is let in: a merge commit in one is not seen, and git itself refuses
//! moves that are not fast-forwards, for all refs of that push.

use git2::{Oid, Repository as Git};

use super::{
    branch_rules::BranchRules,
    merge_state::{checks_of, checks_unmet},
    state::{Accounts, Repository},
    users::Role,
    verification::all_verified,
};

/// The new target of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tip {
    /// Nowhere: it is deleted.
    Gone,
    /// A commit that does not exist yet.
    New,
    /// This commit.
    Is(Oid),
}

/// The source of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Protection,
    Ruleset,
}

/// The rules of a branch that bind accounts with this role.
pub(super) fn binding(repo: &Repository, branch: &str, role: Role) -> impl Iterator<Item = (Source, BranchRules)> {
    let protection = repo.rules.get(branch).filter(|rules| rules.enforce_admins || role < Role::Admin);
    let ruleset = repo.rulesets.get(branch).map(|ruleset| (Source::Ruleset, ruleset.rules.clone()));
    protection.cloned().map(|rules| (Source::Protection, rules)).into_iter().chain(ruleset)
}

/// Which of the rules [`binding`] an account forbid to move their branch so, with GitHub's message; `None` if none do.
pub(super) fn forbids(
    git: &Git,
    repo: &Repository,
    accounts: &Accounts,
    rules: impl Iterator<Item = (Source, BranchRules)>,
    old: Option<Oid>,
    tip: Tip,
) -> Option<(Source, String)> {
    let old = old?;
    let mut rules = rules;
    rules.find_map(|(source, rules)| Some((source, objection(git, repo, accounts, &rules, old, tip)?)))
}

fn objection(
    git: &Git,
    repo: &Repository,
    accounts: &Accounts,
    rules: &BranchRules,
    old: Oid,
    tip: Tip,
) -> Option<String> {
    let new = match tip {
        Tip::Gone => return Some("Cannot delete this branch".to_owned()),
        Tip::Is(new) if new == old => return None,
        Tip::Is(new) if !git.graph_descendant_of(new, old).unwrap_or(false) => {
            return Some("Cannot force-push to this branch".to_owned());
        }
        Tip::Is(new) => Some(new),
        Tip::New => None,
    };
    if rules.required_pull_request_reviews.is_some() {
        return Some("Changes must be made through a pull request.".to_owned());
    }
    if rules.required_linear_history && new.is_some_and(|new| has_merges(git, old, new)) {
        return Some("This branch must not contain merge commits.".to_owned());
    }
    if rules.required_signatures && !new.is_some_and(|new| all_verified(git, old, new, accounts).unwrap_or(false)) {
        return Some("Commits must have verified signatures.".to_owned());
    }
    let sha = new.map(|new| new.to_string()).unwrap_or_default();
    checks_unmet(repo, &sha, &checks_of(rules))
}

fn has_merges(git: &Git, old: Oid, new: Oid) -> bool {
    let walk = || {
        let mut walk = git.revwalk()?;
        walk.push(new)?;
        walk.hide(old)?;
        walk.map(|id| Ok(git.find_commit(id?)?.parent_count() > 1)).collect::<Result<Vec<_>, git2::Error>>()
    };
    walk().is_ok_and(|all| all.contains(&true))
}
