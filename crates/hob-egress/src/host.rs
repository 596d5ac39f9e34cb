//! Host names: read once, into one spelling. Names with two possible spellings are refused.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// The port of an entry that names none.
const HTTPS: u16 = 443;
/// Characters of a whole name, by RFC 1035.
const NAME_MAX: usize = 253;
/// Characters between two dots.
const LABEL_MAX: usize = 63;

/// One host and one of its ports: `example.org`, `example.org:8443`, `127.0.0.1:11434`, `[::1]:80`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    name: Name,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    Dns(String),
    Literal(IpAddr),
}

/// Why a text is not a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHost {
    /// A pattern.
    #[error("a host must be named in full: `*` is not a wildcard here")]
    Wildcard,
    /// `user@host`.
    #[error("a host has no user before it")]
    UserInfo,
    /// Another character than letters, digits, `-`, `_` and `.`.
    #[error("a host's name has only ASCII letters, digits, `-`, `_` and `.`")]
    Character,
    /// Two dots in a row, an empty name, or one that is too long.
    #[error("a host's name has parts of 1 to 63 characters, and 253 in all")]
    Label,
    /// An IP address in another form than the usual one: `0x7f.1`, `2130706433`, `127.1`.
    #[error("an IP address in this form is not accepted")]
    Number,
    /// An IP address where only a name is allowed.
    #[error("an IP address is not a host name")]
    Literal,
    /// Not a number from 1 to 65535.
    #[error("a port is a number from 1 to 65535")]
    Port,
}

impl Host {
    /// Reads a host by name or IP address. A list of private hosts may hold both.
    pub fn private(text: &str) -> Result<Self, InvalidHost> {
        Self::read(text, Some(HTTPS))
    }

    /// Parses the host of a request. Without a port it gets `port`; if that is `None`, it is refused.
    pub(crate) fn requested(text: &str, port: Option<u16>) -> Result<Self, InvalidHost> {
        Self::read(text, port)
    }

    /// The name as DNS and TLS know it, without a final dot; of an IP address its text.
    pub fn name(&self) -> String {
        match &self.name {
            Name::Dns(name) => name.clone(),
            Name::Literal(ip) => ip.to_string(),
        }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address, if the host is an IP address.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.name {
            Name::Dns(_) => None,
            Name::Literal(ip) => Some(ip),
        }
    }

    fn read(text: &str, default: Option<u16>) -> Result<Self, InvalidHost> {
        if text.contains('@') {
            return Err(InvalidHost::UserInfo);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (inner, after) = rest.split_once(']').ok_or(InvalidHost::Number)?;
            let ip: Ipv6Addr = inner.parse().map_err(|_| InvalidHost::Number)?;
            let port = match after.strip_prefix(':') {
                Some(port) => read_port(port)?,
                None if after.is_empty() => default.ok_or(InvalidHost::Port)?,
                None => return Err(InvalidHost::Character),
            };
            return Ok(Self { name: Name::Literal(ip.into()), port });
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, read_port(port)?),
            None => (text, default.ok_or(InvalidHost::Port)?),
        };
        Ok(Self { name: read_name(name)?, port })
    }
}

impl FromStr for Host {
    type Err = InvalidHost;

    /// Reads an entry of the list of public hosts, which names no IP address.
    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let host = Self::read(text, Some(HTTPS))?;
        if host.literal().is_some() { Err(InvalidHost::Literal) } else { Ok(host) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Dns(name) => write!(f, "{name}:{}", self.port),
            Name::Literal(IpAddr::V4(ip)) => write!(f, "{ip}:{}", self.port),
            Name::Literal(IpAddr::V6(ip)) => write!(f, "[{ip}]:{}", self.port),
        }
    }
}

fn read_port(text: &str) -> Result<u16, InvalidHost> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0).ok_or(InvalidHost::Port)
}

fn read_name(text: &str) -> Result<Name, InvalidHost> {
    if text.contains('*') {
        return Err(InvalidHost::Wildcard);
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        return Err(InvalidHost::Character);
    }
    if name.len() > NAME_MAX || name.split('.').any(|label| label.is_empty() || label.len() > LABEL_MAX) {
        return Err(InvalidHost::Label);
    }
    // The final dot makes an address a name to some and an address to others.
    if let Ok(ip) = text.parse::<Ipv4Addr>() {
        return Ok(Name::Literal(ip.into()));
    }
    // Resolvers would read it as an address: `inet_aton` accepts any name whose last part is a number.
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hex || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(InvalidHost::Number);
    }
    Ok(Name::Dns(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_one_spelling() {
        for (text, shown) in [
            ("Example.ORG", "example.org:443"),
            ("example.org.", "example.org:443"),
            ("example.org.:8443", "example.org:8443"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example:443"),
        ] {
            assert_eq!(text.parse::<Host>().unwrap().to_string(), shown);
        }
        assert_eq!(Host::private("127.0.0.1:80").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(Host::private("[::1]:80").unwrap().to_string(), "[::1]:80");
    }

    #[test]
    fn a_wildcard_is_refused_with_a_sentence() {
        let refused = "*.example.org".parse::<Host>().unwrap_err();
        assert_eq!(refused.to_string(), "a host must be named in full: `*` is not a wildcard here");
    }

    /// Attack corpus F69
    #[test]
    fn what_reads_in_two_ways_is_refused() {
        for (text, why) in [
            ("ok\0.evil", InvalidHost::Character),
            ("evil@ok", InvalidHost::UserInfo),
            ("ok..", InvalidHost::Label),
            (".ok", InvalidHost::Label),
            ("", InvalidHost::Label),
            ("ok evil", InvalidHost::Character),
            ("ok%2eevil", InvalidHost::Character),
            ("ok/evil", InvalidHost::Character),
            ("bücher.example", InvalidHost::Character),
            ("ok\r\nevil", InvalidHost::Character),
            ("ok:0", InvalidHost::Port),
            ("ok:+443", InvalidHost::Port),
            ("ok:443:443", InvalidHost::Port),
            ("ok:65536", InvalidHost::Port),
        ] {
            assert_eq!(Host::private(text), Err(why), "{text:?}");
        }
        assert_eq!(Host::requested("ok", None), Err(InvalidHost::Port));
    }

    /// Attack corpus F68
    #[test]
    fn an_address_in_an_unusual_form_is_refused_everywhere() {
        for text in ["0x7f.1", "2130706433", "0x7f000001", "017700000001", "127.1", "0177.0.0.1", "127.0.0.1."] {
            assert_eq!(Host::private(text), Err(InvalidHost::Number), "{text}");
        }
        for text in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254:80"] {
            assert_eq!(text.parse::<Host>(), Err(InvalidHost::Literal), "{text}");
        }
        assert_eq!(Host::private("[::1%lo]:80"), Err(InvalidHost::Number));
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_again_as_the_same(text in "[a-zA-Z0-9.\\-_:\\[\\]@*\\x00x]{0,20}") {
            if let Ok(host) = Host::private(&text) {
                prop_assert_eq!(Host::private(&host.to_string()), Ok(host));
            }
        }
    }
}
