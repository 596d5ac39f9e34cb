//! The embedded forge's webhooks, received over real HTTP.

use axum::{Router, extract::State, routing::post};
use bytes::Bytes;
use github_emulator::{Options, Webhook, serve};
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::local_forge::{Fixture, site};

type Received = (HeaderMap, Value);

/// A receiver's address, and its deliveries.
async fn receiver() -> (String, mpsc::UnboundedReceiver<Received>) {
    let (sender, received) = mpsc::unbounded_channel();
    let take = |State(sender): State<mpsc::UnboundedSender<Received>>, headers: HeaderMap, body: Bytes| async move {
        sender.send((headers, serde_json::from_slice(&body).unwrap())).unwrap();
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let router = Router::new().route("/hook", post(take)).with_state(sender);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, received)
}

#[tokio::test]
async fn what_happens_is_told_in_order_and_signed() {
    let (url, mut received) = receiver().await;
    let webhook = Some(Webhook { url, secret: Some("s3cret".to_owned().into()) });
    let users = vec!["wil:tw".parse().unwrap()];
    let mut fixture = Fixture::start().await;
    fixture.forge = serve(Options { users, webhook, ..Options::default() }).await.unwrap();
    fixture.head = fixture.forge.create_repository(&site(), &[("README.md", b"x\n", false)]).unwrap();
    fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T", "labels": ["code"]})).await;
    fixture.post("tw", "/repos/acme/site/issues/1/comments", json!({"body": "hi"})).await;
    fixture.send("tw", Method::PATCH, "/repos/acme/site/issues/1", json!({"state": "closed"})).await;
    fixture.post("tw", "/repos/acme/site/git/refs", json!({"ref": "refs/heads/b", "sha": fixture.head})).await;
    let mut told = Vec::new();
    let mut first = None;
    for _ in 0..5 {
        let (headers, body) = received.recv().await.unwrap();
        let event = headers["x-github-event"].to_str().unwrap().to_owned();
        assert!(headers["x-hub-signature-256"].to_str().unwrap().starts_with("sha256="));
        assert_eq!((&body["sender"]["login"], &body["repository"]["full_name"]), (&json!("wil"), &json!("acme/site")));
        told.push(format!("{event} {}", body["action"].as_str().unwrap_or("-")));
        first.get_or_insert(headers["x-github-delivery"].to_str().unwrap().to_owned());
    }
    assert_eq!(told, ["issues opened", "issues labeled", "issue_comment created", "issues closed", "push -"]);
    let first = first.unwrap();
    fixture.forge.redeliver(&first);
    let (headers, _) = received.recv().await.unwrap();
    assert_eq!(headers["x-github-delivery"], first.as_str());
}
