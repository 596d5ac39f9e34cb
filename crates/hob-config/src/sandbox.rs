//! `[sandbox]`: what agents, checks and other code of a repository may reach.

use std::path::PathBuf;

use hob_sandbox::{Limits, Network, Tier};
use serde::{Deserialize, Serialize};

/// `[sandbox]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSettings {
    /// How children are held to what they may reach.
    pub tier: TierSetting,
    /// Whether they reach the network.
    pub network: NetworkSetting,
    /// Hosts that the set-up steps of repositories reach where the network is closed.
    pub hosts: Vec<String>,
    /// Hosts that checks reach then, where the repository asks for them.
    pub check_hosts: Vec<String>,
    /// Paths beside the system's that they may read and execute.
    pub read: Vec<PathBuf>,
    /// Paths that they may write, too.
    pub write: Vec<PathBuf>,
    /// MiB of memory of all processes of one child together; 0: not limited.
    pub memory_mib: u64,
    /// Processes of one child at once; 0: not limited.
    pub processes: u64,
    /// MiB of one file; 0: not limited.
    pub file_mib: u64,
    /// MiB that one child may write in all; 0: not limited.
    pub disk_mib: u64,
}

/// How children are held to what they may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TierSetting {
    /// As well as this machine can: in a box, else in a fence.
    Auto,
    /// In a box, or not at all.
    Box,
    /// In a fence.
    Fence,
    /// They are not.
    None,
}

impl TierSetting {
    /// The tier that is named; none: the best that there is.
    pub fn named(self) -> Option<Tier> {
        match self {
            Self::Auto => None,
            Self::Box => Some(Tier::Box),
            Self::Fence => Some(Tier::Fence),
            Self::None => Some(Tier::None),
        }
    }
}

/// Whether children reach the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkSetting {
    /// As Hob itself does, over TCP and UDP.
    Open,
    /// Not at all, but through Hob's proxy what an agent's settings list.
    None,
}

impl SandboxSettings {
    /// What one child may take.
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
