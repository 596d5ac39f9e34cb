//! What a request to a model led to, in its span for traces.

use hob_domain::{Spend, trace::failed};
use hob_egress::chat_used;
use tracing::Span;

use crate::model::{ModelError, ModelReply, Stop};

/// Notes what the request led to, and what it cost: one without a reply may cost, too.
pub(crate) fn chat_ended(span: &Span, reply: &Result<ModelReply, ModelError>, usd_micros: u64) {
    span.record("hob.cost.usd", Spend { usd_micros, ..Spend::default() }.usd());
    match reply {
        Ok(reply) => {
            chat_used(span, &reply.usage);
            span.record("gen_ai.response.finish_reasons", finish_reason(reply));
        }
        Err(error) => failed(span, &error.name()),
    }
}

/// Why the reply ended, in the convention's words.
fn finish_reason(reply: &ModelReply) -> &'static str {
    match reply.stop {
        Stop::Finished if reply.calls.is_empty() => "stop",
        Stop::Finished => "tool_call",
        Stop::Length => "length",
        Stop::Refused => "content_filter",
    }
}
