//! The span of a request to a model for traces, with the names of OpenTelemetry's conventions for generative AI.
//! <https://github.com/open-telemetry/semantic-conventions-genai>, read 2026-11: all of them are in development.

use hob_domain::{
    TRACED,
    trace::{OTHER, count, named},
};
use tracing::{Span, field::Empty, info_span};

use crate::{usage::Usage, vendor::Api};

/// The span of a request to `model` of the service `provider`, in the conversation `session` if that is known.
pub fn chat_span(provider: Option<&str>, model: &str, session: Option<&str>) -> Span {
    info_span!(
        target: TRACED,
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.conversation.id = session,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        hob.cost.usd = Empty,
    )
}

/// Notes the tokens of a reply.
pub fn chat_used(span: &Span, usage: &Usage) {
    span.record("gen_ai.usage.input_tokens", count(usage.input));
    span.record("gen_ai.usage.output_tokens", count(usage.output));
    span.record("gen_ai.usage.cache_read.input_tokens", count(usage.cached_input));
    span.record("gen_ai.usage.cache_creation.input_tokens", count(usage.cache_write));
}

/// The span of a request that an agent's program makes.
pub(crate) fn passed_span(api: Api, model: &str) -> Span {
    let provider = match api {
        Api::Anthropic => "anthropic",
        Api::OpenAi => "openai",
        Api::Gemini => "gcp.gemini",
    };
    chat_span(Some(provider), named(model).unwrap_or(OTHER), None)
}
