//! The turns of one run.

use hob_domain::{Outcome, Strain};
use hob_text::count;
use tokio::time::Instant;

use crate::{
    RunContext,
    model::{Answer, Conversation, Message, ModelError, ModelReply, ModelRequest, Rest, Stop, ToolCall},
    native::{
        history::{History, REASON_MAX, Trace},
        last_look::LastLook,
        limits::{Limits, out_of_time},
        speech::{Dialect, Understood},
        standing::Standing,
        tool_calls::{CallRunner, ToolExecutor},
        tools::Plan,
        usage::{Actions, RunUsage},
        window::Window,
    },
    report::{cancelled, clip, first_line, needs_human, unfinished},
    session::SessionEvent,
};

/// Requests of one turn that are sent again with less.
const RETRIES: usize = 3;
/// The message to a model whose reply was cut off.
const TOO_LONG: &str = "Your reply was cut at the limit of tokens. Continue in smaller steps.";

/// The message to a model that wrote a call that is none.
const UNTAKEN: &str = " What looks like a call in its words did not run: written so, a call has to be whole and the end of the reply, \
                       in no fence and with no words behind it.";

/// Why a request has no answer.
enum Unanswered {
    /// The model failed.
    Failed(ModelError),
    /// The run is over.
    Ended(Outcome),
}

/// One run under way.
pub(super) struct Run<'a> {
    pub(super) model: Conversation<'a>,
    pub(super) dialect: Dialect,
    pub(super) executor: ToolExecutor<'a>,
    pub(super) limits: Limits,
    pub(super) usage: RunUsage,
    pub(super) history: History,
    pub(super) window: Window,
    pub(super) context: &'a RunContext,
    pub(super) progress: Standing,
    pub(super) last_look: LastLook,
    pub(super) strain: Strain,
    pub(super) rest: Rest,
}

impl Run<'_> {
    /// Takes turns until the outcome is known.
    pub(super) async fn drive(&mut self) -> Outcome {
        loop {
            if let Err(outcome) = self.turn().await {
                self.context.show(format!(
                    "ended after {}, {}, {}",
                    count(self.usage.turns, "turn"),
                    count(self.usage.total_errors, "error"),
                    self.usage.spend
                ));
                return self.with_standing(outcome);
            }
        }
    }

    /// Adds the state of the work to a failure: the next run resumes there.
    fn with_standing(&self, outcome: Outcome) -> Outcome {
        let Outcome::Failed { mut reason, failure } = outcome else { return outcome };
        if let Some(plan) = &self.progress.plan {
            reason.push_str(&format!(". Its plan stood at {}", plan.line()));
        }
        let mut files = self.progress.files.clone();
        files.sort();
        files.dedup();
        if !files.is_empty() {
            reason.push_str(&format!(". It had changed {}", clip(&files.join(", "), 500)));
        }
        Outcome::Failed { reason, failure }
    }

    /// One turn. The error is the end of the run.
    async fn turn(&mut self) -> Result<(), Outcome> {
        self.usage.begin_turn(&self.limits, Instant::now())?;
        if let Some(case) = &self.executor.toolbox.case {
            case.iterated().await;
        }
        self.listen();
        let plan = self.progress.plan.as_ref().map(Plan::to_string);
        self.window.fit(&mut self.history, plan.as_deref());
        let turn = self.usage.turns;
        let Answer { reply, model, usd_micros, instead } = self.ask(plan.as_deref()).await?;
        let reply = self.dialect.taken(reply, turn);
        self.context.steering.replied();
        if let Some(why) = instead {
            let text = format!("`{model}` answers now: {}", first_line(&why, REASON_MAX));
            self.context.show_fallback(self.usage.progress(&self.limits, &text));
            self.context.session.add(SessionEvent::Noted { text });
        }
        self.window.counted(self.history.bytes(), reply.usage.input);
        // The service has just answered: what is down is not asked for more.
        if self.window.wants_list(&self.history)
            && let Some(tokens) = self.model.listed_window().await
        {
            self.window.listed(tokens);
        }
        self.context.spent(self.usage.spend);
        self.context.session.add(SessionEvent::Replied {
            turn,
            model,
            text: reply.text.clone(),
            input_tokens: reply.usage.input,
            cached_tokens: reply.usage.cached_input,
            output_tokens: reply.usage.output,
            usd_micros,
            verbatim: reply.verbatim.clone(),
        });
        if reply.stop == Stop::Refused {
            return Err(needs_human(format!("the model refused: {}", first_line(&reply.text, REASON_MAX))));
        }
        match self.dialect.understand(&reply, turn, self.executor.toolset) {
            Understood::Calls(calls) => self.act(&reply, &calls).await,
            Understood::Words => self.words(&reply),
            Understood::Unreadable(reason) => {
                let mut actions = Actions::default();
                actions.wrong(reason.clone());
                self.usage.count_actions(&self.limits, &actions)?;
                self.answer_words(&reply, &format!("Error: {reason}"));
                Ok(())
            }
        }
    }

    /// Tells the model what people said since its last turn.
    fn listen(&mut self) {
        for text in self.context.steering.take() {
            self.say("hears what a person said");
            self.history.hear(&text);
            self.context.session.add(SessionEvent::Told { text });
        }
    }

    /// Asks the model; retries with less if the request was too long for it, or if it rejects its own reasoning.
    async fn ask(&mut self, plan: Option<&str>) -> Result<Answer, Outcome> {
        self.say("asking the model");
        for _ in 0..RETRIES {
            let error = match self.request().await {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Failed(error)) => error,
                Err(Unanswered::Ended(outcome)) => return Err(outcome),
            };
            let is_less = if error.is_too_long() {
                self.window.exceeded(&mut self.history, error.window(), plan)
            } else {
                error.refuses_reasoning() && self.forget_reasoning(&error)
                    || error.refuses_pictures() && self.history.forget_pictures()
            };
            if !is_less {
                return Err(failed(&error));
            }
        }
        self.request().await.map_err(|unanswered| match unanswered {
            Unanswered::Failed(error) => failed(&error),
            Unanswered::Ended(outcome) => outcome,
        })
    }

    /// Continues without the reasoning of earlier turns.
    fn forget_reasoning(&mut self, error: &ModelError) -> bool {
        let forgot = self.history.forget_reasoning();
        if forgot {
            let why = first_line(&error.to_string(), REASON_MAX);
            let text = format!("the model goes on without its earlier reasoning: {why}");
            self.context.show(self.usage.progress(&self.limits, &text));
            self.context.session.add(SessionEvent::Noted { text });
        }
        forgot
    }

    async fn request(&mut self) -> Result<Answer, Unanswered> {
        let (turn, messages) = (self.usage.turns, self.history.messages());
        self.context.session.add(SessionEvent::Asked { turn, messages: messages.len() });
        let (system, tools) = (self.dialect.system(), self.dialect.tools());
        let (strain, rest) = (self.strain(), self.rest);
        let request = ModelRequest { system, messages, tools, turn, funds: None, strain, rest };
        let answer = tokio::select! {
            answer = self.model.ask(&request) => answer.map_err(Unanswered::Failed),
            () = tokio::time::sleep_until(self.limits.deadline) => {
                Err(Unanswered::Ended(out_of_time(turn, &self.limits)))
            }
            () = self.context.cancel.cancelled() => Err(Unanswered::Ended(cancelled())),
        };
        // A request without a reply may cost, too.
        self.usage.spend = self.usage.spend + self.model.spent();
        answer
    }

    /// How hard the work is. It only rises in a run: with another effort a service reads the whole conversation anew.
    fn strain(&self) -> Strain {
        if self.progress.seen.has_failed { Strain::Hard } else { self.strain }
    }

    /// Handles a reply without a call, which is never the end: the model is asked for a tool. If it repeatedly gives
    /// none, the run fails with its last words.
    fn words(&mut self, reply: &ModelReply) -> Result<(), Outcome> {
        let (end, other) = self.executor.toolset.ends();
        let (why, answer) = if reply.stop == Stop::Length {
            ("the model's reply was cut at the limit of tokens", TOO_LONG.to_owned())
        } else {
            let why = if self.dialect.looks_called(&reply.text) { UNTAKEN } else { "" };
            let answer = format!(
                "Your reply called no tool.{why} Continue with a tool; or end with `{end}`, or with `{other}`."
            );
            ("the model's reply called no tool", answer)
        };
        let mut actions = Actions::default();
        actions.wrong(why.to_owned());
        self.usage.count_actions(&self.limits, &actions).map_err(|ended| match (ended, reply.text.trim()) {
            (ended, _) if reply.stop == Stop::Length => ended,
            (_, "") => unfinished("the model's replies have neither words nor a call"),
            // What a person should answer is asked by the tool.
            (Outcome::Failed { reason, failure }, words) => {
                let reason = format!("{reason}; its last words were: {}", first_line(words, REASON_MAX));
                Outcome::Failed { reason, failure }
            }
            (ended, _) => ended,
        })?;
        self.answer_words(reply, &answer);
        Ok(())
    }

    /// Answers a reply without a readable call.
    fn answer_words(&mut self, reply: &ModelReply, text: &str) {
        let note = self.usage.status(&self.limits, Instant::now());
        let turn = self.usage.turns;
        let mut trace = Trace::default();
        trace.words(turn, text);
        // Unanswered calls must not be in the conversation.
        let verbatim = reply.verbatim.clone().filter(|_| reply.calls.is_empty());
        let said = ModelReply { calls: Vec::new(), text: reply.text.clone(), verbatim, ..*reply };
        let answer = format!("{text}\n\n{note}");
        self.turned(answer.clone());
        self.history.push(turn, self.dialect.said(&said), Message::user(answer), trace);
    }

    /// Records that the turn is complete, with the note that the model gets after it.
    fn turned(&self, note: String) {
        let RunUsage { turns: turn, written, total_errors: errors, consecutive_errors: errors_in_row, .. } = self.usage;
        let failed_commands = self.usage.failed_commands;
        self.context.session.add(SessionEvent::Turned { turn, note, written, errors, errors_in_row, failed_commands });
    }

    async fn act(&mut self, reply: &ModelReply, calls: &[ToolCall]) -> Result<(), Outcome> {
        if !reply.text.trim().is_empty() && !reply.calls.is_empty() {
            self.say(&format!("thinks: {}", first_line(reply.text.trim(), 160)));
        }
        let runner = CallRunner {
            executor: &self.executor,
            limits: &self.limits,
            context: self.context,
            usage: &mut self.usage,
            progress: &mut self.progress,
            thought: reply.text.trim(),
            last_look: &self.last_look,
        };
        let mut done = runner.run(calls).await?;
        if let Some(last) = done.results.last_mut().filter(|last| reply.stop == Stop::Length && last.is_error) {
            last.text = TOO_LONG.to_owned();
        }
        self.usage.written = self.executor.toolbox.written.bytes();
        self.usage.count_actions(&self.limits, &done.actions)?;
        if let Some(case) = &self.executor.toolbox.case {
            case.keep().await;
        }
        let circle = self.usage.count_reply(&self.limits)?;
        let mut note = self.usage.status(&self.limits, Instant::now());
        note.push_str(&self.executor.toolbox.jobs.news().await);
        note.push_str(&done.news);
        note.push_str(&circle.map(|warning| format!("\n{warning}")).unwrap_or_default());
        self.steer();
        if let Some(case) = &self.executor.toolbox.case {
            note.push_str(&format!("\n[case: {}]", case.progress().message));
        }
        let answer = self.dialect.answer(calls, std::mem::take(&mut done.results), &note);
        self.turned(note);
        self.history.push(self.usage.turns, self.dialect.said(reply), answer, done.trace);
        Ok(())
    }

    /// Asks a stronger model, if there is one, after the model was told that it goes round in a circle.
    fn steer(&mut self) {
        if !self.usage.takes_stuck() {
            return;
        }
        let Some(model) = self.model.stronger() else { return };
        let text = format!("`{model}` is asked now: the model before repeated itself");
        self.context.show_fallback(self.usage.progress(&self.limits, &text));
        self.context.session.add(SessionEvent::Noted { text });
    }

    /// Reports progress in this turn.
    fn say(&self, what: &str) {
        self.context.show(self.usage.progress(&self.limits, what));
    }
}

fn failed(error: &ModelError) -> Outcome {
    Outcome::Failed { reason: error.to_string(), failure: error.failure() }
}
