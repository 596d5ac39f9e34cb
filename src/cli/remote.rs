//! The repository of the current folder, from its git remote `origin`.

use hob_config::child_environment;
use hob_domain::RepoName;
use hob_process::Program;
use tokio_util::sync::CancellationToken;

/// A repository and the forge it is on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The forge's web address.
    pub(super) server: String,
    /// The repository.
    pub(super) repo: RepoName,
}

/// The repository that `origin` points to; `None` if there is no such remote or it is not on a forge.
pub(super) async fn origin() -> Option<Origin> {
    let git = Program::of_hob("git", &child_environment()).args(["config", "--get", "remote.origin.url"]);
    let finished = git.run(&CancellationToken::new()).await.ok()?;
    parse(finished.stdout.text().trim())
}

/// Reads `https://host/o/r.git`, `ssh://git@host/o/r.git` and `git@host:o/r.git`.
pub(super) fn parse(address: &str) -> Option<Origin> {
    let (scheme, host, path) = match address.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => {
            let (host, path) = rest.split_once('/')?;
            (scheme, host.rsplit('@').next()?, path)
        }
        Some(("ssh", rest)) => {
            let (host, path) = rest.split_once('/')?;
            ("https", host.rsplit('@').next()?.split(':').next()?, path)
        }
        Some(_) => return None,
        None => {
            let (host, path) = address.split_once(':')?;
            ("https", host.rsplit('@').next()?, path)
        }
    };
    let path = path.trim_matches('/');
    let repo = path.strip_suffix(".git").unwrap_or(path).parse().ok()?;
    Some(Origin { server: format!("{scheme}://{host}"), repo })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_names_a_forge_and_a_repository() {
        for (address, server, repo) in [
            ("https://github.com/acme/site.git", "https://github.com", "acme/site"),
            ("https://x:secret@ghe.corp/acme/site", "https://ghe.corp", "acme/site"),
            ("git@github.com:acme/site.git", "https://github.com", "acme/site"),
            ("ssh://git@ghe.corp:2222/acme/site.git", "https://ghe.corp", "acme/site"),
            ("http://127.0.0.1:8080/acme/site.git", "http://127.0.0.1:8080", "acme/site"),
        ] {
            let expected = Origin { server: server.to_owned(), repo: repo.parse().unwrap() };
            assert_eq!(parse(address), Some(expected), "{address}");
        }
        for address in ["", "/srv/git/site", "file:///srv/site", "https://host/site", "C:\\site"] {
            assert_eq!(parse(address), None, "{address}");
        }
    }
}
