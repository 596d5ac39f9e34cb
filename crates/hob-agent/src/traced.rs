//! What spans of agents, models and tools have in common, with the names of OpenTelemetry's conventions for generative AI.
//! <https://github.com/open-telemetry/semantic-conventions-genai>, read 2026-11: all of them are in development.
//!
//! No text of an issue, a model or a tool is in one, only names, numbers and ids that Hob or its settings chose. Where nobody
//! takes traces, a span costs a look at a flag: its fields are not even computed.

use hob_config::ModelName;
use hob_domain::{Spend, TRACED};
use tracing::{Span, field::Empty, info_span};

/// The convention's word for what has no name of Hob's.
const OTHER: &str = "_OTHER";

/// The span of a call of a tool; `None` if there is no such tool, since its name is a text of the model's.
pub(crate) fn tool_span(tool: Option<&str>, call: Option<&str>) -> Span {
    let tool = tool.unwrap_or(OTHER);
    info_span!(
        target: TRACED,
        "execute_tool",
        otel.name = format!("execute_tool {tool}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        "gen_ai.tool.type" = "function",
        gen_ai.tool.call.id = call.filter(|id| is_an_id(id)),
    )
}

/// Marks the span of something that failed, in a word that says how.
pub fn failed(span: &Span, how: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", how);
}

/// Notes what a span's work cost.
pub fn billed(span: &Span, spend: &Spend) {
    span.record("gen_ai.usage.input_tokens", count(spend.input_tokens));
    span.record("gen_ai.usage.output_tokens", count(spend.output_tokens));
    span.record("hob.cost.usd", spend.usd());
}

/// A number as an attribute has it.
pub fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Whether a service's id of a call is one: it must not be a text.
fn is_an_id(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The service of a model, if its name says that. Replies from a file are Hob's own.
pub(crate) fn provider(model: &str) -> Option<&'static str> {
    match model.parse().ok()? {
        ModelName::Anthropic(_) => Some("anthropic"),
        ModelName::OpenAi(_) => Some("openai"),
        ModelName::Cassette(_) => Some("hob"),
    }
}

/// The model as its service names it. The path of a cassette is this machine's.
pub(crate) fn model_of(model: &str) -> &str {
    match model.parse() {
        Ok(ModelName::Anthropic(_) | ModelName::OpenAi(_)) => model.split_once('/').map_or(model, |(_, name)| name),
        Ok(ModelName::Cassette(_)) => "cassette",
        Err(_) => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_model_is_its_services_and_no_path() {
        for (name, service, model) in [
            ("openai/gpt-x", Some("openai"), "gpt-x"),
            ("openai/org/model", Some("openai"), "org/model"),
            ("anthropic/claude-x", Some("anthropic"), "claude-x"),
            ("cassette//home/ann/replies.json", Some("hob"), "cassette"),
            ("sonnet", None, "sonnet"),
        ] {
            assert_eq!((provider(name), model_of(name)), (service, model), "{name}");
        }
    }

    #[test]
    fn a_text_in_place_of_an_id_is_left_out() {
        assert!(is_an_id("call_3-aB") && is_an_id("toolu_01A09q90qw90lq917835lq9"));
        assert!(!is_an_id("a text") && !is_an_id(&"a".repeat(65)));
    }
}
