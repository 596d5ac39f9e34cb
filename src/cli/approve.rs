//! `hob approve ISSUE`.

use hob_domain::terminal;
use hob_forge::Access;

use crate::cli::{
    args::{Shared, UnblockArgs},
    output,
    setup::{Listen, Setup},
};

pub(super) async fn approve(setup: Setup, shared: Shared, args: UnblockArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
    let action = hob_worker::approve(&worker, args.issue, &args.message).await?;
    if shared.json {
        return output::json(&serde_json::json!({ "issue": args.issue, "approved": action }));
    }
    anstream::println!(
        "Issue {} is requeued, and its agent may run exactly this with the tool `{}`:",
        args.issue,
        terminal(&action.tool)
    );
    anstream::print!("{}", action.shown());
    Ok(())
}
