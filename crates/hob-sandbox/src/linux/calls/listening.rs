//! The listeners at a port of this machine, from `sock_diag(7)`. `/proc/net/tcp` has the same, but walks through all
//! possible connections: ten milliseconds.

use std::{collections::HashSet, io};

use socket2::{Domain, Protocol, Socket, Type};

/// `NETLINK_SOCK_DIAG` of `linux/netlink.h`, `SOCK_DIAG_BY_FAMILY` of `linux/sock_diag.h`.
const SOCK_DIAG: i32 = 4;
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `NLMSG_ERROR` and `NLMSG_DONE` of `linux/netlink.h`.
const ASKS_FOR_ALL: u16 = 0x301;
const FAILED: u16 = 2;
const DONE: u16 = 3;
/// `TCP_LISTEN` of `net/tcp_states.h`, as a bit.
const LISTEN: u32 = 1 << 10;
/// Bytes of `struct nlmsghdr`, bytes of `struct inet_diag_req_v2`, which follows it in a question, and the offset of
/// the inode in `struct inet_diag_msg`, which follows it in an answer.
const HEADER: usize = 16;
const QUESTION: usize = 56;
const INODE: usize = 68;
/// Bytes of an answer at most: a page or 32 KiB, by the kernel's own choice.
const ANSWER: usize = 32 << 10;

/// The sockets that listen at this port of any address, by their inodes.
pub(super) fn listening(port: u16) -> io::Result<HashSet<u64>> {
    let kernel = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, Some(Protocol::from(SOCK_DIAG)))?;
    let mut found = HashSet::new();
    let mut buffer = vec![0; ANSWER];
    for family in [libc::AF_INET, libc::AF_INET6] {
        kernel.send(&question(family, port))?;
        loop {
            let length = io::Read::read(&mut &kernel, &mut buffer)?;
            if take(&buffer[..length], &mut found)? {
                break;
            }
        }
    }
    Ok(found)
}

fn question(family: i32, port: u16) -> Vec<u8> {
    let length = HEADER + QUESTION;
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((length as u32).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(ASKS_FOR_ALL.to_ne_bytes());
    // Its number, and who asks.
    bytes.extend([0; 8]);
    bytes.extend([family as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    bytes.extend(LISTEN.to_ne_bytes());
    bytes.extend(port.to_be_bytes());
    bytes.resize(length, 0);
    bytes
}

/// Takes the sockets out of an answer; whether it is the last.
fn take(mut answer: &[u8], found: &mut HashSet<u64>) -> io::Result<bool> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    while !answer.is_empty() {
        let length = answer.first_chunk().map(|length| u32::from_ne_bytes(*length) as usize).ok_or_else(broken)?;
        if length < HEADER || length > answer.len() {
            return Err(broken());
        }
        let (message, rest) = answer.split_at(length);
        let (header, body) = message.split_at(HEADER);
        match u16::from_ne_bytes([header[4], header[5]]) {
            DONE => return Ok(true),
            FAILED => {
                let code = body.first_chunk().map(|code| i32::from_ne_bytes(*code)).ok_or_else(broken)?;
                return Err(io::Error::from_raw_os_error(code.saturating_neg()));
            }
            _ => {
                let inode = body.get(INODE..).and_then(|rest| rest.first_chunk()).ok_or_else(broken)?;
                found.insert(u32::from_ne_bytes(*inode).into());
            }
        }
        // Messages begin at multiples of four.
        answer = rest.get(length.next_multiple_of(4) - length..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, TcpStream},
        os::fd::AsFd,
    };

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kernel_tells_who_listens() {
        let inode = |socket: &dyn AsFd| rustix::fs::fstat(socket.as_fd()).unwrap().st_ino;
        let one = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = one.local_addr().unwrap().port();
        let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let other = TcpListener::bind(("::1", port));
        let all: HashSet<_> =
            std::iter::once(inode(&one)).chain(other.as_ref().ok().map(|other| inode(other))).collect();
        assert_eq!(listening(port).unwrap(), all);
        drop((one, other));
        assert!(listening(port).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), length in 0_u32..120, kind in 0_u16..24) {
            let mut found = HashSet::new();
            take(&bytes, &mut found).ok();
            let message = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &bytes].concat();
            take(&message, &mut found).ok();
            prop_assert!(found.len() <= bytes.len());
        }
    }
}
