//! Resuming a session: the conversation of its earlier runs, rebuilt from the transcript.
//!
//! - Flow: the events are read in order; each whole turn goes into the history as it did when it happened; the turn
//!   that a run ended in is closed with what is known of it; a later run's task follows the last answer.
//! - Guarantees: the same folding as in the run itself, so the conversation is as long as it was. A run that was cut
//!   off continues within its limits of turns and errors; one that ended by itself and is resumed gets new ones.
//! - Caveats: files may have changed since. A note tells the model so.

use hob_config::FailedCommands;
use hob_domain::Outcome;

use crate::{
    model::{Message, ModelReply, Stop, ToolCall, ToolResult, Usage, Verbatim},
    native::{
        history::{History, Trace},
        speech::Dialect,
        standing::Standing,
        tools::{Action, Toolset},
        usage::RunUsage,
    },
    session::{Line, SessionEvent},
};

/// The answer to a call that a run ended in.
const CUT_OFF: &str = "The run was cut off before this call answered: its effect may have happened, or not.";
/// The answer to a call that was the end of a run.
const ENDED: &str = "The run ended here.";

/// The answer to a call that a run ended for.
const NOT_RUN: &str = "Not run: it needed approval, and the run ended here. The answer is below.";

/// The state that earlier runs left.
pub(super) struct Restored {
    /// The conversation.
    pub(super) history: History,
    /// The counts.
    pub(super) usage: RunUsage,
    /// The state of the work.
    pub(super) standing: Standing,
    /// Turns of earlier runs that do not count for this one.
    pub(super) turns_before: u32,
}

impl Restored {
    /// Nothing: the conversation begins with `task`.
    pub(super) fn nothing(task: String) -> Self {
        Self { history: History::new(task), usage: RunUsage::default(), standing: Standing::default(), turns_before: 0 }
    }
}

/// A turn as far as it is known.
struct Open {
    turn: u32,
    text: String,
    verbatim: Option<Verbatim>,
    calls: Vec<ToolCall>,
    results: Vec<ToolResult>,
}

/// Rebuilds the events in `lines` before their last run began, with `task` to word a brief; `None` if there was no turn
/// yet.
pub(super) fn restore(
    lines: &[Line],
    dialect: &Dialect,
    toolset: &Toolset,
    task: impl Fn(&str) -> String,
) -> Option<Restored> {
    let mut found: Option<Rebuild<'_>> = None;
    for line in lines {
        match (&line.event, found.as_mut()) {
            (SessionEvent::Started { brief, .. }, None) => {
                found = Some(Rebuild::new(dialect, toolset, task(brief)));
            }
            (SessionEvent::Started { brief, .. }, Some(rebuild)) => rebuild.next_run(&task(brief)),
            (_, None) => {}
            (event, Some(rebuild)) => rebuild.see(event),
        }
    }
    found.map(|rebuild| rebuild.restored).filter(|restored| restored.usage.turns > 0)
}

struct Rebuild<'a> {
    dialect: &'a Dialect,
    toolset: &'a Toolset,
    task: String,
    restored: Restored,
    open: Option<Open>,
    ended: Option<Outcome>,
}

impl<'a> Rebuild<'a> {
    fn new(dialect: &'a Dialect, toolset: &'a Toolset, task: String) -> Self {
        let restored = Restored::nothing(task.clone());
        Self { dialect, toolset, task, restored, open: None, ended: None }
    }

    fn see(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Started { .. }
            | SessionEvent::Progress { .. }
            | SessionEvent::Noted { .. }
            | SessionEvent::Asked { .. }
            | SessionEvent::Spending { .. } => {}
            SessionEvent::Told { text } => self.restored.history.hear(text),
            SessionEvent::Replied { turn, text, verbatim, .. } => {
                // If the transcript changed it, its service would refuse it: then its plain words replace it.
                let verbatim = verbatim.clone().filter(Verbatim::is_intact);
                let (calls, results) = (Vec::new(), Vec::new());
                self.open = Some(Open { turn: *turn, text: text.clone(), verbatim, calls, results });
            }
            SessionEvent::Action { id, tool, arguments } => {
                if let Some(open) = &mut self.open {
                    open.calls.push(ToolCall { id: id.clone(), name: tool.clone(), arguments: arguments.clone() });
                }
            }
            SessionEvent::Result { id, is_error, text } => {
                if let Some(open) = &mut self.open {
                    open.results.push(ToolResult { is_error: *is_error, ..ToolResult::of_text(id, text) });
                }
            }
            SessionEvent::Turned { note, written, errors, errors_in_row, failed_commands, .. } => {
                if let Some(open) = self.open.take() {
                    self.push(open, note);
                }
                self.restored.usage.restore(*written, *errors, *errors_in_row, *failed_commands);
            }
            SessionEvent::Ended { outcome, .. } => self.ended = Some(outcome.clone()),
        }
    }

    /// Another run began here.
    fn next_run(&mut self, task: &str) {
        let ended = self.ended.take();
        if let Some(mut open) = self.open.take().filter(|open| !open.calls.is_empty()) {
            let (text, is_error) = match &ended {
                Some(Outcome::ApprovalNeeded { .. }) => (NOT_RUN, true),
                Some(outcome) if is_own_end(outcome) => (ENDED, false),
                Some(_) | None => (CUT_OFF, true),
            };
            for call in open.calls.iter().skip(open.results.len()) {
                open.results.push(ToolResult { is_error, ..ToolResult::of_text(&call.id, text) });
            }
            self.push(open, "");
        }
        if self.restored.usage.turns == 0 {
            (self.task, self.restored.history) = (task.to_owned(), History::new(task.to_owned()));
            return;
        }
        let how = match &ended {
            None => "The process that ran you was killed.".to_owned(),
            Some(Outcome::ApprovalNeeded { proposed }) => {
                format!("`{}` was not run, because it needed approval.", proposed.line)
            }
            Some(outcome) if is_own_end(outcome) => "You ended your run; the work continues.".to_owned(),
            Some(Outcome::Failed { reason, .. }) => {
                format!("The previous run ended: {reason}. The work continues now.")
            }
            Some(_) => "The work continues.".to_owned(),
        };
        let same = if task == self.task { "The task is the same." } else { "The task as it is now:" };
        let mut text = format!(
            "[Hob] {how} Your shell is a new one, and files may differ from what is above: look before you rely on \
             them. {same}"
        );
        if task != self.task {
            text.push_str(&format!("\n\n{task}"));
            task.clone_into(&mut self.task);
        }
        self.restored.history.tell(&text);
        if ended.as_ref().is_some_and(is_own_end) {
            self.restored.turns_before = self.restored.usage.turns;
            self.restored.usage.restore(0, 0, 0, FailedCommands::default());
        }
    }

    fn push(&mut self, open: Open, note: &str) {
        let Open { turn, text, verbatim, calls, results } = open;
        let Restored { history, usage, standing, .. } = &mut self.restored;
        let mut trace = Trace::default();
        for (call, result) in calls.iter().zip(&results) {
            let action = self.toolset.parse(call).ok();
            let line = action.as_ref().map_or_else(|| call.name.clone(), Action::line);
            trace.note(turn, &call.name, &line, result);
            let Some(action) = action.filter(|_| !result.is_error) else { continue };
            trace.files.extend(action.changes());
            if let Action::Plan(plan) = action {
                standing.plan = Some(plan);
            }
        }
        standing.files.extend(trace.files.iter().cloned());
        let reply = ModelReply { text, calls: calls.clone(), verbatim, stop: Stop::Finished, usage: Usage::default() };
        let said = self.dialect.said(&reply);
        let answer = if calls.is_empty() {
            trace.words(turn, note);
            Message::user(note)
        } else {
            self.dialect.answer(&calls, results, note)
        };
        history.push(turn, said, answer, trace);
        usage.turns = turn;
    }
}

/// Whether the agent itself ended the run.
pub(super) fn is_own_end(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done { .. }
        | Outcome::NothingToDo { .. }
        | Outcome::Question { .. }
        | Outcome::ApprovalNeeded { .. }
        | Outcome::HandOff(_) => true,
        Outcome::Failed { .. } => false,
    }
}
