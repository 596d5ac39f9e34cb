//! `hob pause`, `hob resume` and `hob terminate`.

use std::sync::Arc;

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_worker::{Requested, Worker};
use serde_json::json;

use crate::cli::{
    args::{PauseArgs, ResumeArgs, Shared},
    output,
    setup::{Listen, Setup},
};

pub(super) async fn pause(setup: Setup, shared: Shared, args: PauseArgs) -> anyhow::Result<()> {
    let worker = connect(setup, &shared).await?;
    let Some(issue) = args.what.issue else {
        hob_worker::kill_switch(&worker, Some(&args.message)).await?;
        let text = "All work is paused: no worker claims anything from its next poll on. Attempts under way end by \
                    themselves; `hob resume --all` takes this back.";
        return tell(&shared, json!({ "paused": "all" }), text);
    };
    let asked = hob_worker::pause(&worker, issue, &args.message).await?;
    let text = match asked {
        Requested::Done => format!("Issue {issue} is paused: `hob resume {issue}` lets it go on."),
        Requested::Passed => format!(
            "A worker has issue {issue}: it keeps the work, puts the issue back and leaves it alone within a poll."
        ),
    };
    tell(&shared, answer(issue, "paused", asked), &text)
}

pub(super) async fn resume(setup: Setup, shared: Shared, args: ResumeArgs) -> anyhow::Result<()> {
    let worker = connect(setup, &shared).await?;
    match args.what.issue {
        None => {
            hob_worker::kill_switch(&worker, None).await?;
            tell(&shared, json!({ "resumed": "all" }), "Work goes on from each worker's next poll on.")
        }
        Some(issue) => {
            hob_worker::resume(&worker, issue).await?;
            let text = format!("Issue {issue} goes on: the next free worker takes it.");
            tell(&shared, answer(issue, "resumed", Requested::Done), &text)
        }
    }
}

pub(super) async fn terminate(setup: Setup, shared: Shared, issue: IssueNumber) -> anyhow::Result<()> {
    let asked = hob_worker::terminate(&*connect(setup, &shared).await?, issue).await?;
    let text = match asked {
        Requested::Done => format!("The work on issue {issue} is ended, and its label taken off."),
        Requested::Passed => format!("A worker has issue {issue}: it ends the work within a poll."),
    };
    tell(&shared, answer(issue, "terminated", asked), &text)
}

async fn connect(setup: Setup, shared: &Shared) -> anyhow::Result<Arc<Worker>> {
    setup.worker(shared, Access::ReadWrite, None, Listen::nobody()).await
}

fn answer(issue: IssueNumber, what: &str, asked: Requested) -> serde_json::Value {
    json!({ "issue": issue, "asked": what, "done": asked == Requested::Done })
}

fn tell(shared: &Shared, answer: serde_json::Value, text: &str) -> anyhow::Result<()> {
    if shared.json {
        return output::json(&answer);
    }
    anstream::println!("{text}");
    Ok(())
}
