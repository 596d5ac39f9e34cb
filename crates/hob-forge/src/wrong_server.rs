//! Signs that an address is not the API's, and the words for it.

/// Why an answer is not JSON.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotJson {
    /// A page for people.
    #[error("it is a web page: check GITHUB_API_URL, which ends in `/api/v3` where the forge is not github.com")]
    Page,
    /// An empty body.
    #[error("it is empty")]
    Empty,
    /// Anything else.
    #[error(transparent)]
    Other(#[from] serde_json::Error),
}

/// Whether a body is a web page.
pub(super) fn is_page(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}

/// The meaning of a network error whose own words are a library's: rustls and hyper only know that unexpected bytes
/// came.
pub(super) fn in_plain_words(cause: &str) -> &str {
    if cause.contains("InvalidContentType") {
        "there is no TLS on that port: write `http://` for `https://`, or another port"
    } else if cause.contains("invalid HTTP version parsed") {
        "there is no plain HTTP on that port: write `https://` for `http://`, or another port"
    } else if cause.contains("no native root CA certificates") {
        "this machine has no root certificates: install the package `ca-certificates`"
    } else {
        cause
    }
}
