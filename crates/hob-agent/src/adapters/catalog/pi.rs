//! pi: `pi --print --mode json`.

use serde_json::{Value, json};

use crate::{
    adapters::{
        adapter::{Adapter, Plan, Prompt, Situation, Version, words},
        parsed_output::{ParsedOutput, count, json_event, text, tool_line},
    },
    model::Usage,
    native::Speaks,
};

pub(super) const PI: Adapter = Adapter {
    program: "pi",
    install: "npm install -g @mariozechner/pi-coding-agent",
    minimum: Version(0, 60, 0),
    version: "--version",
    variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    prompt: Prompt::Stdin,
    prices: "",
    litter: &[],
    controls: &[".pi"],
    speaks: Speaks::LastLine,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["--print", "--mode", "json", "--no-session"]);
    let environment = vec![("PI_OFFLINE", "1".to_owned()), ("PI_TELEMETRY", "0".to_owned())];
    let (provider, model) = situation.model.and_then(|model| model.split_once('/')).unzip();
    let model = model.or(situation.model);
    let mut files = Vec::new();
    let own = match provider {
        Some("openai") => situation.services.openai.as_ref().map(|base| (base, "openai-completions", "OPENAI_API_KEY")),
        Some("anthropic") => {
            situation.services.anthropic.as_ref().map(|base| (base, "anthropic-messages", "ANTHROPIC_API_KEY"))
        }
        Some(_) | None => None,
    };
    let provider = match own {
        Some((base, api, key)) => {
            // A name in capitals is the name of the variable with the key.
            let models = json!([{ "id": model.unwrap_or_default() }]);
            let provider = json!({ "baseUrl": base, "apiKey": key, "api": api, "models": models });
            files.push((".pi/agent/models.json".into(), json!({ "providers": { "hob": provider } }).to_string()));
            Some("hob")
        }
        None => provider,
    };
    for (flag, value) in [("--provider", provider), ("--model", model)] {
        arguments.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
    }
    Plan { arguments, environment, files }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    // Each piece of a message repeats all of it: those lines are long, many, and without news.
    if line.starts_with("{\"type\":\"message_update\"") {
        return None;
    }
    let event = json_event(line)?;
    match text(&event, "/type") {
        "message_end" if text(&event, "/message/role") == "assistant" => {
            let tokens = |name: &str| count(&event, &format!("/message/usage/{name}"));
            let (cached_input, cache_write) = (tokens("cacheRead"), tokens("cacheWrite"));
            let input = tokens("input").saturating_add(cached_input).saturating_add(cache_write);
            parsed.count(Usage { input, cached_input, cache_write, output: tokens("output") });
            let usd = event.pointer("/message/usage/cost/total").and_then(Value::as_f64);
            if let Some(usd) = usd.filter(|usd| *usd > 0.0) {
                parsed.add_usd(usd);
            }
            let failed = matches!(text(&event, "/message/stopReason"), "error" | "aborted");
            parsed.problem = failed.then(|| text(&event, "/message/errorMessage").to_owned());
            let blocks = event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
            let said: String = blocks.map(|block| text(block, "/text")).collect();
            if !said.is_empty() {
                parsed.summary = said;
            }
        }
        "tool_execution_start" => {
            parsed.tools.began(text(&event, "/toolCallId"), text(&event, "/toolName"));
            return Some(tool_line(text(&event, "/toolName"), event.get("args")?));
        }
        "tool_execution_end" => {
            let is_error = event.get("isError").and_then(Value::as_bool) == Some(true);
            parsed.tools.ended(text(&event, "/toolCallId"), is_error);
        }
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_counts_once_and_an_error_is_known_although_the_exit_code_is_0() {
        let mut parsed = ParsedOutput::default();
        let reply = |stop: &str, error: &str| {
            format!(
                r#"{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"text","text":"Done."}}],
                "usage":{{"input":7,"output":2,"cacheRead":1,"cacheWrite":0,"cost":{{"total":0}}}},"stopReason":"{stop}","errorMessage":"{error}"}}}}"#
            )
        };
        read(&reply("stop", ""), &mut parsed);
        assert_eq!((parsed.summary.as_str(), parsed.usage.input, parsed.usage.output), ("Done.", 8, 2));
        assert_eq!((parsed.problem.clone(), parsed.usd_micros), (None, None));
        read(&reply("error", "401 no"), &mut parsed);
        assert_eq!(parsed.problem.as_deref(), Some("401 no"));
    }
}
