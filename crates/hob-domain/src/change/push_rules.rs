//! The rules that a forge applies to the branches that Hob would push, and which setting helps if a push would break
//! one.
//!
//! The rules of GitHub's rulesets, by the names in its API:
//! <https://docs.github.com/rest/repos/rules#get-rules-for-a-branch>. The answer omits who may bypass a rule.

use regex::Regex;

/// A rule of a branch that can refuse Hob's push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushRule {
    /// Only accounts that may bypass the rule can create such branches.
    Creation,
    /// Only accounts that may bypass the rule can move them.
    Update,
    /// They only move forwards.
    NonFastForward,
    /// They only change through merged pull requests.
    PullRequest,
    /// Checks have to pass before a commit gets there.
    StatusChecks,
    /// They have no merge commits.
    LinearHistory,
    /// Their commits have signatures that the forge has verified.
    Signatures,
    /// Their names.
    BranchName(Pattern),
    /// The addresses of their commits' authors.
    AuthorEmail(Pattern),
    /// The addresses of their commits' committers.
    CommitterEmail(Pattern),
    /// The messages of their commits.
    CommitMessage(Pattern),
    /// The largest file, in MiB.
    FileSize(u64),
    /// Paths that no push may change.
    FilePaths(Vec<String>),
    /// Endings of files that no push may change.
    FileExtensions(Vec<String>),
}

/// A requirement on a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// How it is compared.
    pub operator: PatternOperator,
    /// The pattern.
    pub pattern: String,
    /// Whether the text must not match.
    pub negate: bool,
}

/// How a text is compared with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternOperator {
    /// The text begins with the pattern.
    StartsWith,
    /// The text ends with the pattern.
    EndsWith,
    /// The text contains the pattern.
    Contains,
    /// The text contains a match of the regular expression, in RE2 syntax.
    Regex,
}

impl Pattern {
    /// Whether `text` satisfies it. `None` if the expression cannot be read here.
    fn allows(&self, text: &str) -> Option<bool> {
        let is_like = match self.operator {
            PatternOperator::StartsWith => text.starts_with(&self.pattern),
            PatternOperator::EndsWith => text.ends_with(&self.pattern),
            PatternOperator::Contains => text.contains(&self.pattern),
            PatternOperator::Regex => Regex::new(&self.pattern).ok()?.is_match(text),
        };
        Some(is_like != self.negate)
    }

    /// The requirement, after "must".
    fn says(&self) -> String {
        let verb = match self.operator {
            PatternOperator::StartsWith => "start with",
            PatternOperator::EndsWith => "end with",
            PatternOperator::Contains => "contain",
            PatternOperator::Regex => "match",
        };
        let not = if self.negate { "not " } else { "" };
        format!("must {not}{verb} `{}`", self.pattern.replace('`', "'"))
    }
}

/// Whether commits are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// They are signed.
    Yes,
    /// They are not signed.
    No,
}

/// What Hob would push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushPlan {
    /// A branch, named as Hob names them.
    pub branch: String,
    /// The address of the commits' author.
    pub author: String,
    /// Their committer's address. `None` if the forge is the committer.
    pub committer: Option<String>,
    /// Whether they are signed.
    pub signs: Signs,
    /// The setting `workspace.max_file`, in bytes.
    pub max_file: u64,
}

impl PushRule {
    /// What is wrong with `plan` by this rule, and which setting helps. `None` if the rule allows it.
    pub fn objection(&self, plan: &PushPlan) -> Option<String> {
        let branch = &plan.branch;
        let elsewhere = "set `workspace.branch_prefix` to names that it leaves free, or let Hob's account bypass it";
        let exempt = "take Hob's branches out of it, or let Hob's account bypass it";
        Some(match self {
            Self::Creation => format!("a rule restricts who may make branches such as `{branch}`: {elsewhere}"),
            Self::Update => format!("a rule restricts who may update branches such as `{branch}`: {elsewhere}"),
            Self::NonFastForward => format!(
                "a rule forbids force pushes to branches such as `{branch}`, and Hob rebases its own commits when the base moves: \
                 {exempt}"
            ),
            Self::PullRequest => {
                format!("a rule lets branches such as `{branch}` change by pull requests only: {exempt}")
            }
            Self::StatusChecks => {
                format!("a rule asks for checks before a commit gets to branches such as `{branch}`: {exempt}")
            }
            Self::LinearHistory => format!(
                "a rule forbids merge commits on branches such as `{branch}`, and Hob merges the base into them: {exempt}"
            ),
            Self::Signatures => match plan.signs {
                Signs::Yes => return None,
                Signs::No => {
                    format!("a rule asks for signed commits on branches such as `{branch}`: set `publish.signing`")
                }
            },
            Self::BranchName(pattern) => match pattern.allows(branch) {
                Some(true) => return None,
                Some(false) | None => {
                    let says = pattern.says();
                    format!(
                        "a rule says that names of branches {says}, and Hob's are like `{branch}`: set `workspace.branch_prefix`"
                    )
                }
            },
            Self::AuthorEmail(pattern) => return addressed(pattern, "authors", &plan.author),
            Self::CommitterEmail(pattern) => return addressed(pattern, "committers", plan.committer.as_ref()?),
            Self::CommitMessage(pattern) => {
                let says = pattern.says();
                format!(
                    "a rule says that messages of commits {says}: set `publish.commit_message` so that each of Hob's does"
                )
            }
            Self::FileSize(mib) if mib << 20 >= plan.max_file => return None,
            Self::FileSize(mib) => format!(
                "a rule refuses files larger than {mib} MiB: set `workspace.max_file` to `{mib}M`, so that Hob finds them before \
                 it pushes"
            ),
            Self::FilePaths(paths) => {
                let paths = listed(paths);
                format!(
                    "a rule refuses changes of {paths}: name them in `protected` of `.github/hob.toml`, so that Hob knows"
                )
            }
            Self::FileExtensions(endings) => {
                let endings = listed(endings);
                format!(
                    "a rule refuses files that end with {endings}: name them in `protected` of `.github/hob.toml`, so that Hob \
                     knows"
                )
            }
        })
    }
}

/// What is wrong with an address of commits.
fn addressed(pattern: &Pattern, whose: &str, address: &str) -> Option<String> {
    if pattern.allows(address) == Some(true) {
        return None;
    }
    let says = pattern.says();
    Some(format!(
        "a rule says that addresses of {whose} {says}, and Hob's is {address}: write one that it allows into `publish.author`"
    ))
}

/// The first few, as code.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", name.replace('`', "'"))).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> PushPlan {
        PushPlan {
            branch: "hob/1-x".to_owned(),
            author: "7+hob@users.noreply.github.com".to_owned(),
            committer: Some("7+hob@users.noreply.github.com".to_owned()),
            signs: Signs::No,
            max_file: 100 << 20,
        }
    }

    fn pattern(operator: PatternOperator, pattern: &str, negate: bool) -> Pattern {
        Pattern { operator, pattern: pattern.to_owned(), negate }
    }

    #[test]
    fn each_rule_that_would_refuse_a_push_names_the_setting_that_helps() {
        use PatternOperator::{Contains, EndsWith, Regex, StartsWith};
        let signed = PushPlan { signs: Signs::Yes, ..plan() };
        let by_the_forge = PushPlan { committer: None, ..plan() };
        let small = PushPlan { max_file: 10 << 20, ..plan() };
        for (rule, plan, part) in [
            (
                PushRule::Creation,
                plan(),
                Some("who may make branches such as `hob/1-x`: set `workspace.branch_prefix`"),
            ),
            (PushRule::Update, plan(), Some("`workspace.branch_prefix`")),
            (PushRule::NonFastForward, plan(), Some("forbids force pushes")),
            (PushRule::PullRequest, plan(), Some("by pull requests only")),
            (PushRule::StatusChecks, plan(), Some("asks for checks")),
            (PushRule::LinearHistory, plan(), Some("merge commits")),
            (PushRule::Signatures, plan(), Some("set `publish.signing`")),
            (PushRule::Signatures, signed, None),
            (
                PushRule::BranchName(pattern(Regex, "^(feature|fix)/", false)),
                plan(),
                Some("must match `^(feature|fix)/`, and Hob's are like `hob/1-x`: set `workspace.branch_prefix`"),
            ),
            (PushRule::BranchName(pattern(Regex, r"^hob/\d+-", false)), plan(), None),
            (PushRule::BranchName(pattern(Regex, "^hob/", true)), plan(), Some("must not match")),
            (PushRule::BranchName(pattern(StartsWith, "hob/", false)), plan(), None),
            (PushRule::BranchName(pattern(Contains, "X", false)), plan(), Some("must contain `X`")),
            // This expression cannot be read here, so a person has to look.
            (PushRule::BranchName(pattern(Regex, "(?<=a)b", false)), plan(), Some("`(?<=a)b`")),
            (
                PushRule::AuthorEmail(pattern(EndsWith, "@acme.com", false)),
                plan(),
                Some(
                    "addresses of authors must end with `@acme.com`, and Hob's is 7+hob@users.noreply.github.com: \
                      write one that it allows into `publish.author`",
                ),
            ),
            (PushRule::AuthorEmail(pattern(EndsWith, "@users.noreply.github.com", false)), plan(), None),
            (
                PushRule::CommitterEmail(pattern(Contains, "noreply", true)),
                plan(),
                Some("of committers must not contain"),
            ),
            (PushRule::CommitterEmail(pattern(Contains, "noreply", true)), by_the_forge, None),
            (
                PushRule::CommitMessage(pattern(StartsWith, "JIRA-", false)),
                plan(),
                Some("set `publish.commit_message`"),
            ),
            (PushRule::FileSize(50), plan(), Some("set `workspace.max_file` to `50M`")),
            (PushRule::FileSize(100), plan(), None),
            (PushRule::FileSize(50), small, None),
            (
                PushRule::FilePaths(vec![".github/**".to_owned()]),
                plan(),
                Some("changes of `.github/**`: name them in `protected`"),
            ),
            (PushRule::FileExtensions(vec![".exe".to_owned()]), plan(), Some("end with `.exe`")),
        ] {
            let said = rule.objection(&plan);
            match (part, &said) {
                (Some(part), Some(said)) => assert!(said.contains(part), "{rule:?}: {said}"),
                (None, None) => {}
                (Some(_), None) | (None, Some(_)) => panic!("{rule:?}: {said:?}"),
            }
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let many: Vec<String> = (1..=7).map(|n| format!("{n}")).collect();
        assert_eq!(listed(&many), "`1`, `2`, `3`, `4`, `5`, 2 more");
    }
}
