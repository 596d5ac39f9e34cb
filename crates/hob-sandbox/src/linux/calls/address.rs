//! Addresses of sockets as a caller writes them, and those with a name as the kernel lists them.

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
};

use rustix::io::Errno;

/// Bytes of an address at most: `sizeof(struct sockaddr_storage)`.
pub(super) const LONGEST: usize = 128;
/// Bytes before the path in `struct sockaddr_un`.
const FAMILY: usize = 2;

/// The address of a socket, or of its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Internet(SocketAddr),
    /// A file.
    Path(Vec<u8>),
    /// A name without a file.
    Abstract(Vec<u8>),
}

impl Address {
    /// Parses an address from bytes of a caller's memory.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Errno> {
        let (family, rest) = bytes.split_first_chunk::<FAMILY>().ok_or(Errno::INVAL)?;
        match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_INET => {
                let (port, rest) = rest.split_first_chunk::<2>().ok_or(Errno::INVAL)?;
                let (address, _) = rest.split_first_chunk::<4>().ok_or(Errno::INVAL)?;
                let address = SocketAddrV4::new(Ipv4Addr::from(*address), u16::from_be_bytes(*port));
                Ok(Self::Internet(address.into()))
            }
            libc::AF_INET6 => {
                let (port, rest) = rest.split_first_chunk::<2>().ok_or(Errno::INVAL)?;
                let (flow, rest) = rest.split_first_chunk::<4>().ok_or(Errno::INVAL)?;
                let (address, rest) = rest.split_first_chunk::<16>().ok_or(Errno::INVAL)?;
                let scope = rest.first_chunk::<4>().map_or(0, |scope| u32::from_ne_bytes(*scope));
                let (port, flow) = (u16::from_be_bytes(*port), u32::from_be_bytes(*flow));
                Ok(Self::Internet(SocketAddrV6::new(Ipv6Addr::from(*address), port, flow, scope).into()))
            }
            libc::AF_UNIX => match rest {
                [] => Err(Errno::INVAL),
                [0, name @ ..] => Ok(Self::Abstract(name.to_owned())),
                path => Ok(Self::Path(path.split(|byte| *byte == 0).next().unwrap_or_default().to_owned())),
            },
            _ => Err(Errno::AFNOSUPPORT),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Internet(address) => write!(f, "{address}"),
            Self::Path(path) => write!(f, "{}", path.escape_ascii()),
            Self::Abstract(name) => write!(f, "@{}", name.escape_ascii()),
        }
    }
}

/// Whether a message to this address stays on the machine, by the address alone.
pub(super) fn is_loopback(address: SocketAddr) -> bool {
    let address = address.ip().to_canonical();
    address.is_loopback()
        || address == IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        || address == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
}

/// The sockets that have this name, by their inodes, in a table like `/proc/net/unix`. The table shows a zero as `@`, so that
/// two names may look the same.
pub(super) fn named(table: &[u8], name: &[u8]) -> HashSet<u64> {
    let shown: Vec<u8> = [b"@", name].concat().into_iter().map(|byte| if byte == 0 { b'@' } else { byte }).collect();
    let inode = |line: &[u8]| {
        let mut rest = line;
        let mut inode = None;
        for place in 0..7 {
            rest = rest.trim_ascii_start();
            let (field, behind) = rest.split_at(rest.iter().position(|byte| *byte == b' ')?);
            (rest, inode) = (behind, if place == 6 { std::str::from_utf8(field).ok()?.parse().ok() } else { None });
        }
        // A name may begin with blanks.
        (rest.strip_prefix(b" ")? == shown).then_some(inode?)
    };
    table.split(|byte| *byte == b'\n').filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIX: &[u8] = b"\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 21001 @one
0000000000000000: 00000003 00000000 00000000 0001 03 21002
0000000000000000: 00000002 00000000 00010000 0001 01 21003 /run/one
0000000000000000: 00000002 00000000 00010000 0001 01 21004 @one@
";

    #[test]
    fn a_table_of_the_kernel_says_who_has_a_name() {
        assert_eq!(named(UNIX, b"one"), HashSet::from([21001]));
        assert_eq!(named(UNIX, b"one\0"), HashSet::from([21004]));
        assert_eq!(named(UNIX, b"one@"), HashSet::from([21004]));
        assert!(named(UNIX, b"/run/one").is_empty());
    }

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let internet = |bytes: &[u8]| Address::parse(bytes).map(|address| address.to_string());
        let v4 = [&2_u16.to_ne_bytes()[..], &[0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(internet(&v4).as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(internet(&v4[..7]), Err(Errno::INVAL));
        let v6 =
            [&10_u16.to_ne_bytes()[..], &[0x1f, 0x90, 0, 0, 0, 0], &Ipv6Addr::LOCALHOST.octets(), &[0; 4]].concat();
        assert_eq!(internet(&v6).as_deref(), Ok("[::1]:8080"));
        let unix = |rest: &[u8]| internet(&[&1_u16.to_ne_bytes()[..], rest].concat());
        assert_eq!(unix(b"/run/docker.sock\0garbage").as_deref(), Ok("/run/docker.sock"));
        assert_eq!(unix(b"\0name").as_deref(), Ok("@name"));
        assert_eq!(unix(b""), Err(Errno::INVAL));
        assert_eq!(internet(&16_u16.to_ne_bytes()), Err(Errno::AFNOSUPPORT));
    }

    #[test]
    fn what_stays_on_the_machine_is_known_in_every_spelling() {
        let stays = |address: &str| is_loopback(SocketAddr::new(address.parse().unwrap(), 1));
        for inside in ["127.0.0.1", "127.8.8.8", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0"] {
            assert!(stays(inside), "{inside}");
        }
        for outside in ["1.1.1.1", "10.0.0.1", "169.254.169.254", "::ffff:1.1.1.1", "fe80::1", "2606:4700::1111"] {
            assert!(!stays(outside), "{outside}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_caller_writes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..LONGEST), family in 0_u16..12) {
            Address::parse(&bytes).ok();
            let known = [&family.to_ne_bytes()[..], &bytes].concat();
            if let Ok(Address::Path(path)) = Address::parse(&known) {
                prop_assert!(!path.is_empty() && !path.contains(&0));
            }
        }

        #[test]
        fn whatever_a_table_says_is_read(table in "[ 0-9A-F:@a-z/\n]{0,200}", name in "[a-z@ ]{0,8}") {
            prop_assert!(named(table.as_bytes(), name.as_bytes()).len() <= table.lines().count());
        }
    }
}
