//! Another Hob's way to git's server: the requests of a Job's pod, which has no token, through the dispatcher.
//!
//! # Flow
//! The dispatcher knows whose request it is and which refs it may move → [`RelayedPush::read`], if it is a push → [`GitRelay::send`]
//! sends it to the real server with the token → the answer streams back.
//!
//! # Guarantees
//! - Not one byte of a push is sent on before its whole list of updates was read, and each of them was allowed. None is a deletion.
//! - Bodies stream: neither a pack nor an answer is kept.
//! - Redirects are answered as failures, without their target. No request goes to another host.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hob_process::Environment;
use http::{Method, header, request::Parts};
use http_body_util::{BodyDataStream, Limited};
use hyper::body::Body;

use crate::{
    Remote,
    forwarder::{
        Clients, Failure, headers,
        serve::{Answer, PUSH_MAX, READ_MAX, passed_on},
        updates::{self, List},
        upstream::Upstream,
    },
};

/// Sends requests of others on.
#[derive(Debug, Clone)]
pub struct GitRelay {
    clients: Clients,
}

/// The server gave no answer: why, in one line without a secret.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoAnswer(String);

/// A push whose updates were allowed.
pub struct RelayedPush {
    /// The full names of the refs that it moves. Empty if git only asks whether it may push.
    pub refs: Vec<String>,
    /// The commits that it moves them to, in the same order.
    pub commits: Vec<String>,
    body: reqwest::Body,
}

impl RelayedPush {
    /// Reads the list of a push's updates, each of a ref that `may_move`.
    ///
    /// # Errors
    /// Why the push is refused.
    pub async fn read<B>(head: &Parts, body: B, may_move: impl Fn(&str) -> bool) -> Result<Self, &'static str>
    where
        B: Body<Data = Bytes, Error: Into<Failure>> + Send + Unpin + 'static,
    {
        // The server must read exactly the text that was checked.
        if head.headers.contains_key(header::CONTENT_ENCODING) {
            return Err("a push that is compressed as a whole");
        }
        let mut parts = BodyDataStream::new(Limited::new(body, PUSH_MAX));
        let mut begun = Vec::new();
        loop {
            let part = parts.next().await.transpose().map_err(|_error| "a push that breaks off")?;
            let is_end = part.is_none();
            begun.extend_from_slice(&part.unwrap_or_default());
            let (mut refs, mut commits) = (Vec::new(), Vec::new());
            let list = updates::read_each(&begun, |update| match moved(update).filter(|moved| may_move(moved.name)) {
                Some(Moved { name, to }) => {
                    refs.push(name.to_owned());
                    commits.push(to.to_owned());
                    true
                }
                None => false,
            })?;
            match list {
                List::Unfinished if is_end => return Err("a list of updates without an end"),
                List::Unfinished => {}
                // More may follow, which makes it invalid.
                List::Empty if !is_end => {}
                List::Empty => return Ok(Self { refs, commits, body: begun.into() }),
                List::Allowed { .. } => {
                    let begun = stream::iter([Ok::<_, Failure>(Bytes::from(begun))]);
                    return Ok(Self { refs, commits, body: reqwest::Body::wrap_stream(begun.chain(parts)) });
                }
            }
        }
    }
}

/// A ref, and the commit that it is moved to.
struct Moved<'a> {
    name: &'a str,
    to: &'a str,
}

/// What an update moves: `OLD NEW REF`. `None` if it deletes the ref, or is not one.
fn moved(update: &[u8]) -> Option<Moved<'_>> {
    let mut fields = std::str::from_utf8(update).ok()?.split(' ');
    let (old, new, name) = (fields.next()?, fields.next()?, fields.next()?);
    let is_id = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_move = is_id(old) && is_id(new) && new.bytes().any(|byte| byte != b'0');
    Some(Moved { name, to: new }).filter(|_| is_move && fields.next().is_none())
}

impl GitRelay {
    /// A relay that goes through the proxy that `environment` names, for https only.
    pub fn new(environment: &Environment) -> Self {
        Self { clients: Clients::new(environment) }
    }

    /// Has the server of `remote` answer a request of a fetch at `service`, a path below the repository's address with its query.
    ///
    /// # Errors
    /// [`NoAnswer`] says why.
    pub async fn fetch<B>(&self, remote: &Remote, head: &Parts, service: &str, body: B) -> Result<Answer, NoAnswer>
    where
        B: Body<Data = Bytes, Error: Into<Failure>> + Send + 'static,
    {
        let stream = || reqwest::Body::wrap_stream(BodyDataStream::new(Limited::new(body, READ_MAX)));
        let body = (head.method != Method::GET).then(stream);
        self.send(remote, head, service, body).await
    }

    /// Has the server of `remote` answer a push.
    ///
    /// # Errors
    /// [`NoAnswer`] says why; the push may have had its effect.
    pub async fn push(
        &self,
        remote: &Remote,
        head: &Parts,
        service: &str,
        push: RelayedPush,
    ) -> Result<Answer, NoAnswer> {
        self.send(remote, head, service, Some(push.body)).await
    }

    async fn send(
        &self,
        remote: &Remote,
        head: &Parts,
        service: &str,
        body: Option<reqwest::Body>,
    ) -> Result<Answer, NoAnswer> {
        let url = remote.server_url().ok_or_else(|| NoAnswer("it is in a folder".to_owned()))?;
        let upstream = Upstream::of(remote, url, &self.clients).map_err(|error| NoAnswer(error.to_string()))?;
        let mut headers = headers::to_server(&head.headers);
        // Not all servers accept a body of unknown length.
        if let (Some(length), Some(_)) = (head.headers.get(header::CONTENT_LENGTH), &body) {
            headers.insert(header::CONTENT_LENGTH, length.clone());
        }
        let sent = upstream.send(head.method.clone(), service, headers, body).await;
        sent.map(passed_on).map_err(|error| NoAnswer(remote.scrubbed(&error.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http_body_util::Full;

    use super::*;

    async fn read(body: &str, headers: &[(&str, &str)]) -> Result<Vec<String>, &'static str> {
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let head = request.body(()).unwrap().into_parts().0;
        let may_move = |name: &str| ["refs/heads/hob/7", "refs/hob/issues/7"].contains(&name);
        let push = RelayedPush::read(&head, Full::from(body.to_owned()), may_move).await?;
        Ok(push.refs.iter().zip(&push.commits).map(|(name, commit)| format!("{name} {}", &commit[..1])).collect())
    }

    fn packet(line: &str) -> String {
        format!("{:04x}{line}", line.len() + 4)
    }

    #[tokio::test]
    async fn a_push_passes_if_each_of_its_updates_may() {
        let (zero, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let told = "\0 report-status-v2 atomic agent=hob";
        let branch = packet(&format!("{zero} {one} refs/heads/hob/7{told}"));
        let ledger = packet(&format!("{one} {two} refs/hob/issues/7"));
        let both = ["refs/heads/hob/7 1".to_owned(), "refs/hob/issues/7 2".to_owned()];
        assert_eq!(read(&format!("{branch}{ledger}0000PACK"), &[]).await, Ok(both.to_vec()));
        assert_eq!(read(&format!("{branch}0000PACK"), &[]).await, Ok(both[..1].to_vec()));
        assert_eq!(read("0000", &[]).await, Ok(Vec::new()));
        let refused = Err("an update of another ref, from or to another commit, or a deletion");
        for other in [
            format!("{zero} {one} refs/heads/main"),
            format!("{one} {zero} refs/heads/hob/7"),
            format!("{one} {two} refs/hob/issues/8"),
            format!("{one} {two} refs/hob/issues/7 refs/heads/main"),
            format!("{one} {two}  refs/hob/issues/7"),
            format!("x{one} {two} refs/hob/issues/7"),
            format!("{one} refs/hob/issues/7"),
        ] {
            assert_eq!(read(&format!("{}0000PACK", packet(&format!("{other}{told}"))), &[]).await, refused, "{other}");
            assert_eq!(read(&format!("{branch}{}0000PACK", packet(&other)), &[]).await, refused, "{other}");
        }
        for (body, headers) in [
            (format!("{branch}0000PACK"), &[("content-encoding", "gzip")][..]),
            (branch.clone(), &[]),
            (format!("{}0000PACK", packet(&format!("{zero} {one} refs/heads/hob/7\0push-options"))), &[]),
            ("0000PACK".to_owned(), &[]),
            ("GET /".to_owned(), &[]),
        ] {
            assert!(read(&body, headers).await.is_err(), "{body}");
        }
    }
}
