//! `hob approve ISSUE`.

use hob_domain::{IssueNumber, WorkPlan};
use hob_forge::Access;
use hob_text::terminal;
use hob_worker::Approved;

use crate::cli::{
    args::Shared,
    issue_args::ApproveArgs,
    json, output,
    setup::{Listen, Setup},
};

pub(super) async fn approve(setup: Setup, shared: Shared, args: ApproveArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
    let approved = Box::pin(hob_worker::approve(&worker, args.issue, &args.message)).await?;
    if shared.json {
        return json::result(&as_json(args.issue, &approved));
    }
    let issue = args.issue;
    let action = match approved {
        Approved::Action(action) => action,
        Approved::Plan(plan) => {
            let then = if plan.issues.is_empty() { "the agent follows this plan" } else { "Hob opens these issues" };
            output::line(format!("Issue {issue} is requeued, and {then}:"))?;
            return Ok(output::line(terminal(&plan.plain()))?);
        }
    };
    let tool = terminal(&action.tool);
    output::line(format!("Issue {issue} is requeued, and its agent may run exactly this with the tool `{tool}`:"))?;
    Ok(output::line(action.shown().trim_end_matches('\n'))?)
}

/// The approval, in the form of `docs/json.md`.
fn as_json(issue: IssueNumber, approved: &Approved) -> serde_json::Value {
    match approved {
        Approved::Action(action) => serde_json::json!({ "issue": issue, "approved": action }),
        Approved::Plan(WorkPlan { summary, steps, issues, files, questions }) => {
            let plan = serde_json::json!({
                "summary": summary, "steps": steps, "issues": issues, "files": files, "questions": questions,
            });
            serde_json::json!({ "issue": issue, "approved": null, "plan": plan })
        }
    }
}
