//! An investigation as runs of a program, one after the other, until it has an end.

use std::time::Duration;

use hob_config::{AgentSettings, Speech};
use hob_domain::{Outcome, RunReport, RunRequest, Spend, investigation::Case};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    AgentBackend, AgentError, RunContext,
    model::{ModelReply, Stop, Usage},
    native::{
        investigation::CaseFile,
        served::{
            desk::{Desk, Rules},
            protocol::CallAnswer,
        },
        speech::{Dialect, Understood},
    },
    report::{cancelled, clip, last_words, permanent, report},
};

/// Messages that wait to be answered.
const QUEUE: usize = 16;
/// The most bytes of answers to earlier calls that a program without MCP gets again.
const ANSWERS_MAX: usize = 48 * 1024;
/// The number of runs in a row without a call after which a person gets the program's words.
const IDLE_ROUNDS: u32 = 2;

/// The instructions for a program that speaks MCP.
const BY_SERVER: &str = "Your tools are those of the MCP server `hob`, and this is about them: `hob` may come before their names. \
What other tools of yours show is not evidence, and they can change nothing: look with `read`, `list` and `search` of that server. Nobody \
can answer you while you work. When a tool says that the run has ended, end.\n";

/// The instructions for a program that does not.
const BY_LAST_LINE: &str = "You have none of these tools at hand: Hob runs them for you, one in each of your runs. End what you print with \
one action as a JSON object, on one line, and nothing behind it; then you are run again, with its answer. What tools of your own show \
is not evidence, and they can change nothing: look with `read`, `list` and `search`.\n";

/// The way in which a program calls the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// Over MCP.
    Mcp,
    /// By its last line of output, one call a run.
    LastLine,
}

/// Has `program` investigate: it is run until there is a conclusion or a question, or a limit is reached.
///
/// # Errors
/// [`AgentError`] when it could not be run at all.
pub(crate) async fn investigate(
    program: &dyn AgentBackend,
    speaks: Speaks,
    settings: &AgentSettings,
    request: &RunRequest,
    case: &Case,
    context: &RunContext,
) -> Result<RunReport, AgentError> {
    let started = Instant::now();
    let case = CaseFile::open(context, request, case).await;
    if let Some(outcome) = case.end() {
        return Ok(report(outcome, Spend::default(), started));
    }
    let rules = Rules::new(settings, request, context, &case)?;
    let desk = Desk::new(&rules, settings, request, context, case, started).await?;
    let mut rounds = Rounds { speaks, rules: &rules, desk, context, spend: Spend::default(), answers: String::new() };
    let outcome = rounds.run(program, request).await;
    let spend = rounds.spend;
    rounds.desk.close().await;
    Ok(report(outcome?, spend, started))
}

struct Rounds<'a> {
    speaks: Speaks,
    rules: &'a Rules,
    desk: Desk<'a>,
    context: &'a RunContext,
    spend: Spend,
    /// The answers to the calls of the runs so far, for a program that does not get them otherwise.
    answers: String,
}

impl Rounds<'_> {
    async fn run(&mut self, program: &dyn AgentBackend, request: &RunRequest) -> Result<Outcome, AgentError> {
        let mut idle = 0;
        loop {
            let before = self.desk.calls();
            let said = self.round(program, request).await?;
            if let Some(end) = self.desk.end() {
                return Ok(end.clone());
            }
            if self.context.cancel.is_cancelled() {
                return Ok(cancelled());
            }
            let words = match said {
                Outcome::Done { summary: words, .. } | Outcome::NothingToDo { reason: words } => words,
                other => return Ok(other),
            };
            if self.speaks == Speaks::LastLine {
                self.last_line(&words).await;
                if let Some(end) = self.desk.end() {
                    return Ok(end.clone());
                }
            }
            idle = if self.desk.calls() == before { idle + 1 } else { 0 };
            if idle >= IDLE_ROUNDS {
                return Ok(match words.trim() {
                    "" => permanent("the agent ended without a conclusion, and said nothing"),
                    words => Outcome::Question { question: last_words(words) },
                });
            }
        }
    }

    /// Runs the program once, and answers what it calls meanwhile.
    async fn round(&mut self, program: &dyn AgentBackend, request: &RunRequest) -> Result<Outcome, AgentError> {
        let (sender, mut asked) = mpsc::channel(QUEUE);
        let (tools, cancel) = (
            match self.speaks {
                Speaks::Mcp => Some(sender),
                Speaks::LastLine => None,
            },
            self.context.cancel.child_token(),
        );
        let context = self.context.with_tools(cancel.clone(), tools);
        let left = |limit: Option<u64>, spent: u64| limit.map(|limit| limit.saturating_sub(spent));
        let request = RunRequest {
            brief: self.brief(request).await,
            time: self.desk.deadline().saturating_duration_since(Instant::now()).max(Duration::from_secs(1)),
            usd_micros: left(request.usd_micros, self.spend.usd_micros),
            tokens: left(request.tokens, self.spend.tokens()),
            investigation: None,
            ..request.clone()
        };
        let report = tokio::select! {
            report = program.run(&request, &context) => report?,
            never = self.desk.answer(&mut asked, &cancel) => match never {},
        };
        self.spend = self.spend + report.spend;
        Ok(report.outcome)
    }

    /// The brief of the program: its role, its tools, and the current case.
    async fn brief(&self, request: &RunRequest) -> String {
        let Some(case) = self.desk.case() else { return request.brief.clone() };
        let (dialect, how) = match self.speaks {
            Speaks::Mcp => (Dialect::new(Speech::Calls, self.rules.toolset()), BY_SERVER),
            Speaks::LastLine => (Dialect::new(Speech::Json, self.rules.toolset()), BY_LAST_LINE),
        };
        let mut text =
            format!("{}\n{how}\n{}{}\n{}\n", dialect.system(), request.brief, case.brief().await, case.news());
        if !self.answers.is_empty() {
            text.push_str(&format!("\nWhat your last actions were answered:\n{}", self.answers));
        }
        text
    }

    /// Runs the action in the last line of what a program printed.
    async fn last_line(&mut self, words: &str) {
        let line = words.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let text = if line.starts_with('{') { line } else { words };
        let reply = ModelReply {
            text: text.to_owned(),
            calls: Vec::new(),
            verbatim: None,
            stop: Stop::Finished,
            usage: Usage::default(),
        };
        let dialect = Dialect::new(Speech::Json, self.rules.toolset());
        let answer = match dialect.understand(&reply, self.desk.calls() + 1, self.rules.toolset()) {
            Understood::Calls(calls) => {
                let Some(call) = calls.into_iter().next() else { return };
                let CallAnswer { text, is_error } = self.desk.call(&call.name, &call.arguments).await;
                let kind = if is_error { "Error" } else { "Result" };
                format!("{kind} of `{}` {}:\n{text}\n\n", call.name, clip(&call.arguments, 400))
            }
            Understood::Words => "Your last line was not an action.\n\n".to_owned(),
            Understood::Unreadable(reason) => format!("Your last line was not an action: {reason}\n\n"),
        };
        self.answers.push_str(&answer);
        let over = self.answers.len().saturating_sub(ANSWERS_MAX);
        let cut = (over..=self.answers.len()).find(|at| self.answers.is_char_boundary(*at)).unwrap_or_default();
        self.answers.drain(..cut);
    }
}
