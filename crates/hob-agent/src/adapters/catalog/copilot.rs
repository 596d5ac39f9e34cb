//! GitHub Copilot CLI: `copilot --output-format json`, with GitHub's models or with an OpenAI-compatible service.

use std::path::Path;

use serde_json::json;

use crate::{
    adapters::{
        adapter::{Adapter, CALL_MS, PROMPT, Plan, Prompt, Situation, Version, words},
        parsed_output::{ParsedOutput, count, json_event, names_left, read_left, text, tool_line},
    },
    model::Usage,
    native::Speaks,
};

/// OpenAI's own interface.
const OPENAI: &str = "https://api.openai.com/v1";
/// The folder of its sessions, in its home.
const SESSIONS: &str = ".copilot/session-state";
/// The most bytes that are read of its own record of a session.
const RECORD_MAX: u64 = 32 << 20;

pub(super) const COPILOT: Adapter = Adapter {
    program: "copilot",
    install: "npm install -g @github/copilot",
    minimum: Version(1, 0, 0),
    version: "--version",
    variables: &["COPILOT_GITHUB_TOKEN", "OPENAI_API_KEY"],
    prompt: Prompt::Argument,
    prices: "openai/",
    litter: &[],
    controls: &[".copilot", ".github/copilot", ".github/hooks", ".mcp.json", ".vscode/mcp.json"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: Some(after),
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments =
        words(&["--prompt", PROMPT, "--allow-all-tools", "--output-format", "json", "--no-auto-update"]);
    arguments.extend(words(&["--no-color", "--no-ask-user"]));
    if let Some(address) = situation.tools {
        let server = json!({ "type": "http", "url": address, "tools": ["*"], "timeout": CALL_MS });
        arguments
            .extend(["--additional-mcp-config".to_owned(), json!({ "mcpServers": { "hob": server } }).to_string()]);
    }
    arguments.extend(situation.model_flag("--model"));
    let mut environment = Vec::new();
    // With a GitHub token the models are GitHub's; otherwise they are those of the key.
    if let (None, Some(key)) = (situation.variable("COPILOT_GITHUB_TOKEN"), situation.variable("OPENAI_API_KEY")) {
        let base = situation.services.openai.clone().unwrap_or_else(|| OPENAI.to_owned());
        environment.push(("COPILOT_OFFLINE", "true".to_owned()));
        environment.push(("COPILOT_PROVIDER_BASE_URL", base));
        environment.push(("COPILOT_PROVIDER_API_KEY", key));
    }
    Plan { arguments, environment, files: Vec::new() }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let event = json_event(line)?;
    match text(&event, "/type") {
        "assistant.message" => {
            let said = text(&event, "/data/content");
            if !said.is_empty() {
                said.clone_into(&mut parsed.summary);
            }
            parsed.problem = None;
        }
        "tool.execution_start" => {
            parsed.tools.began(text(&event, "/data/toolCallId"), text(&event, "/data/toolName"));
            return Some(tool_line(text(&event, "/data/toolName"), event.pointer("/data/arguments")?));
        }
        "tool.execution_complete" => {
            let is_error = event.pointer("/data/success").and_then(|value| value.as_bool()) == Some(false);
            parsed.tools.ended(text(&event, "/data/toolCallId"), is_error);
        }
        "session.error" => {
            parsed.problem = Some(format!("{}: {}", text(&event, "/data/errorType"), text(&event, "/data/message")));
        }
        _ => {}
    }
    None
}

/// Only its own record of the session has tokens, in the event that ends it.
fn after(home: &Path, parsed: &mut ParsedOutput) {
    for session in names_left(home, SESSIONS) {
        let record = format!("{SESSIONS}/{session}/events.jsonl");
        let Some(events) = read_left(home, &record, RECORD_MAX) else { continue };
        let Some(end) =
            events.lines().rev().filter_map(json_event).find(|event| text(event, "/type") == "session.shutdown")
        else {
            continue;
        };
        let metrics = ["/data/modelMetrics", "/data/accountingSnapshot/modelMetrics"];
        let models = metrics.iter().find_map(|pointer| end.pointer(pointer)?.as_object());
        for model in models.into_iter().flat_map(serde_json::Map::values) {
            parsed.count(Usage {
                input: count(model, "/usage/inputTokens"),
                cached_input: count(model, "/usage/cacheReadTokens"),
                cache_write: count(model, "/usage/cacheWriteTokens"),
                output: count(model, "/usage/outputTokens"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus K145.
    #[test]
    fn a_link_in_the_place_of_its_record_is_not_read() {
        let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let usage = r#"{"type":"session.shutdown","data":{"modelMetrics":{"m":{"usage":{"inputTokens":200}}}}}"#;
        std::fs::create_dir_all(outside.path().join("one")).unwrap();
        std::fs::write(outside.path().join("one/events.jsonl"), usage).unwrap();
        let sessions = home.path().join(".copilot/session-state");
        std::fs::create_dir_all(&sessions).unwrap();
        std::os::unix::fs::symlink(outside.path().join("one"), sessions.join("one")).unwrap();
        let mut parsed = ParsedOutput::default();
        after(home.path(), &mut parsed);
        assert_eq!(parsed.usage.input, 0);
        std::fs::remove_dir_all(&sessions).unwrap();
        std::os::unix::fs::symlink(outside.path(), &sessions).unwrap();
        after(home.path(), &mut parsed);
        assert_eq!(parsed.usage.input, 0);
    }

    #[test]
    fn its_tokens_come_from_its_own_record() {
        let home = tempfile::tempdir().unwrap();
        let session = home.path().join(".copilot/session-state/one");
        std::fs::create_dir_all(&session).unwrap();
        let usage = r#"{"inputTokens":200,"outputTokens":20,"cacheReadTokens":5,"cacheWriteTokens":0}"#;
        let end = format!(r#"{{"type":"session.shutdown","data":{{"modelMetrics":{{"m":{{"usage":{usage}}}}}}}}}"#);
        std::fs::write(session.join("events.jsonl"), format!("{{\"type\":\"x\"}}\n{end}\n")).unwrap();
        let mut parsed = ParsedOutput::default();
        after(home.path(), &mut parsed);
        assert_eq!((parsed.usage.input, parsed.usage.cached_input, parsed.usage.output), (200, 5, 20));
    }

    #[test]
    fn an_error_that_words_follow_is_over() {
        let mut parsed = ParsedOutput::default();
        read(r#"{"type":"session.error","data":{"errorType":"rate_limit","message":"429 wait"}}"#, &mut parsed);
        assert_eq!(parsed.problem.as_deref(), Some("rate_limit: 429 wait"));
        read(r#"{"type":"assistant.message","data":{"content":"Done."}}"#, &mut parsed);
        assert_eq!((parsed.summary.as_str(), parsed.problem), ("Done.", None));
    }
}
