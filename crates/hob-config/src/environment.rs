//! The process's environment; no other module reads it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use secrecy::{ExposeSecret, SecretString};

use crate::{
    SecretFiles, may_pass,
    standard::trimmed,
    toolchains::{toolchain_variables, toolchains},
    variable_names::LISTEN_TOKEN,
};

/// What a child may inherit: the paths of programs and the home, the language, the time zone, and the addresses of
/// proxies and certificates. Nothing that contains a secret.
const INHERITED: &[&str] = &[
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
    // Where a company reads its own traffic, each tool needs the path of the company's certificate in a variable of its own.
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The part of Hob's environment that every child gets: an allow-list, so that new secrets are excluded by default.
pub fn child_environment() -> BTreeMap<OsString, OsString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    inherited(|name| std::env::var_os(name))
}

/// The environment as Hob has it, for what works in its place: its secrets are in it.
pub fn own_environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// The part of the environment that has these values. A toolchain in the home is named by its variable, because a child has a home
/// of its own; one elsewhere, as in most images, has been named already.
fn inherited(value: impl Fn(&str) -> Option<OsString>) -> BTreeMap<OsString, OsString> {
    let given = |name: &'static str| Some((OsString::from(name), value(name)?));
    let mut environment: BTreeMap<_, _> = INHERITED.iter().copied().filter_map(given).collect();
    let of_home = toolchains(environment.get(OsStr::new("HOME")));
    let named = of_home.filter_map(|(folder, variable)| Some((variable?.into(), folder.into())));
    let found: Vec<(OsString, OsString)> = named.chain(toolchain_variables().filter_map(given)).collect();
    environment.extend(found);
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
    let key = |name: &str| set(name).map(trimmed).or_else(|| files.get(name).cloned());
    ModelAccess {
        anthropic_key: key("ANTHROPIC_API_KEY"),
        anthropic_base_url: set("ANTHROPIC_BASE_URL"),
        openai_key: key("OPENAI_API_KEY"),
        openai_base_url: set("OPENAI_BASE_URL"),
    }
}

/// The token that `hob run --listen` asks for, `HOB_LISTEN_TOKEN`; `files` may contain it. `None` if there is none.
pub fn listen_token(files: &SecretFiles) -> Option<SecretString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let set = std::env::var(LISTEN_TOKEN).ok().filter(|value| !value.trim().is_empty());
    set.map(trimmed).or_else(|| files.get(LISTEN_TOKEN).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In most images a toolchain is outside of the home, such as in `/usr/local/rustup`.
    #[test]
    fn a_toolchain_is_named_wherever_it_is_and_secrets_are_not() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".nvm")).unwrap();
        let here = home.path().as_os_str();
        let values = [
            ("HOME", here),
            ("RUSTUP_HOME", OsStr::new("/usr/local/rustup")),
            ("PIP_CERT", OsStr::new("/etc/ssl/company.pem")),
            ("GITHUB_TOKEN", OsStr::new("secret")),
        ];
        let value =
            |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        let passed: Vec<_> = inherited(value).into_iter().collect();
        let wanted = [
            ("HOME", here),
            ("NVM_DIR", home.path().join(".nvm").as_os_str()),
            ("PIP_CERT", OsStr::new("/etc/ssl/company.pem")),
            ("RUSTUP_HOME", OsStr::new("/usr/local/rustup")),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(passed, wanted);
    }
}
