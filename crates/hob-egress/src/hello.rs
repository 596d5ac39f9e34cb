//! The first message of a TLS client, which names its host in the clear.
//!
//! rustls parses the message; the extensions, which it does not show, are found by a walk over the same bytes.

use rustls::server::Acceptor;

/// Bytes a first message may have, with its frames.
pub(crate) const HELLO_MAX: usize = 16 << 10;
/// The extension `encrypted_client_hello`, also sent as grease.
const ECH: u16 = 0xfe0d;

/// The result of reading the first bytes of a tunnel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// More bytes are needed.
    Partial,
    /// A whole message that names this host, or none.
    Whole(Option<String>),
}

/// Why a tunnel is closed after its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadHello {
    #[error("the tunnel does not begin with TLS")]
    NotTls,
    #[error("its TLS hello is larger than 16 KiB")]
    TooBig,
    #[error("its TLS hello names no server")]
    NoName,
    #[error("its TLS hello names another server")]
    OtherName,
    #[error("its TLS hello has an encrypted part (ECH), which could name another server")]
    Encrypted,
}

/// Reads the bytes that came so far.
pub(crate) fn read_hello(bytes: &[u8]) -> Result<Hello, BadHello> {
    let mut acceptor = Acceptor::default();
    let mut rest = bytes;
    let accepted = loop {
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            // rustls parses that extension too, and may reject it.
            Err(_) if is_encrypted(bytes) == Some(true) => return Err(BadHello::Encrypted),
            Err(_) => return Err(BadHello::NotTls),
        }
        if rest.is_empty() {
            return if bytes.len() < HELLO_MAX { Ok(Hello::Partial) } else { Err(BadHello::TooBig) };
        }
        acceptor.read_tls(&mut rest).map_err(|_| BadHello::NotTls)?;
    };
    if is_encrypted(bytes).ok_or(BadHello::NotTls)? {
        return Err(BadHello::Encrypted);
    }
    Ok(Hello::Whole(accepted.client_hello().server_name().map(str::to_ascii_lowercase)))
}

/// Whether a complete hello has an encrypted part; `None` if it cannot be parsed.
fn is_encrypted(bytes: &[u8]) -> Option<bool> {
    Some(extensions(&unframe(bytes)?)?.contains(&ECH))
}

/// The handshake bytes in the frames of `bytes`; a cut last frame is left out.
fn unframe(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut message, mut rest) = (Vec::new(), bytes);
    while let [kind, _, _, high, low, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if *kind != 22 || after.len() < length {
            break;
        }
        message.extend_from_slice(&after[..length]);
        rest = &after[length..];
    }
    (!message.is_empty()).then_some(message)
}

/// The kinds of the extensions in a handshake message that is a client's hello.
fn extensions(message: &[u8]) -> Option<Vec<u16>> {
    let (kind, rest) = message.split_first()?;
    let (length, rest) = rest.split_at_checked(3)?;
    let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let hello = rest.get(..length).filter(|_| *kind == 1)?;
    // Version and random; then session, suites and compressions, each after its length.
    let rest = hello.get(34..)?;
    let rest = skip(rest, 1)?;
    let rest = skip(rest, 2)?;
    let rest = skip(rest, 1)?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    let (length, mut rest) = rest.split_at_checked(2)?;
    let mut kinds = Vec::new();
    if usize::from(u16::from_be_bytes([length[0], length[1]])) != rest.len() {
        return None;
    }
    while let [high, low, ..] = rest {
        kinds.push(u16::from_be_bytes([*high, *low]));
        rest = skip(&rest[2..], 2)?;
    }
    rest.is_empty().then_some(kinds)
}

/// The bytes after a field whose length precedes it in `width` bytes.
fn skip(bytes: &[u8], width: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.split_at_checked(width)?;
    rest.get(length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte))..)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring};

    use super::*;

    fn hello(name: &'static str) -> Vec<u8> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let mut client = ClientConnection::new(Arc::new(config), name.try_into().unwrap()).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    /// A client's content of that extension: outer, two ciphers, a key's id, a key and a text.
    const ENCRYPTED: &[u8] = &[0, 0, 1, 0, 1, 7, 0, 1, 9, 0, 1, 9];

    /// Adds an extension to the end of a hello in one frame.
    fn with_extension(hello: &[u8], kind: u16, content: &[u8]) -> Vec<u8> {
        let mut bytes = hello.to_vec();
        let session = usize::from(bytes[43]);
        let suites = 44 + session;
        let compressions = suites + 2 + usize::from(u16::from_be_bytes([bytes[suites], bytes[suites + 1]]));
        let at = compressions + 1 + usize::from(bytes[compressions]);
        let length = u16::try_from(content.len()).unwrap();
        for part in [&kind.to_be_bytes()[..], &length.to_be_bytes(), content] {
            bytes.extend_from_slice(part);
        }
        for place in [3, 7, at] {
            let longer = u16::from_be_bytes([bytes[place], bytes[place + 1]]) + 4 + length;
            bytes[place..place + 2].copy_from_slice(&longer.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn a_hello_names_its_server() {
        assert_eq!(read_hello(&hello("ok.example")), Ok(Hello::Whole(Some("ok.example".into()))));
        assert_eq!(read_hello(&hello("127.0.0.1")), Ok(Hello::Whole(None)));
        assert_eq!(read_hello(b"GET / HTTP/1.1\r\n\r\n"), Err(BadHello::NotTls));
        assert_eq!(read_hello(b"SSH-2.0-OpenSSH_9.6\r\n"), Err(BadHello::NotTls));
    }

    /// Attack corpus F72
    #[test]
    fn an_encrypted_part_is_refused_whatever_the_outer_name() {
        for content in [ENCRYPTED, b"", b"\0", b"\x01", b"nonsense"] {
            let whole = with_extension(&hello("ok.example"), ECH, content);
            assert_eq!(read_hello(&whole), Err(BadHello::Encrypted), "{content:?}");
        }
        let other = with_extension(&hello("ok.example"), 0x1234, b"x");
        assert_eq!(read_hello(&other), Ok(Hello::Whole(Some("ok.example".into()))));
    }

    #[test]
    fn a_hello_in_many_frames_is_one_message() {
        let whole = with_extension(&hello("ok.example"), ECH, ENCRYPTED);
        let mut framed = Vec::new();
        for piece in whole[5..].chunks(60) {
            framed.extend_from_slice(&[22, 3, 1, 0, piece.len().try_into().unwrap()]);
            framed.extend_from_slice(piece);
        }
        assert_eq!(read_hello(&framed), Err(BadHello::Encrypted));
    }

    #[test]
    fn a_hello_without_end_is_refused() {
        let mut endless = vec![22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff];
        assert_eq!(read_hello(&endless), Ok(Hello::Partial));
        endless.resize(HELLO_MAX, 0);
        assert!(read_hello(&endless).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0..250_usize) {
            let mut made = hello("ok.example");
            made.truncate(cut);
            made.extend_from_slice(&bytes);
            read_hello(&made).ok();
            read_hello(&bytes).ok();
            unframe(&bytes);
            extensions(&bytes);
        }

        #[test]
        fn a_cut_hello_is_no_whole_one(cut in 0..200_usize) {
            prop_assert_eq!(read_hello(&hello("ok.example")[..cut]), Ok(Hello::Partial));
        }
    }
}
