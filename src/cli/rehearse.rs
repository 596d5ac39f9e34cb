//! `hob rehearse`.

use crate::cli::{
    args::{RehearseArgs, Shared},
    setup::Setup,
};

pub(super) async fn rehearse(_setup: Setup, _shared: Shared, _args: RehearseArgs) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
