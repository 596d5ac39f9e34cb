//! The IP addresses that a name may resolve to, by IANA's registries of special addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A host of the internet.
    Public,
    /// This machine or its network: only for a host that the owner named as private.
    Private,
    /// Never a host: link-local, where clouds have their metadata, and addresses that no server has.
    Never,
}

/// The reach of `ip`; an IPv4 address inside an IPv6 one counts as itself.
pub(crate) fn reach(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(ip) => reach_v4(ip),
        IpAddr::V6(ip) => reach_v6(ip),
    }
}

fn reach_v4(ip: Ipv4Addr) -> Reach {
    let [a, b, c, _] = ip.octets();
    if ip.is_loopback() || ip.is_private() || (a == 100 && b & 0xc0 == 64) {
        return Reach::Private;
    }
    let never = a == 0
        || a >= 224
        || ip.is_link_local()
        || ip.is_documentation()
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && b & 0xfe == 18);
    if never { Reach::Never } else { Reach::Public }
}

fn reach_v6(ip: Ipv6Addr) -> Reach {
    let part = ip.segments();
    let tail = Ipv4Addr::from(u32::from(part[6]) << 16 | u32::from(part[7]));
    match part {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private,
        // Mapped, and the well-known prefix of NAT64.
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => reach_v4(tail),
        // 6to4.
        [0x2002, high, low, ..] => reach_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))),
        [first, ..] if first & 0xfe00 == 0xfc00 => Reach::Private,
        // The internet's hosts are all in 2000::/3. The rest is compatible, link-local, site-local, multicast, discard.
        [first, ..] if first & 0xe000 != 0x2000 => Reach::Never,
        // Teredo, benchmarks and protocols of their own; documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => Reach::Never,
        [0x3fff, second, ..] if second < 0x1000 => Reach::Never,
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Reach {
        reach(text.parse().unwrap())
    }

    /// Attack corpus F68
    #[test]
    fn only_hosts_of_the_internet_are_public() {
        for text in
            ["1.1.1.1", "100.63.255.255", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"]
        {
            assert_eq!(of(text), Reach::Public, "{text}");
        }
        for text in [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert_eq!(of(text), Reach::Private, "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:a9fe:a9fe::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert_eq!(of(text), Reach::Never, "{text}");
        }
    }
}
