//! Talking to the git server: run one command, classify its failure.

use std::path::Path;

use hob_domain::{FailureClass, denied_advice};
use hob_process::{Exit, Finished, Program};
use tokio_util::sync::CancellationToken;

use crate::{
    TransportError, WorkspaceError,
    git::{is_full_disk, said},
    route::Route,
};

/// Runs a command that goes by `route` and keeps its data below `place`; returns its standard output.
pub(super) async fn exchange(
    doing: &'static str,
    route: &Route,
    place: &Path,
    program: Program,
) -> Result<String, WorkspaceError> {
    let finished = program.run(&CancellationToken::new()).await?;
    if finished.exit.is_success() {
        return Ok(finished.stdout.text());
    }
    Err(failure(doing, route, place, &finished).into())
}

/// The meaning of a failed command. A fault on the way to its server says more than git, which knows only that no
/// answer came.
pub(super) fn failure(doing: &'static str, route: &Route, place: &Path, finished: &Finished) -> TransportError {
    let said = route.fault().unwrap_or_else(|| route.scrubbed(&said(finished)));
    let (class, advice) = match finished.exit {
        Exit::Deadline => (later(), Some("it took longer than Hob waits for a transfer")),
        Exit::Cancelled => (FailureClass::Cancelled, None),
        Exit::Code(_) | Exit::Signal(_) => classify(&said),
    };
    let reason = match advice {
        Some(advice) if is_full_disk(&said) => format!("{advice} `{}` ({said})", place.display()),
        Some(advice) => format!("{advice} ({said})"),
        None => said,
    };
    TransportError { doing, repo: route.remote().repo().to_string(), reason, class }
}

fn later() -> FailureClass {
    FailureClass::Transient { retry_after: None }
}

/// Messages of git 2.20 to 2.50 in the C locale, in lower case; the first match decides. An unknown failure may be
/// transient, and may concern only this repository: the number of attempts is limited elsewhere.
fn classify(said: &str) -> (FailureClass, Option<&'static str>) {
    const NO_SPACE: &str = "the disk is full: make room for";
    const NO_RIGHT: &str = "the server refuses the token: give it the permission `contents: write` for this repository";
    const NO_TOKEN: &str = "the server refuses the token: it is wrong or has expired";
    const NO_REPO: &str = "there is no such repository, or the token may not see it";
    const MOVED: &str = "the repository has moved: use its new name";
    if is_full_disk(said) {
        return (FailureClass::Unfinished, Some(NO_SPACE));
    }
    let lower = said.to_lowercase();
    if let (true, Some(advice)) = (lower.contains("error: 403"), denied_advice(said)) {
        return (FailureClass::Misconfigured, Some(advice));
    }
    let rules: [(&[&str], FailureClass, Option<&'static str>); 7] = [
        (&["error: 429", "error: 50", "rate limit"], later(), None),
        (
            &["error: 403", "write access to repository not granted", "permission to"],
            FailureClass::Misconfigured,
            Some(NO_RIGHT),
        ),
        (
            &["authentication failed", "could not read username", "error: 401", "invalid username"],
            FailureClass::Misconfigured,
            Some(NO_TOKEN),
        ),
        (
            &["error: 404", "repository not found", "not found", "does not appear to be a git repository"],
            FailureClass::Misconfigured,
            Some(NO_REPO),
        ),
        (
            &["error: 301", "error: 302", "error: 307", "error: 308", "unable to update url base"],
            FailureClass::Misconfigured,
            Some(MOVED),
        ),
        (
            &["transport 'file' not allowed", "ssl certificate problem", "server certificate", "peer certificate"],
            FailureClass::Misconfigured,
            None,
        ),
        (
            &[
                "could not resolve",
                "connect",
                "timed out",
                "timeout",
                "unable to access",
                "hung up",
                "early eof",
                "rpc failed",
                "unexpected disconnect",
            ],
            later(),
            None,
        ),
    ];
    let found = rules.into_iter().find(|(texts, _, _)| texts.iter().any(|text| lower.contains(text)));
    found.map_or((FailureClass::Unfinished, None), |(_, class, advice)| (class, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_decides_whether_to_try_again() {
        let operator = FailureClass::Misconfigured;
        for (said, class, advice) in [
            ("fatal: unable to access 'https://h/': Could not resolve host: h", later(), ""),
            ("fatal: unable to access 'https://h/': The requested URL returned error: 503", later(), ""),
            (
                "remote: Write access to repository not granted.; fatal: … error: 403",
                operator.clone(),
                "contents: write",
            ),
            ("fatal: Authentication failed for 'https://h/a/b.git/'", operator.clone(), "expired"),
            ("fatal: could not read Username for 'https://h': terminal prompts disabled", operator.clone(), "expired"),
            (
                "remote: This repository was archived so it is read-only.; fatal: … error: 403",
                operator.clone(),
                "unarchive",
            ),
            (
                "remote: The 'acme' organization has enforced SAML SSO.; fatal: … error: 403",
                operator.clone(),
                "sign-on",
            ),
            (
                "remote: Repository not found.; fatal: repository 'https://h/a/b.git/' not found",
                operator.clone(),
                "no such",
            ),
            ("fatal: … The requested URL returned error: 301", operator.clone(), "moved"),
            ("unable to access 'https://h/': client error: invalid peer certificate: UnknownIssuer", operator, ""),
            ("unable to access 'https://h/': client error: tcp connect error", later(), ""),
            ("fatal: the remote end hung up unexpectedly", later(), ""),
            ("Hob refused a request of git: another repository", FailureClass::Unfinished, ""),
            ("fatal: bad object 0123", FailureClass::Unfinished, ""),
            (
                "error: file write error: No space left on device; fatal: index-pack failed",
                FailureClass::Unfinished,
                "full",
            ),
        ] {
            let (found, text) = classify(said);
            assert_eq!(found, class, "{said}");
            assert!(text.unwrap_or_default().contains(advice), "{said}: {text:?}");
        }
    }
}
