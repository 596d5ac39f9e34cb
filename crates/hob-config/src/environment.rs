//! The process's environment; no other module reads it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use secrecy::{ExposeSecret, SecretString};

use crate::{SecretFiles, may_pass, toolchains::toolchains};

/// What a child may inherit: the paths of programs and the home, the language, the time zone, and the addresses of
/// proxies and certificates. Nothing that contains a secret.
const INHERITED: [&str; 18] = [
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
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The part of Hob's environment that every child gets: an allow-list, so that new secrets are excluded by default.
/// Variables that lead to a toolchain are set together with the toolchain.
pub fn child_environment() -> BTreeMap<OsString, OsString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let value = |name: &str| std::env::var_os(name);
    let mut environment: BTreeMap<_, _> =
        INHERITED.iter().filter_map(|name| Some((OsString::from(name), value(name)?))).collect();
    for (folder, variable) in toolchains(environment.get(OsStr::new("HOME")).cloned().as_ref()) {
        if let Some(variable) = variable {
            environment.insert(variable.into(), value(variable).unwrap_or_else(|| folder.into()));
        }
    }
    environment
}

/// The values of those of `names` that are set, in the environment or in `files`, and may be passed on, see [`may_pass`].
pub fn named_environment<'a>(
    names: impl IntoIterator<Item = &'a str>,
    files: &SecretFiles,
) -> BTreeMap<OsString, OsString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let value = |name: &str| std::env::var_os(name);
    let passed = names.into_iter().filter(|name| may_pass(name));
    let by_file = |name: &str| files.get(name).map(|secret| secret.expose_secret().into());
    passed.filter_map(|name| Some((OsString::from(name), by_file(name).or_else(|| value(name))?))).collect()
}

/// Access to the models' services: keys and addresses from the environment.
#[derive(Debug, Default, Clone)]
pub struct ModelAccess {
    /// `ANTHROPIC_API_KEY`.
    pub anthropic_key: Option<SecretString>,
    /// `ANTHROPIC_BASE_URL`.
    pub anthropic_base_url: Option<String>,
    /// `OPENAI_API_KEY`; a local server needs none.
    pub openai_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`.
    pub openai_base_url: Option<String>,
}

/// Reads the access to the models' services; `files` may contain the keys. An empty variable counts as not set.
pub fn model_access(files: &SecretFiles) -> ModelAccess {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let key = |name: &str| set(name).map(SecretString::from).or_else(|| files.get(name).cloned());
    ModelAccess {
        anthropic_key: key("ANTHROPIC_API_KEY"),
        anthropic_base_url: set("ANTHROPIC_BASE_URL"),
        openai_key: key("OPENAI_API_KEY"),
        openai_base_url: set("OPENAI_BASE_URL"),
    }
}
