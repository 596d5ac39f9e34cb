//! The parts of the machine that every child may use: programs, libraries and the few files of `/etc` that these need.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The paths that a child reads and executes. Of `/etc`, only files that contain no secret and nothing about the owner.
const READABLE: [&str; 47] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    // Only the files: the folder also has the socket of a service that resolves names for any client.
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/sys/devices/system/cpu",
    // Programs that count processors or memory learn from these what they may use. Many exit if such a file exists and
    // cannot be read.
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// The paths of bubblewrap, fixed, so that neither a settings file nor a repository can change them.
const BUBBLEWRAP: [&str; 4] =
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The path of bubblewrap, if it is installed.
pub(crate) fn bubblewrap() -> Option<PathBuf> {
    BUBBLEWRAP.into_iter().map(PathBuf::from).find(|place| place.is_file())
}

/// The folder of packages that do not come from the distribution.
const PACKAGES: &str = "/opt";
/// Files in the folder of an Actions runner: its key and its identity.
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/HostContext.cs>
const OF_A_RUNNER: [&str; 3] = [".credentials", ".credentials_rsaparams", ".runner"];

/// The machine's paths that a child reads and executes.
pub(crate) fn readable() -> impl Iterator<Item = PathBuf> {
    READABLE.into_iter().map(PathBuf::from).chain(packages(Path::new(PACKAGES), rustix::process::geteuid().as_raw()))
}

/// The packages for all users. Those of Hob's own user are private, and so is an Actions runner, which may belong to
/// root. What programs on the `PATH` need of those is readable for another reason.
fn packages(all: &Path, user: u32) -> Vec<PathBuf> {
    let is_a_runner = |folder: &Path| OF_A_RUNNER.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_common = |folder: &PathBuf| {
        let others = folder.metadata().is_ok_and(|found| found.is_dir() && (user == 0 || found.uid() != user));
        others && !is_a_runner(folder) && !below(folder).any(|inner| is_a_runner(&inner))
    };
    below(all).filter(is_common).collect()
}

/// Harmless devices.
#[cfg(target_os = "linux")]
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus K147.
    #[test]
    fn a_runners_folder_and_a_users_own_are_no_packages() {
        let opt = tempfile::tempdir().unwrap();
        for folder in ["java", "runner", "runners/one", "runners/two"] {
            std::fs::create_dir_all(opt.path().join(folder)).unwrap();
        }
        std::fs::write(opt.path().join("runner/.credentials_rsaparams"), "").unwrap();
        std::fs::write(opt.path().join("runners/two/.runner"), "").unwrap();
        std::fs::write(opt.path().join("note"), "").unwrap();
        let owner = opt.path().metadata().unwrap().uid();
        assert_eq!(packages(opt.path(), owner + 1), [opt.path().join("java")]);
        assert_eq!(packages(opt.path(), 0), [opt.path().join("java")]);
        if owner != 0 {
            assert!(packages(opt.path(), owner).is_empty());
        }
    }
}
