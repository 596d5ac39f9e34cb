//! Every setting of the process, and the rules that follow from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use hob_domain::{
    AUTO_AGENT, AssigneeFilter, Budgets, LabelNames, NotifyRules, PlanFirst, PlanRules, Recovery, RepositoryRules,
    ReviewRules, SharedSettings, StatusRules, TrustRules,
};
use serde::{Deserialize, Serialize};

use crate::{
    AgentSettings, AppSettings, BudgetSettings, CheckSettings, DashboardSettings, ExecutorSettings, ForgeSettings,
    Given, LeaseSettings, Limits, McpSettings, ModelSettings, NotifySettings, OldName, PollSettings, ProfileSettings,
    PublishSettings, RecipeSettings, RedBase, ReviewSettings, RoutingSettings, RunSettings, SandboxSettings,
    SettingsError, StateSettings, StatusSettings, ToolSettings, TrustSettings, WorkspaceSettings, constants, duration,
};

/// Every setting of the process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What to do with a dead worker's issue.
    pub recovery: Recovery,
    /// When a plan comes before the work.
    pub plan: PlanFirst,
    /// The agent that works if neither a person nor the repository names one, or `auto` for the one that outcomes choose.
    pub agent: String,
    /// The repositories to work on if none are given otherwise.
    pub repositories: Vec<String>,
    /// Where deeds are told outside of the repository; empty for nowhere.
    pub audit: String,
    /// Issues at once.
    pub jobs: usize,
    /// Whose issues are begun: empty for any, `none` for those without an assignee, or an account.
    pub assignee: String,
    /// Deadline of one check.
    #[serde(with = "duration")]
    pub check_time: Duration,
    /// Time of the checks on the two trees between base and head; 0 means that they do not run there.
    #[serde(with = "duration")]
    pub proof_time: Duration,
    /// What happens if a check already fails on the base.
    pub on_red_base: RedBase,
    /// Where the work on an issue is done.
    pub executor: ExecutorSettings,
    /// How failures of a run are handled.
    pub runs: RunSettings,
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
    /// Label names.
    pub labels: LabelNames,
    /// How long a claim lasts.
    pub lease: LeaseSettings,
    /// What work may cost.
    pub budget: BudgetSettings,
    /// The limits.
    pub limits: Limits,
    /// How checks run.
    pub checks: CheckSettings,
    /// The one issue that shows all work.
    pub dashboard: DashboardSettings,
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
    /// What stays on this machine.
    pub state: StateSettings,
    /// How the status comment is kept.
    pub status: StatusSettings,
    /// Who is authorized.
    pub trust: TrustSettings,
    /// Where work is done.
    #[serde(default)]
    pub workspace: WorkspaceSettings,
    /// Old names that were used; each causes a warning.
    #[serde(skip)]
    pub old_names: Vec<OldName>,
    /// The operator's file that was read.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// What the sources give.
    #[serde(skip)]
    pub given: Vec<Given>,
    /// What all workers of a repository have to share.
    #[serde(skip)]
    pub shared: SharedSettings,
    /// Whether `[testing]` changes what is constant.
    #[serde(skip)]
    pub(super) is_tested: bool,
    /// The ready agents that no source of settings mentions.
    #[serde(skip)]
    pub untouched: BTreeSet<String>,
}

impl Settings {
    /// The settings with what follows from them.
    pub(super) fn derived(mut self) -> Self {
        self.runs.idle_timeout = self.limits.idle_timeout;
        self.forge.apply_pace();
        self.labels.apply_prefix();
        self
    }

    /// Refuses `[testing]` at GitHub, whose API is at `api_url`.
    ///
    /// # Errors
    /// [`SettingsError::Testing`].
    pub fn refuse_testing_at(&self, api_url: &str) -> Result<(), SettingsError> {
        let host = url::Url::parse(api_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        match host.filter(|host| self.is_tested && (host == "api.github.com" || host.ends_with(".ghe.com"))) {
            Some(host) => Err(SettingsError::Testing(host)),
            None => Ok(()),
        }
    }

    /// Every setting with its value, without what is constant.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn to_table(&self) -> Result<toml::Table, toml::ser::Error> {
        let mut all = toml::Table::try_from(self)?;
        constants::remove_from(&mut all);
        Ok(all)
    }

    /// The agent of work that has no outcomes to choose it by, such as a task of this machine's.
    pub fn local_agent(&self) -> &str {
        if self.agent == AUTO_AGENT { "native" } else { &self.agent }
    }

    /// The budgets of an attempt, an issue and a day.
    pub fn budgets(&self) -> Budgets {
        self.budget.budgets(&self.limits)
    }

    /// The part of the settings that decisions depend on.
    pub fn plan_rules(&self) -> PlanRules {
        PlanRules {
            labels: self.labels.clone(),
            assignee: AssigneeFilter::new(&self.assignee),
            recovery: self.recovery,
            skew: self.lease.skew,
            repository: self.repository_rules(),
            open_pulls: (self.limits.open_pulls > 0).then_some(self.limits.open_pulls),
            review: ReviewRules {
                settle: self.review.settle,
                ci_wait: self.review.ci_wait,
                base_rounds: self.limits.rounds,
            },
        }
    }

    /// What all workers together may use in the repository.
    pub fn repository_rules(&self) -> RepositoryRules {
        let issues_per_hour = match self.limits.issues_per_hour {
            0 => usize::MAX,
            limit => limit,
        };
        RepositoryRules { issues_per_hour, day: self.budgets().day, shared: self.shared.clone() }
    }

    /// What the status comment shows in addition to the record; `repo_url` is the repository's page on the forge.
    pub fn status_rules<'a>(&'a self, repo_url: &'a str) -> StatusRules<'a> {
        StatusRules {
            trigger: &self.labels.trigger,
            blocked: &self.labels.blocked,
            budgets: self.budgets(),
            soft: self.limits.soft,
            repo_url,
            checklist: None,
        }
    }

    /// The rules of notifications.
    pub fn notify_rules(&self) -> NotifyRules<'_> {
        NotifyRules { events: &self.notify.events, budget: self.budgets().issue, soft: self.limits.soft }
    }

    /// Who is authorized.
    pub fn trust_rules(&self) -> TrustRules {
        TrustRules { permission: self.trust.permission, bots: self.trust.bots.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_0(key: &str) -> Result<Settings, SettingsError> {
        let is_time = ["time", "patience", "timeout"].iter().any(|end| key.ends_with(end));
        Settings::load(None, [].into(), &[(key.to_owned(), if is_time { "0s" } else { "0" }.to_owned())])
    }

    #[test]
    fn what_0_means_is_one_thing_in_all_limits() {
        type Limit = fn(&Settings) -> bool;
        let not_limited: [(&str, Limit); 9] = [
            ("limits.issues_per_hour", |s| s.repository_rules().issues_per_hour == usize::MAX),
            ("limits.patience", |s| s.limits.patience.is_zero()),
            ("limits.idle_timeout", |s| s.runs.idle_timeout.is_zero() && s.runs.idle_warning().is_zero()),
            ("limits.open_pulls", |s| s.plan_rules().open_pulls.is_none()),
            ("budget.attempt", |s| s.budgets().attempt.usd_micros.is_none()),
            ("budget.issue", |s| s.budgets().issue.usd_micros.is_none()),
            ("budget.day", |s| s.budgets().day.usd_micros.is_none()),
            ("budget.tokens", |s| s.budgets().issue.tokens.is_none()),
            ("budget.time", |s| s.budgets().issue.wall_seconds.is_none()),
        ];
        for (key, is_not_limited) in not_limited {
            assert!(is_not_limited(&with_0(key).unwrap()), "{key}");
        }
        let refused = ["limits.attempts", "limits.attempt_time", "limits.candidates"];
        for key in refused {
            let error = with_0(key).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the setting `{key}` cannot be used: it is `0")), "{error}");
        }
        // A count of repetitions: 0 means none. Without a value, that of `budget.issue` applies.
        let others = ["limits.rounds", "budget.comment_max"];
        for key in others {
            with_0(key).unwrap();
        }
        let told = not_limited.map(|(key, _)| key).into_iter().chain(refused).chain(others);
        let told: BTreeSet<String> = told.map(str::to_owned).collect();
        let all = Settings::load(None, [].into(), &[]).unwrap().to_table().unwrap();
        let of = |section: &str| {
            let keys = all[section].as_table().unwrap().keys();
            keys.map(|key| format!("{section}.{key}")).collect::<Vec<_>>()
        };
        assert_eq!(told, of("limits").into_iter().chain(of("budget")).collect(), "the table has each limit");
    }
}
