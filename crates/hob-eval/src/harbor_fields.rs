//! The fields of a `task.toml`, as version 0.26 of the package `harbor` has them: each is obeyed, says nothing about a run, or is a reason
//! not to try the task, by its name. Harbor itself ignores fields that it does not know; a misspelt one is a reason here.

use std::{collections::BTreeMap, fs, path::PathBuf};

use hob_sandbox::Limits;
use serde::Deserialize;
use toml::Value;

use crate::task::Reach;

/// A whole file. Fields whose names begin with `_` here say nothing about a run: what the task is called, what Harbor's providers build and
/// reserve.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TaskFile {
    #[serde(alias = "version")]
    schema_version: Option<Value>,
    #[serde(rename = "task")]
    _task: Option<Value>,
    #[serde(rename = "metadata")]
    _metadata: Option<Value>,
    #[serde(rename = "source")]
    _source: Option<Value>,
    pub(crate) agent: AgentTable,
    pub(crate) verifier: VerifierTable,
    pub(crate) environment: EnvironmentTable,
    pub(crate) solution: SolutionTable,
    steps: Vec<Value>,
    multi_step_reward_strategy: Option<Value>,
    artifacts: Vec<Value>,
}

/// What the agent gets.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentTable {
    pub(crate) timeout_sec: Option<f64>,
    user: Option<Value>,
    network_mode: Option<String>,
    allowed_hosts: Vec<Value>,
}

/// What the tests get.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VerifierTable {
    pub(crate) timeout_sec: Option<f64>,
    pub(crate) env: BTreeMap<String, String>,
    user: Option<Value>,
    network_mode: Option<String>,
    allowed_hosts: Vec<Value>,
    environment_mode: Option<String>,
    environment: Option<Value>,
    collect: Vec<Value>,
}

/// What both work in.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EnvironmentTable {
    pub(crate) build_timeout_sec: Option<f64>,
    pub(crate) docker_image: Option<String>,
    os: Option<String>,
    cpus: Option<f64>,
    memory_mb: Option<u64>,
    memory: Option<String>,
    storage_mb: Option<u64>,
    storage: Option<String>,
    gpus: Option<u32>,
    gpu_types: Option<Vec<Value>>,
    tpu: Option<Value>,
    mcp_servers: Vec<Value>,
    pub(crate) env: BTreeMap<String, String>,
    skills_dir: Option<String>,
    healthcheck: Option<Value>,
    pub(crate) workdir: Option<PathBuf>,
    allow_internet: Option<bool>,
    network_mode: Option<String>,
    allowed_hosts: Vec<Value>,
}

/// What its solution gets.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SolutionTable {
    pub(crate) env: BTreeMap<String, String>,
}

/// A field that cannot be obeyed here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("it sets `{field}`: {why}")]
pub(crate) struct Refused {
    field: &'static str,
    why: String,
}

fn refused(field: &'static str, why: impl Into<String>) -> Refused {
    Refused { field, why: why.into() }
}

impl TaskFile {
    /// Fails with the first field that cannot be obeyed on this machine.
    pub(crate) fn obeyable(&self) -> Result<(), Refused> {
        let Self { schema_version, agent, verifier, steps, multi_step_reward_strategy, artifacts, .. } = self;
        let is_known =
            schema_version.as_ref().is_none_or(|version| version.to_string().trim_matches('"').starts_with("1"));
        let user = "nothing here runs as another user";
        let separate = verifier.environment_mode.as_deref().is_some_and(|mode| mode != "shared");
        let reasons = [
            (!is_known, "schema_version", "only versions 1.x are known"),
            (!steps.is_empty(), "steps", "tasks of several steps are not tried here"),
            (
                multi_step_reward_strategy.is_some(),
                "multi_step_reward_strategy",
                "tasks of several steps are not tried here",
            ),
            (!artifacts.is_empty(), "artifacts", "files are not collected here"),
            (agent.user.is_some(), "agent.user", user),
            (verifier.user.is_some(), "verifier.user", user),
            (separate, "verifier.environment_mode", "the tests run where the agent worked"),
            (verifier.environment.is_some(), "verifier.environment", "the tests run where the agent worked"),
            (!verifier.collect.is_empty(), "verifier.collect", "there are no services to collect from"),
        ];
        first_of(&reasons)?;
        self.environment.obeyable()?;
        self.agent_reach()?;
        self.tests_reach().map(drop)
    }

    /// The network of the agent.
    pub(crate) fn agent_reach(&self) -> Result<Reach, Refused> {
        let baseline = self.environment.reach()?;
        let own = self.agent.network_mode.as_deref();
        reach("agent.network_mode", own, "agent.allowed_hosts", &self.agent.allowed_hosts)
            .map(|own| own.unwrap_or(baseline))
    }

    /// The network of the tests.
    pub(crate) fn tests_reach(&self) -> Result<Reach, Refused> {
        let baseline = self.environment.reach()?;
        let own = self.verifier.network_mode.as_deref();
        let own = reach("verifier.network_mode", own, "verifier.allowed_hosts", &self.verifier.allowed_hosts)?;
        Ok(own.unwrap_or(baseline))
    }
}

fn first_of(reasons: &[(bool, &'static str, &str)]) -> Result<(), Refused> {
    match reasons.iter().find(|(is_so, ..)| *is_so) {
        Some((_, field, why)) => Err(refused(field, *why)),
        None => Ok(()),
    }
}

/// The network that a mode means; `None` if it is not set.
fn reach(
    field: &'static str,
    mode: Option<&str>,
    hosts_field: &'static str,
    hosts: &[Value],
) -> Result<Option<Reach>, Refused> {
    if !hosts.is_empty() {
        return Err(refused(hosts_field, "a list of hosts is not opened for a task"));
    }
    match mode {
        None => Ok(None),
        Some("public") => Ok(Some(Reach::OfSettings)),
        Some("no-network") => Ok(Some(Reach::Nothing)),
        Some(other) => Err(refused(field, format!("`{other}` is not done here; `public` and `no-network` are"))),
    }
}

impl EnvironmentTable {
    fn obeyable(&self) -> Result<(), Refused> {
        let is_linux = self.os.as_deref().is_none_or(|os| os.eq_ignore_ascii_case("linux"));
        let is_relative = self.workdir.as_ref().is_some_and(|path| !path.is_absolute());
        let is_flag = self.docker_image.as_ref().is_some_and(|name| name.starts_with('-'));
        let reasons = [
            (!is_linux, "environment.os", "this is Linux"),
            (self.gpus.is_some_and(|gpus| gpus > 0), "environment.gpus", "no GPU is given to a task here"),
            (
                self.gpu_types.as_ref().is_some_and(|types| !types.is_empty()),
                "environment.gpu_types",
                "no GPU is given to a task here",
            ),
            (self.tpu.is_some(), "environment.tpu", "no TPU is given to a task here"),
            (!self.mcp_servers.is_empty(), "environment.mcp_servers", "servers of a task are not started here"),
            (self.skills_dir.is_some(), "environment.skills_dir", "skills of an image are not given to an agent here"),
            (self.healthcheck.is_some(), "environment.healthcheck", "services of an image are not started here"),
            (is_relative, "environment.workdir", "it must be an absolute path"),
            (is_flag, "environment.docker_image", "it must be a name"),
        ];
        first_of(&reasons)?;
        let has = std::thread::available_parallelism().map_or(1, usize::from);
        if self.cpus.is_some_and(|cpus| cpus.is_nan() || cpus <= 0.0) {
            return Err(refused("environment.cpus", "it must be more than 0"));
        }
        if self.cpus.is_some_and(|cpus| cpus > has as f64) {
            return Err(refused("environment.cpus", format!("this machine has {has}")));
        }
        self.storage()?;
        match self.memory()?.zip(memory_of_machine()).filter(|(wanted, has)| wanted > has) {
            Some((_, has)) => Err(refused("environment.memory_mb", format!("this machine has {has} MB"))),
            None => Ok(()),
        }
    }

    /// Megabytes of memory.
    fn memory(&self) -> Result<Option<u64>, Refused> {
        self.memory.as_deref().map_or(Ok(self.memory_mb), |given| megabytes("environment.memory", given))
    }

    /// Megabytes that may be written.
    fn storage(&self) -> Result<Option<u64>, Refused> {
        self.storage.as_deref().map_or(Ok(self.storage_mb), |given| megabytes("environment.storage", given))
    }

    /// What its container would be held to; a part of a processor counts as one.
    pub(crate) fn limits(&self) -> Result<Limits, Refused> {
        let bytes = |megabytes: Option<u64>| megabytes.map_or(0, |megabytes| megabytes.saturating_mul(1 << 20));
        let processors = self.cpus.map_or(0, |cpus| cpus.ceil() as u64);
        Ok(Limits { memory: bytes(self.memory()?), disk: bytes(self.storage()?), processors, ..Limits::default() })
    }

    fn reach(&self) -> Result<Reach, Refused> {
        let named = reach(
            "environment.network_mode",
            self.network_mode.as_deref(),
            "environment.allowed_hosts",
            &self.allowed_hosts,
        )?;
        let before = match self.allow_internet {
            Some(false) => Reach::Nothing,
            Some(true) | None => Reach::OfSettings,
        };
        Ok(named.unwrap_or(before))
    }
}

/// `2G`, `512M` or `1024K` in megabytes.
fn megabytes(field: &'static str, given: &str) -> Result<Option<u64>, Refused> {
    let given = given.trim();
    let (number, unit) = given.split_at(given.len() - given.chars().next_back().map_or(0, char::len_utf8));
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    match (number, unit.to_ascii_uppercase().as_str()) {
        (Some(number), "G") => Ok(Some((number * 1024.0) as u64)),
        (Some(number), "M") => Ok(Some(number as u64)),
        (Some(number), "K") => Ok(Some((number / 1024.0) as u64)),
        _ => Err(refused(field, format!("`{given}` is not a size such as `2G`"))),
    }
}

/// The megabytes of this machine, as the kernel counts them; `None` if it does not say.
fn memory_of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match toml::from_str::<TaskFile>(text) {
            Err(error) => error.message().to_owned(),
            Ok(file) => file.obeyable().err().map(|refused| refused.to_string()).unwrap_or_default(),
        }
    }

    /// Each field of the models `TaskConfig`, `AgentConfig`, `VerifierConfig`, `EnvironmentConfig` and `SolutionConfig` of harbor 0.26.0,
    /// and the older names that they still read.
    #[test]
    fn each_field_of_harbor_is_obeyed_or_refused_by_its_name() {
        for obeyed in [
            "schema_version = \"1.4\"\nsource = \"x\"\n[task]\nname = \"a/b\"\n[metadata]\nauthor = \"me\"",
            "version = \"1.0\"\n[agent]\ntimeout_sec = 10.0\nnetwork_mode = \"no-network\"",
            "[verifier]\ntimeout_sec = 10.0\nnetwork_mode = \"public\"\nenvironment_mode = \"shared\"\n[verifier.env]\nA = \"1\"",
            "[environment]\nbuild_timeout_sec = 6\ncpus = 1\nmemory_mb = 1\nstorage_mb = 1\ngpus = 0\nos = \"Linux\"\nworkdir = \"/x\"",
            "[environment]\nmemory = \"1M\"\nstorage = \"1G\"\nallow_internet = false\ndocker_image = \"a\"\n[environment.env]\nA = \"1\"",
            "[solution.env]\nA = \"1\"",
        ] {
            assert_eq!(said(obeyed), "", "{obeyed}");
        }
        for (text, field) in [
            ("schema_version = \"2.0\"", "schema_version"),
            ("multi_step_reward_strategy = \"mean\"", "multi_step_reward_strategy"),
            ("artifacts = [\"/app/x\"]", "artifacts"),
            ("[[steps]]\nname = \"a\"", "steps"),
            ("[agent]\nuser = \"agent\"", "agent.user"),
            ("[agent]\nnetwork_mode = \"allowlist\"", "agent.network_mode"),
            ("[agent]\nallowed_hosts = [\"a.test\"]", "agent.allowed_hosts"),
            ("[verifier]\nuser = 1000", "verifier.user"),
            ("[verifier]\nenvironment_mode = \"separate\"", "verifier.environment_mode"),
            ("[verifier.environment]\ncpus = 1", "verifier.environment"),
            ("[[verifier.collect]]\ncommand = \"x\"", "verifier.collect"),
            ("[verifier]\nnetwork_mode = \"allowlist\"", "verifier.network_mode"),
            ("[environment]\nos = \"windows\"", "environment.os"),
            ("[environment]\ngpus = 1", "environment.gpus"),
            ("[environment]\ngpu_types = [\"T4\"]", "environment.gpu_types"),
            ("[environment.tpu]\ntype = \"v4\"\ntopology = \"2x4\"", "environment.tpu"),
            ("[[environment.mcp_servers]]\nname = \"a\"", "environment.mcp_servers"),
            ("[environment]\nskills_dir = \"/s\"", "environment.skills_dir"),
            ("[environment.healthcheck]\ncommand = \"x\"", "environment.healthcheck"),
            ("[environment]\nworkdir = \"app\"", "environment.workdir"),
            ("[environment]\ndocker_image = \"--privileged\"", "environment.docker_image"),
            ("[environment]\ncpus = 100000", "environment.cpus"),
            ("[environment]\ncpus = nan", "environment.cpus"),
            ("[environment]\ncpus = 0", "environment.cpus"),
            ("[environment]\nmemory_mb = 1000000000", "environment.memory_mb"),
            ("[environment]\nmemory = \"much\"", "environment.memory"),
            ("[environment]\nstorage = \"2T\"", "environment.storage"),
            ("[environment]\nnetwork_mode = \"allowlist\"", "environment.network_mode"),
            ("[environment]\nallowed_hosts = [\"a.test\"]", "environment.allowed_hosts"),
            ("[environment]\ntimeout_secs = 1", "timeout_secs"),
            ("[verifyer]\nuser = 1", "verifyer"),
        ] {
            assert!(said(text).contains(&format!("`{field}`")), "{text}: {}", said(text));
        }
    }

    #[test]
    fn memory_storage_and_processors_are_limits() {
        let limits = |text: &str| toml::from_str::<TaskFile>(text).unwrap().environment.limits().unwrap();
        let all = Limits { memory: 2 << 30, disk: 3 << 20, processors: 2, ..Limits::default() };
        assert_eq!(limits("[environment]\nmemory = \"2G\"\nstorage_mb = 3\ncpus = 1.5"), all);
        assert_eq!(limits(""), Limits::default());
    }

    #[test]
    fn a_phase_has_its_own_network_or_that_of_the_environment() {
        for (text, agent, tests) in [
            ("", Reach::OfSettings, Reach::OfSettings),
            ("[environment]\nnetwork_mode = \"no-network\"", Reach::Nothing, Reach::Nothing),
            (
                "[environment]\nallow_internet = false\n[verifier]\nnetwork_mode = \"public\"",
                Reach::Nothing,
                Reach::OfSettings,
            ),
            ("[agent]\nnetwork_mode = \"no-network\"", Reach::Nothing, Reach::OfSettings),
        ] {
            let file: TaskFile = toml::from_str(text).unwrap();
            assert_eq!((file.agent_reach(), file.tests_reach()), (Ok(agent), Ok(tests)), "{text}");
        }
    }
}
