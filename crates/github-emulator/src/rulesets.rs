//! Rulesets of a repository: of which branches they require what, and who may bypass them.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::{branch_rules::BranchRules, users::Role};
use crate::names::Timestamp;

/// What a pattern of branches begins with, if it is not one of the words below.
const HEADS: &str = "refs/heads/";
/// All branches, as a pattern.
const ALL: &str = "~ALL";
/// The default branch, as a pattern.
const DEFAULT_BRANCH: &str = "~DEFAULT_BRANCH";

/// A ruleset of branches.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ruleset {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) enforcement: Enforcement,
    /// Patterns of branches that it binds.
    pub(super) include: Vec<String>,
    /// Patterns of branches that it does not bind.
    pub(super) exclude: Vec<String>,
    pub(super) bypass_actors: Vec<BypassActor>,
    pub(super) rules: Rules,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// Whether a ruleset has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Enforcement {
    Active,
    /// None: GitHub only notes what it would have refused.
    Evaluate,
    Disabled,
}

/// An actor that may bypass a ruleset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BypassActor {
    pub(super) actor_type: ActorType,
    pub(super) actor_id: u64,
    #[serde(default)]
    pub(super) bypass_mode: BypassMode,
}

/// The kind of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ActorType {
    /// An App, by its id.
    Integration,
    /// A role and those above it: 2 is maintain, 4 write, 5 admin.
    RepositoryRole,
}

/// What an actor may bypass.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BypassMode {
    #[default]
    Always,
    /// Merges of pull requests alone.
    PullRequest,
    Exempt,
}

/// What a branch requires.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the rules of GitHub's rulesets, by their names")]
pub(super) struct Rules {
    /// What merges into it need.
    pub(super) merging: BranchRules,
    /// Whether it cannot be created.
    pub(super) creation: bool,
    /// Whether it cannot be moved.
    pub(super) update: bool,
    /// Whether it cannot be deleted.
    pub(super) deletion: bool,
    /// Whether it only moves forward.
    pub(super) non_fast_forward: bool,
    /// Whether it may be created at a commit whose required checks have not passed.
    pub(super) do_not_enforce_on_create: bool,
}

/// Who moves a branch, for rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mover {
    pub(super) role: Role,
    /// The App whose token it uses.
    pub(super) app: Option<u64>,
}

/// How a branch is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By the merge of a pull request.
    Merge,
    /// By a push or the API.
    Push,
}

impl Ruleset {
    /// An active ruleset of one branch, of that name, which nobody can bypass.
    pub(super) fn of_branch(id: u64, branch: &str, merging: BranchRules, now: Timestamp) -> Self {
        Self {
            id,
            name: branch.to_owned(),
            enforcement: Enforcement::Active,
            include: vec![format!("{HEADS}{branch}")],
            exclude: Vec::new(),
            bypass_actors: Vec::new(),
            rules: Rules { merging, ..Rules::default() },
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether it binds this branch.
    pub(super) fn binds(&self, branch: &str, default_branch: &str) -> bool {
        let matches = |pattern: &String| match pattern.as_str() {
            ALL => true,
            DEFAULT_BRANCH => branch == default_branch,
            pattern => {
                let glob = GlobBuilder::new(pattern).literal_separator(true).build();
                glob.is_ok_and(|glob| glob.compile_matcher().is_match(format!("{HEADS}{branch}")))
            }
        };
        let active = self.enforcement == Enforcement::Active;
        active && self.include.iter().any(matches) && !self.exclude.iter().any(matches)
    }

    /// What this actor may bypass; `None` if nothing.
    pub(super) fn bypass_of(&self, mover: Mover) -> Option<BypassMode> {
        let is = |actor: &&BypassActor| match actor.actor_type {
            ActorType::Integration => mover.app == Some(actor.actor_id),
            ActorType::RepositoryRole => actor.role().is_some_and(|role| mover.role >= role),
        };
        let mut modes: Vec<_> = self.bypass_actors.iter().filter(is).map(|actor| actor.bypass_mode).collect();
        modes.sort_by_key(|mode| *mode == BypassMode::PullRequest);
        modes.first().copied()
    }

    /// Whether it lets this actor move a branch so, regardless of its rules.
    pub(super) fn lets_pass(&self, mover: Mover, way: Way) -> bool {
        match self.bypass_of(mover) {
            Some(BypassMode::Always | BypassMode::Exempt) => true,
            Some(BypassMode::PullRequest) => way == Way::Merge,
            None => false,
        }
    }
}

impl BypassActor {
    /// The role that it is; `None` if it is an App or a role that does not exist.
    pub(super) fn role(&self) -> Option<Role> {
        match (self.actor_type, self.actor_id) {
            (ActorType::RepositoryRole, 2) => Some(Role::Maintain),
            (ActorType::RepositoryRole, 4) => Some(Role::Write),
            (ActorType::RepositoryRole, 5) => Some(Role::Admin),
            (ActorType::RepositoryRole | ActorType::Integration, _) => None,
        }
    }
}

impl Rules {
    /// The protection of a branch, which is never deleted or moved back.
    pub(super) fn of_protection(merging: BranchRules) -> Self {
        Self { merging, deletion: true, non_fast_forward: true, ..Self::default() }
    }
}

/// Whether a condition may have this pattern.
pub(super) fn is_pattern(pattern: &str) -> bool {
    let named = pattern.strip_prefix(HEADS).is_some_and(|rest| !rest.is_empty());
    pattern == ALL || pattern == DEFAULT_BRANCH || (named && GlobBuilder::new(pattern).build().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ruleset_binds_the_branches_of_its_patterns() {
        let base = Ruleset::of_branch(1, "main", BranchRules::default(), Timestamp::UNIX_EPOCH);
        let list = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>();
        for (include, exclude, branch, binds) in [
            (&["refs/heads/main"][..], &[][..], "main", true),
            (&["refs/heads/main"], &[], "maintenance", false),
            (&["~DEFAULT_BRANCH"], &[], "trunk", true),
            (&["~DEFAULT_BRANCH"], &[], "main", false),
            (&["~ALL"], &["refs/heads/hob/*"], "hob/1-x", false),
            (&["~ALL"], &["refs/heads/hob/*"], "hob/1/x", true),
            (&["refs/heads/releases/**/*"], &[], "releases/1/2", true),
            (&[], &[], "main", false),
        ] {
            let ruleset = Ruleset { include: list(include), exclude: list(exclude), ..base.clone() };
            assert_eq!(ruleset.binds(branch, "trunk"), binds, "{include:?} {exclude:?} {branch}");
            let evaluated = Ruleset { enforcement: Enforcement::Evaluate, ..ruleset };
            assert!(!evaluated.binds(branch, "trunk"));
        }
        assert!(is_pattern("refs/heads/x*") && !is_pattern("main") && !is_pattern("refs/heads/"));
    }

    #[test]
    fn an_actor_bypasses_what_its_mode_says() {
        let mut ruleset = Ruleset::of_branch(1, "main", BranchRules::default(), Timestamp::UNIX_EPOCH);
        let (admin, app) = (ActorType::RepositoryRole, ActorType::Integration);
        ruleset.bypass_actors = vec![
            BypassActor { actor_type: admin, actor_id: 5, bypass_mode: BypassMode::PullRequest },
            BypassActor { actor_type: app, actor_id: 7, bypass_mode: BypassMode::Always },
        ];
        let passes = |role, app| [Way::Merge, Way::Push].map(|way| ruleset.lets_pass(Mover { role, app }, way));
        assert_eq!(passes(Role::Admin, None), [true, false]);
        assert_eq!(passes(Role::Write, Some(7)), [true, true]);
        assert_eq!(passes(Role::Maintain, Some(8)), [false, false]);
    }
}
