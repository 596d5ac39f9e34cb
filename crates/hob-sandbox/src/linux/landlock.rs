//! Landlock: which files a child reaches, that it makes no connection, and that it signals no process but its own.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::RefusedError;
use crate::{Tier, machine::DEVICES};

/// The versions whose rules are used, the best first: from 6 on a child signals no process but its own, from 5 on it
/// controls no device; without 4, of Linux 6.7, which knows about the network, there is no fence.
const VERSIONS: [ABI; 3] = [ABI::V6, ABI::V5, ABI::V4];

/// What is allowed.
pub(super) struct Allowed<'a> {
    /// Read and executed.
    pub(super) read: Vec<&'a Path>,
    /// Read, written and executed.
    pub(super) write: Vec<PathBuf>,
    /// Devices that it reads, writes and controls.
    pub(super) devices: Vec<&'a Path>,
    /// Which connections it makes.
    pub(super) network: Connections,
}

/// Which connections a child makes, as far as Landlock tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connections {
    /// None over TCP.
    None,
    /// All: its network is one of its own, or not restricted, or somebody else looks after it.
    Any,
}

/// Restricts this thread and all that comes from it. In a box, whose namespaces restrict already, a kernel without
/// Landlock is no reason to refuse.
pub(super) fn restrict(tier: Tier, allowed: &Allowed<'_>) -> Result<(), RefusedError> {
    let (abi, rules) =
        match (VERSIONS.into_iter().find_map(|abi| Some((abi, wanted(allowed.network, abi).ok()?))), tier) {
            (Some(found), _) => found,
            (None, Tier::Box) => return Ok(()),
            (None, Tier::Fence | Tier::None) => (ABI::V4, wanted(allowed.network, ABI::V4)?),
        };
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile;
    let device = if abi >= ABI::V5 { device | AccessFs::IoctlDev } else { device };
    let process = AccessFs::ReadFile | AccessFs::ReadDir;
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(&allowed.read, AccessFs::from_read(abi)))?
        .add_rules(path_beneath_rules(&allowed.write, AccessFs::from_all(abi)))?
        .add_rules(path_beneath_rules(DEVICES.iter().map(Path::new).chain(allowed.devices.iter().copied()), device))?
        .add_rules(path_beneath_rules(["/proc"], process))?
        .restrict_self()?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => Err(RefusedError::Partly),
    }
}

/// What is forbidden where no rule allows it; an error where the kernel does not know all of it.
fn wanted(network: Connections, abi: ABI) -> Result<Ruleset, RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = rules.handle_access(AccessFs::from_all(abi))?;
    let rules = match network {
        Connections::None => rules.handle_access(AccessNet::from_all(abi))?,
        Connections::Any => rules,
    };
    let scopes = Scope::from_all(abi);
    if scopes.is_empty() { Ok(rules) } else { rules.scope(scopes) }
}

/// The best version that the kernel has, as a number; none: too old, or not enabled.
pub(crate) fn version() -> Option<i32> {
    VERSIONS
        .into_iter()
        .find(|abi| wanted(Connections::None, *abi).is_ok_and(|rules| rules.create().is_ok()))
        .map(|abi| abi as i32)
}
