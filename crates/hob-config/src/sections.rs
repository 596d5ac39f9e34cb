//! The sections of the settings that belong to the loop: one struct per section, one field per key. `config/default.toml`
//! has the defaults and explains them.

use std::time::Duration;

use hob_domain::{
    Budget, Budgets, IssueNumber, Login, NotifyEvent, Permission, PlainComments, RepoName, SignOff, Trailer,
};
use serde::{Deserialize, Serialize};

use crate::{Author, Candidates, DraftRule, Pace, Signing, duration, size};

/// `[runs]`: how failures of a run are handled.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    /// How often a run is retried in place after a transient failure.
    pub retries: u32,
    /// The pause before the first retry; it doubles each time.
    #[serde(with = "duration")]
    pub retry_delay: Duration,
    /// The longest pause; if a service asks for a longer one, the issue is requeued.
    #[serde(with = "duration")]
    pub retry_delay_max: Duration,
    /// Idle time after which the run is ended: `limits.idle_timeout`.
    #[serde(skip)]
    pub idle_timeout: Duration,
}

impl RunSettings {
    /// Idle time after which people are warned; 0 means never.
    pub fn idle_warning(&self) -> Duration {
        self.idle_timeout * 2 / 5
    }
}

/// `[executor]`: where the work on an issue is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorSettings {
    /// The program and its arguments that have an issue worked on elsewhere; empty if none has.
    pub command: Vec<String>,
    /// The file with the Job of Kubernetes that an issue is worked on by; empty if none is.
    pub job: String,
}

impl ExecutorSettings {
    /// Whether issues are worked on elsewhere.
    pub fn is_remote(&self) -> bool {
        !self.command.is_empty() || !self.job.is_empty()
    }

    /// This process works on issues itself.
    pub fn clear(&mut self) {
        self.command.clear();
        self.job.clear();
    }

    /// The command's words for an issue.
    pub fn words_for(&self, repo: &RepoName, issue: IssueNumber) -> Vec<String> {
        let (repo, issue) = (repo.to_string(), issue.to_string());
        let filled = |word: &String| word.replace("{repo}", &repo).replace("{issue}", &issue);
        self.command.iter().map(filled).collect()
    }

    /// What is wrong with it.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let names_no_issue = !self.command.is_empty() && !self.command.iter().any(|word| word.contains("{issue}"));
        match self.command.first() {
            Some(_) if !self.job.is_empty() => Some("`executor.job` is set, too: set one of them"),
            Some(program) if program.is_empty() => Some("its first word is the program"),
            _ => names_no_issue.then_some("it names no issue: write `{issue}` where its number belongs"),
        }
    }
}

/// `[state]`: what stays on this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSettings {
    /// The age at which a session without writes is removed.
    #[serde(with = "duration")]
    pub keep: Duration,
    /// Bytes of all sessions together; the oldest are removed first.
    #[serde(with = "size")]
    pub sessions: u64,
    /// Bytes of everything that one repository has here; 0 means not limited.
    #[serde(with = "size")]
    pub disk: u64,
}

/// `[app]`: the GitHub App that Hob signs in as.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppSettings {
    /// The App's id; 0 means that Hob uses a token.
    pub id: u64,
    /// The installation's id; 0 means that Hob looks it up.
    pub installation: u64,
    /// The file with the App's private key.
    pub private_key: String,
}

/// `[forge]`: how the forge is called.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgeSettings {
    /// How fast Hob writes.
    pub pace: Pace,
    /// Time between two writes, in milliseconds.
    pub write_interval_ms: u64,
    /// Writes within a minute; 0 means not limited.
    pub writes_per_minute: u32,
    /// Writes within an hour; 0 means not limited.
    pub writes_per_hour: u32,
    /// Pushes of ledgers to a repository within a minute; 0 means none at all.
    pub pushes_per_minute: u32,
    /// Deadline of a call.
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// How often a read is retried.
    pub retries: u32,
    /// The pause before the first retry of a read.
    #[serde(with = "duration")]
    pub retry_base: Duration,
    /// The longest `retry-after` that is waited out in place.
    #[serde(with = "duration")]
    pub patience: Duration,
    /// The token's account; if empty, Hob asks the forge.
    pub login: String,
}

impl ForgeSettings {
    /// Applies the pace to what writes are spaced and counted by.
    pub(super) fn apply_pace(&mut self) {
        match self.pace.share(self.writes_per_minute, self.writes_per_hour) {
            Some(share) => (self.writes_per_minute, self.writes_per_hour) = share,
            None => (self.write_interval_ms, self.writes_per_minute, self.writes_per_hour) = (0, 0, 0),
        }
    }
}

/// `[lease]`: how long a claim lasts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseSettings {
    /// How long a lease lasts without a renewal.
    #[serde(with = "duration")]
    pub duration: Duration,
    /// Margin for clocks that differ.
    #[serde(with = "duration")]
    pub skew: Duration,
}

/// `[budget]`: what work may cost.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSettings {
    /// US dollars over an issue's life; 0 means not limited.
    pub issue: f64,
    /// US dollars of one attempt; 0 means not limited.
    pub attempt: f64,
    /// US dollars of the repository in a day; 0 means not limited.
    pub day: f64,
    /// US dollars that a comment may set as an issue's budget; 0 means no more than `issue`.
    pub comment_max: f64,
    /// Tokens over an issue's life; 0 means not limited.
    pub tokens: u64,
    /// Agents' wall time over an issue's life; 0 means not limited.
    #[serde(with = "duration")]
    pub time: Duration,
}

/// `[limits]`: the limits of issues, attempts and hours.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wall time of an attempt.
    #[serde(with = "duration")]
    pub attempt_time: Duration,
    /// Idle time after which an agent's run is ended; 0 means never.
    #[serde(with = "duration")]
    pub idle_timeout: Duration,
    /// Issues claimed within an hour; 0 means not limited.
    pub issues_per_hour: usize,
    /// Attempts before a person is asked.
    pub attempts: u32,
    /// Candidates of an attempt's first work, of which one is chosen.
    pub candidates: Candidates,
    /// Pause before the second attempt.
    #[serde(with = "duration")]
    pub retry_delay: Duration,
    /// How long services may fail an issue before a person is asked; 0 means not limited.
    #[serde(with = "duration")]
    pub patience: Duration,
    /// How often failed checks go back to the agent.
    pub check_rounds: u32,
    /// Rounds of a pull request, of each kind: reviews, checks of the forge, a base that moved.
    pub rounds: u32,
    /// The share of the issue's budget at which people are warned.
    pub soft: f64,
    /// Open pull requests that wait for people; 0 means not limited.
    pub open_pulls: usize,
    /// How often a running agent's work is pushed; 0 means only at the end of the run.
    #[serde(with = "duration")]
    pub checkpoint: Duration,
    /// How long an approval prompt on the terminal waits.
    #[serde(with = "duration")]
    pub approval_time: Duration,
    /// Bytes of a body that are passed to the agent; 0 means not limited.
    pub body_bytes: usize,
}

/// Attempts over an issue's whole life, for each attempt between two answers of a person.
const LIFE: u32 = 4;

impl Limits {
    /// Bytes of a body that are passed to the agent.
    pub fn text_bytes(&self) -> usize {
        if self.body_bytes == 0 { usize::MAX } else { self.body_bytes }
    }

    /// Attempts over an issue's whole life; an answer does not reset this count.
    pub fn attempts_of_life(&self) -> u32 {
        self.attempts.saturating_mul(LIFE)
    }
}

impl BudgetSettings {
    /// The budgets beside these limits, with 0 as not limited.
    pub(super) fn budgets(&self, limits: &Limits) -> Budgets {
        let number = |limit: u64| (limit > 0).then_some(limit);
        // Negative and absurd amounts saturate, which is what `as` does for floats.
        let money = |usd: f64| number((usd * 1e6) as u64);
        Budgets {
            attempt: Budget {
                usd_micros: money(self.attempt),
                wall_seconds: number(limits.attempt_time.as_secs()),
                ..Budget::default()
            },
            issue: Budget {
                usd_micros: money(self.issue),
                tokens: number(self.tokens),
                wall_seconds: number(self.time.as_secs()),
                attempts: Some(limits.attempts_of_life()),
            },
            issue_usd_max: money(self.comment_max).or(money(self.issue)),
            day: Budget { usd_micros: money(self.day), ..Budget::default() },
        }
    }
}

/// `[checks]`: how the repository's checks run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSettings {
    /// Bytes kept of one check's output.
    pub output_bytes: usize,
}

/// What happens if a check already fails on the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RedBase {
    /// Work that makes nothing worse is published; the pull request names the checks that failed before.
    Publish,
    /// The issue waits until the base is green.
    Wait,
    /// The issue is blocked before an agent works.
    Block,
}

/// `[poll]`: how often the forge is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollSettings {
    /// Time between two polls.
    #[serde(with = "duration")]
    pub interval: Duration,
}

impl PollSettings {
    /// The longest time between two polls when nothing is found.
    pub fn max_interval(&self) -> Duration {
        self.interval * 10
    }
}

/// `[publish]`: how work is published.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishSettings {
    /// When pull requests are drafts.
    pub draft: DraftRule,
    /// Which file of the folder `PULL_REQUEST_TEMPLATE` is the template; empty for the one that the forge would use.
    pub template: String,
    /// The branch that work starts from and is merged into; empty for the repository's default.
    pub base: String,
    /// The template of a commit's message; empty for title and body.
    pub commit_message: String,
    /// Whether commits are signed off.
    pub sign_off: bool,
    /// The lines at the end of a commit's message that say who took part.
    pub trailers: Vec<Trailer>,
    /// How commits are signed.
    pub signing: Signing,
    /// Author and committer of Hob's commits.
    pub author: Author,
    /// Labels of a pull request.
    pub labels: Vec<String>,
    /// The reviewers to request: `actor`, logins, `team:SLUG`, `ORG/TEAM`.
    pub reviewers: Vec<String>,
    /// Paths, as globs: a proven pull request that changes no others is merged by the forge itself, once its requirements are met.
    pub auto_merge: Vec<String>,
}

impl PublishSettings {
    /// The template of a commit's message.
    pub fn message_template(&self) -> &str {
        if self.commit_message.is_empty() { "{title}\n\n{body}" } else { &self.commit_message }
    }

    /// Whether commits are signed off.
    pub fn sign_off(&self) -> SignOff {
        if self.sign_off { SignOff::Yes } else { SignOff::No }
    }
}

/// `[notify]`: notifications and their receivers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifySettings {
    /// The accounts that are mentioned if an issue is blocked: `actor`, `codeowners`, or logins.
    pub mention: Vec<String>,
    /// The address that notifications are posted to; if empty, there are none.
    pub webhook: String,
    /// The format of their bodies.
    pub webhook_format: WebhookFormat,
    /// The events to notify of.
    pub events: Vec<NotifyEvent>,
    /// The time limit of one notification, including all tries.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

/// The format of a notification's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFormat {
    /// Structured, for programs.
    Json,
    /// A text, as Slack's incoming webhooks take it.
    Slack,
    /// A message with an Adaptive Card, as the webhooks of Teams' Workflows take it.
    Teams,
}

/// `[dashboard]`: the one issue that shows all work.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DashboardSettings {
    /// Its number, `auto`, or empty if there is none.
    pub issue: String,
}

impl DashboardSettings {
    /// The configured number.
    pub fn number(&self) -> Option<IssueNumber> {
        self.issue.parse().ok().filter(|number| *number > 0).map(IssueNumber)
    }
}

/// `[review]`: how Hob handles open pull requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewSettings {
    /// How long comments on lines must be quiet before they count.
    #[serde(with = "duration")]
    pub settle: Duration,
    /// How long to wait for checks of the forge that have not ended.
    #[serde(with = "duration")]
    pub ci_wait: Duration,
    /// How a branch in review gets its base's commits.
    pub update: ReviewUpdate,
    /// Whether Hob resolves the threads that it has followed.
    pub resolve: bool,
    /// Whether a failed job runs once more before an agent works on it.
    pub rerun: bool,
    /// Whether the proof is made again after somebody else's push, where the repository is private.
    pub prove_pushes: bool,
    /// The profile that reviews the work before its pull request opens; empty for none.
    pub reviewer: String,
    /// What becomes of the open pull request of an issue that is closed as not planned or as a duplicate.
    pub closed_issue: ClosedIssue,
    /// What plain comments on a pull request are to Hob.
    pub plain_comments: PlainComments,
}

/// What becomes of the open pull request of an issue that is closed as not planned or as a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClosedIssue {
    /// It stays open, and a comment asks people to decide.
    Comment,
    /// It is closed, and a comment says so.
    Close,
}

/// How a branch in review gets its base's commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewUpdate {
    /// The base is merged into it; reviewed commits stay as they are.
    Merge,
    /// Its commits are rebased onto the base if all of them are Hob's own.
    Rebase,
}

/// `[status]`: how the status comment is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusSettings {
    /// How often it follows an agent's checklist, at most; 0 means never.
    #[serde(with = "duration")]
    pub live: Duration,
}

/// `[trust]`: who is authorized.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustSettings {
    /// The permission that a person needs.
    pub permission: Permission,
    /// Programs that are authorized.
    pub bots: Vec<Login>,
}
