//! The headers that are passed on. All others are dropped: nonces, cookies, redirects, credentials.

use http::{HeaderMap, HeaderName, header};

/// Headers of git's requests: they describe the body and git's abilities. `Git-Protocol` asks for protocol version 2.
const TO_SERVER: [HeaderName; 8] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_ENCODING,
    header::CONTENT_TYPE,
    header::PRAGMA,
    header::USER_AGENT,
    HeaderName::from_static("git-protocol"),
];

/// Headers of the server's answers: they describe the body.
const TO_GIT: [HeaderName; 4] =
    [header::CACHE_CONTROL, header::CONTENT_ENCODING, header::CONTENT_LENGTH, header::CONTENT_TYPE];

pub(super) fn to_server(sent: &HeaderMap) -> HeaderMap {
    those(&TO_SERVER, sent)
}

pub(super) fn to_git(answered: &HeaderMap) -> HeaderMap {
    those(&TO_GIT, answered)
}

fn those(names: &[HeaderName], from: &HeaderMap) -> HeaderMap {
    names.iter().filter_map(|name| Some((name.clone(), from.get(name)?.clone()))).collect()
}
