//! Servers to reach, and clients that write their requests by hand.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use axum::Router;
use hob_egress::{Address, Egress, EgressConfig, Host, Line, Listen, OnLine, Resolver};
use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

/// The lines that a server told.
pub(crate) type Lines = Arc<Mutex<Vec<Line>>>;

/// A resolver that knows `names` alone.
pub(crate) fn names(names: &[(&str, &str)]) -> Resolver {
    let known: Vec<(String, IpAddr)> =
        names.iter().map(|(name, ip)| ((*name).to_owned(), ip.parse().unwrap())).collect();
    Resolver::new(move |name| {
        let found = known.iter().filter(|(known, _)| *known == name).map(|(_, ip)| *ip).collect();
        Box::pin(async move { Ok(found) })
    })
}

pub(crate) fn hosts(texts: &[&str]) -> Vec<Host> {
    texts.iter().map(|text| Host::private(text).unwrap()).collect()
}

pub(crate) async fn start(config: EgressConfig) -> (Egress, Lines) {
    let lines = Lines::default();
    let told = Arc::clone(&lines);
    let on_line = Some(OnLine::new(move |line| told.lock().unwrap().push(line.clone())));
    let config = EgressConfig { on_line, ..config };
    (Egress::start(config, Listen::Loopback, CancellationToken::new()).await.unwrap(), lines)
}

pub(crate) fn address(egress: &Egress) -> SocketAddr {
    match egress.address() {
        Address::Loopback(address) => *address,
        Address::Unix(_) => panic!("it listens on loopback"),
    }
}

/// Sends `request` and reads until the server closes.
pub(crate) async fn ask(egress: &Egress, request: &str) -> String {
    rest(&mut sends(egress, request).await).await
}

/// Sends `request`, and reads nothing.
pub(crate) async fn sends(egress: &Egress, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(egress)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Sends `request` and reads the status: a tunnel that is open stays open.
pub(crate) async fn status(egress: &Egress, request: &str) -> String {
    let mut stream = TcpStream::connect(address(egress)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut status).await.unwrap();
    String::from_utf8_lossy(&status).into_owned()
}

/// The bytes until the end, even if that is a reset.
pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok();
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn connect_to(target: &str) -> String {
    format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\nconnection: close\r\n\r\n")
}

/// Opens a tunnel to `target` and reads the 200.
pub(crate) async fn tunnel(egress: &Egress, target: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(egress)).await.unwrap();
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    stream
}

/// The first message of a TLS client for the host `name`.
pub(crate) fn hello(name: &'static str) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(config), name.try_into().unwrap()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// A server that sends back what it gets, and its port.
pub(crate) async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await.ok();
            });
        }
    });
    port
}

/// A server with `router`, and its port.
pub(crate) async fn serve(router: Router) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

/// A client that uses the server as its proxy, or goes straight.
pub(crate) fn client(proxy: Option<&Egress>) -> reqwest::Client {
    ring::default_provider().install_default().ok();
    let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    let builder = match proxy.and_then(Egress::proxy_url) {
        Some(url) => builder.proxy(reqwest::Proxy::all(url).unwrap()),
        None => builder,
    };
    builder.build().unwrap()
}
