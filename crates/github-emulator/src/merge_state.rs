//! Whether a pull request can be merged, and its obstacles: conflicts, and the requirements of its base branch.
//!
//! # Caveats
//! Of several obstacles `mergeable_state` names one, as on GitHub: `dirty`, `draft`, `blocked`, `behind`, `unstable`.

use super::{
    branch_rules::{BranchRules, RequiredCheck},
    merge_method::MergeMethod,
    rulesets::{Mover, Rules, Way},
    state::{Accounts, CheckRun, Issue, Pull, Repository, Review, ReviewState},
    users::Role,
};

/// The relation of a pull request's head and base, from git.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fit {
    /// Whether they merge without a conflict; `None` if the pull request is merged or closed.
    pub(super) mergeable: Option<bool>,
    /// Whether the head lacks commits of the base.
    pub(super) behind: bool,
    /// Whether all commits of the head have verified signatures.
    pub(super) verified: bool,
}

/// Whether a pull request can be merged. <https://docs.github.com/graphql/reference/enums#mergestatestatus>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeState {
    Unknown,
    Dirty,
    Draft,
    Blocked,
    Behind,
    Unstable,
    Clean,
}

impl MergeState {
    /// The REST API's name of it; GraphQL's is in capitals.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Dirty => "dirty",
            Self::Draft => "draft",
            Self::Blocked => "blocked",
            Self::Behind => "behind",
            Self::Unstable => "unstable",
            Self::Clean => "clean",
        }
    }
}

/// The state of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Passed,
    Expected,
    Pending,
    InProgress,
    Failing,
}

impl Standing {
    /// In GitHub's words, as in `Required status check "test" is expected.`
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "successful",
            Self::Expected => "expected",
            Self::Pending => "pending",
            Self::InProgress => "in progress",
            Self::Failing => "failing",
        }
    }
}

/// Whether the pull request of an issue can be merged, given git's facts.
pub(super) fn merge_state(repo: &Repository, accounts: &Accounts, issue: &Issue, fit: Fit) -> MergeState {
    let Some(pull) = &issue.pull else { return MergeState::Unknown };
    match fit.mergeable {
        None => return MergeState::Unknown,
        Some(false) => return MergeState::Dirty,
        Some(true) if pull.draft => return MergeState::Draft,
        Some(true) => {}
    }
    let all: Vec<&BranchRules> = repo.rules_of(&pull.base_ref).collect();
    let restricted = repo.rulesets_of(&pull.base_ref).any(|ruleset| ruleset.rules.update);
    if restricted || all.iter().any(|rules| !unmet(repo, accounts, pull, rules, fit).is_empty()) {
        return MergeState::Blocked;
    }
    if fit.behind && all.iter().any(|rules| is_strict(rules)) {
        return MergeState::Behind;
    }
    let failed = repo.latest_checks(&pull.head_sha).into_iter().any(|run| !run.has_passed());
    let failed = failed || repo.latest_statuses(&pull.head_sha).into_iter().any(|status| status.state != "success");
    if failed { MergeState::Unstable } else { MergeState::Clean }
}

/// Why rules forbid the merge of a pull request by an actor, in GitHub's sentences; `None` if they do not.
pub(super) fn forbids(
    repo: &Repository,
    accounts: &Accounts,
    issue: &Issue,
    fit: Fit,
    mover: Mover,
    method: MergeMethod,
) -> Option<String> {
    let pull = issue.pull.as_ref()?;
    let said = |rules: &BranchRules| {
        let mut all = unmet(repo, accounts, pull, rules, fit);
        if fit.behind && is_strict(rules) {
            all.push("Head branch is out of date. Review and try the merge again.".to_owned());
        }
        if rules.required_linear_history && method == MergeMethod::Merge {
            all.push("This branch must not contain merge commits.".to_owned());
        }
        all
    };
    // Protection lets admins pass unless it says that it does not.
    let protection = repo.rules.get(&pull.base_ref).filter(|rules| rules.enforce_admins || mover.role < Role::Admin);
    let by_protection = protection.map(said).unwrap_or_default();
    if !by_protection.is_empty() {
        return Some(by_protection.join(" "));
    }
    let bound = repo.rulesets_of(&pull.base_ref).filter(|ruleset| !ruleset.lets_pass(mover, Way::Merge));
    let of_ruleset = |Rules { merging, update, .. }: &Rules| {
        let restricted = update.then(|| "Cannot update this protected ref.".to_owned());
        restricted.into_iter().chain(said(merging)).collect::<Vec<_>>()
    };
    let by_ruleset: Vec<String> = bound.flat_map(|ruleset| of_ruleset(&ruleset.rules)).collect();
    (!by_ruleset.is_empty()).then(|| format!("Repository rule violations found\n\n{}\n\n", by_ruleset.join("\n\n")))
}

/// Whether a check is required for merges into this branch.
pub(super) fn is_required(repo: &Repository, branch: &str, context: &str, app: Option<u64>) -> bool {
    let mut required = repo.rules_of(branch).flat_map(checks_of);
    required.any(|check| check.context == context && check.app_id.is_none_or(|id| app == Some(id)))
}

/// Whether a branch requires approvals that a pull request does not have.
pub(super) fn needs_approval(repo: &Repository, accounts: &Accounts, pull: &Pull) -> bool {
    let approvals = approvals(repo, accounts, pull);
    repo.rules_of(&pull.base_ref).any(|rules| {
        let wanted = rules.required_pull_request_reviews.as_ref();
        wanted.is_some_and(|wanted| approvals < wanted.required_approving_review_count)
    })
}

fn is_strict(rules: &BranchRules) -> bool {
    // As on GitHub, this has no effect without a check.
    rules.required_status_checks.as_ref().is_some_and(|checks| checks.strict && !checks.each().is_empty())
}

/// The checks that rules require.
pub(super) fn checks_of(rules: &BranchRules) -> Vec<RequiredCheck> {
    rules.required_status_checks.as_ref().map(|checks| checks.each()).unwrap_or_default()
}

/// The unmet requirements of a pull request, apart from the merge method and the base's tip.
fn unmet(repo: &Repository, accounts: &Accounts, pull: &Pull, rules: &BranchRules, fit: Fit) -> Vec<String> {
    let mut said: Vec<String> = checks_unmet(repo, &pull.head_sha, &checks_of(rules)).into_iter().collect();
    if let Some(wanted) = &rules.required_pull_request_reviews {
        let count = wanted.required_approving_review_count;
        if blocks(repo, accounts, pull) {
            said.push("Changes were requested by a reviewer with write access.".to_owned());
        } else if approvals(repo, accounts, pull) < count {
            let (reviews, are) = if count == 1 { ("review", "is") } else { ("reviews", "are") };
            said.push(format!("At least {count} approving {reviews} {are} required by reviewers with write access."));
        }
    }
    let is_open = |thread: &super::state::ReviewComment| thread.reply_to.is_none() && thread.resolved_by.is_none();
    if rules.required_conversation_resolution && pull.review_comments.iter().any(is_open) {
        said.push("A conversation must be resolved before this pull request can be merged.".to_owned());
    }
    if rules.required_signatures && !fit.verified {
        said.push("Commits must have verified signatures.".to_owned());
    }
    said
}

/// GitHub's messages about required checks that have not passed.
pub(super) fn checks_unmet(repo: &Repository, sha: &str, required: &[RequiredCheck]) -> Option<String> {
    let standings = required.iter().map(|check| (check, standing(repo, sha, check)));
    let unmet: Vec<_> = standings.filter(|(_, standing)| *standing != Standing::Passed).collect();
    let (total, count) = (required.len(), unmet.len());
    let (first, word) = unmet.first().map(|(check, standing)| (*check, standing.word()))?;
    if count == 1 && total == 1 {
        return Some(format!("Required status check \"{}\" is {word}.", first.context));
    }
    let mut kinds: Vec<Standing> = unmet.iter().map(|(_, standing)| *standing).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() == 1 && count == 1 {
        return Some(format!("Required status check \"{}\" is {word}.", first.context));
    }
    if kinds.len() == 1 {
        return Some(format!("{count} of {total} required status checks are {word}."));
    }
    let number = |kind: &Standing| unmet.iter().filter(|(_, standing)| standing == kind).count();
    let each: Vec<String> = kinds.iter().map(|kind| format!("{} {}", number(kind), kind.word())).collect();
    let (last, rest) = each.split_last()?;
    Some(format!("{count} of {total} required status checks have not succeeded: {} and {last}.", rest.join(", ")))
}

/// The state of a required check: the worst of the newest check runs of this name and the newest status of this
/// context, by the App that the rule names if it names one.
fn standing(repo: &Repository, sha: &str, required: &RequiredCheck) -> Standing {
    let by_app = |run: &CheckRun| required.app_id.is_none_or(|id| run.app.as_ref().is_some_and(|app| app.id == id));
    let of_run = |run: &CheckRun| match run.status.as_str() {
        "completed" if run.has_passed() => Standing::Passed,
        "completed" => Standing::Failing,
        "in_progress" => Standing::InProgress,
        _ => Standing::Pending,
    };
    let runs =
        repo.latest_checks(sha).into_iter().filter(|run| run.name == required.context && by_app(run)).map(of_run);
    let status = repo.latest_status(sha, required).map(|status| match status.state.as_str() {
        "success" => Standing::Passed,
        "pending" => Standing::Pending,
        _ => Standing::Failing,
    });
    runs.chain(status).max().unwrap_or(Standing::Expected)
}

/// The newest opinion of each account that may write.
fn opinions<'s>(repo: &Repository, accounts: &Accounts, pull: &'s Pull) -> Vec<&'s Review> {
    let mut latest: Vec<&Review> = Vec::new();
    for review in &pull.reviews {
        let is_opinion = match review.state {
            ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => true,
            ReviewState::Commented | ReviewState::Pending => false,
        };
        if is_opinion && repo.role(accounts.get(review.author.as_str())) >= Role::Write {
            latest.retain(|known| known.author != review.author);
            latest.push(review);
        }
    }
    latest
}

fn approvals(repo: &Repository, accounts: &Accounts, pull: &Pull) -> u64 {
    let all = opinions(repo, accounts, pull);
    all.iter().filter(|review| review.state == ReviewState::Approved).count() as u64
}

fn blocks(repo: &Repository, accounts: &Accounts, pull: &Pull) -> bool {
    opinions(repo, accounts, pull).iter().any(|review| review.state == ReviewState::ChangesRequested)
}
