//! `hob-bench model-server`: the scripted model by itself, for a client that is tried by hand.

use std::{io::Write, time::Duration};

use anyhow::Context;
use hob_bench::{Fault, Script, Times, serve as start};
use tokio::signal::unix::{SignalKind, signal};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Add a step with this shell command. May be repeated.
    #[arg(long = "command", value_name = "COMMAND")]
    commands: Vec<String>,

    /// Use this edit for a client without tools.
    #[arg(long, value_name = "PATH=TEXT")]
    edit: Option<String>,

    /// Inject a fault at a step, counted from 0: server-error, rate-limited, garbage, bad-arguments, reset,
    /// cut-after-first, cut-in-middle, quota or unauthorized. With `!` at the end it is permanent.
    #[arg(long = "fault", value_name = "STEP:FAULT", value_parser = fault)]
    faults: Vec<(usize, Fault, Times)>,
}

/// Serves until SIGINT or SIGTERM. The first line on standard output is its address, each further one a request.
pub(super) async fn serve(args: Args) -> anyhow::Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut script = Script::new(args.commands);
    for (step, fault, times) in args.faults {
        script = script.fault(step, fault, times);
    }
    if let Some((path, text)) = args.edit.as_deref().and_then(|edit| edit.split_once('=')) {
        script = script.edit(path, text);
    }
    let print = |value: &serde_json::Value| writeln!(std::io::stdout().lock(), "{value}");
    let server = start(script, move |seen| {
        // The reader may be gone; the client is served all the same.
        print(&serde_json::json!(seen)).ok();
    });
    let server = server.await.context("start the scripted model")?;
    print(&serde_json::json!({ "address": server.address() }))?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

fn fault(text: &str) -> anyhow::Result<(usize, Fault, Times)> {
    let (step, name) = text.split_once(':').context("write STEP:FAULT")?;
    let (name, times) = match name.strip_suffix('!') {
        Some(name) => (name, Times::Always),
        None => (name, Times::Once),
    };
    let fault = match name {
        "server-error" => Fault::ServerError,
        "rate-limited" => Fault::RateLimited,
        "garbage" => Fault::Garbage,
        "bad-arguments" => Fault::BadArguments,
        "reset" => Fault::Reset,
        "cut-after-first" => Fault::CutAfterFirst,
        "cut-in-middle" => Fault::CutInMiddle,
        "quota" => Fault::Quota(Duration::from_secs(3_600)),
        "unauthorized" => Fault::Unauthorized,
        _ => anyhow::bail!("`{name}` is not a fault"),
    };
    Ok((step.parse().context("the step must be a number from 0")?, fault, times))
}
