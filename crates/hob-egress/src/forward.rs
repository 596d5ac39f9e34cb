//! A request for an absolute `http://` address: to a listed host, over its own connection.
//!
//! Redirects are passed back: the client comes again with the new address, which is checked like any other.

use std::sync::Arc;

use http::{HeaderValue, Request, Response, StatusCode, Uri, header, uri::PathAndQuery};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::{
    gate::Refusal,
    headers::strip_hop,
    host::Host,
    report::{Entry, Way},
    shared::{Body, Shared, sentence},
    tunnel::refused,
};

/// The port of `http://`.
const HTTP: u16 = 80;
/// Bytes of an answer's head.
const HEAD_MAX: usize = 64 << 10;

/// Sends `request` on and gives the answer back as it comes.
pub(crate) async fn forward(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let target = request.uri().authority().map(|name| name.as_str().to_owned()).unwrap_or_default();
    let entry = Entry::new(&shared.log, &target);
    if request.uri().scheme_str() != Some("http") {
        entry.deny("only `http` is passed on without a tunnel");
        return sentence(StatusCode::BAD_REQUEST, "Hob passes on `http` alone; for `https`, use CONNECT.");
    }
    let opened = async {
        let host = Host::requested(&target, Some(HTTP))?;
        let server = shared.gate.connect(&host).await?;
        Ok::<_, Refusal>((host, server))
    };
    let (host, server) = match opened.await {
        Ok(opened) => opened,
        Err(refusal) => return refused(&entry, &refusal),
    };
    let failed = |entry: &Entry| {
        entry.cut("it gave no answer");
        sentence(StatusCode::BAD_GATEWAY, "This host gave no answer.")
    };
    let handshake = http1::Builder::new().max_buf_size(HEAD_MAX).handshake(TokioIo::new(server)).await;
    let Ok((mut sender, connection)) = handshake else { return failed(&entry) };
    let cancel = shared.cancel.clone();
    shared.tasks.spawn(async move {
        tokio::select! {
            () = cancel.cancelled() => {}
            // The request itself reports errors of the connection.
            _ = connection => {}
        }
    });
    let Some(request) = outgoing(&shared, &entry, &host, request) else {
        return sentence(StatusCode::BAD_REQUEST, "The address cannot be read.");
    };
    let Ok(Ok(answer)) = timeout(shared.limits.idle, sender.send_request(request)).await else { return failed(&entry) };
    let (mut parts, body) = answer.into_parts();
    strip_hop(&mut parts.headers);
    Response::from_parts(parts, shared.metered(body, entry, Way::Received))
}

/// The request as the host gets it: only its path, and the checked host as its `Host`, so that one host's server cannot
/// be asked for another's pages.
fn outgoing(
    shared: &Arc<Shared>,
    entry: &Arc<Entry>,
    host: &Host,
    request: Request<Incoming>,
) -> Option<Request<Body>> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    parts.uri = path.parse::<Uri>().ok()?;
    strip_hop(&mut parts.headers);
    let shown = host.to_string();
    let named = if host.port() == HTTP { shown.strip_suffix(":80").unwrap_or(&shown) } else { &shown };
    parts.headers.insert(header::HOST, HeaderValue::from_str(named).ok()?);
    Some(Request::from_parts(parts, shared.metered(body, Arc::clone(entry), Way::Sent)))
}
