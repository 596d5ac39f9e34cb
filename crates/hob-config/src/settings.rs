//! Every setting of the process, and the rules that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use hob_domain::{
    AssigneeFilter, LabelNames, NotifyRules, PlanFirst, PlanRules, Recovery, RepositoryRules, ReviewRules, StatusRules,
    TrustRules,
};
use serde::{Deserialize, Serialize};

use crate::{
    AgentSettings, AppSettings, CheckSettings, DashboardSettings, ExecutorSettings, ForgeSettings, Identity,
    IssueSettings, LeaseSettings, LedgerSettings, Limits, McpSettings, ModelSettings, NotifySettings, PollSettings,
    ProfileSettings, PublishSettings, RecipeSettings, Renamed, ReviewSettings, RoutingSettings, SandboxSettings,
    SessionSettings, StatusSettings, ToolSettings, TrustSettings, WorkspaceSettings,
};

/// The defaults, as they are printed in the documentation.
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
    /// Where the ledger is.
    pub ledger: LedgerSettings,
    /// What an issue may take.
    pub limits: Limits,
    /// How checks run.
    pub checks: CheckSettings,
    /// The one issue that shows all work.
    pub dashboard: DashboardSettings,
    /// Which issues are begun.
    pub issues: IssueSettings,
    /// Who is told what.
    pub notify: NotifySettings,
    /// How often the forge is asked.
    pub poll: PollSettings,
    /// Where profiles are.
    pub profiles: ProfileSettings,
    /// How work is shown.
    pub publish: PublishSettings,
    /// What happens on a pull request that is open.
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
    /// Old names that were used, each of which deserves a warning.
    #[serde(skip)]
    pub renamed: Vec<Renamed>,
    /// The ready agents among the agents that no source of settings names.
    #[serde(skip)]
    pub untouched: BTreeSet<String>,
}

impl Settings {
    /// The part of the settings that decisions depend on.
    pub fn plan_rules(&self) -> PlanRules {
        PlanRules {
            labels: self.labels.clone(),
            assignee: AssigneeFilter::of(&self.issues.assignee),
            recovery: self.recovery,
            skew: self.lease.skew,
            repository: self.repository_rules(),
            open_pulls: (self.limits.open_pulls > 0).then_some(self.limits.open_pulls),
            review: ReviewRules { settle: self.review.settle, ci_wait: self.review.ci_wait },
        }
    }

    /// What all workers together may take of the repository.
    pub fn repository_rules(&self) -> RepositoryRules {
        RepositoryRules { issues_per_hour: self.limits.issues_per_hour, day: self.limits.budgets().day }
    }

    /// What the status comment shows besides the record; `repo_url` is the repository's page on the forge.
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

    /// What somebody is notified of.
    pub fn notify_rules(&self) -> NotifyRules<'_> {
        NotifyRules { events: &self.notify.events, budget: self.limits.budgets().issue, soft: self.limits.soft }
    }

    /// Who is authorized.
    pub fn trust_rules(&self) -> TrustRules {
        TrustRules { permission: self.trust.permission, bots: self.trust.bots.clone() }
    }
}
