//! What is in a box, whoever makes it: nothing but what the plan names, and where.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RefusedError;
use crate::{Network, Plan, machine};

/// Where Hob's program is in the box.
pub(super) const LAUNCHER: &str = "/run/hob/hob";
/// What a box has of its own: what a plan names there, such as `/proc/self/exe`, is there already and means the child's.
const OWN: [&str; 2] = ["/proc", "/dev"];
/// Bytes of each temporary file system in the box at most.
const TEMPORARY: u64 = 1 << 30;

/// A box, from the outside in: what is mounted later hides what was there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Whether it has a network of its own, with a loopback and nothing else.
    pub(super) own_network: bool,
    pub(super) mounts: Vec<Mount>,
    /// Where the child starts.
    pub(super) folder: PathBuf,
}

/// One thing that is there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Mount {
    /// Its own processes.
    Processes(PathBuf),
    /// Devices that hold nothing, and terminals of its own.
    Devices(PathBuf),
    /// Its own message queues.
    Queues(PathBuf),
    /// Memory, so many bytes at most.
    Temporary(PathBuf, u64),
    /// A symbolic link: where it leads, and where it is.
    Link(PathBuf, PathBuf),
    /// What this machine has at one place, at another.
    Bind { from: PathBuf, at: PathBuf, access: Access },
}

/// What a child does with what it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Access {
    /// It reads, and what this machine does not have it has neither.
    ReadIfThere,
    Read,
    Write,
}

impl Layout {
    /// What the plan makes of it, for a child that starts in `folder`.
    pub(super) fn of(plan: &Plan, folder: &Path) -> Result<Self, RefusedError> {
        let launcher = std::fs::read_link("/proc/self/exe").map_err(RefusedError::at("find Hob's program"))?;
        // They are memory of the machine that no process has.
        let most =
            Some(plan.limits.memory / 4).filter(|quarter| *quarter > 0).map_or(TEMPORARY, |most| most.min(TEMPORARY));
        let mut mounts = vec![
            Mount::Processes("/proc".into()),
            Mount::Devices("/dev".into()),
            Mount::Queues("/dev/mqueue".into()),
            Mount::Temporary("/dev/shm".into(), most),
            Mount::Temporary("/tmp".into(), most),
        ];
        let bind = |from: &Path, at: &Path, access| Mount::Bind { from: from.to_owned(), at: at.to_owned(), access };
        let common: Vec<_> = machine::readable().collect();
        for path in &common {
            // In most distributions some of these are links to others of them.
            mounts.push(match std::fs::read_link(path) {
                Ok(target) => Mount::Link(target, path.clone()),
                Err(_) => bind(path, path, Access::ReadIfThere),
            });
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
        let mut bound: Vec<_> = read.into_iter().map(|path| (Access::ReadIfThere, path)).collect();
        bound.extend(plan.write.iter().map(|path| (Access::Write, path)));
        if let Network::Proxy { socket, .. } = &plan.network {
            bound.push((Access::Write, socket));
        }
        // An inner folder has to come after the outer one.
        bound.sort_by_key(|(_, path)| path.components().count());
        mounts.extend(bound.into_iter().map(|(access, path)| bind(path, path, access)));
        let target = |link: &PathBuf| Some(Mount::Link(std::fs::read_link(link).ok()?, link.clone()));
        mounts.extend(links.into_iter().filter_map(target));
        // A plan is made before its folders are, and those of another child are not there.
        let also = plan.also.iter().filter(|(_, folder)| plan.write.contains(folder));
        mounts.extend(also.map(|(path, folder)| bind(folder, path, Access::Write)));
        mounts.extend(plan.instead.iter().map(|(path, other)| bind(other, path, Access::Read)));
        mounts.push(bind(&launcher, Path::new(LAUNCHER), Access::Read));
        // What is not there, or is somebody else's; a folder of the `PATH` may be.
        mounts.retain(
            |mount| !matches!(mount, Mount::Bind { from, access: Access::ReadIfThere, .. } if from.metadata().is_err()),
        );
        Ok(Self { own_network: plan.network != Network::Open, mounts, folder: folder.to_owned() })
    }
}
