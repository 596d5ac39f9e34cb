//! Agents through their one trait, each in its own folder: real files, real programs, no network.

use std::{fs, path::Path, sync::Arc, time::Duration};

use hob_agent::{
    AgentBackend, AgentParts, Approval, Executor, Registry, RunContext,
    session::{SessionEvent, Sessions},
};
use hob_config::Settings;
use hob_domain::{Outcome, Progress, RunReport, RunRequest};
use hob_process::Environment;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

mod acp;
mod adapters;
mod command;
mod egress;
mod engines;
mod failed_commands;
mod fetch;
mod investigation;
mod mcp;
mod native;
mod native_actions;
mod native_bad;
mod native_end;
mod native_http;
mod native_long;
mod native_models;
mod ready;
mod reasoning;
mod recipe;
mod sessions;
mod strict_runs;

/// A folder, a request to work in it and the surroundings of the run.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) request: RunRequest,
    context: RunContext,
    progress: mpsc::Receiver<Progress>,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let request = RunRequest {
            purpose: hob_domain::RunPurpose::Work,
            run: "run-1".into(),
            session: "run-1".into(),
            repo: "acme/site".parse().unwrap(),
            issue: "7".parse().unwrap(),
            title: "Fix the greeting".into(),
            body: String::new(),
            brief: "Change the greeting.".into(),
            folder: folder.path().to_owned(),
            checks: Vec::new(),
            time: Duration::from_secs(60),
            time_setting: "limits.attempt_time",
            usd_micros: None,
            tokens: None,
            approved: Vec::new(),
            investigation: None,
            hand_off_to: Vec::new(),
            images: Vec::new(),
            strain: hob_domain::Strain::Usual,
            checks_took: Default::default(),
            candidate: 0,
        };
        let (sender, progress) = mpsc::channel(256);
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let context = RunContext::new(CancellationToken::new(), sender, environment, crate::harness::sandbox());
        Self { folder, request, context, progress }
    }

    pub(crate) async fn run(&self, agent: &Arc<dyn AgentBackend>) -> RunReport {
        agent.run(&self.request, &self.context).await.unwrap()
    }

    /// Runs it with a session; the models that replied, and how many tokens each had cached.
    pub(crate) async fn run_heard(&self, agent: &Arc<dyn AgentBackend>) -> (RunReport, Vec<(String, u64)>) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        let sessions = Sessions::new(folder.path().to_owned(), settings.state);
        let executor = Executor::new(sessions.clone(), settings.runs);
        let report = executor.run("native", agent.as_ref(), &self.request, &self.context).await.unwrap();
        let replies =
            sessions.read(&self.request.session).unwrap().lines.into_iter().filter_map(|line| match line.event {
                SessionEvent::Replied { model, cached_tokens, .. } => Some((model, cached_tokens)),
                _ => None,
            });
        (report, replies.collect())
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    /// The files at the top, each with its text.
    pub(crate) fn files(&self) -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap_or_default())).collect();
        files.sort();
        files
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn said(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.progress.try_recv().ok()).map(|progress| progress.text).collect()
    }
}

/// The registry that the settings file `text` describes.
fn registry(text: &str) -> Registry {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let Settings { agents, recipes, tools, model, .. } =
        Settings::load(Some(file.path()), std::collections::HashMap::new(), &[]).unwrap();
    Registry::new(AgentParts { agents, recipes, tools, model, ..AgentParts::default() }).unwrap()
}

fn failure(outcome: &Outcome) -> (&str, &hob_domain::FailureClass) {
    match outcome {
        Outcome::Failed { reason, failure } => (reason, failure),
        other => panic!("not a failure: {other:?}"),
    }
}

#[test]
fn an_agent_that_is_not_known_is_answered_with_those_that_are() {
    let known = registry("[agents.aider]\nbackend = 'command'\ncommand = ['aider']\n[model]\ndefault = 'openai/x'");
    assert_eq!(known.names(), ["aider", "docker", "file", "git", "github", "http", "native", "npm"]);
    let error = known.get("adier").err().unwrap().to_string();
    assert!(
        error.contains("no agent `adier`: there are aider, docker, file, git, github, http, native, npm;"),
        "{error}"
    );
    let error = registry("").get("x").err().unwrap().to_string();
    assert!(error.contains("model.default"), "{error}");
}

#[test]
fn an_agents_name_is_plain() {
    for bad in ["Aider", "1st", "a b", "", "../x", "é"] {
        let agents = [(bad.to_owned(), hob_config::AgentSettings::default())].into();
        assert!(Registry::new(AgentParts { agents, ..AgentParts::default() }).is_err(), "{bad}");
    }
}

#[test]
fn one_bad_agent_does_not_stop_the_others() {
    let registry = registry("[agents.good]\nbackend='command'\ncommand=['true']\n[agents.bad]\nbackend='command'");
    assert!(registry.get("good").is_ok());
    let error = registry.get("bad").err().unwrap().to_string();
    assert!(error.contains("agent `bad`") && error.contains("command"), "{error}");
}
