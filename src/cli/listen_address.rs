//! The address of `hob run --listen`.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
};

/// An address of this machine to listen at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListenAddress(pub(super) SocketAddr);

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Text that is not an address to listen at.
#[derive(Debug, thiserror::Error)]
#[error("write a port, or an IP address and a port such as `127.0.0.1:4620`")]
pub(super) struct NoListenAddress;

impl FromStr for ListenAddress {
    type Err = NoListenAddress;

    fn from_str(text: &str) -> Result<Self, NoListenAddress> {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        // A colon without an address before it would be every address of the machine to some programs.
        let port = text.strip_prefix("localhost:").unwrap_or(text);
        let of_port = port.parse().map(|port| SocketAddr::new(here, port));
        of_port.or_else(|_| text.parse()).map(Self).map_err(|_| NoListenAddress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_this_machines() {
        for (text, address) in [
            ("4620", "127.0.0.1:4620"),
            ("0", "127.0.0.1:0"),
            ("localhost:80", "127.0.0.1:80"),
            ("127.9.9.9:1", "127.9.9.9:1"),
            ("[::1]:1", "[::1]:1"),
            ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::]:1", "[::]:1"),
            ("10.0.0.1:1", "10.0.0.1:1"),
        ] {
            let parsed: ListenAddress = text.parse().unwrap();
            assert_eq!(parsed.to_string(), address, "{text}");
        }
        for text in ["", ":4620", "65536", "-1", "127.0.0.1", "example.org:80", "localhost", "::1"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }
}
