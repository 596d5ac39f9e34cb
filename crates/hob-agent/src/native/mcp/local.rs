//! A server on this machine: a child in the sandbox, with its own home.

use std::{ffi::OsStr, path::Path, sync::Arc, time::Duration};

use hob_config::{McpSettings, may_pass};
use hob_domain::RunPurpose;
use hob_process::{Dialogue, Environment};
use hob_sandbox::{Sandbox, Tier};
use tokio_util::sync::CancellationToken;

use crate::{
    RunEgress,
    confined::{Confined, in_folder},
    egress::{EgressRules, Limits},
    home::Home,
    native::mcp::{bound::Bound, error::Unreachable, pipes::Pipes},
    report::tail,
};

/// The placeholder in arguments of the folder that the agent works in.
const FOLDER: &str = "{folder}";
/// Bytes of standard error that are kept.
const ERRORS_KEPT: usize = 4 * 1024;
/// Bytes of them that a warning has.
const ERRORS_TOLD: usize = 300;

/// The surroundings of servers on this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The sandbox of children.
    pub(crate) sandbox: &'a Sandbox,
    /// The environment they start from.
    pub(crate) environment: &'a Environment,
    /// The folder that the agent works in.
    pub(crate) folder: &'a Path,
    /// Whether it may be changed.
    pub(crate) purpose: RunPurpose,
    /// Ends them.
    pub(crate) cancel: &'a CancellationToken,
}

/// A child, and what it needs as long as it runs.
#[derive(Debug)]
pub(super) struct Local {
    // Before its home and its way out, so that it is ended first.
    dialogue: Dialogue,
    egress: RunEgress,
    _home: Option<Home>,
}

impl Local {
    /// Starts the program of `settings` with those of `variables` that they name.
    ///
    /// # Errors
    /// [`Unreachable`] if it could not be started.
    pub(super) async fn start(
        settings: &McpSettings,
        variables: &Environment,
        place: Place<'_>,
        bound: Arc<Bound>,
    ) -> Result<(Self, Pipes), Unreachable> {
        let rules = EgressRules::to_hosts(&settings.hosts)?;
        let egress = rules.open_in(place.sandbox, place.cancel, Limits::default()).await?;
        let mut environment = place.environment.clone();
        environment.retain(|name, _| name.to_str().is_none_or(may_pass));
        let mut environment = egress.environment(environment);
        for name in settings.env.iter().filter(|name| may_pass(name)) {
            if let Some((name, value)) = variables.get_key_value(OsStr::new(name)) {
                environment.insert(name.clone(), value.clone());
            }
        }
        let plan = in_folder(place.sandbox.plan(), place.folder, place.purpose);
        let mut confined = Confined { plan: plan.network(egress.network.clone()), environment };
        let mut home = None;
        if place.sandbox.tier() != Tier::None {
            // Not the run's home: programs would read files that the repository's steps and the agent's commands leave
            // there.
            let made = Home::create(place.sandbox.homes().map(Path::to_owned), None).await;
            let made = made.map_err(Unreachable::Home)?;
            confined = confined.at(&made);
            home = Some(made);
        }
        let folder = place.folder.to_string_lossy();
        let mut words = settings.command.iter().map(|word| word.replace(FOLDER, &folder));
        let program = confined.program(words.next().unwrap_or_default()).args(words).output_cap(ERRORS_KEPT);
        let program = program.dir(home.as_ref().map_or(Path::new("/"), Home::path));
        let (dialogue, input, output) = program.talk().await?;
        Ok((Self { dialogue, egress, _home: home }, Pipes::new(input, output, bound)))
    }

    /// Ends it; returns how it ended, if it did so within `patience` by itself.
    pub(super) async fn end(self, patience: Duration) -> Option<String> {
        let ended = self.dialogue.end(patience).await;
        self.egress.close().await;
        match ended {
            Ok((Some(exit), said)) => {
                let said = tail(&said, ERRORS_TOLD).lines().collect::<Vec<_>>().join(" / ");
                let said = if said.is_empty() { said } else { format!(": {said}") };
                Some(format!("its program ended with {exit}{said}"))
            }
            Ok((None, _)) => None,
            Err(error) => Some(error.to_string()),
        }
    }
}
