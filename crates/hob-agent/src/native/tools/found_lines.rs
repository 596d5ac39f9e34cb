//! The lines that a search found, as they are shown.

use std::{fs::File, io};

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use regex::bytes::Regex;
use serde::Deserialize;

use crate::report::first_line;

/// Bytes of one line that are shown.
const LINE_MAX: usize = 300;

/// What is shown of what is found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shown {
    /// The lines.
    #[default]
    Content,
    /// The names of the files.
    Files,
    /// The number of matches of each file.
    Count,
}

/// What is wanted of what is found.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Lines that do not count.
    pub(super) excluded: Option<Regex>,
    /// Whether lines have their numbers.
    pub(super) numbers: bool,
    /// What is shown.
    pub(super) output: Shown,
    /// Matches, or files, to pass over at first.
    pub(super) skip: usize,
    /// Matches, or files, that are shown at most.
    pub(super) max: usize,
    /// Matches of one file at most.
    pub(super) per_file: usize,
    /// Bytes that are shown at most.
    pub(super) cap: usize,
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Found {
    /// The text for the model.
    pub(super) shown: String,
    wanted: Wanted,
    /// Matches, or files, that are shown.
    count: usize,
    /// The file that is searched.
    path: String,
    /// Its matches.
    of_file: usize,
    /// Whether its last match is shown: then the lines after it are, too.
    shows_after: bool,
    /// The lines before the next match.
    before: String,
    /// Whether lines are left out before those.
    gap: bool,
}

impl Found {
    /// Nothing yet.
    pub(super) fn new(wanted: Wanted) -> Self {
        let (shown, path, before) = (String::new(), String::new(), String::new());
        Self { shown, wanted, count: 0, path, of_file: 0, shows_after: false, before, gap: false }
    }

    /// Whether no more fits.
    pub(super) fn is_full(&self) -> bool {
        self.count >= self.wanted.max || self.shown.len() >= self.wanted.cap
    }

    /// Searches one file.
    pub(super) fn search(&mut self, searcher: &mut Searcher, matcher: &RegexMatcher, path: &str, file: File) {
        path.clone_into(&mut self.path);
        (self.of_file, self.shows_after, self.gap) = (0, false, false);
        self.before.clear();
        // An error here is a line longer than the heap limit or a file that vanished: what was found before stays.
        searcher.search_reader(matcher, file, &mut *self).ok();
        let line = match self.wanted.output {
            Shown::Content => return,
            Shown::Files => format!("{path}\n"),
            Shown::Count => format!("{path}: {}\n", self.of_file),
        };
        if self.of_file > 0 && !self.passes_over() {
            self.count += 1;
            self.shown.push_str(&line);
        }
    }

    /// Whether this match, or file, is one of those before the wanted ones.
    fn passes_over(&mut self) -> bool {
        let passes = self.wanted.skip > 0;
        self.wanted.skip = self.wanted.skip.saturating_sub(1);
        passes
    }

    fn line(&self, number: Option<u64>, sign: char, bytes: &[u8]) -> String {
        let number = number.filter(|_| self.wanted.numbers).map(|number| format!("{sign}{number}")).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        format!("{}{number}{sign} {}\n", self.path, first_line(text.trim_end_matches(['\n', '\r']), LINE_MAX))
    }
}

impl Sink for &mut Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.is_full() || self.of_file >= self.wanted.per_file {
            return Ok(false);
        }
        if self.wanted.excluded.as_ref().is_some_and(|excluded| excluded.is_match(found.bytes())) {
            self.shows_after = false;
            return Ok(true);
        }
        self.of_file += 1;
        match self.wanted.output {
            Shown::Content => {}
            Shown::Files => return Ok(false),
            Shown::Count => return Ok(true),
        }
        self.shows_after = !self.passes_over();
        let before = std::mem::take(&mut self.before);
        if !self.shows_after {
            return Ok(true);
        }
        self.count += 1;
        if std::mem::take(&mut self.gap) && self.of_file > 1 {
            self.shown.push_str("--\n");
        }
        self.shown.push_str(&before);
        for (index, line) in found.lines().enumerate() {
            let number = found.line_number().map(|number| number + index as u64);
            let line = self.line(number, ':', line);
            self.shown.push_str(&line);
        }
        // The lines after the last match are still to come.
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        let line = self.line(around.line_number(), '-', around.bytes());
        match around.kind() {
            grep_searcher::SinkContextKind::Before => self.before.push_str(&line),
            _ if self.shows_after => self.shown.push_str(&line),
            _ => {}
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.gap = true;
        self.before.clear();
        Ok(true)
    }
}
