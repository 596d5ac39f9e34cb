//! The messages to the model: the task and the turns so far. If they exceed the window, old observations are left out
//! first.
//!
//! - Flow: each turn appends two messages, the model's and the tools' answers, so a request begins with the bytes of
//!   the one before. Near the end of the model's window, the answers of the oldest turns are masked, many at once and
//!   so seldom. If that is not enough, the oldest turns are folded: each of their calls becomes a line after the task.
//! - Guarantees: the task stays whole, and so do the last turns. The model's messages, with their reasoning, stay
//!   unchanged until their turn is folded. Nothing is left out while a run fits the window.
//! - The fold keeps of old turns: each call with the first line of its answer, then counts; the changed files, the last
//!   errors, the plan.
//! - Source: masking observations halves the cost at an equal rate of solved tasks, and summaries lengthen runs (arXiv 2508.21433).

use std::collections::{BTreeSet, VecDeque};

use crate::{
    model::{Memoized, Message, Picture, ToolResult},
    report::first_line,
};

/// Bytes of an error that is quoted.
pub(super) const REASON_MAX: usize = 300;

/// Turns that stay whole however large they are.
const TURNS_ALWAYS: usize = 4;
/// Bytes below which an answer is not worth masking.
const SMALL: usize = 400;
/// Bytes of the lines of folded turns; older ones only leave counts.
const LINES_MAX: usize = 8 * 1024;
/// The approximate cost of a picture in a request, in bytes of text: 1,600 tokens, the most of Anthropic's.
const PICTURE: usize = 6_400;
/// Files and errors that the fold names.
const FILES_MAX: usize = 60;
const ERRORS_MAX: usize = 3;

/// The trace that a folded turn leaves.
#[derive(Debug, Default, Clone)]
pub(super) struct Trace {
    /// A line a call.
    pub(super) lines: Vec<String>,
    /// Files that were changed.
    pub(super) files: Vec<String>,
    /// Errors.
    pub(super) errors: Vec<String>,
}

impl Trace {
    /// Adds a call of `turn`: its tool, a line about it, and its answer.
    pub(super) fn note(&mut self, turn: u32, tool: &str, said: &str, result: &ToolResult) {
        let failed = format!("failed: {}", result.text);
        self.lines.push(line(turn, said, if result.is_error { &failed } else { &result.text }));
        if result.is_error {
            self.errors.push(format!("{tool}: {}", first_line(&result.text, REASON_MAX)));
        }
    }

    /// Adds a reply without a call, which was answered so.
    pub(super) fn words(&mut self, turn: u32, answer: &str) {
        self.lines.push(line(turn, "words without a call", answer));
    }
}

#[derive(Debug)]
struct Turn {
    number: u32,
    bytes: usize,
    is_masked: bool,
    trace: Trace,
    /// What people said after it.
    heard: String,
}

/// The conversation of one run.
#[derive(Debug)]
pub(super) struct History {
    task: String,
    images: Vec<Picture>,
    messages: Vec<Memoized<Message>>,
    turns: VecDeque<Turn>,
    folded: Folded,
}

#[derive(Debug, Default)]
struct Folded {
    last: u32,
    lines: VecDeque<String>,
    bytes: usize,
    dropped: u32,
    heard: String,
    files: BTreeSet<String>,
    errors: VecDeque<String>,
}

impl History {
    /// A conversation that begins with `task`.
    pub(super) fn new(task: String) -> Self {
        let first = Message::user(task.clone());
        Self {
            task,
            images: Vec::new(),
            messages: vec![first.into()],
            turns: VecDeque::new(),
            folded: Folded::default(),
        }
    }

    /// Shows pictures with the task, instead of the earlier ones.
    pub(super) fn show(&mut self, images: Vec<Picture>) {
        let Some(Message::User { text, .. }) = self.messages.first().map(|first| Message::clone(first)) else { return };
        self.messages[0] = Message::User { text, images: images.clone() }.into();
        self.images = images;
    }

    /// The messages to the model.
    pub(super) fn messages(&self) -> &[Memoized<Message>] {
        &self.messages
    }

    /// Adds a turn: the model's message, and the answers to it.
    pub(super) fn push(&mut self, number: u32, said: Message, answer: Message, trace: Trace) {
        let bytes = size(&said) + size(&answer);
        self.messages.extend([said.into(), answer.into()]);
        self.turns.push_back(Turn { number, bytes, is_masked: false, trace, heard: String::new() });
    }

    /// Adds what a person said after the last answer. It stays when that answer is left out.
    pub(super) fn hear(&mut self, text: &str) {
        self.tell(text);
        if let Some(turn) = self.turns.back_mut() {
            turn.heard.push_str(&format!("\n\n{text}"));
        }
    }

    /// Adds a text for the model after the last answer, which must exist.
    pub(super) fn tell(&mut self, text: &str) {
        let Some(last) = self.messages.pop() else { return };
        let mut last = Message::clone(&last);
        match &mut last {
            Message::User { text: said, .. } | Message::Assistant { text: said, .. } => {
                said.push_str(&format!("\n\n{text}"))
            }
            Message::Results { results } => {
                if let Some(result) = results.last_mut() {
                    result.text.push_str(&format!("\n\n{text}"));
                }
            }
        }
        if let Some(turn) = self.turns.back_mut() {
            turn.bytes += text.len();
        }
        self.messages.push(last.into());
    }

    /// The approximate size in bytes of the conversation in a request.
    pub(super) fn bytes(&self) -> usize {
        let first = self.messages.first().map_or(0, |first| size(first));
        first + self.turns.iter().map(|turn| turn.bytes).sum::<usize>()
    }

    /// Leaves out old answers until about `most` bytes are left; and old turns, if there are still more than `full`.
    /// `false` if nothing more can be left out. `plan` is the model's current one.
    pub(super) fn shrink(&mut self, most: usize, full: usize, plan: Option<&str>) -> bool {
        let before = self.bytes();
        let mut bytes = before;
        for index in 0..self.turns.len().saturating_sub(TURNS_ALWAYS) {
            if bytes <= most {
                break;
            }
            bytes -= self.mask(index);
        }
        let (mut kept, mut left) = (self.turns.len(), bytes);
        // More than masking would need: each fold invalidates a cache.
        while bytes > full && left > most / 4 * 3 && kept > TURNS_ALWAYS {
            left -= self.turns[self.turns.len() - kept].bytes;
            kept -= 1;
        }
        self.fold(kept, plan) || self.bytes() < before
    }

    /// Leaves out half of the turns, because the service says that the request is too long, regardless of our own
    /// count.
    pub(super) fn halve(&mut self, plan: Option<&str>) -> bool {
        self.fold((self.turns.len() / 2).max(1), plan)
    }

    /// Masks the answers of a turn; returns the number of bytes saved.
    fn mask(&mut self, index: usize) -> usize {
        let at = 2 + 2 * index;
        let (Some(turn), Some(answer)) = (self.turns.get_mut(index), self.messages.get_mut(at)) else { return 0 };
        if std::mem::replace(&mut turn.is_masked, true) {
            return 0;
        }
        let masked = match &**answer {
            Message::User { text, .. } => Message::user(mask(text, &turn.heard)),
            Message::Results { results } => {
                let last = results.len().saturating_sub(1);
                let masked = |(index, result): (usize, &ToolResult)| {
                    let heard = if index == last { turn.heard.as_str() } else { "" };
                    let seen = if result.images.is_empty() { "" } else { "\n[Hob left out its picture]" };
                    let text = format!("{}{seen}", mask(&result.text, heard));
                    ToolResult { text, images: Vec::new(), ..result.clone() }
                };
                Message::Results { results: results.iter().enumerate().map(masked).collect() }
            }
            Message::Assistant { .. } => return 0,
        };
        let saved = size(answer).saturating_sub(size(&masked)).min(turn.bytes);
        turn.bytes -= saved;
        *answer = masked.into();
        saved
    }

    /// Forgets what services wrote for themselves: one of them no longer accepts it.
    pub(super) fn forget_reasoning(&mut self) -> bool {
        let mut forgot = false;
        for (at, message) in self.messages.iter_mut().enumerate() {
            let plain = match &**message {
                Message::Assistant { text, calls, verbatim: Some(_) } => {
                    forgot = true;
                    Message::Assistant { text: text.clone(), calls: calls.clone(), verbatim: None }
                }
                // It is written anew: an answer has the form of its call.
                Message::Results { .. } if forgot => Message::clone(message),
                Message::Results { .. } | Message::Assistant { .. } | Message::User { .. } => continue,
            };
            if let Some(turn) = self.turns.get_mut(at.saturating_sub(1) / 2) {
                turn.bytes = (turn.bytes + size(&plain)).saturating_sub(size(message));
            }
            *message = plain.into();
        }
        forgot
    }

    /// Leaves out the pictures that tools showed: a service does not take one of them.
    pub(super) fn forget_pictures(&mut self) -> bool {
        let mut forgot = false;
        for message in &mut self.messages {
            let Message::Results { results } = &**message else { continue };
            if results.iter().all(|result| result.images.is_empty()) {
                continue;
            }
            let without = |result: &ToolResult| match result.images.is_empty() {
                true => result.clone(),
                false => ToolResult::of_error(&result.id, "the model's service does not take this picture"),
            };
            let plain = Message::Results { results: results.iter().map(without).collect() };
            *message = plain.into();
            forgot = true;
        }
        forgot
    }

    fn fold(&mut self, kept: usize, plan: Option<&str>) -> bool {
        let count = self.turns.len().saturating_sub(kept);
        if count == 0 {
            return false;
        }
        for turn in self.turns.drain(..count) {
            self.folded.take(turn);
        }
        self.messages.drain(1..=2 * count);
        let text = format!("{}\n\n{}", self.task, self.folded.text(plan));
        self.messages[0] = Message::User { text, images: self.images.clone() }.into();
        true
    }
}

impl Folded {
    fn take(&mut self, turn: Turn) {
        self.last = turn.number;
        self.heard.push_str(&turn.heard);
        for line in turn.trace.lines {
            self.bytes += line.len();
            self.lines.push_back(line);
        }
        while self.bytes > LINES_MAX {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.len();
            self.dropped += 1;
        }
        self.files.extend(turn.trace.files);
        self.errors.extend(turn.trace.errors);
        self.errors.drain(..self.errors.len().saturating_sub(ERRORS_MAX));
    }

    fn text(&self, plan: Option<&str>) -> String {
        let mut text =
            format!("--- What you did in turns 1 to {}, shortened by Hob; look again where you need more\n", self.last);
        if self.dropped > 0 {
            text.push_str(&format!("({} earlier calls are left out)\n", self.dropped));
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        if !self.files.is_empty() {
            let names: Vec<&str> = self.files.iter().take(FILES_MAX).map(String::as_str).collect();
            text.push_str(&format!("Files you changed: {}\n", names.join(", ")));
            if self.files.len() > FILES_MAX {
                text.push_str(&format!("and {} more\n", self.files.len() - FILES_MAX));
            }
        }
        for error in &self.errors {
            text.push_str(&format!("Error: {error}\n"));
        }
        if let Some(plan) = plan {
            text.push_str(&format!("Your plan:\n{plan}"));
        }
        text.push_str(&self.heard);
        text
    }
}

/// The replacement of an answer that is left out. It keeps what a person said after it.
fn mask(text: &str, heard: &str) -> String {
    let answer = text.strip_suffix(heard).unwrap_or(text);
    if answer.len() <= SMALL {
        return text.to_owned();
    }
    let first = first_line(answer.lines().next().unwrap_or_default(), 200);
    format!("{first}\n[Hob left out {} bytes of this old answer: look again if you need them]{heard}", answer.len())
}

/// The approximate size in bytes of a message in a request.
fn size(message: &Message) -> usize {
    match message {
        Message::User { text, images } => text.len() + images.len() * PICTURE,
        Message::Assistant { verbatim: Some(verbatim), .. } => verbatim.len(),
        Message::Assistant { text, calls, verbatim: None } => {
            text.len() + calls.iter().map(|call| call.arguments.len() + call.name.len() + 100).sum::<usize>()
        }
        Message::Results { results } => {
            results.iter().map(|result| result.text.len() + 60 + result.images.len() * PICTURE).sum()
        }
    }
}

/// The line of a call: its action, and the beginning of its answer. A command's answer begins with its exit code.
fn line(turn: u32, action: &str, answer: &str) -> String {
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = first_line(lines.next().unwrap_or_default(), 100);
    let more = if first.starts_with('[') {
        lines.next_back().map(|line| format!(" … {}", first_line(line, 80))).unwrap_or_default()
    } else {
        String::new()
    };
    format!("{turn}. {} → {first}{more}", first_line(action, 120))
}

#[cfg(test)]
mod tests {
    use crate::model::Verbatim;

    use super::*;

    fn push(history: &mut History, number: u32, answer: &str) {
        let trace = Trace {
            lines: vec![line(number, &format!("shell echo {number}"), answer)],
            files: vec![format!("f{}", number % 3)],
            errors: vec![format!("e{number}")],
        };
        let said = Message::Assistant { text: format!("said {number}"), calls: Vec::new(), verbatim: None };
        history.push(number, said, Message::user(answer), trace);
    }

    fn json(history: &History) -> String {
        serde_json::to_string(history.messages()).unwrap()
    }

    #[test]
    fn a_request_only_grows_until_old_answers_are_masked_many_at_once() {
        let mut history = History::new("the task".into());
        let (mut changes, mut before) = (0, json(&history));
        for number in 1..=1_000 {
            push(&mut history, number, &format!("[exit code 0]\n{}", "fine ".repeat(600)));
            if history.bytes() > 336_000 {
                assert!(history.shrink(224_000, 336_000, Some("[ ] plan\n")));
                assert!(history.bytes() <= 336_000, "{}", history.bytes());
            }
            let now = json(&history);
            changes += u32::from(!now.starts_with(before.trim_end_matches(']')));
            before = now;
        }
        assert!(changes < 50, "{changes} of 1000 requests begin otherwise");
        let text = json(&history);
        for part in ["said 990", "[exit code 0]\\n[Hob left out ", "the task"] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(history.messages().len(), 1 + 2 * history.turns.len());
    }

    #[test]
    fn a_fold_keeps_the_calls_the_files_the_errors_and_the_plan() {
        let mut history = History::new("the task".into());
        for number in 1..=1_000 {
            push(&mut history, number, &format!("[exit code 0]\n{}\nfine", "x".repeat(300)));
        }
        // Nothing of it is large enough to be masked.
        assert!(history.shrink(20_000, 20_000, Some("[ ] plan\n")));
        let Message::User { text, .. } = &*history.messages()[0] else { panic!("the task comes first") };
        assert!(text.starts_with("the task\n\n--- What you did in turns 1 to"), "{text}");
        for part in ["earlier calls are left out", "Files you changed: f0, f1, f2\n", "[ ] plan", "Error: e"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let last = history.turns[0].number - 1;
        assert!(text.contains(&format!("{last}. shell echo {last} → [exit code 0] … fine\n")), "{text}");
        assert!(json(&history).len() < 40_000);
        assert_eq!(history.messages().len(), 1 + 2 * history.turns.len());
    }

    #[test]
    fn what_the_model_said_stays_when_answers_are_masked() {
        let mut history = History::new("the task".into());
        for number in 1..=110 {
            push(&mut history, number, &if number == 3 { "the port is 8731".to_owned() } else { "x".repeat(3_000) });
        }
        assert!(history.shrink(100_000, 100_000, None));
        let text = json(&history);
        assert!(text.contains("said 1\"") && text.contains("the port is 8731"), "short answers stay, too");
        assert!(!text.contains("What you did in turns"), "no turn is folded");
        assert_eq!(history.turns.len(), 110);
    }

    #[test]
    fn large_answers_are_masked_and_the_last_turns_stay() {
        let mut history = History::new("the task".into());
        for number in 1..=6 {
            push(&mut history, number, &"x".repeat(30_000));
        }
        assert!(history.shrink(100_000, 130_000, None));
        assert_eq!(history.turns.len(), 6);
        assert!(history.turns.iter().skip(2).all(|turn| !turn.is_masked));
        // If the service counts differently, there is still less to be sent.
        for left in [3, 1] {
            assert!(history.halve(None));
            assert_eq!(history.turns.len(), left);
        }
        assert!(!history.halve(None));
        assert_eq!(history.turns[0].number, 6);
    }

    #[test]
    fn reasoning_that_is_refused_is_left_out() {
        let mut history = History::new("the task".into());
        let verbatim = Verbatim::new("messages/m", "x".repeat(1_000));
        history.push(
            1,
            Message::Assistant { text: "a".into(), calls: Vec::new(), verbatim },
            Message::user("b"),
            Trace::default(),
        );
        assert!(history.bytes() > 1_000 && history.forget_reasoning() && history.bytes() < 100);
        assert!(!history.forget_reasoning());
    }

    #[test]
    fn what_a_person_said_stays_when_its_turn_is_masked_and_folded() {
        let mut history = History::new("the task".into());
        for number in 1..=20 {
            push(&mut history, number, &"x".repeat(3_000));
            if number == 2 {
                history.hear("ann says: use UTC");
            }
        }
        assert!(history.shrink(30_000, 100_000, None));
        assert!(json(&history).contains("of this old answer: look again if you need them]\\n\\nann says: use UTC"));
        assert!(history.halve(None) && history.turns[0].number > 2);
        assert_eq!(json(&history).matches("ann says: use UTC").count(), 1);
    }

    #[test]
    fn the_line_of_a_command_has_its_exit_code_and_its_last_words() {
        let said = line(3, "shell cargo test", "[exit code 1]\nrunning\n\nfailed: a\n");
        assert_eq!(said, "3. shell cargo test → [exit code 1] … failed: a");
        assert_eq!(line(1, "read a", "one\ntwo"), "1. read a → one");
    }
}
