//! A program's output about its run, parsed line by line.

use std::{path::Path, time::Duration};

use hob_domain::{Checklist, StepState};
use serde_json::Value;

use crate::{folder, model::Usage, report::first_line, tool_spans::ToolSpans};

/// Bytes of a line of progress.
const PROGRESS_MAX: usize = 200;

/// The output's reports so far.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct ParsedOutput {
    /// Its last message.
    pub(super) summary: String,
    /// The cost of the run by its own report, in millionths of a US dollar; `None` if it does not report a cost.
    pub(super) usd_micros: Option<u64>,
    pub(super) usage: Usage,
    /// The last error, in its words; a later success clears it.
    pub(super) problem: Option<String>,
    /// Its checklist, if that has changed since it was taken.
    pub(super) checklist: Option<Checklist>,
    /// The steps of a program that tells them one by one.
    pub(super) steps: Vec<(String, StepState)>,
    /// Whether the model refused the task.
    pub(super) refused: bool,
    /// The time until its quota resets, if it reports that.
    pub(super) reset: Option<Duration>,
    /// Its tools, for traces.
    pub(super) tools: ToolSpans,
    /// Whether to end it now, because it would only wait: for a key, or for hours.
    pub(super) abort: bool,
}

impl ParsedOutput {
    /// Adds a reply's tokens.
    pub(super) fn count(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Adds money in US dollars. An invalid amount counts as nothing.
    pub(super) fn add_usd(&mut self, usd: f64) {
        // `as` saturates: NaN and negative values become 0.
        let micros = (usd * 1e6).ceil() as u64;
        self.usd_micros = Some(self.usd_micros.unwrap_or(0).saturating_add(micros));
    }
}

/// A text file of at most `max` bytes that the program left in its home; links are not followed.
pub(super) fn read_left(home: &Path, path: &str, max: u64) -> Option<String> {
    let home = folder::Folder::open(home).ok()?;
    home.read(&home.inside(path).ok()?, max).ok()
}

/// The names of the entries that it left in a folder of its home.
pub(super) fn names_left(home: &Path, path: &str) -> Vec<String> {
    let top = hob_process::Folder::open(home).map(Some);
    let found = Path::new(path).iter().fold(top, |folder, name| folder?.map_or(Ok(None), |folder| folder.inner(name)));
    let entries = found.and_then(|folder| folder.map_or(Ok(Vec::new()), |folder| folder.entries()));
    entries.unwrap_or_default().iter().filter_map(|entry| entry.name().into_string().ok()).collect()
}

/// The line as a JSON object, if it is one.
pub(super) fn json_event(line: &str) -> Option<Value> {
    serde_json::from_str(line.trim()).ok().filter(Value::is_object)
}

/// A text of a JSON value; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A count of a JSON value; 0 if there is none.
pub(super) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// A tool's call as a line of progress: its name, and its most telling argument.
pub(super) fn tool_line(name: &str, arguments: &Value) -> String {
    let telling = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query"];
    let told = telling.iter().find_map(|key| arguments.get(key)).map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let line = told.map_or_else(|| name.to_owned(), |told| format!("{name}: {told}"));
    first_line(&line, PROGRESS_MAX)
}
