//! The native agent: what it is made from, and how one run of it begins and ends.

use std::{path::PathBuf, sync::Arc};

use tokio::time::Instant;

use crate::{
    agent::{
        AgentBackend, AgentError, RunContext,
        environment::{named, of_child},
        folder::Folder,
        native::{
            limits::{Limits, Tally},
            tools::{Toolbox, tools},
            turns::{Run, Transcript},
        },
        report::report,
    },
    config::{AgentSettings, PriceSettings},
    domain::{FailureClass, RunReport, RunRequest},
    model::{Message, ModelClient},
    process::Environment,
    session::{Event, Header, Recorder, VERSION},
};

/// Hob's own loop over a model.
pub struct NativeAgent {
    model: Arc<dyn ModelClient>,
    settings: AgentSettings,
    price: PriceSettings,
    unknown_price: Option<String>,
    extras: Environment,
    sessions: Option<PathBuf>,
}

impl NativeAgent {
    /// An agent that asks `model`; each token costs nothing, no variable but the context's reaches a command, and no
    /// transcript is kept.
    pub fn new(model: Arc<dyn ModelClient>, settings: AgentSettings) -> Self {
        Self {
            model,
            settings,
            price: PriceSettings::default(),
            unknown_price: None,
            extras: Environment::new(),
            sessions: None,
        }
    }

    /// Sets what the model costs.
    #[must_use]
    pub fn price(self, price: PriceSettings) -> Self {
        Self { price, ..self }
    }

    /// Says that `model` costs something and nobody told how much: a run with a budget is then refused, because the
    /// budget could not be kept.
    #[must_use]
    pub fn unknown_price(self, model: &str) -> Self {
        Self { unknown_price: Some(model.to_owned()), ..self }
    }

    /// Takes from `variables` those that the settings name and that may be passed on.
    #[must_use]
    pub fn variables(self, variables: &Environment) -> Self {
        let extras = named(&self.settings, variables);
        Self { extras, ..self }
    }

    /// Keeps a transcript of each run in `folder`, which must be outside what an agent can write.
    #[must_use]
    pub fn sessions(self, folder: PathBuf) -> Self {
        Self { sessions: Some(folder), ..self }
    }

    /// A transcript that cannot be made is a warning: the work is worth more than its record.
    fn transcript(&self, request: &RunRequest) -> Transcript {
        let Some(folder) = &self.sessions else { return Transcript::none() };
        let header =
            Header { transcript: VERSION, run: request.run.clone(), repo: request.repo.clone(), issue: request.issue };
        match Recorder::create(folder, &header) {
            Ok(recorder) => Transcript::to(recorder),
            Err(error) => {
                tracing::warn!(run.id = %request.run, error = %error, "run {} has no transcript", request.run);
                Transcript::none()
            }
        }
    }
}

#[async_trait::async_trait]
impl AgentBackend for NativeAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        let started = Instant::now();
        if let (Some(model), Some(_)) = (&self.unknown_price, request.usd_micros) {
            return Err(AgentError {
                reason: format!(
                    "the run has a budget and the price of `{model}` is not known: add `[model.prices.\"{model}\"]` with \
                     `input` and `output` in USD for a million tokens (0 where it costs nothing)"
                ),
                failure: FailureClass::NeedsHuman,
            });
        }
        let folder = Folder::open(&request.folder).map_err(|error| AgentError {
            reason: format!("open the folder: {error}"),
            failure: FailureClass::Transient { retry_after: None },
        })?;
        let limits = Limits::new(&self.settings, request, started);
        let environment = of_child(context, &self.extras);
        let toolbox = Toolbox {
            folder,
            environment,
            output_cap: self.settings.output_cap,
            shell_time: self.settings.shell_time,
            deadline: limits.deadline,
            cancel: context.cancel.clone(),
        };
        let mut transcript = self.transcript(request);
        transcript.add(Event::Started { agent: "native".into(), brief: request.brief.clone() });
        let mut run = Run {
            model: self.model.as_ref(),
            tools: tools(),
            toolbox,
            price: self.price,
            limits,
            tally: Tally::default(),
            messages: vec![Message::User { text: task(request) }],
            transcript,
            context,
            reminded: false,
            changed: false,
        };
        let outcome = run.drive().await;
        run.transcript.add(Event::Ended { outcome: outcome.clone() });
        Ok(report(outcome, run.tally.spend, started))
    }
}

/// The first message: the brief, and the commands the work will be measured by.
fn task(request: &RunRequest) -> String {
    if request.checks.is_empty() {
        return request.brief.clone();
    }
    let checks: Vec<_> = request.checks.iter().map(|check| format!("- {check}")).collect();
    format!("{}\n\nHob runs these checks afterwards:\n{}", request.brief, checks.join("\n"))
}
