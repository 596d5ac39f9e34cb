//! What an agent tells while it works on a prompt.

use hob_domain::{Checklist, Spend, StepState};

use crate::{
    RunContext,
    acp::messages::{Called, Entry, Update},
    checklist::step_state,
    report::first_line,
    tool_spans::ToolSpans,
};

/// Bytes of its words that are kept: the last ones are its report.
const WORDS_MAX: usize = 64 << 10;
/// Bytes of a currency's name.
const CURRENCY_MAX: usize = 8;
/// Bytes of a line of progress.
const LINE_MAX: usize = 200;

/// What it told so far.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its words since its last tool call.
    pub(super) words: String,
    /// The title of its last tool call.
    call: String,
    /// Its tools, for traces.
    tools: ToolSpans,
    /// What it says that it cost, in millionths of a US dollar.
    usd_micros: u64,
    /// Whether it told a cost in another currency.
    is_foreign: bool,
}

impl Turn {
    /// Takes an update in, and shows what it says. `is_measured`: Hob knows the cost by itself.
    pub(super) fn takes(&mut self, update: Update, context: &RunContext, is_measured: bool) {
        match update {
            Update::AgentMessageChunk { content } => self.says(&content.text.unwrap_or_default()),
            Update::ToolCall(mut called) => {
                self.tools.began(&called.tool_call_id, called.kind.as_deref().unwrap_or("other"));
                self.calls(called.title.take().unwrap_or_default(), context);
                self.ends(&called);
            }
            Update::Called(mut called) => {
                self.ends(&called);
                if let Some(title) = called.title.take().filter(|title| *title != self.call) {
                    self.calls(title, context);
                }
            }
            Update::Plan { entries } => {
                if let Some(checklist) = Checklist::new(entries.into_iter().map(step)) {
                    context.checklist(checklist);
                }
            }
            Update::Usage { cost } => {
                let Some(cost) = cost else { return };
                if !cost.currency.eq_ignore_ascii_case("usd") {
                    let currency = first_line(&cost.currency, CURRENCY_MAX).replace(char::is_control, " ");
                    if !std::mem::replace(&mut self.is_foreign, true) && !is_measured {
                        context.say(format!("its cost in {currency} is not counted"));
                    }
                    return;
                }
                self.usd_micros = self.usd_micros.max(micros(cost.amount));
                if !is_measured {
                    context.spent(self.spend());
                }
            }
            Update::Other => {}
        }
    }

    fn calls(&mut self, title: String, context: &RunContext) {
        self.words.clear();
        context.say(first_line(&title, LINE_MAX).replace(char::is_control, " "));
        self.call = title;
    }

    fn ends(&mut self, called: &Called) {
        if let Some(status @ ("completed" | "failed")) = called.status.as_deref() {
            self.tools.ended(&called.tool_call_id, status == "failed");
        }
    }

    fn says(&mut self, text: &str) {
        self.words.push_str(text);
        if self.words.len() > WORDS_MAX {
            let cut = self.words.len() - WORDS_MAX / 2;
            let at = (cut..self.words.len()).find(|at| self.words.is_char_boundary(*at)).unwrap_or(cut);
            self.words.drain(..at);
        }
    }

    /// What it told that it spent.
    pub(super) fn spend(&self) -> Spend {
        Spend { usd_micros: self.usd_micros, ..Spend::default() }
    }
}

fn step(entry: Entry) -> (String, StepState) {
    (entry.content, step_state(&entry.status).unwrap_or(StepState::Todo))
}

/// Millionths, rounded up; an amount that is not a number counts nothing.
fn micros(dollars: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float's cast to an integer saturates"
    )]
    let micros = (dollars * 1e6).ceil() as u64;
    micros
}
