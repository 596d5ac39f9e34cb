//! The repository's own settings, `.github/hob.toml`, always read from the base branch.
//!
//! They say how the repository is checked, what must not be touched, and how its people want to be worked with. They cannot pass
//! variables to an agent or set a model's address: those belong to the operator.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
    time::Duration,
};

use hob_domain::{PathGlobs, PlanFirst};
use serde::{Deserialize, Serialize};

use crate::{
    AgentSettings, BackendKind, RecipeSettings, RedBase, RepositoryDashboard, RepositoryLabels, RepositoryLimits,
    RepositoryNotify, RepositoryPublish, RepositoryReview, RepositoryRouting, Settings, SettingsError, duration,
    of_both::of_operator, ready::agents_over_ready, sensible::check_of_both, toml_sentence,
};

/// The path of the repository's settings.
pub const REPOSITORY_SETTINGS_PATH: &str = ".github/hob.toml";

/// Keys of an agent that only the operator may set: what its programs are handed, and where they reach.
pub const OPERATOR_ONLY: [&str; 5] = ["env", "hosts", "fetch_hosts", "allow", "mcp"];

/// `.github/hob.toml`.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositorySettings {
    /// Shell commands that prove the work; Hob runs each on the base and on the head.
    pub checks: Vec<String>,
    /// Shell commands that fetch what checks and agents need, since these have no network.
    pub setup: Vec<String>,
    /// Files whose contents decide whether the steps run again.
    pub setup_key: Vec<String>,
    /// Hosts that the checks need; they reach those that the operator's `sandbox.check_hosts` lists, too.
    pub check_hosts: Vec<String>,
    /// The agent that works here. `None` for the process's own choice.
    pub agent: Option<String>,
    /// Agents of this repository.
    pub agents: BTreeMap<String, AgentSettings>,
    /// Recipes of this repository.
    pub recipes: BTreeMap<String, RecipeSettings>,
    /// Paths, as globs, that Hob's work must not touch.
    pub protected: Vec<String>,
    /// Paths, as globs, of tests and what only tests need. Empty: as their names say.
    pub tests: Vec<String>,
    /// Folders that are checked out, with the files above them. Empty: all.
    pub folders: Vec<String>,
    /// When a plan comes before the work. This and what follows are also the operator's to set.
    #[serde(skip_serializing)]
    pub plan: Option<PlanFirst>,
    /// Deadline of one check.
    #[serde(with = "duration::optional", skip_serializing)]
    pub check_time: Option<Duration>,
    /// Time of the checks on the trees between base and head.
    #[serde(with = "duration::optional", skip_serializing)]
    pub proof_time: Option<Duration>,
    /// What happens if a check already fails on the base.
    #[serde(skip_serializing)]
    pub on_red_base: Option<RedBase>,
    /// The issue that shows all work.
    #[serde(skip_serializing)]
    pub dashboard: RepositoryDashboard,
    /// Names of labels.
    #[serde(skip_serializing)]
    pub labels: RepositoryLabels,
    /// Limits.
    #[serde(skip_serializing)]
    pub limits: RepositoryLimits,
    /// Who is mentioned.
    #[serde(skip_serializing)]
    pub notify: RepositoryNotify,
    /// How work is published.
    #[serde(skip_serializing)]
    pub publish: RepositoryPublish,
    /// How open pull requests are handled.
    #[serde(skip_serializing)]
    pub review: RepositoryReview,
    /// Whether profiles are found by an issue's text.
    #[serde(skip_serializing)]
    pub routing: RepositoryRouting,
}

/// A `.github/hob.toml` that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{REPOSITORY_SETTINGS_PATH}` on the base branch cannot be used: {0}")]
pub struct RepositorySettingsError(String);

impl RepositorySettings {
    /// Reads the file's text, beside the operator's `settings`.
    ///
    /// # Errors
    /// [`RepositorySettingsError`] with the line of the mistake, a value that makes no sense, or the name of an agent or a recipe that
    /// both files have: neither of their owners could tell which one works.
    pub fn beside(settings: &Settings, text: &str) -> Result<Self, RepositorySettingsError> {
        let own = Self::parse(text)?;
        let agent = |name: &&String| settings.agents.contains_key(*name) && !settings.untouched.contains(*name);
        let agent = own.agents.keys().find(agent).map(|name| ("agent", name));
        let recipe = || Some(("recipe", own.recipes.keys().find(|name| settings.recipes.contains_key(*name))?));
        if let Some((kind, name)) = agent.or_else(recipe) {
            let reason =
                format!("its {kind} `{name}` is in the operator's file, too: give one of the two another name");
            return Err(RepositorySettingsError(reason));
        }
        check_of_both(&own.over(settings)).map_err(|error| {
            RepositorySettingsError(match error {
                SettingsError::Senseless { key, value, allowed, .. } => format!("`{key}` is `{value}`; {allowed}"),
                other => other.to_string(),
            })
        })?;
        Ok(own)
    }

    /// Whether `key` is a setting of repositories alone.
    pub(super) fn has(key: &str) -> bool {
        let own = toml::Table::try_from(Self::default()).unwrap_or_default();
        // TOML leaves out what is not given.
        own.contains_key(key) || key == "agent"
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// [`RepositorySettingsError`] with the line of the mistake.
    pub fn parse(text: &str) -> Result<Self, RepositorySettingsError> {
        let settings: Self = toml::from_str(text).map_err(|error| RepositorySettingsError(refused(text, &error)))?;
        let named = |agent: &AgentSettings| {
            let lists = [&agent.env, &agent.hosts, &agent.fetch_hosts, &agent.allow, &agent.mcp];
            OPERATOR_ONLY.into_iter().zip(lists).find(|(_, list)| !list.is_empty()).map(|(key, _)| key)
        };
        if let Some((name, key)) = settings.agents.iter().find_map(|(name, agent)| Some((name, named(agent)?))) {
            return Err(RepositorySettingsError(only_for_operators(&format!("agents.{name}.{key}"))));
        }
        // A known program gets a key, so the repository must not choose its file or insert arguments before Hob's.
        let placed =
            |agent: &AgentSettings| matches!(agent.backend, BackendKind::Adapter(_)) && !agent.command.is_empty();
        if let Some((name, agent)) = settings.agents.iter().find(|(_, agent)| placed(agent)) {
            let backend = String::from(agent.backend);
            let reason = format!(
                "`agents.{name}.command` with `backend = \"{backend}\"` is allowed only in the settings of Hob's operator"
            );
            return Err(RepositorySettingsError(reason));
        }
        for (name, commands) in [("check", &settings.checks), ("set-up step", &settings.setup)] {
            if commands.iter().any(|command| command.trim().is_empty()) {
                return Err(RepositorySettingsError(format!("a {name} is empty: write a shell command")));
            }
        }
        if let Err(error) = PathGlobs::new(settings.tests.clone()) {
            return Err(RepositorySettingsError(format!("`tests` has a glob that cannot be read: {error}")));
        }
        let plain = |path: &String| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        for (key, paths) in [("setup_key", &settings.setup_key), ("folders", &settings.folders)] {
            if let Some(bad) = paths.iter().find(|path| path.is_empty() || !plain(path)) {
                let reason = format!("`{bad}` in `{key}` is not a path within the repository");
                return Err(RepositorySettingsError(reason));
            }
        }
        let agents = agents_over_ready(text).map_err(|error| RepositorySettingsError(error.to_string()))?;
        Ok(Self { agents, ..settings })
    }

    /// The operator's settings with what this file gives of [`OF_BOTH`](crate::OF_BOTH): it has the last word on them.
    pub fn over(&self, operator: &Settings) -> Settings {
        let mut own = operator.clone();
        let (publish, review) = (&self.publish, &self.review);
        let allowed = operator.limits.open_pulls;
        // 0 means not limited.
        let open_pulls = self.limits.open_pulls.filter(|limit| allowed == 0 || (1..=allowed).contains(limit));
        let given = [
            put("check_time", &self.check_time, &mut own.check_time),
            put("dashboard.issue", &self.dashboard.issue, &mut own.dashboard.issue),
            put("labels.priority", &self.labels.priority, &mut own.labels.priority),
            put("labels.trigger", &self.labels.trigger, &mut own.labels.trigger),
            put("limits.open_pulls", &open_pulls, &mut own.limits.open_pulls),
            put("notify.mention", &self.notify.mention, &mut own.notify.mention),
            put("on_red_base", &self.on_red_base, &mut own.on_red_base),
            put("plan", &self.plan, &mut own.plan),
            put("proof_time", &self.proof_time, &mut own.proof_time),
            put("publish.base", &publish.base, &mut own.publish.base),
            put("publish.commit_message", &publish.commit_message, &mut own.publish.commit_message),
            put("publish.draft", &publish.draft, &mut own.publish.draft),
            put("publish.labels", &publish.labels, &mut own.publish.labels),
            put("publish.reviewers", &publish.reviewers, &mut own.publish.reviewers),
            put("publish.sign_off", &publish.sign_off, &mut own.publish.sign_off),
            put("publish.template", &publish.template, &mut own.publish.template),
            put("publish.trailers", &publish.trailers, &mut own.publish.trailers),
            put("review.reviewer", &review.reviewer, &mut own.review.reviewer),
            put("review.update", &review.update, &mut own.review.update),
            put("routing.enabled", &self.routing.enabled, &mut own.routing.enabled),
        ];
        // All workers read the same file: its values make no difference between them.
        own.shared = own.shared.without(given.into_iter().flatten());
        own
    }
}

/// Gives the setting the file's value; returns its key if there is one.
fn put<T: Clone>(key: &'static str, value: &Option<T>, setting: &mut T) -> Option<&'static str> {
    setting.clone_from(value.as_ref()?);
    Some(key)
}

/// Why the text cannot be read: the first setting of the operator's in it, otherwise the mistake's line.
fn refused(text: &str, error: &toml::de::Error) -> String {
    of_operator(text).map_or_else(|| toml_sentence(text, error), |key| only_for_operators(&key))
}

fn only_for_operators(key: &str) -> String {
    format!("`{key}` is allowed only in the settings of Hob's operator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_agents_and_recipes_are_read() {
        let settings = RepositorySettings::parse(
            "checks = ['./test.sh']\nagent = 'fixer'\nprotected = ['deploy/**']\n\
             [agents.fixer]\nbackend = 'command'\ncommand = ['sh', '-c', 'true']",
        );
        assert_eq!(settings.unwrap().checks, ["./test.sh"]);
    }

    /// Attack corpus F76, J130: a repository cannot name a host, a key, or a program that gets a key.
    #[test]
    fn a_repository_leads_no_key_elsewhere() {
        let unknown =
            |line: usize, key: &str| format!("line {line} (`{key}`): unknown field `{}`", key.trim_matches(['[', ']']));
        let mine = |key: &str| format!("`agents.a.{key}` is allowed only in the settings of Hob's operator");
        let placed = "`agents.a.command` with `backend = \"codex\"` is allowed only in the settings of Hob's operator";
        for (text, says) in [
            ("[model]\nbase_url = 'http://evil.example'", unknown(1, "[model]")),
            ("model.endpoints.openai.base_url = 'http://evil.example'", "unknown field `model`".to_owned()),
            ("[agents.a]\nbase_url = 'http://evil.example'", unknown(2, "base_url")),
            ("[agents.a]\napi_key = 'OPENAI_API_KEY'", unknown(2, "api_key")),
            ("[agents.a]\nenv = ['OPENAI_BASE_URL']", mine("env")),
            ("[agents.a]\nhosts = ['evil.example']", mine("hosts")),
            ("[agents.a]\nfetch_hosts = ['evil.example']", mine("fetch_hosts")),
            ("[agents.a]\nallow = ['web_search']", mine("allow")),
            ("[agents.a]\nmcp = ['./server']", mine("mcp")),
            (
                "[agents.a]\nbackend = 'codex'\ncommand = ['codex', '--config', 'model_provider=evil']",
                placed.to_owned(),
            ),
            ("[mcp.a]\ncommand = ['./server']", "unknown field `mcp`".to_owned()),
            ("[tools.a]\ncommand = ['./tool']", "unknown field `tools`".to_owned()),
            ("[egress]\nallow = ['evil.example']", unknown(1, "[egress]")),
            ("[sandbox]\ntier = 'none'", only_for_operators("sandbox.tier")),
            ("sandbox.setup_hosts = ['evil.example']", only_for_operators("sandbox.setup_hosts")),
            ("publish.signing = '/keys/theirs'", only_for_operators("publish.signing")),
            ("plan = 'large'\n[publish]\nauthor = 'ann'", only_for_operators("publish.author")),
            ("[notify]\nwebhook = 'https://evil.example'", only_for_operators("notify.webhook")),
            ("routing.model = 'openai/dear'", only_for_operators("routing.model")),
            ("review.rerun = true", only_for_operators("review.rerun")),
            ("[budget]\nissue = 500.0", only_for_operators("budget.issue")),
            ("[limits]\nattempts = 50", only_for_operators("limits.attempts")),
            ("[forge]\napi_url = 'http://evil.example'", unknown(1, "[forge]")),
            ("[trust]\npermission = 'read'", only_for_operators("trust.permission")),
            ("[secrets]\nenv = ['GITHUB_TOKEN']", unknown(1, "[secrets]")),
            // A step is only a command, without variables or hosts.
            (
                "setup = [{ run = './fetch', env = ['OPENAI_API_KEY'] }]",
                "line 1 (`setup`): invalid type: map".to_owned(),
            ),
            ("setup = ['./fetch']\nsetup_hosts = ['evil.example']", unknown(2, "setup_hosts")),
            ("[setup]\nrun = './fetch'\nenv = ['OPENAI_API_KEY']", "line 1 (`[setup]`): invalid type: map".to_owned()),
        ] {
            let error = RepositorySettings::parse(text).expect_err(text).to_string();
            let begins = "`.github/hob.toml` on the base branch cannot be used: ";
            assert!(error.strip_prefix(begins).is_some_and(|why| why.contains(&says)), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_that_both_files_have_is_refused() {
        let flags =
            [("agents.fixer.backend", "command"), ("recipes.year.description", "x"), ("agents.file.model", "openai/m")];
        let flags: Vec<_> = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let operator = Settings::load(None, std::collections::HashMap::new(), &flags).unwrap();
        for (text, says) in [
            ("[agents.fixer]\nbackend = 'command'", Some("its agent `fixer` is in the operator's file, too")),
            ("[recipes.year]\nsteps = []", Some("its recipe `year` is in the operator's file, too")),
            ("[agents.file]\nmax_iterations = 3", Some("its agent `file` is in the operator's file, too")),
            ("[agents.git]\nmax_iterations = 3", None),
            ("[agents.mine]\nbackend = 'command'", None),
        ] {
            let read = RepositorySettings::beside(&operator, text);
            assert_eq!(
                read.as_ref().err().map(|error| error.to_string().contains(says.unwrap_or("?"))),
                says.map(|_| true),
                "{text}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_as_in_the_operators_file() {
        let operator = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        for (text, says) in [
            ("check_time = '0s'", "`check_time` is `0s`; write more than 0s"),
            ("publish.base = 'hob/7-mine'", "`publish.base` is `hob/7-mine`; Hob's own branches"),
            ("publish.commit_message = 'fix'", "`publish.commit_message` is `fix`; "),
            ("dashboard.issue = 'seven'", "`dashboard.issue` is `seven`; write an issue's number, or `auto`"),
            ("labels.trigger = 'blocked'", "`labels` is `blocked`; each state needs a label of its own"),
            ("publish.labels = ['']", "`publish.labels` is ``; a label has 1 to 50 characters"),
            ("publish.reviewers = ['a b']", "`publish.reviewers` is `a b`; write a login"),
            ("review.reviewer = 'no/name'", "`review.reviewer` is `no/name`; write the name of a profile"),
            ("publish.draft = 'perhaps'", "line 1 (`publish.draft`): `publish.draft` cannot be used: it is `perhaps`"),
            ("plan = 'often'", "line 1 (`plan`): unknown variant `often`, expected one of `always`, `large`, `never`"),
            ("[review]\nupdat = 'merge'", "line 2 (`updat`): unknown field `updat`, expected `update` or `reviewer`"),
        ] {
            let error = RepositorySettings::beside(&operator, text).expect_err(text).to_string();
            assert!(error.contains(&format!("cannot be used: {says}")), "{error}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        for (text, says) in [
            ("checks = 'x'", "line 1"),
            ("cheks = []", "cheks"),
            ("checks = ['']", "empty"),
            ("[agents.a]\nenv = ['AWS_SECRET_ACCESS_KEY']", "agents.a.env"),
            ("setup = ['']", "a set-up step is empty"),
            ("setup_key = ['../x']", "not a path within the repository"),
            ("folders = ['a', '/b']", "`/b` in `folders` is not a path within the repository"),
            ("[agents.a]\nhosts = ['example.org']", "agents.a.hosts"),
            ("[agents.a]\nfetch_hosts = ['example.org']", "agents.a.fetch_hosts"),
            ("[agents.a]\nmcp = ['docs']", "agents.a.mcp"),
            ("[agents.a]\nbackend = 'claude'\ncommand = ['./mine']", "agents.a.command"),
        ] {
            let error = RepositorySettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
