//! Signs that the address leads to something else than the API, in words that say so.

/// Why an answer is no JSON.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotJson {
    /// A page for people.
    #[error("it is a web page: check GITHUB_API_URL, which ends in `/api/v3` where the forge is not github.com")]
    Page,
    /// Nothing.
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

/// What an error of the network means, where its own words are those of a library: rustls and hyper know only that bytes
/// came that they did not expect.
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
