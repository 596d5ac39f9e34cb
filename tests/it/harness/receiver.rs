//! A receiver of notifications on this machine, which answers as a test tells it.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex},
};

use axum::{Router, extract::State, routing::post};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use ring::hmac;
use serde_json::Value;
use tokio::sync::watch;

/// The secret that signs notifications.
pub(crate) const WEBHOOK_SECRET: &str = "It's a Secret to Everybody";

/// A notification that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) body: Value,
}

/// The receiver.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiver(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    received: Mutex<Vec<Received>>,
    /// The next answers; after them all succeed. 0 means no answer.
    answers: Mutex<VecDeque<u16>>,
    arrivals: watch::Sender<usize>,
}

impl Receiver {
    /// Starts it; its address.
    pub(crate) async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(take)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    /// Its next answers; 0 means none.
    pub(crate) fn answers(&self, statuses: &[u16]) {
        self.0.answers.lock().unwrap().extend(statuses);
    }

    /// Waits until `count` notifications have arrived.
    pub(crate) async fn has(&self, count: usize) {
        self.0.arrivals.subscribe().wait_for(|arrived| *arrived >= count).await.unwrap();
    }

    /// All that arrived, repeats included.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.0.received.lock().unwrap().clone()
    }

    /// The events that a receiver which drops repeats has heard, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        let mut ids = BTreeSet::new();
        self.received().into_iter().filter(|one| ids.insert(one.id.clone())).map(|one| one.event).collect()
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes) -> (StatusCode, HeaderMap) {
    let text = |name: &str| headers[name].to_str().unwrap().to_owned();
    let key = hmac::Key::new(hmac::HMAC_SHA256, WEBHOOK_SECRET.as_bytes());
    let signed: String = hmac::sign(&key, &body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text("x-hob-signature-256"), format!("sha256={signed}"));
    let body = serde_json::from_slice(&body).unwrap();
    let one = Received { id: text("x-hob-delivery"), event: text("x-hob-event"), body };
    receiver.0.received.lock().unwrap().push(one);
    receiver.0.arrivals.send_modify(|arrived| *arrived += 1);
    let status = receiver.0.answers.lock().unwrap().pop_front().unwrap_or(204);
    if status == 0 {
        std::future::pending::<()>().await;
    }
    let elsewhere = HeaderMap::from_iter([(http::header::LOCATION, "/hook".parse().unwrap())]);
    (StatusCode::from_u16(status).unwrap(), elsewhere)
}
