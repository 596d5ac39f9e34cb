//! What the model is sent: the task, the turns so far, and in place of old turns one line each.
//!
//! - Flow: each turn appends two messages, what the model said and what came of it, so a request begins with the bytes
//!   of the one before. When enough turns stand whole, the oldest are folded, many at once and so seldom: each of their
//!   calls becomes a line behind the task.
//! - Guarantees: the task stays whole; the last turns stay whole; the request stays bounded however long the run is.
//!   What the fold keeps of old turns: each call with the first line of its answer, then counts; the files that were
//!   changed, the last errors, the plan.
//! - Caveats: a file that was read in a folded turn has to be read again.

use std::collections::{BTreeSet, VecDeque};

use crate::{
    model::{Memoized, Message, ToolResult},
    report::first_line,
};

/// Bytes of an error that is quoted.
pub(super) const REASON_MAX: usize = 300;

/// Turns that stand whole before the oldest are folded.
const TURNS_MAX: usize = 60;
/// Turns that stay whole in a fold.
const TURNS_KEPT: usize = 16;
/// Bytes of whole turns before the oldest are folded; about 40,000 tokens.
const BYTES_MAX: usize = 160 * 1024;
/// Bytes of whole turns that stay, where more than a few turns have them.
const BYTES_KEPT: usize = 64 * 1024;
/// Turns that stay whole however large they are.
const TURNS_ALWAYS: usize = 4;
/// Bytes of the lines of folded turns; of what is older only counts stay.
const LINES_MAX: usize = 8 * 1024;
/// Files and errors that the fold names.
const FILES_MAX: usize = 60;
const ERRORS_MAX: usize = 3;

/// What a turn leaves when it is folded.
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
    /// Adds a call of `turn`: its tool, the line that says what it does, and its answer.
    pub(super) fn note(&mut self, turn: u32, (tool, said): (&str, &str), result: &ToolResult) {
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
    trace: Trace,
}

/// The conversation of one run.
#[derive(Debug)]
pub(super) struct History {
    task: String,
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
    files: BTreeSet<String>,
    errors: VecDeque<String>,
}

impl History {
    /// A conversation that begins with `task`.
    pub(super) fn new(task: String) -> Self {
        let first = Message::User { text: task.clone() };
        Self { task, messages: vec![first.into()], turns: VecDeque::new(), folded: Folded::default() }
    }

    /// What the model is sent.
    pub(super) fn messages(&self) -> &[Memoized<Message>] {
        &self.messages
    }

    /// Adds a turn: what the model said, and what it is answered.
    pub(super) fn push(&mut self, number: u32, said: Message, answer: Message, trace: Trace) {
        let bytes = size(&said) + size(&answer);
        self.messages.extend([said.into(), answer.into()]);
        self.turns.push_back(Turn { number, bytes, trace });
    }

    /// Tells the model something more behind the last answer; there is one.
    pub(super) fn tell(&mut self, text: &str) {
        let Some(last) = self.messages.pop() else { return };
        let mut last = Message::clone(&last);
        match &mut last {
            Message::User { text: said } | Message::Assistant { text: said, .. } => {
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

    /// Folds old turns where enough stand whole. `plan` is the model's own, as it stands.
    pub(super) fn tidy(&mut self, plan: Option<&str>) -> bool {
        let bytes: usize = self.turns.iter().map(|turn| turn.bytes).sum();
        if self.turns.len() < TURNS_MAX && bytes < BYTES_MAX {
            return false;
        }
        let mut kept = 0;
        let mut size = 0;
        for turn in self.turns.iter().rev() {
            size += turn.bytes;
            if kept >= TURNS_KEPT || (kept >= TURNS_ALWAYS && size > BYTES_KEPT) {
                break;
            }
            kept += 1;
        }
        self.fold(kept, plan)
    }

    /// Folds at least half of the turns, because the model's window is nearly full.
    pub(super) fn shrink(&mut self, plan: Option<&str>) -> bool {
        let kept = (self.turns.len() / 2).clamp(1, TURNS_ALWAYS);
        self.fold(kept, plan)
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
        self.messages[0] = Message::User { text }.into();
        true
    }
}

impl Folded {
    fn take(&mut self, turn: Turn) {
        self.last = turn.number;
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
        text
    }
}

/// About how many bytes a message has in a request.
fn size(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant { text, calls } => {
            text.len() + calls.iter().map(|call| call.arguments.len() + call.name.len() + 100).sum::<usize>()
        }
        Message::Results { results } => results.iter().map(|result| result.text.len() + 60).sum(),
    }
}

/// The line of a call: what was done, and how its answer begins. A command's answer begins with its exit code.
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
    use super::*;

    fn push(history: &mut History, number: u32, answer: &str) {
        let trace = Trace {
            lines: vec![line(number, &format!("shell echo {number}"), answer)],
            files: vec![format!("f{}", number % 3)],
            errors: vec![format!("e{number}")],
        };
        let said = Message::Assistant { text: format!("said {number}"), calls: Vec::new() };
        history.push(number, said, Message::User { text: answer.to_owned() }, trace);
    }

    fn first(history: &History) -> String {
        match &*history.messages()[0] {
            Message::User { text } => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_only_grows_between_folds_and_folds_are_seldom() {
        let mut history = History::new("the task".into());
        let (mut folds, mut before) = (0, serde_json::to_string(history.messages()).unwrap());
        for number in 1..=1_000 {
            push(&mut history, number, "[exit code 0]\nfine");
            folds += u32::from(history.tidy(Some("[ ] plan\n")));
            let now = serde_json::to_string(history.messages()).unwrap();
            assert!(now.len() < 40_000, "{number}: {}", now.len());
            if history.turns.len() > TURNS_KEPT {
                assert!(now.starts_with(before.trim_end_matches(']')), "{number}");
            }
            before = now;
        }
        assert!(folds < 1_000 / 30, "{folds}");
        let text = first(&history);
        assert!(text.starts_with("the task\n\n--- What you did in turns 1 to"), "{text}");
        for part in ["earlier calls are left out", "Files you changed: f0, f1, f2\n", "[ ] plan", "Error: e"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains(". shell echo 900 → [exit code 0] … fine\n"), "{text}");
        assert_eq!(history.messages().len(), 1 + 2 * history.turns.len());
    }

    #[test]
    fn large_answers_are_folded_earlier_and_the_last_turns_stay() {
        let mut history = History::new("the task".into());
        for number in 1..=6 {
            push(&mut history, number, &"x".repeat(30_000));
            history.tidy(None);
        }
        assert_eq!(history.turns.len(), TURNS_ALWAYS);
        assert!(history.shrink(None) && history.shrink(None));
        assert_eq!((history.turns.len(), history.turns[0].number), (1, 6));
        assert!(!history.shrink(None));
    }

    #[test]
    fn the_line_of_a_command_has_its_exit_code_and_its_last_words() {
        let said = line(3, "shell cargo test", "[exit code 1]\nrunning\n\nfailed: a\n");
        assert_eq!(said, "3. shell cargo test → [exit code 1] … failed: a");
        assert_eq!(line(1, "read a", "one\ntwo"), "1. read a → one");
    }
}
