//! mini-swe-agent: `mini`. Its output is for people; the result is in its trajectory.

use std::path::Path;

use serde_json::Value;

use crate::{
    adapters::{
        adapter::{Adapter, PROMPT, Plan, Prompt, Situation, Version, words},
        limit::is_unpaid,
        parsed_output::{ParsedOutput, count, read_left, text},
    },
    model::Usage,
    native::Speaks,
};

/// The file in its home with the record of its run.
const TRAJECTORY: &str = "trajectory.json";
/// Bytes of a trajectory that are read.
const TRAJECTORY_MAX: u64 = 64 << 20;

pub(super) const MINI_SWE_AGENT: Adapter = Adapter {
    program: "mini",
    install: "pip install mini-swe-agent",
    minimum: Version(2, 0, 0),
    version: "--help",
    variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    prompt: Prompt::Argument,
    prices: "",
    litter: &[],
    controls: &[".env"],
    speaks: Speaks::LastLine,
    plan,
    read,
    after: Some(after),
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["--yolo", "--exit-immediately", "--task", PROMPT]);
    arguments.extend(situation.model_flag("--model"));
    arguments.extend(["--output".to_owned(), situation.home.join(TRAJECTORY).display().to_string()]);
    if let Some(micros) = situation.usd_micros {
        arguments.extend(["--cost-limit".to_owned(), format!("{:.6}", micros as f64 / 1e6)]);
    }
    let mut environment = vec![
        ("MSWEA_CONFIGURED", "true".to_owned()),
        ("MSWEA_SILENT_STARTUP", "1".to_owned()),
        // Wide, so that an error stays on one line.
        ("COLUMNS", "1000".to_owned()),
        // An unknown model is not a reason to stop: its price is in the settings.
        ("MSWEA_COST_TRACKING", "ignore_errors".to_owned()),
        ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
    ];
    environment.extend(situation.services.openai.clone().map(|base| ("OPENAI_API_BASE", base)));
    environment.extend(situation.services.anthropic.clone().map(|base| ("ANTHROPIC_API_BASE", base)));
    Plan { arguments, environment, files: Vec::new() }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let line = line.trim();
    // Its model library prints at the end why it gave up.
    if line.contains("Error: ") || line.contains("Exception - ") {
        parsed.problem = Some(line.to_owned());
        // It would try again for minutes.
        parsed.abort |= is_unpaid(line);
    }
    line.starts_with("mini-swe-agent (step").then(|| line.to_owned())
}

fn after(home: &Path, parsed: &mut ParsedOutput) {
    let Some(written) = read_left(home, TRAJECTORY, TRAJECTORY_MAX) else { return };
    let Ok(trajectory) = serde_json::from_str::<Value>(&written) else { return };
    let messages = trajectory.get("messages").and_then(Value::as_array).into_iter().flatten();
    let mut status = String::new();
    for message in messages {
        let usage = |name: &str| count(message, &format!("/extra/response/usage/{name}"));
        parsed.count(Usage {
            input: usage("prompt_tokens"),
            cached_input: usage("prompt_tokens_details/cached_tokens"),
            cache_write: 0,
            output: usage("completion_tokens"),
        });
        let said = text(message, "/content");
        match text(message, "/role") {
            "assistant" if !said.is_empty() => said.clone_into(&mut parsed.summary),
            "exit" => {
                text(message, "/extra/exit_status").clone_into(&mut status);
                let submission = text(message, "/extra/submission");
                if !submission.trim().is_empty() {
                    submission.clone_into(&mut parsed.summary);
                }
            }
            _ => {}
        }
    }
    let usd = trajectory.pointer("/info/model_stats/instance_cost").and_then(Value::as_f64);
    if let Some(usd) = usd.filter(|usd| *usd > 0.0) {
        parsed.add_usd(usd);
    }
    match status.as_str() {
        "Submitted" => parsed.problem = None,
        "" => {}
        other => {
            let said = parsed.problem.take().unwrap_or_default();
            parsed.problem = Some(format!("{other} {said}").trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_trajectory_gives_tokens_and_the_end() {
        let home = tempfile::tempdir().unwrap();
        let written = |status: &str| {
            let usage = r#"{"prompt_tokens":100,"completion_tokens":10}"#;
            let text = format!(
                r#"{{"info":{{"model_stats":{{"instance_cost":0.25}}}},"messages":[
                {{"role":"assistant","content":"Did it.","extra":{{"response":{{"usage":{usage}}}}}}},
                {{"role":"exit","content":"","extra":{{"exit_status":"{status}","submission":""}}}}]}}"#
            );
            std::fs::write(home.path().join(TRAJECTORY), text).unwrap();
            let mut parsed = ParsedOutput { problem: Some("RateLimitError: wait".into()), ..ParsedOutput::default() };
            after(home.path(), &mut parsed);
            parsed
        };
        let parsed = written("Submitted");
        assert_eq!((parsed.usage.input, parsed.usage.output, parsed.usd_micros), (100, 10, Some(250_000)));
        assert_eq!((parsed.summary.as_str(), parsed.problem), ("Did it.", None));
        assert_eq!(written("LimitsExceeded").problem.as_deref(), Some("LimitsExceeded RateLimitError: wait"));
    }
}
