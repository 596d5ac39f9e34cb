//! What happened lately, in the form that programs are told it.

use std::collections::VecDeque;

use hob_domain::{IssueNumber, RepoName};
use hob_worker::WorkEvent;
use serde_json::Value;

/// Events that are kept.
const KEPT: usize = 10_000;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its number in this process, from 1.
    pub(crate) number: u64,
    pub(crate) repo: RepoName,
    /// The issue. `None` if it is about the repository.
    pub(crate) issue: Option<IssueNumber>,
    /// Whether an agent began to work.
    pub(crate) is_start: bool,
    /// As `hob run --json` writes it: a text, because values take several times its memory.
    pub(crate) line: Box<str>,
}

impl Entry {
    /// What it says.
    pub(crate) fn read(&self) -> Said {
        Said(serde_json::from_str(&self.line).unwrap_or_default())
    }
}

/// What an event says.
pub(crate) struct Said(Value);

impl Said {
    /// A text of it; empty if it has none of that name.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// How far the work is, in percent.
    pub(crate) fn percent(&self) -> Option<u64> {
        self.0["percent"].as_u64()
    }
}

/// The last events.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: VecDeque<Entry>,
    last: u64,
}

impl Log {
    pub(super) fn note(&mut self, repo: &RepoName, event: &WorkEvent, value: &Value) {
        self.last += 1;
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        let is_start = matches!(event, WorkEvent::AgentStarted { .. });
        let line = value.to_string().into();
        self.entries.push_back(Entry { number: self.last, repo: repo.clone(), issue: event.issue(), is_start, line });
    }

    /// The number of the last one.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Those after this number, as far as they are kept, the oldest first.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = &Entry> {
        let known = self.entries.partition_point(|entry| entry.number <= number);
        self.entries.range(known..)
    }

    /// Those of an issue, the newest first.
    pub(crate) fn of<'a>(&'a self, repo: &'a RepoName, issue: IssueNumber) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().rev().filter(move |entry| entry.issue == Some(issue) && entry.repo == *repo)
    }
}
