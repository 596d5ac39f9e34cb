//! Runs the calls of an investigating program like those of a native agent.

use std::collections::BTreeMap;

use hob_config::AgentSettings;
use hob_domain::{Outcome, RunRequest};
use hob_process::Environment;
use serde_json::Value;
use tokio::{
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentError, RunContext,
    confined::{Confined, in_folder},
    folder::Folder,
    model::ToolCall,
    native::{
        guard::Guard,
        investigation::CaseFile,
        last_look::LastLook,
        limits::Limits,
        mcp::Connected,
        restore::is_own_end,
        served::protocol::{CallAnswer, Message, bytes, called, read},
        standing::Standing,
        tool_calls::{CallRunner, ToolExecutor},
        tools::{Jobs, Pictures, Scratch, Toolbox, Toolset, Written},
        usage::RunUsage,
    },
    session::SessionEvent,
};

/// The tools beside those of the record: they look at the folder, and their output is evidence.
const LOOKS: [&str; 3] = ["read", "list", "search"];
/// How often a run is reported as alive while its call is answered: a person may take minutes.
const LIVES: Duration = Duration::from_secs(10);
/// How long a program may take to end by itself once the investigation has.
const FAREWELL: Duration = Duration::from_secs(30);
/// The message that it gets then.
const ENDED: &str = "The run has ended and the record is kept. Call nothing more: end now.";

/// The tools of an investigation, their rules, and the approver.
pub(super) struct Rules {
    toolset: Toolset,
    guard: Guard,
}

impl Rules {
    /// The desk of a run. The settings' limits and approvals of a native agent count here, too.
    ///
    /// # Errors
    /// [`AgentError`] says what is wrong with the settings.
    pub(super) fn new(
        settings: &AgentSettings,
        request: &RunRequest,
        context: &RunContext,
        case: &CaseFile,
    ) -> Result<Self, AgentError> {
        let toolset = Toolset::new(&LOOKS.map(str::to_owned), &BTreeMap::new(), &BTreeMap::new());
        let toolset = toolset.map_err(AgentError::misconfigured)?;
        let toolset = toolset.for_purpose(request.purpose).handing_off_to(&request.hand_off_to).for_investigation();
        let guard = Guard::new(settings, request, context.approval.clone()).map_err(AgentError::misconfigured)?;
        Ok(Self { toolset, guard: guard.investigating(case.approve()) })
    }

    /// The tools.
    pub(super) fn toolset(&self) -> &Toolset {
        &self.toolset
    }
}

/// Answers the calls of a program.
pub(super) struct Desk<'a> {
    executor: ToolExecutor<'a>,
    limits: Limits,
    usage: RunUsage,
    standing: Standing,
    last_look: LastLook,
    context: &'a RunContext,
    /// The end of the investigation; `None` while it goes on.
    end: Option<Outcome>,
}

impl<'a> Desk<'a> {
    /// The desk of a run that begins at `started`. Iterations of runs that were cut off count.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub(super) async fn new(
        rules: &'a Rules,
        settings: &AgentSettings,
        request: &RunRequest,
        context: &'a RunContext,
        case: CaseFile,
        started: Instant,
    ) -> Result<Self, AgentError> {
        let folder = crate::native::backend::open_folder(request, &context.sandbox).await?;
        let limits = Limits::new(settings, request, started);
        let mut usage = RunUsage::default();
        usage.turns = cut_off(context).await;
        case.bounded(usage.turns_left(&limits));
        let executor = ToolExecutor {
            toolset: &rules.toolset,
            guard: &rules.guard,
            toolbox: toolbox(settings, request, context, folder, case, &limits),
        };
        let last_look = LastLook::new(request, settings, false);
        Ok(Self { executor, limits, usage, standing: Standing::default(), last_look, context, end: None })
    }

    /// The record; there always is one.
    pub(super) fn case(&self) -> Option<&CaseFile> {
        self.executor.toolbox.case.as_ref()
    }

    /// When the run's time is over.
    pub(super) fn deadline(&self) -> Instant {
        self.limits.deadline
    }

    /// The number of calls so far.
    pub(super) fn calls(&self) -> u32 {
        self.usage.turns
    }

    /// The end of the investigation; `None` while it goes on.
    pub(super) fn end(&self) -> Option<&Outcome> {
        self.end.as_ref()
    }

    /// Answers calls until it is dropped. `program` is cancelled if it goes on after the end.
    pub(super) async fn answer(
        &mut self,
        asked: &mut mpsc::Receiver<hob_egress::Asked>,
        program: &CancellationToken,
    ) -> std::convert::Infallible {
        let mut farewell: Option<Instant> = None;
        loop {
            let late = async {
                match farewell {
                    Some(then) => tokio::time::sleep_until(then).await,
                    None => std::future::pending().await,
                }
            };
            let asked = tokio::select! {
                asked = asked.recv() => asked,
                () = late => {
                    program.cancel();
                    farewell = None;
                    continue;
                }
            };
            // The listener lives as long as the run.
            let Some(hob_egress::Asked { message, answer }) = asked else { std::future::pending().await };
            let said = match read(&message, self.executor.toolset.shown()) {
                Message::Notification => None,
                Message::Answered(answer) => Some(answer),
                Message::Call { id, name, arguments } => {
                    if self.end.is_some() {
                        program.cancel();
                    }
                    let said = self.call(&name, &Value::Object(arguments).to_string()).await;
                    if self.end.is_some() {
                        farewell.get_or_insert_with(|| Instant::now() + FAREWELL);
                    }
                    Some(called(&id, &said))
                }
            };
            // A client that is gone has no use for it.
            answer.send(said.as_ref().map(bytes)).ok();
        }
    }

    /// Runs one call: an iteration. The text is the answer for the model; after the end nothing runs any more.
    pub(super) async fn call(&mut self, name: &str, arguments: &str) -> CallAnswer {
        if self.end.is_some() {
            return CallAnswer { text: ENDED.to_owned(), is_error: true };
        }
        let context = self.context;
        let mut running = Box::pin(self.run(name, arguments));
        let ran = loop {
            tokio::select! {
                ran = &mut running => break ran,
                () = tokio::time::sleep(LIVES) => context.alive(),
            }
        };
        drop(running);
        context.alive();
        ran.unwrap_or_else(|end| {
            self.end = Some(end);
            CallAnswer { text: ENDED.to_owned(), is_error: false }
        })
    }

    /// The answer of one call; the error is the end of the run.
    async fn run(&mut self, name: &str, arguments: &str) -> Result<CallAnswer, Outcome> {
        self.usage.begin_turn(&self.limits, Instant::now())?;
        if let Some(case) = &self.executor.toolbox.case {
            case.iterated().await;
        }
        let id = format!("call-{}", self.usage.turns);
        let call = ToolCall { id, name: name.to_owned(), arguments: arguments.to_owned() };
        let runner = CallRunner {
            executor: &self.executor,
            limits: &self.limits,
            context: self.context,
            usage: &mut self.usage,
            progress: &mut self.standing,
            thought: "",
            last_look: &self.last_look,
        };
        let done = runner.run(&[call]).await?;
        self.usage.count_actions(&self.limits, &done.actions)?;
        let note = self.note();
        let results = done.results.into_iter().next();
        Ok(results.map_or_else(
            || CallAnswer { text: "the call was not run".to_owned(), is_error: true },
            |result| CallAnswer { text: format!("{}\n\n{note}", result.text), is_error: result.is_error },
        ))
    }

    /// The state of the run and the case.
    fn note(&self) -> String {
        let message = self.case().map(|case| case.progress().message).unwrap_or_default();
        format!("[turn {}{}]\n[case: {message}]", self.usage.turn(&self.limits), self.limits.of_turns())
    }

    /// Keeps the record, and ends what is open.
    pub(super) async fn close(self) {
        if let Some(case) = self.case() {
            case.keep().await;
        }
        self.executor.toolbox.close().await;
    }
}

fn toolbox(
    settings: &AgentSettings,
    request: &RunRequest,
    context: &RunContext,
    folder: Folder,
    case: CaseFile,
    limits: &Limits,
) -> Toolbox {
    // No tool of these starts a program.
    let plan = in_folder(context.sandbox.plan(), &request.folder, request.purpose);
    let confined = Confined { plan, environment: Environment::new() };
    Toolbox {
        shell: Mutex::new(confined.shell(folder.path())),
        folder,
        case: Some(case),
        jobs: Jobs::default(),
        scratch: Scratch::of(&confined),
        confined,
        // Its answers are texts.
        pictures: Pictures::new(false),
        fetcher: None,
        servers: Connected::default(),
        written: Written::new(0, limits.output),
        output_cap: settings.output_cap,
        shell_time: settings.shell_time,
        deadline: limits.deadline,
        cancel: context.cancel.clone(),
    }
}

/// The number of calls since the last end that the agent chose: those of runs that were cut off.
async fn cut_off(context: &RunContext) -> u32 {
    let lines = context.session.transcript().await.map(|transcript| transcript.lines).unwrap_or_default();
    let is_end = |event: &SessionEvent| matches!(event, SessionEvent::Ended { outcome, .. } if is_own_end(outcome));
    let since = lines.iter().rev().take_while(|line| !is_end(&line.event));
    let calls = since.filter(|line| matches!(line.event, SessionEvent::Action { .. })).count();
    u32::try_from(calls).unwrap_or(u32::MAX)
}
