//! The address that a repository is fetched from and pushed to, and the token for it.
//!
//! Git does not get the token: the forwarder sends it, to this repository's address only.

use std::{fmt, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use hob_domain::RepoName;
use secrecy::{ExposeSecret, SecretString};

/// The address of one repository, with the right to use it.
#[derive(Clone)]
pub struct Remote {
    repo: RepoName,
    address: Address,
    kept: Option<String>,
}

#[derive(Clone)]
enum Address {
    Server { url: String, token: Option<SecretString> },
    Folder(PathBuf),
}

/// A server address that Hob does not use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{address:?} is not the address of a git server such as `https://github.com`, without a name or a password in it"
)]
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
        // The refused address may hold a password: only the part before it is repeated.
        let shown = server.split_once('@').map_or_else(|| server.to_owned(), |(_, host)| format!("…@{host}"));
        let parsed = plain.ok_or(InvalidServer { address: shown })?;
        let url = repo.on_git_server(parsed.as_str());
        Ok(Self { repo, address: Address::Server { url, token }, kept: None })
    }

    /// The repository in a local folder, for rehearsals: git's `file` protocol is allowed for nothing else.
    pub fn folder(repo: RepoName, folder: PathBuf) -> Self {
        Self { repo, address: Address::Folder(folder), kept: None }
    }

    /// The same repository, in which the refs below `prefix`, an issue's number each, have work that could not go to
    /// its branch: they are fetched with the branches.
    #[must_use]
    pub fn keeping(self, prefix: String) -> Self {
        Self { kept: Some(prefix), ..self }
    }

    /// The prefix of the refs that have work that could not go to its branch.
    pub(super) fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
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

    /// The repository's address on its server; `None` if it is in a folder.
    pub(super) fn server_url(&self) -> Option<&str> {
        match &self.address {
            Address::Server { url, .. } => Some(url),
            Address::Folder(_) => None,
        }
    }

    /// The server's address, without the repository; empty for a folder.
    pub(super) fn server_root(&self) -> &str {
        let repository = self.repo.on_git_server("");
        self.server_url().and_then(|url| url.strip_suffix(repository.as_str())).unwrap_or_default()
    }

    /// The value of the header that authorizes Hob; `None` if the server needs none.
    pub(super) fn authorization(&self) -> Option<String> {
        match &self.address {
            Address::Server { token: Some(token), .. } => Some(format!("Basic {}", credentials(token))),
            Address::Server { token: None, .. } | Address::Folder(_) => None,
        }
    }

    /// Replaces the token in `text`, raw and in its sent form.
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
    fn the_token_is_in_no_address_and_no_text() {
        let remote = Remote::server(repo(), "https://forge.test/", Some("s3cret".into())).unwrap();
        assert_eq!(
            (remote.url().as_str(), remote.server_root()),
            ("https://forge.test/acme/site.git", "https://forge.test")
        );
        let header = remote.authorization().unwrap();
        assert_eq!(header, "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0");
        assert!(!format!("{remote:?}").contains("s3cret"));
        assert_eq!(remote.scrubbed(&format!("s3cret {header}")), "[token] Basic [token]");
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
