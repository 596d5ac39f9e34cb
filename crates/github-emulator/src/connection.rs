//! Connections that can be ended from inside a handler, without an answer.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};

/// The right to end a connection.
#[derive(Debug, Clone, Default)]
pub struct Hangup(Arc<OnceLock<Ending>>);

/// What the peer sees.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Close,
    Reset,
}

impl Hangup {
    /// Closes the connection: nothing more is written to it.
    pub fn close(&self) {
        self.0.set(Ending::Close).ok();
    }

    /// Resets the connection at its next read or write: what is written by then is sent.
    pub fn reset(&self) {
        self.0.set(Ending::Reset).ok();
    }
}

impl Connected<IncomingStream<'_, HangupListener>> for Hangup {
    fn connect_info(stream: IncomingStream<'_, HangupListener>) -> Self {
        stream.io().hangup.clone()
    }
}

/// The listener of such connections.
#[derive(Debug)]
pub struct HangupListener(pub TcpListener);

impl Listener for HangupListener {
    type Io = HangupStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HangupStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Small answers go out at once.
        stream.set_nodelay(true).ok();
        (HangupStream { stream, hangup: Hangup::default() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Listener::local_addr(&self.0)
    }
}

/// One such connection.
#[derive(Debug)]
pub struct HangupStream {
    stream: TcpStream,
    hangup: Hangup,
}

impl HangupStream {
    fn check(&self) -> io::Result<()> {
        match self.hangup.0.get() {
            None => return Ok(()),
            Some(Ending::Close) => {}
            // Closed without lingering, the peer gets a reset and not an ordinary end.
            Some(Ending::Reset) => drop(self.stream.set_zero_linger()),
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

impl AsyncRead for HangupStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for HangupStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
