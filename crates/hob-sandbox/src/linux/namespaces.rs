//! A box that Hob makes itself, if the kernel allows it and bubblewrap is not installed.
//!
//! - Flow: the supervisor starts Hob's program as the *maker* ([`make`]), which enters new namespaces and starts Hob's
//!   program again as process 1 of the box ([`fill`]). That one mounts what the layout names, leaves the machine's
//!   files behind, gives up its capabilities, and starts the last step (`confine`) as bubblewrap would. It reaps
//!   processes in the box that lose their parent. It ends with the child, and the box with it.
//! - Guarantees: the child's user and group are those of Hob, in the files of another system root's; read-only paths are mounted read-only, with everything
//!   mounted below them; no file of the machine is left that the layout does not name.
//! - Assumptions: Linux 5.6 or later, for `openat2(2)`, and user namespaces for Hob's user: `clone(2)`,
//!   `user_namespaces(7)`.
//! - Errors: if a step fails, the supervisor is told which, and nothing is started.

use std::{
    collections::HashMap,
    ffi::{CStr, CString, OsStr, OsString},
    fs, io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    path::{Component, Path, PathBuf},
    process::{Command, ExitCode},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, symlinkat},
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount,
        unmount,
    },
    process::{DumpableBehavior, Pid, Signal, pivot_root, set_dumpable_behavior, set_parent_process_death_signal},
    thread::{CapabilitySet, CapabilitySets, UnshareFlags, configure_capability_in_ambient_set, set_capabilities},
};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use super::{
    RefusedError,
    confine::{drop_capabilities, from_hex, no_name, to_hex, told_as_by_a_shell},
    layout::{Access, Layout, Mount},
    mounts::{Mounted, mounted},
    refused,
    report::Teller,
};
use crate::launch::{FILL, MAKE};

/// The capabilities that process 1 of a box needs: to mount, to bring up the loopback, and to drop the rest.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::SETPCAP);
/// An existing folder that the box is built over, in a mount namespace that no other process shares.
const BASE: &str = "/tmp";
/// The places of the box's files and of the machine's while the box is built.
const NEW: &str = "/new";
const OLD: &str = "/old";
/// Devices of the machine that a box has, too.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// The links below `/dev` of a box, beside its devices.
const LINKS: [(&str, &str); 6] = [
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("/proc/self/fd", "fd"),
    ("/proc/kcore", "core"),
    ("pts/ptmx", "ptmx"),
];
/// Entries of `/proc` that change the machine if the child is root in it.
const OF_MACHINE: [&str; 4] = ["sys", "sysrq-trigger", "irq", "bus"];

/// What has nothing of the child's.
const READ_ONLY: MountFlags =
    MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC).union(MountFlags::RDONLY);

/// The instructions for both processes.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    layout: Layout,
    report: RawFd,
}

/// The program and the arguments that lead to Hob's program in the box.
pub(super) fn command(layout: Layout, report: RawFd) -> Result<(PathBuf, Vec<OsString>), RefusedError> {
    let order = to_hex(&Order { layout, report })?;
    Ok(("/proc/self/exe".into(), vec![MAKE.into(), order]))
}

/// Enters new namespaces and starts process 1 of the box; the last step's arguments follow the order.
pub(crate) fn make(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    in_order(arguments, |order, hex, rest| {
        enter(&order.layout)?;
        #[expect(clippy::disallowed_methods, reason = "the box is made by two processes of Hob's own")]
        let mut command = Command::new("/proc/self/exe");
        let child = command.arg0("hob").arg(FILL).arg(hex).args(rest).spawn();
        wait_for(child.map_err(RefusedError::at("start the box"))?.id())
    })
}

/// Runs as process 1 of the box: fills it and starts the last step in it.
pub(crate) fn fill(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    in_order(arguments, |order, _hex, rest| {
        end_with_parent()?;
        build(&order.layout)?;
        drop_capabilities().map_err(RefusedError::at("give up capabilities"))?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(RefusedError::at("hide"))?;
        let (program, words) = order.layout.launcher.split_first().ok_or_else(no_name)?;
        #[expect(clippy::disallowed_methods, reason = "the last step is Hob's own program, in the box")]
        let mut command = Command::new(program);
        let child = command.args(words).args(rest).current_dir(&order.layout.folder).spawn();
        wait_for(child.map_err(RefusedError::at("start the last step"))?.id())
    })
}

/// Reads the order and carries it out; if that fails, tells the supervisor.
fn in_order<A: Iterator<Item = OsString>>(
    mut arguments: A,
    work: impl FnOnce(&Order, &OsStr, A) -> Result<ExitCode, RefusedError>,
) -> ExitCode {
    let hex = arguments.next().unwrap_or_default();
    let order = from_hex::<Order>(&hex).and_then(|order| Ok((Teller::inherited(order.report)?, order)));
    match order {
        Ok((teller, order)) => work(&order, &hex, arguments).unwrap_or_else(|error| {
            teller.refuses(&error);
            ExitCode::from(crate::REFUSED)
        }),
        Err(error) => refused("", &error),
    }
}

fn enter(layout: &Layout) -> Result<(), RefusedError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut wanted = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    if layout.own_network {
        wanted |= UnshareFlags::NEWNET;
    }
    unshare(wanted).map_err(RefusedError::at("make namespaces"))?;
    // An old kernel may not have them.
    unshare(UnshareFlags::NEWCGROUP).ok();
    let inside = |id: u32| if layout.root.is_some() { 0 } else { id };
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{} {user} 1", inside(user))),
        ("gid_map", format!("{} {group} 1", inside(group))),
    ] {
        let path = format!("/proc/self/{file}");
        fs::write(path, text).map_err(RefusedError::at("name the user of the box"))?;
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(RefusedError::at("hide"))?;
    end_with_parent()?;
    // For process 1, which does not keep them by itself unless its user is root.
    let all = CapabilitySets { effective: NEEDED, permitted: NEEDED, inheritable: NEEDED };
    let step = "keep what makes the box";
    set_capabilities(None, all).map_err(RefusedError::at(step))?;
    NEEDED.iter().try_for_each(|one| configure_capability_in_ambient_set(one, true)).map_err(RefusedError::at(step))
}

#[expect(deprecated, reason = "unsafe is only what shares no table of open files, which is not asked for")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

fn end_with_parent() -> Result<(), RefusedError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(RefusedError::at("end with the supervisor"))
}

/// Waits until the child ends, and reaps all others that end before it; returns a shell's exit code for its end.
fn wait_for(child: u32) -> Result<ExitCode, RefusedError> {
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    loop {
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == child => {
                return Ok(told_as_by_a_shell(status.exit_status(), status.terminating_signal()));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(RefusedError::at("wait for the box")(error)),
        }
    }
}

/// Makes the box's files, and leaves those of the machine.
fn build(layout: &Layout) -> Result<(), RefusedError> {
    rustix::system::sethostname(b"box").map_err(RefusedError::at("name the box"))?;
    if layout.own_network {
        loopback().map_err(RefusedError::at("switch the loopback on"))?;
    }
    let base = RefusedError::at("make a folder for the box");
    let shown = begin(layout).map_err(base)?;
    for (mount, source) in layout.mounts.iter().zip(shown) {
        put(mount, source).map_err(|error| {
            let (step, place) = ("show a place in the box", mount.place().display().to_string());
            RefusedError::at(step)(io::Error::other(format!("`{place}`: {error}")))
        })?;
    }
    protect(layout).map_err(RefusedError::at("protect what the box reads"))?;
    leave().map_err(RefusedError::at("leave the machine's files"))
}

/// Puts an empty root in place of the machine's, and opens what the box is shown of it: links of the machine keep their
/// meaning there.
fn begin(layout: &Layout) -> io::Result<Vec<Option<OwnedFd>>> {
    // Mounts made here are visible only here; unmounts of the machine are repeated here.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    let open = |mount: &Mount| match mount {
        Mount::Bind { from, access, .. } => match openat(CWD, from, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if *access == Access::ReadIfThere => Ok(None),
            opened => Ok(Some(opened?)),
        },
        Mount::Processes(_) | Mount::Devices(_) | Mount::Queues(_) | Mount::Temporary(..) | Mount::Link(..) => Ok(None),
    };
    let shown = layout.mounts.iter().map(open).collect::<io::Result<Vec<_>>>()?;
    mount("box", BASE, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755")?;
    for folder in [NEW, OLD] {
        fs::create_dir(format!("{BASE}{folder}"))?;
    }
    pivot_root(BASE, format!("{BASE}{OLD}"))?;
    rustix::process::chdir("/")?;
    mount_bind_recursive(NEW, NEW)?;
    Ok(shown)
}

fn put(wanted: &Mount, source: Option<OwnedFd>) -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    match wanted {
        Mount::Processes(path) => mounts("proc", path, plain | MountFlags::NOEXEC, c"")?,
        Mount::Devices(path) => devices(path)?,
        Mount::Queues(path) => mounts("mqueue", path, plain | MountFlags::NOEXEC, c"")?,
        Mount::Temporary(path, bytes) => {
            let options = CString::new(format!("mode=0755,size={bytes}")).unwrap_or_default();
            mounts("tmpfs", path, plain, &options)?;
        }
        Mount::Link(target, path) => {
            let above = folder(path.parent().unwrap_or(path))?;
            match symlinkat(target, &above, name(path)?) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Mount::Bind { at, .. } => {
            let Some(source) = source else { return Ok(()) };
            let is_folder = FileType::from_raw_mode(fstat(&source)?.st_mode) == FileType::Directory;
            let here = if is_folder { folder(at)? } else { file(at)? };
            mount_bind_recursive(by_number(&source), by_number(&here))?;
        }
    }
    Ok(())
}

/// Mounts a file system of this kind in a folder of the box.
fn mounts(kind: &str, path: &Path, flags: MountFlags, options: &CStr) -> io::Result<()> {
    let here = folder(path)?;
    Ok(mount(kind, by_number(&here), kind, flags, options)?)
}

fn devices(path: &Path) -> io::Result<()> {
    mounts("tmpfs", path, MountFlags::NOSUID, c"mode=0755")?;
    for name in DEVICES {
        let here = file(&path.join(name))?;
        mount_bind_recursive(format!("{OLD}/dev/{name}"), by_number(&here))?;
    }
    let top = folder(path)?;
    for (target, name) in LINKS {
        symlinkat(target, &top, name)?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mounts("devpts", &path.join("pts"), flags, c"newinstance,ptmxmode=0666,mode=620")
}

/// Opens a folder of the box, and makes it if it does not exist. Links are resolved within the box.
fn folder(path: &Path) -> io::Result<OwnedFd> {
    let mut place = openat(CWD, NEW, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let top = place.try_clone()?;
    let mut inside = PathBuf::from("/");
    for part in path.components().filter(|part| matches!(part, Component::Normal(_))) {
        inside.push(part);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || openat2(&top, &inside, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        place = match open() {
            Err(Errno::NOENT) => {
                mkdirat(&place, part.as_os_str(), Mode::from_raw_mode(0o755))?;
                open()?
            }
            opened => opened?,
        };
    }
    Ok(place)
}

/// Opens a file of the box, and makes it if it does not exist.
fn file(path: &Path) -> io::Result<OwnedFd> {
    let above = folder(path.parent().unwrap_or(path))?;
    let name = name(path)?;
    let open = || openat2(&above, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match open() {
        Err(Errno::NOENT) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            drop(openat(&above, name, flags, Mode::from_raw_mode(0o644))?);
            Ok(open()?)
        }
        opened => Ok(opened?),
    }
}

fn name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}

/// The path of an open file while the machine's files are mounted. It cannot be redirected.
fn by_number(open: &impl AsFd) -> String {
    format!("{OLD}/proc/self/fd/{}", open.as_fd().as_raw_fd())
}

/// Removes rights from mounts that their place does not grant: to write, to run set-user-ID programs, to open devices.
/// A mount cannot lose flags that the machine gave it, so those stay.
fn protect(layout: &Layout) -> io::Result<()> {
    let access: HashMap<&Path, Access> = layout
        .mounts
        .iter()
        .filter_map(|mount| match mount {
            Mount::Bind { at, access, .. } => Some((at.as_path(), *access)),
            Mount::Processes(_) | Mount::Devices(_) | Mount::Queues(_) | Mount::Temporary(..) | Mount::Link(..) => None,
        })
        .collect();
    let own: Vec<&Path> = layout.mounts.iter().map(Mount::place).filter(|at| !access.contains_key(at)).collect();
    for Mounted { place, mut flags, .. } in mounted(&fs::read(format!("{OLD}/proc/self/mountinfo"))?) {
        let Ok(inside) = place.strip_prefix(NEW) else { continue };
        let inside = Path::new("/").join(inside);
        // The nearest rule decides.
        let nearest = inside.ancestors().find(|outer| access.contains_key(outer) || own.contains(outer));
        let Some(access) = nearest.and_then(|outer| access.get(outer)) else { continue };
        flags |= MountFlags::NOSUID | MountFlags::NODEV;
        if *access != Access::Write {
            flags |= MountFlags::RDONLY;
        }
        match mount_remount(&place, MountFlags::BIND | flags, c"") {
            // If the child may not read that mount, it may not write there either.
            Ok(()) | Err(Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for name in OF_MACHINE {
        let place = format!("{NEW}/proc/{name}");
        if fs::exists(&place)? {
            mount_bind_recursive(&place, &place)?;
            mount_remount(&place, MountFlags::BIND | READ_ONLY, c"")?;
        }
    }
    if layout.root.is_some() {
        // Landlock lets its child write everywhere.
        mount_remount(format!("{NEW}/proc"), MountFlags::BIND | READ_ONLY, c"")?;
    }
    Ok(())
}

fn leave() -> io::Result<()> {
    unmount(OLD, UnmountFlags::DETACH)?;
    rustix::process::chdir(NEW)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(rustix::process::chdir("/")?)
}

/// Switches the loopback on, which gives it its addresses: `rtnetlink(7)`.
fn loopback() -> io::Result<()> {
    /// `RTM_NEWLINK`, `NLM_F_REQUEST | NLM_F_ACK` and `NLMSG_ERROR`.
    const NEW_LINK: u16 = 16;
    const ASKS: u16 = 5;
    const ANSWER: u16 = 2;
    /// The loopback is the first device of every network.
    const FIRST: i32 = 1;
    let kernel = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, Some(Protocol::from(libc::NETLINK_ROUTE)))?;
    let up = (libc::IFF_UP as u32).to_ne_bytes();
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend([NEW_LINK.to_ne_bytes(), ASKS.to_ne_bytes()].concat());
    message.extend([0; 12]);
    message.extend(FIRST.to_ne_bytes());
    message.extend([up, up].concat());
    kernel.send(&message)?;
    let mut answer = [0; 64];
    let length = io::Read::read(&mut &kernel, &mut answer)?;
    let told = answer[..length].get(4..6).zip(answer[..length].get(16..20).and_then(|code| code.first_chunk()));
    match told {
        Some((kind, code)) if kind == ANSWER.to_ne_bytes() => match i32::from_ne_bytes(*code) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        },
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
