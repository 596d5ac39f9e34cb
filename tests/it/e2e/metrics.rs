//! The metrics of a run, as a collector reads them: over HTTP and in a file.

use std::net::SocketAddr;

use rustix::process::Signal;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Started, World};

const TOKEN: &str = "canary-5fK2pQ9x";

/// The whole answer to a request's lines.
async fn answer(at: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is refused with bytes unread may be reset.
    stream.read_to_end(&mut answer).await.ok();
    String::from_utf8(answer).unwrap()
}

async fn get(at: SocketAddr, path: &str, headers: &str) -> String {
    answer(at, &format!("GET {path} HTTP/1.1\nHost: {at}\n{headers}\n")).await
}

/// The address that the program says it serves.
async fn serves(hob: &mut Started) -> SocketAddr {
    let line = hob.says("serving metrics at ").await;
    line.split("http://").nth(1).unwrap().trim_end_matches("/metrics").parse().unwrap()
}

#[tokio::test]
async fn a_run_serves_its_metrics_to_this_machine() {
    let world = World::fixing().start().await;
    let mut hob = world.starts_hob(&["run", "--listen", "0"]).await;
    let at = serves(&mut hob).await;
    assert!(at.ip().is_loopback());
    let plain = get(at, "/metrics", "").await;
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\n"), "{plain}");
    assert!(plain.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{plain}");
    assert!(plain.contains("\n# TYPE hob_failures_total counter\nhob_failures_total 0\n"), "{plain}");
    assert!(!plain.to_lowercase().contains("access-control-"), "{plain}");
    let open = get(at, "/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\n").await;
    assert!(
        open.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"),
        "{open}"
    );
    assert!(open.ends_with("# EOF\n"), "{open}");
    for (request, status) in [
        (format!("GET /healthz HTTP/1.1\nHost: {at}\n\n"), "200"),
        (format!("HEAD /metrics HTTP/1.1\nHost: {at}\n\n"), "200"),
        (format!("GET / HTTP/1.1\nHost: {at}\n\n"), "404"),
        (format!("POST /metrics HTTP/1.1\nHost: {at}\nContent-Length: 3\n\nabc"), "405"),
        (format!("OPTIONS /metrics HTTP/1.1\nHost: {at}\n\n"), "405"),
        ("GET /metrics HTTP/1.1\nHost: evil.example\n\n".to_owned(), "403"),
        (format!("GET /metrics HTTP/1.1\nHost: {at}\n{}\n", "X: y\n".repeat(65)), "431"),
        (format!("GET /{} HTTP/1.1\nHost: {at}\n\n", "x".repeat(17 << 10)), "431"),
        ("nonsense\n\n".to_owned(), "400"),
    ] {
        let answer = answer(at, &request).await;
        let end = answer.split(' ').nth(1).unwrap_or_default();
        assert_eq!(end, status, "{}: {answer}", &request[..request.len().min(80)]);
    }
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(TcpStream::connect(at).await.is_err());
    world.finish().await;
}

#[tokio::test]
async fn a_token_is_asked_for_where_there_is_one() {
    let world = World::fixing().start().await;
    let file = world.dir().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let variable = [("HOB_LISTEN_TOKEN_FILE", file.to_str().unwrap())];
    let mut hob = world.starts_hob_with(&["run", "--listen", "0.0.0.0:0"], &variable).await;
    let mut at = serves(&mut hob).await;
    at.set_ip([127, 0, 0, 1].into());
    let refused = get(at, "/metrics", "").await;
    assert!(refused.starts_with("HTTP/1.1 401 ") && refused.contains("\r\nwww-authenticate: Bearer\r\n"), "{refused}");
    assert!(!refused.contains("hob_"), "{refused}");
    assert!(get(at, "/metrics", "Authorization: Bearer wrong\n").await.starts_with("HTTP/1.1 401 "));
    let given = get(at, "/metrics", &format!("Authorization: Bearer {TOKEN}\n")).await;
    assert!(given.starts_with("HTTP/1.1 200 ") && given.contains("\nhob_failures_total 0\n"), "{given}");
    hob.ends_by(Signal::TERM).await;
    world.finish().await;
}

#[tokio::test]
async fn an_address_that_cannot_be_served_is_told_before_any_work() {
    let world = World::fixing().start().await;
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (taken, before) = (holder.local_addr().unwrap().to_string(), world.forge.requests().len());
    for (address, says) in [
        (
            "0.0.0.0:0",
            "`--listen 0.0.0.0:0` is open to other machines and needs a token: set HOB_LISTEN_TOKEN or HOB_LISTEN_TOKEN_FILE",
        ),
        (&taken, "cannot listen on `127.0.0.1:"),
        ("example.org:80", "write a port, or an IP address and a port such as `127.0.0.1:4620`"),
    ] {
        let ended = world.hob(&["run", "--once", "--listen", address]).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(says), "{ended:?}");
    }
    assert_eq!(world.forge.requests().len(), before);
    world.finish().await;
}
