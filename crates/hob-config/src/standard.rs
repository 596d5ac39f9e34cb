//! The standard variables, those every GitHub tool knows, read once at the start.

use std::{collections::HashMap, path::PathBuf};

use secrecy::SecretString;

/// What the standard variables say.
#[derive(Debug, Clone)]
pub struct Standard {
    /// `GITHUB_TOKEN`, else `GH_TOKEN`.
    pub token: Option<SecretString>,
    /// `HOB_APP_PRIVATE_KEY`: the private key of the App that Hob signs in as, as PEM.
    pub app_private_key: Option<SecretString>,
    /// `GITHUB_REPOSITORY`.
    pub repository: Option<String>,
    /// Where the API is: `GITHUB_API_URL`, else GitHub's own.
    pub api_url: String,
    /// Whether one of the addresses was set rather than assumed.
    pub forge_is_named: bool,
    /// `GITHUB_SERVER_URL`, else GitHub's own.
    pub server_url: String,
    /// `GITHUB_STEP_SUMMARY`: a file that GitHub Actions shows.
    pub step_summary: Option<PathBuf>,
    /// Whether this is a job of GitHub Actions.
    pub in_actions: bool,
    /// Where Hob keeps mirrors and transcripts: `XDG_STATE_HOME/hob`, else `~/.local/state/hob`.
    pub state_dir: PathBuf,
    /// `RUST_LOG`: which events are logged.
    pub log_filter: Option<String>,
    /// The machine's name, for the worker's id.
    pub host: String,
}

impl Standard {
    /// Reads the variables. One that is empty counts as not set.
    pub fn read() -> Self {
        let state_home = variable("XDG_STATE_HOME").map(PathBuf::from);
        let home = || PathBuf::from(variable("HOME").unwrap_or_else(|| "/tmp".to_owned())).join(".local/state");
        let host = variable("HOSTNAME").or_else(|| std::fs::read_to_string("/etc/hostname").ok());
        Self {
            token: variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN")).map(SecretString::from),
            app_private_key: variable("HOB_APP_PRIVATE_KEY").map(SecretString::from),
            repository: variable("GITHUB_REPOSITORY"),
            api_url: variable("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned()),
            server_url: variable("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned()),
            forge_is_named: variable("GITHUB_API_URL").or_else(|| variable("GITHUB_SERVER_URL")).is_some(),
            step_summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            in_actions: variable("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
            state_dir: state_home.unwrap_or_else(home).join("hob"),
            log_filter: variable("RUST_LOG"),
            host: host.map_or_else(|| "host".to_owned(), |host| host.trim().to_owned()),
        }
    }
}

impl Standard {
    /// Takes the forge to be at `server`, a web address, unless a variable says where it is.
    pub fn forge_at(&mut self, server: &str) {
        if self.forge_is_named || server == "https://github.com" {
            return;
        }
        self.api_url = format!("{server}/api/v3");
        server.clone_into(&mut self.server_url);
    }
}

/// Hob's own variables, `HOB__SECTION__KEY`.
pub fn hob_variables() -> HashMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("HOB__"))
        .collect()
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
