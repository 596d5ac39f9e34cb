//! `hob doctor`: checks what Hob needs, and says how to fix what is wrong.

use hob_agent::{AgentParts, Registry, adapter_program, find_adapter};
use hob_config::{AdapterName, Settings, child_environment};
use hob_domain::terminal;
use hob_forge::Access;
use hob_worker::{Worker, explain};
use serde::Serialize;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    output::{self, BAD, GOOD, WARN, styled},
    setup::{Listen, Setup},
};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// As it should be.
    Ok,
    /// Hob works, but somebody should know.
    Note,
    /// Hob does not work.
    Bad,
}

#[derive(Debug, Serialize)]
struct Finding {
    health: Health,
    about: &'static str,
    says: String,
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, health: Health, about: &'static str, says: impl Into<String>) {
        self.0.push(Finding { health, about, says: says.into() });
    }

    /// Adds the result of a step, or its error.
    fn step<T>(
        &mut self,
        about: &'static str,
        step: Result<T, impl std::fmt::Display>,
        says: impl FnOnce(&T) -> String,
    ) -> Option<T> {
        match step {
            Ok(value) => {
                self.add(Health::Ok, about, says(&value));
                Some(value)
            }
            Err(error) => {
                self.add(Health::Bad, about, error.to_string());
                None
            }
        }
    }
}

pub(super) async fn doctor(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    setup.at_most_one(&shared)?;
    let mut findings = Findings(Vec::new());
    let in_actions = setup.standard.in_actions;
    let settings = setup.settings.clone();
    let agents = AgentParts::of(&setup.settings, &setup.state_dir);
    match settings.renamed.as_slice() {
        [] => findings.add(Health::Ok, "settings", "valid"),
        renamed => renamed.iter().for_each(|one| findings.add(Health::Note, "settings", one.to_string())),
    }
    findings.add(Health::Ok, "forge", setup.standard.api_url.clone());
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await;
    if let Some(worker) =
        findings.step("token", worker, |worker| format!("set; the repository is {}", worker.forge().repo()))
    {
        examine(&worker, &settings, agents, &mut findings).await;
    }
    if in_actions {
        findings.add(
            Health::Note,
            "actions",
            "checks of pull requests opened with the job's own GITHUB_TOKEN wait for a person's approval: use a GitHub App or a fine-grained token",
        );
    }
    let bad = findings.0.iter().filter(|finding| finding.health == Health::Bad).count();
    if shared.json {
        output::json(&findings.0)?;
    } else {
        for finding in &findings.0 {
            let mark = match finding.health {
                Health::Ok => styled(GOOD, "ok  "),
                Health::Note => styled(WARN, "note"),
                Health::Bad => styled(BAD, "bad "),
            };
            anstream::println!("{mark} {:<12} {}", finding.about, terminal(&finding.says));
        }
    }
    if bad > 0 { Err(fatal(Exit::Unhealthy, format!("{bad} problem(s) found"))) } else { Ok(()) }
}

async fn examine(worker: &Worker, settings: &Settings, agents: AgentParts, findings: &mut Findings) {
    let forge = worker.forge();
    let repository = findings.step("repository", forge.repository().details().await, |repository| {
        format!("readable; its base branch is `{}`", repository.default_branch)
    });
    let Some(repository) = repository else { return };
    if repository.archived {
        findings.add(Health::Bad, "repository", "it is archived, so nothing can be written to it");
    }
    if repository.may_push == Some(false) {
        findings.add(Health::Bad, "permission", "the token may not push: grant it `contents: write`");
    }
    match forge.connection().login().await {
        Ok(Some(login)) => findings.add(Health::Ok, "account", format!("the token is {login}'s")),
        Ok(None) => findings.add(
            Health::Note,
            "account",
            "the forge does not tell which account the token belongs to: set `forge.login`, for example to `github-actions[bot]`",
        ),
        Err(error) => findings.add(Health::Bad, "account", error.to_string()),
    }
    let Some(base) =
        findings.step("base branch", forge.repository().base_branch().await, |base| format!("at {}", base.sha.short()))
    else {
        return;
    };
    match forge.ledger().try_prefix(&base).await {
        Ok(()) => findings.add(Health::Ok, "ledger", format!("refs below `{}` can be created", settings.ledger.prefix)),
        Err(error) => findings.add(
            Health::Bad,
            "ledger",
            format!("{error}; if the forge refuses such refs, set `ledger.prefix` to `refs/heads/hob-ledger/`"),
        ),
    }
    match forge.labels().missing(&settings.labels.specs()).await {
        Ok(missing) if missing.is_empty() => findings.add(Health::Ok, "labels", "all present"),
        Ok(missing) => {
            let names: Vec<_> = missing.into_iter().map(|spec| spec.name).collect();
            findings.add(Health::Note, "labels", format!("Hob will create: {}", names.join(", ")));
        }
        Err(error) => findings.add(Health::Bad, "labels", error.to_string()),
    }
    match explain::repository_settings(worker).await {
        Ok(Some(rules)) if rules.checks.is_empty() => {
            findings.add(Health::Note, "checks", "`.github/hob.toml` has none: pull requests will say that the work is not verified");
        }
        Ok(Some(rules)) => findings.add(Health::Ok, "checks", rules.checks.join("; ")),
        Ok(None) => findings.add(
            Health::Note,
            "checks",
            "there is no `.github/hob.toml`: add one with `checks = [\"…\"]`, or pull requests will say that the work is not verified",
        ),
        Err(error) => findings.add(Health::Bad, "checks", error.to_string()),
    }
    tools(worker, agents, &settings.agent.default, findings).await;
}

/// Git and the agents.
async fn tools(worker: &Worker, agents: AgentParts, default: &str, findings: &mut Findings) {
    let (names, git) = match explain::tools(worker).await {
        Ok(found) => found,
        Err(error) => return findings.add(Health::Bad, "tools", error.to_string()),
    };
    findings.add(Health::Ok, "git", git);
    if names.iter().any(|name| name == default) {
        // A model's missing key or address is found here rather than on an issue.
        let built = Registry::new(agents).and_then(|registry| registry.get(default));
        findings.step("agents", built, |_| format!("{} (default: {default})", names.join(", ")));
        return;
    }
    let Ok(known) = default.parse::<AdapterName>() else {
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let says = format!(
            "the default agent `{default}` is not configured (configured: {there}): set `model.default` and its key, or `agent.default`"
        );
        return findings.add(Health::Note, "agents", says);
    };
    match find_adapter(known, &child_environment()) {
        Some(path) => findings.add(Health::Ok, "agents", format!("{default} (default), at {}", path.display())),
        None => findings.add(
            Health::Bad,
            "agents",
            format!(
                "the program of the default agent `{default}` is not on the PATH: install `{}`",
                adapter_program(known)
            ),
        ),
    }
}
