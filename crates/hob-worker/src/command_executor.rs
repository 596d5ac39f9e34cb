//! `executor.command`: a program for each issue, such as `srun … hob run {issue}`, which lasts as long as its job.
//!
//! # Caveats
//! A command that only submits a job is run again after a while in which the issue was not taken up.

use std::{path::Path, time::Duration};

use async_trait::async_trait;
use hob_config::{ExecutorSettings, own_environment};
use hob_domain::{IssueNumber, RepoName};
use hob_process::{Exit, Finished, Program, has_program};
use hob_sandbox::Sandbox;
use hob_text::shortened;
use tokio_util::sync::CancellationToken;

use crate::{
    WorkError,
    finding::Health,
    remote_executor::{RemoteEnd, RemoteExecutor, RemoteTask, Tell},
};

/// What is kept of a command's output: its last lines tell why it failed.
const OUTPUT: usize = 16 << 10;

/// The program and its arguments.
#[derive(Debug, Clone)]
pub(super) struct CommandExecutor(ExecutorSettings);

impl CommandExecutor {
    /// The executor of the settings. `None` if they name no command.
    pub(super) fn of(settings: &ExecutorSettings) -> Option<Self> {
        (!settings.command.is_empty()).then(|| Self(settings.clone()))
    }
}

#[async_trait]
impl RemoteExecutor for CommandExecutor {
    /// Runs the command with this process's own environment, which its job may need.
    async fn work_on(
        &self,
        task: &RemoteTask,
        tell: Tell<'_>,
        cancel: &CancellationToken,
    ) -> Result<RemoteEnd, WorkError> {
        let mut words = self.0.words_for(&task.repo, task.issue).into_iter();
        let program = words.next().unwrap_or_default();
        tell(&format!("running the executor's command `{program}`"));
        let program =
            Program::of_hob(program, &own_environment()).args(words).deadline(Duration::MAX).output_cap(OUTPUT);
        let finished = program.run(cancel).await.map_err(WorkError::NoExecutor)?;
        Ok(match finished.exit {
            Exit::Cancelled => RemoteEnd::Cancelled,
            exit if exit.is_success() => RemoteEnd::Succeeded,
            exit => {
                RemoteEnd::Failed { what: format!("`executor.command` ended with {exit}"), said: last_words(&finished) }
            }
        })
    }

    /// Whether the program is there. What agents and checks need is needed where its job runs.
    async fn health(&self) -> (Health, String) {
        let program = self.0.command.first().map_or("", String::as_str);
        let is_there = match program.contains('/') {
            true => Path::new(program).is_file(),
            false => has_program(&Sandbox::none().plan(), &own_environment(), program),
        };
        match is_there {
            true => (
                Health::Ok,
                format!("`{program}` runs for each issue: what agents and checks need is not looked for here"),
            ),
            false => (Health::Bad, format!("`{program}` of `executor.command` is not installed on this machine")),
        }
    }

    async fn waits_for(&self, _repo: &RepoName, _issue: IssueNumber) -> Option<String> {
        None
    }
}

/// The last line of what the command said, of its errors first.
fn last_words(finished: &Finished) -> String {
    let said = [&finished.stderr, &finished.stdout].map(hob_process::Captured::text);
    let last = said.iter().find_map(|said| said.lines().rev().find(|line| !line.trim().is_empty()));
    shortened(last.unwrap_or("it said nothing"), 300)
}
