//! The sandbox of a worker's children, from its settings; and whether this machine has it.

use std::path::{Path, PathBuf};

use hob_config::{Settings, child_environment, toolchain_folders};
use hob_process::{Environment, Exit, Program};
use hob_sandbox::{Maker, Network, Sandbox, Tier, probe, what_keeps_a_box};
use tokio_util::sync::CancellationToken;

/// The sandbox of the settings; if they leave the tier to Hob, the best that this machine has. `launcher` is Hob's
/// program; homes of children are made below `state_dir`.
pub async fn sandbox(settings: &Settings, state_dir: &Path, launcher: PathBuf) -> Sandbox {
    let of = |tier| sandbox_of_tier(settings, tier, state_dir, launcher.clone());
    let named = settings.sandbox.tier.named();
    if let Some(tier) = named.filter(|tier| *tier != Tier::Box) {
        return of(tier);
    }
    let best = of(Tier::Box);
    let why = match try_sandbox(&best, &child_environment()).await {
        Ok(_holds) => return best,
        Err(why) => why,
    };
    if best.maker() == Maker::Bubblewrap {
        // It may be too old, or allowed less than others.
        let own = best.clone().made_by(Maker::Hob);
        if try_sandbox(&own, &child_environment()).await.is_ok() {
            return own;
        }
    }
    // A tier that the settings name is what a run gets, or it ends.
    if named.is_some() { best } else { of(Tier::Fence).lacking(why) }
}

/// The sandbox with a known tier.
pub fn sandbox_of_tier(settings: &Settings, tier: Tier, state_dir: &Path, launcher: PathBuf) -> Sandbox {
    let settings = &settings.sandbox;
    let read = toolchain_folders(&child_environment()).into_iter().chain(settings.read.clone());
    Sandbox::new(tier, launcher, settings.limits())
        .sharing(read.collect(), settings.write.clone())
        .with_network(settings.network())
        .homes_in(state_dir.join("homes"))
}

/// The remedy if this sandbox refused something that a check needs.
pub(crate) fn what_helps(sandbox: &Sandbox) -> String {
    match (sandbox.tier(), sandbox.lacks()) {
        (Tier::Fence, Some(lacks)) => format!("a box would let it, and cannot be made here: {lacks}"),
        (Tier::Fence, None) => "a box lets it: set `sandbox.tier = \"box\"`".to_owned(),
        (Tier::Box | Tier::None, _) => "hosts that checks reach are listed in `check_hosts`".to_owned(),
    }
}

/// Checks that a child is really confined on this machine: starts one that tries to read what no plan allows.
///
/// # Errors
/// What is missing, and what to do.
pub async fn try_sandbox(sandbox: &Sandbox, environment: &Environment) -> Result<String, String> {
    let tier = sandbox.tier();
    let cannot = |why: &str| format!("this machine has no sandbox of the tier `{tier}`: {why}");
    let helps = || {
        let found = if tier == Tier::Box { what_keeps_a_box() } else { None };
        found.map(|helps| format!("; {helps}")).unwrap_or_default()
    };
    if tier == Tier::None {
        return Ok("none: agents and checks reach what Hob does (`sandbox.tier`)".to_owned());
    }
    if let Some(missing) = probe(tier).missing {
        return Err(cannot(&missing));
    }
    let canary = tokio::task::spawn_blocking(tempfile::NamedTempFile::new).await;
    let Ok(Ok(canary)) = canary else { return Err("a temporary file cannot be made".to_owned()) };
    let look = Program::inside(&sandbox.plan(), "cat", environment).arg(canary.path()).dir("/usr");
    match look.run(&CancellationToken::new()).await {
        Ok(finished) if finished.exit == Exit::Code(1) => {
            let network = match sandbox.network() {
                Network::Open => "the network is open",
                Network::None | Network::Proxy { .. } => "no network",
            };
            let better = sandbox.lacks().map(|why| format!("; {why}")).unwrap_or_default();
            Ok(format!("{tier}: tried, and it holds; {network} (`sandbox.network`){better}"))
        }
        Ok(finished) if finished.exit.is_success() => Err(cannot("a file that no plan allows could be read")),
        Ok(finished) => Err(cannot(&format!("{}: {}{}", finished.exit, finished.stderr.text().trim(), helps()))),
        Err(error) => Err(cannot(&format!("{error}{}", helps()))),
    }
}
