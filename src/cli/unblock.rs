//! `hob unblock ISSUE -m "…"`.

use crate::{
    cli::{
        args::{Shared, UnblockArgs},
        setup::{Listen, Setup},
    },
    forge::Access,
    worker,
};

pub(super) async fn unblock(setup: Setup, shared: Shared, args: UnblockArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
    worker::unblock(&worker, args.issue, &args.message).await?;
    if !shared.json {
        anstream::println!("Issue {} is requeued with your answer.", args.issue);
    }
    Ok(())
}
