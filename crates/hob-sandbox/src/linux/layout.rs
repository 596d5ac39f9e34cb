//! The contents of a box, with either maker: only what the plan names, and where it appears.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::RefusedError;
use crate::{Network, Plan, machine};

/// The path of Hob's program in the box, and of the folders of its libraries, where the box lacks this machine's.
const LAUNCHER: &str = "/run/hob/hob";
const LIBRARIES: &str = "/run/hob/lib";
/// Paths that a box has of its own. What a plan names below them, such as `/proc/self/exe`, is there already and means
/// the child's.
const OWN: [&str; 2] = ["/proc", "/dev"];
/// Bytes of each temporary file system in the box at most.
const TEMPORARY: u64 = 1 << 30;

/// A box, from the outside in: what is mounted later hides what was there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Whether it has its own network, with only a loopback.
    pub(super) own_network: bool,
    pub(super) mounts: Vec<Mount>,
    /// The folder that the child starts in.
    pub(super) folder: PathBuf,
    /// The words that start Hob's program in it.
    pub(super) launcher: Vec<OsString>,
    /// The files of another system, which its user is root of; they are the first mount.
    pub(super) root: Option<PathBuf>,
}

/// One mount.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Mount {
    /// Its own processes.
    Processes(PathBuf),
    /// Harmless devices, and its own terminals.
    Devices(PathBuf),
    /// Its own message queues.
    Queues(PathBuf),
    /// A file system in memory, with its size limit in bytes.
    Temporary(PathBuf, u64),
    /// A symbolic link: its target, and its path.
    Link(PathBuf, PathBuf),
    /// A file or folder of this machine, shown at another path.
    Bind { from: PathBuf, at: PathBuf, access: Access },
}

/// The access that a child has to what it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Access {
    /// Read-only, and absent if this machine does not have it.
    ReadIfThere,
    Read,
    Write,
}

impl Layout {
    /// The layout of the plan, for a child that starts in `folder`.
    pub(super) fn new(plan: &Plan, folder: &Path) -> Result<Self, RefusedError> {
        let launcher = std::fs::read_link("/proc/self/exe").map_err(RefusedError::at("find Hob's program"))?;
        // They are memory of the machine outside of any process.
        let most =
            Some(plan.limits.memory / 4).filter(|quarter| *quarter > 0).map_or(TEMPORARY, |most| most.min(TEMPORARY));
        let bind = |from: &Path, at: &Path, access| Mount::Bind { from: from.to_owned(), at: at.to_owned(), access };
        let mut mounts: Vec<_> = plan.root.iter().map(|root| bind(root, Path::new("/"), Access::Write)).collect();
        mounts.extend([
            Mount::Processes("/proc".into()),
            Mount::Devices("/dev".into()),
            Mount::Queues("/dev/mqueue".into()),
            Mount::Temporary("/dev/shm".into(), most),
        ]);
        let (common, libraries): (Vec<_>, _) = match &plan.root {
            None => {
                mounts.push(Mount::Temporary("/tmp".into(), most));
                (machine::readable().collect(), None)
            }
            // They have a `/tmp`, which lasts as long as they do.
            Some(_) => (Vec::new(), Libraries::mapped().map_err(RefusedError::at("find Hob's libraries"))?),
        };
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
        // A program that is a link finds its own files by the link: bound by itself, it would be a file of another
        // place.
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
        // A plan is made before its folders are, and those of another child do not exist.
        let also = plan.also.iter().filter(|(_, folder)| plan.write.contains(folder));
        mounts.extend(also.map(|(path, folder)| bind(folder, path, Access::Write)));
        mounts.extend(plan.instead.iter().map(|(path, other)| bind(other, path, Access::Read)));
        mounts.push(bind(&launcher, Path::new(LAUNCHER), Access::Read));
        mounts.extend(libraries.iter().flat_map(Libraries::mounts));
        // Leaves out what does not exist or is another user's: a folder of the `PATH` may be either.
        mounts.retain(
            |mount| !matches!(mount, Mount::Bind { from, access: Access::ReadIfThere, .. } if from.metadata().is_err()),
        );
        let launcher = libraries.iter().flat_map(Libraries::loader).chain([LAUNCHER.into()]).collect();
        let (own_network, folder) = (plan.network != Network::Open, folder.to_owned());
        Ok(Self { own_network, mounts, folder, launcher, root: plan.root.clone() })
    }

    /// A place of a mount that is a link, or is below one, in the files of another system: a program that follows it would mount elsewhere.
    pub(super) fn linked(&self) -> Option<&Path> {
        let root = self.root.as_deref()?;
        let is_link = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path)).is_symlink();
        self.mounts.iter().map(Mount::place).find(|at| at.ancestors().any(is_link))
    }
}

impl Mount {
    /// Its place in the box.
    pub(super) fn place(&self) -> &Path {
        match self {
            Self::Processes(at) | Self::Devices(at) | Self::Queues(at) => at,
            Self::Temporary(at, _) | Self::Link(_, at) | Self::Bind { at, .. } => at,
        }
    }
}

/// The libraries that Hob's program was started with. The files of another system may have others, or none.
struct Libraries {
    /// Its loader, and the folders of all.
    loader: PathBuf,
    folders: Vec<PathBuf>,
}

impl Libraries {
    /// Those of this process, which is the same program; `None` if it has none.
    fn mapped() -> io::Result<Option<Self>> {
        let table = std::fs::read_to_string("/proc/self/maps")?;
        let files = table.lines().filter_map(|line| Some(Path::new(&line[line.find('/')?..])));
        let name = |file: &Path| file.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let files: BTreeSet<&Path> = files.filter(|file| name(file).contains(".so")).collect();
        let loader = files.iter().find(|file| name(file).starts_with("ld")).map(|file| (*file).to_owned());
        let folders: BTreeSet<_> = files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        Ok(loader.map(|loader| Self { loader, folders: folders.into_iter().collect() }))
    }

    /// The folders, with their places in the box.
    fn places(&self) -> impl Iterator<Item = (&PathBuf, PathBuf)> {
        self.folders.iter().enumerate().map(|(number, folder)| (folder, PathBuf::from(format!("{LIBRARIES}/{number}"))))
    }

    fn mounts(&self) -> Vec<Mount> {
        let mount = |(from, at): (&PathBuf, _)| Mount::Bind { from: from.clone(), at, access: Access::Read };
        self.places().map(mount).collect()
    }

    /// The words before a program that is to be started with them.
    fn loader(&self) -> Vec<OsString> {
        let path: Vec<_> = self.places().map(|(_, at)| at.into_os_string()).collect();
        let place = |(folder, at): (&PathBuf, PathBuf)| Some(at.join(self.loader.strip_prefix(folder).ok()?));
        let loader = self.places().find_map(place).unwrap_or_default();
        vec![loader.into(), "--library-path".into(), path.join(OsStr::new(":"))]
    }
}
