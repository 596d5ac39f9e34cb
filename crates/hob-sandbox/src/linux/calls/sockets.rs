//! Sockets of a fenced child: streams within the run itself, and to nowhere else.
//!
//! Each socket is made here and given to the child. A second descriptor stays here until the socket has its final
//! address, so that the process that checked the address also sets it. Internet sockets are bound to the loopback device, which
//! only a process with capabilities can undo. A connection is made only if every socket that listens there is the run's
//! own.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs, io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use hob_listener::{Answer, Call, Listener};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{CWD, FileType, Mode, OFlags, fstat, openat},
    io::Errno,
};
use socket2::{Domain, SockAddr, Socket, Type};

use super::{
    CONTINUES, DONE, Outcome,
    address::{Address, LONGEST, is_loopback, named},
    listening::listening,
    memory,
};
use crate::linux::tree;

/// The device that leads to the machine itself.
const LOOPBACK: &[u8] = b"lo";
/// Bits of a socket's type that are its type: `SOCK_TYPE_MASK` of `linux/net.h`.
const TYPE: i32 = 0xf;
/// The number of kept sockets without an address above which closed ones are removed.
const KEPT: usize = 512;
/// The backlog of a listening socket: connections that wait to be accepted.
const WAITING: usize = 64;

#[derive(Default)]
pub(super) struct Sockets {
    /// Sockets that may still be given an address, by their inode.
    kept: HashMap<u64, Socket>,
    /// Sockets that were given one, or that listen.
    own: HashSet<u64>,
    /// The files of those that have one, by file system and inode.
    files: HashSet<(u64, u64)>,
    waiting: Arc<AtomicUsize>,
}

impl Sockets {
    /// `socket(family, kind, protocol)`
    pub(super) fn make(&mut self, call: &Call) -> Outcome {
        let [family, kind, protocol] = [0, 1, 2].map(|place| call.arguments[place] as i32);
        let is_internet = match (family, kind & TYPE) {
            (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM) => true,
            (libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_SEQPACKET) => false,
            (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM) => return refused("UDP sockets".to_owned()),
            (libc::AF_UNIX, _) => return refused("Unix datagrams".to_owned()),
            _ => return refused(format!("sockets of family {family} and type {}", kind & TYPE)),
        };
        // A program that prefers another stream protocol gets this one instead.
        let usual = if is_internet { libc::IPPROTO_TCP } else { family };
        if protocol != 0 && protocol != usual {
            return Errno::PROTONOSUPPORT.into();
        }
        let made = || {
            let socket = Socket::new(Domain::from(family), Type::from(kind & TYPE), None)?;
            if is_internet {
                socket.bind_device(Some(LOOPBACK))?;
            }
            socket.set_nonblocking(kind & libc::SOCK_NONBLOCK != 0)?;
            let inode = fstat(&socket)?.st_ino;
            io::Result::Ok((socket.as_fd().try_clone_to_owned()?, inode, socket))
        };
        match made() {
            Ok((descriptor, inode, socket)) => {
                self.kept.insert(inode, socket);
                if self.kept.len() > KEPT {
                    self.forget_closed(Some(inode));
                }
                Outcome::Gives { descriptor, close_on_exec: kind & libc::SOCK_CLOEXEC != 0 }
            }
            Err(error) => failed(&error).into(),
        }
    }

    /// `bind(socket, address, length)`
    pub(super) fn bind(&mut self, listener: &Listener, call: &Call) -> Outcome {
        let (inode, address) = match asked(listener, call) {
            Ok(asked) => asked,
            Err(error) => return error.into(),
        };
        let Some(socket) = self.kept.get(&inode) else { return Errno::INVAL.into() };
        let done = match &address {
            Address::Internet(to) => match socket.bind(&SockAddr::from(*to)) {
                Err(error) if failed(&error) == Errno::ADDRINUSE => {
                    // The child may have closed that socket since.
                    self.forget_closed(Some(inode));
                    self.kept.get(&inode).map_or(Err(error), |socket| socket.bind(&SockAddr::from(*to)))
                }
                done => done,
            },
            Address::Abstract(name) => named_without_file(name).and_then(|name| socket.bind(&name)),
            Address::Path(path) => {
                return match bind_file(call, socket, path) {
                    Ok(file) => {
                        self.files.extend(file);
                        DONE
                    }
                    Err(Errno::ACCESS | Errno::PERM) => Outcome::Refused(Errno::ACCESS, format!("bind {address}")),
                    Err(error) => error.into(),
                };
            }
        };
        match done {
            Ok(()) => {
                self.own.insert(inode);
                DONE
            }
            Err(error) => failed(&error).into(),
        }
    }

    /// `listen(socket, backlog)`: from now on only its own end ends it, so its descriptor is not kept here.
    pub(super) fn listen(&mut self, listener: &Listener, call: &Call) -> Outcome {
        if let Ok(inode) = inode(listener, call)
            && self.kept.remove(&inode).is_some()
        {
            self.own.insert(inode);
        }
        CONTINUES
    }

    /// `connect(socket, address, length)`
    pub(super) fn connect(&mut self, listener: &Arc<Listener>, call: &Call) -> Outcome {
        let (inode, address) = match asked(listener, call) {
            Ok(asked) => asked,
            Err(error) => return error.into(),
        };
        let Some(socket) = self.kept.get(&inode) else { return Errno::ISCONN.into() };
        let to = match self.target(call, &address) {
            Ok(to) => to,
            Err(outcome) => return outcome,
        };
        let Ok(socket) = socket.try_clone() else { return Errno::NFILE.into() };
        if !socket.nonblocking().unwrap_or(false) {
            // A descriptor kept here during a connection would hold the socket open after the child closed it.
            self.kept.remove(&inode);
            return self.wait(listener, call, socket, to);
        }
        match to.reached_at_once_by(&socket) {
            Ok(()) => {
                self.kept.remove(&inode);
                DONE
            }
            Err(error) => error.into(),
        }
    }

    /// The destination of a connection, if it stays within the run.
    fn target(&self, call: &Call, address: &Address) -> Result<Target, Outcome> {
        let nobody = || Outcome::from(Errno::CONNREFUSED);
        let foreign = |error| Outcome::Refused(error, format!("connect {address}"));
        match address {
            Address::Internet(to) if !is_loopback(*to) => Err(foreign(Errno::NETUNREACH)),
            Address::Internet(to) => {
                let Ok(found) = listening(to.port()) else { return Err(foreign(Errno::CONNREFUSED)) };
                if found.is_empty() {
                    return Err(nobody());
                }
                let own = found.iter().all(|inode| self.own.contains(inode));
                if own { Ok(Target::new(SockAddr::from(*to))) } else { Err(foreign(Errno::CONNREFUSED)) }
            }
            Address::Abstract(name) => {
                let found = named(&fs::read("/proc/net/unix").unwrap_or_default(), name);
                if found.is_empty() {
                    return Err(nobody());
                }
                let name = named_without_file(name);
                match found.iter().all(|inode| self.own.contains(inode)) {
                    true => name.map(Target::new).map_err(|error| failed(&error).into()),
                    false => Err(foreign(Errno::CONNREFUSED)),
                }
            }
            Address::Path(path) => {
                let file = openat(folder_of(call)?, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                let found = fstat(&file)?;
                if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
                    return Err(nobody());
                }
                if !self.files.contains(&(found.st_dev, found.st_ino)) {
                    return Err(foreign(Errno::ACCESS));
                }
                let by_descriptor = SockAddr::unix(format!("/proc/self/fd/{}", file.as_raw_fd()));
                let address = by_descriptor.map_err(|error| Outcome::from(failed(&error)))?;
                Ok(Target { address, _file: Some(file) })
            }
        }
    }

    /// Connects beside the other calls, for as long as it takes.
    fn wait(&self, listener: &Arc<Listener>, call: &Call, socket: Socket, to: Target) -> Outcome {
        let (listener, call, waiting) = (Arc::clone(listener), *call, Arc::clone(&self.waiting));
        if waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            waiting.fetch_sub(1, Ordering::Relaxed);
            return Errno::AGAIN.into();
        }
        let connect = move || {
            let answer = match to.reached_by(&socket) {
                Ok(()) => Answer::Returns(0),
                Err(error) => Answer::Fails(error),
            };
            drop(socket);
            waiting.fetch_sub(1, Ordering::Relaxed);
            // It may have been killed since.
            listener.answer(&call, answer).ok();
        };
        match thread::Builder::new().spawn(connect) {
            Ok(_) => Outcome::Later,
            Err(_) => Errno::AGAIN.into(),
        }
    }

    /// Forgets the sockets that no process of the run has open, except `but`.
    fn forget_closed(&mut self, but: Option<u64>) {
        let open = tree::open_sockets();
        let keeps = |inode: &u64| open.contains(inode) || Some(*inode) == but;
        self.kept.retain(|inode, _| keeps(inode));
        self.own.retain(|inode| keeps(inode));
    }
}

/// The destination of a connection; what it names stays open until the connection is made.
struct Target {
    address: SockAddr,
    _file: Option<OwnedFd>,
}

impl Target {
    fn new(address: SockAddr) -> Self {
        Self { address, _file: None }
    }

    fn reached_by(&self, socket: &Socket) -> Result<(), Errno> {
        socket.connect(&self.address).map_err(|error| failed(&error))
    }

    /// Connects by a non-blocking socket. Within the machine a connection is made at once, unless the listener's queue
    /// is full.
    fn reached_at_once_by(&self, socket: &Socket) -> Result<(), Errno> {
        match self.reached_by(socket) {
            Err(Errno::INPROGRESS) => {}
            done => return done,
        }
        let mut watched = [PollFd::new(socket, PollFlags::OUT)];
        match poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(1..) => socket.take_error().ok().flatten().map_or(Ok(()), |error| Err(failed(&error))),
            Ok(_) | Err(_) => Err(Errno::INPROGRESS),
        }
    }
}

/// Binds a socket to a file by the path that the caller wrote, because that becomes its name. This thread may make
/// files only where the child may. Returns the file; `None` if it is gone already.
fn bind_file(call: &Call, socket: &Socket, path: &[u8]) -> Result<Option<(u64, u64)>, Errno> {
    let name = SockAddr::unix(OsStr::from_bytes(path)).map_err(|error| failed(&error))?;
    let folder = folder_of(call)?;
    rustix::process::fchdir(&folder)?;
    let bound = socket.bind(&name);
    let file = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    rustix::process::chdir("/")?;
    bound.map_err(|error| failed(&error))?;
    Ok(file.and_then(fstat).ok().map(|found| (found.st_dev, found.st_ino)))
}

/// The folder that the caller is in.
fn folder_of(call: &Call) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, format!("/proc/{}/cwd", call.thread), flags, Mode::empty())
}

/// The address of a socket that has a name and no file.
fn named_without_file(name: &[u8]) -> io::Result<SockAddr> {
    SockAddr::unix(OsStr::from_bytes(&[b"\0", name].concat()))
}

/// The socket and the address that the caller names.
fn asked(listener: &Listener, call: &Call) -> Result<(u64, Address), Errno> {
    Ok((inode(listener, call)?, address(listener, call, 1)?))
}

/// The inode of the socket that the caller names.
fn inode(listener: &Listener, call: &Call) -> Result<u64, Errno> {
    let target =
        fs::read_link(format!("/proc/{}/fd/{}", call.thread, call.arguments[0] as i32)).map_err(|_| Errno::BADF)?;
    if !listener.waits(call) {
        return Err(Errno::SRCH);
    }
    tree::socket(&target).ok_or(Errno::NOTSOCK)
}

/// The address that the argument at `place` points to; the next argument is its length.
pub(super) fn address(listener: &Listener, call: &Call, place: usize) -> Result<Address, Errno> {
    let length = call.arguments[place + 1] as u32 as usize;
    if length > LONGEST {
        return Err(Errno::INVAL);
    }
    let bytes = memory::bytes(listener, call, call.arguments[place], length)?;
    if bytes.len() < length { Err(Errno::FAULT) } else { Address::parse(&bytes) }
}

fn refused(what: String) -> Outcome {
    Outcome::Refused(Errno::PERM, what)
}

fn failed(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::INVAL)
}
