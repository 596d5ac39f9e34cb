//! `hob-bench bare-loop`: the floor. What an agent does at least, with nothing that makes it one: no limits, no retries, no
//! files but through the shell.

use std::path::PathBuf;

use anyhow::{Context, bail};
use hob_agent::model::use_ring;
use hob_config::child_environment;
use hob_process::Program;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ask the OpenAI-compatible interface at this address, with its version.
    #[arg(long, value_name = "URL")]
    base: String,

    /// Work in this folder.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
}

/// Asks, runs the command that the model names, and asks again until it names none.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    use_ring();
    let client = reqwest::Client::builder().no_proxy().build()?;
    let schema =
        json!({ "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] });
    let tool = json!({ "type": "function", "function": { "name": "shell", "parameters": schema } });
    let mut messages = vec![json!({ "role": "user", "content": "Work." })];
    loop {
        let body = json!({ "model": "scripted", "messages": messages, "tools": [tool] });
        let asked = client.post(format!("{}/chat/completions", args.base));
        let asked = asked.header("content-type", "application/json").body(body.to_string()).send().await?;
        let reply: Value = serde_json::from_slice(&asked.error_for_status()?.bytes().await?)?;
        let message = reply.pointer("/choices/0/message").context("no message")?.clone();
        let Some(call) = message.pointer("/tool_calls/0").cloned() else { return Ok(()) };
        messages.push(message);
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str).context("no arguments")?;
        let arguments: Value = serde_json::from_str(arguments)?;
        let Some(command) = arguments["command"].as_str() else { bail!("no command") };
        let program = Program::of_hob("sh", &child_environment()).args(["-c", command]).dir(&args.folder);
        let output = program.run(&CancellationToken::new()).await?.stdout.text();
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": output }));
    }
}
