//! Gemini CLI: `gemini --output-format stream-json`.

use serde_json::json;

use crate::{
    adapters::{
        adapter::{Adapter, CALL_MS, Plan, Prompt, Situation, Version, words},
        parsed_output::{ParsedOutput, count, json_event, text, tool_line},
    },
    checklist::steps,
    model::Usage,
    native::Speaks,
};

pub(super) const GEMINI: Adapter = Adapter {
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    minimum: Version(0, 40, 0),
    version: "--version",
    variables: &["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
    prompt: Prompt::Stdin,
    prices: "gemini/",
    litter: &[],
    controls: &[".gemini", ".env"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["--approval-mode", "yolo", "--skip-trust", "--output-format", "stream-json"]);
    arguments.extend(situation.model_flag("--model"));
    let mut settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        // From turn 30 on it would ask a model whether it is looping. A run of Hob's has its own limits.
        "model": { "disableLoopDetection": true },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    if let Some(address) = situation.tools {
        settings["mcpServers"] = json!({ "hob": { "httpUrl": address, "trust": true, "timeout": CALL_MS } });
    }
    let files = vec![(".gemini/settings.json".into(), settings.to_string())];
    Plan { arguments, environment: Vec::new(), files }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let event = json_event(line)?;
    match text(&event, "/type") {
        "message" if text(&event, "/role") == "assistant" => parsed.summary.push_str(text(&event, "/content")),
        "tool_use" => {
            // Text before a call is not a summary.
            parsed.summary.clear();
            if text(&event, "/tool_name") == "write_todos" {
                parsed.checklist = event.pointer("/parameters/todos").and_then(steps);
            }
            parsed.tools.began(text(&event, "/tool_id"), text(&event, "/tool_name"));
            return Some(tool_line(text(&event, "/tool_name"), event.get("parameters")?));
        }
        "tool_result" => parsed.tools.ended(text(&event, "/tool_id"), text(&event, "/status") == "error"),
        "error" => parsed.problem = Some(text(&event, "/message").to_owned()),
        "result" => {
            let tokens = |name: &str| count(&event, &format!("/stats/{name}"));
            let (input, output) = (tokens("input_tokens"), tokens("output_tokens"));
            parsed.count(Usage { input, cached_input: tokens("cached"), cache_write: 0, output });
            parsed.problem = match text(&event, "/status") {
                "success" => None,
                _ => Some(text(&event, "/error/message").to_owned()),
            };
        }
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_after_the_last_call_are_the_summary() {
        let mut parsed = ParsedOutput::default();
        for line in [
            r#"{"type":"message","role":"assistant","content":"Next ","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"make"}}"#,
            r#"{"type":"message","role":"assistant","content":"All ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"done.","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"input_tokens":7,"output_tokens":2,"cached":3}}"#,
        ] {
            read(line, &mut parsed);
        }
        assert_eq!((parsed.summary.as_str(), parsed.usage.input, parsed.usage.cached_input), ("All done.", 7, 3));
        let todos = r#"{"todos":[{"description":"Look","status":"in_progress"}]}"#;
        read(&format!(r#"{{"type":"tool_use","tool_name":"write_todos","parameters":{todos}}}"#), &mut parsed);
        let steps = [("Look".to_owned(), hob_domain::StepState::Doing)];
        assert_eq!(parsed.checklist, hob_domain::Checklist::new(steps));
    }
}
