//! The sandbox and the environment of a run's children.

use std::{ffi::OsStr, io, path::Path};

use hob_domain::{FailureClass, RunPurpose, RunRequest};
use hob_process::{Environment, Program, Shell};
use hob_sandbox::{Plan, Sandbox, Tier};

use tokio_util::sync::CancellationToken;

use crate::{
    AgentError, RunContext,
    egress::{EgressRules, Limits, RunEgress},
    environment::{RUN_VARIABLE, of_child},
    home::Home,
};

/// The home of a child that is root of the files it has.
const HOME_OF_ROOT: &str = "/root";

/// Both, for all children that work in one folder.
#[derive(Debug, Clone)]
pub struct Confined {
    /// The plan of their sandbox.
    pub plan: Plan,
    /// Their whole environment.
    pub environment: Environment,
}

/// A sandbox hides the machine's `/etc/gitconfig`, and git exits if it sees one that it may not read.
fn without_system_git(environment: &mut Environment) {
    environment.insert("GIT_CONFIG_NOSYSTEM".into(), "1".into());
}

impl Confined {
    /// The children that work in `folder`. In a sandbox they get their own home, which is removed when this is dropped.
    ///
    /// # Errors
    /// The system's, if the home cannot be made.
    pub async fn to_folder(
        folder: &Path,
        sandbox: &Sandbox,
        environment: Environment,
    ) -> io::Result<(Self, Option<Home>)> {
        Self::with_home(Self { plan: sandbox.plan().writes(folder), environment }, sandbox).await
    }

    async fn with_home(confined: Self, sandbox: &Sandbox) -> io::Result<(Self, Option<Home>)> {
        if confined.plan.tier() == Tier::None && sandbox.template().is_none() {
            return Ok((confined, None));
        }
        let home = Home::create(sandbox.homes().map(Path::to_owned), sandbox.template()).await?;
        Ok((confined.at(&home), Some(home)))
    }

    /// The children of checks that work in `folder` and reach `hosts` if the network is closed, until the egress is
    /// dropped.
    ///
    /// # Errors
    /// [`AgentError`] if a host is invalid, the machine lacks something that a way to one needs, or the home cannot be
    /// made.
    pub async fn to_check(
        folder: &Path,
        hosts: &[String],
        sandbox: &Sandbox,
        environment: Environment,
        cancel: &CancellationToken,
    ) -> Result<(Self, Option<Home>, RunEgress), AgentError> {
        let egress = EgressRules::to_hosts(hosts)?.open_in(sandbox, cancel, Limits::default()).await?;
        let (confined, home) = Self::through(&egress, folder, sandbox, egress.environment(environment)).await?;
        Ok((confined, home, egress))
    }

    /// The children of set-up steps that work in `folder`, have the folder `home` as their home, and reach `hosts` if
    /// the network is closed, until the egress is dropped.
    ///
    /// # Errors
    /// [`AgentError`] if a host is invalid, or the machine lacks something that a way to one needs.
    pub async fn to_set_up(
        folder: &Path,
        home: &Path,
        hosts: &[String],
        sandbox: &Sandbox,
        environment: Environment,
        cancel: &CancellationToken,
    ) -> Result<(Self, RunEgress), AgentError> {
        let egress = EgressRules::to_hosts(hosts)?.open_in(sandbox, cancel, Limits::default()).await?;
        let mut environment = egress.environment(environment);
        without_system_git(&mut environment);
        environment.insert("HOME".into(), home.into());
        let plan = sandbox.plan().writes(folder).writes(home).network(egress.network.clone());
        Ok((Self { plan, environment }, egress))
    }

    /// The children of a run, with this egress. One that plans or reviews only reads the folder.
    ///
    /// # Errors
    /// [`AgentError`] if their home cannot be made.
    pub(crate) async fn of_run(
        context: &RunContext,
        request: &RunRequest,
        egress: &RunEgress,
    ) -> Result<(Self, Option<Home>), AgentError> {
        let plan = in_folder(context.sandbox.plan(), &request.folder, request.purpose);
        let environment = of_child(context, egress);
        let confined = Self { plan: plan.network(egress.network.clone()), environment };
        Self::with_home(confined, &context.sandbox).await.map_err(no_home)
    }

    async fn through(
        egress: &RunEgress,
        folder: &Path,
        sandbox: &Sandbox,
        environment: Environment,
    ) -> Result<(Self, Option<Home>), AgentError> {
        let (confined, home) = Self::to_folder(folder, sandbox, environment).await.map_err(no_home)?;
        Ok((Self { plan: confined.plan.network(egress.network.clone()), ..confined }, home))
    }

    /// The same with this home.
    pub(crate) fn at(mut self, home: &Home) -> Self {
        without_system_git(&mut self.environment);
        // In the files of another system, programs find what is theirs in the home that is there.
        let of_root = self.plan.root().map(|_| Path::new(HOME_OF_ROOT));
        self.environment.insert("HOME".into(), of_root.unwrap_or(home.path()).into());
        self.environment.insert("TMPDIR".into(), home.temporary().into());
        Self { plan: self.plan.writes(home.path()), ..self }
    }

    /// A child.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Program {
        Program::inside(&self.plan, program, &self.environment)
    }

    /// The program of an agent, in the folder of its run.
    pub(crate) fn agent(&self, program: impl AsRef<OsStr>, request: &RunRequest) -> Program {
        self.program(program)
            .dir(&request.folder)
            .env("HOB_ISSUE", request.issue.to_string())
            .env("HOB_REPOSITORY", request.repo.to_string())
            .env(RUN_VARIABLE, request.run.as_str())
    }

    /// A shell that begins in `folder`.
    pub(crate) fn shell(&self, folder: &Path) -> Shell {
        Shell::new(self.plan.clone(), self.environment.clone(), folder)
    }
}

/// `plan` with the folder of a run: writable, or read-only if the run changes nothing.
pub(crate) fn in_folder(plan: Plan, folder: &Path, purpose: RunPurpose) -> Plan {
    if purpose.only_reads() { plan.reads(folder) } else { plan.writes(folder) }
}

fn no_home(error: io::Error) -> AgentError {
    AgentError::caused_by(FailureClass::Unfinished, error).during("make a home in the sandbox")
}
