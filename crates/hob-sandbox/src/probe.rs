//! Whether this machine has a tier: proved by a child that is really confined, not promised by a version.

use crate::Tier;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The requested tier.
    pub tier: Tier,
    /// What is missing and what to do; `None` if the tier works.
    pub missing: Option<String>,
}

/// Probes this machine without starting a child.
#[cfg(target_os = "linux")]
pub fn probe(tier: Tier) -> Finding {
    let landlock = crate::linux::landlock_version();
    let missing = match tier {
        Tier::None => None,
        Tier::Fence if landlock.is_none() => Some(
            "the kernel has no Landlock of version 4 or later (Linux 6.7, with `landlock` among the security modules)"
                .to_owned(),
        ),
        Tier::Box => no_namespaces(crate::machine::bubblewrap().is_some(), &setting),
        Tier::Fence => None,
    };
    Finding { tier, missing }
}

/// Why no box could be made, from this machine's settings, and the command that helps; `None` if the settings do not
/// tell.
#[cfg(target_os = "linux")]
pub fn what_keeps_a_box() -> Option<String> {
    no_namespaces(false, &setting)
}

/// Why no process here can make namespaces, or, if bubblewrap is not installed, why Hob cannot.
#[cfg(target_os = "linux")]
fn no_namespaces(has_bubblewrap: bool, setting: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is = |name: &str, value: &str| setting(name).is_some_and(|found| found.trim() == value);
    if is("user/max_user_namespaces", "0") {
        return Some(
            "the kernel makes no user namespaces; `sudo sysctl user.max_user_namespaces=15000` lets it".to_owned(),
        );
    }
    if has_bubblewrap || rustix::process::geteuid().is_root() {
        return None;
    }
    if is("kernel/unprivileged_userns_clone", "0") {
        return Some(
            "only root may make user namespaces; `sudo sysctl kernel.unprivileged_userns_clone=1` lets others"
                .to_owned(),
        );
    }
    is("kernel/apparmor_restrict_unprivileged_userns", "1").then(|| {
        "AppArmor lets only programs that it knows make user namespaces; bubblewrap with its profile is one, and `sudo sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0` lets all"
            .to_owned()
    })
}

#[cfg(target_os = "linux")]
fn setting(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/sys/{name}")).ok()
}

/// Other systems have no tier yet.
#[cfg(not(target_os = "linux"))]
pub fn probe(tier: Tier) -> Finding {
    let missing = (tier != Tier::None).then(|| "this system has no sandbox that Hob knows".to_owned());
    Finding { tier, missing }
}

/// Nothing prevents it.
#[cfg(not(target_os = "linux"))]
pub fn what_keeps_a_box() -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_box_is_told_with_the_command_that_helps() {
        let with = |name: &'static str, value: &'static str, has_bubblewrap| {
            no_namespaces(has_bubblewrap, &|asked| (asked == name).then(|| format!("{value}\n")))
        };
        assert!(with("user/max_user_namespaces", "0", true).unwrap().contains("sudo sysctl user.max_user_namespaces"));
        assert_eq!(with("user/max_user_namespaces", "15000", false), None);
        for name in ["kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns"] {
            let value = if name.ends_with("clone") { "0" } else { "1" };
            assert_eq!(with(name, value, true), None, "bubblewrap may");
            let told = with(name, value, false);
            // Root may in any case.
            assert_eq!(told.is_none(), rustix::process::geteuid().is_root(), "{name}");
        }
    }
}
