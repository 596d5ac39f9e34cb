//! The requests that pass: to one repository, with the command's nonce, within the command's right.

use http::{Method, StatusCode, header, request::Parts};

use crate::forwarder::{Along, RefUpdate};

/// A request of a fetch or a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitRequest {
    /// It lists refs, or fetches.
    Fetch,
    /// It lists the refs that may be pushed to.
    ListForPush,
    /// It pushes.
    Push,
}

impl GitRequest {
    /// The request at this path below a repository's address. `None` if neither a fetch nor a push makes it.
    pub fn of(method: &Method, service: &str, query: Option<&str>) -> Option<Self> {
        match (method, service, query) {
            (&Method::GET, "/info/refs", Some("service=git-upload-pack"))
            | (&Method::POST, "/git-upload-pack", None) => Some(Self::Fetch),
            (&Method::GET, "/info/refs", Some("service=git-receive-pack")) => Some(Self::ListForPush),
            (&Method::POST, "/git-receive-pack", None) => Some(Self::Push),
            _other => None,
        }
    }
}

/// The access of one git command to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Right {
    /// Read the repository.
    Fetch,
    /// Read it, and make this one update, with another that goes along.
    Push(RefUpdate, Option<Along>),
}

/// A request that passes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passage<'a> {
    /// It changes nothing: its body is passed on as it is.
    Read,
    /// It passes if its body begins with this update, with the other one.
    Update(&'a RefUpdate, Option<&'a Along>),
}

/// A request that does not pass.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) reason: &'static str,
    pub(super) asker: Asker,
}

/// The program that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// It has no nonce, or a wrong one: not the command.
    Stranger,
    /// It has the command's nonce.
    Command,
}

/// The values that a forwarder compares requests with.
#[derive(Debug)]
pub(super) struct Gate {
    /// `/OWNER/NAME.git`.
    pub(super) path: String,
    pub(super) nonce: String,
    pub(super) right: Right,
}

impl Gate {
    /// Lets a request pass, or says why not. Paths are compared as they were sent, so that an encoded one differs.
    pub(super) fn passage(&self, request: &Parts) -> Result<Passage<'_>, Refusal> {
        let refusal = |status, reason, asker| Err(Refusal { status, reason, asker });
        let shown =
            request.headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if shown != Some(self.nonce.as_bytes()) {
            return refusal(StatusCode::FORBIDDEN, "no command has this nonce", Asker::Stranger);
        }
        let Some(service) = request.uri.path().strip_prefix(self.path.as_str()) else {
            return refusal(StatusCode::NOT_FOUND, "another repository", Asker::Command);
        };
        let writes = match GitRequest::of(&request.method, service, request.uri.query()) {
            Some(GitRequest::Fetch) => return Ok(Passage::Read),
            Some(GitRequest::ListForPush) => Passage::Read,
            Some(GitRequest::Push) => match &self.right {
                Right::Push(update, along) => Passage::Update(update, along.as_ref()),
                Right::Fetch => Passage::Read,
            },
            None => return refusal(StatusCode::NOT_FOUND, "not a request of a fetch or a push", Asker::Command),
        };
        match &self.right {
            Right::Fetch => refusal(StatusCode::FORBIDDEN, "a push by a command that fetches", Asker::Command),
            // The server must read exactly the text that was checked.
            Right::Push(..) if request.headers.contains_key(header::CONTENT_ENCODING) => {
                refusal(StatusCode::FORBIDDEN, "a push that is compressed as a whole", Asker::Command)
            }
            Right::Push(..) => Ok(writes),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn asked(gate: &Gate, method: &str, target: &str, headers: &[(&str, &str)]) -> Result<bool, u16> {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let parts = request.body(()).unwrap().into_parts().0;
        gate.passage(&parts).map(|passage| passage != Passage::Read).map_err(|refusal| refusal.status.as_u16())
    }

    fn gate(right: Right) -> Gate {
        Gate { path: "/acme/site.git".into(), nonce: "n0nce".into(), right }
    }

    #[test]
    fn a_command_passes_only_with_its_nonce_at_its_repository_within_its_right() {
        let update = RefUpdate { name: "refs/heads/b".into(), old: None, new: "1".repeat(40).as_str().into() };
        let (fetch, push) = (gate(Right::Fetch), gate(Right::Push(update, None)));
        let own = [("authorization", "Bearer n0nce")];
        for (method, target, fetches, pushes) in [
            ("GET", "/acme/site.git/info/refs?service=git-upload-pack", Ok(false), Ok(false)),
            ("POST", "/acme/site.git/git-upload-pack", Ok(false), Ok(false)),
            ("GET", "/acme/site.git/info/refs?service=git-receive-pack", Err(403), Ok(false)),
            ("POST", "/acme/site.git/git-receive-pack", Err(403), Ok(true)),
            ("GET", "/acme/other.git/info/refs?service=git-upload-pack", Err(404), Err(404)),
            ("GET", "/acme/site.git/../other.git/info/refs?service=git-upload-pack", Err(404), Err(404)),
            ("GET", "/acme/site.git%2f..%2fother.git/info/refs?service=git-upload-pack", Err(404), Err(404)),
            ("GET", "//acme/site.git/info/refs?service=git-upload-pack", Err(404), Err(404)),
            ("GET", "/acme/site.git/info/refs", Err(404), Err(404)),
            ("GET", "/acme/site.git/info/refs?service=git-upload-pack&service=git-receive-pack", Err(404), Err(404)),
            ("GET", "/acme/site.git/HEAD", Err(404), Err(404)),
            ("POST", "/acme/site.git/git-upload-archive", Err(404), Err(404)),
            ("PUT", "/acme/site.git/git-receive-pack", Err(404), Err(404)),
            ("GET", "http://elsewhere.test/", Err(404), Err(404)),
        ] {
            assert_eq!(asked(&fetch, method, target, &own), fetches, "{method} {target}");
            assert_eq!(asked(&push, method, target, &own), pushes, "{method} {target}");
            for strange in [&[][..], &[("authorization", "Bearer n0nc")], &[("authorization", "Basic n0nce")]] {
                assert_eq!(asked(&push, method, target, strange), Err(403), "{method} {target} {strange:?}");
            }
        }
        let packed = [own[0], ("content-encoding", "gzip")];
        assert_eq!(asked(&push, "POST", "/acme/site.git/git-upload-pack", &packed), Ok(false));
        assert_eq!(asked(&push, "POST", "/acme/site.git/git-receive-pack", &packed), Err(403));
    }
}
