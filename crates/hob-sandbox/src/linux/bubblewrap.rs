//! A box that bubblewrap makes.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{
    RefusedError,
    layout::{Access, Layout, Mount},
};
use crate::machine::bubblewrap;

/// The program and the arguments that lead to Hob's program in the box.
pub(super) fn command(layout: &Layout) -> Result<(PathBuf, Vec<OsString>), RefusedError> {
    let missing = || RefusedError::at("find `bwrap`")(std::io::Error::from(std::io::ErrorKind::NotFound));
    let program = bubblewrap().ok_or_else(missing)?;
    if let Some(place) = layout.linked() {
        let link = std::io::Error::other(format!("`{}` leads through a link", place.display()));
        return Err(RefusedError::at("show a place in the box")(link));
    }
    let mut words = Words::default();
    words.flags("--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try");
    if layout.own_network {
        words.flags("--unshare-net");
    }
    if layout.root.is_some() {
        words.flags("--uid 0 --gid 0");
    }
    words.flags("--die-with-parent --cap-drop ALL --hostname box");
    for mount in &layout.mounts {
        words.mount(mount);
    }
    if layout.root.is_some() {
        // Landlock lets its child write everywhere.
        words.flags("--remount-ro /proc");
    }
    words.0.extend(["--chdir".into(), layout.folder.clone().into(), "--".into()]);
    words.0.extend(layout.launcher.iter().cloned());
    Ok((program, words.0))
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn flags(&mut self, flags: &str) {
        self.0.extend(flags.split(' ').map(OsString::from));
    }

    fn mount(&mut self, mount: &Mount) {
        match mount {
            Mount::Processes(at) => self.0.extend(["--proc".into(), at.into()]),
            Mount::Devices(at) => self.0.extend(["--dev".into(), at.into()]),
            Mount::Queues(at) => self.0.extend(["--mqueue".into(), at.into()]),
            Mount::Temporary(at, bytes) => {
                self.flags(&format!("--size {bytes} --tmpfs"));
                self.0.push(at.into());
            }
            Mount::Link(target, at) => self.two("--symlink", target, at),
            Mount::Bind { from, at, access } => {
                let flag = match access {
                    Access::ReadIfThere => "--ro-bind-try",
                    Access::Read => "--ro-bind",
                    Access::Write => "--bind",
                };
                self.two(flag, from, at);
            }
        }
    }

    fn two(&mut self, flag: &str, from: &Path, to: &Path) {
        self.0.extend([flag.into(), from.into(), to.into()]);
    }
}
