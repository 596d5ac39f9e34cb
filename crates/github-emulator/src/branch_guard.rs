//! The rules of a branch that forbid to move it directly, other than by the merge of a pull request.
//!
//! # Caveats
//! The commits of a push are not known before it is let in: a merge commit in one is not seen, and git itself refuses
//! moves that are not fast-forwards, for all refs of that push.

use git2::{Oid, Repository as Git};

use super::{
    forge::Forge,
    merge_state::{checks_of, checks_unmet},
    rulesets::{Mover, Rules, Way},
    state::{Accounts, Repository},
    users::{AccountKind, Role},
    verification::all_verified,
};
use crate::names::Login;

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

/// The rules of a branch that bind pushes of this actor.
pub(super) fn binding(repo: &Repository, branch: &str, mover: Mover) -> impl Iterator<Item = (Source, Rules)> {
    let protection = repo.rules.get(branch).filter(|rules| rules.enforce_admins || mover.role < Role::Admin);
    let protection = protection.map(|rules| (Source::Protection, Rules::of_protection(rules.clone())));
    let rulesets = repo.rulesets_of(branch).filter(move |ruleset| !ruleset.lets_pass(mover, Way::Push));
    protection.into_iter().chain(rulesets.map(|ruleset| (Source::Ruleset, ruleset.rules.clone())))
}

/// The caller, for rules. An account of type Bot acts as an App of its own id.
pub(super) fn mover(forge: &Forge, accounts: &Accounts, login: Option<&Login>, role: Role) -> Mover {
    let started_with = |login: &Login| forge.apps.iter().find(|app| app.login().is(login)).map(|app| app.id);
    let bot = |login: &Login| accounts.get(login.as_str()).filter(|known| known.kind == AccountKind::Bot);
    let app = login.and_then(|login| started_with(login).or_else(|| bot(login).map(|known| known.id)));
    Mover { role, app }
}

/// Which of the rules [`binding`] an account forbid to move their branch so, with GitHub's message; `None` if none do.
pub(super) fn forbids(
    git: &Git,
    repo: &Repository,
    accounts: &Accounts,
    rules: impl Iterator<Item = (Source, Rules)>,
    old: Option<Oid>,
    tip: Tip,
) -> Option<(Source, String)> {
    let mut rules = rules;
    rules.find_map(|(source, rules)| {
        let objection = match old {
            Some(old) => objection(git, repo, accounts, &rules, old, tip),
            None => objection_to_new(repo, &rules, tip),
        };
        Some((source, objection?))
    })
}

fn objection_to_new(repo: &Repository, rules: &Rules, tip: Tip) -> Option<String> {
    if rules.creation {
        return Some("Cannot create ref due to creations being restricted.".to_owned());
    }
    let sha = match tip {
        Tip::Gone => return None,
        Tip::New => String::new(),
        Tip::Is(new) => new.to_string(),
    };
    let checks = if rules.do_not_enforce_on_create { Vec::new() } else { checks_of(&rules.merging) };
    checks_unmet(repo, &sha, &checks)
}

fn objection(git: &Git, repo: &Repository, accounts: &Accounts, rules: &Rules, old: Oid, tip: Tip) -> Option<String> {
    let new = match tip {
        Tip::Gone => return rules.deletion.then(|| "Cannot delete this branch".to_owned()),
        Tip::Is(new) if new == old => return None,
        Tip::Is(_) | Tip::New if rules.update => return Some("Cannot update this protected ref.".to_owned()),
        Tip::Is(new) if rules.non_fast_forward && !git.graph_descendant_of(new, old).unwrap_or(false) => {
            return Some("Cannot force-push to this branch".to_owned());
        }
        Tip::Is(new) => Some(new),
        Tip::New => None,
    };
    let rules = &rules.merging;
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
