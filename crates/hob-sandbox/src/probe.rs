//! Whether this machine has a tier: shown by a child that is really held to a plan, not promised by a version.

use crate::Tier;

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The tier that was asked for.
    pub tier: Tier,
    /// What is missing and what to do; none: the tier holds.
    pub missing: Option<String>,
}

/// What this machine can tell without a child.
#[cfg(target_os = "linux")]
pub fn probe(tier: Tier) -> Finding {
    let landlock = crate::linux::landlock_version();
    let missing = match tier {
        Tier::None => None,
        Tier::Fence if landlock.is_none() => Some(
            "the kernel has no Landlock of version 4 or later (Linux 6.7, with `landlock` among the security modules)"
                .to_owned(),
        ),
        Tier::Box if crate::linux::bubblewrap_installed().is_none() => {
            Some("bubblewrap is not installed: install the package `bubblewrap`".to_owned())
        }
        Tier::Fence | Tier::Box => None,
    };
    Finding { tier, missing }
}

/// Other systems have no tier yet.
#[cfg(not(target_os = "linux"))]
pub fn probe(tier: Tier) -> Finding {
    let missing = (tier != Tier::None).then(|| "this system has no sandbox that Hob knows".to_owned());
    Finding { tier, missing }
}
