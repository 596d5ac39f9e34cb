//! What the supervisor of a fence does for its child (sockets, shared memory, terminals), tried for what is another's.

use std::{
    fs::{self, File},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    os::{
        fd::AsRawFd,
        unix::{
            fs::{OpenOptionsExt, symlink},
            net::{UnixListener, UnixStream},
        },
    },
    path::PathBuf,
};

use crate::{
    attempt::{Attempt, Outcome, Told},
    raw::{Calls, Word, n},
};

/// The first descriptor that a program of calls gets.
const FIRST: i64 = 3;

pub(crate) fn attempts(told: &Told) -> Vec<Attempt> {
    by_address(told).into_iter().chain(by_call(told)).chain(by_file(told)).chain(shared(told)).collect()
}

/// Servers of other processes, by other names of the loopback and of the machine.
fn by_address(told: &Told) -> Vec<Attempt> {
    let port = told.port("tcp");
    let connect = |ip: IpAddr, port: u16| Outcome::of(TcpStream::connect(SocketAddr::new(ip, port)));
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    let six = told.get("tcp6").map(|port| connect(Ipv6Addr::LOCALHOST.into(), port.parse().unwrap()));
    let machine = told.get("machine").map(|address| Outcome::of(TcpStream::connect(address)));
    let named = Outcome::of(TcpStream::connect(("localhost", port)));
    // What listens there, too, is the prisoner's own.
    let beside = || {
        let _own = TcpListener::bind(("127.0.0.2", port))?;
        TcpStream::connect(("127.0.0.1", port))
    };
    vec![
        ("connect to a server on ::1", six.unwrap_or_else(|| Outcome::not_here("the machine has no ::1"))),
        ("connect to a server by `localhost`", named),
        ("connect to a server by ::ffff:127.0.0.1", connect(mapped.into(), port)),
        ("connect to a server by 0.0.0.0", connect(Ipv4Addr::UNSPECIFIED.into(), port)),
        ("connect to a server beside one of its own at the same port", Outcome::of(beside())),
        (
            "connect to a server at the machine's own address",
            machine.unwrap_or_else(|| Outcome::not_here("the machine has no address but the loopback's")),
        ),
    ]
}

/// Servers of other processes, by calls that programs seldom make; and listening where others may connect.
fn by_call(told: &Told) -> Vec<Attempt> {
    let theirs = internet(Ipv4Addr::LOCALHOST, told.port("tcp"));
    let fast = i64::from(libc::MSG_FASTOPEN);
    let mut sendto = Calls::default();
    let (to, text) = (sendto.bytes(&theirs), sendto.bytes(b"x"));
    let sendto = socket(sendto).then(libc::SYS_sendto, &[n(FIRST), text, n(1), n(fast), to, n(16)]);
    let mut sendmsg = Calls::default();
    let message = message(&mut sendmsg, &theirs);
    let sendmsg = socket(sendmsg).then(libc::SYS_sendmsg, &[n(FIRST), message, n(fast)]);
    let mut sendmmsg = Calls::default();
    let messages = self::message(&mut sendmmsg, &theirs);
    let sendmmsg = socket(sendmmsg).then(libc::SYS_sendmmsg, &[n(FIRST), messages, n(1), n(fast)]);
    let own = TcpListener::bind("127.0.0.1:0");
    let own_port = own.as_ref().ok().and_then(|own| own.local_addr().ok()).map_or(0, |address| address.port());
    let mut turned = Calls::default();
    let [mine, nobody, to] =
        [internet(Ipv4Addr::LOCALHOST, own_port), [0; 16], theirs].map(|address| turned.bytes(&address));
    let turned = [mine, nobody, to]
        .into_iter()
        .fold(socket(turned), |calls, to| calls.then(libc::SYS_connect, &[n(FIRST), to, n(16)]));
    let mut listening = Calls::default();
    let (here, to) = (listening.bytes(&internet(Ipv4Addr::LOCALHOST, 0)), listening.bytes(&theirs));
    let listening = socket(listening)
        .then(libc::SYS_bind, &[n(FIRST), here, n(16)])
        .then(libc::SYS_listen, &[n(FIRST), n(1)])
        .then(libc::SYS_shutdown, &[n(FIRST), n(2)])
        .then(libc::SYS_connect, &[n(FIRST), to, n(16)]);
    vec![
        ("connect to a server by what it sends (`sendto`)", sendto.make()),
        ("connect to a server by what it sends (`sendmsg`)", sendmsg.make()),
        ("connect to a server by what it sends (`sendmmsg`)", sendmmsg.make()),
        ("turn a connection of its own to another's server", turned.make()),
        ("turn a listening socket to another's server", listening.make()),
        ("listen where other machines reach it", listens(Ipv4Addr::UNSPECIFIED)),
        (
            "listen at the machine's own address",
            match told.get("machine").and_then(|address| address.parse().ok()) {
                Some(SocketAddr::V4(address)) => listens(*address.ip()),
                _ => Outcome::not_here("the machine has no address but the loopback's"),
            },
        ),
    ]
}

/// A socket that is bound to no device, at an address of all of them. Where there is no other device, nobody reaches it.
fn listens(address: Ipv4Addr) -> Outcome {
    let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut names = devices.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    if names.clone().count() > 0 && names.all(|name| name == "lo") {
        return Outcome::Held("there is no device but the loopback".to_owned());
    }
    let mut calls = Calls::default();
    let here = calls.bytes(&internet(address, 0));
    let bind = |calls: Calls| calls.then(libc::SYS_bind, &[n(FIRST), here, n(16)]);
    let set = [n(FIRST), n(libc::SOL_SOCKET.into()), n(libc::SO_BINDTODEVICE.into()), here, n(0)];
    let free = |calls: Calls| calls.then(libc::SYS_setsockopt, &set);
    let calls = socket(calls);
    let calls = if address.is_unspecified() { bind(free(calls)) } else { free(bind(calls)) };
    calls.then(libc::SYS_listen, &[n(FIRST), n(1)]).make()
}

/// The service's socket by other paths, and sockets of its own where it may not make any.
fn by_file(told: &Told) -> Vec<Attempt> {
    let service = told.text("unix");
    let by_link = symlink(service, "service-link").and_then(|()| UnixStream::connect("service-link"));
    let by_hard_link = fs::hard_link(service, "service-hard").and_then(|()| UnixStream::connect("service-hard"));
    let by_descriptor = || {
        let open = File::options().read(true).custom_flags(libc::O_PATH).open(service)?;
        UnixStream::connect(format!("/proc/self/fd/{}", open.as_raw_fd()))
    };
    let made = |path: String| {
        let made = UnixListener::bind(&path);
        fs::remove_file(&path).ok();
        Outcome::of(made)
    };
    let outside = told.text("outside");
    vec![
        ("connect to a service by a link in its folder", Outcome::of(by_link)),
        ("connect to a service by a hard link in its folder", Outcome::of(by_hard_link)),
        ("connect to a service by a descriptor", Outcome::of(by_descriptor())),
        (
            "connect to a service by `/proc/self/root`",
            Outcome::of(UnixStream::connect(format!("/proc/self/root{service}"))),
        ),
        ("make a socket outside by `/proc/self/root`", made(format!("/proc/self/root{outside}/by-root"))),
        ("make a socket outside by `/proc/self/cwd/..`", made("/proc/self/cwd/../outside/by-folder".to_owned())),
    ]
}

/// Names in `/dev/shm`, and terminals.
fn shared(told: &Told) -> Vec<Attempt> {
    let link = format!("/dev/shm/{}.link", told.text("mark"));
    // In a fence the names are files of this folder.
    fs::create_dir(".dev-shm").ok();
    symlink(told.outside("secret"), PathBuf::from(".dev-shm").join(format!("{}.link", told.text("mark")))).ok();
    symlink(told.outside("secret"), &link).ok();
    let both = |path: &str, flags: i32| File::options().read(true).write(true).custom_flags(flags).open(path);
    let read = both(&link, 0);
    fs::remove_file(&link).ok();
    let theirs = told.text("shm");
    let name = |path: &str| path.trim_start_matches("/dev/shm/").to_owned();
    let other = format!("{theirs}.other");
    let linked = fs::hard_link(theirs, &other).and_then(|()| fs::remove_file(&other));
    let terminal = |path: &str| both(path, libc::O_NOCTTY);
    let ends = told.text("terminal");
    vec![
        ("read a file outside by a link in `/dev/shm`", Outcome::of(read)),
        ("open another's memory by its name in `/dev/shm`", Outcome::of(both(theirs, libc::O_NOFOLLOW))),
        ("read a file of another by `/dev/shm/.`", Outcome::of(fs::read(format!("/dev/shm/./{}", name(theirs))))),
        ("link a file of another in `/dev/shm`", Outcome::of(linked)),
        ("remove a file of another in `/dev/shm`", removed(told.text("shared"))),
        ("list `/dev/shm`", listed("/dev/shm", &name(theirs))),
        ("open another's terminal", Outcome::of(terminal(ends))),
        ("open another's terminal by another spelling", Outcome::of(terminal(&ends.replace("/pts/", "/pts/./")))),
        ("list the machine's terminals", listed("/dev/pts", ends.trim_start_matches("/dev/pts/"))),
    ]
}

fn removed(path: &str) -> Outcome {
    Outcome::of(fs::remove_file(path))
}

/// In a box the folder of that name is another one.
fn listed(folder: &str, theirs: &str) -> Outcome {
    let names = fs::read_dir(folder).map(|names| names.flatten().any(|entry| entry.file_name() == theirs));
    Outcome::of(names.and_then(|found| if found { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }))
}

/// A socket for streams, which is the first descriptor.
fn socket(calls: Calls) -> Calls {
    calls.then(libc::SYS_socket, &[n(libc::AF_INET.into()), n(libc::SOCK_STREAM.into()), n(0)])
}

/// `struct sockaddr_in`
fn internet(address: Ipv4Addr, port: u16) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&2_u16.to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[4..8].copy_from_slice(&address.octets());
    bytes
}

/// `struct mmsghdr`, which begins with `struct msghdr`: one byte to this address.
fn message(calls: &mut Calls, to: &[u8; 16]) -> Word {
    let (to, text) = (calls.bytes(to).address(), calls.bytes(b"x").address());
    let part = calls.numbers(&[text, 1]).address();
    calls.numbers(&[to, 16, part, 1, 0, 0, 0, 0])
}
