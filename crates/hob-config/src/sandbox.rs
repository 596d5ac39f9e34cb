//! `[sandbox]`: what agents, checks and other code of a repository may reach.

use std::path::PathBuf;

use hob_sandbox::{Limits, Network, Tier};
use serde::{Deserialize, Serialize};

/// `[sandbox]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSettings {
    /// The tier that confines children.
    pub tier: TierSetting,
    /// Whether they may use the network.
    pub network: NetworkSetting,
    /// Hosts that repositories' set-up steps may reach while the network is closed.
    pub hosts: Vec<String>,
    /// Hosts that checks may reach then, if the repository asks for them.
    pub check_hosts: Vec<String>,
    /// Paths that they may read and execute in addition to the system's.
    pub read: Vec<PathBuf>,
    /// Paths that they may write, too.
    pub write: Vec<PathBuf>,
    /// MiB of memory for all processes of one child; 0 means not limited.
    pub memory_mib: u64,
    /// Processes of one child at the same time; 0 means not limited.
    pub processes: u64,
    /// MiB of one file; 0 means not limited.
    pub file_mib: u64,
    /// MiB that one child may write in total; 0 means not limited.
    pub disk_mib: u64,
}

/// How children are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TierSetting {
    /// The best that this machine supports: a box, else a fence.
    Auto,
    /// Only a box.
    Box,
    /// In a fence.
    Fence,
    /// Not at all.
    None,
}

impl TierSetting {
    /// The named tier. `None` for the best available.
    pub fn named(self) -> Option<Tier> {
        match self {
            Self::Auto => None,
            Self::Box => Some(Tier::Box),
            Self::Fence => Some(Tier::Fence),
            Self::None => Some(Tier::None),
        }
    }
}

/// Whether children may use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkSetting {
    /// TCP and UDP, as for Hob itself.
    Open,
    /// None, except the hosts in an agent's settings, through Hob's proxy.
    None,
}

impl SandboxSettings {
    /// The limits of one child.
    pub fn limits(&self) -> Limits {
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        Limits {
            memory: bytes(self.memory_mib),
            processes: self.processes,
            file: bytes(self.file_mib),
            disk: bytes(self.disk_mib),
        }
    }

    /// The network that a child gets.
    pub fn network(&self) -> Network {
        match self.network {
            NetworkSetting::Open => Network::Open,
            NetworkSetting::None => Network::None,
        }
    }
}
