//! The tiers: the ways to enforce a child's plan.

use serde::{Deserialize, Serialize};

/// How a child's plan is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// It is not enforced.
    None,
    /// Kernel rules on the machine's own files and network: Landlock, seccomp, no capabilities, resource limits.
    Fence,
    /// Its own namespaces, made by bubblewrap or by Hob, with the rules of the fence inside.
    Box,
}

impl Tier {
    /// The tier of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Fence, Self::Box].into_iter().find(|tier| tier.name() == name)
    }

    /// Its name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fence => "fence",
            Self::Box => "box",
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
