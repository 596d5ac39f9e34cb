//! The turns of one run.

use tokio::time::Instant;

use crate::{
    agent::{
        RunContext,
        native::{
            limits::{Actions, Limits, Tally, out_of_time},
            tools::{Action, Answer, Effect, ToolError, Toolbox},
        },
        report::{cancelled, clip, first_line, needs_human, transient},
    },
    config::PriceSettings,
    domain::{Outcome, Spend},
    model::{Message, ModelClient, ModelReply, ModelRequest, Stop, Tool, ToolCall, ToolResult},
    session::{Event, Recorder},
};

/// The system role: the same bytes in every request, so that a service's cache hits.
const PROMPT: &str = include_str!("prompt.md");
/// Calls of one reply that are run; the others are answered with an error.
const CALLS_MAX: usize = 16;
/// Bytes of a tool's error; a command's output may be in it.
const REASON_MAX: usize = 300;
/// What a model is told, once, when it says something and calls nothing.
const REMINDER: &str = "Your reply called no tool. Go on with a tool; or end with `done`, or with `ask`.";
/// What a model is told when its reply was cut.
const TOO_LONG: &str = "Your reply was cut at the limit of tokens. Go on in smaller steps.";

/// One run under way.
pub(super) struct Run<'a> {
    pub(super) model: &'a dyn ModelClient,
    pub(super) tools: Vec<Tool>,
    pub(super) toolbox: Toolbox,
    pub(super) price: PriceSettings,
    pub(super) limits: Limits,
    pub(super) tally: Tally,
    pub(super) messages: Vec<Message>,
    pub(super) transcript: Transcript,
    pub(super) context: &'a RunContext,
    /// Whether the model was reminded to end with a tool.
    pub(super) reminded: bool,
    /// Whether a tool that can change files ran well.
    pub(super) changed: bool,
}

impl Run<'_> {
    /// Takes turns until the outcome is known.
    pub(super) async fn drive(&mut self) -> Outcome {
        loop {
            if let Err(outcome) = self.turn().await {
                return outcome;
            }
        }
    }

    /// One turn. The error is the end of the run.
    async fn turn(&mut self) -> Result<(), Outcome> {
        self.tally.begin_turn(&self.limits, Instant::now())?;
        let turn = self.tally.turns;
        self.transcript.add(Event::Asked { turn, messages: self.messages.len() });
        let reply = self.ask().await?;
        self.tally.spend = self.tally.spend
            + Spend {
                usd_micros: reply.usage.cost(&self.price),
                input_tokens: reply.usage.input,
                output_tokens: reply.usage.output,
                wall_seconds: 0,
            };
        self.transcript.add(Event::Replied {
            turn,
            text: reply.text.clone(),
            input_tokens: reply.usage.input,
            cached_tokens: reply.usage.cached_input,
            output_tokens: reply.usage.output,
        });
        let ModelReply { text, calls, stop, usage: _ } = reply;
        if stop == Stop::Refused {
            return Err(needs_human(format!("the model refused: {}", first_line(&text, REASON_MAX))));
        }
        self.messages.push(Message::Assistant { text: text.clone(), calls: calls.clone() });
        if calls.is_empty() { self.words(&text, stop) } else { self.act(&calls).await }
    }

    async fn ask(&self) -> Result<ModelReply, Outcome> {
        self.say("asking the model");
        let request = ModelRequest { system: PROMPT, messages: &self.messages, tools: &self.tools };
        let reply = tokio::select! {
            reply = self.model.complete(&request) => reply,
            () = tokio::time::sleep_until(self.limits.deadline) => return Err(out_of_time(self.tally.turns)),
            () = self.context.cancel.cancelled() => return Err(cancelled()),
        };
        reply.map_err(|error| Outcome::Failed { reason: error.to_string(), failure: error.failure() })
    }

    /// A reply without a call: the model is reminded once; then its words are the end.
    fn words(&mut self, text: &str, stop: Stop) -> Result<(), Outcome> {
        if stop == Stop::Length {
            let mut actions = Actions::default();
            actions.wrong("the model's reply was cut at the limit of tokens".to_owned());
            self.tally.count_actions(&self.limits, &actions)?;
            self.messages.push(Message::User { text: TOO_LONG.to_owned() });
            return Ok(());
        }
        if !self.reminded {
            self.reminded = true;
            self.messages.push(Message::User { text: REMINDER.to_owned() });
            return Ok(());
        }
        let words = clip(text.trim(), self.toolbox.output_cap);
        Err(match (words.as_str(), self.changed) {
            ("", _) => transient("the model said nothing and called no tool, twice"),
            (_, true) => Outcome::Done { summary: words },
            (_, false) => Outcome::Question { question: words },
        })
    }

    async fn act(&mut self, calls: &[ToolCall]) -> Result<(), Outcome> {
        let mut results = Vec::with_capacity(calls.len());
        let mut actions = Actions::default();
        for (index, call) in calls.iter().enumerate() {
            if self.context.cancel.is_cancelled() {
                return Err(cancelled());
            }
            if Instant::now() >= self.limits.deadline {
                return Err(out_of_time(self.tally.turns));
            }
            let result = if index < CALLS_MAX {
                self.call(call, &mut actions).await?
            } else {
                let text = format!("not run: one reply may call {CALLS_MAX} tools");
                ToolResult { id: call.id.clone(), text, is_error: true }
            };
            results.push(result);
        }
        self.messages.push(Message::Results { results });
        self.tally.count_actions(&self.limits, &actions)
    }

    /// Runs one call. The error is the end of the run.
    async fn call(&mut self, call: &ToolCall, actions: &mut Actions) -> Result<ToolResult, Outcome> {
        self.transcript.add(Event::Action {
            id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        self.tally.count_call(&self.limits, &call.name, &call.arguments)?;
        let (text, is_error) = match self.run(call, actions).await {
            Ok(Answer::Text(text)) => (text, false),
            Ok(Answer::End(outcome)) => return Err(outcome),
            Err(_) if self.context.cancel.is_cancelled() => return Err(cancelled()),
            Err(error) => (error.to_string(), true),
        };
        let text = clip(&text, self.toolbox.output_cap.saturating_mul(2));
        if is_error {
            actions.wrong(first_line(&text, REASON_MAX))
        } else {
            actions.well()
        }
        self.transcript.add(Event::Result { id: call.id.clone(), is_error, text: text.clone() });
        Ok(ToolResult { id: call.id.clone(), text, is_error })
    }

    async fn run(&mut self, call: &ToolCall, actions: &Actions) -> Result<Answer, ToolError> {
        let action = Action::parse(call)?;
        if matches!(action, Action::Done(_)) && actions.has_failed() {
            return Err(ToolError::Refused(
                "not ended: an earlier call of the same reply failed, see to it first".into(),
            ));
        }
        self.say(&action.line());
        let effect = action.effect();
        let answer = self.toolbox.run(action).await?;
        self.changed |= effect == Effect::MayChange;
        Ok(answer)
    }

    fn say(&self, what: &str) {
        self.context.say(format!("turn {}/{}: {what}", self.tally.turns, self.limits.turns));
    }
}

/// The run's transcript, where one is kept.
pub(super) struct Transcript(Option<Recorder>);

impl Transcript {
    /// No transcript.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// The transcript that `recorder` writes.
    pub(super) fn to(recorder: Recorder) -> Self {
        Self(Some(recorder))
    }

    /// Adds an event. When that fails, the transcript ends here and the run goes on.
    pub(super) fn add(&mut self, event: Event) {
        if let Some(Err(error)) = self.0.as_mut().map(|recorder| recorder.record(event)) {
            tracing::warn!(error = %error, "the transcript ends early: {error}");
            self.0 = None;
        }
    }
}
