//! `hob unblock ISSUE -m "…"`.

use hob_forge::Access;

use crate::cli::{
    args::{Shared, UnblockArgs},
    setup::{Listen, Setup},
};

pub(super) async fn unblock(setup: Setup, shared: Shared, args: UnblockArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
    hob_worker::unblock(&worker, args.issue, &args.message).await?;
    if !shared.json {
        anstream::println!("Issue {} is requeued with your answer.", args.issue);
    }
    Ok(())
}
