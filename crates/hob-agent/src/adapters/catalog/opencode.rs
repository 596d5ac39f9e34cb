//! opencode: `opencode run --format json`.

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

pub(super) const OPENCODE: Adapter = Adapter {
    program: "opencode",
    install: "npm install -g opencode-ai",
    minimum: Version(1, 0, 0),
    version: "--version",
    variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"],
    prompt: Prompt::Stdin,
    prices: "",
    litter: &[],
    controls: &[".opencode", "opencode.json", "opencode.jsonc"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["run", "--format", "json", "--auto", "--title", "Hob"]);
    // A given title saves it a request whose tokens it would not report. Its retries are in its logs only.
    arguments.extend(words(&["--print-logs", "--log-level", "WARN"]));
    let mut settings = json!({ "autoupdate": false, "share": "disabled" });
    // With a custom address, its model belongs to a custom provider, whose name can be anything.
    let own = situation.services.openai.as_ref().zip(situation.model.and_then(|model| model.strip_prefix("openai/")));
    match own {
        Some((base, model)) => {
            settings["provider"] = json!({ "hob": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": base, "apiKey": "{env:OPENAI_API_KEY}" },
                "models": { model: {} },
            } });
            arguments.extend(["--model".to_owned(), format!("hob/{model}")]);
        }
        None => {
            if let Some(base) = &situation.services.anthropic {
                let base = format!("{}/v1", base.trim_end_matches('/'));
                settings["provider"] = json!({ "anthropic": { "options": { "baseURL": base } } });
            }
            arguments.extend(situation.model_flag("--model"));
        }
    }
    if let Some(address) = situation.tools {
        let server = json!({ "type": "remote", "url": address, "enabled": true, "oauth": false, "timeout": CALL_MS });
        settings["mcp"] = json!({ "hob": server });
    }
    let environment = vec![("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned())];
    let files = vec![(".config/opencode/opencode.json".into(), settings.to_string())];
    Plan { arguments, environment, files }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let Some(event) = json_event(line) else {
        // A log line: it counts as the failure until something succeeds.
        if ["level=error", "error="].iter().any(|sign| line.to_ascii_lowercase().contains(sign)) {
            parsed.problem = Some(line.trim().to_owned());
        }
        return None;
    };
    match text(&event, "/type") {
        "text" => {
            text(&event, "/part/text").clone_into(&mut parsed.summary);
            parsed.problem = None;
        }
        "tool_use" => {
            parsed.problem = None;
            let input = event.pointer("/part/state/input").unwrap_or(&Value::Null);
            if text(&event, "/part/tool") == "todowrite" {
                parsed.checklist = input.get("todos").and_then(steps);
            }
            let tool = text(&event, "/part/tool");
            // It tells of a call once that is over.
            parsed.tools.called(text(&event, "/part/callID"), tool, text(&event, "/part/state/status") == "error");
            return Some(tool_line(tool, input));
        }
        "step_finish" => {
            let tokens = |name: &str| count(&event, &format!("/part/tokens/{name}"));
            let (cached_input, cache_write) = (tokens("cache/read"), tokens("cache/write"));
            let input = tokens("input").saturating_add(cached_input).saturating_add(cache_write);
            let output = tokens("output").saturating_add(tokens("reasoning"));
            parsed.count(Usage { input, cached_input, cache_write, output });
            // An unknown model costs it 0: then the settings' price counts.
            if let Some(usd) = event.pointer("/part/cost").and_then(Value::as_f64).filter(|usd| *usd > 0.0) {
                parsed.add_usd(usd);
            }
        }
        "error" => {
            let said =
                [text(&event, "/error/data/message"), text(&event, "/error/message"), text(&event, "/error/name")];
            let status = count(&event, "/error/data/statusCode");
            let said = said.into_iter().find(|said| !said.is_empty()).unwrap_or("an error without a message");
            parsed.problem = Some(if status > 0 { format!("{said} (status {status})") } else { said.to_owned() });
        }
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_events_give_progress_tokens_and_the_words() {
        let mut parsed = ParsedOutput::default();
        for (line, progress) in [
            (r#"{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"make"}}}}"#, Some("bash: make")),
            (r#"{"type":"text","part":{"text":"Done."}}"#, None),
            (
                r#"{"type":"step_finish","part":{"tokens":{"input":7,"output":2,"reasoning":1,"cache":{"read":3,"write":0}},"cost":0.5}}"#,
                None,
            ),
        ] {
            assert_eq!(read(line, &mut parsed).as_deref(), progress, "{line}");
        }
        let todos = r#"{"todos":[{"content":"Look","status":"completed","priority":"high"}]}"#;
        read(
            &format!(r#"{{"type":"tool_use","part":{{"tool":"todowrite","state":{{"input":{todos}}}}}}}"#),
            &mut parsed,
        );
        let steps = [("Look".to_owned(), hob_domain::StepState::Done)];
        assert_eq!(parsed.checklist, hob_domain::Checklist::new(steps));
        assert_eq!((parsed.summary.as_str(), parsed.usd_micros), ("Done.", Some(500_000)));
        assert_eq!(parsed.usage, Usage { input: 10, cached_input: 3, cache_write: 0, output: 3 });
        read(r#"{"type":"error","error":{"name":"APIError","data":{"message":"No.","statusCode":401}}}"#, &mut parsed);
        assert_eq!(parsed.problem.as_deref(), Some("No. (status 401)"));
    }
}
