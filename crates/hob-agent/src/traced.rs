//! What spans of agents, models and tools have in common, with the names of OpenTelemetry's conventions for generative AI.
//! <https://github.com/open-telemetry/semantic-conventions-genai>, read 2026-11: all of them are in development.
//!
//! No text of an issue, a model or a tool is in one, only names, numbers and ids that Hob or its settings chose. Where nobody
//! takes traces, a span costs a look at a flag: its fields are not even computed.

use hob_config::ModelName;
use hob_domain::{
    TRACED,
    trace::{OTHER, named},
};
use tracing::{Span, field::Empty, info_span};

/// The span of a call of a tool; `None` if its name is not told, since it can be a text of the model's.
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
        gen_ai.tool.call.id = call.and_then(named),
    )
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
}
