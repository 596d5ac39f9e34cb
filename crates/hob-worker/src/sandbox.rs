//! The sandbox of a worker's children, from its settings; and whether this machine has it.

use std::{
    io,
    path::{Path, PathBuf},
};

use hob_config::{Settings, child_environment, toolchain_folders};
use hob_process::{Environment, Exit, ProcessError, Program};
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
    if named.is_some() { best } else { of(Tier::Fence).lacking(why.to_string()) }
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

/// Why children are not confined as the settings say, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum NoSandbox {
    /// The machine lacks something.
    #[error("this machine has no sandbox of the tier `{tier}`: {lacks}")]
    Lacking {
        /// What was wanted.
        tier: Tier,
        /// What is missing.
        lacks: String,
    },
    /// A child read what no plan allows.
    #[error("this machine has no sandbox of the tier `{0}`: a file that no plan allows could be read")]
    Leaking(Tier),
    /// The child ended in another way than it should.
    #[error("this machine has no sandbox of the tier `{tier}`: {exit}: {said}{helps}")]
    Broken {
        /// What was wanted.
        tier: Tier,
        /// The child's end.
        exit: Exit,
        /// What it printed.
        said: String,
        /// The remedy, after a semicolon; empty if none is known.
        helps: String,
    },
    /// The child could not be started.
    #[error("this machine has no sandbox of the tier `{tier}`: {source}{helps}")]
    NotStarted {
        /// What was wanted.
        tier: Tier,
        /// Why.
        source: ProcessError,
        /// The remedy, after a semicolon; empty if none is known.
        helps: String,
    },
    /// There is no file for the child to try.
    #[error("a temporary file cannot be made: {0}")]
    NoFile(#[source] io::Error),
}

/// Checks that a child is really confined on this machine: starts one that tries to read what no plan allows.
///
/// # Errors
/// [`NoSandbox`] says what is missing, and what to do.
pub async fn try_sandbox(sandbox: &Sandbox, environment: &Environment) -> Result<String, NoSandbox> {
    let tier = sandbox.tier();
    let helps = || {
        let found = if tier == Tier::Box { what_keeps_a_box() } else { None };
        found.map(|helps| format!("; {helps}")).unwrap_or_default()
    };
    if tier == Tier::None {
        return Ok("none: agents and checks reach what Hob does (`sandbox.tier`)".to_owned());
    }
    if let Some(lacks) = probe(tier).missing {
        return Err(NoSandbox::Lacking { tier, lacks });
    }
    let made = tokio::task::spawn_blocking(tempfile::NamedTempFile::new).await;
    let canary = made.unwrap_or_else(|error| Err(error.into())).map_err(NoSandbox::NoFile)?;
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
        Ok(finished) if finished.exit.is_success() => Err(NoSandbox::Leaking(tier)),
        Ok(finished) => {
            let said = finished.stderr.text().trim().to_owned();
            Err(NoSandbox::Broken { tier, exit: finished.exit, said, helps: helps() })
        }
        Err(source) => Err(NoSandbox::NotStarted { tier, source, helps: helps() }),
    }
}
