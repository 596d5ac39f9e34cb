//! Which values of the environment are secrets that Hob must not write anywhere.

use std::{collections::BTreeMap, ffi::OsString};

use secrecy::{ExposeSecret, SecretString};

use crate::{
    ModelAccess, SecretFiles,
    otel::secrets_in_headers,
    standard::trimmed,
    variable_names::{OTLP_ENDPOINTS, OTLP_HEADERS, WITHHELD, is_secret_name},
};

/// Variables with an address that may contain a password.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
/// Shorter values of only letters and dashes are not keys: people set `not-needed` for a server without keys, and it
/// appears in many texts.
const PLACEHOLDER_BELOW: usize = 20;

/// The secrets of this process itself: the forge's credentials, those from files, passwords of
/// proxies, and keys in the headers of traces.
pub fn own_secrets(files: &SecretFiles) -> Vec<SecretString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let withheld = WITHHELD.iter().filter_map(set);
    let addresses = PROXIES.iter().chain(&OTLP_ENDPOINTS).filter_map(set);
    let passwords = addresses.filter_map(|address| password_in(&address));
    let headers = OTLP_HEADERS.iter().filter_map(set).flat_map(|headers| secrets_in_headers(&headers));
    let headers = headers.filter(|secret| !is_placeholder(secret.expose_secret()));
    let by_file = WITHHELD.iter().filter_map(|name| files.get(name)).cloned();
    withheld.chain(passwords).map(trimmed).chain(headers).chain(by_file).collect()
}

/// The values of those variables that are secrets by their names.
pub fn secrets_among(variables: &BTreeMap<OsString, OsString>) -> Vec<SecretString> {
    let of = |(name, value): (&OsString, &OsString)| {
        let value = value.to_str().filter(|value| !is_placeholder(value))?;
        is_secret_name(name.to_str()?).then(|| value.to_owned().into())
    };
    variables.iter().filter_map(of).collect()
}

impl ModelAccess {
    /// The keys of the models' services, and passwords in their addresses.
    pub fn secrets(&self) -> Vec<SecretString> {
        let keys = [&self.anthropic_key, &self.openai_key].into_iter().flatten();
        let addresses = [&self.anthropic_base_url, &self.openai_base_url].into_iter().flatten();
        let passwords = addresses.filter_map(|address| password_in(address)).map(SecretString::from);
        keys.filter(|key| !is_placeholder(key.expose_secret())).cloned().chain(passwords).collect()
    }
}

fn is_placeholder(value: &str) -> bool {
    value.len() < PLACEHOLDER_BELOW
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
}

/// The password in `scheme://name:password@host`.
fn password_in(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_name, password) = authority.rsplit_once('@')?.0.split_once(':')?;
    Some(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_secret_by_its_name_unless_its_value_is_a_placeholder() {
        for (name, value, is_secret) in [
            ("OPENAI_API_KEY", "sk-1234567890", true),
            ("claude_code_oauth_token", "abcdefghijklmnopqrstuvwxyz", true),
            ("DB_PASSWORD", "hunter2-hunter2", true),
            ("OPENAI_API_KEY", "not-needed", false),
            ("HF_HOME", "/home/a1", false),
        ] {
            let found = secrets_among(&BTreeMap::from([(name.into(), value.into())]));
            assert_eq!(found.iter().any(|secret| secret.expose_secret() == value), is_secret, "{name}={value}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_a_secret() {
        for (address, password) in [
            ("http://me:pass:word@proxy:3128/x@y", Some("pass:word")),
            ("me:password@proxy", Some("password")),
            ("http://me@proxy", None),
            ("http://proxy:3128", None),
        ] {
            assert_eq!(password_in(address).as_deref(), password, "{address}");
        }
        let access = ModelAccess {
            anthropic_key: Some("sk-ant-12345678".to_owned().into()),
            openai_key: Some("placeholder".to_owned().into()),
            openai_base_url: Some("http://me:password@host/v1".to_owned()),
            ..ModelAccess::default()
        };
        let secrets: Vec<_> = access.secrets().iter().map(|secret| secret.expose_secret().to_owned()).collect();
        assert_eq!(secrets, ["sk-ant-12345678", "password"]);
    }
}
