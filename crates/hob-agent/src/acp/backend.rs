//! Starts the program, talks to it, and reads its end.

use std::{path::Path, time::Duration};

use hob_config::AgentSettings;
use hob_domain::{Outcome, RunReport, RunRequest};
use hob_process::{Environment, Exit, TaggedProcesses};
use hob_sandbox::Tier;
use tokio::time::Instant;

use crate::{
    AgentBackend, AgentError, Machine, RunContext,
    acp::{
        conversation::{Ended, Talk, talk},
        lines::Lines,
        turn::Turn,
    },
    adapters::{closing, ended_badly, ended_well, installed_with},
    command::{cannot_run, is_there},
    confined::Confined,
    egress::EgressRules,
    environment::RUN_TAG,
    native::{Speaks, investigate},
    report::{cancelled, first_line, misconfigured, needs_human, report, tail, unfinished},
};

/// How long a program may take to exit once its input is closed.
const PATIENCE: Duration = Duration::from_millis(500);
/// Bytes of what it wrote to standard error that are quoted.
const QUOTED: usize = 1_000;

/// A program that speaks the protocol.
#[derive(Debug)]
pub(crate) struct AcpAgent {
    program: String,
    arguments: Vec<String>,
    egress: EgressRules,
    /// Its model, and the limits and approvals of its investigations.
    settings: AgentSettings,
}

impl AcpAgent {
    /// Takes the program from `settings`; `egress` says which hosts and models it reaches.
    ///
    /// # Errors
    /// If no program is named.
    pub(crate) fn new(settings: &AgentSettings, egress: EgressRules) -> Result<Self, AgentError> {
        let named = settings.command.split_first().filter(|(program, _)| !program.is_empty());
        let Some((program, arguments)) = named else {
            let reason = "its `command` is empty: name the program and the arguments that let it speak the Agent \
                          Client Protocol, as `[\"gemini\", \"--experimental-acp\"]`";
            return Err(AgentError::setup(reason));
        };
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(Self { program, arguments, egress, settings: settings.clone() })
    }

    /// Its name, for people.
    fn name(&self) -> String {
        Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    async fn confined(&self, mut confined: Confined, environment: &Environment) -> Confined {
        let folders = installed_with(&self.program, environment).await;
        confined.plan = folders.into_iter().fold(confined.plan, hob_sandbox::Plan::reads);
        confined
    }
}

#[async_trait::async_trait]
impl AgentBackend for AcpAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        if let Some(case) = &request.investigation {
            return Box::pin(investigate(self, Speaks::LastLine, &self.settings, request, case, context)).await;
        }
        let (started, name) = (Instant::now(), self.name());
        context.steering.begin_anew();
        let egress = self.egress.open(context, request).await?;
        let (confined, _home) = Confined::of_run(context, request, &egress).await?;
        let mut confined = self.confined(confined, &context.environment).await;
        let children = TaggedProcesses::tag_uniquely(&mut confined.environment, RUN_TAG);
        let program = confined.agent(&self.program, request).args(&self.arguments);
        let (dialogue, input, output) =
            program.output_cap(self.settings.output_cap).talk().await.map_err(cannot_run)?;
        let (mut turn, end) = (Turn::default(), context.cancel.child_token());
        let about = Talk {
            folder: &request.folder,
            prompt: format!("{}{}", request.brief, closing(request.purpose)),
            model: self.settings.model.as_deref(),
            context,
            environment: &confined.environment,
            cancel: &end,
            deadline: started + request.time,
            is_held: context.sandbox.tier() != Tier::None,
            is_measured: egress.measures(),
        };
        let (talked, limited) = egress.beside(talk(&about, Lines::new(input, output), &mut turn), &end, context).await;
        let (exit, errors) = dialogue.end(PATIENCE).await.map_err(cannot_run)?;
        children.end().await;
        let measured = egress.close().await;
        let told = turn.spend();
        let spend = measured.map_or(told, |measured| measured.spend(Some(told.usd_micros)));
        let outcome = limited.unwrap_or_else(|| outcome(&name, talked, exit, &errors, &turn.words, request));
        Ok(report(outcome, spend, started))
    }

    fn investigates(&self) -> bool {
        true
    }

    async fn ready(&self, machine: &Machine<'_>) -> Result<(), AgentError> {
        let plan = self.egress.plan_of_look(machine.sandbox)?;
        let confined = Confined { plan, environment: machine.environment.clone() };
        let confined = self.confined(confined, machine.environment).await;
        is_there(&self.program, &confined.plan, machine.environment).await
    }

    fn service(&self) -> Option<String> {
        Some(format!("the service of `{}`", self.name()))
    }

    fn model(&self, _candidate: u32) -> Option<String> {
        self.settings.model.clone()
    }
}

/// What came of it. `exit` says how the program ended, if it did so by itself, and `errors` what it wrote to standard error.
fn outcome(name: &str, ended: Ended, exit: Option<Exit>, errors: &str, words: &str, request: &RunRequest) -> Outcome {
    match ended {
        Ended::Stopped(why) => match why.as_str() {
            "end_turn" => ended_well(words),
            "refusal" => needs_human(format!("`{name}`: its model refused: {}", words.trim())),
            // A turn that Hob cancelled ends otherwise: this one the agent cancelled itself.
            _ => unfinished(format!("`{name}` stopped before the end: `{}`", first_line(&why, 40))),
        },
        Ended::Cancelled => cancelled(),
        Ended::OutOfTime => {
            let RunRequest { time, time_setting, .. } = request;
            unfinished(format!("`{name}` ran out of time after {} s (`{time_setting}`)", time.as_secs()))
        }
        Ended::OtherVersion(version) => {
            misconfigured(format!("`{name}` speaks version {version} of the Agent Client Protocol, and Hob version 1"))
        }
        Ended::NoSuchModel(offered) if offered.is_empty() => {
            misconfigured(format!("`{name}` lets no model be chosen: take `model` out, and choose it in `command`"))
        }
        Ended::NoSuchModel(offered) => {
            misconfigured(format!("`{name}` does not offer this `model`; it offers {}", offered.join(", ")))
        }
        // What it said then is nearer to the reason than the error is.
        Ended::NoLogin(_) if !words.trim().is_empty() => {
            misconfigured(format!("`{name}` was not let in: {}", first_line(words.trim(), QUOTED)))
        }
        Ended::NoLogin(said) => {
            misconfigured(format!("`{name}`: its key or login is missing: name the key's variable in `env` ({said})"))
        }
        Ended::Failed(said) => {
            let errors = tail(errors, QUOTED);
            let said = if errors.is_empty() { said } else { format!("{said}: {errors}") };
            let how = exit.map_or_else(|| "an error".to_owned(), |exit| exit.to_string());
            ended_badly(name, &how, &said, None)
        }
    }
}
