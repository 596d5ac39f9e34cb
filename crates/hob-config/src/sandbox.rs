//! `[sandbox]`: what agents, checks and other code of a repository may reach.

use std::path::PathBuf;

use hob_sandbox::{Limits, Network, Tier};
use serde::{Deserialize, Serialize};

use crate::size;

/// `[sandbox]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSettings {
    /// The tier that confines children.
    pub tier: TierSetting,
    /// Whether they may use the network.
    pub network: NetworkSetting,
    /// Hosts that repositories' set-up steps may reach while the network is closed.
    pub setup_hosts: Vec<String>,
    /// Hosts that checks may reach then, if the repository asks for them.
    pub check_hosts: Vec<String>,
    /// Paths that they may read and execute in addition to the system's.
    pub read: Vec<PathBuf>,
    /// Paths that they may write, too.
    pub write: Vec<PathBuf>,
    /// Bytes of memory for all processes of one child; 0 means not limited.
    #[serde(with = "size")]
    pub memory: u64,
    /// Processes of one child at the same time; 0 means not limited.
    pub processes: u64,
    /// Bytes that one child may write in total; 0 means not limited.
    #[serde(with = "size")]
    pub disk: u64,
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
        // One file that fills a quarter of a large disk is a mistake; of a small one, the limit of the disk says what is wrong.
        let file = if self.disk == 0 { 0 } else { (self.disk / 4).max(1 << 30) };
        Limits { memory: self.memory, processes: self.processes, file, disk: self.disk, processors: 0 }
    }

    /// The network that a child gets.
    pub fn network(&self) -> Network {
        match self.network {
            NetworkSetting::Open => Network::Open,
            NetworkSetting::None => Network::None,
        }
    }
}
