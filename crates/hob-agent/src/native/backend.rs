//! The native agent: its parts, and the beginning and end of one of its runs.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use chrono::DateTime;
use hob_config::{AgentSettings, ImageUse, ToolSettings};
use hob_domain::{FailureClass, Image, RunPurpose, RunReport, RunRequest, Spend};
use hob_process::{Environment, TaggedProcesses};
use hob_sandbox::Sandbox;
use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentBackend, AgentError, Machine, RunContext,
    confined::Confined,
    egress::EgressRules,
    environment::{RUN_TAG, RUN_VARIABLE},
    folder::Folder,
    model::{Conversation, FallbackChain, Rest},
    native::{
        fetcher::Fetcher,
        guard::Guard,
        help::Helps,
        investigation::CaseFile,
        last_look::LastLook,
        limits::Limits,
        mcp::{McpServers, McpSource, Opened, Place, Recorded},
        needs::{Needs, OpenWays},
        quiet::quiet,
        restore::{Restored, restore},
        speech::Dialect,
        surroundings::{sandbox_note, surroundings},
        tool_calls::ToolExecutor,
        tools::{Jobs, Pictures, Scratch, Toolbox, Toolset, Written, picture},
        turns::Run,
        window::Window,
    },
    report::report,
    session::{Line, SessionEvent, now_ms},
};

/// The time that a service's cache keeps a conversation by itself: that of Anthropic's, "Prompt caching", read 2026-11.
const CACHED: Duration = Duration::from_secs(5 * 60);

/// Hob's own loop over a model.
pub struct NativeAgent {
    models: FallbackChain,
    settings: AgentSettings,
    programs: BTreeMap<String, ToolSettings>,
    helps: Helps,
    servers: McpSource,
    egress: EgressRules,
    images: ImageUse,
    needs: Needs,
}

impl NativeAgent {
    /// An agent that asks `models`; no variable but the context's reaches a command.
    pub fn new(models: FallbackChain, settings: AgentSettings) -> Self {
        let (programs, helps, egress) = (BTreeMap::new(), Helps::default(), EgressRules::default());
        Self {
            models,
            settings,
            programs,
            helps,
            servers: McpSource::Servers(McpServers::default()),
            egress,
            images: ImageUse::Auto,
            needs: Needs::default(),
        }
    }

    /// Takes from `variables` those that the settings name and that may be passed on.
    ///
    /// # Errors
    /// When the settings name a host that is none.
    pub fn variables(self, variables: &Environment) -> Result<Self, AgentError> {
        Ok(Self { egress: EgressRules::new(&self.settings, variables)?, ..self })
    }

    /// Shows its models the images of a task as `images` says.
    #[must_use]
    pub(crate) fn showing(self, images: ImageUse) -> Self {
        Self { images, ..self }
    }

    /// Gives it programs that its settings may name as tools, `[tools.NAME]`. Their help texts are kept in `helps`,
    /// which agents can share.
    #[must_use]
    pub(crate) fn programs(self, programs: BTreeMap<String, ToolSettings>, helps: Helps) -> Self {
        Self { programs, helps, ..self }
    }

    /// Lets it report needs of its programs that a sandbox does not meet.
    #[must_use]
    pub(crate) fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// Gives it the MCP servers that its settings may name, `[mcp.NAME]`.
    #[must_use]
    pub(crate) fn servers(self, servers: McpServers) -> Self {
        Self { servers: McpSource::Servers(servers), ..self }
    }

    /// Answers its calls of MCP servers' tools as in `lines`, so that nothing is done again.
    #[must_use]
    pub fn replaying(self, lines: &[Line]) -> Self {
        Self { servers: McpSource::Recorded(Arc::new(Recorded::new(lines))), ..self }
    }

    /// Checks that the price of each model is known, which a budget of money requires unless tokens are limited, too.
    fn priced(&self) -> Result<(), AgentError> {
        match self.models.unpriced() {
            Some(model) => Err(AgentError::unpriced(model)),
            None => Ok(()),
        }
    }

    /// Checks that any tool is left to it in `sandbox`.
    fn reaches(&self, sandbox: &Sandbox) -> Result<(), AgentError> {
        match self.needs.lack(&OpenWays::in_sandbox(sandbox)) {
            Some(lack) if lack.is_all => Err(AgentError::setup(lack.sentence)),
            Some(_) | None => Ok(()),
        }
    }

    /// The names of its tools in this run: those that the sandbox cuts off are left out, and people are told.
    fn wanted(&self, context: &RunContext) -> Vec<String> {
        let mut wanted = self.settings.tools.clone();
        if let Some(lack) = self.needs.lack(&OpenWays::in_sandbox(&context.sandbox)) {
            wanted.retain(|tool| !lack.tools.contains(tool));
            context.session.add(SessionEvent::Noted { text: lack.sentence.clone() });
            context.show(lack.sentence);
        }
        wanted
    }

    async fn toolset(&self, confined: &Confined, context: &RunContext) -> Result<Toolset, AgentError> {
        let wanted = self.wanted(context);
        let programs = wanted.iter().filter_map(|name| Some((name.as_str(), self.programs.get(name)?)));
        let helps = self.helps.of(programs, confined).await;
        let mut toolset = Toolset::new(&wanted, &self.programs, &helps).map_err(AgentError::misconfigured)?;
        // Settings that name the tools have chosen already.
        if self.settings.tools.is_empty() {
            toolset = toolset.for_model(self.models.first());
        }
        Ok(toolset.fetching(&self.settings.fetch_hosts, &self.settings.tools))
    }

    /// Opens the way to the pages that it may fetch, if it has the tool.
    async fn open_fetcher(&self, toolset: &Toolset, cancel: &CancellationToken) -> Result<Option<Fetcher>, AgentError> {
        match toolset.fetches() {
            true => Fetcher::open(&self.settings.fetch_hosts, cancel).await.map(Some),
            false => Ok(None),
        }
    }

    /// Opens its MCP servers, within the time of the run. A failing one is a warning: the run continues without it.
    async fn open_servers(
        &self,
        request: &RunRequest,
        context: &RunContext,
        confined: &Confined,
        deadline: Instant,
    ) -> Opened {
        // They get no variable of the agent's own, except those by which processes of a run are found.
        let mut environment = context.environment.clone();
        let tags =
            confined.environment.iter().filter(|(name, _)| [RUN_VARIABLE, RUN_TAG].iter().any(|tag| name == tag));
        environment.extend(tags.map(|(name, value)| (name.clone(), value.clone())));
        let place = Place {
            sandbox: &context.sandbox,
            environment: &environment,
            folder: &request.folder,
            purpose: request.purpose,
            cancel: &context.cancel,
        };
        let opened = tokio::select! {
            opened = self.servers.open(&self.settings.mcp, place) => opened,
            () = tokio::time::sleep_until(deadline) => Opened::default(),
            () = context.cancel.cancelled() => Opened::default(),
        };
        for warning in &opened.warnings {
            tracing::warn!(run.id = %request.run, "{warning}");
            context.session.add(SessionEvent::Noted { text: warning.clone() });
            context.show(warning.clone());
        }
        opened
    }
}

/// Where commands begin: in the files of another system, the folder has only its place there.
fn shell_folder<'a>(context: &'a RunContext, folder: &'a Folder, request: &RunRequest) -> &'a Path {
    let sandbox = &context.sandbox;
    sandbox.root().and_then(|_| sandbox.shown_at(&request.folder)).unwrap_or(folder.path())
}

pub(super) async fn open_folder(request: &RunRequest, sandbox: &Sandbox) -> Result<Folder, AgentError> {
    Folder::open_async(&request.folder)
        .await
        .map(|folder| folder.shown_at(sandbox.shown_at(&request.folder)))
        .map_err(|error| AgentError::caused_by(FailureClass::Unfinished, error).during("open the folder"))
}

impl NativeAgent {
    /// Works in the folder until the outcome is known.
    async fn works(
        &self,
        request: &RunRequest,
        context: &RunContext,
        folder: Folder,
        case: Option<CaseFile>,
        started: Instant,
    ) -> Result<RunReport, AgentError> {
        let mut limits = Limits::new(&self.settings, request, started);
        // Each wait of this agent has its own limit: the model's, the commands', the run's.
        context.alive_until(limits.deadline);
        let egress = self.egress.open(context, request).await?;
        let (mut confined, home) = Confined::of_run(context, request, &egress).await?;
        confined.environment.insert(RUN_VARIABLE.into(), request.run.as_str().into());
        quiet(&mut confined.environment);
        // Declared before the shell, and so dropped after it: processes killed with its group need not be searched for.
        let children = TaggedProcesses::tag_uniquely(&mut confined.environment, RUN_TAG);
        let mut guard =
            Guard::new(&self.settings, request, context.approval.clone()).map_err(AgentError::misconfigured)?;
        let toolset = self.toolset(&confined, context).await?;
        let Opened { connected, tools, .. } = self.open_servers(request, context, &confined, limits.deadline).await;
        let mut toolset = toolset.with_servers(tools).for_purpose(request.purpose).handing_off_to(&request.hand_off_to);
        let fetcher = self.open_fetcher(&toolset, &context.cancel).await?;
        if let Some(case) = &case {
            (toolset, guard) = (toolset.for_investigation(), guard.investigating(case.approve()));
        }
        let dialect = Dialect::new(self.settings.speech, &toolset);
        let Restored { mut history, mut usage, standing, turns_before } = begun(
            request,
            context,
            &dialect,
            &toolset,
            case.as_ref(),
            self.place(request, context, &folder, &confined),
        )
        .await;
        limits.turns_before = turns_before;
        if let Some(case) = &case {
            case.bounded(usage.turns_left(&limits));
        }
        history.tell(&usage.status(&limits, started));
        let toolbox = Toolbox {
            shell: Mutex::new(confined.shell(shell_folder(context, &folder, request))),
            folder,
            case,
            jobs: Jobs::default(),
            scratch: Scratch::of(&confined),
            pictures: Pictures::new(self.sees()),
            confined,
            fetcher,
            servers: connected,
            written: Written::new(usage.written, limits.output),
            output_cap: self.settings.output_cap,
            shell_time: self.settings.shell_time,
            deadline: limits.deadline,
            cancel: context.cancel.clone(),
        };
        let mut run = Run {
            model: Conversation::begin(&self.models, request.session.as_str())
                .from(request.candidate)
                .within(request.usd_micros, |budget| context.noted().in_budget(budget)),
            dialect,
            executor: ToolExecutor { toolset: &toolset, guard: &guard, toolbox },
            limits,
            usage,
            history,
            window: Window::new(self.models.name_at(request.candidate), self.settings.context_tokens),
            context,
            progress: standing,
            last_look: LastLook::new(request, &self.settings, toolset.has("shell")),
            strain: request.strain,
            rest: if request.checks_took.values().any(|took| *took > CACHED) { Rest::Long } else { Rest::Short },
        };
        let outcome = run.drive().await;
        if let Some(case) = &run.executor.toolbox.case {
            case.keep().await;
        }
        let Run { executor: ToolExecutor { toolbox, .. }, usage, .. } = run;
        toolbox.close().await;
        children.end().await;
        drop(home);
        egress.close().await;
        Ok(report(outcome, usage.spend, started))
    }

    /// Says what is to be known of its models before they are asked.
    fn tell_notices(&self, request: &RunRequest, context: &RunContext) {
        for notice in self.notices() {
            tracing::warn!(run.id = %request.run, "{notice}");
            context.session.add(SessionEvent::Noted { text: notice.clone() });
            context.show(notice);
        }
    }

    /// What a model is told of the folder and of the sandbox.
    async fn place(&self, request: &RunRequest, context: &RunContext, folder: &Folder, confined: &Confined) -> String {
        let told = surroundings(folder, confined, &request.body).await;
        format!("{}\n{}", told.trim_end(), sandbox_note(&context.sandbox, &self.settings.hosts))
    }
}

#[async_trait::async_trait]
impl AgentBackend for NativeAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        let started = Instant::now();
        if request.usd_micros.is_some() && request.tokens.is_none() {
            self.priced()?;
        }
        self.tell_notices(request, context);
        self.reaches(&context.sandbox)?;
        let folder = open_folder(request, &context.sandbox).await?;
        let case = match &request.investigation {
            Some(case) => Some(CaseFile::open(context, request, case).await),
            None => None,
        };
        if let Some(outcome) = case.as_ref().and_then(CaseFile::end) {
            return Ok(report(outcome, Spend::default(), started));
        }
        self.works(request, context, folder, case, started).await
    }

    async fn ready(&self, machine: &Machine<'_>) -> Result<(), AgentError> {
        self.reaches(machine.sandbox)?;
        if machine.costs_count { self.priced() } else { Ok(()) }
    }

    fn investigates(&self) -> bool {
        true
    }

    fn notices(&self) -> Vec<String> {
        let ms = i64::try_from(now_ms()).unwrap_or(i64::MAX);
        let today = DateTime::from_timestamp_millis(ms).unwrap_or_default().date_naive();
        self.models.notices(today, self.settings.context_tokens)
    }

    fn service(&self) -> Option<String> {
        let models: Vec<_> = self.models.names().map(|name| format!("`{name}`")).collect();
        Some(format!("the model {}", models.join(", else ")))
    }

    fn model(&self, candidate: u32) -> Option<String> {
        Some(self.models.name_at(candidate).to_owned())
    }

    fn sees(&self) -> bool {
        self.images.sees(self.models.first())
    }

    async fn ask_model(&self) -> Result<Option<String>, AgentError> {
        let (system, question) = ("You answer as shortly as you can.", "Answer with the one word: ready");
        let answer = Conversation::ask_once(&self.models, "doctor", system, question).await;
        answer
            .map(|answer| Some(answer.model))
            .map_err(|error| AgentError::caused_by(error.failure(), error).during("the model did not answer"))
    }
}

/// The conversation so far: that of the session's earlier runs, or a new one, which begins with the task and the
/// description of the folder. The transcript records the latter, so that a run which resumes the session repeats it.
async fn begun(
    request: &RunRequest,
    context: &RunContext,
    dialect: &Dialect,
    toolset: &Toolset,
    case: Option<&CaseFile>,
    surroundings: impl Future<Output = String>,
) -> Restored {
    let lines = context.session.transcript().await.map(|transcript| transcript.lines).unwrap_or_default();
    let given = match case {
        Some(case) => case.brief().await,
        None => String::new(),
    };
    let word = |brief: &str| task(&format!("{brief}{given}"), &request.checks);
    let mut begun = match restore(&lines, dialect, toolset, word) {
        Some(restored) => {
            context.show(format!("resumes after turn {} of its session", restored.usage.turns));
            restored
        }
        None => {
            let mut new = Restored::nothing(word(&request.brief));
            context.steering.begin_anew();
            if matches!(request.purpose, RunPurpose::Work | RunPurpose::Plan | RunPurpose::Report) {
                let text = [Some(surroundings.await), shown(&request.images)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n\n");
                new.history.tell(&text);
                context.session.add(SessionEvent::Told { text });
            }
            new
        }
    };
    // A resumed run gets them again, because no transcript has them.
    begun.history.show(request.images.iter().map(picture).collect());
    if let Some(case) = case {
        begun.history.tell(&case.news());
    }
    begun
}

/// A list of the images that follow the task.
fn shown(images: &[Image]) -> Option<String> {
    let names: Vec<&str> = images.iter().map(|image| image.name.as_str()).collect();
    let text = format!("[Hob] Images of the task follow it, data like its text, in this order: {}", names.join("; "));
    (!names.is_empty()).then_some(text)
}

/// The task: the brief, and the checks that it does not name.
fn task(brief: &str, checks: &[String]) -> String {
    let unnamed = checks.iter().filter(|check| !brief.contains(check.as_str()));
    let checks: Vec<_> = unnamed.map(|check| format!("- {check}")).collect();
    if checks.is_empty() {
        return brief.to_owned();
    }
    format!("{brief}\n\nHob runs these checks afterwards:\n{}", checks.join("\n"))
}
