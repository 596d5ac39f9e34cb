//! The span of a request to a model for traces.

use hob_domain::{Spend, TRACED};
use tracing::{Span, field::Empty, info_span};

use crate::{
    model::{ModelError, ModelReply, Stop},
    traced::{count, failed, model_of, provider},
};

/// The span of a request to `model` in the conversation `session`, with the retries that its client makes.
pub(crate) fn chat_span(model: &str, session: &str) -> Span {
    info_span!(
        target: TRACED,
        "chat",
        otel.name = format!("chat {}", model_of(model)),
        otel.kind = "client",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider(model),
        gen_ai.request.model = model_of(model),
        gen_ai.conversation.id = session,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        hob.cost.usd = Empty,
    )
}

/// Notes what the request led to, and what it cost: one without a reply may cost, too.
pub(crate) fn chat_ended(span: &Span, reply: &Result<ModelReply, ModelError>, usd_micros: u64) {
    span.record("hob.cost.usd", Spend { usd_micros, ..Spend::default() }.usd());
    match reply {
        Ok(reply) => {
            let usage = reply.usage;
            span.record("gen_ai.usage.input_tokens", count(usage.input));
            span.record("gen_ai.usage.output_tokens", count(usage.output));
            span.record("gen_ai.usage.cache_read.input_tokens", count(usage.cached_input));
            span.record("gen_ai.usage.cache_creation.input_tokens", count(usage.cache_write));
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
