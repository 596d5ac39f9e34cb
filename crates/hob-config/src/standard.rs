//! The standard variables of GitHub's tools, read once at the start.

use std::{collections::HashMap, path::PathBuf};

use secrecy::{ExposeSecret, SecretString};

use crate::{SecretFiles, variable_names::PRIVATE_KEY};

/// What a token begins with that is a pass of a dispatcher of Hob.
pub const PASS_PREFIX: &str = "hob-pass.";

/// The values of the standard variables.
#[derive(Debug, Clone)]
pub struct Standard {
    /// `GITHUB_TOKEN`, else `GH_TOKEN`.
    pub token: Option<SecretString>,
    /// `HOB_APP_PRIVATE_KEY`: the private key of the App that Hob signs in as, as PEM.
    pub app_private_key: Option<SecretString>,
    /// `GITHUB_REPOSITORY`.
    pub repository: Option<String>,
    /// The API's address: `GITHUB_API_URL`, else that of the server.
    pub api_url: String,
    /// Whether one of the addresses was set rather than assumed.
    pub forge_is_named: bool,
    /// `GITHUB_SERVER_URL`, else that of the API, else GitHub's own.
    pub server_url: String,
    /// `GITHUB_STEP_SUMMARY`: a file that GitHub Actions shows.
    pub step_summary: Option<PathBuf>,
    /// Whether this is a job of GitHub Actions.
    pub in_actions: bool,
    /// `GITHUB_EVENT_NAME`: the event that started this job's run of GitHub Actions.
    pub event: Option<String>,
    /// Hob's folder of mirrors and transcripts: `XDG_STATE_HOME/hob`, else `~/.local/state/hob`.
    pub state_dir: PathBuf,
    /// `RUST_LOG`: which events are logged.
    pub log_filter: Option<String>,
    /// `HOB_LOG`: the format of log lines.
    pub log_format: Option<String>,
    /// The machine's name, for the worker's id.
    pub host: String,
}

impl Standard {
    /// Reads the variables, secret ones also from `files`. An empty variable counts as not set.
    pub fn read(files: &SecretFiles) -> Self {
        let secret = |name| variable(name).map(trimmed).or_else(|| files.get(name).cloned());
        let state_home = variable("XDG_STATE_HOME").map(PathBuf::from);
        let home = || PathBuf::from(variable("HOME").unwrap_or_else(|| "/tmp".to_owned())).join(".local/state");
        let host = variable("HOSTNAME").or_else(|| std::fs::read_to_string("/etc/hostname").ok());
        let (api, server) = (variable("GITHUB_API_URL"), variable("GITHUB_SERVER_URL"));
        let forge_is_named = api.is_some() || server.is_some();
        // Never the one of a forge and the other of GitHub: that would send a token to the wrong one.
        let server_url =
            server.or_else(|| api.as_deref().map(server_of)).unwrap_or_else(|| "https://github.com".to_owned());
        Self {
            token: secret("GITHUB_TOKEN").or_else(|| secret("GH_TOKEN")),
            app_private_key: secret(PRIVATE_KEY),
            repository: variable("GITHUB_REPOSITORY"),
            api_url: api.unwrap_or_else(|| api_of(&server_url)),
            server_url,
            forge_is_named,
            step_summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            in_actions: variable("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
            event: variable("GITHUB_EVENT_NAME"),
            state_dir: state_home.unwrap_or_else(home).join("hob"),
            log_filter: variable("RUST_LOG"),
            log_format: variable("HOB_LOG"),
            host: host.map_or_else(|| "host".to_owned(), |host| host.trim().to_owned()),
        }
    }
}

impl Standard {
    /// Uses the forge at `server`, a web address, unless a variable gives another address.
    ///
    /// # Errors
    /// [`OtherForge`] if a variable names another forge, where the repository of this name would be a different one.
    pub fn forge_at(&mut self, server: &str) -> Result<(), OtherForge> {
        if !self.forge_is_named {
            self.api_url = api_of(server);
            server.clone_into(&mut self.server_url);
        } else if !self.is_at(server) {
            return Err(OtherForge { host: host(server).to_owned(), named: self.api_url.clone() });
        }
        Ok(())
    }

    /// Whether the token is a pass: the API's address then is that of a dispatcher, which forwards what is asked there.
    pub fn has_pass(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.expose_secret().starts_with(PASS_PREFIX))
    }

    /// Where git goes: to the forge, or to the dispatcher that gave the pass.
    pub fn git_url(&self) -> String {
        if self.has_pass() { format!("{}/git", self.api_url.trim_end_matches('/')) } else { self.server_url.clone() }
    }

    /// Whether `server`, a web address, is that of the forge.
    pub fn is_at(&self, server: &str) -> bool {
        let api = host(&self.api_url);
        let known = [host(&self.server_url), api, api.strip_prefix("api.").unwrap_or(api)];
        known.iter().any(|known| known.eq_ignore_ascii_case(host(server)))
    }
}

/// The address of the API of the forge at `server`. That of GitHub and of GHE.com is a host of its own.
/// <https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom>
fn api_of(server: &str) -> String {
    let server = server.trim_end_matches('/');
    match server.strip_prefix("https://") {
        Some(host) if host == "github.com" || host.ends_with(".ghe.com") => format!("https://api.{host}"),
        _ => format!("{server}/api/v3"),
    }
}

/// The web address of the forge with the API at `api`.
fn server_of(api: &str) -> String {
    let api = api.trim_end_matches('/');
    match api.strip_prefix("https://api.") {
        Some(host) if host == "github.com" || host.ends_with(".ghe.com") => format!("https://{host}"),
        _ => api.strip_suffix("/api/v3").unwrap_or(api).to_owned(),
    }
}

/// The git remote's forge differs from the one in the variables.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the git remote `origin` is on {host}, and GITHUB_API_URL is `{named}`: name the repository with `--repo OWNER/NAME`, or \
     set GITHUB_API_URL and GITHUB_SERVER_URL to the forge of the remote"
)]
pub struct OtherForge {
    host: String,
    named: String,
}

/// The host of an address, without a port.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split_once(':').map_or(host, |(host, _)| host)
}

/// The variables that begin like Hob's own, `HOB__SECTION__KEY`, including misspelt ones.
pub fn hob_variables() -> HashMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("HOB_"))
        .collect()
}

/// A secret without the line break that `echo` puts behind it.
pub(super) fn trimmed(secret: String) -> SecretString {
    secret.trim().into()
}

/// A variable; an empty one counts as not set.
pub(super) fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_of_a_forge_tells_the_other() {
        for (server, api) in [
            ("https://github.com", "https://api.github.com"),
            ("https://octo.ghe.com", "https://api.octo.ghe.com"),
            ("https://ghe.corp", "https://ghe.corp/api/v3"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000/api/v3"),
        ] {
            assert_eq!(
                (api_of(server), server_of(api), api_of(&format!("{server}/"))),
                (api.to_owned(), server.to_owned(), api.to_owned())
            );
        }
        // A proxy with paths of its own.
        assert_eq!(server_of("https://proxy.corp/github"), "https://proxy.corp/github");
    }

    #[test]
    fn git_goes_to_the_dispatcher_that_gave_the_pass() {
        let of = |token: &str| Standard {
            token: Some(token.to_owned().into()),
            api_url: "http://dispatcher:4620/forge/".to_owned(),
            server_url: "https://github.com".to_owned(),
            ..Standard::read(&SecretFiles::default())
        };
        assert_eq!(of("ghp_x").git_url(), "https://github.com");
        assert_eq!(of("hob-pass.x.y").git_url(), "http://dispatcher:4620/forge/git");
    }

    #[test]
    fn a_remote_on_another_host_than_the_named_forge_is_refused() {
        let of = |api_url: &str, server_url: &str, forge_is_named| Standard {
            api_url: api_url.to_owned(),
            server_url: server_url.to_owned(),
            forge_is_named,
            ..Standard::read(&SecretFiles::default())
        };
        let (api, web) = ("https://api.github.com", "https://github.com");
        for (standard, server, is_it) in [
            (of(api, web, true), "https://github.com", true),
            (of(api, web, true), "https://gitlab.com", false),
            (of("https://ghe.corp/api/v3", web, true), "https://ghe.corp", true),
            (of("http://127.0.0.1:3000/api/v3", "http://127.0.0.1:3000", true), "http://127.0.0.1:3000", true),
            (of(api, web, false), "https://ghe.corp", true),
        ] {
            let mut standard = standard;
            assert_eq!(standard.forge_at(server).is_ok(), is_it, "{server}: {standard:?}");
        }
        let mut standard = of(api, web, false);
        standard.forge_at("https://ghe.corp").unwrap();
        assert_eq!(
            (standard.api_url.as_str(), standard.server_url.as_str()),
            ("https://ghe.corp/api/v3", "https://ghe.corp")
        );
    }
}
