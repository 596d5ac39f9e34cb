//! `hob pause`, `hob resume` and `hob cancel`.

use std::sync::Arc;

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_worker::{Requested, Worker};
use serde_json::json;

use crate::cli::{
    args::Shared,
    control_args::{PauseArgs, ResumeArgs, Target},
    json, layout,
    setup::{Listen, Setup},
    stopped::{self, Answer},
};

pub(super) async fn pause(setup: Setup, shared: Shared, args: PauseArgs) -> anyhow::Result<()> {
    let issue = match args.what.target {
        Some(Target::Session(text)) => return told(&shared, stopped::pause(&setup, &text).await?),
        Some(Target::Issue(issue)) => Some(issue),
        None => None,
    };
    let worker = connect(setup, &shared).await?;
    let Some(issue) = issue else {
        hob_worker::kill_switch(&worker, Some(&args.message)).await?;
        let text = "The repository is paused: from its next poll on, no worker claims an issue. Running attempts finish. \
                    `hob resume --all` resumes it.";
        return tell(&shared, everything("paused"), text);
    };
    let asked = Box::pin(hob_worker::pause(&worker, issue, &args.message)).await?;
    let text = match asked {
        Requested::Done => format!("Issue {issue} is paused. `hob resume {issue}` resumes it."),
        Requested::Passed => format!(
            "A worker holds issue {issue}. Within one poll interval it saves the work, requeues the issue and pauses it."
        ),
    };
    tell(&shared, answer(issue, "paused", asked), &text)
}

pub(super) async fn resume(setup: Setup, shared: Shared, args: ResumeArgs) -> anyhow::Result<()> {
    match args.target {
        Some(Target::Session(text)) => told(&shared, stopped::resume(&setup, &text)?),
        None => {
            let worker = connect(setup, &shared).await?;
            hob_worker::kill_switch(&worker, None).await?;
            tell(
                &shared,
                everything("resumed"),
                "The repository is resumed: each worker claims issues again from its next poll on.",
            )
        }
        Some(Target::Issue(issue)) => {
            let worker = connect(setup, &shared).await?;
            hob_worker::resume(&worker, issue).await?;
            let text = format!("Issue {issue} is resumed: the next free worker claims it.");
            tell(&shared, answer(issue, "resumed", Requested::Done), &text)
        }
    }
}

pub(super) async fn cancel(setup: Setup, shared: Shared, target: Target) -> anyhow::Result<()> {
    let issue = match target {
        Target::Session(text) => return told(&shared, stopped::cancel(&setup, &text).await?),
        Target::Issue(issue) => issue,
    };
    let asked = hob_worker::terminate(&*connect(setup, &shared).await?, issue).await?;
    let text = match asked {
        Requested::Done => format!("The work on issue {issue} has ended, and its label was removed."),
        Requested::Passed => format!("A worker holds issue {issue}. It ends the work within one poll interval."),
    };
    tell(&shared, answer(issue, "terminated", asked), &text)
}

async fn connect(setup: Setup, shared: &Shared) -> anyhow::Result<Arc<Worker>> {
    setup.worker(shared, Access::ReadWrite, None, Listen::nobody()).await
}

fn everything(what: &str) -> serde_json::Value {
    json!({ "issue": null, "session": null, "asked": what, "done": true, "command": null })
}

fn answer(issue: IssueNumber, what: &str, asked: Requested) -> serde_json::Value {
    json!({ "issue": issue, "session": null, "asked": what, "done": asked == Requested::Done, "command": null })
}

fn told(shared: &Shared, Answer { json, text }: Answer) -> anyhow::Result<()> {
    tell(shared, json, &text)
}

fn tell(shared: &Shared, answer: serde_json::Value, text: &str) -> anyhow::Result<()> {
    if shared.json {
        return json::result(&answer);
    }
    Ok(layout::paragraph(text)?)
}
