//! The preflight: checks what a worker needs before its first write, so that the operator is told once and not on each
//! issue. `hob doctor` shows the same findings.

use std::sync::Arc;

use hob_agent::{Machine, ServerLook, look_at_servers};
use hob_config::RepositorySettings;
use hob_domain::{DiffPolicy, FailureClass, HobFiles, Sha, proposed_set_up, routing_is_off};
use hob_forge::{BaseBranch, OpenIssues, Tips};
use hob_sandbox::{Network, Tier, probe};
use hob_text::count;

use crate::{
    WorkError, Worker,
    agent::{agent_name, build_agent, counts_money, without_profile},
    profiles::{forge_catalog, known_profiles},
    program_starts::program_starts,
    push_rules::{RulesFound, in_the_way, refusing_rules},
    repository_file::{file_at, file_if_any, in_repository, note_name},
    sandbox::try_sandbox,
};

pub use crate::finding::{Finding, Health};

/// The oldest git that has what Hob uses: `--no-write-fetch-head` with `push.negotiate`.
const GIT_NEEDED: (u32, u32) = (2, 34);

/// The findings, in order, and the first error.
#[derive(Debug, Default)]
struct Findings {
    all: Vec<Finding>,
    /// The tip of the base branch, if the repository exists and has one.
    base: Option<Sha>,
    /// The base, if checks run without a network and there are no set-up steps for them.
    unprepared: Option<Sha>,
    error: Option<WorkError>,
}

impl Findings {
    fn add(&mut self, health: Health, about: &'static str, says: impl Into<String>) {
        self.all.push(Finding { health, about, says: says.into() });
    }

    /// Adds the result of a check, or its error. A transient error is returned: it says nothing about what is there.
    fn look<T>(
        &mut self,
        about: &'static str,
        look: Result<T, WorkError>,
        says: impl FnOnce(&T) -> String,
    ) -> Result<Option<T>, WorkError> {
        match look {
            Ok(value) => {
                self.add(Health::Ok, about, says(&value));
                Ok(Some(value))
            }
            Err(error) if matches!(error.class(), FailureClass::Transient { .. } | FailureClass::Unfinished) => {
                Err(error)
            }
            Err(error) => {
                self.add(Health::Bad, about, error.to_string());
                self.error.get_or_insert(error);
                Ok(None)
            }
        }
    }
}

/// Checks everything that work in the repository needs, without writing to the forge.
///
/// # Errors
/// [`WorkError`] of a check that failed transiently.
pub async fn examine(worker: &Worker) -> Result<Vec<Finding>, WorkError> {
    let mut findings = look(worker).await?;
    if let Some(base) = findings.unprepared.take() {
        let names = worker.forge.repository().top_names(&base).await?;
        if let Some(lines) = proposed_set_up(names.iter().map(String::as_str)) {
            let says = format!(
                "checks and agents have no network; what they need is fetched by {lines} in `.github/hob.toml`"
            );
            findings.add(Health::Note, "set-up", says);
        }
    }
    if findings.base.is_some() {
        rules_of_branches(worker, &mut findings).await?;
    }
    routing(worker, &mut findings).await?;
    profiles(worker, &mut findings).await?;
    servers(worker, &mut findings).await;
    Ok(findings.all)
}

/// The rules that would refuse a push of Hob's. The forge does not say who may bypass them, so they do not stop the
/// work.
async fn rules_of_branches(worker: &Worker, findings: &mut Findings) -> Result<(), WorkError> {
    let RulesFound { branch, objections } = refusing_rules(worker).await?;
    if objections.is_empty() {
        findings.add(Health::Ok, "branches", format!("no rule refuses pushes to branches such as `{branch}`"));
    }
    objections.into_iter().for_each(|says| findings.add(Health::Note, "branches", says));
    Ok(())
}

/// Checks whether profiles failed to load so often that routing is off.
async fn routing(worker: &Worker, findings: &mut Findings) -> Result<(), WorkError> {
    let tip = worker.forge.ledger().tips().await?.repository;
    let record = worker.forge.repository_ledger().entry(tip.as_ref()).await.map_err(WorkError::from);
    let off_until = record?.and_then(|entry| entry.record.failed_loads.off_until(worker.forge.now()));
    if let Some(until) = off_until {
        findings.add(Health::Note, "routing", routing_is_off(until));
    }
    Ok(())
}

/// The damaged profiles. Which of them an issue would need is unknown here.
async fn profiles(worker: &Worker, findings: &mut Findings) -> Result<(), WorkError> {
    let Some(base) = findings.base.as_ref() else { return Ok(()) };
    let catalog = forge_catalog(worker, base).await?;
    for says in catalog.warnings.iter().cloned().chain(catalog.faults()) {
        // The profile that the repository names was found already.
        if !findings.all.iter().any(|found| found.about == "profile" && found.says.contains(&says)) {
            findings.add(Health::Note, "profile", says);
        }
    }
    Ok(())
}

/// Checks whether each MCP server of the settings starts and lists its tools. A failing one does not stop the work:
/// agents do without.
async fn servers(worker: &Worker, findings: &mut Findings) {
    let machine =
        Machine { environment: &worker.children.environment, sandbox: &worker.children.sandbox, costs_count: false };
    match look_at_servers(&worker.children.agents.mcp, &worker.children.agents.variables, &machine).await {
        Ok(looks) => {
            for ServerLook { name, tools, fault } in looks {
                let listed: Vec<_> = tools.iter().map(|(tool, impact)| format!("{tool} [{impact}]")).collect();
                let listed = format!("`{name}` has {}: {}", count(tools.len(), "tool"), listed.join(", "));
                match fault {
                    None => findings.add(Health::Ok, "MCP server", listed),
                    Some(fault) if tools.is_empty() => findings.add(Health::Note, "MCP server", fault),
                    Some(fault) => findings.add(Health::Note, "MCP server", format!("{listed}; {fault}")),
                }
            }
        }
        Err(error) => findings.add(Health::Note, "MCP server", format!("none was checked: {error}")),
    }
}

/// Refuses to work if something is missing.
///
/// # Errors
/// The one error that says what is missing, or [`WorkError::Misconfigured`] with all of them.
pub(super) async fn preflight(worker: &Worker) -> Result<(), WorkError> {
    let Findings { all, error, base: _, unprepared: _ } = look(worker).await?;
    let bad = all.into_iter().filter(|finding| finding.health == Health::Bad);
    let bad: Vec<String> = bad.map(|finding| format!("{}: {}", finding.about, finding.says)).collect();
    match (bad.as_slice(), error) {
        ([], _) => Ok(()),
        ([_], Some(only)) => Err(only),
        (all, _) => Err(WorkError::Misconfigured(all.join("; "))),
    }
}

async fn look(worker: &Worker) -> Result<Findings, WorkError> {
    let mut findings = Findings::default();
    let has_git = machine(worker, &mut findings).await?;
    let details = worker.forge.repository().details().await.map_err(WorkError::from);
    let details = findings.look("repository", details, |repository| {
        format!("readable; its base branch is `{}`", repository.default_branch)
    })?;
    let Some(details) = details else { return Ok(findings) };
    let fit = details.fit(worker.forge.repo()).map_err(WorkError::from);
    if fit.is_err() {
        findings.look("repository", fit, |()| String::new())?;
    }
    note_name(worker, &details.default_branch);
    let base = worker.forge.repository().tip(details.default_branch).await.map_err(WorkError::from);
    // What is wrong with the file is found below.
    let here = match &base {
        Ok(base) => in_repository(worker, base).await.unwrap_or_else(|_| Arc::new(worker.clone())),
        Err(_) => Arc::new(worker.clone()),
    };
    account(&here, &mut findings).await?;
    lists(&here, &mut findings).await?;
    let Some(base) = findings.look("base branch", base, |base| format!("at {}", base.sha.short()))? else {
        return Ok(findings);
    };
    findings.base = Some(base.sha.clone());
    if let Some(says) = in_the_way(worker).await? {
        findings.add(Health::Bad, "branches", says);
    }
    if has_git {
        let reached = async { Ok(worker.workspace.reach(&worker.remote().await?).await?) };
        findings.look("git server", reached.await, |()| "git can read the repository".to_owned())?;
    }
    let rules = match file_if_any(worker, &base.sha).await {
        Ok(Some(rules)) => rules,
        Ok(None) => {
            let says = "there is no `.github/hob.toml`: `hob init` opens a pull request with one, and without it pull \
                        requests say that the work is not verified";
            findings.add(Health::Note, "checks", says);
            Arc::default()
        }
        Err(error) => {
            findings.look("repository's settings", Err(error), |()| String::new())?;
            return Ok(findings);
        }
    };
    if let Some(remote) = &worker.remote {
        let (health, says) = remote.health().await;
        findings.add(health, "executor", says);
        return Ok(findings);
    }
    set_up(worker, &rules, &base.sha, &mut findings);
    check_hosts(worker, &rules, &mut findings);
    repository_rules(worker, &rules, &mut findings).await?;
    // A profile works by an agent of the settings.
    let without = without_profile(worker, &rules);
    agent(worker, &without, &mut findings).await?;
    if let Some(name) = rules.agent.as_deref().filter(|_| without.agent.is_none()) {
        named_profile(worker, &rules, &base.sha, name, &mut findings).await?;
    }
    Ok(findings)
}

/// Checks what the repository's set-up steps need.
fn set_up(worker: &Worker, rules: &RepositorySettings, base: &Sha, findings: &mut Findings) {
    if worker.children.sandbox.tier() == Tier::None || *worker.children.sandbox.network() == Network::Open {
        return;
    }
    if rules.setup.is_empty() {
        findings.unprepared = Some(base.clone()).filter(|_| !rules.checks.is_empty());
        return;
    }
    match (worker.settings.sandbox.setup_hosts.as_slice(), probe(Tier::Box).missing) {
        ([], _) => findings.add(
            Health::Note,
            "set-up",
            "the steps have no network: list the hosts of their package registries in `sandbox.setup_hosts`",
        ),
        (_, Some(missing)) => {
            let says = format!("the hosts of `sandbox.setup_hosts` can only be reached from a box: {missing}");
            findings.add(Health::Bad, "set-up", says);
        }
        (hosts, None) => findings.add(Health::Ok, "set-up", format!("the steps reach {}", hosts.join(", "))),
    }
}

/// The hosts that the repository's checks ask for.
fn check_hosts(worker: &Worker, rules: &RepositorySettings, findings: &mut Findings) {
    let is_closed = worker.children.sandbox.tier() != Tier::None && *worker.children.sandbox.network() != Network::Open;
    if rules.check_hosts.is_empty() || !is_closed {
        return;
    }
    let allowed = &worker.settings.sandbox.check_hosts;
    let (reached, refused): (Vec<_>, Vec<_>) =
        rules.check_hosts.iter().cloned().partition(|host| allowed.contains(host));
    if !refused.is_empty() {
        let says = format!("they ask for {}, which `sandbox.check_hosts` does not list", refused.join(", "));
        findings.add(Health::Note, "check hosts", says);
    }
    match probe(Tier::Box).missing {
        _ if reached.is_empty() => {}
        Some(missing) => {
            let says = format!("`sandbox.check_hosts` can only be reached from a box: {missing}");
            findings.add(Health::Bad, "check hosts", says);
        }
        None => findings.add(Health::Ok, "check hosts", format!("they reach {}", reached.join(", "))),
    }
}

/// Checks what this machine must have; returns whether it has git.
async fn machine(worker: &Worker, findings: &mut Findings) -> Result<bool, WorkError> {
    let version = worker.workspace.git_version().await.map_err(WorkError::from);
    let version = findings.look("git", version, Clone::clone)?;
    let has_git = version.is_some();
    if let Some(version) = version
        && number_of(&version).is_some_and(|version| version < GIT_NEEDED)
    {
        let (major, minor) = GIT_NEEDED;
        findings.add(Health::Bad, "git", format!("git {version} is too old: install git {major}.{minor} or later"));
    }
    if let Err(error) = worker.workspace.try_writing().await {
        findings.add(Health::Bad, "state folder", error.to_string());
    }
    if worker.remote.is_some() {
        return Ok(has_git);
    }
    match try_sandbox(&worker.children.sandbox, &worker.children.environment).await {
        Ok(says) if worker.children.sandbox.tier() == Tier::None || worker.children.sandbox.lacks().is_some() => {
            findings.add(Health::Note, "sandbox", says);
        }
        Ok(says) => findings.add(Health::Ok, "sandbox", says),
        Err(says) => findings.add(Health::Bad, "sandbox", format!("{says}; or set `sandbox.tier` to another tier")),
    }
    Ok(has_git)
}

/// Major and minor of a version.
fn number_of(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

async fn account(worker: &Worker, findings: &mut Findings) -> Result<(), WorkError> {
    match worker.own_login().await {
        Ok(Some(login)) => findings.add(Health::Ok, "account", format!("the token belongs to {login}")),
        Ok(None) => findings.add(
            Health::Note,
            "account",
            "the forge does not say which account the token belongs to: set `forge.login`, for example to \
             `github-actions[bot]`",
        ),
        Err(error) => drop(findings.look("account", Err(error), |()| String::new())?),
    }
    let issues = worker.forge.labels().missing(&worker.settings.labels.specs()).await.map_err(WorkError::from);
    let missing = match issues {
        Ok(missing) => missing,
        Err(error) => return findings.look("labels", Err(error), |()| String::new()).map(drop),
    };
    if missing.is_empty() {
        findings.add(Health::Ok, "labels", "all present");
    } else {
        let names: Vec<_> = missing.into_iter().map(|spec| spec.name).collect();
        findings.add(Health::Note, "labels", format!("Hob will create: {}", names.join(", ")));
    }
    Ok(())
}

/// The lists that a poll begins with. The poll that follows asks for the same again, and the forge answers that nothing
/// has changed, which costs no quota.
async fn lists(worker: &Worker, findings: &mut Findings) -> Result<(), WorkError> {
    let issues = worker.forge.issues().open_with(&worker.settings.labels.trigger).await.map_err(WorkError::from);
    let open = |found: &OpenIssues| count(found.issues.len() + found.unreadable.len(), "open issue");
    findings.look("issues", issues, |found| {
        format!("{} with the label `{}`", open(found), worker.settings.labels.trigger)
    })?;
    let ledgers = worker.forge.ledger().tips().await.map_err(WorkError::from);
    let has = |found: &Tips| count(found.issues.len(), "issue");
    findings.look("ledgers", ledgers, |found| format!("{} known to Hob", has(found)))?;
    Ok(())
}

/// Checks that the protected paths are globs, and that the programs of the checks exist.
async fn repository_rules(
    worker: &Worker,
    rules: &RepositorySettings,
    findings: &mut Findings,
) -> Result<(), WorkError> {
    let workspace = &worker.settings.workspace;
    let policy = DiffPolicy::new(&rules.protected, HobFiles::Protected, workspace.max_files, workspace.max_file);
    if let Err(error) = policy {
        findings.look("protected", Err(error.into()), |()| String::new())?;
    }
    let of_set_up = program_starts(worker, &rules.setup).await;
    of_set_up.into_iter().for_each(|(health, says)| findings.add(health, "set-up", says));
    let of_checks = program_starts(worker, &rules.checks).await;
    if of_checks.is_empty() && !rules.checks.is_empty() {
        findings.add(Health::Ok, "checks", rules.checks.join("; "));
    }
    of_checks.into_iter().for_each(|(health, says)| findings.add(health, "checks", says));
    Ok(())
}

/// Checks that the default agent can be run here.
async fn agent(worker: &Worker, rules: &RepositorySettings, findings: &mut Findings) -> Result<(), WorkError> {
    let name = agent_name(worker, None, rules);
    let ready = async {
        let agent = build_agent(worker, rules, name.clone()).await?;
        let costs_count = counts_money(&worker.settings);
        let machine =
            Machine { environment: &worker.children.environment, sandbox: &worker.children.sandbox, costs_count };
        agent.ready(&machine).await.map(|()| agent.notices())
    };
    let notices = findings.look("agent", ready.await.map_err(WorkError::from), |_| format!("`{name}` is ready"))?;
    notices.into_iter().flatten().for_each(|notice| findings.add(Health::Note, "agent", notice));
    Ok(())
}

/// Checks whether `name`, which the repository names and is not an agent, is a profile. If it is neither, the agent of
/// the settings works.
async fn named_profile(
    worker: &Worker,
    rules: &RepositorySettings,
    base: &Sha,
    name: &str,
    findings: &mut Findings,
) -> Result<(), WorkError> {
    let known = known_profiles(worker, base, &[name]).await?;
    if known.names.iter().any(|known| known == name) {
        findings.add(Health::Ok, "profile", format!("`{name}` is used, as `.github/hob.toml` says"));
        return Ok(());
    }
    if let Some((_, fault)) = known.damaged.first() {
        let says = format!("`.github/hob.toml` names `{name}`, but the base agent is used: {fault}");
        findings.add(Health::Note, "profile", says);
        return Ok(());
    }
    // It says which agents there are.
    let missing = build_agent(worker, rules, name.to_owned()).await.err().map(|error| error.reason).unwrap_or_default();
    let says = format!("{missing}, nor a profile of that name, which `.github/hob.toml` names: the base agent is used");
    findings.add(Health::Note, "profile", says);
    Ok(())
}

/// Asks the model of the default agent.
///
/// # Errors
/// [`WorkError`] of reading the repository's settings.
pub async fn ask_model(worker: &Worker, base: &BaseBranch) -> Result<Finding, WorkError> {
    let rules = without_profile(worker, &*file_at(worker, &base.sha).await?);
    let name = agent_name(worker, None, &rules);
    let asked = async { build_agent(worker, &rules, name.clone()).await?.ask_model().await };
    let (health, says) = match asked.await {
        Ok(Some(model)) => (Health::Ok, format!("`{model}` answers")),
        Ok(None) => (Health::Note, format!("the agent `{name}` has no model that Hob asks itself: it was not asked")),
        Err(error) => (Health::Bad, error.to_string()),
    };
    Ok(Finding { health, about: "model", says })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git_are_compared_by_number() {
        for (version, enough) in [("2.20.1", false), ("2.34.0", true), ("2.47.3.windows.1", true), ("3.0", true)] {
            assert_eq!(number_of(version).is_some_and(|version| version >= GIT_NEEDED), enough, "{version}");
        }
        assert_eq!(number_of("next"), None);
    }
}
