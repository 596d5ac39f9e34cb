//! The proxy: listed hosts are reached, and no others.

use std::time::Duration;

use axum::{Router, http::HeaderMap, response::Redirect, routing::get};
use hob_egress::{Egress, EgressConfig, EgressLimits, Listen, Verdict};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};
use tokio_util::sync::CancellationToken;

use crate::support::{
    self, Lines, address, ask, client, connect_to, echo, hello, hosts, names, rest, serve, start, tunnel,
};

/// A server that may reach `ok.test` on `port` of this machine.
async fn to_ok(port: u16, limits: EgressLimits) -> (Egress, Lines) {
    let private_hosts = hosts(&[&format!("ok.test:{port}")]);
    let resolver = names(&[("ok.test", "127.0.0.1")]);
    start(EgressConfig { private_hosts, resolver, limits, ..EgressConfig::default() }).await
}

/// The line of the one connection there was, once the server has ended.
async fn ended(egress: Egress, lines: &Lines) -> (Verdict, String) {
    egress.end().await;
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    (lines[0].verdict, lines[0].reason.clone())
}

#[tokio::test]
async fn a_listed_host_is_reached_through_a_tunnel() {
    let port = echo().await;
    let (egress, lines) = to_ok(port, EgressLimits::default()).await;
    let mut stream = tunnel(&egress, &format!("OK.test.:{port}")).await;
    let sent = hello("ok.test");
    // Cut in two, as networks do.
    stream.write_all(&sent[..20]).await.unwrap();
    stream.write_all(&sent[20..]).await.unwrap();
    let mut back = vec![0; sent.len()];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(back, sent);
    stream.write_all(b"more").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "more");
    egress.end().await;
    let line = lines.lock().unwrap()[0].clone();
    let bytes = u64::try_from(sent.len() + 4).unwrap();
    assert_eq!((line.verdict, line.sent_bytes, line.received_bytes), (Verdict::Allowed, bytes, bytes));
}

/// Attack corpus F68
#[tokio::test]
async fn addresses_are_refused_in_every_form() {
    let (egress, lines) =
        start(EgressConfig { hosts: vec!["ok.test".parse().unwrap()], ..EgressConfig::default() }).await;
    let targets = [
        "127.0.0.1:443",
        "localhost:443",
        "169.254.169.254:80",
        "[::1]:443",
        "[::ffff:127.0.0.1]:443",
        "0x7f.1:443",
        "2130706433:443",
        "0177.0.0.1:443",
        "127.1:443",
    ];
    for target in targets {
        let answer = ask(&egress, &connect_to(target)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{target}: {answer}");
        let plain =
            format!("GET http://{target}/latest/meta-data HTTP/1.1\r\nhost: ok.test\r\nconnection: close\r\n\r\n");
        let answer = ask(&egress, &plain).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{target}: {answer}");
    }
    let denied = egress.denied();
    assert!(denied.contains_key("169.254.169.254:80"), "{denied:?}");
    egress.end().await;
    assert!(lines.lock().unwrap().iter().all(|line| line.verdict == Verdict::Denied));
}

/// Attack corpus F69
#[tokio::test]
async fn a_name_that_reads_in_two_ways_is_refused() {
    let port = echo().await;
    let (egress, _) = to_ok(port, EgressLimits::default()).await;
    for name in
        ["ok.test\0.evil.test", "ok.test.evil.test", "evil@ok.test", "ok.test@evil.test", "ok.test..", "ok.test%00"]
    {
        let answer = ask(&egress, &connect_to(&format!("{name}:{port}"))).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{name:?}: {answer}");
    }
    assert!(!egress.denied().keys().any(|target| target.contains('@')));
}

/// Attack corpus F70
#[tokio::test]
async fn a_listed_name_that_leads_inside_is_refused() {
    let port = echo().await;
    for ip in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "::ffff:127.0.0.1", "fd00::1"] {
        // One good address beside it changes nothing.
        let resolver = names(&[("ok.test", "192.0.9.1"), ("ok.test", ip)]);
        let host = format!("ok.test:{port}").parse().unwrap();
        let (egress, lines) = start(EgressConfig { hosts: vec![host], resolver, ..EgressConfig::default() }).await;
        let answer = ask(&egress, &connect_to(&format!("ok.test:{port}"))).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{ip}: {answer}");
        let (verdict, reason) = ended(egress, &lines).await;
        let told = if ip.starts_with("169.254") { "is not a public address" } else { "`private:HOST`" };
        assert_eq!((verdict, reason.contains(told)), (Verdict::Denied, true), "{ip}: {reason}");
    }
}

#[tokio::test]
async fn the_metadata_address_is_refused_even_to_a_private_host() {
    let resolver = names(&[("ok.test", "169.254.169.254")]);
    let private_hosts = hosts(&["ok.test", "169.254.169.254:80"]);
    let (egress, _) = start(EgressConfig { private_hosts, resolver, ..EgressConfig::default() }).await;
    for target in ["ok.test:443", "169.254.169.254:80"] {
        assert!(ask(&egress, &connect_to(target)).await.starts_with("HTTP/1.1 403"), "{target}");
    }
}

/// Attack corpus F71
#[tokio::test]
async fn another_port_of_a_listed_host_is_refused() {
    let port = echo().await;
    let (egress, _) = to_ok(port, EgressLimits::default()).await;
    for target in ["ok.test:22", "ok.test:443", "ok.test:0", "ok.test"] {
        let answer = ask(&egress, &connect_to(target)).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{target}: {answer}");
    }
}

/// Attack corpus F72
#[tokio::test]
async fn a_tunnel_for_another_server_is_closed_before_a_byte_arrives() {
    let port = echo().await;
    for (first, told) in [
        (hello("evil.test"), "names another server"),
        (hello("127.0.0.1"), "names no server"),
        (b"GET / HTTP/1.1\r\nhost: evil.test\r\n\r\n".to_vec(), "does not begin with TLS"),
        (b"SSH-2.0-x\r\n".to_vec(), "does not begin with TLS"),
    ] {
        let (egress, lines) = to_ok(port, EgressLimits::default()).await;
        let mut stream = tunnel(&egress, &format!("ok.test:{port}")).await;
        stream.write_all(&first).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(rest(&mut stream).await, "", "nothing came back from the echo");
        let (verdict, reason) = ended(egress, &lines).await;
        assert_eq!((verdict, reason.contains(told)), (Verdict::Denied, true), "{reason}");
    }
}

/// Attack corpus F73
#[tokio::test]
async fn a_redirect_off_the_list_is_refused() {
    let to = |url: &'static str| get(move || async move { Redirect::temporary(url) });
    let router = Router::new().route("/away", to("http://evil.test/")).route("/inside", to("http://169.254.169.254/"));
    let port = serve(router.route("/", get(async || "here"))).await;
    let (egress, _) = to_ok(port, EgressLimits::default()).await;
    let client = client(Some(&egress));
    let get = async |path: &str| client.get(format!("http://ok.test:{port}{path}")).send().await.unwrap();
    assert_eq!(get("/").await.text().await.unwrap(), "here");
    assert_eq!(get("/away").await.status(), 403);
    assert_eq!(get("/inside").await.status(), 403);
    assert_eq!(egress.denied().into_keys().collect::<Vec<_>>(), ["169.254.169.254", "evil.test"]);
}

/// Attack corpus F74: the server's end. Other tests show that a child has no other way out, and that its run ends.
#[tokio::test]
async fn a_proxy_that_ends_closes_what_it_served() {
    let port = echo().await;
    let (egress, lines) = to_ok(port, EgressLimits::default()).await;
    let (address, ended) = (address(&egress), egress.ended());
    let mut open = tunnel(&egress, &format!("ok.test:{port}")).await;
    open.write_all(&hello("ok.test")).await.unwrap();
    open.read_u8().await.unwrap();
    egress.end().await;
    assert!(ended.is_cancelled());
    rest(&mut open).await;
    assert!(TcpStream::connect(address).await.is_err());
    assert_eq!(lines.lock().unwrap()[0].reason, "the run ended");
}

/// Attack corpus F75: the list decides, and no token does. If the forge's API is listed, it accepts what it is sent.
#[tokio::test]
async fn a_forge_that_is_not_listed_gets_no_token_of_an_attackers() {
    let show = |headers: HeaderMap| async move { format!("{:?}", headers.get("authorization")) };
    let forge = serve(Router::new().route("/user", get(show))).await;
    let request = format!(
        "GET http://forge.test:{forge}/user?access_token=ghp_attacker HTTP/1.1\r\nhost: forge.test\r\n\
         authorization: Bearer ghp_attacker\r\nconnection: close\r\n\r\n"
    );
    for (listed, status, takes) in [("pypi.test", "HTTP/1.1 403", false), ("forge.test", "HTTP/1.1 200", true)] {
        let private_hosts = hosts(&[&format!("{listed}:{forge}")]);
        let resolver = names(&[("pypi.test", "127.0.0.1"), ("forge.test", "127.0.0.1")]);
        let (egress, lines) = start(EgressConfig { private_hosts, resolver, ..EgressConfig::default() }).await;
        let answer = ask(&egress, &request).await;
        assert_eq!((answer.starts_with(status), answer.contains("ghp_attacker")), (true, takes), "{listed}: {answer}");
        assert_eq!(support::status(&egress, &connect_to(&format!("forge.test:{forge}"))).await, status, "{listed}");
        egress.end().await;
        assert!(!format!("{lines:?}").contains("ghp_attacker"));
    }
}

#[tokio::test]
async fn a_host_gets_the_request_without_what_is_the_proxys() {
    let show = |headers: HeaderMap| async move { format!("{headers:?}") };
    let port = serve(Router::new().route("/", get(show))).await;
    let (egress, _) = to_ok(port, EgressLimits::default()).await;
    let request = format!(
        "GET http://ok.test:{port}/ HTTP/1.1\r\nhost: evil.test\r\nproxy-authorization: Basic x\r\nx-once: 1\r\n\
         connection: x-once, close\r\n\r\n"
    );
    let answer = ask(&egress, &request).await;
    assert!(answer.contains(&format!("\"host\": \"ok.test:{port}\"")), "{answer}");
    assert!(!answer.contains("evil.test") && !answer.contains("proxy-") && !answer.contains("x-once"), "{answer}");
}

#[tokio::test]
async fn bytes_connections_silence_and_heads_have_limits() {
    let port = echo().await;
    let limits = EgressLimits { sent_bytes: 1, ..EgressLimits::default() };
    let (egress, lines) = to_ok(port, limits).await;
    let mut stream = tunnel(&egress, &format!("ok.test:{port}")).await;
    stream.write_all(&hello("ok.test")).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    assert_eq!(ended(egress, &lines).await.1, "the run may not move more bytes");

    let (egress, _) = to_ok(port, EgressLimits { connections: 1, ..EgressLimits::default() }).await;
    let held = tunnel(&egress, &format!("ok.test:{port}")).await;
    assert!(rest(&mut TcpStream::connect(address(&egress)).await.unwrap()).await.starts_with("HTTP/1.1 503"));
    drop(held);

    let (egress, lines) = to_ok(port, EgressLimits { idle: Duration::from_millis(1), ..EgressLimits::default() }).await;
    let mut stream = tunnel(&egress, &format!("ok.test:{port}")).await;
    stream.write_all(&hello("ok.test")).await.unwrap();
    rest(&mut stream).await;
    assert_eq!(ended(egress, &lines).await.1, "it was silent too long");

    let (egress, _) = to_ok(port, EgressLimits::default()).await;
    let long = format!("GET http://ok.test:{port}/ HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(64 << 10));
    let answer = ask(&egress, &long).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_unix_socket_serves_and_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("egress");
    let cancel = CancellationToken::new();
    let egress = Egress::start(EgressConfig::default(), Listen::Unix(path.clone()), cancel.clone()).await.unwrap();
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(connect_to("evil.test:443").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(egress.proxy_url(), None);
    assert_eq!(egress.denied().into_keys().collect::<Vec<_>>(), ["evil.test:443"]);
    cancel.cancel();
    egress.end().await;
    assert!(!path.exists());
}
