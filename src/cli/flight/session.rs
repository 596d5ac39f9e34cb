//! A session of the issue on this machine: its turns, the calls of tools with arguments and results, and how its runs ended.

use std::collections::{BTreeMap, HashMap};

use hob_agent::session::{Line, SessionEvent, SessionRecord, Transcript};
use hob_domain::{Outcome, RunId, Spend, dollars};
use hob_text::count;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{
    flight::{
        cost::Cost,
        told::{Cleaner, HEADING_MAX, Told},
    },
    sessions::{outcome, when},
};

/// Bytes of a model's words that are shown without unfolding.
const OPEN_MAX: usize = 600;

/// A session.
#[derive(Debug, Serialize)]
pub(super) struct Session {
    id: Told,
    agent: Told,
    state: String,
    about: Told,
    steps: Vec<Step>,
    /// Steps before these that are not in the file, because it would be too large.
    left_out: usize,
    /// What of its transcript cannot be read, or why all of it.
    damaged: Option<Told>,
}

/// Something that happened.
#[derive(Debug, Serialize)]
struct Step {
    /// The word of its class.
    kind: &'static str,
    at: String,
    title: Told,
    blocks: Vec<Block>,
    open: bool,
}

/// A text below a step.
#[derive(Debug, Serialize)]
struct Block {
    name: Told,
    /// The word of its class: that of a text that is added or removed, of a diff, or empty.
    kind: &'static str,
    text: Told,
}

impl Session {
    /// What its transcript says.
    pub(super) fn new(cleaner: &Cleaner, record: &SessionRecord, transcript: Option<&Transcript>, why: &str) -> Self {
        let ran: Vec<&str> = record.runs.iter().map(RunId::as_str).collect();
        let about = [
            format!("from {} to {}", when(record.started_ms), when(record.updated_ms)),
            count(ran.len(), "run"),
            count(record.metrics.turns, "turn"),
            format!("{} ({} failed)", count(record.metrics.actions, "call"), record.metrics.errors),
            record.bill().to_string(),
        ];
        let damaged = match transcript {
            None => Some(why.to_owned()),
            Some(Transcript { damaged: 0, .. }) => None,
            Some(Transcript { damaged, .. }) => Some(format!("its last {} cannot be read", count(*damaged, "byte"))),
        };
        Self {
            id: cleaner.line(record.id.as_str()),
            agent: cleaner.line(&record.agent),
            state: record.state.to_string(),
            about: cleaner.line(&about.join(" · ")),
            steps: Steps::of(cleaner, record, transcript),
            left_out: 0,
            damaged: damaged.map(|why| cleaner.line(&why)),
        }
    }

    /// Keeps its last steps, as far as they have room; returns the room that is left.
    pub(super) fn keep(&mut self, room: usize) -> usize {
        let mut left = room;
        let kept = self.steps.iter().rev().map_while(|step| {
            left = left.checked_sub(step.len())?;
            Some(())
        });
        let over = self.steps.len() - kept.count();
        drop(self.steps.drain(..over));
        self.left_out += over;
        if over > 0 { 0 } else { left }
    }
}

impl Step {
    fn len(&self) -> usize {
        /// Bytes of the elements around the texts.
        const AROUND: usize = 200;
        let blocks: usize = self.blocks.iter().map(|block| AROUND + block.name.len() + block.text.len()).sum();
        AROUND + self.title.len() + blocks
    }
}

/// The steps so far, and where the calls among them are.
struct Steps<'a> {
    cleaner: &'a Cleaner,
    steps: Vec<Step>,
    calls: HashMap<&'a str, usize>,
    asked_ms: Option<u64>,
}

impl<'a> Steps<'a> {
    /// The steps of a transcript, and last the checks that failed on the work.
    fn of(cleaner: &'a Cleaner, record: &SessionRecord, transcript: Option<&'a Transcript>) -> Vec<Step> {
        let mut steps = Self { cleaner, steps: Vec::new(), calls: HashMap::new(), asked_ms: None };
        transcript.iter().flat_map(|transcript| &transcript.lines).for_each(|line| steps.see(line));
        for check in &record.failed_checks {
            let title = cleaner.heading(&format!("the check `{}` failed on this work", check.command));
            let blocks = vec![steps.block("its last lines", "bad", &check.lines)];
            steps.steps.push(Step { kind: "check failed", at: time(record.updated_ms), title, blocks, open: false });
        }
        steps.steps
    }

    fn see(&mut self, line: &'a Line) {
        match &line.event {
            SessionEvent::Started { run, brief, .. } => {
                self.add(line, "began", &format!("run {run} began"), "brief", brief);
            }
            SessionEvent::Progress { text } => self.add(line, "said", text, "", text),
            SessionEvent::Noted { text } => self.add(line, "noted", text, "", text),
            SessionEvent::Told { text } => self.add(line, "told", "told the model", "text", text),
            SessionEvent::Asked { .. } => self.asked_ms = Some(line.at_ms),
            SessionEvent::Replied {
                turn, model, text, input_tokens, cached_tokens, output_tokens, usd_micros, ..
            } => {
                let took = self.asked_ms.take().map(|asked| line.at_ms.saturating_sub(asked));
                let took = took.map(|ms| format!(" · {}.{} s", ms / 1_000, ms % 1_000 / 100)).unwrap_or_default();
                let tokens = format!("{input_tokens} tokens in ({cached_tokens} cached), {output_tokens} out");
                let title = format!("turn {turn} · {model} · {tokens} · {}{took}", dollars(*usd_micros));
                self.add(line, "turn", &title, "", text);
                if let Some(step) = self.steps.last_mut() {
                    step.open = text.len() <= OPEN_MAX;
                }
            }
            SessionEvent::Action { id, tool, arguments } => self.call(line, id, tool, arguments),
            SessionEvent::Result { id, is_error, text } => self.result(line, id, *is_error, text),
            SessionEvent::Turned { note, .. } if !note.trim().is_empty() => {
                self.add(line, "told", "told the model after its turn", "text", note);
            }
            SessionEvent::Turned { .. } | SessionEvent::Spending { .. } => {}
            SessionEvent::Ended { outcome: ended, spend } => {
                let text = outcome(ended);
                self.add(line, class_of(ended), &format!("run ended: {text} ({spend})"), "outcome", &text);
            }
        }
    }

    /// Adds a step; a text that the title says already is left out.
    fn add(&mut self, line: &Line, kind: &'static str, title: &str, name: &str, text: &str) {
        let text = text.trim();
        let is_said = text.is_empty() || title.contains(text) && !text.contains('\n') && title.len() <= HEADING_MAX;
        let blocks = if is_said { Vec::new() } else { vec![self.block(name, "", text)] };
        let title = self.cleaner.heading(title);
        self.steps.push(Step { kind, at: time(line.at_ms), title, blocks, open: false });
    }

    fn call(&mut self, line: &Line, id: &'a str, tool: &str, arguments: &str) {
        let mut parsed: Option<Value> = serde_json::from_str(arguments).ok();
        let main = ["command", "path", "pattern", "query", "url"].into_iter();
        let main = main.filter_map(|name| Some((name, parsed.as_ref()?.get(name)?.as_str()?.to_owned()))).next();
        let mut title = tool.to_owned();
        if let Some((name, text)) = main {
            title = format!("{tool} {text}");
            // What the heading says in full is not said again.
            if title.len() <= HEADING_MAX
                && !text.contains('\n')
                && let Some(Value::Object(fields)) = &mut parsed
            {
                fields.remove(name);
            }
        }
        let mut blocks = Vec::new();
        match &parsed {
            Some(Value::Object(fields)) => self.arguments(&mut blocks, "", fields),
            Some(_) | None if arguments.trim().is_empty() => {}
            Some(_) | None => blocks.push(self.block("arguments", "", arguments)),
        }
        self.calls.insert(id, self.steps.len());
        let title = self.cleaner.heading(&title);
        self.steps.push(Step { kind: "call", at: time(line.at_ms), title, blocks, open: false });
    }

    /// A call's arguments, each as a text; the old and the new text of an edit as what is removed and added.
    fn arguments(&self, blocks: &mut Vec<Block>, prefix: &str, fields: &serde_json::Map<String, Value>) {
        let mut fields: Vec<_> = fields.iter().collect();
        // What was there comes before what is there now, and further pieces come last.
        fields.sort_by_key(|(name, value)| (value.is_array(), matches!(name.as_str(), "new" | "text")));
        for (name, value) in fields {
            let (full, kind) = match name.as_str() {
                "old" => (format!("{prefix}{name}"), "removed"),
                "new" | "text" => (format!("{prefix}{name}"), "added"),
                _ => (format!("{prefix}{name}"), ""),
            };
            match value {
                Value::String(text) => blocks.push(self.block(&full, kind, text)),
                Value::Array(items) if prefix.is_empty() && items.iter().all(Value::is_object) => {
                    for (at, item) in items.iter().filter_map(Value::as_object).enumerate() {
                        self.arguments(blocks, &format!("{name} {}: ", at + 1), item);
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    blocks.push(self.block(&full, "", &value.to_string()));
                }
            }
        }
    }

    fn result(&mut self, line: &Line, id: &str, is_error: bool, text: &str) {
        let block = self.block(if is_error { "failed" } else { "result" }, if is_error { "bad" } else { "" }, text);
        match self.calls.get(id).and_then(|at| self.steps.get_mut(*at)) {
            Some(call) => {
                call.blocks.push(block);
                call.kind = if is_error { "call failed" } else { "call" };
            }
            None => self.add(line, "noted", "a result without its call", "result", text),
        }
    }

    fn block(&self, name: &str, kind: &'static str, text: &str) -> Block {
        let text = self.cleaner.text(text);
        let kind = if kind.is_empty() && text.has_diff() { "diff" } else { kind };
        Block { name: self.cleaner.line(name), kind, text }
    }
}

/// The class of how a run ended.
fn class_of(ended: &Outcome) -> &'static str {
    match ended {
        Outcome::Done { .. } | Outcome::NothingToDo { .. } | Outcome::HandOff(_) => "ended passed",
        Outcome::Question { .. } | Outcome::ApprovalNeeded { .. } => "ended waits",
        Outcome::Failed { .. } => "ended failed",
    }
}

/// The time of day, by this machine's clock.
fn time(at_ms: u64) -> String {
    when(at_ms).get(11..19).unwrap_or_default().to_owned()
}

/// What each model cost in these sessions, and how many turns it had.
pub(super) fn models<'a>(cleaner: &Cleaner, lines: impl Iterator<Item = &'a Line>) -> Vec<Cost> {
    let mut models: BTreeMap<&str, (Spend, u32)> = BTreeMap::new();
    for line in lines {
        if let SessionEvent::Replied { model, input_tokens, output_tokens, usd_micros, .. } = &line.event {
            let (usd_micros, input_tokens, output_tokens) = (*usd_micros, *input_tokens, *output_tokens);
            let (spend, turns) = models.entry(model).or_default();
            *spend = *spend + Spend { usd_micros, input_tokens, output_tokens, ..Spend::default() };
            *turns += 1;
        }
    }
    let cost = |(model, (spend, turns)): (&str, (Spend, u32))| {
        Cost::new(cleaner.line(model), cleaner.line(&count(turns, "turn")), spend)
    };
    models.into_iter().map(cost).collect()
}
