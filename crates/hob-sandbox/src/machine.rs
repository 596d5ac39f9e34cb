//! What every child may use of the machine: programs, libraries and the few files of `/etc` that these need.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What a child reads and executes. Of `/etc` only files that tell nothing about the machine's owner, and no secret.
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
    // The files alone: the folder has the socket of a service that asks name servers for whoever connects.
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/sys/devices/system/cpu",
    // By these a program that counts processors or memory knows what it may have of them. Many end where such a file is there and
    // cannot be read.
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Where bubblewrap is looked for: not on a path that a settings file or a repository could change.
const BUBBLEWRAP: [&str; 4] =
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// Where bubblewrap is.
pub(crate) fn bubblewrap() -> Option<PathBuf> {
    BUBBLEWRAP.into_iter().map(PathBuf::from).find(|place| place.is_file())
}

/// Where packages are that no distribution made.
const PACKAGES: &str = "/opt";
/// What a runner of Actions keeps in its folder: its key, and who it is.
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/HostContext.cs>
const OF_A_RUNNER: [&str; 3] = [".credentials", ".credentials_rsaparams", ".runner"];

/// What a child reads and executes of the machine.
pub(crate) fn readable() -> impl Iterator<Item = PathBuf> {
    READABLE.into_iter().map(PathBuf::from).chain(packages(Path::new(PACKAGES), rustix::process::geteuid().as_raw()))
}

/// The packages that are for everybody. What belongs to the user of Hob is somebody's own, and so is a runner of Actions, which
/// may be root's: what programs on the `PATH` need of those is readable for another reason.
fn packages(all: &Path, user: u32) -> Vec<PathBuf> {
    let is_a_runner = |folder: &Path| OF_A_RUNNER.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
    let below = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_common = |folder: &PathBuf| {
        let others = folder.metadata().is_ok_and(|found| found.is_dir() && (user == 0 || found.uid() != user));
        others && !is_a_runner(folder) && !below(folder).any(|inner| is_a_runner(&inner))
    };
    below(all).filter(is_common).collect()
}

/// Devices that hold nothing.
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
