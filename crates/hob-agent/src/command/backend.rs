//! Starts the program and reads its exit.

use std::{ffi::OsStr, path::Path};

use hob_config::{AgentSettings, PromptVia};
use hob_domain::{FailureClass, Outcome, RunPurpose, RunReport, RunRequest, Spend};
use hob_process::{Environment, Exit, Finished, ProcessError, Program, fault_of_file};
use hob_sandbox::Plan;
use tokio::{task::spawn_blocking, time::Instant};

use crate::{
    AgentBackend, AgentError, Machine, RunContext,
    checklist::{checklist_line, is_checklist},
    command::ResultLine,
    confined::Confined,
    egress::EgressRules,
    environment::{ARGUMENT_MAX, RUN_TAG, find_program},
    native::{Speaks, investigate},
    report::{cancelled, permanent, report, tail, unfinished},
};

/// The placeholder of the prompt in an argument.
const PLACEHOLDER: &str = "{prompt}";
/// Bytes of output quoted as the reason of a failure.
const QUOTED: usize = 2_000;
/// Lines of a program's output that become its summary.
const CLOSING_LINES: usize = 10;
/// Bytes and lines of it that become a plan.
const PLAN_BYTES: usize = 16 * 1024;
const PLAN_LINES: usize = 120;

/// A program that edits the folder.
#[derive(Debug)]
pub struct CommandAgent {
    program: String,
    arguments: Vec<String>,
    prompt: PromptVia,
    egress: EgressRules,
    /// The limits and approvals of its investigations, and the caps on its output.
    settings: AgentSettings,
}

impl CommandAgent {
    /// Takes the program from `settings`; `egress` says which hosts and models it reaches.
    ///
    /// # Errors
    /// If no program is named, or `{prompt}` is where a shell would read it as code.
    pub(crate) fn new(settings: &AgentSettings, egress: EgressRules) -> Result<Self, AgentError> {
        let Some((program, arguments)) = settings.command.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err(AgentError::setup("its `command` is empty: name the program and its arguments"));
        };
        let mut prompt = settings.prompt;
        for argument in arguments.iter().filter(|argument| argument.contains(PLACEHOLDER)) {
            prompt = PromptVia::Argument;
            let flag = argument.starts_with('-') && argument.ends_with(&format!("={PLACEHOLDER}"));
            if argument != PLACEHOLDER && (!flag || argument.matches(PLACEHOLDER).count() > 1) {
                return Err(AgentError::setup(format!(
                    "`{argument}` mixes `{PLACEHOLDER}` with other text, which a shell could run as code: \
                     write `{PLACEHOLDER}` or `--flag={PLACEHOLDER}` as an argument of its own"
                )));
            }
        }
        Ok(Self { program: program.clone(), arguments: arguments.to_vec(), prompt, egress, settings: settings.clone() })
    }

    fn program(&self, request: &RunRequest, context: &RunContext, confined: &Confined) -> Result<Program, AgentError> {
        let (watcher, follower) = (context.clone(), context.clone());
        let program = confined
            .agent(&self.program, request)
            // The line that reports its end is for Hob, which shows the outcome in words.
            .watch(move |line| match ResultLine::read(line) {
                Some(_report) => watcher.alive(),
                None if is_checklist(line) => watcher.alive(),
                None => watcher.say(line),
            })
            .watch_data(move |line| {
                if let Some(checklist) = checklist_line(line) {
                    follower.checklist(checklist);
                }
            })
            .env("HOB_PURPOSE", request.purpose.name())
            .tag_uniquely(RUN_TAG)
            .deadline(request.time)
            .output_cap(self.settings.output_cap);
        Ok(match self.prompt {
            PromptVia::Stdin => program.args(&self.arguments).stdin(request.brief.as_bytes()),
            PromptVia::Argument => program.args(self.with_prompt(&request.brief)?),
        })
    }

    fn with_prompt(&self, brief: &str) -> Result<Vec<String>, AgentError> {
        // No argument can contain a zero byte, and one that begins with a dash would be parsed as a flag.
        let mut prompt = brief.replace('\0', "");
        if prompt.starts_with('-') {
            prompt.insert(0, '\n');
        }
        let longest = self.arguments.iter().map(String::len).max().unwrap_or(0);
        if prompt.len() + longest > ARGUMENT_MAX {
            let reason =
                format!("the prompt has {} bytes, too many for an argument: set `prompt = \"stdin\"`", prompt.len());
            return Err(AgentError::new(FailureClass::NeedsHuman, reason));
        }
        let mut arguments: Vec<_> = self.arguments.iter().map(|text| text.replace(PLACEHOLDER, &prompt)).collect();
        if !self.arguments.iter().any(|argument| argument.contains(PLACEHOLDER)) {
            arguments.push(prompt);
        }
        Ok(arguments)
    }
}

#[async_trait::async_trait]
impl AgentBackend for CommandAgent {
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError> {
        if let Some(case) = &request.investigation {
            return Box::pin(investigate(self, Speaks::LastLine, &self.settings, request, case, context)).await;
        }
        let started = Instant::now();
        let name = Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy();
        context.say(format!("{name} works on {}", request.issue.in_words()));
        let egress = self.egress.open(context, request).await?;
        let (confined, _home) = Confined::of_run(context, request, &egress).await?;
        let end = context.cancel.child_token();
        let work = self.program(request, context, &confined)?.run(&end);
        let (finished, ended) = egress.beside(work, &end, context).await;
        let measured = egress.close().await;
        let finished = finished.map_err(cannot_run)?;
        if let Some(reason) = not_started(&name, &finished) {
            return Err(AgentError::setup(reason));
        }
        let said = ResultLine::read(&finished.stdout.text());
        let told = said.as_ref().map_or_else(Spend::default, ResultLine::spend);
        let spend = measured.map_or(told, |measured| measured.spend(Some(told.usd_micros)));
        Ok(report(ended.unwrap_or_else(|| outcome(&name, &finished, said, request)), spend, started))
    }

    fn investigates(&self) -> bool {
        true
    }

    async fn ready(&self, machine: &Machine<'_>) -> Result<(), AgentError> {
        is_there(&self.program, &self.egress.plan_of_look(machine.sandbox)?, machine.environment).await
    }
}

/// Checks that the program is installed, and starts in the sandbox as far as its file tells.
///
/// # Errors
/// [`AgentError`] says what is missing.
pub(crate) async fn is_there(name: &str, plan: &Plan, environment: &Environment) -> Result<(), AgentError> {
    let folders = environment.get(OsStr::new("PATH")).cloned();
    let program = name.to_owned();
    let found = spawn_blocking(move || find_program(&program, folders.as_deref())).await;
    match found.ok().flatten() {
        Some(path) => match fault_of_file(plan, environment, &path).await {
            None => Ok(()),
            Some(reason) => Err(AgentError::setup(reason)),
        },
        None if Path::new(name).is_file() => {
            Err(AgentError::setup(format!("`{name}` is not executable: `chmod +x {name}`")))
        }
        None => Err(not_installed(name, "it is not on the path")),
    }
}

/// The exit code decides; the program's report counts unless it claims success against its own exit code.
fn outcome(name: &str, finished: &Finished, said: Option<ResultLine>, request: &RunRequest) -> Outcome {
    let said = said.and_then(|said| said.outcome());
    match finished.exit {
        Exit::Code(0) => said.unwrap_or_else(|| Outcome::done(closing_words(finished, request.purpose))),
        Exit::Code(code) => match said {
            Some(Outcome::Done { .. } | Outcome::NothingToDo { .. } | Outcome::HandOff(_)) | None => {
                permanent(format!("`{name}` ended with exit code {code}{}", complaint(finished)))
            }
            Some(said @ (Outcome::Question { .. } | Outcome::ApprovalNeeded { .. } | Outcome::Failed { .. })) => said,
        },
        Exit::Signal(signal) => unfinished(format!("signal {signal} ended `{name}`{}", complaint(finished))),
        Exit::Deadline => {
            let RunRequest { time, time_setting, .. } = request;
            unfinished(format!("`{name}` ran out of time after {} s (`{time_setting}`)", time.as_secs()))
        }
        Exit::Cancelled => cancelled(),
    }
}

/// The last lines of a program's output, if it exited well and named no outcome.
fn closing_words(finished: &Finished, purpose: RunPurpose) -> String {
    let (bytes, most) = match purpose {
        RunPurpose::Work => (QUOTED, CLOSING_LINES),
        RunPurpose::Plan | RunPurpose::Investigate | RunPurpose::Report | RunPurpose::Review => {
            (PLAN_BYTES, PLAN_LINES)
        }
    };
    let text = finished.stdout.text();
    let (text, words) = (text.trim(), tail(&text, bytes));
    // The first of them may have lost its beginning.
    let whole = if words.len() < text.len() { words.split_once('\n').map_or(words, |(_, rest)| rest) } else { words };
    let lines: Vec<&str> = whole.lines().filter(|line| !is_checklist(line)).collect();
    lines[lines.len().saturating_sub(most)..].join("\n").trim().to_owned()
}

/// Why its program did nothing: a shell exits with these codes if it cannot start or find a program.
fn not_started(name: &str, finished: &Finished) -> Option<String> {
    let why = match finished.exit {
        Exit::Code(126) => "is not allowed to start a program that it needs",
        Exit::Code(127) => "does not find a program that it needs",
        Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => return None,
    };
    let said = complaint(finished);
    Some(format!("`{name}` {why} ({}{said}): install it, or name its folder in `sandbox.read`", finished.exit))
}

/// The end of its standard error, or else of its standard output, as the tail of a sentence.
fn complaint(finished: &Finished) -> String {
    let texts = [finished.stderr.text(), finished.stdout.text()];
    let said = texts.iter().map(|text| tail(text, QUOTED)).find(|text| !text.is_empty());
    said.map_or_else(String::new, |said| format!(": {said}"))
}

fn not_installed(program: &str, why: impl std::fmt::Display) -> AgentError {
    AgentError::setup(format!("start `{program}`: {why}: install it"))
}

pub(crate) fn cannot_run(error: ProcessError) -> AgentError {
    match error {
        ProcessError::Start { program, source } => {
            let error = not_installed(&program, &source);
            AgentError { source: Some(Box::new(source)), ..error }
        }
        ProcessError::Sandbox { .. } => AgentError::misconfigured(error),
        ProcessError::Pipe { .. } => AgentError::caused_by(FailureClass::Unfinished, error),
    }
}
