//! Claude Code: `claude --print`, its stream of JSON events.

use std::time::Duration;

use hob_domain::{Checklist, StepState};
use serde_json::{Value, json};

use crate::{
    adapters::{
        adapter::{Adapter, CALL_MS, Plan, Prompt, Situation, Version, words},
        parsed_output::{ParsedOutput, count, json_event, text, tool_line},
    },
    checklist::{step_state, steps},
    model::Usage,
    native::Speaks,
};

/// Its own tools that are disabled in an investigation: their output is not evidence.
const OWN_TOOLS: &str = "Bash,Edit,Write,NotebookEdit,Read,Grep,Glob,Task,WebFetch,WebSearch";
/// The file of its servers, in its home.
const SERVERS: &str = ".mcp-servers.json";

/// An announced wait that is too long to hold a claim for.
const LONG_WAIT: Duration = Duration::from_secs(300);

pub(super) const CLAUDE: Adapter = Adapter {
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    minimum: Version(2, 0, 30),
    version: "--version",
    variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    prompt: Prompt::Stdin,
    prices: "anthropic/",
    litter: &[],
    controls: &[".claude", ".mcp.json"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["--print", "--output-format", "stream-json", "--verbose"]);
    let mut files = Vec::new();
    match situation.tools {
        // Named tools rather than no checks at all: the latter is refused to root.
        None => {
            arguments.extend(words(&["--permission-mode", "acceptEdits"]));
            arguments.extend(words(&["--allowedTools", "Bash,Edit,MultiEdit,Write,NotebookEdit"]));
        }
        Some(address) => {
            arguments.extend(words(&["--allowedTools", "mcp__hob", "--disallowedTools", OWN_TOOLS, "--mcp-config"]));
            arguments.push(situation.home.join(SERVERS).display().to_string());
            let servers = json!({ "mcpServers": { "hob": { "type": "http", "url": address } } });
            files.push((SERVERS.into(), servers.to_string()));
        }
    }
    // Servers that the repository names are programs that were not approved here.
    arguments.push("--strict-mcp-config".to_owned());
    arguments.extend(situation.model_flag("--model"));
    if let Some(micros) = situation.usd_micros {
        arguments.extend(["--max-budget-usd".to_owned(), format!("{:.6}", micros as f64 / 1e6)]);
    }
    let mut environment =
        vec![("DISABLE_AUTOUPDATER", "1".to_owned()), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned())];
    environment.extend(situation.tools.map(|_| ("MCP_TOOL_TIMEOUT", CALL_MS.to_string())));
    environment.extend(situation.services.anthropic.clone().map(|base| ("ANTHROPIC_BASE_URL", base)));
    Plan { arguments, environment, files }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let event = json_event(line)?;
    match text(&event, "/type") {
        "assistant" => {
            let blocks = event.pointer("/message/content")?.as_array()?;
            for call in blocks.iter().filter(|block| text(block, "/type") == "tool_use") {
                note_steps(call, parsed);
                parsed.tools.began(text(call, "/id"), text(call, "/name"));
            }
            let call = blocks.iter().find(|block| text(block, "/type") == "tool_use")?;
            return Some(tool_line(text(call, "/name"), call.get("input")?));
        }
        "user" => {
            let blocks = event.pointer("/message/content")?.as_array()?;
            for result in blocks.iter().filter(|block| text(block, "/type") == "tool_result") {
                let is_error = result.get("is_error").and_then(|value| value.as_bool()) == Some(true);
                parsed.tools.ended(text(result, "/tool_use_id"), is_error);
            }
        }
        "system" if text(&event, "/subtype") == "api_retry" => {
            let status = count(&event, "/error_status");
            let wait = event.pointer("/retry_delay_ms").and_then(|value| value.as_f64()).unwrap_or(0.0);
            let wait = Duration::try_from_secs_f64(wait / 1000.0).unwrap_or_default();
            let said = format!("status {status}, {}", text(&event, "/error"));
            if matches!(status, 401 | 403) || wait > LONG_WAIT {
                parsed.abort = true;
                parsed.problem = Some(said.clone());
                parsed.reset = (status == 429).then_some(wait);
            }
            return Some(format!("the model's service: {said}; again in {} s", wait.as_secs()));
        }
        "rate_limit_event" if text(&event, "/rate_limit_info/status") == "rejected" => {
            let moment = count(&event, "/rate_limit_info/resetsAt");
            parsed.problem = Some(format!("usage limit reached|{moment}"));
        }
        "result" => result(&event, parsed),
        _ => {}
    }
    None
}

/// Applies a call's report of its steps: all of them at once, or one of its tasks.
fn note_steps(call: &Value, parsed: &mut ParsedOutput) {
    match text(call, "/name") {
        "TodoWrite" => parsed.checklist = call.pointer("/input/todos").and_then(steps),
        "TaskCreate" => {
            parsed.steps.push((text(call, "/input/subject").to_owned(), StepState::Todo));
            parsed.checklist = Checklist::new(parsed.steps.clone());
        }
        "TaskUpdate" => {
            // They are numbered in the order of their creation, from 1.
            let number = text(call, "/input/taskId").parse::<usize>().ok();
            let found = number.and_then(|number| parsed.steps.get_mut(number.checked_sub(1)?));
            if let (Some((_, state)), Some(now)) = (found, step_state(text(call, "/input/status"))) {
                *state = now;
                parsed.checklist = Checklist::new(parsed.steps.clone());
            }
        }
        _ => {}
    }
}

fn result(event: &Value, parsed: &mut ParsedOutput) {
    let tokens = |name: &str| count(event, &format!("/usage/{name}"));
    let (cached_input, cache_write) = (tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens"));
    let input = tokens("input_tokens").saturating_add(cached_input).saturating_add(cache_write);
    parsed.usage = Usage { input, cached_input, cache_write, output: tokens("output_tokens") };
    parsed.usd_micros = None;
    if let Some(usd) = event.pointer("/total_cost_usd").and_then(|value| value.as_f64()) {
        parsed.add_usd(usd);
    }
    let said = text(event, "/result");
    said.clone_into(&mut parsed.summary);
    parsed.refused = text(event, "/stop_reason") == "refusal";
    if event.pointer("/is_error").and_then(|value| value.as_bool()) == Some(true) {
        let limit = parsed.problem.take().filter(|problem| problem.contains("reached|"));
        let said = if said.is_empty() { text(event, "/subtype") } else { said };
        parsed.problem = Some(limit.map_or_else(|| said.to_owned(), |limit| format!("{said} ({limit})")));
    } else {
        parsed.problem = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_events_give_progress_the_bill_and_the_words() {
        let mut parsed = ParsedOutput::default();
        let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}"#;
        assert_eq!(read(call, &mut parsed).as_deref(), Some("Bash: make"));
        let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","stop_reason":"end_turn",
            "total_cost_usd":0.0015,"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4}}"#;
        read(result, &mut parsed);
        assert_eq!((parsed.summary.as_str(), parsed.usd_micros, parsed.problem), ("Done.", Some(1_500), None));
        assert_eq!(parsed.usage, Usage { input: 6, cached_input: 3, cache_write: 2, output: 4 });
    }

    #[test]
    fn its_steps_are_told_at_once_or_one_by_one() {
        let mut parsed = ParsedOutput::default();
        let call = |name: &str, input: &str| {
            let block = format!(r#"{{"type":"tool_use","name":"{name}","input":{input}}}"#);
            format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"x"}},{block}]}}}}"#)
        };
        let todos = r#"{"todos":[{"content":"Look","status":"completed","activeForm":"Looking"},{"content":"Mend","status":"in_progress"}]}"#;
        assert_eq!(read(&call("TodoWrite", todos), &mut parsed).as_deref(), Some("TodoWrite"));
        let both =
            [("Look", StepState::Done), ("Mend", StepState::Doing)].map(|(step, state)| (step.to_owned(), state));
        assert_eq!(parsed.checklist.take(), Checklist::new(both.clone()));
        for (name, input) in [
            ("TaskCreate", r#"{"subject":"Look","description":"x"}"#),
            ("TaskCreate", r#"{"subject":"Mend","description":"x"}"#),
            ("TaskUpdate", r#"{"taskId":"1","status":"completed"}"#),
            ("TaskUpdate", r#"{"taskId":"2","status":"in_progress"}"#),
            ("TaskUpdate", r#"{"taskId":"9","status":"completed"}"#),
        ] {
            read(&call(name, input), &mut parsed);
        }
        assert_eq!(parsed.checklist, Checklist::new(both));
    }

    #[test]
    fn it_is_not_left_to_wait_for_a_key_or_for_an_hour() {
        for (status, delay, abort) in [(401, 500, true), (429, 3_600_000, true), (529, 900, false)] {
            let mut parsed = ParsedOutput::default();
            let retry = format!(
                r#"{{"type":"system","subtype":"api_retry","error_status":{status},"retry_delay_ms":{delay}.5,"error":"x"}}"#
            );
            assert!(read(&retry, &mut parsed).is_some());
            assert_eq!(parsed.abort, abort, "{status}");
        }
    }
}
