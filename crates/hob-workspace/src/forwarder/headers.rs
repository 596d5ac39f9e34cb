//! Which headers are passed on. All others stay on their side: nonces, cookies, places to go to, ways to sign in.

use http::{HeaderMap, HeaderName, header};

/// Of what git sends: what describes its body, and what it understands. `Git-Protocol` asks for protocol version 2.
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

/// Of what the server answers: what describes its body.
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
