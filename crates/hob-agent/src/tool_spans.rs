//! Spans for traces of the tools that another program calls, by what it tells while it works.

use hob_domain::trace::{OTHER, failed, named};
use tracing::Span;

use crate::traced::tool_span;

/// Calls at once. A program that tells of no end must not fill the memory.
const OPEN_MAX: usize = 100;

/// Its calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolSpans {
    /// The span in which this was made, that of the run: a task that knows nothing of it reads the output.
    run: Span,
    /// Calls under way, by the program's own ids.
    open: Vec<(String, Span)>,
}

impl Default for ToolSpans {
    fn default() -> Self {
        Self { run: Span::current(), open: Vec::new() }
    }
}

impl ToolSpans {
    /// A call began. One without an id, or one too many, is over at once.
    pub(crate) fn began(&mut self, id: &str, tool: &str) {
        let span = self.run.in_scope(|| tool_span(named(tool), Some(id)));
        if !span.is_disabled() && !id.is_empty() && self.open.len() < OPEN_MAX {
            self.open.push((id.to_owned(), span));
        }
    }

    /// A call ended.
    pub(crate) fn ended(&mut self, id: &str, is_error: bool) {
        let Some(at) = self.open.iter().position(|(open, _)| open == id) else { return };
        let (_, span) = self.open.swap_remove(at);
        if is_error {
            // What failed is a text of the program's.
            failed(&span, OTHER);
        }
    }

    /// A call that is told once it is over, or that may have begun before.
    pub(crate) fn called(&mut self, id: &str, tool: &str, is_error: bool) {
        if !self.open.iter().any(|(open, _)| open == id) {
            self.began(id, tool);
        }
        self.ended(id, is_error);
    }
}
