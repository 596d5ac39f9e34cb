//! A call of a tool in its span for traces.

use hob_domain::{investigation::Allowed, trace::failed};
use tracing::{Instrument, Span};

use crate::native::tools::{Answer, CommandResult, ToolError};

/// What became of a call: how it was allowed, and its answer.
pub(super) type Ran = (Allowed, Result<Answer, ToolError>);

/// Runs a call in its span, and notes how it failed.
pub(super) async fn in_span(span: Span, run: impl Future<Output = Ran>) -> Ran {
    // Boxed: it would be in this future twice, as it comes and as it runs.
    let (allowed, answer) = Box::pin(run.instrument(span.clone())).await;
    match (&answer, CommandResult::in_answer(&answer)) {
        (Err(error), _) => failed(&span, error.name()),
        (Ok(_), Some(CommandResult::Failed(_))) => failed(&span, "exit"),
        (Ok(_), Some(CommandResult::Succeeded) | None) => {}
    }
    (allowed, answer)
}
