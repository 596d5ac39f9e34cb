//! `hob answer ISSUE -m "…"`.

use hob_forge::Access;

use crate::cli::{
    args::Shared,
    issue_args::AnswerArgs,
    json, layout,
    setup::{Listen, Setup},
};

pub(super) async fn answer(setup: Setup, shared: Shared, args: AnswerArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
    hob_worker::unblock(&worker, args.issue, &args.message).await?;
    let (issue, answered) = (args.issue, !args.message.trim().is_empty());
    if shared.json {
        return json::result(&serde_json::json!({ "issue": issue, "answered": answered }));
    }
    let text = if answered {
        format!("Issue {issue} is requeued with your answer: the next free worker passes it to the agent.")
    } else {
        format!(
            "Issue {issue} is requeued without an answer, as by `/hob retry`: the next free worker tries it again as it is."
        )
    };
    Ok(layout::paragraph(&text)?)
}
