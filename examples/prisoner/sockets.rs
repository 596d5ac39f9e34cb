//! The network, and services of the machine by their sockets and queues.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as LocalAddr, UnixDatagram, UnixStream},
    },
    time::Duration,
};

use crate::{
    attempt::{Attempt, Outcome, Told},
    processes::LAST,
    raw::{Calls, SCRATCH, n},
};

/// Nobody who answers at all takes longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A question for the address of `example.org`.
const QUESTION: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01";

pub(crate) fn attempts(told: &Told) -> Vec<Attempt> {
    let here = |key: &str| SocketAddr::from(([127, 0, 0, 1], told.port(key)));
    let named = LocalAddr::from_abstract_name(told.text("abstract")).unwrap();
    let pair = || UnixDatagram::pair().map(|(one, _other)| one);
    let datagram = told.text("datagram");
    let unbound = || UnixDatagram::unbound()?.send_to(b"x", datagram);
    let mut attempts = vec![
        ("connect to a server on 127.0.0.1", Outcome::of(TcpStream::connect(here("tcp")))),
        ("ask a server on 127.0.0.1 over UDP", answered(ask(here("udp"), b"x"))),
        ("connect to a service by its socket's path", Outcome::of(UnixStream::connect(told.text("unix")))),
        ("send to a service by its socket's path", Outcome::of(unbound())),
        ("send to a service by a pair of sockets", Outcome::of(pair().and_then(|one| one.send_to(b"x", datagram)))),
        ("connect a pair of sockets to a service", Outcome::of(pair().and_then(|one| one.connect(datagram)))),
        ("connect to a service by an abstract name", Outcome::of(UnixStream::connect_addr(&named))),
    ];
    attempts.extend(beyond(told));
    attempts.extend(families());
    attempts.extend(queues(told));
    attempts
}

/// What is not on this machine.
fn beyond(told: &Told) -> Vec<Attempt> {
    let metadata = "connect to the metadata address of clouds";
    let names = "ask the machine's name server";
    if told.get("loopback-only").is_some() {
        let not_asked = || Outcome::not_here("only this machine is asked");
        return vec![(metadata, not_asked()), (names, not_asked())];
    }
    let servers = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let server = servers.lines().find_map(|line| line.strip_prefix("nameserver ")?.trim().parse::<IpAddr>().ok());
    let asked = match server {
        Some(server) => answered(ask(SocketAddr::new(server, 53), QUESTION)),
        None => Outcome::not_here("`/etc/resolv.conf` names no server"),
    };
    let address = SocketAddr::from(([169, 254, 169, 254], 80));
    vec![(metadata, answered(TcpStream::connect_timeout(&address, PATIENCE))), (names, asked)]
}

fn ask(server: SocketAddr, question: &[u8]) -> io::Result<()> {
    let any: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any)?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send(question)?;
    socket.recv(&mut [0; 512]).map(drop)
}

/// Where nobody answers, nothing shows that something was refused.
fn answered<T>(result: io::Result<T>) -> Outcome {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
            Outcome::not_here("nobody answers there")
        }
        other => Outcome::of(other),
    }
}

/// Sockets of other families, and raw ones.
fn families() -> Vec<Attempt> {
    let socket = |family: i32, kind: i32, protocol: i32| {
        Calls::one(libc::SYS_socket, &[n(family.into()), n(kind.into()), n(protocol.into())]).make()
    };
    vec![
        ("make a raw socket", socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
        ("make a packet socket", socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
        ("make a netlink socket", socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
        ("make a vsock socket", socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
        ("make a socket of the kernel's ciphers", socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
        ("make a TIPC socket", socket(libc::AF_TIPC, libc::SOCK_RDM, 0)),
        (
            "make a pair of TIPC sockets",
            Calls::one(libc::SYS_socketpair, &[n(libc::AF_TIPC.into()), n(libc::SOCK_RDM.into()), n(0), SCRATCH])
                .make(),
        ),
        ("make a Bluetooth socket", socket(libc::AF_BLUETOOTH, libc::SOCK_RAW, 1)),
        ("make an XDP socket", socket(libc::AF_XDP, libc::SOCK_RAW, 0)),
    ]
}

/// Memory and queues that processes share by a name or a number, as the guard made them.
fn queues(told: &Told) -> Vec<Attempt> {
    let key = n(told.text("key").parse().unwrap());
    let mut queue = Calls::default();
    // The call wants the name without the slash that programs write before it.
    let name = queue.text(told.text("queue"));
    vec![
        (
            "attach memory that processes share by a key",
            Calls::one(libc::SYS_shmget, &[key, n(0), n(0)]).then(libc::SYS_shmat, &[LAST, n(0), n(0)]).make(),
        ),
        ("open a queue of messages by a key", Calls::one(libc::SYS_msgget, &[key, n(0)]).make()),
        ("open semaphores by a key", Calls::one(libc::SYS_semget, &[key, n(0), n(0)]).make()),
        ("open a queue of messages by its name", queue.then(libc::SYS_mq_open, &[name, n(libc::O_RDWR.into())]).make()),
    ]
}
