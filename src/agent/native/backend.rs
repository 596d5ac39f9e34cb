//! The native agent: what it is made from, and how one run of it begins and ends.

use std::{collections::BTreeMap, path::PathBuf};

use tokio::{
    sync::{Mutex, mpsc},
    time::Instant,
};

use crate::{
    agent::{
        AgentBackend, AgentError, RunContext,
        environment::{named, of_child},
        folder::Folder,
        native::{
            act::Acts,
            guard::{Guard, Proposal},
            help::Helps,
            history::History,
            limits::Limits,
            speech::Dialect,
            tally::Tally,
            tools::{Toolbox, Toolset, Written},
            turns::{Run, Standing, Transcript},
        },
        report::report,
    },
    config::{AgentSettings, ToolSettings},
    domain::{FailureClass, RunReport, RunRequest},
    model::Lineup,
    process::{Environment, Shell},
    session::{Event, Header, Recorder, VERSION},
};

/// Per cent of the model's window that a request may fill before old turns are folded.
const WINDOW_USED: u64 = 75;

/// Hob's own loop over a model.
pub struct NativeAgent {
    models: Lineup,
    settings: AgentSettings,
    programs: BTreeMap<String, ToolSettings>,
    helps: Helps,
    extras: Environment,
    sessions: Option<PathBuf>,
    asked: Option<mpsc::Sender<Proposal>>,
}

impl NativeAgent {
    /// An agent that asks `models`; no variable but the context's reaches a command, no
    /// transcript is kept, and nobody can be asked to approve anything.
    pub fn new(models: Lineup, settings: AgentSettings) -> Self {
        Self {
            models,
            settings,
            programs: BTreeMap::new(),
            helps: Helps::default(),
            extras: Environment::new(),
            sessions: None,
            asked: None,
        }
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

    /// Gives it programs that its settings may name as tools, `[tools.NAME]`. What they say of themselves is kept in
    /// `helps`, which agents can share.
    #[must_use]
    pub(in crate::agent) fn programs(self, programs: BTreeMap<String, ToolSettings>, helps: Helps) -> Self {
        Self { programs, helps, ..self }
    }

    /// Sends what has more impact than runs by itself to somebody who says whether it may. Without this it is refused.
    #[must_use]
    pub fn approval(self, asked: mpsc::Sender<Proposal>) -> Self {
        Self { asked: Some(asked), ..self }
    }

    async fn toolset(&self, environment: &Environment) -> Result<Toolset, AgentError> {
        let wanted = self.settings.tools.iter();
        let programs = wanted.filter_map(|name| Some((name.as_str(), self.programs.get(name)?)));
        let helps = self.helps.of(programs, environment).await;
        Toolset::new(&self.settings.tools, &self.programs, &helps).map_err(setup)
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
        if let (Some(model), Some(_)) = (self.models.unpriced(), request.usd_micros) {
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
        let toolset = self.toolset(&environment).await?;
        let guard = Guard::new(&self.settings.denied, self.settings.approve, self.asked.clone())
            .map_err(|error| setup(error.to_string()))?;
        let toolbox = Toolbox {
            shell: Mutex::new(Shell::new(environment.clone(), folder.path())),
            folder,
            environment,
            written: Written::new(limits.output),
            output_cap: self.settings.output_cap,
            shell_time: self.settings.shell_time,
            deadline: limits.deadline,
            cancel: context.cancel.clone(),
        };
        let mut transcript = self.transcript(request);
        transcript.add(Event::Started { agent: "native".into(), brief: request.brief.clone() });
        let mut tally = Tally::default();
        let task = format!("{}\n\n{}", task(request), tally.status(&limits, started));
        let mut run = Run {
            model: self.models.begin(request.run.as_str()),
            dialect: Dialect::new(self.settings.speech, &toolset),
            acts: Acts { toolset: &toolset, guard: &guard, toolbox },
            limits,
            tally,
            history: History::new(task),
            window: self.settings.context_tokens.saturating_mul(WINDOW_USED) / 100,
            transcript,
            context,
            progress: Standing::default(),
        };
        let outcome = run.drive().await;
        run.acts.toolbox.shell.lock().await.end().await;
        run.transcript.add(Event::Ended { outcome: outcome.clone() });
        Ok(report(outcome, run.tally.spend, started))
    }
}

fn setup(reason: String) -> AgentError {
    AgentError { reason, failure: FailureClass::NeedsHuman }
}

/// The first message: the brief, and the commands the work will be measured by where it does not name them.
fn task(request: &RunRequest) -> String {
    let untold = request.checks.iter().filter(|check| !request.brief.contains(check.as_str()));
    let checks: Vec<_> = untold.map(|check| format!("- {check}")).collect();
    if checks.is_empty() {
        return request.brief.clone();
    }
    format!("{}\n\nHob runs these checks afterwards:\n{}", request.brief, checks.join("\n"))
}
