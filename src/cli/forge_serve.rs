//! `hob forge serve`: the embedded forge by itself; `hob forge routes`: its endpoints.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use github_emulator::{App, AppKey, Fault, Moods, Options, Role, Seed, User, Webhook, endpoints, serve as start};
use secrecy::SecretString;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{json, output};

/// The arguments of `hob forge serve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Listen on this address; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Keep the data in this folder. Without it, the data ends with the process.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Add an account with this token. Roles are read, triage, write, maintain and admin. Kinds are bot, fine-grained (a
    /// person's fine-grained token) and job (the token of a job of Actions). May be repeated.
    #[arg(long = "user", value_name = "LOGIN:TOKEN[:ROLE[:KIND]]")]
    users: Vec<User>,

    /// Add a GitHub App with its installation and key file (PEM; the public half is enough). May be repeated.
    #[arg(long = "app", value_name = "ID:INSTALLATION:SLUG:ROLE:KEYFILE")]
    apps: Vec<AppArg>,

    /// Begin with the accounts and repositories of this TOML file. Repositories that exist stay as they are.
    #[arg(long, value_name = "FILE")]
    seed: Option<PathBuf>,

    /// Limit each account to this many requests per hour.
    #[arg(long, value_name = "N")]
    rate_limit: Option<u32>,

    /// Send webhooks to this address.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,

    /// Sign webhooks with this secret.
    #[arg(long, value_name = "SECRET", requires = "webhook")]
    webhook_secret: Option<SecretString>,

    /// Inject the faults that this JSON file lists.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,

    /// Behave as the real GitHub does on a bad day: all or some moods, drawn from this seed.
    #[arg(long, value_name = "all|NAME[,NAME…][@SEED]")]
    moods: Option<Moods>,
}

/// Serves until SIGINT or SIGTERM. Prints its addresses as one JSON line on standard output when it is ready.
pub(super) async fn serve(args: Args) -> anyhow::Result<()> {
    let faults = match &args.faults {
        Some(file) => {
            let text = std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
            Fault::parse(&text).with_context(|| format!("cannot parse `{}`", file.display()))?
        }
        None => Vec::new(),
    };
    let seed = args.seed.as_deref().map(read_seed).transpose()?.unwrap_or_default();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let webhook = args.webhook.map(|url| Webhook { url, secret: args.webhook_secret });
    let apps = args.apps.into_iter().map(AppArg::read).collect::<anyhow::Result<_>>()?;
    let (listen, data, users, rate_limit) = (args.listen, args.data, args.users, args.rate_limit);
    let moods = args.moods.unwrap_or_default();
    let options = Options { listen, data, users, apps, rate_limit, seed, webhook, moods };
    let forge = start(options).await.context("cannot start the forge")?;
    for fault in faults {
        forge.inject(fault);
    }
    let (api_url, server_url) = (forge.api_url(), forge.server_url());
    json::event(serde_json::json!({ "event": "ready", "api_url": api_url, "server_url": server_url }))?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    forge.shutdown().await;
    Ok(())
}

/// Reads a seed; relative paths in it begin at its folder.
fn read_seed(file: &Path) -> anyhow::Result<Seed> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    Seed::parse(&text, folder).with_context(|| format!("cannot parse `{}`", file.display()))
}

/// The value of `--app`.
#[derive(Debug, Clone)]
struct AppArg {
    id: u64,
    installation: u64,
    slug: String,
    role: Role,
    key: PathBuf,
}

impl std::str::FromStr for AppArg {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parts: Vec<&str> = text.splitn(5, ':').collect();
        let &[id, installation, slug, role, key] = parts.as_slice() else {
            anyhow::bail!("expected an App as ID:INSTALLATION:SLUG:ROLE:KEYFILE");
        };
        let (id, installation) = (id.parse().context("its id")?, installation.parse().context("its installation")?);
        Ok(Self { id, installation, slug: slug.to_owned(), role: role.parse()?, key: key.into() })
    }
}

impl AppArg {
    fn read(self) -> anyhow::Result<App> {
        let name = self.key.display();
        let pem = std::fs::read_to_string(&self.key).with_context(|| format!("cannot read `{name}`"))?;
        let key = AppKey::from_pem(&pem).with_context(|| format!("cannot parse `{name}`"))?;
        Ok(App { id: self.id, slug: self.slug, key, installation: self.installation, role: self.role })
    }
}

/// Prints the forge's endpoints, for the conformance test against GitHub's OpenAPI description.
pub(super) fn routes() -> anyhow::Result<()> {
    Ok(output::line(serde_json::to_string(&endpoints())?)?)
}
