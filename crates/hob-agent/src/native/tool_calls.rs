//! The calls of one reply: those that only look, or are independent, run at the same time, all others one after the
//! other.

use std::collections::VecDeque;

use futures_util::future::join_all;
use hob_domain::{
    Impact, Outcome, TestCommand,
    investigation::{Allowed, Iteration},
};
use tokio::time::Instant;

use crate::{
    RunContext,
    model::{ToolCall, ToolResult},
    native::{
        change::{Tree, is_prose},
        guard::{Decision, Guard, Place},
        history::{REASON_MAX, Trace},
        in_span::in_span,
        last_look::{Ended, Gate, LastLook},
        limits::{Limits, out_of_time},
        quick_check::failure,
        standing::Standing,
        tools::{Action, Answer, CommandResult, Effect, Shell, ToolError, Toolbox, Toolset, run_action},
        usage::{Actions, RunUsage},
    },
    report::{cancelled, clip, first_line},
    session::SessionEvent,
    traced::tool_span,
};

/// Calls of one reply that are run; the others are answered with an error.
const CALLS_MAX: usize = 16;

/// Runs the actions that the rules allow.
pub(super) struct ToolExecutor<'a> {
    pub(super) toolset: &'a Toolset,
    pub(super) guard: &'a Guard,
    pub(super) toolbox: Toolbox,
}

/// The results of the calls of one reply.
#[derive(Default)]
pub(super) struct CallResults {
    /// One answer a call, in the order of the calls.
    pub(super) results: Vec<ToolResult>,
    /// The numbers of successes and failures.
    pub(super) actions: Actions,
    /// The trace of them that stays when old turns are folded.
    pub(super) trace: Trace,
    /// Whether a command ended with an error code.
    has_failed_command: bool,
    /// Whether something ran that may have changed files without naming them.
    has_acted: bool,
    /// What an end leaves unverified.
    doubt: Option<String>,
    /// What Hob says after the answers; may be empty.
    pub(super) news: String,
    /// The calls of the reply that come later.
    later: usize,
}

impl CallResults {
    /// The end of a run, whose summary says what is not verified.
    fn with_doubt(&self, outcome: Outcome) -> Outcome {
        match (outcome, &self.doubt) {
            (Outcome::Done { summary, title }, Some(doubt)) => {
                Outcome::Done { summary: format!("{summary}\n\nnot verified: {doubt}"), title }
            }
            (outcome, _) => outcome,
        }
    }
}

/// A command before it runs.
struct Command {
    text: String,
    is_at_top: bool,
    before: Option<Tree>,
}

/// Runs the calls of one reply: with what, and what it counts and changes of the run meanwhile.
pub(super) struct CallRunner<'a> {
    pub(super) executor: &'a ToolExecutor<'a>,
    pub(super) limits: &'a Limits,
    pub(super) context: &'a RunContext,
    pub(super) usage: &'a mut RunUsage,
    pub(super) progress: &'a mut Standing,
    /// The model's words beside the calls.
    pub(super) thought: &'a str,
    pub(super) last_look: &'a LastLook,
}

/// A call with its arguments parsed.
struct Planned<'a> {
    call: &'a ToolCall,
    action: Result<Action, ToolError>,
    line: String,
}

impl ToolExecutor<'_> {
    /// Runs one action, if it may, and reports the approval.
    async fn run(&self, action: Action) -> (Allowed, Result<Answer, ToolError>) {
        if let Err(error) = self.fits_the_case(&action) {
            return (Allowed::Refused, Err(error));
        }
        let by_itself = self.guard.runs_by_itself(&action);
        let (top, here) = (self.toolbox.folder.path(), self.toolbox.shell.lock().await.folder().to_owned());
        let place = if here.starts_with(top) { Place::InFolder } else { Place::Elsewhere };
        // The file tools begin at the top wherever the shell is, and say so where it matters.
        let aside = (here != top && action.is_below_top()).then(|| {
            let here = here.strip_prefix(top).unwrap_or(&here).display();
            format!("[paths of this tool begin at the top of the folder, not in `{here}`, where the shell is]")
        });
        let decision = tokio::select! {
            // By Hob's own name: a rule holds for each name that a model calls the tool by.
            decision = self.guard.check(action.tool(), &action, place) => decision,
            () = tokio::time::sleep_until(self.toolbox.deadline) => {
                Err(ToolError::Refused("nobody approved it in the time of the run".into()))
            }
            () = self.toolbox.cancel.cancelled() => Err(ToolError::Refused("the run was cancelled".into())),
        };
        match decision {
            Ok(Decision::Allow) => {}
            Ok(Decision::AskOnIssue(proposed)) => {
                return (Allowed::Waits, Ok(Answer::End(Outcome::ApprovalNeeded { proposed })));
            }
            Err(error) => return (Allowed::Refused, Err(error)),
        }
        let finds = action.finds_evidence().then(|| action.line());
        let answer = match (run_action(&self.toolbox, action).await, aside) {
            (Ok(Answer::Text(text)), Some(aside)) => {
                Ok(Answer::Text(format!("{}\n{aside}", text.trim_end_matches('\n'))))
            }
            (Err(error), Some(aside)) => Err(ToolError::Refused(format!("{error} {aside}"))),
            (answer, _) => answer,
        };
        let allowed = match &answer {
            Ok(Answer::End(Outcome::Question { .. })) if !by_itself => Allowed::Waits,
            Ok(_) | Err(_) if by_itself => Allowed::ByItself,
            Ok(_) | Err(_) => Allowed::Approved,
        };
        let answer = match (answer, finds) {
            (Ok(Answer::Text(text)), Some(source)) => Ok(Answer::Text(self.as_evidence(&source, text).await)),
            (Ok(Answer::Ran(text, result)), Some(source)) => {
                Ok(Answer::Ran(self.as_evidence(&source, text).await, result))
            }
            (answer, _) => answer,
        };
        (allowed, answer)
    }

    /// Refuses actions that an investigation cannot take, before a person is asked about them.
    fn fits_the_case(&self, action: &Action) -> Result<(), ToolError> {
        match (&self.toolbox.case, action) {
            (None, _) => Ok(()),
            (Some(case), Action::Case(action)) => Ok(case.check(action)?),
            (Some(_), action) if Guard::impact(action) > Impact::Low => {
                Err(ToolError::Refused("not run: an investigation only looks, and this may change something".into()))
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// A tool's output, under its name as evidence if a case is investigated.
    async fn as_evidence(&self, source: &str, text: String) -> String {
        let Some(case) = &self.toolbox.case else { return text };
        match case.saw(source, &text).await {
            Some(id) => format!("[evidence {id}, {} bytes]\n{text}", text.len()),
            None => format!("[no evidence: the record is full]\n{text}"),
        }
    }

    /// Whether a call may run beside others. One that needs a person's approval may not: people are asked one thing at
    /// a time.
    fn runs_at_once(&self, planned: &Planned<'_>) -> bool {
        let action = planned.action.as_ref();
        action.is_ok_and(|action| action.effect() == Effect::Independent && self.guard.runs_by_itself(action))
    }

    /// A patch with the paths that it has where it is applied: a command applies it in the shell's folder.
    async fn placed(&self, action: Action) -> Result<Action, ToolError> {
        let Action::Patch(patch) = action else { return Ok(action) };
        let shell = self.toolbox.shell.lock().await.folder().to_owned();
        patch.placed(self.toolbox.folder.path(), &shell).map(Action::Patch)
    }

    fn plan<'c>(&self, call: &'c ToolCall) -> Planned<'c> {
        let action = self.toolset.parse(call).and_then(|action| match action {
            Action::Shell(shell) => shell.placed(&self.toolbox.folder).map(Action::Shell),
            action => Ok(action),
        });
        let line = action.as_ref().map_or_else(|_| first_line(&call.name, 40), Action::line);
        Planned { call, action, line }
    }
}

impl CallRunner<'_> {
    /// Runs the calls of a reply. The error is the end of the run.
    pub(super) async fn run(mut self, calls: &[ToolCall]) -> Result<CallResults, Outcome> {
        let mut done = CallResults::default();
        let (taken, left) = calls.split_at(calls.len().min(CALLS_MAX));
        let mut planned: VecDeque<_> = taken.iter().map(|call| self.executor.plan(call)).collect();
        while !planned.is_empty() {
            if self.context.cancel.is_cancelled() {
                return Err(cancelled());
            }
            if Instant::now() >= self.limits.deadline {
                return Err(out_of_time(self.usage.turns, self.limits));
            }
            let at_once = planned.iter().take_while(|planned| self.executor.runs_at_once(planned)).count();
            let mut batch: Vec<_> = planned.drain(..at_once.max(1)).collect();
            if at_once > 1 {
                batch = batch.into_iter().map(Planned::beside).collect();
            }
            done.later = planned.len() + left.len();
            self.batch(batch, &mut done).await?;
        }
        for call in left {
            let text = format!("not run: one reply may call {CALLS_MAX} tools");
            done.results.push(ToolResult::of_error(&call.id, text));
        }
        done.news = self.check(&done).await.unwrap_or_default();
        Ok(done)
    }

    /// Runs the fast check after a reply that changed files; what the model has to know of it.
    async fn check(&mut self, done: &CallResults) -> Option<String> {
        let check = self.last_look.quick.as_ref()?;
        let action = Action::Shell(Shell::of_check(check));
        if self.progress.is_slow || !self.executor.guard.runs_by_itself(&action) {
            return None;
        }
        let has_edited = !done.trace.files.iter().all(|file| is_prose(file));
        let (seen, toolbox) = (&self.progress.seen, &self.executor.toolbox);
        if !(has_edited || done.has_acted && self.last_look.is_unchecked(check, seen, toolbox).await) {
            return None;
        }
        self.say(&format!("checking with `{}`", first_line(check, REASON_MAX)));
        let before = self.last_look.before(&self.progress.seen, check, &self.executor.toolbox).await;
        let span = tool_span(Some(action.tool()), None);
        let (_, answer) = in_span(span, self.executor.run(action)).await;
        let result = CommandResult::in_answer(&answer)?;
        let output = match answer {
            Ok(Answer::Ran(output, _)) => output,
            Ok(_) => return None,
            Err(error) => {
                self.progress.is_slow = true;
                error.to_string()
            }
        };
        let ended =
            Ended { command: check, result: &result, output: &output, is_at_top: true, before, is_models: false };
        let more = self.last_look.after(self.progress, &ended, &self.executor.toolbox).await;
        match result {
            CommandResult::Succeeded => {
                self.progress.quick_failure = None;
                more.map(|more| format!("\n\n{more}"))
            }
            CommandResult::Failed(_) => Some(failure(self.progress, check, &output)),
        }
    }

    /// The action as it runs: a patch in its folder, and an end only as the last one, if nothing failed before it.
    async fn settled(&self, action: Result<Action, ToolError>, done: &CallResults) -> Result<Action, ToolError> {
        match self.executor.placed(action?).await? {
            Action::Done(end) if done.actions.has_failed() || end.is_success() && done.has_failed_command => {
                Err(ToolError::Refused("not ended: an earlier call of the same reply failed, see to it first".into()))
            }
            action if action.is_end() && done.later > 0 => Err(ToolError::Refused(
                "not ended: another call of the same reply comes after it: see its answer first".into(),
            )),
            action => Ok(action),
        }
    }

    /// Runs calls at the same time, or one that runs alone.
    async fn batch(&mut self, batch: Vec<Planned<'_>>, done: &mut CallResults) -> Result<(), Outcome> {
        let mut runs = Vec::with_capacity(batch.len());
        let mut told = Vec::with_capacity(batch.len());
        for Planned { call, action, line } in batch {
            self.context.session.add(SessionEvent::Action {
                id: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
            });
            let span = tool_span(action.as_ref().ok().map(Action::tool), Some(&call.id));
            let action = self.settled(action, done).await;
            if let Ok(action) = &action {
                self.say(&format!("{line} [{}]", Guard::impact(action)));
                if let Action::Plan(plan) = action {
                    self.progress.plan = Some(plan.clone());
                    if let Some(checklist) = plan.checklist() {
                        self.context.checklist(checklist);
                    }
                }
            }
            let look = self.look(action.as_ref().ok(), done).await;
            let command = self.command(action.as_ref().ok()).await;
            done.has_acted |= action.as_ref().is_ok_and(|action| action.changes().is_empty() && may_change(action));
            let step = self.step(&line, action.as_ref().ok());
            let changes = action.as_ref().map(Action::changes).unwrap_or_default();
            told.push((call, line, (command, changes), step));
            let executor = self.executor;
            let run = async move {
                match (look, action) {
                    (Some(look), _) => (Allowed::ByItself, Ok(Answer::Text(look))),
                    (None, Ok(action)) => executor.run(action).await,
                    (None, Err(error)) => (Allowed::Refused, Err(error)),
                }
            };
            runs.push(in_span(span, run));
        }
        let answers = join_all(runs).await;
        for ((call, line, (command, changes), step), (allowed, answer)) in told.into_iter().zip(answers) {
            // Output cut off by the end of the run is not the agent's error.
            if self.context.cancel.is_cancelled() && answer.is_err() {
                return Err(cancelled());
            }
            self.show(step, allowed, &answer);
            let ran = CommandResult::in_answer(&answer);
            let (answer, images) = match answer {
                Ok(Answer::End(outcome)) => return Err(done.with_doubt(outcome)),
                Ok(Answer::Text(text) | Answer::Ran(text, _)) => (Ok(text), Vec::new()),
                Ok(Answer::Shown(text, picture)) => (Ok(text), vec![picture]),
                Err(error) => (Err(error), Vec::new()),
            };
            if self.context.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let answer = match (answer, command, &ran) {
                (Ok(text), Some(command), Some(result)) => Ok(self.ended(command, result, text).await),
                (answer, _, _) => answer,
            };
            if answer.is_ok() {
                self.progress.files.extend(changes.iter().cloned());
                done.trace.files.extend(changes);
            }
            let said = answer.as_ref().map_or_else(ToString::to_string, String::clone);
            let warning = self.usage.count_call(self.limits, call, &said)?;
            done.has_failed_command |= matches!(ran, Some(CommandResult::Failed(_)));
            self.note(call, &line, answer, warning.as_deref(), done);
            done.results.iter_mut().rev().take(1).for_each(|result| result.images.clone_from(&images));
            if let Some(result) = ran {
                self.usage.count_command(self.limits, &line, &result)?;
            }
        }
        Ok(())
    }

    /// The text that answers `done` before it counts; `None` if it counts, or for another action.
    async fn look(&mut self, action: Option<&Action>, done: &mut CallResults) -> Option<String> {
        let toolbox = &self.executor.toolbox;
        match action {
            Some(Action::Done(end)) if end.is_success() => {
                match self.last_look.before_the_end(self.progress, toolbox).await {
                    Gate::Look(text) => Some(text),
                    Gate::Ends(doubt) => {
                        done.doubt = doubt;
                        None
                    }
                }
            }
            Some(action) if action.effect() == Effect::MayChange => {
                self.last_look.begins(toolbox).await;
                None
            }
            Some(_) | None => None,
        }
    }

    /// A command whose end says something; `None` for another action.
    async fn command(&self, action: Option<&Action>) -> Option<Command> {
        let Some(Action::Shell(shell)) = action else { return None };
        if shell.is_in_background() {
            return None;
        }
        let toolbox = &self.executor.toolbox;
        let is_at_top = toolbox.shell.lock().await.folder() == toolbox.folder.path();
        let before = self.last_look.before(&self.progress.seen, &shell.command, toolbox).await;
        Some(Command { text: shell.command.clone(), is_at_top, before })
    }

    /// Notes the end of a command; the answer for the model.
    async fn ended(&mut self, command: Command, result: &CommandResult, output: String) -> String {
        self.tested(&command.text, result).await;
        let Command { text, is_at_top, before } = &command;
        let ended =
            Ended { command: text, result, output: &output, is_at_top: *is_at_top, before: *before, is_models: true };
        match self.last_look.after(self.progress, &ended, &self.executor.toolbox).await {
            Some(more) => format!("{output}\n\n{more}"),
            None => output,
        }
    }

    /// Reports a passed command of a test. Outside of the repository's own folder it would be another command.
    async fn tested(&self, command: &str, result: &CommandResult) {
        let Some(test) = TestCommand::parse(command).filter(|_| *result == CommandResult::Succeeded) else { return };
        let Toolbox { shell, folder, .. } = &self.executor.toolbox;
        if shell.lock().await.folder() == folder.path() {
            self.context.tested(test);
        }
    }

    /// The step of an investigation that begins; `None` if no case is investigated.
    fn step(&self, line: &str, action: Option<&Action>) -> Option<Iteration> {
        let progress = self.executor.toolbox.case.as_ref()?.progress();
        let grounds = action.and_then(Action::grounds);
        Some(Iteration {
            number: self.usage.turn(self.limits),
            max: self.limits.turns,
            thought: first_line(grounds.map_or(self.thought, |grounds| &grounds.thought), REASON_MAX),
            confidence: grounds.map(|grounds| grounds.confidence),
            action: line.to_owned(),
            impact: action.map_or(Impact::Low, Guard::impact),
            approval: Allowed::ByItself,
            effect: String::new(),
            progress,
        })
    }

    /// Counts and shows the step, with its result.
    fn show(&self, step: Option<Iteration>, approval: Allowed, answer: &Result<Answer, ToolError>) {
        let (Some(step), Some(case)) = (step, &self.executor.toolbox.case) else { return };
        match (answer, &approval) {
            (Err(_), Allowed::Refused) => case.refused(),
            (Err(_), Allowed::ByItself | Allowed::Approved | Allowed::Waits) => case.failed(),
            (Ok(_), _) => {}
        }
        let effect = match answer {
            Ok(Answer::Text(text) | Answer::Ran(text, _) | Answer::Shown(text, _)) => {
                first_line(text.lines().next().unwrap_or_default(), REASON_MAX)
            }
            Ok(Answer::End(Outcome::ApprovalNeeded { .. })) => "the run ends until a person approves it".to_owned(),
            Ok(Answer::End(Outcome::Question { .. })) => "the run ends until a person answers".to_owned(),
            Ok(Answer::End(_)) => "the investigation ends".to_owned(),
            Err(error) => first_line(&error.to_string(), REASON_MAX),
        };
        self.context.iteration(Iteration { approval, effect, progress: case.progress(), ..step });
    }

    /// Records the answer of one call.
    fn note(
        &mut self,
        call: &ToolCall,
        said: &str,
        answer: Result<String, ToolError>,
        warning: Option<&str>,
        done: &mut CallResults,
    ) {
        let cap = self.executor.toolbox.output_cap;
        let is_error = answer.is_err();
        let text = match answer {
            Ok(text) => {
                done.actions.well();
                warned(text, warning)
            }
            Err(error) => {
                let text = clip(&warned(error.to_string(), warning), cap);
                done.actions.wrong(first_line(&text, REASON_MAX));
                text
            }
        };
        let result = ToolResult { id: call.id.clone(), text, is_error, images: Vec::new() };
        done.trace.note(self.usage.turns, &call.name, said, &result);
        // File contents are not shown: progress may be a public log.
        if is_error || said.starts_with("shell ") || self.executor.toolset.is_program(&call.name) {
            let failed = if is_error { "failed: " } else { "" };
            self.say(&format!("→ {failed}{}", first_line(&result.text, 120)));
        }
        self.context.session.add(SessionEvent::Result { id: result.id.clone(), is_error, text: result.text.clone() });
        done.results.push(result);
    }

    /// Reports progress in this turn.
    fn say(&self, what: &str) {
        self.context.show(self.usage.progress(self.limits, what));
    }
}

impl Planned<'_> {
    /// The same beside other calls: a command gets its own shell.
    fn beside(self) -> Self {
        let action = self.action.map(|action| match action {
            Action::Shell(shell) => Action::Shell(shell.beside()),
            other => other,
        });
        Self { action, ..self }
    }
}

/// Whether an action may change files, also beside others.
fn may_change(action: &Action) -> bool {
    action.effect() == Effect::MayChange || matches!(action, Action::Shell(_)) && Guard::impact(action) > Impact::Low
}

fn warned(text: String, warning: Option<&str>) -> String {
    warning.map_or_else(|| text.clone(), |warning| format!("{text}\n{warning}"))
}
