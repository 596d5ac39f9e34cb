//! The box: namespaces of its own, made by bubblewrap, with nothing in them but what the plan names.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::RefusedError;
use crate::{Network, Plan, machine};

/// Where bubblewrap is looked for: not on a path that a settings file or a repository could change.
const PLACES: [&str; 4] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/// Where Hob's program is in the box.
const LAUNCHER: &str = "/run/hob/hob";
/// What a box has of its own: what a plan names there, such as `/proc/self/exe`, is there already and means the child's.
const OWN: [&str; 2] = ["/proc", "/dev"];
/// Bytes of each temporary file system in the box at most.
const TEMPORARY: u64 = 1 << 30;

/// Where bubblewrap is.
pub(crate) fn installed() -> Option<PathBuf> {
    PLACES.into_iter().map(PathBuf::from).find(|place| place.is_file())
}

/// The program and the arguments that lead to Hob's program in the box.
pub(super) fn command(plan: &Plan, folder: &Path) -> Result<(PathBuf, Vec<OsString>), RefusedError> {
    let missing = || RefusedError::at("find `bwrap`")(std::io::Error::from(std::io::ErrorKind::NotFound));
    let program = installed().ok_or_else(missing)?;
    let launcher = std::fs::read_link("/proc/self/exe").map_err(RefusedError::at("find Hob's program"))?;
    let mut words = Words::default();
    words.flags("--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try");
    if plan.network != Network::Open {
        words.flags("--unshare-net");
    }
    words.flags("--die-with-parent --cap-drop ALL --hostname box --proc /proc --dev /dev --mqueue /dev/mqueue");
    // They are memory of the machine that no process has.
    let most =
        Some(plan.limits.memory / 4).filter(|quarter| *quarter > 0).map_or(TEMPORARY, |most| most.min(TEMPORARY));
    words.flags(&format!("--size {most} --tmpfs /dev/shm --size {most} --tmpfs /tmp"));
    let common: Vec<_> = machine::readable().collect();
    for path in &common {
        // In most distributions some of these are links to others of them.
        match std::fs::read_link(path) {
            Ok(target) => words.two("--symlink", &target, path),
            Err(_) => words.two("--ro-bind-try", path, path),
        }
    }
    let is_shown = |path: &Path| {
        let others = plan.read.iter().chain(&plan.write).filter(|outer| outer.as_path() != path);
        let mut shown =
            common.iter().map(PathBuf::as_path).chain(OWN.map(Path::new)).chain(others.map(PathBuf::as_path));
        shown.any(|outer| path.starts_with(outer))
    };
    // A program that is a link finds what belongs to it by the link: bound by itself, it would be a file of another place.
    let (links, read): (Vec<_>, Vec<_>) =
        plan.read.iter().filter(|path| !is_shown(path)).partition(|path| path.is_symlink());
    let mut bound: Vec<_> = read.into_iter().map(|path| ("--ro-bind-try", path)).collect();
    bound.extend(plan.write.iter().map(|path| ("--bind", path)));
    if let Network::Proxy { socket, .. } = &plan.network {
        bound.push(("--bind", socket));
    }
    // What is mounted later hides what was there: an inner folder has to come after the outer one.
    bound.sort_by_key(|(_, path)| path.components().count());
    for (flag, path) in bound {
        words.two(flag, path, path);
    }
    for link in links {
        if let Ok(target) = std::fs::read_link(link) {
            words.two("--symlink", &target, link);
        }
    }
    for (path, folder) in &plan.also {
        // A plan is made before its folders are, and those of another child are not there.
        if plan.write.contains(folder) {
            words.two("--bind", folder, path);
        }
    }
    for (path, other) in &plan.instead {
        words.two("--ro-bind", other, path);
    }
    words.two("--ro-bind", &launcher, Path::new(LAUNCHER));
    words.0.extend(["--chdir".into(), folder.into(), "--".into(), LAUNCHER.into()]);
    Ok((program, words.0))
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn flags(&mut self, flags: &str) {
        self.0.extend(flags.split(' ').map(OsString::from));
    }

    fn two(&mut self, flag: &str, from: &Path, to: &Path) {
        self.0.extend([flag.into(), from.into(), to.into()]);
    }
}
