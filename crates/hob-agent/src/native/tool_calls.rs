//! The calls of one reply: those that only look run at the same time, all others one after the other.

use std::collections::VecDeque;

use futures_util::future::join_all;
use hob_domain::Outcome;
use tokio::time::Instant;

use crate::{
    RunContext,
    model::{ToolCall, ToolResult},
    native::{
        guard::{Decision, Guard},
        history::{REASON_MAX, Trace},
        limits::{Limits, out_of_time},
        standing::Standing,
        tools::{Action, Answer, Effect, ToolError, Toolbox, Toolset, run_action},
        usage::{Actions, RunUsage},
    },
    report::{cancelled, clip, first_line},
    session::SessionEvent,
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
    /// How many succeeded and failed.
    pub(super) actions: Actions,
    /// What is kept of them when old turns are folded.
    pub(super) trace: Trace,
}

/// Runs the calls of one reply: with what, and what it counts and changes of the run meanwhile.
pub(super) struct CallRunner<'a> {
    pub(super) executor: &'a ToolExecutor<'a>,
    pub(super) limits: &'a Limits,
    pub(super) context: &'a RunContext,
    pub(super) usage: &'a mut RunUsage,
    pub(super) progress: &'a mut Standing,
}

/// A call with its arguments parsed.
struct Planned<'a> {
    call: &'a ToolCall,
    action: Result<Action, ToolError>,
    line: String,
}

impl ToolExecutor<'_> {
    /// Runs one action, if it may.
    async fn run(&self, tool: &str, action: Action) -> Result<Answer, ToolError> {
        tokio::select! {
            decision = self.guard.check(tool, &action) => match decision? {
                Decision::Allow => {}
                Decision::AskOnIssue(proposed) => return Ok(Answer::End(Outcome::ApprovalNeeded { proposed })),
            },
            () = tokio::time::sleep_until(self.toolbox.deadline) => {
                return Err(ToolError::Refused("nobody approved it in the time of the run".into()));
            }
            () = self.toolbox.cancel.cancelled() => return Err(ToolError::Refused("the run was cancelled".into())),
        }
        run_action(&self.toolbox, action).await
    }

    fn plan<'c>(&self, call: &'c ToolCall) -> Planned<'c> {
        let action = self.toolset.parse(call);
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
            let looks = planned.iter().take_while(|planned| effect(planned) == Some(Effect::Looks)).count();
            let batch: Vec<_> = planned.drain(..looks.max(1)).collect();
            self.batch(batch, &mut done).await?;
        }
        for call in left {
            let text = format!("not run: one reply may call {CALLS_MAX} tools");
            done.results.push(ToolResult { id: call.id.clone(), text, is_error: true });
        }
        Ok(done)
    }

    /// Calls that run at the same time, or one that runs alone.
    async fn batch(&mut self, batch: Vec<Planned<'_>>, done: &mut CallResults) -> Result<(), Outcome> {
        let mut runs = Vec::with_capacity(batch.len());
        let mut told = Vec::with_capacity(batch.len());
        for Planned { call, action, line } in batch {
            self.context.session.add(SessionEvent::Action {
                id: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
            });
            self.usage.count_call(self.limits, &call.name, &call.arguments)?;
            let action = action.and_then(|action| match action {
                Action::Done(_) if done.actions.has_failed() => Err(ToolError::Refused(
                    "not ended: an earlier call of the same reply failed, see to it first".into(),
                )),
                action => Ok(action),
            });
            if let Ok(action) = &action {
                self.say(&format!("{line} [{}]", Guard::impact(action)));
                if let Action::Plan(plan) = action {
                    self.progress.plan = Some(plan.clone());
                    if let Some(checklist) = plan.checklist() {
                        self.context.checklist(checklist);
                    }
                }
            }
            let effect = action.as_ref().ok().map(Action::effect);
            let changes = action.as_ref().map(Action::changes).unwrap_or_default();
            told.push((call, line, effect, changes));
            let executor = self.executor;
            runs.push(async move {
                match action {
                    Ok(action) => executor.run(&call.name, action).await,
                    Err(error) => Err(error),
                }
            });
        }
        let answers = join_all(runs).await;
        for ((call, line, effect, changes), answer) in told.into_iter().zip(answers) {
            let answer = match answer {
                Ok(Answer::End(outcome)) => return Err(outcome),
                Ok(Answer::Text(text)) => Ok(text),
                Err(error) => Err(error.to_string()),
            };
            if self.context.cancel.is_cancelled() {
                return Err(cancelled());
            }
            if answer.is_ok() {
                self.progress.changed |= effect == Some(Effect::MayChange);
                self.progress.files.extend(changes.iter().cloned());
                done.trace.files.extend(changes);
            }
            self.note(call, &line, answer, done);
        }
        Ok(())
    }

    /// Records the answer of one call.
    fn note(&mut self, call: &ToolCall, said: &str, answer: Result<String, String>, done: &mut CallResults) {
        let cap = self.executor.toolbox.output_cap;
        let is_error = answer.is_err();
        let text = match answer {
            Ok(text) => {
                done.actions.well();
                text
            }
            Err(error) => {
                let text = clip(&error, cap);
                done.actions.wrong(first_line(&text, REASON_MAX));
                text
            }
        };
        let result = ToolResult { id: call.id.clone(), text, is_error };
        done.trace.note(self.usage.turns, (&call.name, said), &result);
        // Of what was read nothing is shown: whoever watches may be a public log.
        if is_error || call.name == "shell" || self.executor.toolset.is_program(&call.name) {
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

fn effect(planned: &Planned<'_>) -> Option<Effect> {
    planned.action.as_ref().ok().map(Action::effect)
}
