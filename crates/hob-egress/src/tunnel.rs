//! `CONNECT`: a tunnel to a listed host, whose TLS hello names that host.
//!
//! - Flow: check the host and connect; answer 200; read the hello, up to its limit and deadline; compare its name; pass
//!   the hello on, then bytes both ways until both sides are done, one is silent too long, or the run's bytes are used up.
//! - Guarantees: not one byte reaches the host before the hello was found good.
//! - Caveats: the name in the hello is the client's word; the host's certificate is checked by the client alone.

use std::{io, sync::Arc};

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::{Notify, OwnedSemaphorePermit},
    time::timeout,
};

use crate::{
    gate::Refusal,
    hello::{BadHello, HELLO_MAX, Hello, read_hello},
    host::Host,
    report::{Entry, Way},
    shared::{Body, Shared, full, sentence},
};

/// Bytes that are read at once.
const PIECE: usize = 16 << 10;

/// Answers a `CONNECT`, and runs its tunnel as a task that holds `permit`.
pub(crate) async fn connect(
    shared: Arc<Shared>,
    mut request: Request<Incoming>,
    permit: Arc<OwnedSemaphorePermit>,
) -> Response<Body> {
    let target = request.uri().authority().map(|name| name.as_str().to_owned()).unwrap_or_default();
    let entry = Entry::new(&shared.log, &target);
    let opened = async {
        let host = Host::requested(&target, None)?;
        let server = shared.gate.connect(&host).await?;
        Ok::<_, Refusal>((host, server))
    };
    let (host, server) = match opened.await {
        Ok(opened) => opened,
        Err(refusal) => return refused(&entry, &refusal),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = shared.tasks.clone();
    let tunnel = async move {
        let _permit = permit;
        let cancel = shared.cancel.clone();
        let run = async {
            if let Ok(client) = upgrade.await {
                run(&shared, &entry, &host, TokioIo::new(client), server).await;
            }
        };
        tokio::select! {
            () = cancel.cancelled() => entry.cut("the run ended"),
            () = run => {}
        }
    };
    tasks.spawn(tunnel);
    Response::new(full(""))
}

/// The answer to a host that was not connected to.
pub(crate) fn refused(entry: &Entry, refusal: &Refusal) -> Response<Body> {
    if refusal.is_denial() {
        entry.deny(refusal);
        return sentence(StatusCode::FORBIDDEN, &format!("Hob refuses this connection: {refusal}."));
    }
    entry.cut(refusal);
    sentence(StatusCode::BAD_GATEWAY, "Hob could not reach this host.")
}

async fn run<C>(shared: &Shared, entry: &Entry, host: &Host, mut client: C, mut server: TcpStream)
where
    C: AsyncRead + AsyncWrite + Unpin,
{
    let hello = match timeout(shared.limits.setup, first_message(&mut client, host)).await {
        Ok(Ok(hello)) => hello,
        Ok(Err(bad)) => return entry.deny(bad),
        Err(_) => return entry.cut("no TLS hello came in time"),
    };
    if shared.count(entry, Way::Sent, hello.len()).is_err() || server.write_all(&hello).await.is_err() {
        return;
    }
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = server.split();
    let moved = Notify::new();
    let both = async {
        // An error of one side ends the other one too: its host or its client is gone.
        tokio::try_join!(
            pump(shared, entry, Way::Sent, &moved, &mut from_client, &mut to_server),
            pump(shared, entry, Way::Received, &moved, &mut from_server, &mut to_client),
        )
    };
    let silence = async { while timeout(shared.limits.idle, moved.notified()).await.is_ok() {} };
    tokio::select! {
        // Both are done, or an error was reported where it occurred.
        _ = both => {}
        () = silence => entry.cut("it was silent too long"),
    }
}

/// The bytes up to the end of the hello at least, once they name `host`.
async fn first_message(client: &mut (impl AsyncRead + Unpin), host: &Host) -> Result<Vec<u8>, BadHello> {
    let mut bytes = Vec::new();
    loop {
        let room = u64::try_from(HELLO_MAX.saturating_sub(bytes.len())).unwrap_or(0);
        match client.take(room).read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(BadHello::NotTls),
            Ok(_) => {}
        }
        let Hello::Whole(name) = read_hello(&bytes)? else { continue };
        return match (name, host.literal()) {
            (Some(name), None) if name == host.name() => Ok(bytes),
            // A client never names an IP address in its hello.
            (None, Some(_)) => Ok(bytes),
            (None, None) => Err(BadHello::NoName),
            (Some(_), _) => Err(BadHello::OtherName),
        };
    }
}

/// Passes bytes on until their source is done.
async fn pump<R, W>(
    shared: &Shared,
    entry: &Entry,
    way: Way,
    moved: &Notify,
    from: &mut R,
    to: &mut W,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).await?;
        moved.notify_one();
        if length == 0 {
            return to.shutdown().await;
        }
        shared.count(entry, way, length)?;
        to.write_all(&piece[..length]).await?;
        to.flush().await?;
        moved.notify_one();
    }
}
