//! `hob forge serve`.

use std::net::SocketAddr;

use anyhow::Context;

use crate::local_forge::{self, Options, User};

/// `hob forge serve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// An account, as LOGIN:TOKEN[:ROLE[:bot]]; roles are read, triage, write, maintain and admin.
    #[arg(long = "user", value_name = "LOGIN:TOKEN[:ROLE]")]
    users: Vec<User>,
}

pub(super) async fn serve(args: Args) -> anyhow::Result<()> {
    let options = Options { listen: args.listen, users: args.users, ..Options::default() };
    let running = local_forge::serve(options).await.context("the forge cannot be started")?;
    println!("{}", serde_json::json!({ "api_url": running.api_url(), "server_url": running.server_url() }));
    tokio::signal::ctrl_c().await.context("signals cannot be heard")?;
    running.shutdown().await;
    Ok(())
}
