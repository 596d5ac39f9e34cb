//! Where a repository is fetched from and pushed to, and how the token gets there.
//!
//! The token is handed to git by an environment variable that holds one setting, `http.<address>.extraHeader`: it is
//! in no argument, no file and no address, and git sends it to that repository's address only. Redirects are not
//! followed, so it cannot be carried away by one.

use std::{fmt, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use hob_domain::RepoName;
use secrecy::{ExposeSecret, SecretString};

/// The address of one repository, with the right to use it.
#[derive(Clone)]
pub struct Remote {
    repo: RepoName,
    address: Address,
}

#[derive(Clone)]
enum Address {
    Server { url: String, token: Option<SecretString> },
    Folder(PathBuf),
}

/// A server address that Hob does not use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address:?} is no git server: write for example `https://github.com`, without a name or a password in it")]
pub struct InvalidServer {
    address: String,
}

impl Remote {
    /// The repository on a server: `server` is the forge's web address, such as `https://github.com`.
    ///
    /// # Errors
    /// [`InvalidServer`] for anything but http and https, and for an address that holds credentials or a query.
    pub fn server(repo: RepoName, server: &str, token: Option<SecretString>) -> Result<Self, InvalidServer> {
        let plain = url::Url::parse(server).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host().is_some()
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
                && url.fragment().is_none()
        });
        // The refused address may hold a password: only what stands before it is repeated.
        let shown = server.split_once('@').map_or_else(|| server.to_owned(), |(_, host)| format!("…@{host}"));
        let parsed = plain.ok_or(InvalidServer { address: shown })?;
        let url = format!("{}/{}/{}.git", parsed.as_str().trim_end_matches('/'), repo.owner(), repo.name());
        Ok(Self { repo, address: Address::Server { url, token } })
    }

    /// The repository in a local folder, for rehearsals: git's `file` protocol is allowed for nothing else.
    pub fn folder(repo: RepoName, folder: PathBuf) -> Self {
        Self { repo, address: Address::Folder(folder) }
    }

    /// The repository.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// The address as git's argument; it holds no secret.
    pub(super) fn url(&self) -> String {
        match &self.address {
            Address::Server { url, .. } => url.clone(),
            Address::Folder(folder) => format!("file://{}", folder.display()),
        }
    }

    /// The protocols git may use.
    pub(super) fn protocols(&self) -> &'static str {
        match &self.address {
            Address::Server { .. } => "https:http",
            Address::Folder(_) => "file",
        }
    }

    /// Settings that only commands which talk to this remote get.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        match &self.address {
            Address::Server { url, token: Some(token) } => {
                let header = format!("Authorization: Basic {}", credentials(token));
                vec![(format!("http.{url}.extraHeader"), header)]
            }
            Address::Server { token: None, .. } | Address::Folder(_) => Vec::new(),
        }
    }

    /// Replaces the token in `text`, raw and as it is sent.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        match &self.address {
            Address::Server { token: Some(token), .. } if !token.expose_secret().is_empty() => {
                text.replace(token.expose_secret(), "[token]").replace(&credentials(token), "[token]")
            }
            Address::Server { .. } | Address::Folder(_) => text.to_owned(),
        }
    }
}

/// The user name is the one GitHub documents for tokens of every kind.
fn credentials(token: &SecretString) -> String {
    STANDARD.encode(format!("x-access-token:{}", token.expose_secret()))
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("repo", &self.repo).field("url", &self.url()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> RepoName {
        "acme/site".parse().unwrap()
    }

    #[test]
    fn the_token_is_in_one_setting_scoped_to_the_repository() {
        let remote = Remote::server(repo(), "https://forge.test/", Some("s3cret".into())).unwrap();
        assert_eq!(remote.url(), "https://forge.test/acme/site.git");
        let header = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0".to_owned();
        assert_eq!(
            remote.settings(),
            [("http.https://forge.test/acme/site.git.extraHeader".to_owned(), header.clone())]
        );
        assert!(!format!("{remote:?}").contains("s3cret"));
        assert_eq!(remote.scrubbed(&format!("s3cret {header}")), "[token] Authorization: Basic [token]");
    }

    #[test]
    fn an_address_with_a_password_or_another_protocol_is_refused() {
        for bad in ["https://me:pass@forge.test", "ssh://forge.test", "ext::sh", "/srv/git", "https://", "https://h/?q"]
        {
            let error = Remote::server(repo(), bad, None).unwrap_err();
            assert!(!error.to_string().contains("pass@"), "{error}");
        }
    }
}
