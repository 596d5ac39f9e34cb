//! The part of the machine that all children may reach, and the plan of one child.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{Tier, machine};

/// What the settings let children reach on this machine; the plan of each child starts from it.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Shared>);

#[derive(Debug, Clone)]
struct Shared {
    tier: Tier,
    maker: Maker,
    lacks: Option<String>,
    launcher: PathBuf,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    homes: Option<PathBuf>,
    template: Option<PathBuf>,
    also: Vec<(PathBuf, PathBuf)>,
    root: Option<PathBuf>,
    network: Network,
    limits: Limits,
}

impl Sandbox {
    /// No restriction at all.
    pub fn none() -> Self {
        Self::new(Tier::None, PathBuf::new(), Limits::default())
    }

    /// The minimum tier of children. `launcher` is Hob's program, which begins with
    /// [`was_launched`](crate::was_launched).
    pub fn new(tier: Tier, launcher: PathBuf, limits: Limits) -> Self {
        let (read, write, network) = (Vec::new(), Vec::new(), Network::None);
        let (homes, template, also) = (None, None, Vec::new());
        let (lacks, root, maker) = (None, None, Maker::of_this_machine());
        let shared = Shared { tier, maker, lacks, launcher, read, write, homes, template, also, root, network, limits };
        Self(Arc::new(shared))
    }

    /// Lets every child read and execute everything below these paths, and write below those.
    #[must_use]
    pub fn sharing(self, read: Vec<PathBuf>, write: Vec<PathBuf>) -> Self {
        Self(Arc::new(Shared { read, write, ..(*self.0).clone() }))
    }

    /// Lets every child read and execute everything below these paths, too.
    #[must_use]
    pub fn reading(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let read = self.0.read.iter().cloned().chain(paths).collect();
        Self(Arc::new(Shared { read, ..(*self.0).clone() }))
    }

    /// Sets the maker of boxes.
    #[must_use]
    pub fn made_by(self, maker: Maker) -> Self {
        Self(Arc::new(Shared { maker, ..(*self.0).clone() }))
    }

    /// The maker of boxes.
    pub fn maker(&self) -> Maker {
        self.0.maker
    }

    /// Notes why no better tier was available.
    #[must_use]
    pub fn lacking(self, why: String) -> Self {
        Self(Arc::new(Shared { lacks: Some(why), ..(*self.0).clone() }))
    }

    /// Makes the homes of children in this folder.
    #[must_use]
    pub fn homes_in(self, homes: PathBuf) -> Self {
        Self(Arc::new(Shared { homes: Some(homes), ..(*self.0).clone() }))
    }

    /// Fills the homes of children with a copy of this folder.
    #[must_use]
    pub fn with_template(self, template: PathBuf) -> Self {
        Self(Arc::new(Shared { template: Some(template), ..(*self.0).clone() }))
    }

    /// Shows every child in a box the folder `folder`, which its plan lets it write, at `path` too, even if this
    /// machine lacks that path.
    #[must_use]
    pub fn showing(self, path: PathBuf, folder: PathBuf) -> Self {
        let also = self.0.also.iter().cloned().chain([(path, folder)]).collect();
        Self(Arc::new(Shared { also, ..(*self.0).clone() }))
    }

    /// Where every child in a box sees `folder` as well, by [`Sandbox::showing`].
    pub fn shown_at(&self, folder: &Path) -> Option<&Path> {
        self.0.also.iter().find(|(_, shown)| shown == folder).map(|(path, _)| path.as_path())
    }

    /// Gives every child the files below `root` in place of this machine's, of which it is shown nothing but what its own plan names. It
    /// may change them and has their root's user id, without its rights. It is in a box, in any tier.
    #[must_use]
    pub fn rooted(self, root: PathBuf) -> Self {
        let (read, write) = (Vec::new(), Vec::new());
        Self(Arc::new(Shared { tier: Tier::Box, read, write, root: Some(root), ..(*self.0).clone() }))
    }

    /// Whose files take the place of this machine's, by [`Sandbox::rooted`].
    pub fn root(&self) -> Option<&Path> {
        self.0.root.as_deref()
    }

    /// Holds every child to these limits, too.
    #[must_use]
    pub fn at_most(self, limits: Limits) -> Self {
        let limits = self.0.limits.and(limits);
        Self(Arc::new(Shared { limits, ..(*self.0).clone() }))
    }

    /// Sets the network of every child whose own plan does not name one.
    #[must_use]
    pub fn with_network(self, network: Network) -> Self {
        Self(Arc::new(Shared { network, ..(*self.0).clone() }))
    }

    /// The minimum tier of children.
    pub fn tier(&self) -> Tier {
        self.0.tier
    }

    /// Why a better tier was not available, if one was looked for.
    pub fn lacks(&self) -> Option<&str> {
        self.0.lacks.as_deref()
    }

    /// The network of children whose own plan does not name one.
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    /// Whether every child may write `path`.
    pub fn lets_write(&self, path: &Path) -> bool {
        self.0.write.iter().any(|shared| path.starts_with(shared))
    }

    /// Hob's program.
    pub fn launcher(&self) -> &Path {
        &self.0.launcher
    }

    /// The folder in which homes of children are made; `None` means the system's temporary folder.
    pub fn homes(&self) -> Option<&Path> {
        self.0.homes.as_deref()
    }

    /// The folder that homes of children are copied from.
    pub fn template(&self) -> Option<&Path> {
        self.0.template.as_deref()
    }

    /// The plan of a child, with access to the system's folders and everything that all children share.
    pub fn plan(&self) -> Plan {
        Plan {
            tier: self.0.tier,
            maker: self.0.maker,
            read: self.0.read.clone(),
            write: self.0.write.clone(),
            instead: Vec::new(),
            also: self.0.also.clone(),
            root: self.0.root.clone(),
            network: self.0.network.clone(),
            limits: self.0.limits,
            launcher: self.0.launcher.clone(),
        }
    }
}

/// The paths, network and limits of one child.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) tier: Tier,
    pub(crate) maker: Maker,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) instead: Vec<(PathBuf, PathBuf)>,
    pub(crate) also: Vec<(PathBuf, PathBuf)>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) network: Network,
    pub(crate) limits: Limits,
    pub(crate) launcher: PathBuf,
}

impl Plan {
    /// Lets the child read and execute everything below `path`.
    #[must_use]
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Lets the child read, write and execute everything below `path`.
    #[must_use]
    pub fn writes(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Shows the child `other`, read-only, in place of `path`, which must not be a link. Only a box can do that.
    #[must_use]
    pub fn shows_instead(mut self, path: impl Into<PathBuf>, other: impl Into<PathBuf>) -> Self {
        self.instead.push((path.into(), other.into()));
        self
    }

    /// Gives the child a way out. Only a box can have one: a fence would let it reach a port of every host.
    #[must_use]
    pub fn network(self, network: Network) -> Self {
        let plan = Self { network, ..self };
        if matches!(plan.network, Network::Proxy { .. }) { plan.in_a_box() } else { plan }
    }

    /// Puts the child into a box, unless the tier is [`Tier::None`].
    #[must_use]
    pub fn in_a_box(self) -> Self {
        let tier = if self.tier == Tier::None { Tier::None } else { Tier::Box };
        Self { tier, ..self }
    }

    /// The tier that this child gets.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Whose files it has in place of this machine's; `None` means that it has this machine's.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Hob's program, which starts the child.
    pub fn launcher(&self) -> &Path {
        &self.launcher
    }

    /// The paths that it reads and executes: the system's, and those it was given.
    pub(crate) fn readable(&self) -> impl Iterator<Item = PathBuf> {
        machine::readable().chain(self.read.iter().cloned())
    }
}

/// The maker of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Maker {
    /// bubblewrap, which a distribution may allow more than other programs.
    Bubblewrap,
    /// Hob itself.
    Hob,
}

impl Maker {
    fn of_this_machine() -> Self {
        if machine::bubblewrap().is_some() { Self::Bubblewrap } else { Self::Hob }
    }
}

/// The child's access to the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// None; in a box it has its own loopback.
    None,
    /// Hob's own, over TCP and UDP.
    Open,
    /// Only through a proxy of Hob's: connections to this port of the box's own loopback go to the socket.
    Proxy {
        /// The Unix socket that the proxy listens on.
        socket: PathBuf,
        /// The port of 127.0.0.1 in the box.
        port: u16,
    },
}

/// The limits of a child and all its descendants; 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory of all its processes together.
    pub memory: u64,
    /// Processes at once.
    pub processes: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes that the folders it writes in may grow by.
    pub disk: u64,
    /// Processors that they run on.
    pub processors: u64,
}

impl Limits {
    /// The tighter limit of each two.
    fn and(self, other: Self) -> Self {
        let tighter = |one: u64, other: u64| [one, other].into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
        Self {
            memory: tighter(self.memory, other.memory),
            processes: tighter(self.processes, other.processes),
            file: tighter(self.file, other.file),
            disk: tighter(self.disk, other.disk),
            processors: tighter(self.processors, other.processors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_of_two_limits_counts_and_0_is_none() {
        let (settings, task) = (
            Limits { memory: 4, disk: 2, ..Limits::default() },
            Limits { memory: 3, disk: 5, file: 1, ..Limits::default() },
        );
        let both = Limits { memory: 3, disk: 2, file: 1, ..Limits::default() };
        assert_eq!(Sandbox::new(Tier::Box, "/hob".into(), settings).at_most(task).plan().limits, both);
    }

    #[test]
    fn a_child_with_a_way_out_is_in_a_box_and_one_without_where_the_settings_want_it() {
        let proxy = || Network::Proxy { socket: "/s".into(), port: 1 };
        for (least, with) in [(Tier::Fence, Tier::Box), (Tier::Box, Tier::Box), (Tier::None, Tier::None)] {
            let plan = Sandbox::new(least, "/hob".into(), Limits::default()).plan();
            assert_eq!((plan.tier(), plan.network(proxy()).tier()), (least, with));
        }
    }
}
