//! Every setting of the process, and the rules that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use hob_domain::{
    AssigneeFilter, LabelNames, NotifyRules, PlanFirst, PlanRules, Recovery, RepositoryRules, ReviewRules, StatusRules,
    TrustRules,
};
use serde::{Deserialize, Serialize};

use crate::{
    AgentSettings, AppSettings, CheckSettings, DashboardSettings, ExecutorSettings, ForgeSettings, Identity,
    IssueSettings, LeaseSettings, Limits, McpSettings, ModelSettings, NotifySettings, PollSettings, ProfileSettings,
    PublishSettings, RecipeSettings, Renamed, ReviewSettings, RoutingSettings, SandboxSettings, SessionSettings,
    StatusSettings, ToolSettings, TrustSettings, WorkspaceSettings,
};

/// The defaults, as the documentation shows them.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");

/// Every setting of the process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What to do with a dead worker's issue.
    pub recovery: Recovery,
    /// When a plan comes before the work.
    pub plan: PlanFirst,
    /// Which agent works.
    pub agent: ExecutorSettings,
    /// The agents.
    #[serde(default)]
    pub agents: BTreeMap<String, AgentSettings>,
    /// The recipes.
    #[serde(default)]
    pub recipes: BTreeMap<String, RecipeSettings>,
    /// Programs that agents may have as tools.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolSettings>,
    /// MCP servers whose tools agents may have.
    #[serde(default)]
    pub mcp: BTreeMap<String, McpSettings>,
    /// How models are called.
    #[serde(default)]
    pub model: ModelSettings,
    /// The App that Hob signs in as.
    pub app: AppSettings,
    /// How the forge is called.
    pub forge: ForgeSettings,
    /// Author and committer of Hob's commits.
    pub identity: Identity,
    /// Label names.
    pub labels: LabelNames,
    /// How long a claim lasts.
    pub lease: LeaseSettings,
    /// The limits.
    pub limits: Limits,
    /// How checks run.
    pub checks: CheckSettings,
    /// The one issue that shows all work.
    pub dashboard: DashboardSettings,
    /// Which issues are begun.
    pub issues: IssueSettings,
    /// Notifications.
    pub notify: NotifySettings,
    /// How often the forge is asked.
    pub poll: PollSettings,
    /// Where profiles are.
    pub profiles: ProfileSettings,
    /// How work is published.
    pub publish: PublishSettings,
    /// How open pull requests are handled.
    pub review: ReviewSettings,
    /// How the profile of an issue is found.
    pub routing: RoutingSettings,
    /// What the code of a repository may reach.
    pub sandbox: SandboxSettings,
    /// How long sessions are kept.
    pub sessions: SessionSettings,
    /// How the status comment is kept.
    pub status: StatusSettings,
    /// Who is authorized.
    pub trust: TrustSettings,
    /// Where work is done.
    #[serde(default)]
    pub workspace: WorkspaceSettings,
    /// Old names that were used; each causes a warning.
    #[serde(skip)]
    pub renamed: Vec<Renamed>,
    /// The ready agents that no source of settings mentions.
    #[serde(skip)]
    pub untouched: BTreeSet<String>,
}

impl Settings {
    /// The part of the settings that decisions depend on.
    pub fn plan_rules(&self) -> PlanRules {
        PlanRules {
            labels: self.labels.clone(),
            assignee: AssigneeFilter::new(&self.issues.assignee),
            recovery: self.recovery,
            skew: self.lease.skew,
            repository: self.repository_rules(),
            open_pulls: (self.limits.open_pulls > 0).then_some(self.limits.open_pulls),
            review: ReviewRules { settle: self.review.settle, ci_wait: self.review.ci_wait },
        }
    }

    /// What all workers together may use in the repository.
    pub fn repository_rules(&self) -> RepositoryRules {
        let issues_per_hour = match self.limits.issues_per_hour {
            0 => usize::MAX,
            limit => limit,
        };
        RepositoryRules { issues_per_hour, day: self.limits.budgets().day }
    }

    /// What the status comment shows in addition to the record; `repo_url` is the repository's page on the forge.
    pub fn status_rules<'a>(&'a self, repo_url: &'a str) -> StatusRules<'a> {
        StatusRules {
            trigger: &self.labels.trigger,
            blocked: &self.labels.blocked,
            budgets: self.limits.budgets(),
            soft: self.limits.soft,
            repo_url,
            checklist: None,
        }
    }

    /// The rules of notifications.
    pub fn notify_rules(&self) -> NotifyRules<'_> {
        NotifyRules { events: &self.notify.events, budget: self.limits.budgets().issue, soft: self.limits.soft }
    }

    /// Who is authorized.
    pub fn trust_rules(&self) -> TrustRules {
        TrustRules { permission: self.trust.permission, bots: self.trust.bots.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SettingsError;

    fn with_0(key: &str) -> Result<Settings, SettingsError> {
        let is_time =
            key.ends_with("_time") || matches!(key, "time_per_day" | "patience" | "checkpoint" | "retry_delay");
        let zero = if is_time || key == "time_per_issue" { "0s" } else { "0" };
        Settings::load(None, [].into(), &[(format!("limits.{key}"), zero.to_owned())])
    }

    #[test]
    fn what_0_means_is_one_thing_in_all_limits() {
        type Limit = fn(&Settings) -> bool;
        let not_limited: [(&str, Limit); 14] = [
            ("issues_per_hour", |s| s.repository_rules().issues_per_hour == usize::MAX),
            ("patience", |s| s.limits.patience.is_zero()),
            ("usd_per_attempt", |s| s.limits.budgets().attempt.usd_micros.is_none()),
            ("usd_per_issue", |s| s.limits.budgets().issue.usd_micros.is_none()),
            ("usd_per_day", |s| s.limits.budgets().day.usd_micros.is_none()),
            ("tokens_per_attempt", |s| s.limits.budgets().attempt.tokens.is_none()),
            ("tokens_per_issue", |s| s.limits.budgets().issue.tokens.is_none()),
            ("tokens_per_day", |s| s.limits.budgets().day.tokens.is_none()),
            ("time_per_issue", |s| s.limits.budgets().issue.wall_seconds.is_none()),
            ("time_per_day", |s| s.limits.budgets().day.wall_seconds.is_none()),
            ("attempts_per_issue", |s| s.limits.budgets().issue.attempts.is_none()),
            ("attempts_per_day", |s| s.limits.budgets().day.attempts.is_none()),
            ("open_pulls", |s| s.plan_rules().open_pulls.is_none()),
            ("body_bytes", |s| s.limits.text_bytes() == usize::MAX),
        ];
        for (key, is_not_limited) in not_limited {
            assert!(is_not_limited(&with_0(key).unwrap()), "{key}");
        }
        let refused = ["jobs", "attempts", "attempt_time"];
        for key in refused {
            let error = with_0(key).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the setting `limits.{key}` cannot be used: it is `0")), "{error}");
        }
        // Counts of repetitions, waits, and a share: 0 means none.
        let none = ["check_rounds", "review_rounds", "ci_rounds", "conflict_rounds", "retry_delay", "checkpoint"];
        // Without a value, that of `usd_per_issue` applies.
        let others = ["approval_time", "soft", "usd_per_issue_max"];
        for key in none.into_iter().chain(others) {
            with_0(key).unwrap();
        }
        let told = not_limited.map(|(key, _)| key).into_iter().chain(refused).chain(none).chain(others);
        let told: BTreeSet<String> = told.map(str::to_owned).collect();
        let settings = Settings::load(None, [].into(), &[]).unwrap();
        let all = serde_json::to_value(&settings.limits).unwrap();
        assert_eq!(told, all.as_object().unwrap().keys().cloned().collect(), "the table has each limit");
    }
}
