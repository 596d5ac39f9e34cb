//! Landlock: which files a child reaches, that it makes no connection, and that it signals no process but its own.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::RefusedError;
use crate::{Tier, machine::DEVICES};

/// The versions whose rules are used, best first. From 6 on a child signals only its own processes; from 5 on it cannot
/// control devices. Version 4, of Linux 6.7, is the first that restricts the network; without it there is no fence.
const VERSIONS: [ABI; 3] = [ABI::V6, ABI::V5, ABI::V4];

/// The allowed files and connections.
pub(super) struct Allowed<'a> {
    /// Read and executed.
    pub(super) read: Vec<&'a Path>,
    /// Read, written and executed.
    pub(super) write: Vec<PathBuf>,
    /// Devices that it reads, writes and controls.
    pub(super) devices: Vec<&'a Path>,
    /// The connections that the child may make.
    pub(super) network: Connections,
}

/// The connections that Landlock lets a child make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connections {
    /// None over TCP.
    None,
    /// All: it has its own network, or is not restricted, or is restricted elsewhere.
    Any,
}

/// Restricts this thread and everything it starts. In a box, which namespaces restrict already, a kernel without
/// Landlock is not a reason to refuse.
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

/// The access that is forbidden unless a rule allows it; an error if the kernel does not know all of it.
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

/// The best version that the kernel has, as a number; `None` if it is too old, or Landlock is not enabled.
pub(crate) fn version() -> Option<i32> {
    VERSIONS
        .into_iter()
        .find(|abi| wanted(Connections::None, *abi).is_ok_and(|rules| rules.create().is_ok()))
        .map(|abi| abi as i32)
}
