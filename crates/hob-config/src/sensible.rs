//! Refuses values that are well formed but make no sense when the settings are loaded, with the key, the value and what
//! is allowed.

use std::{collections::BTreeSet, time::Duration};

use config::Config;
use hob_domain::{AUTO_AGENT, PathGlobs, Permission, ProfileName, RepoName, check_template};
use toml::{Table, Value};

use crate::{
    AuditSink, DEFAULTS, MCP_PREFIX, Settings, SettingsError, Signing, servers, settings_error::hold, webhook::address,
};

/// Refuses values that make no sense. `given` are the settings without defaults.
///
/// # Errors
/// [`SettingsError::Senseless`] for the first one.
pub(super) fn check(settings: &Settings, given: &Config) -> Result<(), SettingsError> {
    let (limits, lease, forge) = (&settings.limits, &settings.lease, &settings.forge);
    check_limits(settings)?;
    check_relations(settings, given)?;
    check_names(settings)?;
    check_routing(settings)?;
    for (key, time) in [
        ("limits.attempt_time", limits.attempt_time),
        ("notify.timeout", settings.notify.timeout),
        ("forge.timeout", forge.timeout),
        ("workspace.transfer_time", settings.workspace.transfer_time),
        ("workspace.local_time", settings.workspace.local_time),
    ] {
        hold(!time.is_zero(), key, shown(time), "write more than 0s")?;
    }
    hold(
        lease.duration > forge.timeout,
        "lease.duration",
        shown(lease.duration),
        "write more than `forge.timeout`: a write has to end within the lease",
    )?;
    let app = &settings.app;
    let has_no_app = app.installation == 0 && app.private_key.is_empty();
    hold(app.id > 0 || has_no_app, "app.id", app.id, "write the App's id, which its page shows")?;
    let signing = &settings.publish.signing;
    let has_app = *signing != Signing::Api || app.id > 0;
    hold(
        has_app,
        "publish.signing",
        "api",
        "GitHub signs the commits of Apps only: set `app.id`, or write the path of a key",
    )?;
    let is_path = !matches!(signing, Signing::Ssh(path) if !path.to_string_lossy().contains('/'));
    hold(
        is_path,
        "publish.signing",
        signing,
        "write `none`, `api`, or the path of a private SSH key, such as `/keys/hob`",
    )?;
    for glob in &settings.publish.auto_merge {
        let is_glob = PathGlobs::new(vec![glob.clone()]).is_ok();
        hold(
            is_glob && !glob.trim().is_empty(),
            "publish.auto_merge",
            glob,
            "write globs of paths, such as `docs/**`",
        )?;
    }
    if !settings.notify.webhook.is_empty() {
        drop(address(&settings.notify.webhook, "notify.webhook")?);
    }
    AuditSink::read(&settings.audit).map(drop)?;
    check_of_both(settings)?;
    check_what_is_worked_on(settings)?;
    check_servers(settings)
}

/// Refuses values that make no sense of what the repository may set, too.
///
/// # Errors
/// [`SettingsError::Senseless`] for the first one.
pub(super) fn check_of_both(settings: &Settings) -> Result<(), SettingsError> {
    let time = settings.check_time;
    hold(!time.is_zero(), "check_time", shown(time), "write more than 0s")?;
    let base = settings.publish.base.as_str();
    let is_own = base.starts_with(&settings.workspace.branch_prefix);
    hold(!is_own, "publish.base", base, "Hob's own branches, whose contents are an agent's, cannot be a base")?;
    let message = &settings.publish.commit_message;
    if !message.is_empty()
        && let Err(wrong) = check_template(message)
    {
        hold(false, "publish.commit_message", message, &wrong.to_string())?;
    }
    for label in &settings.publish.labels {
        let length = label.trim().chars().count();
        hold((1..=50).contains(&length), "publish.labels", label, "a label has 1 to 50 characters")?;
    }
    for name in &settings.publish.reviewers {
        let is_name = !name.trim().is_empty() && name.chars().all(|c| c.is_ascii_graphic());
        hold(is_name, "publish.reviewers", name, "write a login, `team:SLUG` or `ORG/TEAM`")?;
    }
    let reviewer = &settings.review.reviewer;
    let is_name = reviewer.is_empty() || reviewer.parse::<ProfileName>().is_ok();
    hold(is_name, "review.reviewer", reviewer, "write the name of a profile, such as `reviewer`")?;
    let dashboard = &settings.dashboard;
    hold(
        matches!(dashboard.issue.as_str(), "" | "auto") || dashboard.number().is_some(),
        "dashboard.issue",
        &dashboard.issue,
        "write an issue's number, or `auto`",
    )?;
    check_labels(settings)
}

/// Refuses a value above the limit that it is part of.
fn check_relations(settings: &Settings, given: &Config) -> Result<(), SettingsError> {
    let (budget, limits) = (&settings.budget, &settings.limits);
    let raised = Some(budget.comment_max).filter(|usd| *usd > 0.0);
    for (inner, value, outer, limit) in [
        ("budget.attempt", budget.attempt, "budget.issue", budget.issue),
        ("budget.attempt", budget.attempt, "budget.day", budget.day),
        ("budget.issue", budget.issue, "budget.day", budget.day),
        ("budget.issue", budget.issue, "budget.comment_max", raised.unwrap_or_default()),
        ("budget.comment_max", budget.comment_max, "budget.day", budget.day),
    ] {
        Within { inner, outer, given }.hold(&value, &limit, f64::to_string)?;
    }
    for (inner, value, outer, limit) in [
        ("limits.attempt_time", limits.attempt_time, "budget.time", budget.time),
        // Clocks that differ by more than a lease lasts make it protect nothing.
        ("lease.skew", settings.lease.skew, "lease.duration", settings.lease.duration),
    ] {
        Within { inner, outer, given }.hold(&value, &limit, |time| shown(*time).to_string())?;
    }
    Ok(())
}

/// A setting that has to be within another one.
struct Within<'a> {
    inner: &'static str,
    outer: &'static str,
    given: &'a Config,
}

impl Within<'_> {
    /// Refuses the inner value if it is above the limit, where 0 means no limit. A default is not refused: beside a limit that
    /// somebody wrote below it, the limit counts.
    fn hold<T: PartialOrd + Default>(
        &self,
        value: &T,
        limit: &T,
        show: impl Fn(&T) -> String,
    ) -> Result<(), SettingsError> {
        let is_default = self.given.get::<config::Value>(self.inner).is_err();
        let holds = is_default || *limit == T::default() || value <= limit;
        let allowed = format!("write at most the value of `{}`, which is {}", self.outer, show(limit));
        hold(holds, self.inner, show(value), &allowed)
    }
}

/// Refuses what would let everybody command Hob, and refs or names that other programs own.
fn check_names(settings: &Settings) -> Result<(), SettingsError> {
    let permission = settings.trust.permission;
    hold(
        permission >= Permission::Triage,
        "trust.permission",
        if permission == Permission::None { "none".to_owned() } else { permission.to_string() },
        "write `triage`, `write`, `maintain` or `admin`: every account can read a public repository",
    )?;
    let prefix = settings.workspace.branch_prefix.as_str();
    let is_branch = !prefix.is_empty() && !prefix.starts_with("refs/") && !prefix.starts_with('/');
    hold(is_branch, "workspace.branch_prefix", prefix, "write how the names of Hob's branches begin, such as `hob/`")
}

/// Refuses thresholds of the router that no issue reaches, or each.
fn check_routing(settings: &Settings) -> Result<(), SettingsError> {
    let routing = &settings.routing;
    for (key, share) in [("routing.confidence", routing.confidence), ("routing.switch", routing.switch)] {
        hold((0.0..=1.0).contains(&share), key, share, "write a number from 0 to 1")?;
    }
    hold(
        (1..=10).contains(&routing.complexity),
        "routing.complexity",
        routing.complexity,
        "write a number from 1 to 10",
    )
}

/// The least value of a number.
pub fn least(key: &str) -> u64 {
    match key {
        "jobs" | "limits.attempts" => 1,
        _other => 0,
    }
}

/// Refuses limits that are zero where they may not be, or not a number.
fn check_limits(settings: &Settings) -> Result<(), SettingsError> {
    let (limits, budget) = (&settings.limits, &settings.budget);
    for (key, count) in [("jobs", settings.jobs as u64), ("limits.attempts", limits.attempts.into())] {
        hold(count >= least(key), key, count, "write at least 1")?;
    }
    let max_file = settings.workspace.max_file;
    hold(max_file > 0, "workspace.max_file", max_file, "write a size above 0, such as `100M`")?;
    for (key, usd) in [
        ("budget.attempt", budget.attempt),
        ("budget.issue", budget.issue),
        ("budget.comment_max", budget.comment_max),
        ("budget.day", budget.day),
    ] {
        hold(
            usd.is_finite() && usd >= 0.0,
            key,
            usd,
            "write a number from 0 up, where 0 means that there is no limit",
        )?;
    }
    hold((0.0..=1.0).contains(&limits.soft), "limits.soft", limits.soft, "write a share between 0 and 1")?;
    for (name, agent) in &settings.agents {
        let rename = "give the agent another name: `auto` chooses one by outcomes";
        hold(name != AUTO_AGENT, "agents", name, rename)?;
        let time = agent.shell_time;
        hold(!time.is_zero(), &format!("agents.{name}.shell_time"), shown(time), "write more than 0s")?;
    }
    Ok(())
}

/// Checks the repositories and accounts in the settings.
fn check_what_is_worked_on(settings: &Settings) -> Result<(), SettingsError> {
    let (executor, fault) = (&settings.executor, settings.executor.fault());
    hold(fault.is_none(), "executor.command", format!("{:?}", executor.command), fault.unwrap_or_default())?;
    for repo in &settings.repositories {
        hold(repo.parse::<RepoName>().is_ok(), "repositories", repo, "write repositories as `OWNER/NAME`")?;
    }
    let assignee = settings.assignee.as_str();
    let is_login = assignee.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '[' | ']'));
    hold(is_login, "assignee", assignee, "write the name of an account, `none`, or nothing")
}

fn check_servers(settings: &Settings) -> Result<(), SettingsError> {
    let own = settings.tools.keys().find(|name| name.starts_with(MCP_PREFIX));
    hold(
        own.is_none(),
        "tools",
        own.map_or("", String::as_str),
        "names that begin so are those of MCP servers' tools",
    )?;
    settings.mcp.iter().try_for_each(|(name, server)| servers::check(name, server))
}

fn check_labels(settings: &Settings) -> Result<(), SettingsError> {
    let mut seen = BTreeSet::new();
    for spec in settings.labels.specs() {
        let length = spec.name.trim().chars().count();
        hold((1..=50).contains(&length), "labels", &spec.name, "a label has 1 to 50 characters")?;
        hold(seen.insert(spec.name.to_ascii_lowercase()), "labels", &spec.name, "each state needs a label of its own")?;
    }
    let labels = &settings.labels;
    for (key, name) in [("labels.plan", &labels.plan), ("labels.investigate", &labels.investigate)] {
        let is_new = name.is_empty() || seen.insert(name.to_ascii_lowercase());
        hold(is_new, key, name, "another label of Hob's has this name")?;
    }
    Ok(())
}

fn shown(time: Duration) -> humantime::FormattedDuration {
    humantime::format_duration(time)
}

/// Refuses values in a file that have another kind than the setting: `trigger = true` would be the label "true".
/// Variables and flags are text, and may have any kind.
///
/// # Errors
/// [`SettingsError::Senseless`] for the first one.
pub(super) fn check_kinds(file: &Table) -> Result<(), SettingsError> {
    // The text is built in, and a test parses it.
    let defaults: Table = toml::from_str(DEFAULTS).unwrap_or_default();
    compare("", file, &defaults)
}

fn compare(section: &str, given: &Table, defaults: &Table) -> Result<(), SettingsError> {
    for (key, value) in given {
        // An unknown key is refused elsewhere, or is in a table of the user's own.
        let Some(default) = defaults.get(key) else { continue };
        let key = format!("{section}{key}");
        let allowed = match (default, value) {
            (Value::Table(default), Value::Table(value)) => {
                compare(&format!("{key}."), value, default)?;
                continue;
            }
            // It used to be a switch.
            (Value::String(_), Value::Boolean(_)) if key == "publish.draft" => continue,
            // A number or a word.
            (Value::Integer(_), Value::String(_)) if key == "limits.candidates" => continue,
            // It used to be a section.
            (Value::String(_), Value::Table(_)) if key == "agent" => continue,
            (Value::String(_), Value::String(_))
            | (Value::Integer(_), Value::Integer(_))
            | (Value::Float(_), Value::Float(_) | Value::Integer(_))
            | (Value::Boolean(_), Value::Boolean(_))
            | (Value::Array(_), Value::Array(_))
            | (Value::Datetime(_), _) => continue,
            (default, _) => kind(default),
        };
        return Err(SettingsError::senseless(key, value.to_string(), allowed));
    }
    Ok(())
}

/// What to write for a setting with such a default.
pub(super) fn kind(default: &Value) -> &'static str {
    match default {
        Value::Table(_) => "write a section",
        Value::String(_) | Value::Datetime(_) => "write a text in quotes",
        Value::Integer(_) => "write a whole number",
        Value::Float(_) => "write a number",
        Value::Boolean(_) => "write `true` or `false`",
        Value::Array(_) => "write a list",
    }
}
