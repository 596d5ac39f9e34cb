//! The process's environment: read here and nowhere else.

use std::{collections::BTreeMap, ffi::OsString};

/// What a child may inherit: where programs and the home are, the language, the time zone, and where proxies and
/// certificates are. Nothing that holds a secret.
const INHERITED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The part of Hob's environment that every child gets: an allow-list, so that a new secret is left out by itself.
pub fn child_environment() -> BTreeMap<OsString, OsString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    INHERITED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect()
}
