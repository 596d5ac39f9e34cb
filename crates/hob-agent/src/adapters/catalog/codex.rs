//! Codex: `codex exec --json`.

use hob_sandbox::Tier;
use serde_json::{Value, json};

use crate::{
    adapters::{
        adapter::{Adapter, CALL_MS, Plan, Prompt, Situation, Version, words},
        parsed_output::{ParsedOutput, count, json_event, text, tool_line},
    },
    checklist::steps,
    model::Usage,
    native::Speaks,
};

/// OpenAI's own interface.
const OPENAI: &str = "https://api.openai.com/v1";

pub(super) const CODEX: Adapter = Adapter {
    program: "codex",
    install: "npm install -g @openai/codex",
    minimum: Version(0, 100, 0),
    version: "--version",
    variables: &["OPENAI_API_KEY"],
    prompt: Prompt::Stdin,
    prices: "openai/",
    litter: &[],
    controls: &[".codex"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    // Its own sandbox needs what Hob's forbids, and adds nothing to it.
    let sandbox = match (situation.tier, situation.tools) {
        (Tier::None, None) => "workspace-write",
        (Tier::None, Some(_)) => "read-only",
        (Tier::Fence | Tier::Box, _) => "danger-full-access",
    };
    let mut arguments = words(&["exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox]);
    // A custom provider: the built-in one signs in with a browser and opens other connections.
    let base = situation.services.openai.clone().unwrap_or_else(|| OPENAI.to_owned());
    let base = json!(base).to_string();
    let provider = format!("{{name=\"openai\",base_url={base},env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}}");
    // The service would search the web for it, unless the settings say so.
    let search = format!("web_search={}", if situation.searches { "\"live\"" } else { "\"disabled\"" });
    for setting in ["model_provider=\"hob\"".to_owned(), format!("model_providers.hob={provider}"), search] {
        arguments.extend(["-c".to_owned(), setting]);
    }
    if let Some(address) = situation.tools {
        // Hob itself asks for the approval of calls of its tools.
        let rest = format!("tool_timeout_sec={},default_tools_approval_mode=\"approve\"", CALL_MS / 1_000);
        let server = format!("{{url={},{rest}}}", json!(address));
        arguments.extend(["-c".to_owned(), format!("mcp_servers.hob={server}")]);
    }
    arguments.extend(situation.model_flag("--model"));
    arguments.push("-".to_owned());
    Plan { arguments, ..Plan::default() }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let event = json_event(line)?;
    match text(&event, "/type") {
        "item.started" | "item.updated" | "item.completed" if text(&event, "/item/type") == "todo_list" => {
            parsed.checklist = event.pointer("/item/items").and_then(steps);
        }
        "item.started" => {
            let kind = text(&event, "/item/type");
            if let Some(tool) = tool(kind, &event) {
                parsed.tools.began(text(&event, "/item/id"), tool);
            }
            return (kind == "command_execution").then(|| tool_line("shell", &event["item"]));
        }
        "item.completed" => {
            let kind = text(&event, "/item/type");
            if let Some(tool) = tool(kind, &event) {
                let is_error = matches!(text(&event, "/item/status"), "failed" | "declined");
                parsed.tools.called(text(&event, "/item/id"), tool, is_error);
            }
            match kind {
                "agent_message" => text(&event, "/item/text").clone_into(&mut parsed.summary),
                "file_change" => return Some("edits files".to_owned()),
                _ => {}
            }
        }
        "turn.completed" => {
            let tokens = |name: &str| count(&event, &format!("/usage/{name}"));
            parsed.count(Usage {
                input: tokens("input_tokens"),
                cached_input: tokens("cached_input_tokens"),
                cache_write: tokens("cache_write_input_tokens"),
                output: tokens("output_tokens"),
            });
            parsed.problem = None;
        }
        "turn.failed" => parsed.problem = Some(text(&event, "/error/message").to_owned()),
        "error" => {
            let said = text(&event, "/message").to_owned();
            // It tries again five times; a rejected key stays rejected.
            parsed.abort |= said.contains("401 Unauthorized");
            parsed.problem = Some(said.clone());
            return Some(said);
        }
        _ => {}
    }
    None
}

/// The name of the tool that an item calls. `None` for other items.
fn tool<'a>(kind: &'a str, event: &'a Value) -> Option<&'a str> {
    match kind {
        "command_execution" => Some("shell"),
        "mcp_tool_call" => Some(text(event, "/item/tool")),
        "file_change" | "web_search" | "collab_tool_call" => Some(kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_events_give_progress_tokens_and_the_words() {
        let mut parsed = ParsedOutput::default();
        for (line, progress) in [
            (r#"{"type":"error","message":"Reconnecting... 1/5"}"#, Some("Reconnecting... 1/5")),
            (r#"{"type":"item.started","item":{"type":"command_execution","command":"make"}}"#, Some("shell: make")),
            (r#"{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}"#, None),
            (r#"{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}"#, None),
            (
                r#"{"type":"item.updated","item":{"type":"todo_list","items":[{"text":"Look","completed":true},{"text":"Mend","completed":false}]}}"#,
                None,
            ),
            ("no event", None),
        ] {
            assert_eq!(read(line, &mut parsed).as_deref(), progress, "{line}");
        }
        let steps = [("Look", hob_domain::StepState::Done), ("Mend", hob_domain::StepState::Todo)];
        let steps = steps.map(|(step, state)| (step.to_owned(), state));
        assert_eq!(parsed.checklist, hob_domain::Checklist::new(steps));
        assert_eq!((parsed.summary.as_str(), parsed.problem), ("Done.", None));
        assert_eq!((parsed.usage.input, parsed.usage.cached_input, parsed.usage.output), (9, 4, 2));
    }
}
